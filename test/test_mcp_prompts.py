# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The prompts that a person picks: what they hold, their bounds, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp_rig import connected, ERAS, rig
import pytest

from robot_agent_harness.mcp_server.prompts import HEAD_LINES, LINE_MAX, TAIL_LINES

pytestmark = pytest.mark.anyio
GOAL = {'x': 2.0, 'y': 0.0}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def text_of(client: Any, name: str, **arguments: str) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == 'user'
    return str(message.content.text)


async def test_both_prompts_are_listed_with_their_arguments(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ['mission_briefing', 'incident_review']
        assert all(prompt.title and prompt.description for prompt in listed)
        (argument,) = listed[1].arguments
        assert (argument.name, argument.required) == ('mission_id', True)


async def test_the_briefing_says_what_the_robot_can_do_where_and_by_what_rules(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        text = await text_of(client, 'mission_briefing')
        for tool in (await client.list_tools()).tools:
            assert f'- {tool.name}(' in text
        places = (await client.call_tool('list_places', {})).structured_content['places']
        assert places
        assert all(f'- {place["name"]} (' in text for place in places)
        assert 'robot within 0.5 m of where you saw it' in text
        assert '"availability":"available"' in text
        assert 'UNKNOWN' in text
        assert len(text.encode()) < 16_384


async def test_a_call_after_the_briefing_is_held_against_the_world_that_it_showed(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        text = await text_of(client, 'mission_briefing')
        made.robot.place(1.0, 0.0)
        made.observe()
        refused = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        assert refused['status'] == 'precondition_changed'
        assert f'"snapshot_id":"{made.calls()[0]["decision_snapshot_id"]}"' in text


async def test_a_review_tells_a_missions_decisions_checks_and_outcomes_in_order(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'kitchen/1'
        sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        made.arrive(2.0, 0.0)
        await client.call_tool('wait_for_action', {'action_id': sent['action_id']})
        made.mission_id = 'another'
        await client.call_tool('list_places', {})
        text = await text_of(client, 'incident_review', mission_id='kitchen/1')
        told = ['TOOL_CALL_RECORDED', 'PRECONDITION', 'ROBOT_ACTION_STARTED', '"verified"']
        assert [text.index(part) for part in told] == sorted(text.index(part) for part in told)
        assert sent['action_id'] in text
        assert 'list_places' not in text
        assert 'robot://missions/kitchen%2F1/events' in text


async def test_a_review_of_a_long_mission_keeps_both_ends_and_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        made.mission_id = 'm'
        calls = (HEAD_LINES + TAIL_LINES) // 2 + 5
        for number in range(calls):
            await client.call_tool('get_action', {'action_id': f'{number}-' + 'x' * 1000})
        text = await text_of(client, 'incident_review', mission_id='m')
        lines = [line for line in text.splitlines() if line.startswith('#')]
        assert len(lines) == HEAD_LINES + TAIL_LINES
        assert max(map(len, lines)) <= LINE_MAX + len('...')
        assert '(10 events in between are left out)' in text
        assert '"0-xx' in lines[0]
        assert f'{calls - 1}-xx' in lines[-1]


async def test_a_review_shows_no_secret(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        made.mission_id = 'm'
        await client.call_tool('get_action', {'action_id': 'a', 'password': 'hunter2-hunter2'})
        assert 'hunter2' not in await text_of(client, 'incident_review', mission_id='m')


@pytest.mark.parametrize(
    ('name', 'arguments', 'told'),
    [
        ('incident_review', {'mission_id': 'nope'}, 'no mission nope'),
        ('incident_review', {}, 'needs a mission_id'),
        ('incident_review', {'mission_id': 'm' * 600}, 'needs a mission_id'),
        ('mission_briefing', {'mission_id': 'm'}, 'no argument mission_id'),
        ('make_coffee', {}, 'Unknown prompt: make_coffee'),
    ],
)
async def test_a_prompt_that_cannot_be_made_is_an_error_that_says_why(
    tmp_path: Path, name: str, arguments: dict[str, str], told: str
) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        with pytest.raises(MCPError, match=told) as caught:
            await client.get_prompt(name, arguments)
        assert caught.value.code == -32602
