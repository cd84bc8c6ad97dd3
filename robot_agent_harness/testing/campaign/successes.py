# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges a success: what had been told against it, and what was missing for it."""

from __future__ import annotations

from collections.abc import Iterable
import math

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.testing.campaign.ledger import Ledger, Message, off_goal, Sent
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.testing.campaign.signs import (
    AGE_MARGIN_S,
    localizer_dead,
    MARGIN,
    MAX_AGE_S,
    MAX_VARIANCE_M2,
    MOVING_M_S,
    TURNING_RAD_S,
)
from robot_agent_harness.testing.campaign.verdicts import Limits
from robot_agent_harness.world.geometry import compose, inverse, wrap_angle

POSES_S = 0.45
"""Over this long the poses must agree on a rest; the harness itself looks back over 0.5 s."""
SMALL_JUMP_M = 0.25
PLAIN_JUMP_M = 0.8
"""Between two poses; the world model itself reports a jump from 0.5 m on."""
CONFLICT_M, CONFLICT_RATIO, CONFLICT_RAD = 1.0, 0.3, 1.2


class Successes:
    """Says what spoke against the success of an action."""

    def __init__(self, ledger: Ledger, habits: Habits, limits: Limits) -> None:
        self._ledger = ledger
        self._habits = habits
        self._limits = limits

    def against(self, sent: Sent, at_s: float, *, strict: bool) -> Iterable[str]:
        """Say what spoke against a success, or what was missing for it.

        :param strict: name also what only weakens the evidence, to find missed successes.
        """
        ledger = self._ledger
        ends = ledger.ended_statuses(sent.goal_id, at_s)
        good = [at for at, status in ends if status == GoalStatus.SUCCEEDED]
        if not good:
            yield 'no word of success for this goal'
            return
        begin = min(good)
        if ends[0][1] != GoalStatus.SUCCEEDED:
            yield f'the controller first said {GoalStatus.name_of(ends[0][1])}'
        code = ledger.error_code(sent.goal_id, at_s)
        if code:
            yield f'the result had error_code {code}'
        yield from self._against_pose(sent, at_s, begin, strict=strict)
        yield from self._against_rest(at_s, begin, strict=strict)
        yield from self._against_trip(sent, at_s, strict=strict)

    def _against_pose(
        self, sent: Sent, at_s: float, begin: float, *, strict: bool
    ) -> Iterable[str]:
        estimate = self._ledger.estimate(at_s)
        if estimate is None:
            yield 'no map pose could be believed'
            return
        age = at_s - estimate.measured_s
        if estimate.measured_s < begin - AGE_MARGIN_S or age > MAX_AGE_S + AGE_MARGIN_S:
            yield f'no pose from after the end: the newest was {age:.1f} s old'
        if strict and (estimate.measured_s < begin + 0.1 or age > MAX_AGE_S / 2):
            yield 'the pose is not quite fresh'
        margin = -MARGIN if strict else MARGIN
        off_m, off_rad = off_goal(estimate.pose, sent.goal)
        if off_m > self._limits.xy_m + margin or off_rad > self._limits.yaw_rad + margin:
            yield f'the pose said {off_m:.2f} m and {off_rad:.2f} rad off'
        variance = estimate.variance_m2
        if variance is not None and not variance <= MAX_VARIANCE_M2:
            yield f'the variance was {variance}'
        if localizer_dead(self._ledger, self._habits, at_s, strict=strict):
            yield 'the localiser had evidently stopped'

    def _against_rest(self, at_s: float, begin: float, *, strict: bool) -> Iterable[str]:
        odometry = self._ledger.odometry_now(at_s)
        fresh = odometry is not None and odometry.measured_s >= begin - AGE_MARGIN_S
        if strict and odometry is not None:
            fresh = fresh and at_s - odometry.measured_s <= MAX_AGE_S / 2
        poses = [
            message
            for message in self._ledger.localizer(at_s).since(at_s - POSES_S, at_s)
            if message.valid and message.measured_s >= at_s - POSES_S
        ]
        if not fresh and len(poses) < 3:
            yield 'no word on whether the robot rested'
        if fresh and odometry is not None:
            v, w = odometry.speed
            if abs(v) > MOVING_M_S or abs(w) > TURNING_RAD_S:
                yield f'odometry said {v:.2f} m/s and {w:.2f} rad/s'
        if len(poses) >= 3:
            first, last = poses[0].pose, poses[-1].pose
            moved = math.hypot(last.x - first.x, last.y - first.y)
            if moved > 0.15 + 8 * self._habits.pose_noise_m:
                yield f'the poses of the last {POSES_S} s moved {moved:.2f} m'
            if strict and not fresh and self._hides_creeping(poses):
                yield 'the poses alone scatter too much to tell rest from creeping'

    def _hides_creeping(self, poses: list[Message]) -> bool:
        """Whether the noise of poses is as large as what the slowest motion would show."""
        last = poses[-1]
        scatter = max(math.hypot(last.pose.x - m.pose.x, last.pose.y - m.pose.y) for m in poses)
        noise = 3.0 * math.sqrt(2.0) * self._habits.pose_noise_m  # of a difference of two
        passed_s = last.measured_s - poses[0].measured_s
        return max(scatter, noise) > MOVING_M_S * passed_s

    def _against_trip(self, sent: Sent, at_s: float, *, strict: bool) -> Iterable[str]:
        """Compare where odometry alone would have carried the robot with where the map has it."""
        ledger = self._ledger
        begin = sent.at_s
        if not any(life[0] <= sent.at_s < at_s <= life[1] for life in ledger.lives):
            begin = ledger.followed_since(sent.at_s, at_s)
        then, now = ledger.estimate(begin), ledger.estimate(at_s)
        rolled = (ledger.odometry_now(begin), ledger.odometry_now(at_s))
        broken = begin >= at_s or ledger.reset_between(begin, at_s)
        if broken or not (then and now and rolled[0] and rolled[1]):
            if strict:
                yield 'the trip cannot be compared'
            return
        trip = compose(inverse(rolled[0].pose), rolled[1].pose)
        expected = compose(then.pose, trip)
        apart = math.hypot(expected.x - now.pose.x, expected.y - now.pose.y)
        turned = abs(wrap_angle(expected.yaw - now.pose.yaw))
        if turned > (0.2 if strict else CONFLICT_RAD):
            yield f'the map has it turned {turned:.2f} rad from what odometry says'
        limit = CONFLICT_M + CONFLICT_RATIO * math.hypot(trip.x, trip.y)
        if apart > limit * (0.3 if strict else 1.0):
            yield f'the map has it {apart:.2f} m from where odometry brought it'
        jump = ledger.largest_jump_m(begin, at_s)
        if jump > PLAIN_JUMP_M and apart > PLAIN_JUMP_M:
            yield f'the localisation jumped by {jump:.2f} m, and stayed there'
        if strict and jump > SMALL_JUMP_M:
            yield 'the localisation jumped'
