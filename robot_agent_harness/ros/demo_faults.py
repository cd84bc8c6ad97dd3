# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Sets the simulated robot's faults from outside, through its parameter service as anybody can."""

from __future__ import annotations

import threading

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node

from robot_agent_harness.errors import HarnessError

ANSWER_S = 5.0


class SimFaults:
    """A client of `/sim_robot`'s parameters; the node has to be spun by somebody else."""

    def __init__(self, node: Node, sim_robot: str = '/sim_robot') -> None:
        self._name = sim_robot
        self._client = node.create_client(SetParameters, f'{sim_robot}/set_parameters')

    def set(self, fault: str, value: bool | float) -> None:
        """Set the parameter `fault.<fault>` and wait until the robot has taken it.

        :raises HarnessError: it does not answer, or refuses.
        """
        name = f'fault.{fault}'
        if not self._client.wait_for_service(timeout_sec=ANSWER_S):
            raise HarnessError(f'{self._name} offers no parameters: {name} was not set')
        answered = threading.Event()
        future = self._client.call_async(
            SetParameters.Request(parameters=[Parameter(name=name, value=_value(value))])
        )
        future.add_done_callback(lambda _: answered.set())
        if not answered.wait(ANSWER_S):
            raise HarnessError(f'{self._name} did not answer within {ANSWER_S:g} s: {name}')
        (result,) = future.result().results
        if not result.successful:
            raise HarnessError(f'{self._name} refused {name}: {result.reason}')


def _value(value: bool | float) -> ParameterValue:
    if isinstance(value, bool):
        return ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)
    return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
