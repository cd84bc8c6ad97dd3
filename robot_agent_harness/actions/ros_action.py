# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which ROS action a skill drives, and how the skill's goal becomes the action's.

A template is what the message's fields are to hold, as nested mappings and lists. In it a text
that is `{key}` and nothing else stands for that key of the goal, whatever its type; inside a
longer text the value is written out. What the message's types make of the values is said in
:mod:`robot_agent_harness.ros.filling`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import re
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from robot_agent_harness.errors import ConfigurationError

TYPE_PATTERN = re.compile(r'([a-z][a-z0-9_]*)/(action|srv)/([A-Z][A-Za-z0-9]*)')
"""What `ros2 interface list` prints: package, kind, name."""
_REFERENCE = re.compile(r'\{([A-Za-z_][A-Za-z0-9_]*)\}')


@dataclass(frozen=True, slots=True)
class RosAction:
    """One action of the robot, as a client sees it; its goals correlate by the ROS goal id."""

    name: str
    """Relative to the node's namespace or absolute; a remapping rule for it counts."""
    type: str
    """For instance `nav2_msgs/action/Spin`."""
    message: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The template of its goal."""
    expected: bool = False
    """Whether it is looked for from the start and its skills are offered without it; others appear
    with their server."""
    alone: bool = False
    """Whether its server uses no other action, so that goals on those are never part of it."""

    def fields(self, goal: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the action's goal.

        :raises KeyError: the template names a key that the goal lacks.
        """
        filled: dict[str, Any] = render(self.message, goal)
        return filled


NAVIGATE_TO_POSE = RosAction(
    'navigate_to_pose',
    'nav2_msgs/action/NavigateToPose',
    {'pose': {key: f'{{{key}}}' for key in ('x', 'y', 'yaw', 'frame_id')}},
    expected=True,
)


class _Interface(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...


Interface = TypeVar('Interface', bound=_Interface)


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its references replaced.

    :raises KeyError: it refers to a key that is not there.
    """
    if isinstance(template, Mapping):
        return {key: render(value, values) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [render(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = _REFERENCE.fullmatch(template)
    if whole:
        return values[whole[1]]
    return _REFERENCE.sub(lambda match: str(values[match[1]]), template)


def references(template: Any) -> frozenset[str]:
    """Return the keys that a template refers to."""
    if isinstance(template, Mapping):
        return references(tuple(template.values()))
    if isinstance(template, (list, tuple)):
        return frozenset().union(*map(references, template))
    return frozenset(_REFERENCE.findall(template)) if isinstance(template, str) else frozenset()


def by_name(interfaces: Iterable[Interface]) -> dict[str, Interface]:
    """Return the actions or services that are used, one a name; how they are filled may differ.

    :raises ConfigurationError: one name is used with two types.
    """
    known: dict[str, Interface] = {}
    for used in interfaces:
        other = known.setdefault(used.name, used)
        if other.type != used.type:
            raise ConfigurationError(
                f'{used.name}: used as {other.type} and as {used.type}; it has one type'
            )
    return known
