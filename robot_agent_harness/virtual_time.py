# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An asyncio event loop on virtual time: waiting costs nothing, and every run is the same.

Whenever nothing is ready to run, the loop's time jumps to the next timer. What runs on it waits
with asyncio as always. Threads and sockets have no place in such a run: they know nothing of its
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

SHORTEST_S = 1e-9
"""The least that passes while anybody waits, in seconds. Timers closer together than this are run
at one time; a nanosecond keeps order."""

_Ready = list[tuple[selectors.SelectorKey, int]]


class _JumpingSelector(selectors.SelectSelector):
    """Never sleeps: what would be slept away is left to the loop."""

    def __init__(self) -> None:
        super().__init__()
        self.pass_time: Callable[[float | None], None] = lambda timeout: None

    def select(self, timeout: float | None = None) -> _Ready:
        ready = super().select(0)
        if not ready and timeout != 0:
            self.pass_time(timeout)
        return ready

    def wait(self, timeout_s: float) -> bool:
        """Wait in real time; return whether there is an event."""
        return bool(super().select(timeout_s))


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The event loop; :meth:`time` starts at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._jumping.pass_time = self._pass_time
        self._now = 0.0
        self._clock_resolution = SHORTEST_S

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Call the function at a time, which is never now: on a clock, each wait takes some.

        Whoever waits for the rest of a time again and again would else do so for ever over a rest
        that is less than the next number.
        """
        soonest = self._now + SHORTEST_S
        return super().call_at(max(when, soonest), callback, *args, context=context)

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

    def _pass_time(self, timeout: float | None) -> None:
        """Let time pass until something can happen; called when nothing is ready to run.

        :param timeout: seconds to the next timer; None: there is none.
        """
        if timeout is not None:
            self._now += timeout
        elif not self._jumping.wait(STUCK_S):
            raise RuntimeError('virtual time is stuck: everything waits and no timer is set')


def run_on(loop: VirtualTimeLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a fresh loop, end what it has left running, and close it."""
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
