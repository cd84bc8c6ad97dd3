# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress of a call, to the client that asked for it."""

from __future__ import annotations

import math
from typing import Any

import anyio
from mcp.server import ServerRequestContext

PROGRESS_S = 1.0
"""How long a report of progress may wait for a client that does not read."""


class Progress:
    """Reports of one call; they only increase (MCP, progress)."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context: ServerRequestContext[Any, Any] | None = context
        self._last = -math.inf

    @classmethod
    def of(cls, context: ServerRequestContext[Any, Any]) -> Progress | None:
        """Return None where the client gave no progress token."""
        asked = (context.meta or {}).get('progress_token') is not None
        return cls(context) if asked else None

    async def __call__(self, progress: float, total: float | None, message: str) -> None:
        """Report, unless it is no progress."""
        if self._context is None or not progress > self._last:
            return
        self._last = progress
        with anyio.move_on_after(PROGRESS_S) as scope:
            await self._context.session.report_progress(progress, total, message)
        if scope.cancelled_caught:
            # It does not read: the call must not wait for it again.
            self._context = None
