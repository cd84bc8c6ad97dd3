# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What readers of prompts, messages and journals can rely on, at the edges."""

import asyncio
import contextlib
from pathlib import Path
import re
import sqlite3

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.journal.schema import chain_of
from robot_agent_harness.testing import (
    Bench,
    call,
    check_journal,
    run_virtual,
    scripted,
)

GOAL = {'x': 2.0, 'y': 0.0}
INTENT = {'purpose': 'p', 'expected_outcome': 'e'}
FEEDBACK = {
    'distance_remaining': 2.8123,
    'number_of_recoveries': 3,
    'navigation_time_s': 12.345,
    'estimated_time_remaining_s': 9.1234,
    'current_pose': {'x': 1.2012, 'y': 0.0123, 'yaw': 0.1234, 'frame_id': 'map'},
}


@pytest.mark.parametrize(
    ('status', 'payload', 'needed'),
    [
        (
            GoalStatus.ABORTED,
            {'error_code': 105, 'error_msg': 'failed to make progress'},
            ['105', '"observed_pose":{"x":1.2'],
        ),
        (
            GoalStatus.SUCCEEDED,
            {'error_code': 0, 'error_msg': ''},
            ['position_error_m":2.8', 'not at the goal'],
        ),
    ],
)
def test_the_next_turn_gets_the_measured_pose_beside_what_the_controller_said(
    status, payload, needed, tmp_path
):
    """K38 and K08: a real Nav2's feedback would fill an evidence line of 400 characters."""
    model = scripted(
        call('navigate_to_pose', x=4.0, y=0.0, **INTENT),
        call('finish_mission', outcome='not_achieved', reason='r'),
    )

    async def scenario():
        async with Bench(tmp_path / 'j.db', model=model) as bench:
            mission = asyncio.create_task(bench.core.harness.run_mission('go'))
            await asyncio.sleep(1.0)
            bench.nav2.feedback(**FEEDBACK)
            await asyncio.sleep(1.0)
            bench.robot.place(1.2, 0.0)
            await asyncio.sleep(1.0)
            bench.nav2.result(status, payload)
            await mission

    run_virtual(scenario())
    told = model.requests[1].messages[0].text.split('# Since')[1].split('# Earlier')[0]
    for part in needed:
        assert part in told, told


def test_a_foreign_goal_still_blocks_after_its_server_was_out_of_sight_for_a_moment(tmp_path):
    """DEC-16: discovery of a living server can blink; a matched subscription hears no more."""

    async def scenario():
        async with Bench(tmp_path / 'j.db') as bench:
            bench.nav2.status(('f' * 32, GoalStatus.EXECUTING))
            bench.nav2.set_reachable(False)
            await asyncio.sleep(0.25)
            bench.nav2.set_reachable(True)
            return (await bench.call('navigate_to_pose', GOAL)).status.value

    assert run_virtual(scenario()) == 'precondition_changed'


def test_check_journal_passes_over_payload_keys_of_a_later_release(tmp_path):
    """CON-JNL-06."""
    path = tmp_path / 'j.db'

    async def scenario():
        async with Bench(path) as bench:
            await bench.call('list_places', {})

    run_virtual(scenario())
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        seq, chain = connection.execute(
            'SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1'
        ).fetchone()
        row = (
            seq + 1,
            1,
            'SALIENT_EVENT',
            0,
            *[None] * 6,
            '{"details":{},"kind":"k","later":1,"message":"m"}',
        )
        connection.execute(
            f'INSERT INTO events VALUES ({", ".join("?" * 12)})', (*row, chain_of(chain, row))
        )
    assert check_journal(path) == []


def test_the_reasons_that_run_mission_documents_are_those_that_it_gives():
    text_ = (Path(__file__).parents[1] / 'action' / 'RunMission.action').read_text()
    (comment,) = re.findall(r'^string reason\s+# .*?: (.*), \.\.\.$', text_, re.MULTILINE)
    assert set(comment.split(', ')) <= {
        'finished',
        'canceled',
        'max_steps',
        'max_tokens',
        'no_decision',
        'model_error',
        'interrupted',
        'journal_unavailable',
        'harness_fault',
        'deactivated',
    }


def test_the_token_limit_ends_a_turn_of_ordinary_tools_too(tmp_path):
    from dataclasses import replace

    from robot_agent_harness.testing.scripted_model import RecordingScriptedClient

    class Costly(RecordingScriptedClient):
        async def decide(self, request):
            return replace(
                await super().decide(request), usage={'input_tokens': 60, 'output_tokens': 40}
            )

    model = Costly.from_dict({'responses': [{**call('list_places'), 'repeat': True}]})

    async def scenario():
        async with Bench(
            tmp_path / 'j.db', model=model, parameters={'mission.max_tokens': 150}
        ) as bench:
            return (await bench.core.harness.run_mission('go')).reason

    assert run_virtual(scenario()) == 'max_tokens'
    assert len(model.requests) <= 2


def test_an_invalid_field_carries_no_number_in_the_message(tmp_path):
    """WorldSnapshot.msg: MISSING and INVALID carry NaN (or false)."""
    import math

    from robot_agent_harness.ros.conversions import snapshot_msg

    async def scenario():
        async with Bench(tmp_path / 'j.db') as bench:
            bench.robot.place(3.0, 1.0, v=(0.2, 0.0))
            bench.robot.stamp_offset_ns |= {'pose': None, 'odom': None}
            await asyncio.sleep(1.0)
            return bench.core.observer.peek()

    told = snapshot_msg(run_virtual(scenario()), None, 'requested', {})
    assert told.pose_availability == told.velocity_availability == 'invalid'
    assert math.isnan(told.x)
    assert math.isnan(told.linear_velocity)


def test_the_reasons_of_a_published_snapshot_are_documented():
    text_ = (Path('/work/main') / 'msg' / 'WorldSnapshot.msg').read_text()
    (comment,) = re.findall(r'^string reason\s+# why: (.*)$', text_, re.MULTILINE)
    assert 'periodic' in comment
