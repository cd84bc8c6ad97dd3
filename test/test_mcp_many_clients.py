# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The SDK's client drives everything in both eras, and eight clients share one robot."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
import json
from pathlib import Path
import random
import time
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp_rig import BOUND_S, connected, ERAS, Rig, rig
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.clock import RandomIds
from robot_agent_harness.events import EventType
from robot_agent_harness.mcp_server.requests import IDEMPOTENCY_KEY
from robot_agent_harness.testing.journal_assertions import check_journal

pytestmark = pytest.mark.anyio
CLIENTS = 8
ACTION_S = 0.1
"""How long the robot drives, in real time."""


@pytest.mark.parametrize('era', ERAS)
async def test_the_sdks_client_drives_every_tool_resource_and_prompt(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'm'
        made.nav2.cancel_code = 0
        called: set[str] = set()

        async def call(name: str, /, **arguments: Any) -> Any:
            called.add(name)
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer.structured_content
            return answer.structured_content

        async def read(uri: str) -> Any:
            (content,) = (await client.read_resource(uri)).contents
            return json.loads(content.text)

        seen = await call('get_world_snapshot')
        places = {place['name'] for place in (await call('list_places'))['places']}
        first = (await call('navigate_to_place', name=sorted(places)[0]))['action_id']
        await call('cancel_action', action_id=first)
        made.nav2.result(GoalStatus.CANCELED, {})
        assert (await call('wait_for_action', action_id=first))['reason'] == 'canceled'
        made.nav2.status()
        second = (await call('navigate_to_pose', x=2.0, y=0.0))['action_id']
        made.arrive(2.0, 0.0)
        assert (await call('wait_for_action', action_id=second))['state'] == 'SUCCEEDED'
        assert (await call('get_action', action_id=first))['state'] == 'FAILED'
        assert called == {
            tool.name for tool in (await client.list_tools()).tools if tool.name not in _OURS
        }

        world = await read('robot://world/latest')
        assert world['map_pose']['value']['x'] == 2.0
        again = await read(f'robot://snapshots/{seen["snapshot_id"]}')
        assert again['map_pose']['value']['x'] == 0.0
        assert (await read(f'robot://actions/{second}'))['reason'] == 'verified'
        events = (await read('robot://missions/m/events?limit=1000'))['events']
        assert [e['type'] for e in events].count('ROBOT_ACTION_OUTCOME') == 2

        for prompt in (await client.list_prompts()).prompts:
            arguments = {argument.name: 'm' for argument in prompt.arguments or ()}
            (message,) = (await client.get_prompt(prompt.name, arguments)).messages
            assert message.content.text
    assert check_journal(made.journal) == []


_OURS = {'hold', '_crash'}
"""Tools that only the tests' rig has."""


@dataclass
class Tally:
    """What the clients were told."""

    calls: int = 0
    accepted: set[str] = field(default_factory=set)
    statuses: set[str] = field(default_factory=set)


class Robot:
    """Drives whatever goal is sent, for a moment, and then has arrived."""

    def __init__(self, made: Rig) -> None:
        self._made = made

    async def run(self) -> None:
        made, driven = self._made, 0
        while True:
            await asyncio.sleep(ACTION_S / 5)
            made.observe(0.1)
            if len(made.nav2.sent) > driven:
                goal_id, goal = made.nav2.sent[driven]
                driven += 1
                made.nav2.feedback(goal_id, distance_remaining=1.0)
                await asyncio.sleep(ACTION_S)
                ended = _ended(driven)
                if ended is GoalStatus.SUCCEEDED:
                    made.robot.place(goal['x'], goal['y'], goal['yaw'])
                made.observe(0.1)
                made.nav2.result(ended, {}, goal_id)


def _ended(number: int) -> GoalStatus:
    """Return how a goal ends: every fourth is given up."""
    return GoalStatus.ABORTED if number % 4 == 0 else GoalStatus.SUCCEEDED


async def _behave(client: Client, chance: random.Random, tally: Tally, until: float) -> None:
    """Do what clients do, in any order, until the time is up."""
    action_id = '0' * 32
    while time.monotonic() < until:
        what = chance.choice(('go', 'go', 'wait', 'get', 'look', 'read', 'cancel', 'give up'))
        goal = {'x': round(chance.uniform(0, 5), 1), 'y': round(chance.uniform(0, 5), 1)}
        if what == 'go':
            meta = {IDEMPOTENCY_KEY: f'{chance.random()}'} if chance.random() < 0.5 else None
            answers = [
                (await client.call_tool('navigate_to_pose', goal, meta=meta)).structured_content
                for _ in range(2 if meta else 1)
            ]
            tally.calls += len(answers)
            assert answers[0] == answers[-1]
            tally.statuses.add(answers[0]['status'])
            if answers[0]['status'] == 'accepted':
                action_id = answers[0]['action_id']
                tally.accepted.add(action_id)
            else:
                assert answers[0]['status'] == 'precondition_changed', answers[0]
        elif what == 'read':
            with contextlib.suppress(MCPError):  # the action of nobody
                await client.read_resource(f'robot://actions/{action_id}')
            await client.read_resource('robot://world/latest')
        elif what == 'give up':
            tally.calls += 1
            with anyio.move_on_after(chance.uniform(0.0, 0.05)):
                told = await client.call_tool('wait_for_action', {'action_id': action_id})
                assert told.structured_content['status'] in ('completed', 'unknown_action')
        else:
            name, arguments = {
                'wait': ('wait_for_action', {'action_id': action_id, 'timeout_s': 0.2}),
                'get': ('get_action', {'action_id': action_id}),
                'look': ('get_world_snapshot', {}),
                'cancel': ('cancel_action', {'action_id': action_id}),
            }[what]
            tally.calls += 1
            told = (await client.call_tool(name, arguments)).structured_content
            assert told['status'] in ('completed', 'unknown_action')


@pytest.mark.parametrize(
    'seconds', [4.0, pytest.param(60.0, marks=[pytest.mark.long, pytest.mark.timeout(240)])]
)
async def test_eight_clients_at_once_with_one_robot_keep_all_invariants(
    tmp_path: Path, seconds: float
) -> None:
    seed = random.randrange(2**32)
    print(f'seed {seed}')
    chance, tally = random.Random(seed), Tally()
    async with rig(tmp_path, ids=RandomIds()) as made:
        made.nav2.cancel_code = 0
        driving = asyncio.ensure_future(Robot(made).run())
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    connected(made, ERAS[number % 2], name=f'client {number}')
                )
                for number in range(CLIENTS)
            ]
            until = time.monotonic() + seconds
            async with anyio.create_task_group() as group:
                for client in clients:
                    behave = random.Random(chance.random())
                    group.start_soon(_behave, client, behave, tally, until)
        with anyio.fail_after(BOUND_S):
            for action in made.core.tracker.unfinished:
                await made.core.tracker.wait(action.action_id, BOUND_S)
        driving.cancel()
    assert check_journal(made.journal) == []
    assert tally.statuses == {'accepted', 'precondition_changed'}
    sent = [goal_id for goal_id, _ in made.nav2.sent]
    # Everything that was sent was accepted and told once, and the other way round.
    assert len(sent) == len(set(sent))
    assert set(sent) == tally.accepted
    # A call that its client left behind may or may not have come in.
    assert len(made.calls()) == len(made.results()) <= tally.calls
    _one_action_at_a_time(made)


def _one_action_at_a_time(made: Rig) -> None:
    open_action: str | None = None
    for event in made.records(EventType.ROBOT_ACTION_STARTED, EventType.ROBOT_ACTION_OUTCOME):
        if event.type == EventType.ROBOT_ACTION_STARTED:
            assert open_action is None, f'{event.action_id} began before {open_action} ended'
            open_action = event.action_id
        else:
            assert event.action_id == open_action
            open_action = None
