# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The text of message definitions as a recording carries it: the message, then all it is made of.

Ours are read from `msg/`; the few standard ones that they contain are written here, since there
may be no ROS installation. A test compares them with an installed one.
"""

from __future__ import annotations

from collections.abc import Iterator
import re

from robot_agent_harness.resources import message_path, PACKAGE

STANDARD = {
    'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec\n',
    'std_msgs/Header': 'builtin_interfaces/Time stamp\nstring frame_id\n',
    'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z\n',
    'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n',
    'geometry_msgs/Pose': ('geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n'),
    'geometry_msgs/PoseStamped': 'std_msgs/Header header\ngeometry_msgs/Pose pose\n',
}
"""Definitions of ROS 2 (REP 2011: they do not change); types in full."""

_NESTED = re.compile(r'^(\w+/\w+)(?:\[\d*\])?\s+\w', re.MULTILINE)
_RULE = '=' * 80


def definition(type_name: str) -> str:
    """Return the definition of a type, with those of the types inside it behind.

    :param type_name: for instance `geometry_msgs/PoseStamped`.
    """
    own = _text(type_name)
    nested = dict.fromkeys(_nested(own))
    return own + ''.join(f'{_RULE}\nMSG: {name}\n{_text(name)}' for name in nested)


def _nested(text: str) -> Iterator[str]:
    for name in _NESTED.findall(text):
        yield name
        yield from _nested(_text(name))


def _text(type_name: str) -> str:
    package, _, name = type_name.partition('/')
    if package == PACKAGE:
        return message_path(f'{name}.msg').read_text(encoding='utf-8')
    return STANDARD[type_name]
