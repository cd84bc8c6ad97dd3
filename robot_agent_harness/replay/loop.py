# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An event loop on virtual time that hands recorded inputs in where they belong.

Time jumps to the next timer or the next input, whichever comes first. What happened within
`SLACK_S` is put in the recorded order: a machine that was busy, or waited for its disk, runs its
timers a little late, a replay never does. Beyond that, time alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from typing import Protocol

from robot_agent_harness.virtual_time import VirtualTimeLoop

SLACK_S = 0.05
"""Within what the recorded order counts more than time, in seconds."""
TOGETHER_S = 0.01
"""Inputs this close, with nothing recorded between them, are handed in as one, in seconds: what
the first sets off is recorded at once, so that it had set nothing off before the second came."""
SAME_S = 1e-6
"""Times that differ by less are the same, in seconds: they are sums of fractions."""


@dataclass(frozen=True, slots=True)
class Input:
    """Something that came from outside."""

    at_s: float
    """When, in seconds of the loop."""
    after: int
    """The first record, by its number, that need not have been made again before it."""
    upto: int
    """The last record that comes of it at once; 0: it has no place among them, but a time."""
    apply: Callable[[], None]
    goals: frozenset[str] = frozenset()
    """The goals that it is about, where a controller said it."""
    shown_s: float = -math.inf
    """When it was put on record, where it was held back until something showed it: only from then
    on its place among the records says anything."""
    lets_go_on: bool = False
    """Whether somebody waits for it, who goes on before anything else comes in."""


class Progress(Protocol):
    """How far the recorded outputs have been made again."""

    @property
    def diverged(self) -> bool:
        """Whether the recorded order says nothing any more."""
        ...

    def made_before(self, seq: int) -> bool:
        """Whether every record before this one has been made again, or been given up."""
        ...

    def give_up_before(self, seq: int) -> None:
        """Wait no longer for records before this one."""
        ...


class ReplayLoop(VirtualTimeLoop):
    """The event loop; :meth:`time` starts at 0, the beginning of the run."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: Sequence[Input] = ()
        self._next = 0
        self._progress: Progress | None = None

    def play(self, inputs: Sequence[Input], progress: Progress) -> None:
        """Hand these inputs in from now on, in their order."""
        self._inputs, self._next, self._progress = inputs, 0, progress

    def _pass_time(self, timeout: float | None) -> None:
        """Let time pass until something can happen: a timer, or the next input."""
        timer_s = math.inf if timeout is None else self._now + timeout
        if self._next < len(self._inputs) and self._is_due(self._inputs[self._next], timer_s):
            # At once, so that nothing that becomes ready now runs before it.
            self._now = max(self._now, self._inputs[self._next].at_s)
            self.call_soon(self._hand_in, self._together())
        elif timer_s < math.inf:
            self._now = timer_s
        else:
            raise RuntimeError('the replay is stuck: everything waits, and nothing more comes')

    def answer(self, goal_id: str) -> None:
        """Hand in what a controller said about a goal within the very call that asked for it."""
        while self._next < len(self._inputs):
            given = self._inputs[self._next]
            ready = self._progress is not None and self._progress.made_before(given.after)
            if goal_id not in given.goals or given.at_s > self._now + SAME_S or not ready:
                return
            self._next += 1
            given.apply()

    def _together(self) -> list[Input]:
        """Take the next input, and those that came with it."""
        batch = [self._inputs[self._next]]
        self._next += 1
        while self._next < len(self._inputs):
            following, last = self._inputs[self._next], batch[-1]
            # What has no place among the records says nothing about what came between.
            close_s = TOGETHER_S if following.upto else SAME_S
            apart = following.after > last.upto + 1
            if apart or last.lets_go_on or following.at_s - last.at_s > close_s:
                break
            batch.append(following)
            self._next += 1
        return batch

    def _hand_in(self, batch: list[Input]) -> None:
        for given in batch:
            self._now = max(self._now, given.at_s)
            given.apply()

    def _is_due(self, given: Input, timer_s: float) -> bool:
        """Whether an input comes before the next timer."""
        assert self._progress is not None
        if self._progress.diverged:
            return given.at_s <= timer_s
        if self._progress.made_before(given.after):
            in_order = max(given.at_s, given.shown_s) <= timer_s + SLACK_S
            return in_order or given.at_s <= timer_s
        if timer_s <= given.at_s + SLACK_S:
            return False  # a record that came before it may be about to be made
        self._progress.give_up_before(given.after)
        return True
