# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the world confirms what a controller claims: one verifier per kind of managed skill.

A verifier only looks. It gets the goal, the world before the start, the controller's last word and
a snapshot from after it, and answers confirmed, disproved or inconclusive, with what it measured.
The tracker asks again while the answer may still change, up to the verification timeout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
import math
from typing import Any, Protocol

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.geometry import (
    compose,
    distance,
    inverse,
    Transform2D,
    turn,
    wrap_angle,
)
from robot_agent_harness.world.snapshot import MapPose, Observed, Odometry, WorldSnapshot

DISPROOF_PERSISTS_S = 0.5
"""How long after the end a robot must still be elsewhere: a pose may lag the last metres by a
sample."""
DISPLACEMENT_SLACK_M = 0.5
"""By how much map and odometry may differ over a trip: a usual correction of the localisation."""
DISPLACEMENT_SLACK_RATIO = 0.35
"""Further slack as a share of the trip, for wheel slip and a heading that drifts by 20 degrees."""
JUMP_SLACK_M, JUMP_SLACK_RAD = 0.35, 0.5
"""The same once the localisation has been seen to jump."""
DISPLACEMENT_SLACK_RAD = 1.0
"""By how much their headings may differ: wheels slip most where a robot turns."""


class Verdict(str, Enum):
    """What the world says about a claimed outcome."""

    CONFIRMED = 'confirmed'
    DISPROVED = 'disproved'
    INCONCLUSIVE = 'inconclusive'


@dataclass(frozen=True, slots=True)
class Terminal:
    """The controller's last word about a goal."""

    status: int
    """Raw action_msgs/GoalStatus."""
    monotonic_ns: int
    """When it arrived, on the steady clock."""
    source: str
    """`result` or `status_topic`."""
    payload: dict[str, Any] | None
    """The result's fields; None while the result itself has not arrived."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its evidence."""

    verdict: Verdict
    final: bool
    """Whether waiting longer cannot change it."""
    evidence: dict[str, Any]


class Verifier(Protocol):
    """Judges the outcome of one kind of action; pure, and never waits."""

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Compare the claimed outcome with a snapshot from after the claim."""
        ...


@dataclass(frozen=True, slots=True)
class NavigationVerifier:
    """Confirms an arrival: there, turned the right way, at rest, by a trustworthy localisation."""

    xy_tolerance_m: float = 0.35
    """Nav2's goal checker stops at 0.25 m; this adds what the recordings show on top."""
    yaw_tolerance_rad: float = 0.35
    max_position_variance_m2: float | None = 0.25
    max_age_s: float = 1.0
    """Oldest pose to judge by, in seconds."""

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge an arrival at `x`, `y`, `yaw` in `frame_id`."""
        judgement = self._judge_world(goal, before, terminal, now)
        contradiction = _contradiction(terminal)
        if contradiction and judgement.verdict is Verdict.CONFIRMED:
            evidence = {**judgement.evidence, 'why': contradiction}
            return replace(judgement, verdict=Verdict.INCONCLUSIVE, evidence=evidence)
        return judgement

    def _judge_world(
        self, goal: dict[str, Any], before: WorldSnapshot, terminal: Terminal, now: WorldSnapshot
    ) -> Judgement:
        evidence: dict[str, Any] = {}
        pose, why = self._fresh(now.map_pose, terminal, now, 'pose')
        if pose is None:
            return _inconclusive(evidence, why)
        if pose.frame_id.lstrip('/') != goal['frame_id'].lstrip('/'):
            return _inconclusive(
                evidence, f'the pose is in {pose.frame_id}, the goal in {goal["frame_id"]}'
            )
        variance = pose.position_variance_m2
        position_error = math.hypot(goal['x'] - pose.x, goal['y'] - pose.y)
        yaw_error = abs(wrap_angle(goal['yaw'] - pose.yaw))
        evidence |= {
            'observed_pose': {'x': _r(pose.x), 'y': _r(pose.y), 'yaw': _r(pose.yaw)},
            'pose_source': now.map_pose.source,
            'pose_age_s': _r(now.map_pose.age_s),
            'position_variance_m2': _r(variance),
            'position_error_m': _r(position_error),
            'position_tolerance_m': self.xy_tolerance_m,
            'yaw_error_rad': _r(yaw_error),
            'yaw_tolerance_rad': self.yaw_tolerance_rad,
        }
        limit = self.max_position_variance_m2
        if limit is not None and variance is not None and not 0.0 <= variance <= limit:
            return _inconclusive(
                evidence,
                f'the localisation is not trustworthy: variance not from 0 to {limit} m^2',
            )
        motion, why = self._fresh(now.motion, terminal, now, 'motion')
        if motion is None:
            return _inconclusive(evidence, why)
        evidence |= {
            'at_rest': motion.at_rest,
            'linear_m_s': _r(motion.linear_m_s),
            'angular_rad_s': _r(motion.angular_rad_s),
            'rest_evidence': motion.evidence,
        }
        there = position_error <= self.xy_tolerance_m and yaw_error <= self.yaw_tolerance_rad
        if not motion.at_rest:
            if there:
                return _inconclusive(evidence, 'the robot is within tolerance but still moving')
            return Judgement(
                Verdict.DISPROVED, False, {**evidence, 'why': 'moving, and not at the goal'}
            )
        conflict = _displacement_conflict(before, now, evidence)
        if conflict:
            return _inconclusive(evidence, conflict)
        if there:
            why = 'at rest within tolerance of the goal, observed after the controller had ended'
            return Judgement(Verdict.CONFIRMED, True, {**evidence, 'why': why})
        waited_s = (now.captured_monotonic_ns - terminal.monotonic_ns) / NS_PER_S
        # A localisation that has jumped on the way may come round yet: only time makes it final.
        final = waited_s >= DISPROOF_PERSISTS_S and not _jumped(before, now)
        return Judgement(
            Verdict.DISPROVED,
            final,
            {**evidence, 'why': 'at rest, and not at the goal'},
        )

    def _fresh(
        self, field: Observed[Any], terminal: Terminal, now: WorldSnapshot, name: str
    ) -> tuple[Any, str]:
        if field.usable is None:
            return None, f'no {name} to judge by: {field.reason}'
        age_s = field.age_s if field.age_s is not None else math.inf
        if age_s > self.max_age_s:
            return None, f'the {name} is {age_s:.2f} s old'
        observed_ns = now.captured_monotonic_ns - age_s * NS_PER_S
        if observed_ns < terminal.monotonic_ns:
            return None, f'no {name} observed after the controller had ended'
        return field.usable, ''


def _contradiction(terminal: Terminal) -> str | None:
    """Say what in a successful result speaks against success; an error_code of 0 says nothing."""
    payload = terminal.payload or {}
    code = payload.get('error_code', 0)
    if str(code) != '0':
        return f'the controller reported success with error_code {code}'
    missed = payload.get('missed_waypoints')
    return f'the controller reported success but missed waypoints {missed}' if missed else None


def _jumped(before: WorldSnapshot, now: WorldSnapshot) -> bool:
    """Return whether the localisation was seen to jump since the start."""
    then, pose = before.map_pose.usable, now.map_pose.usable
    return then is not None and pose is not None and pose.jumps != then.jumps


def _displacement_conflict(
    before: WorldSnapshot, now: WorldSnapshot, evidence: dict[str, Any]
) -> str | None:
    """Say so if map pose and odometry moved differently since the start.

    A localisation that jumps onto the goal while the wheels did something else would otherwise
    confirm it. Both motions are taken in the robot's frame at the start, so that where the frames
    lie does not matter.
    """
    ends = (
        before.map_pose.usable,
        now.map_pose.usable,
        before.odometry.usable,
        now.odometry.usable,
    )
    map_from, map_to, odom_from, odom_to = ends
    if map_from is None or map_to is None:
        return None
    jumped = _jumped(before, now)
    if odom_from is None:
        # Silent at the start: on such a robot the wheels have no say, but a jump seen since has.
        return 'the localisation jumped during the trip' if jumped else None
    if odom_to is None:
        moved_m = math.hypot(map_to.x - map_from.x, map_to.y - map_from.y)
        silent = f'the map pose moved {moved_m:.2f} m and odometry fell silent on the way'
        return silent if moved_m > DISPLACEMENT_SLACK_M else None
    by_map, by_wheels = _motion(map_from, map_to), _motion(odom_from, odom_to)
    map_m, odom_m = math.hypot(by_map.x, by_map.y), math.hypot(by_wheels.x, by_wheels.y)
    apart_m, apart_rad = distance(by_map, by_wheels), turn(by_map, by_wheels)
    evidence |= {
        'map_displacement_m': _r(map_m),
        'odometry_displacement_m': _r(odom_m),
        'displacements_apart_m': _r(apart_m),
        'displacements_apart_rad': _r(apart_rad),
    }
    if jumped:
        # Only a jump that has been taken back leaves wheels and map together this closely.
        slack_m, slack_rad = JUMP_SLACK_M, JUMP_SLACK_RAD
    else:
        slack_m = DISPLACEMENT_SLACK_M + DISPLACEMENT_SLACK_RATIO * max(map_m, odom_m)
        slack_rad = DISPLACEMENT_SLACK_RAD
    if apart_m <= slack_m and apart_rad <= slack_rad:
        return None
    return (
        f'map pose and odometry moved apart by {apart_m:.2f} m and {apart_rad:.2f} rad'
        ' during the trip: the localisation jumped'
    )


def _motion(start: MapPose | Odometry, end: MapPose | Odometry) -> Transform2D:
    """Return the end as seen from the start."""
    return compose(
        inverse(Transform2D(start.x, start.y, start.yaw)), Transform2D(end.x, end.y, end.yaw)
    )


def _inconclusive(evidence: dict[str, Any], why: str) -> Judgement:
    return Judgement(Verdict.INCONCLUSIVE, False, {**evidence, 'why': why})


def _r(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
