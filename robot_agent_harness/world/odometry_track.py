# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The last seconds of odometry: where dead reckoning had the robot at a past moment."""

from __future__ import annotations

from collections import deque
import math

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.geometry import interpolate, Transform2D
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import Odometry

KEPT_POSES = 256
SPACING_NS = 20_000_000
"""With the number above: 5 s, longer than any localiser takes for a pose."""
BRACKET_NS = 500_000_000
"""Odometry further apart than this is not interpolated: it was silent in between."""
STEP_M = 0.2
"""Odometry that moves this far at once, beyond what SPEED_M_S explains, has started anew."""
SPEED_M_S = 3.0


class OdometryTrack:
    """Keeps odometry thinned and bounded. Written by one thread, which alone may ask `at`."""

    def __init__(self) -> None:
        self.newest: Sample[Odometry] | None = None
        """The newest sample with a readable pose; any thread may read it."""
        self._poses: deque[tuple[int, Transform2D]] = deque(maxlen=KEPT_POSES)

    def clear(self) -> None:
        """Forget everything."""
        self.newest = None
        self._poses.clear()

    def add(self, sample: Sample[Odometry]) -> bool:
        """Keep a sample with a finite pose, and return whether odometry started anew with it."""
        last = self.newest
        anew = last is not None and started_anew(last, sample)
        if anew:
            self._poses.clear()
        self.newest = sample
        poses, time_ns = self._poses, sample.time_ns
        if not poses or time_ns - poses[-1][0] >= SPACING_NS:
            poses.append((time_ns, pose_of(sample)))
        return anew

    def at(self, time_ns: int) -> Transform2D | None:
        """Return the pose at a moment before the newest sample, or None if none is from then."""
        if self.newest is None:
            return None
        after_ns, after = self.newest.time_ns, pose_of(self.newest)
        for before_ns, before in reversed(self._poses):
            if before_ns <= time_ns:
                gap_ns = after_ns - before_ns
                if gap_ns > BRACKET_NS:
                    return None
                ratio = (time_ns - before_ns) / gap_ns if gap_ns > 0 else 0.0
                return interpolate(before, after, min(ratio, 1.0))
            after_ns, after = before_ns, before
        return None

    def first_since(self, time_ns: int) -> Transform2D | None:
        """Return the first pose that is not older than the moment, or None if all are."""
        for pose_ns, pose in self._poses:
            if pose_ns >= time_ns:
                return pose
        if self.newest is not None and self.newest.time_ns >= time_ns:
            return pose_of(self.newest)
        return None


def pose_of(sample: Sample[Odometry]) -> Transform2D:
    """Return where odometry has the base, in the odometry frame."""
    return Transform2D(sample.value.x, sample.value.y, sample.value.yaw)


def started_anew(last: Sample[Odometry], sample: Sample[Odometry]) -> bool:
    """Return whether no robot moves so: a driver restarted, or two robots share a topic."""
    a, b = last.value, sample.value
    if a.frame_id != b.frame_id or sample.time_ns < last.time_ns - BRACKET_NS:
        return True
    moved_m = math.hypot(b.x - a.x, b.y - a.y)
    if moved_m < STEP_M:
        return False
    passed_s = abs(sample.time_ns - last.time_ns) / NS_PER_S
    return moved_m > STEP_M + SPEED_M_S * passed_s
