# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain values into any message and back, by the types of its fields.

Mappings fill nested messages, lists fill arrays, and a few types take what people write:

| type | takes |
| --- | --- |
| `geometry_msgs/PoseStamped` | `x`, `y` (m), `yaw` (rad), `frame_id`; stamped when it is made |
| `geometry_msgs/Pose` | `x`, `y`, `yaw` |
| `geometry_msgs/Quaternion` | `yaw` |
| `builtin_interfaces/Duration` | seconds |
| `nav_msgs/Goals` | a list of poses as above |

The way back makes of each message JSON-ready values: poses and durations as above (a duration is
called `<field>_s`), numbers only where they are finite, texts and arrays bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
import importlib
import math
from numbers import Real
import re
from typing import Any

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.messages import ros_text
from robot_agent_harness.ros.conversions import pose_stamped, time_msg, yaw_of

ITEMS_MAX = 64
"""Elements of an array that are told."""
TEXT_MAX = 512
"""Characters of a text that are told."""
_ARRAY = re.compile(
    r'sequence<(?P<of>[^,>]+)(, ?(?P<most>\d+))?>|(?P<of_fixed>[^\[]+)\[(?P<exact>\d+)\]'
)
_INTEGER = re.compile(r'(?P<unsigned>u)?int(?P<bits>8|16|32|64)')
_POSE_KEYS = frozenset({'x', 'y', 'yaw'})
_PLANE = {'x': 0.0, 'y': 0.0, 'yaw': 0.0}
_POSES: dict[str, dict[str, Any]] = {
    'geometry_msgs/PoseStamped': {**_PLANE, 'frame_id': ''},
    'geometry_msgs/Pose': _PLANE,
    'geometry_msgs/Quaternion': {'yaw': 0.0},
}
"""What people write of a pose."""
_BOUNDED = re.compile(r'w?string<(?P<most>\d+)>')
_FLOAT_MAX = 3.4028235e38
"""The largest number that 32 bits hold."""


class _Keep:
    def __str__(self) -> str:
        return '...'


KEEP = _Keep()
"""In place of a value: the field keeps the one that it has."""


def interface(name: str) -> Any:
    """Return the class of an action or service.

    :param name: for instance `nav2_msgs/action/Spin`.
    :raises ImportError: this machine does not have it.
    """
    package, kind, short = name.split('/')
    module = importlib.import_module(f'{package}.{kind}')
    try:
        return getattr(module, short)
    except AttributeError as error:
        raise ImportError(f'package {package} has no {kind} {short}') from error


def fill(message: Any, fields: Mapping[str, Any], *, now_ns: int) -> Any:
    """Write plain values into a message and return it.

    :param now_ns: ROS time for stamps.
    :raises ValueError: a field does not exist or does not take its value.
    """
    types = message.get_fields_and_field_types()
    for name, value in fields.items():
        if name not in types:
            known = ', '.join(types)
            raise ValueError(f'{_type_of(message)} has no field {name!r}; it has {known}')
        try:
            setattr(message, name, _made(types[name], getattr(message, name), value, now_ns))
        except (AssertionError, TypeError, KeyError, OverflowError) as error:
            # The generated setters assert what they take.
            raise ValueError(
                f'{_type_of(message)}.{name} ({types[name]}) does not take {value!r}'
            ) from error
    return message


def _made(kind: str, current: Any, value: Any, now_ns: int) -> Any:
    if value is KEEP:
        return current
    array = _ARRAY.fullmatch(kind)
    if array:
        of = array['of'] or array['of_fixed']
        if isinstance(value, (str, Mapping)):
            raise TypeError(value)
        items = [_made(of, _new(of), item, now_ns) for item in value]
        if any(item is KEEP for item in value):
            return current
        most, exact = array['most'], array['exact']
        if (most and len(items) > int(most)) or (exact and len(items) != int(exact)):
            raise TypeError(value)
        return items
    if '/' not in kind:
        return _scalar(kind, value)
    if kind == 'builtin_interfaces/Duration' and not isinstance(value, Mapping):
        whole = math.floor(_finite(value))
        message = type(current)(sec=_scalar('int32', whole))
        message.nanosec = min(round((value - whole) * NS_PER_S), NS_PER_S - 1)
        return message
    if kind == 'nav_msgs/Goals' and not isinstance(value, Mapping):
        message = type(current)()
        kept = [item for item in value if item is not KEEP]
        message.goals = [_made('geometry_msgs/PoseStamped', None, item, now_ns) for item in kept]
        if message.goals:
            message.header = message.goals[0].header
        return message
    if not isinstance(value, Mapping):
        raise TypeError(value)
    if kind in _POSES and KEEP in value.values():
        value = {key: _POSES[kind].get(key, v) if v is KEEP else v for key, v in value.items()}
    if kind == 'geometry_msgs/PoseStamped' and value.keys() <= _POSE_KEYS | {'frame_id'}:
        return _pose_of({'frame_id': 'map', **value}, now_ns)
    if kind == 'geometry_msgs/Pose' and value.keys() <= _POSE_KEYS:
        return _pose_of(value, now_ns).pose
    if kind == 'geometry_msgs/Quaternion' and value.keys() == {'yaw'}:
        return _pose_of({'x': 0.0, 'y': 0.0, **value}, now_ns).pose.orientation
    if kind == 'std_msgs/Header':
        current.stamp = time_msg(now_ns)
    return fill(current, value, now_ns=now_ns)


def _pose_of(value: Mapping[str, Any], now_ns: int) -> Any:
    where = {key: _finite(value[key]) for key in ('x', 'y')}
    yaw, frame = _finite(value.get('yaw', 0.0)), _scalar('string', value.get('frame_id', ''))
    return pose_stamped({**where, 'yaw': yaw, 'frame_id': frame}, now_ns)


def _finite(value: Any) -> float:
    number = _scalar('double', value)
    if not math.isfinite(number):
        raise TypeError(value)
    return float(number)


def _scalar(kind: str, value: Any) -> Any:
    """Return a value as a field takes it. The generated setters do not look, unless they are told
    to: what is too large comes out as another number, and what is of another type as anything.
    """
    if kind in ('boolean', 'bool'):
        if not isinstance(value, bool):
            raise TypeError(value)
        return value
    if kind.startswith(('string', 'wstring')):
        # Not `True` for what YAML takes `on` for, nor `None` for nothing.
        if value is None or isinstance(value, (bool, Mapping, list, tuple)):
            raise TypeError(value)
        text, bounded = ros_text(str(value)), _BOUNDED.fullmatch(kind)
        if bounded and len(text) > int(bounded['most']):
            raise TypeError(value)
        return text
    if not _is_number(value):
        raise TypeError(value)
    number = float(value)
    if kind in ('float', 'double', 'float32', 'float64'):
        if kind in ('float', 'float32') and _FLOAT_MAX < abs(number) < math.inf:
            raise TypeError(value)
        return number
    bits = _INTEGER.fullmatch(kind)
    low, high = (
        (0, 255) if bits is None else _range(bits['unsigned'] is not None, int(bits['bits']))
    )
    whole = math.floor(value) if math.isfinite(number) else low - 1
    if whole != value or not low <= whole <= high:
        raise TypeError(value)
    return bytes([whole]) if kind == 'octet' else whole


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _range(unsigned: bool, bits: int) -> tuple[int, int]:
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _new(kind: str) -> Any:
    if '/' not in kind:
        return None
    package, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)()


def plain(message: Any) -> dict[str, Any]:
    """Return what a message holds, JSON-ready; what is no finite number is left out."""
    told: dict[str, Any] = {}
    for name, kind in message.get_fields_and_field_types().items():
        if name == 'structure_needs_at_least_one_member':
            continue
        key, value = _told(name, kind, getattr(message, name))
        if value is not None:
            told[key] = value
    return told


def told_fields(message: Any) -> dict[str, dict[str, Any]]:
    """Return the keys of what :func:`plain` tells of a message, each with those below it."""
    return {
        f'{name}_s' if kind == 'builtin_interfaces/Duration' else name: _below(kind)
        for name, kind in message.get_fields_and_field_types().items()
        if name != 'structure_needs_at_least_one_member'
    }


def _below(kind: str) -> dict[str, Any]:
    if kind in ('geometry_msgs/PoseStamped', 'geometry_msgs/Pose'):
        return {key: {} for key in _POSES[kind]}
    if '/' not in kind or kind == 'builtin_interfaces/Duration' or _ARRAY.fullmatch(kind):
        return {}
    return told_fields(_new(kind))


def _told(name: str, kind: str, value: Any) -> tuple[str, Any]:
    if kind == 'builtin_interfaces/Duration':
        return f'{name}_s', round(value.sec + value.nanosec / NS_PER_S, 4)
    return name, _value(kind, value)


def _value(kind: str, value: Any) -> Any:
    array = _ARRAY.fullmatch(kind)
    if array:
        of = array['of'] or array['of_fixed']
        return [_value(of, item) for item in list(value)[:ITEMS_MAX]]
    if kind == 'geometry_msgs/PoseStamped':
        return _pose(value.pose, {'frame_id': value.header.frame_id})
    if kind == 'geometry_msgs/Pose':
        return _pose(value, {})
    if '/' in kind:
        return plain(value) or None
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.hex()
    return value[:TEXT_MAX] if isinstance(value, str) else value


def _pose(pose: Any, rest: dict[str, Any]) -> dict[str, Any] | None:
    where = {'x': pose.position.x, 'y': pose.position.y, 'yaw': yaw_of(pose.orientation)}
    if not all(math.isfinite(value) for value in where.values()):
        return None
    return {**{key: round(value, 4) for key, value in where.items()}, **rest}


def _type_of(message: Any) -> str:
    return f'{type(message).__module__.split(".")[0]}/{type(message).__name__}'
