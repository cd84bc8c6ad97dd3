# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot as the model reads it: JSON within a byte budget, the same for the same snapshot.

Fields stand in a fixed order with their unit in the name. What does not fit is left out in the
order of `DROP_ORDER` and named under `omitted`; texts are cut before the more telling fields go.
The pose, the state of safety and the active action with its state always stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.texts import cut
from robot_agent_harness.world.snapshot import (
    ActionSummary,
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

MIN_BYTES = 512
"""The smallest budget in which what always stays fits, whatever the snapshot holds."""
MAX_GOALS = 6
"""More active goals than this are counted, not listed; they may be anybody's."""
MAX_ARTIFACTS = 4
GOAL_BYTES = 240
"""A goal whose JSON is longer is shown as text, cut."""
LONG_TEXTS = 'long_texts'
"""Listed as omitted where texts were cut; a cut text ends with an ellipsis."""
LONGEST_WORD = 12
"""A state is never cut below this: the longest has 9 letters."""

DROP_ORDER = (
    'artifacts',
    'odometry.pose',
    'map_pose.details',
    'navigation.recoveries',
    'battery.details',
    'odometry',
    'recent_outcome.goal',
    'navigation.active_goals',
    'robot_id',
    'recent_outcome',
    'active_action.goal',
    'battery',
    'navigation',
    'motion',
)
"""What is left out first, second and so on when the budget is short."""

_KEYS = {
    'odometry.pose': ('x_m', 'y_m', 'yaw_rad', 'frame'),
    'map_pose.details': ('position_variance_m2', 'yaw_variance_rad2', 'source'),
    'navigation.recoveries': ('recoveries',),
    'battery.details': ('voltage_v', 'charging'),
    'recent_outcome.goal': ('goal',),
    'navigation.active_goals': ('active_goals',),
    'active_action.goal': ('goal',),
}
"""The keys behind a dotted name of DROP_ORDER; a name without a dot is a whole field."""

_CUTS = {0: 200, 7: 72, 11: 36, 15: 16, 16: 3}
"""Longest text in bytes from this step on; step n also drops the first n names of DROP_ORDER."""
_CUT_SHORT = '…"'.encode()


@dataclass(frozen=True, slots=True)
class Projection:
    """What the model is given."""

    text: str
    """JSON, at most the budget in UTF-8 bytes."""
    omitted: tuple[str, ...]
    """Names of what was left out; the text lists them too."""


def project(snapshot: WorldSnapshot, *, max_bytes: int) -> Projection:
    """Render a snapshot for the model.

    :param max_bytes: budget in UTF-8 bytes.
    :raises ConfigurationError: the budget is below MIN_BYTES.
    """
    if max_bytes < MIN_BYTES:
        raise ConfigurationError(f'snapshot.max_bytes must be at least {MIN_BYTES}')
    tree: dict[str, Any] = {}
    omitted: list[str] = []
    text, listed = b'', omitted
    for step in range(max(_CUTS) + 1):
        if step in _CUTS:
            renderer = _Renderer(_CUTS[step])
            tree, omitted = renderer.render(snapshot), renderer.omitted
            for name in DROP_ORDER[:step]:
                _drop(name, tree, omitted)
        else:
            _drop(DROP_ORDER[step - 1], tree, omitted)
        body = to_json(tree)
        listed = [*omitted, LONG_TEXTS] if _CUT_SHORT in body else omitted
        text = b'%s,"omitted":%s}' % (body[:-1], to_json(listed))
        if len(text) <= max_bytes:
            break
    return Projection(text.decode(), tuple(listed))


def _drop(name: str, tree: dict[str, Any], omitted: list[str]) -> None:
    """Take a name's keys out of the tree, and list it if there was something to take."""
    field, _, detail = name.partition('.')
    if not tree.get(field):
        return
    if not detail:
        del tree[field]
        # The whole field covers what was left out of it before.
        omitted[:] = [other for other in omitted if other.partition('.')[0] != field]
        omitted.append(name)
        return
    taken = [tree[field].pop(key) for key in _KEYS[name] if key in tree[field]]
    if any(value is not None and value != [] for value in taken) and name not in omitted:
        omitted.append(name)


class _Renderer:
    """Renders with one limit on the length of texts, and notes what the limits left out."""

    def __init__(self, text_bytes: int) -> None:
        self._text_bytes = text_bytes
        self.omitted: list[str] = []

    def render(self, snapshot: WorldSnapshot) -> dict[str, Any]:
        return {
            'snapshot_id': self._text(snapshot.snapshot_id),
            'robot_id': self._text(snapshot.robot_id),
            'map_pose': self._field(snapshot.map_pose, self._map_pose),
            'motion': self._field(snapshot.motion, self._motion),
            'safety': self._field(snapshot.safety, self._safety),
            'battery': self._field(snapshot.battery, self._battery),
            'navigation': self._field(snapshot.navigation, self._navigation),
            'active_action': self._action(snapshot.active_action),
            'recent_outcome': self._outcome(snapshot.recent_outcome),
            'odometry': self._field(snapshot.odometry, self._odometry),
            'artifacts': self._artifacts(snapshot.artifacts),
        }

    def _field(
        self, observed: Observed[Any], render: Callable[[Any, str], dict[str, Any]]
    ) -> dict[str, Any]:
        tree = {} if observed.value is None else render(observed.value, observed.source)
        if observed.age_s is not None:
            tree['age_s'] = _age(observed.age_s)
        tree['availability'] = observed.availability.value
        if observed.availability is not Availability.AVAILABLE:
            tree['reason'] = self._text(observed.reason or 'no reason given')
        return tree

    def _map_pose(self, pose: MapPose, source: str) -> dict[str, Any]:
        return {
            'x_m': _number(pose.x),
            'y_m': _number(pose.y),
            'yaw_rad': _number(pose.yaw),
            'frame': self._text(pose.frame_id),
            'position_variance_m2': _number(pose.position_variance_m2),
            'yaw_variance_rad2': _number(pose.yaw_variance_rad2),
            'source': self._text(source),
        }

    def _motion(self, motion: Motion, _source: str) -> dict[str, Any]:
        return {
            'at_rest': motion.at_rest,
            'linear_m_s': _number(motion.linear_m_s),
            'angular_rad_s': _number(motion.angular_rad_s),
            'evidence': self._text(motion.evidence),
        }

    def _safety(self, safety: Safety, _source: str) -> dict[str, Any]:
        return {'emergency_stop': safety.emergency_stop}

    def _battery(self, battery: Battery, _source: str) -> dict[str, Any]:
        return {
            'fraction': _number(battery.fraction),
            'charging': battery.charging,
            'voltage_v': _number(battery.voltage_v),
        }

    def _navigation(self, navigation: Navigation, _source: str) -> dict[str, Any]:
        goals = navigation.active_goals
        if len(goals) > MAX_GOALS:
            self.omitted.append('navigation.active_goals')
        return {
            'controller_reachable': navigation.controller_reachable,
            'active_goal_count': len(goals),
            'active_goals': [
                {
                    'goal_id': self._text(goal.goal_id),
                    'owner': self._text(goal.owner),
                    'status': self._word(goal.status),
                }
                for goal in goals[:MAX_GOALS]
            ],
            'distance_remaining_m': _number(navigation.distance_remaining_m),
            'recoveries': navigation.recoveries,
        }

    def _action(self, action: ActionSummary | None) -> dict[str, Any] | None:
        if action is None:
            return None
        return {
            'action_id': self._text(action.action_id),
            'skill': self._text(action.skill),
            'state': self._word(action.state),
            'goal': self._goal(action.goal),
            'age_s': _age(action.age_s),
        }

    def _outcome(self, outcome: OutcomeSummary | None) -> dict[str, Any] | None:
        if outcome is None:
            return None
        return {
            'action_id': self._text(outcome.action_id),
            'skill': self._text(outcome.skill),
            'state': self._word(outcome.state),
            'reason': self._text(outcome.reason),
            'goal': self._goal(outcome.goal),
        }

    def _odometry(self, odometry: Odometry, _source: str) -> dict[str, Any]:
        return {
            'x_m': _number(odometry.x),
            'y_m': _number(odometry.y),
            'yaw_rad': _number(odometry.yaw),
            'frame': self._text(odometry.frame_id),
            'linear_m_s': _number(odometry.linear_m_s),
            'angular_rad_s': _number(odometry.angular_rad_s),
        }

    def _artifacts(self, artifacts: tuple[ArtifactRef, ...]) -> list[dict[str, Any]]:
        if len(artifacts) > MAX_ARTIFACTS:
            self.omitted.append('artifacts')
        return [
            {
                'uri': self._text(artifact.uri),
                'media_type': self._text(artifact.media_type),
                'size_bytes': artifact.size_bytes,
            }
            for artifact in artifacts[:MAX_ARTIFACTS]
        ]

    def _goal(self, goal: dict[str, Any]) -> Any:
        plain = _rounded(jsonable(goal))
        try:
            text = to_json(plain).decode()
            if len(text.encode()) <= GOAL_BYTES:
                return plain
        except PydanticSerializationError:  # a lone surrogate has no UTF-8
            text = repr(plain)
        return cut(text, min(GOAL_BYTES, self._text_bytes))

    def _text(self, text: str) -> str:
        return cut(text, self._text_bytes)

    def _word(self, text: str) -> str:
        return cut(text, max(LONGEST_WORD, self._text_bytes))


def _number(value: float | None) -> float | None:
    """Round to millimetres, also in UTM coordinates; what measures nothing to four digits."""
    if value is None:
        return None
    if -1e7 < value < 1e7:  # first: a snapshot has thirty of them
        return round(value, 3) + 0.0  # no -0.0
    if not math.isfinite(value):
        return None
    return float(f'{max(-1e300, min(1e300, value)):.4g}')


def _age(age_s: float) -> float | None:
    """Round to milliseconds, and beyond a quarter of an hour to seconds."""
    return _number(age_s if abs(age_s) < 1e3 else float(round(age_s)))


def _rounded(value: Any) -> Any:
    """Return JSON-ready values with their floats rounded and their keys sorted."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return {key: _rounded(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
