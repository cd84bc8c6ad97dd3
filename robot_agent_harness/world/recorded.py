# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot as the journal has it, made into a value again, and a snapshot of nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, Union

from robot_agent_harness.world.snapshot import Availability, Observed, WorldSnapshot

FACTS = ('map_pose', 'odometry', 'motion', 'navigation', 'battery', 'safety')
"""The names of a snapshot's facts."""


def recorded_snapshot(plain: Mapping[str, Any]) -> WorldSnapshot:
    """Return the snapshot that :meth:`WorldSnapshot.to_dict` made JSON of.

    What a later release added is as it is by default, what this one does not know is left out.

    :raises ValueError: it is no snapshot.
    """
    try:
        snapshot: WorldSnapshot = _made(plain, WorldSnapshot)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f'a recorded snapshot cannot be read: {error!r}') from error
    return snapshot


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


def _made(plain: Any, kind: Any) -> Any:
    """Return a value of a type from its JSON."""
    origin, parts = get_origin(kind), get_args(kind)
    if plain is None or kind is Any:
        return plain
    if origin is Observed:
        return _fields(plain, Observed, {'value': parts[0] | None})
    if origin is tuple:
        return tuple(_made(item, parts[0]) for item in plain)
    if origin in (Union, UnionType):
        (known,) = (part for part in parts if part is not NoneType)
        return _made(plain, known)
    if is_dataclass(kind):
        return _fields(plain, kind, {})
    return kind(plain) if isinstance(kind, type) and issubclass(kind, Enum) else plain


def _fields(plain: Mapping[str, Any], kind: Any, given: Mapping[str, Any]) -> Any:
    hints = {**_hints(kind), **given}
    return kind(**{name: _made(plain[name], hints[name]) for name in hints if name in plain})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
