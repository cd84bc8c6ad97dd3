# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot as the journal has it, made into a value again, and a snapshot of nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from robot_agent_harness.world.snapshot import Availability, Observed, WorldSnapshot

FACTS = ('map_pose', 'odometry', 'motion', 'navigation', 'battery', 'safety')
"""The names of a snapshot's facts."""
SNAPSHOT: TypeAdapter[WorldSnapshot] = TypeAdapter(WorldSnapshot)
"""The shape of a snapshot's JSON."""


def recorded_snapshot(plain: Mapping[str, Any]) -> WorldSnapshot:
    """Return the snapshot that :meth:`WorldSnapshot.to_dict` made JSON of.

    What a later release added is as it is by default, what this one does not know is left out.

    :raises ValueError: it is no snapshot.
    """
    try:
        return SNAPSHOT.validate_python(plain)
    except ValidationError as error:
        raise ValueError(f'a recorded snapshot cannot be read: {error}') from error


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
