# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Streams that a client of the handshake revisions wants to go on with after a break.

Nothing that was sent is kept to be sent again, as a server may choose (MCP 2025-11-25,
"Resumability and Redelivery"): outcomes are read, not awaited on a stream. Such a client gets the
stream as it goes on. The SDK, which has nowhere to look, would give it no answer at all.
"""

from __future__ import annotations

from mcp.server.streamable_http import LAST_EVENT_ID_HEADER
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send


def without_resumption(app: ASGIApp) -> ASGIApp:
    """Return the app, which is not told where a client's stream broke off."""

    async def unaware(scope: Scope, receive: Receive, send: Send) -> None:
        headers = MutableHeaders(raw=list(scope['headers']))
        del headers[LAST_EVENT_ID_HEADER]
        await app({**scope, 'headers': headers.raw}, receive, send)

    return unaware
