# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Two threads, rclpy's and asyncio's: neither waits for the other in a callback, and no goal hangs
on a reference that only rclpy holds.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from node_rig import FakeNav2, Probe, SUCCEEDED, WAIT_S
from test_node_nav2 import _new_id, client, GOAL, Heard, robot

from robot_agent_harness.actions.controller import GoalResponse, GoalResult

pytestmark = pytest.mark.anyio
__all__ = ['client', 'robot']  # fixtures


async def test_a_goal_outlives_the_collection_of_garbage(robot: Probe, client: Probe) -> None:
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    goal_id = _new_id()
    heard.controller.send_goal(goal_id, GOAL)
    gc.collect()
    await heard.event(GoalResponse(goal_id, True))
    heard.controller.request_result(goal_id)
    gc.collect()
    nav2.report(goal_id, SUCCEEDED)
    await heard.event(GoalResult(goal_id, SUCCEEDED, {'error_code': 0, 'error_msg': ''}))


async def test_a_call_that_a_callback_of_the_executor_begins_is_answered(
    robot: Probe, client: Probe
) -> None:
    nav2, heard, loop = FakeNav2(robot), Heard(client), asyncio.get_running_loop()
    await heard.there(nav2)
    goal_id = _new_id()
    answered: asyncio.Future[Any] = loop.create_future()

    async def call() -> None:
        heard.controller.send_goal(goal_id, GOAL)
        await heard.event(GoalResponse(goal_id, True))
        answered.set_result(True)

    def on_timer() -> None:
        timer.cancel()
        asyncio.run_coroutine_threadsafe(call(), loop)

    timer = client.node.create_timer(0.01, on_timer)
    assert await asyncio.wait_for(answered, WAIT_S)
