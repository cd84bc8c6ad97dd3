# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the world still is what the decision assumed, asked right before anything moves.

Only declared fields are compared, with declared limits, never whole snapshots. Every check reports
what it measured, also when it holds. A comparison with something unknown does not hold (STYLE rule
7); the two fields that a robot may lack altogether, battery and emergency stop, are checked where
they are reported, and so is the position variance, which transforms do not carry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

from robot_agent_harness.world.geometry import wrap_angle
from robot_agent_harness.world.snapshot import Availability, MapPose, Observed, WorldSnapshot

NO_UNFINISHED_ACTION = 'no_unfinished_action'
"""The name of the check that no action of ours goes on."""


@dataclass(frozen=True, slots=True)
class PreconditionPolicy:
    """Limits of one managed skill; None switches the check off for a robot that needs that."""

    pose_max_age_s: float | None = 1.0
    """Oldest map pose to act on, in seconds."""
    odometry_max_age_s: float | None = 1.0
    """Oldest odometry to act on, in seconds; off where a healthy robot's odometry is silent at
    rest."""
    max_drift_m: float | None = 0.5
    """How far the robot may be from where it was in the decision's snapshot, in metres."""
    max_turn_rad: float | None = None
    """How far the robot may be turned from where it faced in the decision's snapshot, in radians;
    for skills that move it by so much from where it faces."""
    max_position_variance_m2: float | None = 0.25
    """Largest position variance of the localisation, in square metres."""
    min_battery_fraction: float | None = 0.2
    """Least state of charge, 0 to 1."""
    emergency_stop_clear: bool = True
    """Whether the emergency stop, where one is reported, must be clear."""
    controller_idle: bool = True
    """Whether the controller must run nothing, neither for us nor for somebody else."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison."""

    name: str
    ok: bool
    measured: Any
    limit: Any
    detail: str | None = None
    """In words, when it does not hold."""

    def to_dict(self) -> dict[str, Any]:
        """Return the check as it is journalled and shown."""
        plain = {'name': self.name, 'ok': self.ok, 'measured': self.measured, 'limit': self.limit}
        return plain if self.detail is None else {**plain, 'detail': self.detail}


@dataclass(frozen=True, slots=True)
class PreconditionReport:
    """All checks of one call, in a fixed order."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.ok)


@dataclass(frozen=True, slots=True)
class ActionGate:
    """What the tracker knows about actions that a new one would disturb."""

    unfinished_action_id: str | None = None
    """An own action without an outcome."""
    unknown_action_id: str | None = None
    """An own action that may still be moving the robot: it ended UNKNOWN, or with the robot
    driving on, or its goal was seen to run after its end. Of several the newest that was not seen
    to end, if there is one."""
    unknown_goal_ended: bool = True
    """Whether the controller has since been seen to run no such action's goal any more."""
    reachable: bool | None = None
    """Whether the server of the skill's own action is there; None where that is the one of which
    snapshots tell."""


def validate(
    policy: PreconditionPolicy,
    *,
    decision: WorldSnapshot | None,
    fresh: WorldSnapshot,
    gate: ActionGate,
    target_at_decision: dict[str, Any] | str,
    target_now: dict[str, Any],
) -> PreconditionReport:
    """Compare a decision's assumptions with the fresh snapshot.

    :param decision: the snapshot that the decision was made from; None if it is no longer known.
    :param target_at_decision: the goal as it would have been at the decision, or, in words, why
        that cannot be said.
    :param target_now: the goal as it would be sent now.
    """
    checks = [
        _decision_known(decision),
        _age('pose_age', fresh.map_pose, policy.pose_max_age_s),
        _age('odometry_age', fresh.odometry, policy.odometry_max_age_s),
        _drift(policy.max_drift_m, decision, fresh),
        _turned(policy.max_turn_rad, decision, fresh),
        _variance(policy.max_position_variance_m2, fresh),
        _emergency_stop(policy.emergency_stop_clear, fresh),
        _battery(policy.min_battery_fraction, fresh),
        _controller_reachable(fresh, gate),
        *(_controller_idle(fresh, gate) if policy.controller_idle else ()),
        _target(target_at_decision, target_now, decision),
    ]
    return PreconditionReport(tuple(check for check in checks if check is not None))


def _decision_known(decision: WorldSnapshot | None) -> Check:
    known = decision is not None
    return Check(
        'decision_snapshot_known',
        known,
        known,
        True,
        None if known else 'the snapshot that this decision names is unknown or too old',
    )


def _age(name: str, field: Observed[Any], limit: float | None) -> Check | None:
    if limit is None:
        return None
    if field.availability in (Availability.MISSING, Availability.INVALID):
        return Check(name, False, field.availability.value, limit, field.reason)
    # A source can be known to be dead before its last word is old: stale is stale at any age.
    available = field.availability is Availability.AVAILABLE
    ok = available and field.age_s is not None and field.age_s <= limit
    detail = None if ok else (field.reason or f'older than {limit} s')
    return Check(name, ok, _round(field.age_s), limit, detail)


def _drift(
    limit: float | None, decision: WorldSnapshot | None, fresh: WorldSnapshot
) -> Check | None:
    def metres(then: MapPose, now: MapPose) -> float:
        return math.hypot(now.x - then.x, now.y - then.y)

    return _since_decision('pose_drift', metres, limit, decision, fresh, done='moved')


def _turned(
    limit: float | None, decision: WorldSnapshot | None, fresh: WorldSnapshot
) -> Check | None:
    def radians(then: MapPose, now: MapPose) -> float:
        return abs(wrap_angle(now.yaw - then.yaw))

    return _since_decision('heading_drift', radians, limit, decision, fresh, done='turned')


def _since_decision(
    name: str,
    measure: Callable[[MapPose, MapPose], float],
    limit: float | None,
    decision: WorldSnapshot | None,
    fresh: WorldSnapshot,
    *,
    done: str,
) -> Check | None:
    """Compare the robot's pose with the one that the decision rests on."""
    if limit is None:
        return None
    then, now = (decision.map_pose.usable if decision else None), fresh.map_pose.usable
    if then is None or now is None:
        when = 'at the decision' if then is None else 'now'
        unknown = f'the pose is not known {when}; look again and decide anew'
        return Check(name, False, None, limit, unknown)
    drift = measure(then, now)
    detail = None if drift <= limit else f'the robot has been {done} since the decision'
    return Check(name, drift <= limit, _round(drift), limit, detail)


def _variance(limit: float | None, fresh: WorldSnapshot) -> Check | None:
    pose = fresh.map_pose.value
    if limit is None or pose is None or pose.position_variance_m2 is None:
        return None
    ok = 0.0 <= pose.position_variance_m2 <= limit
    detail = None if ok else 'the localisation is too uncertain'
    return Check('position_variance', ok, _round(pose.position_variance_m2), limit, detail)


def _emergency_stop(wanted: bool, fresh: WorldSnapshot) -> Check | None:
    if not wanted or fresh.safety.availability is Availability.MISSING:
        return None
    safety = fresh.safety.usable
    if safety is None:
        return Check('emergency_stop_clear', False, None, True, fresh.safety.reason)
    clear = not safety.emergency_stop
    detail = None if clear else 'the emergency stop is engaged; a person must release it'
    return Check('emergency_stop_clear', clear, clear, True, detail)


def _battery(limit: float | None, fresh: WorldSnapshot) -> Check | None:
    if limit is None or fresh.battery.availability is Availability.MISSING:
        return None
    battery = fresh.battery.usable
    if battery is None:
        return Check(
            'battery', False, fresh.battery.availability.value, limit, fresh.battery.reason
        )
    ok = battery.fraction >= limit
    return Check('battery', ok, _round(battery.fraction), limit, None if ok else 'too low')


def _controller_reachable(fresh: WorldSnapshot, gate: ActionGate) -> Check:
    navigation = fresh.navigation.usable
    ok = navigation is not None and navigation.controller_reachable
    ok = ok if gate.reachable is None else gate.reachable
    detail = None if ok else 'no action server answers for this action'
    return Check('controller_reachable', ok, ok, True, detail)


def _controller_idle(fresh: WorldSnapshot, gate: ActionGate) -> tuple[Check, ...]:
    navigation = fresh.navigation.usable
    goals = navigation.active_goals if navigation else ()
    foreign = [goal.goal_id for goal in goals if goal.owner == 'foreign']
    checks = [
        Check(
            'no_foreign_goal',
            not foreign,
            foreign,
            [],
            'somebody else is using the controller' if foreign else None,
        ),
        Check(
            NO_UNFINISHED_ACTION,
            gate.unfinished_action_id is None,
            gate.unfinished_action_id,
            None,
            f'action {gate.unfinished_action_id} of this harness is still under way'
            if gate.unfinished_action_id
            else None,
        ),
    ]
    own = [goal.goal_id for goal in goals if goal.owner == 'own']
    if own and gate.unfinished_action_id is None:
        checks.append(
            Check('controller_idle', False, own, [], 'the controller still runs an ended action')
        )
    if gate.unknown_action_id is not None:
        checks.append(_settled(gate, fresh))
    return tuple(checks)


def _settled(gate: ActionGate, fresh: WorldSnapshot) -> Check:
    motion = fresh.motion.usable
    at_rest = motion.at_rest if motion else None
    ok = gate.unknown_goal_ended and at_rest is True
    return Check(
        'last_action_settled',
        ok,
        {'goal_ended': gate.unknown_goal_ended, 'at_rest': at_rest},
        {'goal_ended': True, 'at_rest': True},
        None if ok else f'action {gate.unknown_action_id} may still be moving the robot',
    )


def _target(
    then: dict[str, Any] | str, now: dict[str, Any], decision: WorldSnapshot | None
) -> Check | None:
    if decision is None:
        return None
    if isinstance(then, str):
        return Check('target_unchanged', False, now, None, then)
    ok = then == now
    detail = None if ok else 'the place has other coordinates than at the decision'
    return Check('target_unchanged', ok, now, then, detail)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
