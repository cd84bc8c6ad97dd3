# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the demo itself saw on the wire, apart from the harness and its journal."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math

SUCCEEDED = 4
"""action_msgs/GoalStatus.STATUS_SUCCEEDED."""
GAP_NS = 500_000_000
"""A position from longer ago says nothing about now: odometry comes 50 times a second."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where the robot was, in metres of the map, by its odometry from where it had started."""

    wall_ns: int
    x: float
    y: float

    def distance_to(self, x: float, y: float) -> float:
        """Return the distance in metres."""
        return math.hypot(self.x - x, self.y - y)


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that was seen; times are wall time in nanoseconds, as in the journal."""

    first_seen_ns: Mapping[str, int]
    """When each goal id first appeared on the action's status topic."""
    last_status: Mapping[str, int]
    """The last status of each goal id there, raw."""
    track: Sequence[Sighting]
    """Where the robot was, oldest first."""

    def at(self, wall_ns: int) -> Sighting | None:
        """Return the newest sighting not after a time; None if there is none near it."""
        index = bisect_right(self.track, wall_ns, key=lambda sighting: sighting.wall_ns)
        if index == 0 or wall_ns - self.track[index - 1].wall_ns > GAP_NS:
            return None
        return self.track[index - 1]

    def goals_between(self, from_ns: int, to_ns: int) -> list[str]:
        """Return the goals that first appeared in a stretch of time."""
        return [goal for goal, seen in self.first_seen_ns.items() if from_ns <= seen < to_ns]
