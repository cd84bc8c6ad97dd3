# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The present as a viewer is shown it: each fact in words, with its age and availability."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.dashboard.shown import shown
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.report.values import compact, counted
from robot_agent_harness.texts import one_line
from robot_agent_harness.world.snapshot import (
    Battery,
    MapPose,
    Motion,
    Navigation,
    Observed,
    Odometry,
    Safety,
    WorldSnapshot,
)

VALUE_MAX_BYTES = 200
"""What is shown of a value in the table of facts."""


def present(
    snapshot: WorldSnapshot, core: Core, *, clock: Clock, redactor: Redactor
) -> dict[str, Any]:
    """Return what is so now, JSON-ready and safe to show as text.

    :param snapshot: of this moment.
    """
    told = {
        'at_ns': clock.wall_ns(),
        'robot_id': snapshot.robot_id,
        'mission': {'mission_id': core.harness.mission_id, 'step': core.harness.step},
        'facts': [_fact(snapshot, name, tell) for name, tell in _TELLERS.items()],
        'action': _action(core, snapshot),
        'journal': _journal(core),
    }
    return dict(shown(redactor.value(told)))


def _fact(snapshot: WorldSnapshot, name: str, tell: Callable[[Any], str]) -> dict[str, Any]:
    observed: Observed[Any] = getattr(snapshot, name)
    return {
        'name': name.replace('_', ' '),
        'value': '' if observed.value is None else one_line(tell(observed.value), VALUE_MAX_BYTES),
        'availability': observed.availability.value,
        'age_s': observed.age_s,
        'source': one_line(observed.source, VALUE_MAX_BYTES),
        'reason': observed.reason and one_line(observed.reason, VALUE_MAX_BYTES),
    }


def _action(core: Core, snapshot: WorldSnapshot) -> dict[str, Any] | None:
    """Return the action under way, or else the newest outcome of the mission."""
    if (active := snapshot.active_action) is not None:
        return {
            'action_id': active.action_id,
            'skill': active.skill,
            'goal': one_line(compact(active.goal), VALUE_MAX_BYTES),
            'state': active.state,
            'reason': None,
            'age_s': active.age_s,
        }
    outcome = core.board.recent_outcome(core.harness.mission_id)
    if outcome is None:
        return None
    return {
        'action_id': outcome.action_id,
        'skill': outcome.skill,
        'goal': one_line(compact(outcome.goal), VALUE_MAX_BYTES),
        'state': outcome.state,
        'reason': outcome.reason,
        'age_s': None,
    }


def _journal(core: Core) -> dict[str, Any]:
    journal = core.journal
    try:
        size = journal.path.stat().st_size
    except OSError:
        size = None  # its health says why
    return {
        'path': str(journal.path),
        'healthy': journal.healthy,
        'error': journal.last_error,
        'last_seq': journal.last_seq,
        'pending': journal.pending,
        'bytes': size,
    }


def _map_pose(value: MapPose) -> str:
    told = f'x {value.x:.2f} m, y {value.y:.2f} m, {math.degrees(value.yaw):.0f}°'
    if value.position_variance_m2 is not None:
        told += f', ± {math.sqrt(max(0.0, value.position_variance_m2)):.2f} m'
    return f'{told}, in {value.frame_id}'


def _odometry(value: Odometry) -> str:
    return f'{value.linear_m_s:.2f} m/s, {value.angular_rad_s:.2f} rad/s'


def _motion(value: Motion) -> str:
    return f'{"at rest" if value.at_rest else "moving"} (by {value.evidence.replace("_", " ")})'


def _navigation(value: Navigation) -> str:
    goals = [f'{goal.owner} goal {goal.status.lower()}' for goal in value.active_goals[:3]]
    told = [
        'controller reachable' if value.controller_reachable else 'controller not reachable',
        *goals,
    ]
    if len(value.active_goals) > len(goals):
        told.append(counted(len(value.active_goals) - len(goals), 'more goal'))
    if value.distance_remaining_m is not None:
        told.append(f'{value.distance_remaining_m:.2f} m to go')
    return ', '.join(told)


def _battery(value: Battery) -> str:
    return f'{value.fraction:.0%}{", charging" if value.charging else ""}'


def _safety(value: Safety) -> str:
    return 'EMERGENCY STOP' if value.emergency_stop else 'emergency stop clear'


_TELLERS: dict[str, Callable[[Any], str]] = {
    'map_pose': _map_pose,
    'odometry': _odometry,
    'motion': _motion,
    'navigation': _navigation,
    'battery': _battery,
    'safety': _safety,
}
"""The facts of a snapshot, in its order, and how each is put into words."""
