# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot does while an action is under way, as far as its ends do not show it.

Headings are known modulo a full turn, and a pose says nothing of the way: so odometry's heading is
integrated with each message, and each pose is held against the places to come by.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.geometry import wrap_angle
from robot_agent_harness.world.odometry_track import started_anew
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import Journey, MapPose, Odometry

SILENCE_MAX_S = 1.0
"""Odometry may have gone round unseen in a longer silence, unless it came out as it went in."""
SILENT_TURN_RAD = 0.1
PASSED_WITHIN_M = 0.9
"""So near counts as come by: Nav2 takes a waypoint for passed within 0.7 m, and a pose may be a
sample late."""
GAP_MAX_M = 1.0
"""Between two poses further apart nobody knows the way."""


@dataclass(frozen=True, slots=True)
class Way:
    """By what places a journey is to come, in their order."""

    places: tuple[tuple[float, float], ...] = ()
    """x and y in the map frame, in metres."""
    within_m: float = PASSED_WITHIN_M
    """So near counts as come by."""


class JourneyTrack:
    """Measures one journey. Written by the receiving thread; any thread may read `value`."""

    def __init__(self, way: Way, *, start: Sample[Odometry] | None) -> None:
        """Begin.

        :param start: the newest odometry; None: not heard yet.
        """
        self._waypoints = way.places
        self._within_m = way.within_m
        self._odometry = start
        self._turned: float | None = 0.0 if start is not None else None
        self._broken = False
        self._pose: tuple[float, float] | None = None
        self._passed = 0
        self._closest_m = math.inf
        self._gap_m = 0.0

    @property
    def value(self) -> Journey:
        """What is known so far."""
        return Journey(
            turned_rad=None if self._broken else self._turned,
            passed=self._passed,
            closest_m=self._closest_m if math.isfinite(self._closest_m) else None,
            gap_m=self._gap_m,
        )

    def odometry(self, sample: Sample[Odometry]) -> None:
        """Take one message in."""
        if not math.isfinite(sample.value.x + sample.value.y + sample.value.yaw):
            return
        last, self._odometry = self._odometry, sample
        if last is None:
            # Nobody knows how it stood when the journey began.
            self._broken = True
            return
        turned = wrap_angle(sample.value.yaw - last.value.yaw)
        silent_s = (sample.received_monotonic_ns - last.received_monotonic_ns) / NS_PER_S
        unseen = silent_s > SILENCE_MAX_S and abs(turned) > SILENT_TURN_RAD
        self._broken = self._broken or unseen or started_anew(last, sample)
        self._turned = (self._turned or 0.0) + turned

    def pose(self, pose: MapPose) -> None:
        """Take one pose in; between two of them the robot went straight."""
        here = (pose.x, pose.y)
        if not math.isfinite(pose.x + pose.y):
            return
        before, self._pose = self._pose or here, here
        gap_m = math.dist(before, here)
        self._gap_m = max(self._gap_m, gap_m)
        start = before if gap_m <= GAP_MAX_M else here
        while self._passed < len(self._waypoints):
            away_m, start = _nearest(self._waypoints[self._passed], start, here)
            self._closest_m = min(self._closest_m, away_m)
            if away_m > self._within_m:
                return
            self._passed += 1
            self._closest_m = math.inf


def _nearest(
    point: tuple[float, float], a: tuple[float, float], b: tuple[float, float]
) -> tuple[float, tuple[float, float]]:
    """Return how near a segment comes to a point, and where it does."""
    length_2 = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
    along = (point[0] - a[0]) * (b[0] - a[0]) + (point[1] - a[1]) * (b[1] - a[1])
    share = min(max(along / length_2, 0.0), 1.0) if length_2 > 0.0 else 0.0
    where = (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
    return math.dist(point, where), where
