# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Declares the harness node's parameters from the one table, and checks what was given.

Only what is looked at anew for each action or mission may change while the node runs; the rest is
read-only: a limit that seems changed but is not would be worse than one that cannot be changed.
"""

from __future__ import annotations

import math
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.parameters import check_parameters, Parameter, PARAMETERS, Value

NODE_NAME = 'robot_agent_harness'
OF_EVERY_NODE = ('use_sim_time', 'start_type_description_service')
"""What rclpy itself declares."""
_INT_MAX = 2**63 - 1


def given_to(node: Node) -> dict[str, Any]:
    """Return what a node was given, beside what every node has.

    :raises ConfigurationError: what every node has is no boolean, which rclpy only logs.
    """
    given = {name: node.get_parameter(name).value for name in node.list_parameters([], 0).names}
    for name in OF_EVERY_NODE:
        value = given.pop(name, False)
        if not isinstance(value, bool):
            raise ConfigurationError(f'parameter {name}: must be true or false, got {value!r}')
    return given


def declare_parameters(node: Node) -> dict[str, Value]:
    """Declare every parameter and return their values.

    rclpy passes over an override that nobody declares, such as a misspelt one. The node must
    therefore have been made with `automatically_declare_parameters_from_overrides`, which shows
    all that was given.

    :raises ConfigurationError: an override is unknown or not allowed; names the parameter.
    """
    given = given_to(node)
    values = check_parameters(given)
    for parameter in PARAMETERS:
        if parameter.name in given:
            node.undeclare_parameter(parameter.name)  # declared without type and description
        value = values[parameter.name]
        node.declare_parameter(parameter.name, value, _descriptor(parameter), ignore_override=True)
    return values


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    constraints = [parameter.allowed] if parameter.choices else []
    constraints.append(
        f'a change counts for {parameter.live}'
        if parameter.live
        else f'it cannot be changed while the node runs: {parameter.fixed}'
    )
    descriptor = ParameterDescriptor(
        description=parameter.description,
        read_only=not parameter.live,
        additional_constraints='; '.join(constraints),
    )
    if parameter.minimum is None and parameter.maximum is None:
        return descriptor
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    if type(parameter.default) is int:
        descriptor.integer_range = [
            IntegerRange(from_value=int(max(low, -_INT_MAX)), to_value=int(min(high, _INT_MAX)))
        ]
    else:
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor
