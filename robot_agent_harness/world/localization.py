# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The map pose: from tf as it is, or the localiser's last word carried forward by odometry.

AMCL publishes a pose only when the robot has moved, so its last pose says nothing by its own age.
Carried forward, it is `amcl * inverse(odometry then) * odometry now`, and as old as the odometry.
Two signs say that the localiser itself has stopped, and then its pose is not believed: odometry
moved far without a word from it, or it is one that spoke at rest too and has fallen silent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import math
from typing import Any

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.clock_watch import ClockJump
from robot_agent_harness.world.geometry import (
    compose,
    distance,
    inverse,
    Transform2D,
    turn,
    wrap_angle,
)
from robot_agent_harness.world.odometry_track import BRACKET_NS, OdometryTrack, pose_of
from robot_agent_harness.world.samples import all_finite, FieldRules, Sample
from robot_agent_harness.world.snapshot import Availability, Driven, MapPose, Observed, Odometry

CARRY_LIMIT_M = 0.5
"""About twice AMCL's update_min_d (0.25 m): a live AMCL has spoken before this."""
CARRY_LIMIT_RAD = 0.6
"""About three times AMCL's update_min_a (0.2 rad), since turning in place is quick."""
JUMP_M = 0.5
"""A correction larger than this is no correction of drift: the localiser changed its mind."""
JUMP_RAD = 0.8
STILL_M = 0.02
"""Odometry that moved less between two poses says that the robot stood still."""
STILL_RAD = 0.02
STILL_POSE_M, STILL_POSE_RAD = 0.1, 0.1
"""And so does the localiser, with its noise: an AMCL speaks after more than that."""
STEP_M = 0.05
"""A step of the wheels that counts: shorter ones are noise as well, of which a way would grow."""
PERIODIC_AFTER = 3
"""Intervals between poses at rest after which a localiser counts as one that always speaks."""


@dataclass(frozen=True, slots=True)
class _Fix:
    """A pose from the localiser, tied to odometry."""

    sample: Sample[MapPose]
    odometry: Transform2D | None = None
    """Odometry at the time of the pose; None until odometry from after it has arrived."""
    heard: Transform2D | None = None
    """Odometry when the pose was heard: the localiser's silence begins here, not at its stamp."""
    map_to_odom: Transform2D | None = None
    broken: bool = False
    """The pose cannot be carried: it is not valid, or odometry started anew after it."""


Report = Callable[[str, str, dict[str, Any]], None]
"""Takes an anomaly: kind, message, details."""


class Localizer:
    """Estimates the map pose. `observe_*` belong to the receiving thread, `observed` to the loop.

    :param amcl_rules: how to judge samples of `amcl_pose`.
    :param tf_rules: how to judge transforms.
    :param odometry_rules: how to judge the odometry that carries a pose.
    :param global_frame: the frame that poses must be in, without a leading slash.
    :param report: called with each anomaly, on the receiving thread.
    """

    def __init__(
        self,
        *,
        amcl_rules: FieldRules,
        tf_rules: FieldRules,
        odometry_rules: FieldRules,
        global_frame: str,
        report: Report,
    ) -> None:
        self._amcl_rules = amcl_rules
        self._tf_rules = tf_rules
        self._carry_rules = replace(
            amcl_rules,
            source=f'{amcl_rules.source} carried by {odometry_rules.source}',
            accept_unstamped=odometry_rules.accept_unstamped,
        )
        self._global_frame = global_frame
        self._report = report
        self._track = OdometryTrack()
        self._tf: Sample[MapPose] | None = None
        self._tf_to_odom: Transform2D | None = None
        self._fix: _Fix | None = None
        self._previous: _Fix | None = None
        self._lost: tuple[_Fix, str] | None = None
        self._still_intervals = 0
        self._period_s: float | None = None
        self._silent_at_rest = False
        self._before_clock_jump: Transform2D | None = None
        self._jumps = 0
        self._driven: Driven | None = None
        self._step_from: Transform2D | None = None

    @property
    def source_rules(self) -> FieldRules:
        """The rules of the source that is in use: tf once it has spoken, else the localiser."""
        return self._amcl_rules if self._tf is None else self._tf_rules

    def forget(self) -> None:
        """Drop all that was learned from stamps of before a jump of the ROS clock."""
        fix, tf_to_odom = self._fix, self._tf_to_odom
        tied = self._previous if fix is None or fix.broken or fix.map_to_odom is None else fix
        self._track.clear()
        self._step_from = None
        self._break()
        self._still_intervals, self._period_s = 0, None
        # No stamp is needed to see that the map moved the robot meanwhile, and the wheels did not.
        self._tf_to_odom = tf_to_odom
        self._before_clock_jump = None if tied is None else tied.map_to_odom

    def observe_odometry(self, sample: Sample[Odometry]) -> None:
        """Take odometry in; runs at up to 200 Hz."""
        value = sample.value
        if sample.is_in_future or not math.isfinite(value.x + value.y + value.yaw):
            return  # the pose may still be carried by the odometry of a moment ago
        if self._track.add(sample):
            self._step_from = None
            self._break()
        self._follow(pose_of(sample))
        fix = self._fix
        if fix is None or fix.broken:
            return
        if fix.odometry is None and sample.time_ns >= fix.sample.time_ns:
            fix = self._tie(fix)
        if fix.heard is not None:
            self._watch_carry(fix, fix.heard, value)
            silent_s = (sample.time_ns - fix.sample.time_ns) / NS_PER_S
            if silent_s >= self._amcl_rules.stale_after_s:
                self._silent_at_rest |= _is_still(fix.heard, pose_of(sample))

    def observe_pose(self, sample: Sample[MapPose]) -> bool:
        """Take a pose from the localiser in, and return whether it is valid."""
        if not self._is_valid(sample, self._amcl_rules):
            self._fix = _Fix(sample, broken=True)
            return False
        fix = self._fix
        if fix is not None and fix.odometry is not None and not fix.broken:
            self._previous = fix
        fix = _Fix(sample)
        newest = self._track.newest
        if newest is None or newest.time_ns < sample.time_ns:
            self._fix = fix  # until odometry from after the pose arrives, it stands alone
        else:
            self._tie(fix)
        return True

    def observe_transform(self, sample: Sample[MapPose]) -> bool:
        """Take a pose from tf in, and return whether it is valid."""
        self._tf = sample
        if not self._is_valid(sample, self._tf_rules):
            return False
        newest = self._track.newest
        if newest is None or abs(newest.time_ns - sample.time_ns) > BRACKET_NS:
            self._tf_to_odom = None
            return True
        odometry = self._track.at(sample.time_ns) or pose_of(newest)
        pose = _transform(sample.value)
        if self._tf_to_odom is not None:
            self._check_jump(compose(self._tf_to_odom, odometry), pose, self._tf_rules.source)
        self._tf_to_odom = compose(pose, inverse(odometry))
        return True

    @property
    def has_pose(self) -> bool:
        """Whether any pose has come, however old or wrong."""
        return self._tf is not None or self._fix is not None

    @property
    def has_variance(self) -> bool:
        """Whether a pose has come that tells how sure it is, which tf2 does not."""
        return self._fix is not None

    def observed(self, *, now_ns: int, jump: ClockJump | None) -> Observed[MapPose]:
        """Return the map pose as it is known at the steady time `now_ns`."""
        seen, jumps, driven = self._judged(now_ns, jump), self._jumps, self._driven
        if (pose := seen.value) is None or (pose.jumps == jumps and pose.driven is driven):
            return seen
        return replace(seen, value=replace(pose, jumps=jumps, driven=driven))

    def _judged(self, now_ns: int, jump: ClockJump | None) -> Observed[MapPose]:
        tf, fix = self._tf, self._fix
        if tf is not None:
            return self._from_tf(tf, fix, now_ns, jump)
        if fix is None:
            return self._amcl_rules.observed(None, now_ns=now_ns, jump=jump)
        own = self._amcl_rules.observed(
            fix.sample, now_ns=now_ns, jump=jump, defect=self._frame_defect(fix.sample)
        )
        carried = self._carry(fix, now_ns, jump)
        if own.availability is Availability.INVALID or carried is None:
            return own
        lost, period_s = self._lost, self._period_s
        if lost is not None and lost[0] is fix:
            reason = lost[1]
        elif period_s is None:
            return carried
        elif own.availability is Availability.AVAILABLE:
            # It speaks at rest as well, so its own age counts.
            return replace(own, value=carried.value, source=carried.source)
        else:
            reason = f'the localiser spoke every {period_s:.2f} s and is silent: {own.reason}'
        return replace(
            own,
            value=carried.value,
            source=carried.source,
            availability=Availability.STALE,
            reason=reason,
        )

    def _carry(self, fix: _Fix, now_ns: int, jump: ClockJump | None) -> Observed[MapPose] | None:
        """Return the pose carried to the newest odometry, or None where it cannot be."""
        odometry = self._track.newest
        if odometry is None or fix.broken or fix.map_to_odom is None:
            return None
        pose, fixed = compose(fix.map_to_odom, pose_of(odometry)), fix.sample.value
        value = MapPose(
            pose.x,
            pose.y,
            pose.yaw,
            fixed.frame_id,
            fixed.position_variance_m2,
            fixed.yaw_variance_rad2,
            self._jumps,
            self._driven,
        )
        carried = self._carry_rules.observed(odometry.with_value(value), now_ns=now_ns, jump=jump)
        return None if carried.availability is Availability.INVALID else carried

    def _from_tf(
        self, tf: Sample[MapPose], fix: _Fix | None, now_ns: int, jump: ClockJump | None
    ) -> Observed[MapPose]:
        """Return tf's pose, with the covariance that only the localiser's own message has."""
        seen = self._tf_rules.observed(tf, now_ns=now_ns, jump=jump, defect=self._frame_defect(tf))
        if seen.value is None or fix is None:
            return seen
        if not all_finite(fix.sample.value):
            reason = f'{self._amcl_rules.source} reports a covariance that is no number'
            return replace(seen, availability=Availability.INVALID, reason=reason)
        if not self._is_valid(fix.sample, self._amcl_rules):
            return seen
        value = replace(
            seen.value,
            position_variance_m2=fix.sample.value.position_variance_m2,
            yaw_variance_rad2=fix.sample.value.yaw_variance_rad2,
        )
        return replace(seen, value=value)

    def _is_valid(self, sample: Sample[MapPose], rules: FieldRules) -> bool:
        """Return whether the sample was valid when it was received."""
        received_ns, defect = sample.received_monotonic_ns, self._frame_defect(sample)
        seen = rules.observed(sample, now_ns=received_ns, jump=None, defect=defect)
        return seen.availability is not Availability.INVALID

    def _frame_defect(self, sample: Sample[MapPose]) -> str | None:
        frame = sample.value.frame_id.lstrip('/')
        if frame == self._global_frame:
            return None
        return f"it is in frame '{frame}', not in '{self._global_frame}' (parameter global_frame)"

    def _break(self) -> None:
        """Carry nothing across this moment: odometry or the clock started anew."""
        self._tf_to_odom = self._previous = self._before_clock_jump = None
        if self._fix is not None:
            self._fix = replace(self._fix, broken=True)

    def _tie(self, fix: _Fix) -> _Fix:
        """Tie a pose to odometry, learn from it, and make it the pose to carry."""
        time_ns, pose = fix.sample.time_ns, _transform(fix.sample.value)
        odometry = self._track.at(time_ns)
        if odometry is not None:
            self._learn(fix, odometry, pose)
        else:
            # No odometry from around the pose: it is a latched one from before we listened, or
            # odometry is silent at rest. Had the robot moved since, a live localiser had spoken.
            odometry = self._track.first_since(time_ns)
        if odometry is not None and self._track.newest is not None:
            heard = pose_of(self._track.newest)
            fix = _Fix(fix.sample, odometry, heard, compose(pose, inverse(odometry)))
        self._fix, self._silent_at_rest = fix, False
        return fix

    def _learn(self, fix: _Fix, odometry: Transform2D, pose: Transform2D) -> None:
        """Learn from a pose and the one before: is it a jump, does the localiser speak at rest."""
        previous, kept = self._previous, self._before_clock_jump
        self._before_clock_jump = None
        if previous is None and kept is not None:
            self._check_jump(compose(kept, odometry), pose, self._amcl_rules.source)
        if previous is None or previous.odometry is None or previous.map_to_odom is None:
            return
        self._check_jump(compose(previous.map_to_odom, odometry), pose, self._amcl_rules.source)
        period_s = (fix.sample.time_ns - previous.sample.time_ns) / NS_PER_S
        before = _transform(previous.sample.value)
        still = (
            _is_still(previous.odometry, odometry)
            # Odometry that is frozen stands still as well.
            and distance(before, pose) < STILL_POSE_M
            and turn(before, pose) < STILL_POSE_RAD
        )
        if period_s <= 0.0:
            return  # the same pose again says nothing about the localiser's habit
        if period_s >= self._amcl_rules.stale_after_s:
            if self._silent_at_rest and not still:
                # Silent at rest, then moved, then spoke: this is how AMCL behaves.
                self._still_intervals, self._period_s = 0, None
        elif still:
            self._still_intervals += 1
            if self._still_intervals >= PERIODIC_AFTER:
                self._period_s = period_s

    def _follow(self, here: Transform2D) -> None:
        """Add a step of the wheels to what they have done, in the map's directions."""
        driven, start = self._driven or Driven(), self._step_from
        if start is None:
            gaps = driven.gaps if self._driven is None else driven.gaps + 1
            self._driven, self._step_from = replace(driven, gaps=gaps), here
            return
        dx, dy = here.x - start.x, here.y - start.y
        length_m = math.hypot(dx, dy)
        if length_m < STEP_M:
            return
        self._step_from = here
        to_map = self._map_to_odom()
        if to_map is None:
            self._driven = replace(driven, gaps=driven.gaps + 1)
            return
        cos, sin = math.cos(to_map.yaw), math.sin(to_map.yaw)
        self._driven = Driven(
            driven.x + cos * dx - sin * dy,
            driven.y + sin * dx + cos * dy,
            driven.length_m + length_m,
            driven.gaps,
        )

    def _map_to_odom(self) -> Transform2D | None:
        """Return how odometry lies in the map, as it was last known."""
        if self._tf is not None:
            return self._tf_to_odom
        for fix in (self._fix, self._previous):
            if fix is not None and not fix.broken and fix.map_to_odom is not None:
                return fix.map_to_odom
        return None

    def _watch_carry(self, fix: _Fix, heard: Transform2D, now: Odometry) -> None:
        """Remember that the robot got too far from the pose, also if it comes back later."""
        moved_m = math.hypot(now.x - heard.x, now.y - heard.y)
        turned_rad = abs(wrap_angle(now.yaw - heard.yaw))
        if moved_m <= CARRY_LIMIT_M and turned_rad <= CARRY_LIMIT_RAD:
            return
        if self._lost is None or self._lost[0] is not fix:
            self._lost = (
                fix,
                f'the localiser was silent while odometry moved {moved_m:.2f} m and '
                f'{turned_rad:.2f} rad: it has evidently stopped',
            )

    def _check_jump(self, expected: Transform2D, pose: Transform2D, source: str) -> None:
        metres, radians = distance(expected, pose), turn(expected, pose)
        if not math.isfinite(metres + radians) or (metres <= JUMP_M and radians <= JUMP_RAD):
            return
        self._jumps += 1
        self._report(
            'localization_jump',
            f'{source} moved the robot by {metres:.2f} m and {radians:.2f} rad on the map, '
            'which odometry does not show',
            {
                'metres': metres,
                'radians': radians,
                'from': {'x': expected.x, 'y': expected.y, 'yaw': expected.yaw},
                'to': {'x': pose.x, 'y': pose.y, 'yaw': pose.yaw},
            },
        )


def _is_still(then: Transform2D, now: Transform2D) -> bool:
    """Return whether odometry says that the robot stood still."""
    return distance(then, now) < STILL_M and turn(then, now) < STILL_RAD


def _transform(pose: MapPose) -> Transform2D:
    return Transform2D(pose.x, pose.y, pose.yaw)
