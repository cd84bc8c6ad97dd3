# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An event for one waiter, with a bound: as `wait_for` on an `asyncio.Event`, without a task."""

from __future__ import annotations

import asyncio


class Bell:
    """Rung by anybody on the loop, heard by one; stays rung until it is silenced."""

    def __init__(self) -> None:
        self._ringing = False
        self._waiter: asyncio.Future[bool] | None = None

    def ring(self) -> None:
        """Wake the waiter, or let the next one pass."""
        self._ringing = True
        self._answer(True)

    def silence(self) -> None:
        """Take the ringing back."""
        self._ringing = False

    async def rung(self, timeout_s: float) -> bool:
        """Wait until it rings; return False when the time is up first."""
        if self._ringing:
            return True
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(max(0.0, timeout_s), self._answer, False)
        try:
            return await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _answer(self, rung: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(rung)
