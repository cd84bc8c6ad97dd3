# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
r"""What is JSON and what is not, by one measure for all transports and revisions.

The SDK reads revision 2026-07-28 over HTTP with another parser than the rest, and that one takes
more: half a character (`\ud800`), which has no form in what is recorded or sent on, and encodings
other than UTF-8 (RFC 8259 section 8.1). A call would be carried out that is refused elsewhere.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import ErrorData, JSONRPCError, PARSE_ERROR
import pydantic_core
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def read_strictly(app: ASGIApp) -> ASGIApp:
    """Return the app, which no body reaches that is no JSON. Takes each body in one message."""

    async def strict(scope: Scope, receive: Receive, send: Send) -> None:
        if scope['method'] != 'POST':
            await app(scope, receive, send)
            return
        first = await receive()
        body = first.get('body', b'{}')  # without one the client has gone away
        try:
            pydantic_core.from_json(body)
        except ValueError as error:
            answer = unreadable(body, error).model_dump(exclude_unset=True)
            await JSONResponse(answer, status_code=400)(scope, receive, send)
            return
        await app(scope, replayed(first, receive), send)

    return strict


def replayed(first: Message, receive: Receive) -> Receive:
    """Return what gives a message again that was received already, and then the rest."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def unreadable(text: str | bytes, error: ValueError) -> JSONRPCError:
    """Return the answer to a text that is no JSON, with its id where a milder parser finds one."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    return refused(PARSE_ERROR, f'Parse error: {error}', message)


def refused(code: int, why: str, message: Any) -> JSONRPCError:
    """Return the answer to what is no message, under its id if that can be made out: somebody may
    wait for it.
    """
    found = message.get('id') if isinstance(message, dict) else None
    readable = isinstance(found, int) and not isinstance(found, bool)
    if isinstance(found, str):
        readable = found.isprintable()
    error = ErrorData(code=code, message=why)
    return JSONRPCError(jsonrpc='2.0', id=found if readable else None, error=error)
