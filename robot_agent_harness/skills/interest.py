# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether anybody still wants a call that is under way.

A caller that cancels or closes its stream leaves. Until a goal has left for the robot, a call that
nobody wants any more sends nothing; afterwards the action goes on, whoever has left.
"""

from __future__ import annotations


class Interest:
    """Counts who wants a call: the caller, and those who repeat it under the same key."""

    def __init__(self) -> None:
        self._callers = 1
        self._first: Interest | None = None

    def gone(self) -> bool:
        """Whether all have left."""
        return self._callers <= 0

    def leave(self) -> None:
        """Want the call no longer."""
        self._callers -= 1
        if self._first is not None:
            self._first.leave()

    def join(self, first: Interest) -> None:
        """Want another call as long as this one: its result is ours."""
        self._first = first
        first._callers += self._callers
