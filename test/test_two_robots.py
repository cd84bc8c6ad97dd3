# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Two robots in two namespaces of one domain, with the same names for their frames and places."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from live_robot import live_robot, LiveRobot, SUCCEEDED
from mcp import Client

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.testing import check_journal

pytestmark = pytest.mark.anyio


async def _drive(live: LiveRobot, place: str) -> dict[str, Any]:
    """Send a robot to a place, wait for what becomes of it, and look around."""
    async with Client(live.url) as client:
        taken = await client.call_tool('navigate_to_place', {'name': place})
        told = taken.structured_content or {}
        assert told['status'] == 'accepted', told
        asked = {'action_id': told['action_id'], 'timeout_s': 30.0}
        ended = await client.call_tool('wait_for_action', asked)
        return dict(ended.structured_content or {})


async def _recorded(live: LiveRobot) -> list[RecordedEvent]:
    assert await live.harness.end() == 0
    assert check_journal(live.journal) == []
    with JournalReader(live.journal) as reader:
        return list(reader.events())


async def test_two_robots_at_once_do_not_hear_each_other(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        first, second = await asyncio.gather(
            stack.enter_async_context(live_robot(tmp_path / '1.db')),
            stack.enter_async_context(live_robot(tmp_path / '2.db')),
        )
        ended = await asyncio.gather(_drive(first, 'kitchen'), _drive(second, 'office'))
        poses = []
        for live, told in zip((first, second), ended, strict=True):
            assert (told['state'], told['reason']) == ('SUCCEEDED', 'verified')
            await live.witness.sees(told['action_id'], SUCCEEDED)
            # On each robot's topics there is its own goal, and nothing else.
            assert live.witness.goal_ids == {told['action_id']}
            poses.append(told['snapshot']['map_pose'])
            assert told['snapshot']['navigation']['active_goals'] == []
        assert poses[0]['frame'] == poses[1]['frame'] == 'map'
        assert abs(poses[0]['x_m'] - poses[1]['x_m']) > 1.0
        for live, own, other in ((first, *ended), (second, *reversed(ended))):
            events = await _recorded(live)
            assert {e.action_id for e in events if e.type == 'ROBOT_ACTION_STARTED'} == {
                own['action_id']
            }
            assert other['action_id'] not in str([e.payload for e in events])
            # The other robot's goal would have been a foreign one, and its pose a jump.
            assert [e for e in events if e.type == 'SALIENT_EVENT'] == []


async def test_the_arrival_of_one_robot_completes_nothing_of_the_other(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        silent, second = await asyncio.gather(
            stack.enter_async_context(
                live_robot(
                    tmp_path / '1.db',
                    harness={'navigation.execution_timeout_s': 5.0},
                    robot={'fault.drop_result': True},
                )
            ),
            stack.enter_async_context(live_robot(tmp_path / '2.db')),
        )
        ended = await asyncio.gather(_drive(silent, 'kitchen'), _drive(second, 'kitchen'))
        assert (ended[0]['state'], ended[0]['reason']) == ('UNKNOWN', 'execution_timeout')
        assert (ended[1]['state'], ended[1]['reason']) == ('SUCCEEDED', 'verified')
        for live in (silent, second):
            await _recorded(live)
