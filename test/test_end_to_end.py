# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An MCP client, the harness and a robot, each in its own process, and the journal read back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from live_robot import ABORTED, EXECUTING, live_robot, LiveRobot, SUCCEEDED, WAIT_S
from mcp import Client

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.testing import check_journal

pytestmark = pytest.mark.anyio

KITCHEN = {'name': 'kitchen'}
HALL = {'x': 5.0, 'y': 4.0}


async def _call(client: Client, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    answer = await client.call_tool(name, dict(arguments))
    structured = answer.structured_content
    assert structured is not None
    assert answer.is_error == (structured['status'] not in ('completed', 'accepted'))
    return dict(structured)


async def _accepted(client: Client, name: str, arguments: Mapping[str, Any]) -> str:
    """Call a tool that must be accepted, and return the action's id."""
    answer = await _call(client, name, arguments)
    assert answer['status'] == 'accepted', answer
    return str(answer['action_id'])


async def _outcome(client: Client, action_id: str) -> dict[str, Any]:
    return await _call(client, 'wait_for_action', {'action_id': action_id, 'timeout_s': 30.0})


async def _journal(live: LiveRobot) -> list[RecordedEvent]:
    """End the harness and return what it recorded."""
    assert await live.harness.end() == 0
    assert check_journal(live.journal) == []
    with JournalReader(live.journal) as reader:
        return list(reader.events())


def _started(events: list[RecordedEvent]) -> list[str]:
    return [e.action_id or '' for e in events if e.type == 'ROBOT_ACTION_STARTED']


async def test_a_verified_arrival_is_in_the_journal_as_it_was_on_the_wire(tmp_path: Path) -> None:
    async with live_robot(tmp_path / 'journal.db') as live:
        async with Client(live.url) as client:
            action_id = await _accepted(client, 'navigate_to_place', KITCHEN)
            told = await _outcome(client, action_id)
        await live.witness.sees(action_id, SUCCEEDED)
        assert live.witness.goal_ids == {action_id}
        assert (told['state'], told['reason']) == ('SUCCEEDED', 'verified')
        assert told['evidence']['position_error_m'] <= 0.35

        events = await _journal(live)
        assert _started(events) == [action_id]
        call_id = next(e.tool_call_id for e in events if e.type == 'ROBOT_ACTION_STARTED')
        order = [e.type for e in events if e.tool_call_id == call_id]
        firsts = [
            order.index(kind)
            for kind in (
                'TOOL_CALL_RECORDED',
                'ACTION_PRECONDITION_CHECKED',
                'ROBOT_ACTION_STARTED',
                'TOOL_RESULT_RECORDED',
                'ROBOT_ACTION_OUTCOME',
            )
        ]
        assert firsts == sorted(firsts)
        assert order.count('TOOL_RESULT_RECORDED') == 1
        outcome = next(e for e in events if e.type == 'ROBOT_ACTION_OUTCOME')
        looked = next(
            e
            for e in events
            if e.type == 'WORLD_SNAPSHOT_CAPTURED'
            and e.snapshot_id == outcome.payload['verification_snapshot_id']
        )
        assert looked.payload['reason'] == 'verification'


async def test_success_claimed_away_from_the_goal_is_disproved(tmp_path: Path) -> None:
    async with live_robot(tmp_path / 'j.db', robot={'fault.false_success': True}) as live:
        async with Client(live.url) as client:
            action_id = await _accepted(client, 'navigate_to_place', KITCHEN)
            told = await _outcome(client, action_id)
        await live.witness.sees(action_id, SUCCEEDED)
        assert (told['state'], told['reason']) == ('FAILED', 'verification_disproved')
        assert told['evidence']['position_error_m'] > 0.35
        await _journal(live)


async def test_a_result_that_never_comes_leaves_the_action_unknown(tmp_path: Path) -> None:
    parameters = {'navigation.execution_timeout_s': 4.0}
    async with live_robot(
        tmp_path / 'j.db', harness=parameters, robot={'fault.drop_result': True}
    ) as live:
        async with Client(live.url) as client:
            action_id = await _accepted(client, 'navigate_to_place', KITCHEN)
            told = await _outcome(client, action_id)
        assert (told['state'], told['reason']) == ('UNKNOWN', 'execution_timeout')
        await _journal(live)


async def test_a_refused_goal_is_rejected_and_failed(tmp_path: Path) -> None:
    async with live_robot(tmp_path / 'j.db', robot={'fault.reject_goals': True}) as live:
        async with Client(live.url) as client:
            refused = await _call(client, 'navigate_to_pose', HALL)
            told = await _outcome(client, refused['action_id'])
        assert refused['status'] == 'rejected'
        assert (told['state'], told['reason']) == ('FAILED', 'rejected')
        await _journal(live)


async def test_a_goal_of_somebody_else_preempts_and_blocks_the_next(tmp_path: Path) -> None:
    async with live_robot(tmp_path / 'j.db', robot={'time_scale': 2.0}) as live:
        async with Client(live.url) as client:
            action_id = await _accepted(client, 'navigate_to_place', KITCHEN)
            await live.witness.sees(action_id, EXECUTING)
            foreign = await live.witness.send_goal(8.0, 6.4)
            told = await _outcome(client, action_id)
            assert (told['state'], told['reason']) == ('FAILED', 'preempted')
            await live.witness.sees(action_id, ABORTED)
            again = await _call(client, 'navigate_to_place', KITCHEN)
        assert again['status'] == 'precondition_changed'
        assert foreign in str(again['failed_checks'])
        assert live.witness.goal_ids == {action_id, foreign}
        assert _started(await _journal(live)) == [action_id]


async def test_with_the_emergency_stop_engaged_no_goal_is_sent(tmp_path: Path) -> None:
    async with live_robot(tmp_path / 'j.db', robot={'fault.emergency_stop': True}) as live:
        async with Client(live.url) as client:
            refused = await _call(client, 'navigate_to_pose', HALL)
            assert refused['status'] == 'precondition_changed'
            assert [c['name'] for c in refused['failed_checks']] == ['emergency_stop_clear']
            assert refused['snapshot']['safety']['emergency_stop'] is True
            # The goal that follows its release is the first that anybody sees.
            await live.witness.set(emergency_stop=False)
            action_id = await _released(client)
            await live.witness.sees(action_id, EXECUTING)
        assert live.witness.goal_ids == {action_id}
        await _journal(live)


async def _released(client: Client) -> str:
    """Call until the release has reached the harness: another topic than the one that answers."""
    for _ in range(50):
        answer = await _call(client, 'navigate_to_pose', HALL)
        if answer['status'] == 'accepted':
            return str(answer['action_id'])
        assert [c['name'] for c in answer['failed_checks']] == ['emergency_stop_clear']
    raise AssertionError('the release never arrived')


async def test_a_robot_without_a_controller_is_refused_at_once_and_still_observed(
    tmp_path: Path,
) -> None:
    async with live_robot(tmp_path / 'j.db') as live:
        await live.robot.end()
        async with Client(live.url) as client:
            # A goal that is sent before discovery has noticed is lost, and nobody can say so.
            await _gone(client)
            answer = await _call(client, 'navigate_to_pose', HALL)
        assert answer['status'] == 'controller_unavailable'
        assert live.witness.goal_ids == set()
        assert _started(await _journal(live)) == []


async def _gone(client: Client) -> None:
    """Look until discovery has noticed that the server is gone."""
    with anyio.fail_after(WAIT_S):
        while True:
            looked = await _call(client, 'get_world_snapshot', {})
            if not looked['snapshot']['navigation']['controller_reachable']:
                return
            await asyncio.sleep(0.05)
