# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot stands still: fresh odometry says so, or else the pose source over a window.

The window exists for robots whose odometry is silent at rest, such as Nav2's loopback simulator;
and where odometry speaks of rest while the poses move, it is not believed.
Its samples come from the pose source itself, never from a pose that odometry carried forward:
silent odometry would then testify to its own standstill.
"""

from __future__ import annotations

from dataclasses import replace
import math

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.clock_watch import ClockJump
from robot_agent_harness.world.geometry import wrap_angle
from robot_agent_harness.world.odometry_track import started_anew
from robot_agent_harness.world.samples import FieldRules, Sample
from robot_agent_harness.world.snapshot import Availability, MapPose, Motion, Observed, Odometry

REST_LINEAR_M_S = 0.05
"""Slower than this is rest: above the noise of wheel odometry, below any useful driving speed."""
REST_ANGULAR_RAD_S = 0.1
"""Slower than this is rest: above the bias of a cheap gyroscope."""
WINDOW_NS = 500_000_000
"""The window is at least this long, so that creeping at REST_LINEAR_M_S shows in it."""
WINDOW_SAMPLES = 3
"""Fewer samples are no evidence of rest: two agree by chance."""
WINDOW_MOVED_M = 0.03
WINDOW_TURNED_RAD = 0.05
WINDOW_LINEAR_M_S = 0.3
WINDOW_ANGULAR_RAD_S = 0.6
"""A window that moves faster belies odometry at rest: the robot slides, or its localisation has
just changed its mind. The corrections that a robot at rest usually gets are slower."""
KEPT_SAMPLES = 64
"""At the spacing below this holds 1.2 s, more than a window needs."""
SPACING_NS = 20_000_000
"""Samples closer together than this add no evidence."""
REST_NS = 500_000_000
"""A twist must have said rest for this long: a robot that swings, or turns back, is at rest for a
moment at each end."""
PACE_NS = 200_000_000
"""Over this long odometry's positions are compared: long enough for the noise of wheels."""
PACE_LINEAR_M_S = 0.1
PACE_ANGULAR_RAD_S = 0.2
"""Positions that move faster belie a twist that says rest: some drivers never fill it."""


class Pace:
    """How odometry has moved of late: its twist, and its positions, which may know better. Written
    by the receiving thread, read by the loop.
    """

    def __init__(self) -> None:
        self._anchor: Sample[Odometry] | None = None
        self._newest: Sample[Odometry] | None = None
        self._speeds = (0.0, 0.0)
        self._moved_ns: int | None = None
        """When a twist last said that the robot moves."""
        self._just_moved = False

    def add(self, sample: Sample[Odometry]) -> None:
        """Compare a sample with what came a moment before."""
        if not _is_slow(sample.value):
            self._moved_ns = sample.time_ns
        since_ns = None if self._moved_ns is None else sample.time_ns - self._moved_ns
        self._just_moved = since_ns is not None and 0 <= since_ns < REST_NS
        if not math.isfinite(sample.value.x + sample.value.y + sample.value.yaw):
            return
        anchor, newest, self._newest = self._anchor, self._newest, sample
        if anchor is None or newest is None or started_anew(newest, sample):
            self._anchor, self._speeds = sample, (0.0, 0.0)  # nothing to compare with
            return
        passed_ns = sample.time_ns - anchor.time_ns
        if 0 <= passed_ns < PACE_NS:
            return
        self._anchor, self._speeds = sample, (0.0, 0.0)
        if 0 < passed_ns <= 5 * PACE_NS:
            a, b, passed_s = anchor.value, sample.value, passed_ns / NS_PER_S
            moved_m = math.hypot(b.x - a.x, b.y - a.y)
            turned_rad = abs(wrap_angle(b.yaw - a.yaw))
            self._speeds = (moved_m / passed_s, turned_rad / passed_s)

    def belies_rest(self, motion: Motion) -> Motion:
        """Return the motion, or another where what odometry showed of late contradicts a rest."""
        linear, angular = self._speeds
        if not motion.at_rest:
            return motion
        if linear >= PACE_LINEAR_M_S or angular >= PACE_ANGULAR_RAD_S:
            return Motion(False, linear, angular, 'odometry')
        return replace(motion, at_rest=False) if self._just_moved else motion


class PoseWindow:
    """The newest poses of one source. Written by the receiving thread, read by the loop."""

    def __init__(self) -> None:
        self._samples: tuple[Sample[MapPose], ...] = ()

    def add(self, sample: Sample[MapPose]) -> None:
        """Keep a valid sample if it is a new measurement."""
        samples = self._samples
        step_ns = sample.time_ns - samples[-1].time_ns if samples else SPACING_NS
        if step_ns < -WINDOW_NS:
            self._samples = (sample,)  # the source's own clock was set back
        elif step_ns >= SPACING_NS:  # less: also the same transform, looked up again
            self._samples = (*samples[1 - KEPT_SAMPLES :], sample)

    def clear(self) -> None:
        """Forget everything: the clock that the samples were stamped in has jumped."""
        self._samples = ()

    def judge(
        self, rules: FieldRules, *, now_ns: int, jump: ClockJump | None
    ) -> Observed[Motion] | None:
        """Return the motion over the shortest sufficient window of fresh samples, or None.

        Its age is that of the oldest sample in it, so that all of it is younger than the age says.
        """
        samples = self._samples
        if len(samples) < WINDOW_SAMPLES:
            return None
        latest_ns, count = samples[-1].time_ns, WINDOW_SAMPLES
        while latest_ns - samples[-count].time_ns < WINDOW_NS:
            count += 1
            if count > len(samples):
                return None
        window = samples[-count:]
        newest = rules.observed(window[-1], now_ns=now_ns, jump=jump)
        oldest = rules.observed(window[0], now_ns=now_ns, jump=jump)
        if not newest.availability is oldest.availability is Availability.AVAILABLE:
            return None  # what lies between them was valid when it came, and is younger
        return _moved(window, (latest_ns - window[0].time_ns) / NS_PER_S, oldest)


def judge_motion(
    odometry: Observed[Odometry],
    pace: Pace,
    window: PoseWindow,
    pose_rules: FieldRules,
    *,
    now_ns: int,
    jump: ClockJump | None,
) -> Observed[Motion]:
    """Return whether the robot is at rest, on the better evidence that there is."""
    twist = odometry.value
    motion = None
    if twist is not None:
        linear, angular = abs(twist.linear_m_s), twist.angular_rad_s
        motion = pace.belies_rest(Motion(_is_slow(twist), linear, angular, 'odometry'))
    by_pose = window.judge(pose_rules, now_ns=now_ns, jump=jump)
    reason = odometry.reason
    if odometry.availability is Availability.AVAILABLE:
        if by_pose is not None and motion is not None and motion.at_rest and _fast(by_pose):
            return by_pose
    else:
        if by_pose is not None:
            return by_pose
        reason = f'odometry: {reason}; {pose_rules.source}: no fresh poses over 0.5 s'
    return Observed(
        value=motion,
        source=odometry.source,
        source_stamp_ns=odometry.source_stamp_ns,
        age_s=odometry.age_s,
        availability=odometry.availability,
        reason=reason,
    )


def _is_slow(twist: Odometry) -> bool:
    return (
        abs(twist.linear_m_s) < REST_LINEAR_M_S and abs(twist.angular_rad_s) < REST_ANGULAR_RAD_S
    )


def _fast(by_pose: Observed[Motion]) -> bool:
    seen = by_pose.value
    return seen is not None and (
        seen.linear_m_s > WINDOW_LINEAR_M_S or seen.angular_rad_s > WINDOW_ANGULAR_RAD_S
    )


def _moved(
    window: tuple[Sample[MapPose], ...], span_s: float, oldest: Observed[MapPose]
) -> Observed[Motion] | None:
    """Compare every pose of the window with its newest: a loop that ends where it began moved."""
    poses = [sample.value for sample in window]
    last = poses[-1]
    moved_m = max([math.hypot(pose.x - last.x, pose.y - last.y) for pose in poses])
    turned_rad = max([abs(wrap_angle(pose.yaw - last.yaw)) for pose in poses])
    if not math.isfinite(moved_m + turned_rad):  # finite poses, but no number for their distance
        return None
    motion = Motion(
        at_rest=moved_m < WINDOW_MOVED_M and turned_rad < WINDOW_TURNED_RAD,
        linear_m_s=moved_m / span_s,
        angular_rad_s=turned_rad / span_s,
        evidence='pose_window',
    )
    return Observed(
        value=motion,
        source=oldest.source,
        source_stamp_ns=oldest.source_stamp_ns,
        age_s=oldest.age_s,
        availability=Availability.AVAILABLE,
    )
