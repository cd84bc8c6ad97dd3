# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Time and identifiers that a test decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from robot_agent_harness.clock import NS_PER_S

WALL_START_NS = 1_767_225_600 * NS_PER_S
"""2026-01-01T00:00:00Z."""


class FakeClock:
    """A `Clock` whose steady time a test moves, with wall and ROS time running beside it.

    :param monotonic: where steady time comes from, in seconds, for instance `loop.time`; None: it
        stands still until `advance` or `set_monotonic` moves it.
    :param start_s: steady time to begin with, in seconds; not used with `monotonic`.
    """

    def __init__(
        self, *, monotonic: Callable[[], float] | None = None, start_s: float = 1000.0
    ) -> None:
        self._source = monotonic
        self._monotonic_ns = round(start_s * NS_PER_S)
        self._wall_offset_ns = WALL_START_NS - self.monotonic_ns()
        self._ros_offset_ns = self._wall_offset_ns

    def monotonic_ns(self) -> int:
        """Return steady time."""
        if self._source is not None:
            return round(self._source() * NS_PER_S)
        return self._monotonic_ns

    def wall_ns(self) -> int:
        """Return steady time plus the wall offset."""
        return self.monotonic_ns() + self._wall_offset_ns

    def ros_ns(self) -> int:
        """Return steady time plus the ROS offset."""
        return self.monotonic_ns() + self._ros_offset_ns

    def advance(self, seconds: float) -> None:
        """Let time pass on all three clocks.

        :raises ValueError: `seconds` is negative, or steady time comes from a callable.
        """
        self._move_to(self._monotonic_ns + round(seconds * NS_PER_S))

    def set_monotonic(self, seconds: float) -> None:
        """Move steady time to a moment that is not earlier; wall and ROS time move along.

        :raises ValueError: the moment is earlier, or steady time comes from a callable.
        """
        self._move_to(round(seconds * NS_PER_S))

    def _move_to(self, moment_ns: int) -> None:
        if self._source is not None:
            raise ValueError('steady time comes from a callable; move that instead')
        if moment_ns < self._monotonic_ns:
            raise ValueError('steady time never goes back')
        self._monotonic_ns = moment_ns

    def step_wall(self, seconds: float) -> None:
        """Step the wall clock alone, either way, as NTP does."""
        self._wall_offset_ns += round(seconds * NS_PER_S)

    def step_ros(self, seconds: float) -> None:
        """Step the ROS clock alone, either way."""
        self._ros_offset_ns += round(seconds * NS_PER_S)

    def set_ros(self, seconds: float) -> None:
        """Set the ROS clock to this many seconds; it runs on from there."""
        self._ros_offset_ns = round(seconds * NS_PER_S) - self.monotonic_ns()


class SequentialIds:
    """An `IdSource` that counts: `mission-1`, `mission-2`, `call-1`; goals 1, 2 in 32 digits."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new_id(self, kind: str) -> str:
        """Return `<kind>-<number>`, numbered from 1 for each kind."""
        self._counts[kind] += 1
        return f'{kind}-{self._counts[kind]}'

    def new_goal_id(self) -> str:
        """Return the next number as 32 hex digits."""
        self._counts['goal'] += 1
        return f'{self._counts["goal"]:032x}'
