# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""No two requests under way in a session have the same id.

The SDK sends a result to whoever asked last under its id: a second request would be given the
first one's result, and the first would wait without end. Ids must be unique in a session (MCP
2025-11-25, "Requests"); a request that repeats one under way is refused. An id whose request is
done may come again, as it does with some clients. Revision 2026-07-28 has a response of its own
for each request, and no such trap; there a session header says nothing and is not heeded.

What has no id is acknowledged before it is handed on, and the end of its session may overtake it:
the withdrawal of a call would be lost. So the end waits for it.

A session header is anybody's to write until the SDK holds it against the token. So ids are kept
for token and session together: who names another one's session is in the way of nobody.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import INVALID_REQUEST
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
import pydantic_core
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_agent_harness.mcp_server.clients import SESSION_HEADER, session_of, subject_of
from robot_agent_harness.mcp_server.json_text import replayed

GRACE_S = 1.0
"""How long a request waits for its id: the end of an exchange is behind the result that a client
has seen, and may go on from. As long at most the end of a session waits."""
ROUTED_S = 0.5
"""How long the SDK may take to find that nobody waits for a result: a few rounds of the loop."""
_Key = tuple[str | None, str, str | None]
"""Whose token, a session, and an id as the SDK compares them: 1 and "1" are the same. None stands
for all that has no id."""


@dataclass(slots=True)
class _Use:
    """Who uses an id, and when nobody does any more."""

    users: int = 0
    over: anyio.Event = field(default_factory=anyio.Event)


class UniqueIds:
    """The ids under way: while their exchange lasts, and while they are handled.

    A client that goes away ends the one and not the other.
    """

    def __init__(self) -> None:
        self._under_way: dict[_Key, _Use] = {}

    async def handle(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Keep an id while its request is handled; a middleware of the SDK's server."""
        request, session = ctx.request, session_of(ctx)
        if not isinstance(request, Request) or session is None or ctx.request_id is None:
            return await call_next(ctx)
        key = subject_of(request.scope), session, str(ctx.request_id)
        use = self._take(key)
        try:
            return await call_next(ctx)
        finally:
            if use.users > 1:  # its exchange goes on until the result is out
                self._release(key, use)
            else:  # the result is on its way to nobody: until it is gone, not to the next one
                asyncio.get_running_loop().call_later(ROUTED_S, self._release, key, use)

    def guard(self, app: ASGIApp) -> ASGIApp:
        """Return the app, to which no id under way comes again, and no end of a session before
        what came without an id. Takes each body in one message.
        """

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            session = _session(scope)
            if scope['method'] not in ('POST', 'DELETE') or session is None:
                await app(scope, receive, send)
                return
            if scope['method'] == 'DELETE':
                await self._free((subject_of(scope), session, None))
                await app(scope, receive, send)
                return
            first = await receive()
            request_id = _id_of(first.get('body', b''))
            key = subject_of(scope), session, None if request_id is None else str(request_id)
            if request_id is not None and not await self._free(key):
                await _refusal(request_id)(scope, receive, send)
                return
            use = self._take(key)
            try:
                await app(scope, replayed(first, receive), send)
            finally:
                self._release(key, use)

        return guarded

    async def _free(self, key: _Key) -> bool:
        """Return whether nobody uses it, now or within a moment."""
        with anyio.move_on_after(GRACE_S):
            while key in self._under_way:
                await self._under_way[key].over.wait()
        return key not in self._under_way

    def _take(self, key: _Key) -> _Use:
        use = self._under_way.setdefault(key, _Use())
        use.users += 1
        return use

    def _release(self, key: _Key, use: _Use) -> None:
        use.users -= 1
        if not use.users:
            del self._under_way[key]
            use.over.set()


def _session(scope: Scope) -> str | None:
    """Return the session that a request names, where the SDK will take it for one of a session."""
    headers = Headers(scope=scope)
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    return headers.get(SESSION_HEADER)


def _id_of(body: bytes) -> int | str | None:
    """Return the id of a request; None of what is none, which the SDK refuses or needs no answer.

    Parsed as the SDK parses it, so that both see the same id.
    """
    try:
        message = pydantic_core.from_json(body)
    except ValueError:
        return None
    if not isinstance(message, dict) or 'method' not in message:
        return None
    request_id = message.get('id')
    return request_id if isinstance(request_id, (int, str)) else None


def _refusal(request_id: int | str) -> JSONResponse:
    error = {
        'code': INVALID_REQUEST,
        'message': 'a request with this id is under way in this session',
    }
    return JSONResponse({'jsonrpc': '2.0', 'id': request_id, 'error': error}, status_code=400)
