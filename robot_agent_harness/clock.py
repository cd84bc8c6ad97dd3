# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Time and identity, injected: the core reads no other clock and makes no other id.

Three clocks, never mixed: the *steady* one measures waits and ages, the *wall* one tells people
when something happened, the *ROS* one is what message stamps are written in (it may be simulated,
stand still or jump). Waiting itself is asyncio's, whose loop time is steady too.
"""

from __future__ import annotations

import time
from typing import Protocol
import uuid

NS_PER_S = 1_000_000_000


class Clock(Protocol):
    """The only source of time in the core; every value is an integer in nanoseconds."""

    def monotonic_ns(self) -> int:
        """Return steady time: never steps, unrelated to the date."""
        ...

    def wall_ns(self) -> int:
        """Return nanoseconds since the Unix epoch; may step."""
        ...

    def ros_ns(self) -> int:
        """Return the ROS time that the robot's messages are stamped in; may jump."""
        ...


class SystemClock:
    """The machine's clocks; ROS time is the system time, as in a node without `use_sim_time`."""

    def monotonic_ns(self) -> int:
        """Return `time.monotonic_ns()`."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Return `time.time_ns()`."""
        return time.time_ns()

    def ros_ns(self) -> int:
        """Return `time.time_ns()`."""
        return time.time_ns()


class IdSource(Protocol):
    """Makes every identifier of a run, so that a recorded run can be replayed with the same
    ones.
    """

    def new_id(self, kind: str) -> str:
        """Return a fresh identifier `<kind>-<unique>`; kinds: mission, turn, call, snapshot."""
        ...

    def new_goal_id(self) -> str:
        """Return a fresh ROS goal id: a random UUID as 32 lower-case hex digits."""
        ...


class RandomIds:
    """Identifiers that are unique across runs and machines."""

    def new_id(self, kind: str) -> str:
        """Return `<kind>-<16 hex digits>`."""
        return f'{kind}-{uuid.uuid4().hex[:16]}'

    def new_goal_id(self) -> str:
        """Return a version 4 UUID as 32 hex digits."""
        return uuid.uuid4().hex
