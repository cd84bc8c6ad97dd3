# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who gets in: requests that name this machine as it is reached, and holders of a token.

The SDK does the checking (Host 421, Origin 403, token 401); here it learns what to accept. Host
and Origin come first, whatever the path: who is not meant for this machine learns nothing of it.
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
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    BearerAuthBackend,
    RequireAuthMiddleware,
)
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_agent_harness.mcp_server.rate import RateLimit
from robot_agent_harness.mcp_server.scopes import ScopeRefusals
from robot_agent_harness.mcp_server.shares import Shares
from robot_agent_harness.mcp_server.tokens import OBSERVE, Token

ANY_ADDRESS = ('0.0.0.0', '::')


def guarded_app(
    endpoint: ASGIApp,
    *,
    path: str,
    holders: Holders,
    per_s: float,
    at_once: int,
    pages: Mapping[str, ASGIApp],
    shell: Mapping[str, ASGIApp],
) -> Starlette:
    """Return an app that serves the endpoint, to holders of a token where there are any.

    :param per_s: how many requests a second each client may go on sending.
    :param at_once: how many requests and streams are served at once.
    :param pages: what is served beside it, by path, to holders of a token as well.
    :param shell: the same for everybody: files that hold nothing of the robot.
    """
    limit = Middleware(RateLimit, per_s=per_s, now_s=time.monotonic)
    served = {path: endpoint, **pages}
    if not holders.known:
        routes = [Route(at, endpoint=app) for at, app in {**served, **shell}.items()]
        middleware = [limit]
    else:
        routes = [
            Route(at, RequireAuthMiddleware(ScopeRefusals(app), required_scopes=[OBSERVE]))
            for at, app in served.items()
        ] + [Route(at, endpoint=app) for at, app in shell.items()]
        middleware = [
            Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(holders)),
            Middleware(AuthContextMiddleware),
            limit,
            Middleware(Shares, most=at_once),
        ]
    app = Starlette(routes=routes, middleware=middleware)
    app.router.redirect_slashes = False  # a path that is not served is not there
    return app


class Holders:
    """Knows the tokens, and who holds each."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.known: dict[Token, AccessToken] = {}
        """What the SDK is told of the holder of each token."""
        self.renew(tokens)

    def renew(self, tokens: Sequence[Token]) -> None:
        """Know these tokens from now on and no others; one that stays keeps its holder."""
        self.known = {token: self.known.get(token) or _holder(token) for token in tokens}

    def hold(self, scope: Scope) -> bool:
        """Return whether the token with which a request came in, if it had one, is still good."""
        user = scope.get('user')
        if not isinstance(user, AuthenticatedUser):
            return True
        return any(user.access_token is holder for holder in self.known.values())

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who holds the token, in a time that tells nothing about any.

        Digests are compared, each of them: neither length nor place is in the time.
        """
        given = _digest(token.encode('utf-8', 'surrogateescape'))
        found: AccessToken | None = None
        for known, holder in self.known.items():
            if hmac.compare_digest(given, _digest(known.secret.encode())):
                found = holder
        return found


def _holder(token: Token) -> AccessToken:
    return AccessToken(
        token='', client_id=token.name, subject=token.name, scopes=list(token.scopes)
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
        # Case tells no hosts apart, and clients leave the default port out (RFC 9110 section 4.2).
        host = host.lower().removesuffix(':80')
        self.settings.allowed_hosts.append(host)
        self.settings.allowed_origins.append(f'http://{host}')


class HostGuard:
    """Refuses requests that name another host (421) or come from another site's page (403)."""

    def __init__(self, app: ASGIApp, rules: HostRules) -> None:
        self._app = app
        self._rules = TransportSecurityMiddleware(rules.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it for any of its headers."""
        headers = Headers(scope=scope)
        for host in headers.getlist('host') or ['']:
            for origin in headers.getlist('origin') or ['']:
                named = [(b'host', host.lower()), (b'origin', origin.lower())]
                raw = [(name, value.encode('latin-1')) for name, value in named]
                refusal = await self._rules.validate_request(Request({**scope, 'headers': raw}))
                if refusal is not None:
                    await refusal(scope, receive, send)
                    return
        await self._app(scope, receive, send)


def bracketed(host: str) -> str:
    """Return a host as URLs write it (RFC 3986 section 3.2.2)."""
    return f'[{host}]' if ':' in host else host
