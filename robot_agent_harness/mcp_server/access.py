# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who gets in: holders of a token, and requests that name this machine as it is reached.

The SDK does the checking (Host 421, Origin 403, token 401); here it learns what to accept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import hmac
import ipaddress
import socket
import time
from typing import Any

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from robot_agent_harness.mcp_server.rate import RateLimit
from robot_agent_harness.mcp_server.scopes import ScopeRefusals
from robot_agent_harness.mcp_server.tokens import OBSERVE, Token

ANY_ADDRESS = ('0.0.0.0', '::')


def guarded_app(
    endpoint: ASGIApp,
    *,
    path: str,
    tokens: Sequence[Token],
    per_s: float,
    pages: Mapping[str, ASGIApp],
    shell: Mapping[str, ASGIApp],
) -> Starlette:
    """Return an app that serves the endpoint, to holders of a token where there are any.

    :param per_s: how many requests a second each client may go on sending.
    :param pages: what is served beside it, by path, to holders of a token as well.
    :param shell: the same for everybody: files that hold nothing of the robot.
    """
    limit = Middleware(RateLimit, per_s=per_s, now_s=time.monotonic)
    served = {path: endpoint, **pages}
    if not tokens:
        routes = [Route(at, endpoint=app) for at, app in {**served, **shell}.items()]
        return Starlette(routes=routes, middleware=[limit])
    backend = BearerAuthBackend(_TokenVerifier(tokens))
    return Starlette(
        routes=[
            Route(at, RequireAuthMiddleware(ScopeRefusals(app), required_scopes=[OBSERVE]))
            for at, app in served.items()
        ]
        + [Route(at, endpoint=app) for at, app in shell.items()],
        middleware=[
            Middleware(AuthenticationMiddleware, backend=backend),
            Middleware(AuthContextMiddleware),
            limit,
        ],
    )


class _TokenVerifier:
    """Knows the tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = [(token, _digest(token.secret.encode())) for token in tokens]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who holds the token, in a time that tells nothing about any.

        Digests are compared, each of them: neither length nor place is in the time.
        """
        given = _digest(token.encode('utf-8', 'surrogateescape'))
        found: Token | None = None
        for known, digest in self._tokens:
            if hmac.compare_digest(given, digest):
                found = known
        if found is None:
            return None
        return AccessToken(
            token='', client_id=found.name, subject=found.name, scopes=list(found.scopes)
        )


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()


class HostRules:
    """The Host and Origin headers that are accepted: the defence against DNS rebinding."""

    def __init__(self, host: str, port: int, *, loopback: bool) -> None:
        self._any_address = host in ANY_ADDRESS
        names = [bracketed(host)]
        if self._any_address:
            names = [socket.gethostname(), f'{socket.gethostname()}.local']
        if self._any_address or loopback:
            names += ['127.0.0.1', 'localhost', '[::1]']
        self.settings = TransportSecuritySettings()
        for name in dict.fromkeys(names):
            self._admit(f'{name}:{port}')

    def admit_own_address(self, scope: Scope) -> None:
        """Accept the address by which a connection came in, where we listen on all of them.

        Which addresses this machine has is not known beforehand, and changes.
        """
        local: Any = scope.get('server')
        if not self._any_address or local is None:
            return
        address = ipaddress.ip_address(local[0])
        plain = getattr(address, 'ipv4_mapped', None) or address
        host = f'{bracketed(str(plain))}:{local[1]}'
        if host not in self.settings.allowed_hosts:
            self._admit(host)

    def _admit(self, host: str) -> None:
        host = host.removesuffix(
            ':80'
        )  # clients leave the default port out (RFC 9110 section 7.2)
        self.settings.allowed_hosts.append(host)
        self.settings.allowed_origins.append(f'http://{host}')


def bracketed(host: str) -> str:
    """Return a host as URLs write it (RFC 3986 section 3.2.2)."""
    return f'[{host}]' if ':' in host else host
