# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An asyncio event loop on virtual time: waiting costs nothing, and every run is the same.

Whenever nothing is ready to run, the loop's time jumps to the next timer. Code under test waits
with asyncio as always; a clock made from the loop (:class:`robot_agent_harness.testing.FakeClock`)
reads the same time. Threads and sockets have no place in such a run: they know nothing of its
time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
import selectors
from typing import Any, TypeVar

T = TypeVar('T')

STUCK_S = 5.0
"""Real seconds without a timer or an event after which a run counts as stuck."""


class _JumpingSelector(selectors.SelectSelector):
    """Never sleeps: a timeout that would be slept away moves the loop's time instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            ready = super().select(STUCK_S)
            if not ready:
                raise RuntimeError('virtual time is stuck: everything waits and no timer is set')
            return ready
        self.now += timeout
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The event loop; :meth:`time` starts at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # Timers closer together than this are run at one time; a nanosecond keeps order.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._jumping.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call the function at once: a thread would know nothing of this loop's time."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a fresh loop with virtual time."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(_cancel_rest())
        loop.close()


async def _cancel_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
