# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot arrived where it was sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Any

from robot_agent_harness.actions.verification.judgement import (
    at_rest,
    believed,
    confirmed,
    disproved,
    fresh,
    inconclusive,
    Judgement,
    jumped,
    MAX_POSITION_VARIANCE_M2,
    motion_between,
    place,
    rounded,
    Terminal,
    trusted,
    Verdict,
)
from robot_agent_harness.world.geometry import distance, turn, wrap_angle
from robot_agent_harness.world.snapshot import MapPose, WorldSnapshot

DISPLACEMENT_SLACK_M = 0.5
"""By how much map and odometry may differ over a trip: a usual correction of the localisation."""
DISPLACEMENT_SLACK_RATIO = 0.35
"""Further slack as a share of the trip, for wheel slip and a heading that drifts by 20 degrees."""
LENGTH_SLACK_M, LENGTH_SLACK_RATIO = 0.35, 0.2
"""By how much the lengths of both may differ, which no drift of a heading changes: wheels that are
worn or slip a little. Many small corrections that bring the pose onto the goal show here."""
STEPS_SLACK_RATIO = 0.02
"""By how much the wheels' steps, in the map's directions, may miss what the map shows, as a share
of the way, beside LENGTH_SLACK_M."""
DRIFT_RAD, DRIFT_RAD_M = 0.1, 0.015
"""How far the heading of odometry may drift, at all and per metre of the way."""
JUMP_SLACK_M, JUMP_SLACK_RAD = 0.35, 0.5
"""The same once the localisation has been seen to jump."""
DISPLACEMENT_SLACK_RAD = 1.0
"""By how much their headings may differ: wheels slip most where a robot turns."""


@dataclass(frozen=True, slots=True)
class NavigationVerifier:
    """Confirms an arrival: there, turned the right way, at rest, by a trustworthy localisation."""

    xy_tolerance_m: float = 0.35
    """Nav2's goal checker stops at 0.25 m; this adds what the recordings show on top."""
    yaw_tolerance_rad: float = 0.35
    max_position_variance_m2: float = MAX_POSITION_VARIANCE_M2
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
        return believed(terminal, self._judge_world(goal, before, terminal, now))

    def _judge_world(
        self, goal: dict[str, Any], before: WorldSnapshot, terminal: Terminal, now: WorldSnapshot
    ) -> Judgement:
        evidence: dict[str, Any] = {}
        pose, why = fresh(now.map_pose, terminal, now, 'pose', max_age_s=self.max_age_s)
        if pose is None:
            return inconclusive(evidence, why)
        if pose.frame_id.lstrip('/') != goal['frame_id'].lstrip('/'):
            return inconclusive(
                evidence, f'the pose is in {pose.frame_id}, the goal in {goal["frame_id"]}'
            )
        variance = pose.position_variance_m2
        position_error = math.hypot(goal['x'] - pose.x, goal['y'] - pose.y)
        yaw_error = abs(wrap_angle(goal['yaw'] - pose.yaw))
        evidence |= {
            'observed_pose': place(pose),
            'pose_source': now.map_pose.source,
            'pose_age_s': rounded(now.map_pose.age_s),
            'position_variance_m2': rounded(variance),
            'position_error_m': rounded(position_error),
            'position_tolerance_m': self.xy_tolerance_m,
            'yaw_error_rad': rounded(yaw_error),
            'yaw_tolerance_rad': self.yaw_tolerance_rad,
        }
        limit = self.max_position_variance_m2
        if not trusted(variance, limit):
            return inconclusive(
                evidence,
                f'the localisation is not trustworthy: variance not from 0 to {limit} m^2',
            )
        motion, why = fresh(now.motion, terminal, now, 'motion', max_age_s=self.max_age_s)
        if motion is None:
            return inconclusive(evidence, why)
        evidence |= at_rest(motion)
        there = position_error <= self.xy_tolerance_m and yaw_error <= self.yaw_tolerance_rad
        if not motion.at_rest:
            if there:
                return inconclusive(evidence, 'the robot is within tolerance but still moving')
            return Judgement(
                Verdict.DISPROVED, False, {**evidence, 'why': 'moving, and not at the goal'}
            )
        conflict = _displacement_conflict(before, now, evidence)
        if conflict:
            return inconclusive(evidence, conflict)
        if there:
            why = 'at rest within tolerance of the goal, observed after the controller had ended'
            return confirmed(evidence, why)
        judgement = disproved(evidence, 'at rest, and not at the goal', terminal, now)
        # A localisation that has jumped on the way may come round yet: only time makes it final.
        return replace(judgement, final=judgement.final and not jumped(before, now))


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
    has_jumped = jumped(before, now)
    if odom_from is None:
        # Silent at the start: on such a robot the wheels have no say, but a jump seen since has.
        return 'the localisation jumped during the trip' if has_jumped else None
    by_map = motion_between(map_from, map_to)
    map_m, map_rad = math.hypot(by_map.x, by_map.y), abs(wrap_angle(by_map.yaw))
    if odom_to is None:
        little = map_m <= DISPLACEMENT_SLACK_M and map_rad <= DISPLACEMENT_SLACK_RAD
        if little and not has_jumped:
            return None
        # That the wheels cannot contradict any more must not make a jump true.
        return (
            f'the map pose moved {map_m:.2f} m and {map_rad:.2f} rad'
            f'{", with a jump," if has_jumped else ""} and odometry fell silent on the way'
        )
    by_wheels = motion_between(odom_from, odom_to)
    odom_m = math.hypot(by_wheels.x, by_wheels.y)
    apart_m, apart_rad = distance(by_map, by_wheels), turn(by_map, by_wheels)
    evidence |= {
        'map_displacement_m': rounded(map_m),
        'odometry_displacement_m': rounded(odom_m),
        'displacements_apart_m': rounded(apart_m),
        'displacements_apart_rad': rounded(apart_rad),
    }
    if has_jumped:
        # Only a jump that has been taken back leaves wheels and map together this closely.
        slack_m, slack_rad = JUMP_SLACK_M, JUMP_SLACK_RAD
    else:
        slack_m = DISPLACEMENT_SLACK_M + DISPLACEMENT_SLACK_RATIO * max(map_m, odom_m)
        slack_rad = DISPLACEMENT_SLACK_RAD
    if not has_jumped and _drift_explains(map_from, map_to, apart_rad, evidence):
        return None
    if apart_m > slack_m or apart_rad > slack_rad:
        return (
            f'map pose and odometry moved apart by {apart_m:.2f} m and {apart_rad:.2f} rad'
            ' during the trip: the localisation jumped'
        )
    if abs(map_m - odom_m) > LENGTH_SLACK_M + LENGTH_SLACK_RATIO * max(map_m, odom_m):
        return (
            f'the map pose moved {map_m:.2f} m and the wheels {odom_m:.2f} m during the trip:'
            ' the localisation was corrected onto the goal, or the wheels slipped'
        )
    return None


def _drift_explains(
    then: MapPose, now: MapPose, apart_rad: float, evidence: dict[str, Any]
) -> bool:
    """Return whether the wheels did all that the map shows, but for a heading that drifted.

    Over a long way, and above all one that leads back, the ends of odometry tell little: a third
    of a degree a metre, as wheels have it, puts them metres apart after a round of 40 m.
    """
    start, end = then.driven, now.driven
    if start is None or end is None or start.gaps != end.gaps:
        return False
    length_m = end.length_m - start.length_m
    apart_m = math.hypot(now.x - then.x - end.x + start.x, now.y - then.y - end.y + start.y)
    evidence |= {'driven_m': rounded(length_m), 'steps_apart_m': rounded(apart_m)}
    return (
        apart_m <= LENGTH_SLACK_M + STEPS_SLACK_RATIO * length_m
        and apart_rad <= DRIFT_RAD + DRIFT_RAD_M * length_m
    )
