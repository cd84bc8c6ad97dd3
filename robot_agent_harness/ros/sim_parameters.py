# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot's parameters: declared in one table, refused when unknown or out of range.

Everything but the faults is fixed at the start. What is given then and later is checked here, so
that one line says what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.nearest import meant
from robot_agent_harness.ros.node_parameters import given_to, OF_EVERY_NODE
from robot_agent_harness.ros.sim_faults import Faults

FAULT = 'fault.'
"""Prefix of the parameters that are fields of `Faults`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter: its default, its meaning, and its range if it is a number."""

    name: str
    default: Any
    description: str
    low: float = 0.0
    high: float = 0.0
    read_only: bool = True

    @property
    def ranged(self) -> bool:
        """Whether the value has to lie between `low` and `high`."""
        return self.low < self.high

    def checked(self, value: Any) -> Any:
        """Return a value given at the start in the parameter's type.

        :raises ConfigurationError: it is of another type, or out of range.
        """
        wanted = type(self.default)
        if wanted is float and type(value) is int:
            value = float(value)  # people write 3 for 3.0
        if type(value) is not wanted or value == '':
            raise ConfigurationError(
                f"parameter '{self.name}': {value!r} is not a {wanted.__name__}"
            )
        if self.ranged and not self.low <= value <= self.high:
            raise ConfigurationError(
                f"parameter '{self.name}': {value:g} is not between {self.low:g} and {self.high:g}"
            )
        return value


SETTINGS = (
    Setting('time_scale', 1.0, 'How many times faster than a real robot this one is', 0.1, 20),
    Setting('odom_rate_hz', 50.0, 'Rate of odom', 1, 200),
    Setting('localization_rate_hz', 10.0, 'Rate of amcl_pose', 0.1, 50),
    Setting('feedback_rate_hz', 100.0, 'Rate of action feedback', 1, 200),
    Setting('xy_goal_tolerance_m', 0.25, 'How near to a goal the robot stops, in m', 0.02, 1),
    Setting('start_x', 1.0, 'Where the robot starts, in m in the map frame', 0, 10),
    Setting('start_y', 1.2, 'Where the robot starts, in m in the map frame', 0, 8),
    Setting('start_yaw', 1.5708, 'Heading at the start, in rad in the map frame', -6.3, 6.3),
    Setting('global_frame', 'map', 'Frame of the map'),
    Setting('odom_frame', 'odom', 'Frame of odometry; its origin is where the robot starts'),
    Setting('base_frame', 'base_link', 'Frame of the robot'),
    *(
        Setting(
            FAULT + fault.name,
            fault.default,
            fault.metadata['description'],
            fault.metadata['low'],
            fault.metadata['high'],
            read_only=False,
        )
        for fault in fields(Faults)
    ),
)

_BY_NAME = {setting.name: setting for setting in SETTINGS}


def checked_change(parameter: Parameter[Any]) -> Parameter[Any]:
    """Return a change while the node runs in the parameter's type.

    :raises ConfigurationError: there is no such parameter, it is fixed, or the value cannot be
        used.
    """
    name = parameter.name
    if name in OF_EVERY_NODE:
        return parameter
    setting = _BY_NAME.get(name)
    if setting is None:
        raise ConfigurationError(f"unknown parameter '{name}'{meant(name, _BY_NAME)}")
    if setting.read_only:
        raise ConfigurationError(f"parameter '{name}': it is fixed at the start")
    return Parameter(name, value=setting.checked(parameter.value))


def declare_settings(node: Node) -> dict[str, Any]:
    """Declare all parameters and return their values by name.

    rclpy ignores overrides that nobody declares, such as misspelt ones. The node must therefore
    declare its overrides automatically, so that they show; each is declared anew here.

    :raises ConfigurationError: an override is unknown or cannot be used.
    """
    for name in given_to(node):
        if name not in _BY_NAME:
            raise ConfigurationError(f"unknown parameter '{name}'{meant(name, _BY_NAME)}")
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        value = setting.default
        if node.has_parameter(setting.name):
            value = setting.checked(node.get_parameter(setting.name).value)
            node.undeclare_parameter(setting.name)
        descriptor = ParameterDescriptor(
            description=setting.description, read_only=setting.read_only
        )
        if setting.ranged:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(setting.low), to_value=float(setting.high))
            ]
        node.declare_parameter(setting.name, value, descriptor, ignore_override=True)
        values[setting.name] = value
    return values
