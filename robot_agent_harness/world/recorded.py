# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot as the journal has it, made into a value again, and a snapshot of nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from robot_agent_harness.world.snapshot import (
    ActionSummary,
    ActiveGoal,
    ArtifactRef,
    Availability,
    Battery,
    MapPose,
    Motion,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Safety,
    WorldSnapshot,
)

T = TypeVar('T')

OBSERVED: dict[str, type[Any]] = {
    'map_pose': MapPose,
    'odometry': Odometry,
    'motion': Motion,
    'navigation': Navigation,
    'battery': Battery,
    'safety': Safety,
}
"""The facts of a snapshot and what each is about."""


def recorded_snapshot(plain: Mapping[str, Any]) -> WorldSnapshot:
    """Return the snapshot that :meth:`WorldSnapshot.to_dict` made JSON of.

    :raises ValueError: it is no snapshot, or one with a part that this release does not know.
    """
    try:
        made = dict(plain)
        for name, kind in OBSERVED.items():
            made[name] = _observed(made[name], kind)
        made['active_action'] = _optional(made['active_action'], ActionSummary)
        made['recent_outcome'] = _optional(made['recent_outcome'], OutcomeSummary)
        made['artifacts'] = tuple(_made(ref, ArtifactRef) for ref in made['artifacts'])
        return WorldSnapshot(**made)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'a recorded snapshot cannot be read: {error!r}') from error


def unseen_world(
    snapshot_id: str, *, monotonic_ns: int, wall_ns: int, ros_ns: int, reason: str
) -> WorldSnapshot:
    """Return a snapshot in which nothing is known.

    :param reason: why it is not.
    """
    nothing: Any = Observed(None, 'none', None, None, Availability.MISSING, reason)
    return WorldSnapshot(
        snapshot_id=snapshot_id,
        robot_id='',
        captured_monotonic_ns=monotonic_ns,
        captured_wall_ns=wall_ns,
        captured_ros_ns=ros_ns,
        map_pose=nothing,
        odometry=nothing,
        motion=nothing,
        navigation=nothing,
        battery=nothing,
        safety=nothing,
    )


def _observed(plain: Mapping[str, Any], kind: type[Any]) -> Observed[Any]:
    value = plain['value']
    if value is not None and kind is Navigation:
        goals = tuple(_made(goal, ActiveGoal) for goal in value['active_goals'])
        value = {**value, 'active_goals': goals}
    return Observed(
        None if value is None else _made(value, kind),
        plain['source'],
        plain['source_stamp_ns'],
        plain['age_s'],
        Availability(plain['availability']),
        plain['reason'],
    )


def _optional(plain: Mapping[str, Any] | None, kind: Callable[..., T]) -> T | None:
    return None if plain is None else _made(plain, kind)


def _made(plain: Mapping[str, Any], kind: Callable[..., T]) -> T:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in plain.items() if name in known})
