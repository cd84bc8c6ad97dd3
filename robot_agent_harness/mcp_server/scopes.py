# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the holder of a token may not do: refused by HTTP 403 with `insufficient_scope`.

(MCP authorization, "Error Handling"; RFC 6750 section 3.1.) It is judged on the request as the SDK
has parsed it, where it would be carried out: a door that parsed for itself could be shown one call
and let another one through. So that the refusal can still have its status, the head of a
response is held back until its body begins, for holders that lack a scope and for nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
import logging
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robot_agent_harness.mcp_server.tokens import ACT

logger = logging.getLogger(__name__)

FORBIDDEN = -32010
"""The JSON-RPC error of a refused request, from the range that MCP leaves to implementations."""
_KEY = 'robot_agent_harness.refusal'
_NAME_MAX = 128
"""What the log shows of a name that a client chose, in characters."""


@dataclass(slots=True)
class _Refusal:
    """What one request was refused with, once it was."""

    error: dict[str, Any] | None = None


def may_act(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether this client may move the robot: all may who need no token, and on stdio."""
    user = _user(context)
    return user is None or ACT in user.scopes


def require_act(context: ServerRequestContext[Any, Any], what: str) -> None:
    """Refuse a request of a client that may not move the robot. It reaches no dispatcher.

    :param what: what was asked for, as log and client are told.
    :raises MCPError: it may not.
    """
    user, request = _user(context), context.request
    if user is None or ACT in user.scopes or not isinstance(request, Request):
        return
    what = what[:_NAME_MAX]
    logger.warning('refused %r: the token %s lacks the scope %s', what, user.username, ACT)
    message = f'{what} needs an access token with the scope {ACT}; nothing was done'
    refusal: _Refusal = request.scope[_KEY]
    refusal.error = {
        'jsonrpc': '2.0',
        'id': context.request_id,
        'error': {'code': FORBIDDEN, 'message': message, 'data': {'required_scope': ACT}},
    }
    raise MCPError(FORBIDDEN, message, {'required_scope': ACT})


def _user(context: ServerRequestContext[Any, Any]) -> AuthenticatedUser | None:
    if not isinstance(context.request, Request):
        return None
    user = context.request.scope.get('user')
    return user if isinstance(user, AuthenticatedUser) else None


class ScopeRefusals:
    """Gives refused requests their status."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if ACT in scope['user'].scopes or scope['method'] != 'POST':
            await self._app(scope, receive, send)
            return
        scope[_KEY] = _Refusal()
        await self._app(scope, receive, _Held(scope, receive, send).send)


class _Held:
    """A response whose head waits for its body, and is replaced if it was a refusal by then."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._exchange = scope, receive, send
        self._refusal: _Refusal = scope[_KEY]
        self._head: Message | None = None
        self._refused = False

    async def send(self, message: Message) -> None:
        """Pass a message on, or the refusal instead of it."""
        if self._refused:
            return  # of the response that was replaced
        if self._refusal.error is not None:
            self._refused = True
            await _forbidden(self._refusal.error)(*self._exchange)
        elif message['type'] == 'http.response.start':
            self._head = message
        else:
            if self._head is not None:
                head, self._head = self._head, None
                await self._exchange[2](head)
            await self._exchange[2](message)


def _forbidden(error: dict[str, Any]) -> Response:
    challenge = f'Bearer error="insufficient_scope", scope="{ACT}"'
    return Response(
        json.dumps(error),
        status_code=403,
        media_type='application/json',
        headers={'www-authenticate': challenge},
    )
