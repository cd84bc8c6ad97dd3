# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients of actions that a robot may lack: nothing is opened until a server is seen."""

from __future__ import annotations

import asyncio
from typing import Any
import uuid

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from asking import by_spinner
from nav2_msgs.action import Spin
from node_rig import Probe, WAIT_S
from rclpy.action.server import ActionServer
from test_node_nav2 import client, robot

from robot_agent_harness.actions.controller import (
    GoalResponse,
    GoalResult,
    SendFailed,
    ServerPresence,
)
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.ros.action_client import ActionClient, ActionClients
from robot_agent_harness.skills.motion import SPIN

pytestmark = pytest.mark.anyio
__all__ = ['client', 'robot']  # fixtures

FIELDS = {'target_yaw': 1.0, 'time_allowance': 5.0}


class Heard:
    """The client of one action that is not expected, and all that it delivered."""

    def __init__(self, probe: Probe, action: RosAction) -> None:
        clients = ActionClients(
            probe.node,
            {action.name: action},
            clock=SystemClock(),
            loop=asyncio.get_running_loop(),
        )
        self.controller: ActionClient = clients.controllers[action.name]
        self.events: asyncio.Queue[Any] = asyncio.Queue()
        self.controller.set_listener(self.events.put_nowait)

    async def next_of(self, kind: type) -> Any:
        with anyio.fail_after(WAIT_S):
            while True:
                event = await self.events.get()
                if isinstance(event, kind):
                    return event


def _serve(robot: Probe) -> ActionServer:
    def turn(handle: Any) -> Spin.Result:
        handle.succeed()
        return Spin.Result(error_msg=f'turned {handle.request.target_yaw:g}')

    return by_spinner(robot.node, ActionServer, robot.node, Spin, 'spin', turn)


@pytest.fixture
async def heard(client: Probe) -> Heard:
    return Heard(client, SPIN)


async def test_a_client_is_made_when_its_server_is_seen_and_then_drives_it(
    robot: Probe, heard: Heard, client: Probe
) -> None:
    entities = len(list(client.node.clients)) + len(list(client.node.subscriptions))
    assert not heard.controller.is_open
    goal_id = uuid.uuid4().hex
    heard.controller.send_goal(goal_id, FIELDS)
    assert (await heard.next_of(SendFailed)).goal_id == goal_id
    server = _serve(robot)
    while not (await heard.next_of(ServerPresence)).reachable:
        pass
    assert heard.controller.is_open
    assert len(list(client.node.clients)) + len(list(client.node.subscriptions)) == entities + 5
    goal_id = uuid.uuid4().hex
    heard.controller.send_goal(goal_id, FIELDS)
    assert await heard.next_of(GoalResponse) == GoalResponse(goal_id, True)
    heard.controller.request_result(goal_id)
    result = await heard.next_of(GoalResult)
    assert (result.goal_id, result.payload['error_msg']) == (goal_id, 'turned 1')
    by_spinner(robot.node, server.destroy)
    assert (await heard.next_of(ServerPresence)).reachable is False


async def test_a_goal_that_the_type_does_not_take_is_not_sent_and_told_so(
    robot: Probe, heard: Heard
) -> None:
    server = _serve(robot)
    while not (await heard.next_of(ServerPresence)).reachable:
        pass
    goal_id = uuid.uuid4().hex
    heard.controller.send_goal(goal_id, {'target': 1.0})
    failed = await heard.next_of(SendFailed)
    assert failed.goal_id == goal_id
    assert "no field 'target'" in failed.message
    by_spinner(robot.node, server.destroy)


async def test_a_server_of_a_type_that_this_machine_lacks_is_said_once_and_left_alone(
    robot: Probe, client: Probe, caplog: pytest.LogCaptureFixture
) -> None:
    lacking = Heard(client, RosAction('spin', 'no_msgs/action/Spin'))
    known = Heard(client, SPIN)
    server = _serve(robot)
    while not (await known.next_of(ServerPresence)).reachable:
        pass
    with anyio.fail_after(WAIT_S):
        while not (told := [r for r in caplog.records if 'cannot be used' in r.message]):
            await asyncio.sleep(0.05)
    assert not lacking.controller.is_open
    await asyncio.sleep(1.2)  # another look
    assert [r for r in caplog.records if 'cannot be used' in r.message] == told
    by_spinner(robot.node, server.destroy)
