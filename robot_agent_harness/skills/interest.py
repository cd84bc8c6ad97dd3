# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether anybody still wants a call that is under way.

A caller that cancels or closes its stream leaves. Until a goal has left for the robot, a call that
nobody wants any more sends nothing; afterwards the action goes on, whoever has left.
"""

from __future__ import annotations

from collections.abc import Callable


class Interest:
    """Counts who wants a call: the caller, and those who repeat it under the same key."""

    def __init__(self) -> None:
        self._callers = 1
        self._first: Interest | None = None
        self._left = 0
        self._watcher: Callable[[], None] | None = None
        self.given_up = False
        """Whether the call has ended, or is about to, because nobody wanted it."""

    def gone(self) -> bool:
        """Whether all have left. Somebody may still join."""
        return self._callers <= 0

    def give_up(self) -> bool:
        """Whether all have left, for a call that ends if so: whoever comes now is too late."""
        self.given_up = self.given_up or self.gone()
        return self.given_up

    def leave(self) -> None:
        """Want the call no longer."""
        self._callers -= 1
        self._left += 1
        if self._watcher is not None:
            self._watcher()
        if self._first is not None:
            self._first.leave()

    def watch(self, watcher: Callable[[], None] | None) -> None:
        """Call a function whenever somebody leaves, also for those who have left already."""
        self._watcher = watcher
        if watcher is not None:
            for _ in range(self._left):
                watcher()

    def join(self, first: Interest) -> None:
        """Want another call as long as this one: its result is ours."""
        self._first = first
        first._callers += self._callers
