# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The fields of our ROS messages, without ROS: the node publishes and the export writes the same.

Each function returns a message as nested plain values, named as in `msg/`. They take what the
journal holds, of any release and from anybody: what is not there, or is not what it should be, is
told as the messages tell it (MISSING, NaN, an empty text).
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from robot_agent_harness.clock import NS_PER_S

Fields = dict[str, Any]
"""A message: field name to number, text, list, or the fields of a nested message."""

MISSING, INVALID = 'missing', 'invalid'
_SECONDS_MAX = 2**31 - 1
"""What builtin_interfaces/Time can hold."""


def ros_text(text: str) -> str:
    """Return text that a message can carry: what UTF-8 or a C string cannot hold is an escape.

    Every text of ours that goes out to ROS passes here: rclpy raises while it sends another one.
    """
    if text.isascii() and '\0' not in text:
        return text
    return text.encode('utf-8', 'backslashreplace').decode('utf-8').replace('\0', '\\x00')


def time_fields(ns: int | None) -> Fields:
    """Return a stamp; zero where there is none or a message cannot hold it."""
    if ns is None or not 0 <= ns < _SECONDS_MAX * NS_PER_S:
        ns = 0
    return {'sec': ns // NS_PER_S, 'nanosec': ns % NS_PER_S}


def snapshot_fields(
    snapshot: Mapping[str, Any], mission_id: str | None, reason: str, payload_json: str
) -> Fields:
    """Return WorldSnapshot; a number that is not there or not valid is NaN.

    :param snapshot: as `WorldSnapshot.to_dict` returns it and the journal holds it.
    :param payload_json: the whole snapshot as JSON, fit to be shown.
    """
    pose, odometry = _Observed(snapshot, 'map_pose'), _Observed(snapshot, 'odometry')
    navigation, battery = _Observed(snapshot, 'navigation'), _Observed(snapshot, 'battery')
    stop, action = _Observed(snapshot, 'safety'), _mapping(snapshot.get('active_action'))
    goals = navigation.value.get('active_goals')
    return {
        'header': {
            'stamp': time_fields(_integer(snapshot.get('captured_ros_ns'))),
            'frame_id': pose.text('frame_id'),
        },
        'snapshot_id': _text(snapshot.get('snapshot_id')),
        'mission_id': _text(mission_id),
        'reason': _text(reason),
        'pose_availability': pose.availability,
        'pose_age_s': pose.age_s,
        'x': pose.number('x'),
        'y': pose.number('y'),
        'yaw': pose.number('yaw'),
        'position_variance': pose.number('position_variance_m2'),
        'velocity_availability': odometry.availability,
        'velocity_age_s': odometry.age_s,
        'linear_velocity': odometry.number('linear_m_s'),
        'angular_velocity': odometry.number('angular_rad_s'),
        'controller_availability': navigation.availability,
        'controller_reachable': navigation.value.get('controller_reachable') is True,
        'active_goal_ids': [
            _text(_mapping(goal).get('goal_id'))
            for goal in (goals if isinstance(goals, list) else ())
        ],
        'active_action_id': _text(action.get('action_id')),
        'battery_availability': battery.availability,
        'battery_fraction': battery.number('fraction'),
        'emergency_stop_availability': stop.availability,
        'emergency_stop': stop.value.get('emergency_stop') is True,
        'payload_json': ros_text(payload_json),
    }


def action_fields(
    ids: Mapping[str, str | None],
    *,
    skill: str,
    state: str,
    reason: str,
    stamp_ns: int | None,
    payload_json: str,
) -> Fields:
    """Return RobotActionState.

    :param ids: `mission_id`, `turn_id`, `tool_call_id` and `action_id`.
    :param payload_json: goal, feedback and evidence as JSON, fit to be shown.
    """
    return {
        'stamp': time_fields(stamp_ns),
        **{
            name: _text(ids.get(name))
            for name in ('mission_id', 'turn_id', 'tool_call_id', 'action_id')
        },
        'skill': _text(skill),
        'state': _text(state),
        'reason': _text(reason),
        'payload_json': ros_text(payload_json),
    }


def event_fields(
    ids: Mapping[str, str | None],
    *,
    seq: int,
    type: str,
    stamp_ns: int | None,
    payload_json: str,
) -> Fields:
    """Return MissionEvent.

    :param ids: those of :func:`action_fields`, and `snapshot_id`.
    :param payload_json: the payload as the journal holds it.
    """
    return {
        'stamp': time_fields(stamp_ns),
        'seq': seq,
        'type': _text(type),
        **{
            name: _text(ids.get(name))
            for name in ('mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id')
        },
        'payload_json': ros_text(payload_json),
    }


def pose_fields(pose: Mapping[str, Any], stamp_ns: int | None) -> Fields | None:
    """Return geometry_msgs/PoseStamped of a pose in the plane; None where it is none.

    :param pose: `x` and `y` in metres, `yaw` in radians, `frame_id`.
    """
    x, y, yaw = (_number(pose.get(name)) for name in ('x', 'y', 'yaw'))
    if math.isnan(x + y + yaw):
        return None
    return {
        'header': {'stamp': time_fields(stamp_ns), 'frame_id': _text(pose.get('frame_id'))},
        'pose': {
            'position': {'x': x, 'y': y, 'z': 0.0},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': math.sin(yaw / 2), 'w': math.cos(yaw / 2)},
        },
    }


class _Observed:
    """One `Observed` of a snapshot as plain values."""

    def __init__(self, snapshot: Mapping[str, Any], name: str) -> None:
        observed = _mapping(snapshot.get(name))
        self.availability = _text(observed.get('availability')) or MISSING
        self.age_s = _number(observed.get('age_s'))
        valid = self.availability != INVALID
        self.value = _mapping(observed.get('value')) if valid else {}

    def number(self, name: str) -> float:
        """Return a number of the value; NaN where it has none."""
        return _number(self.value.get(name))

    def text(self, name: str) -> str:
        """Return a text of the value; empty where it has none."""
        return _text(self.value.get(name))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return ros_text(value) if isinstance(value, str) else ''


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _number(value: Any) -> float:
    """Return a finite number as it is, everything else as NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan
