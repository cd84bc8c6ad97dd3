# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness's health on `/diagnostics`, for rqt_robot_monitor and diagnostic aggregators.

OK means that nothing stands in the way of a mission; WARN that a mission may be refused or go on
with less; ERROR that nothing physical can start. It is published all through the node's life: a
node that could not be configured says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robot_agent_harness.clock import Clock
from robot_agent_harness.messages import ros_text
from robot_agent_harness.ros.conversions import time_msg
from robot_agent_harness.ros.quiet import QUIET_PUBLISHER

PERIOD_S = 1.0
"""The rate that REP 107 asks for."""
DEPTH = 10
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

Finding = tuple[bytes, str, dict[str, Any]]
"""Level, what is so, and the values that tell more; those that are None are left out."""


class Diagnostics:
    """Publishes one status for each thing that can be wrong; used on the loop.

    :param hardware_id: the robot's name.
    :param look: says what is so now, by the name of the thing.
    """

    def __init__(
        self,
        node: Node,
        *,
        clock: Clock,
        hardware_id: str,
        look: Callable[[], Mapping[str, Finding]],
    ) -> None:
        # Namespaced nodes share a topic, and aggregators go by the name alone.
        self._prefix = f'{node.get_fully_qualified_name().lstrip("/")}: '
        self._clock = clock
        self._hardware_id = hardware_id
        self._look = look
        # A diagnostics topic is one for the whole robot, hence the absolute name (REP 107).
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', DEPTH, event_callbacks=QUIET_PUBLISHER
        )

    def publish(self) -> None:
        """Look at everything and publish what was found."""
        message = DiagnosticArray()
        message.header.stamp = time_msg(self._clock.ros_ns())
        message.status = [self._status(name, *found) for name, found in self._look().items()]
        self._publisher.publish(message)

    def _status(
        self, name: str, level: bytes, text: str, values: dict[str, Any]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=level,
            name=ros_text(f'{self._prefix}{name}'),
            message=ros_text(text),
            hardware_id=ros_text(self._hardware_id),
            values=[
                KeyValue(key=ros_text(key), value=ros_text(str(value)))
                for key, value in values.items()
                if value is not None
            ],
        )
