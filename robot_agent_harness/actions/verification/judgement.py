# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a verifier answers, and what all kinds of them share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
import math
from typing import Any, Protocol, runtime_checkable

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.geometry import compose, inverse, Transform2D
from robot_agent_harness.world.snapshot import MapPose, Motion, Observed, Odometry, WorldSnapshot

DISPROOF_PERSISTS_S = 0.5
"""How long after the end a robot must still be elsewhere: a pose may lag the last metres by a
sample."""
MAX_AGE_S = 1.0
"""Oldest pose to judge by, in seconds."""
MAX_POSITION_VARIANCE_M2 = 0.25
"""Largest position variance of a localisation to judge by, in square metres."""


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


@runtime_checkable
class LooksOnTheWay(Protocol):
    """A verifier that needs what happened on the way: snapshots then tell of the journey."""

    def waypoints(self, goal: dict[str, Any]) -> tuple[tuple[float, float], ...]:
        """Return where the robot is to come by, in this order: x and y in metres; may be empty."""
        ...


def fresh(
    field: Observed[Any], terminal: Terminal, now: WorldSnapshot, name: str, *, max_age_s: float
) -> tuple[Any, str]:
    """Return a value observed after the controller had ended, or None and why there is none."""
    if field.usable is None:
        return None, f'no {name} to judge by: {field.reason}'
    age_s = field.age_s if field.age_s is not None else math.inf
    if age_s > max_age_s:
        return None, f'the {name} is {age_s:.2f} s old'
    observed_ns = now.captured_monotonic_ns - age_s * NS_PER_S
    if observed_ns < terminal.monotonic_ns:
        return None, f'no {name} observed after the controller had ended'
    return field.usable, ''


def at_rest(motion: Motion) -> dict[str, Any]:
    """Return what says whether the robot is at rest, as evidence."""
    return {
        'at_rest': motion.at_rest,
        'linear_m_s': rounded(motion.linear_m_s),
        'angular_rad_s': rounded(motion.angular_rad_s),
        'rest_evidence': motion.evidence,
    }


def believed(terminal: Terminal, judgement: Judgement) -> Judgement:
    """Return the judgement; a confirmation that the controller's own result speaks against is
    none.
    """
    contradiction = _contradiction(terminal)
    if contradiction is None or judgement.verdict is not Verdict.CONFIRMED:
        return judgement
    evidence = {**judgement.evidence, 'why': contradiction}
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, evidence=evidence)


def _contradiction(terminal: Terminal) -> str | None:
    """Say what in a successful result speaks against success; a code of 0 or of no value says
    nothing.
    """
    payload = terminal.payload or {}
    code = payload.get('error_code')
    if str(code) not in ('0', 'None'):
        return f'the controller reported success with error_code {code}'
    if payload.get('success') is False:
        return 'the controller reported success with a result that says success: false'
    missed = payload.get('missed_waypoints')
    return f'the controller reported success but missed waypoints {missed}' if missed else None


def inconclusive(evidence: dict[str, Any], why: str) -> Judgement:
    """Say that nobody can say, yet."""
    return Judgement(Verdict.INCONCLUSIVE, False, {**evidence, 'why': why})


def confirmed(evidence: dict[str, Any], why: str) -> Judgement:
    """Say that the world shows it."""
    return Judgement(Verdict.CONFIRMED, True, {**evidence, 'why': why})


def disproved(
    evidence: dict[str, Any], why: str, terminal: Terminal, now: WorldSnapshot
) -> Judgement:
    """Say that the world shows otherwise; for good once that has persisted."""
    waited_s = (now.captured_monotonic_ns - terminal.monotonic_ns) / NS_PER_S
    final = waited_s >= DISPROOF_PERSISTS_S
    return Judgement(Verdict.DISPROVED, final, {**evidence, 'why': why})


def jumped(before: WorldSnapshot, now: WorldSnapshot) -> bool:
    """Return whether the localisation was seen to jump since the start."""
    then, pose = before.map_pose.usable, now.map_pose.usable
    return then is not None and pose is not None and pose.jumps != then.jumps


def motion_between(start: MapPose | Odometry, end: MapPose | Odometry) -> Transform2D:
    """Return the end as seen from the start."""
    return compose(
        inverse(Transform2D(start.x, start.y, start.yaw)), Transform2D(end.x, end.y, end.yaw)
    )


def stopped(terminal: Terminal, now: WorldSnapshot, evidence: dict[str, Any]) -> Judgement | None:
    """Return the judgement where the robot is not known to have stopped; else None."""
    motion, why = fresh(now.motion, terminal, now, 'motion', max_age_s=MAX_AGE_S)
    if motion is None:
        return inconclusive(evidence, why)
    evidence |= at_rest(motion)
    return None if motion.at_rest else inconclusive(evidence, 'the robot is still moving')


def map_motion(
    before: WorldSnapshot,
    terminal: Terminal,
    now: WorldSnapshot,
    evidence: dict[str, Any],
    max_position_variance_m2: float,
) -> Transform2D | None:
    """Return how the robot moved on the map, in its own frame at the start, if that is known."""
    then = before.map_pose.usable
    pose, _ = fresh(now.map_pose, terminal, now, 'pose', max_age_s=MAX_AGE_S)
    if pose is None or then is None or pose.frame_id != then.frame_id:
        return None
    evidence |= {
        'observed_pose': place(pose),
        'pose_source': now.map_pose.source,
        'position_variance_m2': rounded(pose.position_variance_m2),
    }
    variances = (then.position_variance_m2, pose.position_variance_m2)
    if not all(trusted(variance, max_position_variance_m2) for variance in variances):
        return None
    return None if jumped(before, now) else motion_between(then, pose)


def place(pose: MapPose) -> dict[str, Any]:
    """Return a pose as evidence shows it."""
    return {'x': rounded(pose.x), 'y': rounded(pose.y), 'yaw': rounded(pose.yaw)}


def trusted(variance_m2: float | None, limit_m2: float) -> bool:
    """Whether a localisation can be judged by; one that reports no variance can."""
    return variance_m2 is None or 0.0 <= variance_m2 <= limit_m2


def rounded(value: float | None) -> float | None:
    """Return a number as evidence shows it."""
    return None if value is None else round(value, 4)
