# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot over DDS that says exactly what a test tells it to: NavigateToPose and state topics.

The server (`scripted_server.py`) is made of its wire endpoints (`scripted_endpoints.py`); beside
it are the robot's topics (`scripted_state.py`). It shares its vocabulary with
:class:`~robot_agent_harness.testing.ScriptableNav2`, and what the robot says with
:class:`~robot_agent_harness.testing.BenchRobot`, so that a test on virtual time can be repeated on
the wire::

    with scripted_robot('/robot1', domain_id=42) as wire:
        ...                                    # the harness is told to drive to (2, 0)
        wire.nav2.wait_for(lambda: wire.nav2.sent)
        wire.robot.says.place(2.0, 0.0)
        wire.nav2.result(GoalStatus.SUCCEEDED, {})

Methods may be called from any thread; the node's executor runs in one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from robot_agent_harness.ros.scripted_server import Flood, ScriptedNav2, WAIT_S
from robot_agent_harness.ros.scripted_state import ScriptedRobot
from robot_agent_harness.ros.spinner import Spinner


class ScriptedNode(Node):
    """Controller and state topics of one robot, on one node that somebody spins."""

    def __init__(self, *, accept_after_s: float | None = 0.05, **node_arguments: Any) -> None:
        super().__init__('scripted_robot', **node_arguments)
        self.nav2 = ScriptedNav2(self, accept_after_s=accept_after_s)
        self.robot = ScriptedRobot(self)


@contextmanager
def scripted_robot(
    namespace: str = '/', *, domain_id: int | None = None, accept_after_s: float | None = 0.05
) -> Iterator[ScriptedNode]:
    """Run a scripted robot in a context and a thread of its own; it is gone in the end.

    :param domain_id: None = what the environment says.
    """
    context = Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = ScriptedNode(namespace=namespace, context=context, accept_after_s=accept_after_s)
    spinner = Spinner(node, name='scripted robot')
    try:
        yield node
    finally:
        spinner.end(WAIT_S)
        node.destroy_node()
        rclpy.shutdown(context=context)


__all__ = ['Flood', 'ScriptedNav2', 'ScriptedNode', 'ScriptedRobot', 'scripted_robot']
