# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools as clients see them: schemas, annotations and the shape of every result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp import Client
from mcp_rig import connected, ERAS, Rig, rig
import pytest

from robot_agent_harness.mcp_server.tools import call_result, list_tools
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.skills.result import ResultStatus, ToolResult

REGISTRY = load_registry(config_path('skills.yaml'))
CONTRACT_TOOLS = [
    'navigate_to_pose',
    'navigate_to_place',
    'cancel_action',
    'wait_for_action',
    'get_action',
    'get_world_snapshot',
    'list_places',
]


@pytest.mark.anyio
@pytest.mark.parametrize('era', ERAS)
async def test_every_tool_is_listed_with_valid_schemas_in_the_same_order_each_time(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        tools = (await client.list_tools()).tools
        again = (await client.list_tools()).tools
    assert [tool.name for tool in tools][: len(CONTRACT_TOOLS)] == CONTRACT_TOOLS
    assert [tool.name for tool in again] == [tool.name for tool in tools]
    for tool in tools:
        assert tool.title
        assert tool.description
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema['type'] == 'object'
        assert tool.input_schema['additionalProperties'] is False
        assert tool.output_schema['type'] == 'object'
        assert {'status', 'message'} <= set(tool.output_schema['required'])


def test_arguments_are_described_with_unit_range_and_default() -> None:
    pose = next(tool for tool in list_tools(REGISTRY) if tool.name == 'navigate_to_pose')
    properties = pose.input_schema['properties']
    assert list(properties) == ['x', 'y', 'yaw', 'frame_id']
    assert pose.input_schema['required'] == ['x', 'y']
    assert properties['yaw']['default'] == 0.0
    assert properties['frame_id']['default'] == 'map'
    for name in ('x', 'y', 'yaw'):
        assert properties[name]['type'] == 'number'
        assert {'minimum', 'maximum', 'description'} <= set(properties[name])


def test_annotations_are_true() -> None:
    told = {
        tool.name: (
            tool.annotations.read_only_hint,
            tool.annotations.destructive_hint,
            tool.annotations.idempotent_hint,
            tool.annotations.open_world_hint,
        )
        for tool in list_tools(REGISTRY)
        if tool.annotations is not None
    }
    moves, stops, looks = (
        (False, True, False, False),
        (False, True, True, False),
        (True, False, True, False),
    )
    assert told == {
        'navigate_to_pose': moves,
        'navigate_to_place': moves,
        'cancel_action': stops,
        'wait_for_action': looks,
        'get_action': looks,
        'get_world_snapshot': looks,
        'list_places': looks,
    }


Step = Callable[[Rig, Client], Awaitable[Any]]
GOAL = {'x': 2.0, 'y': 0.0}


async def _accepted(made: Rig, client: Client) -> Any:
    return await client.call_tool('navigate_to_pose', GOAL)


async def _finished(made: Rig, client: Client) -> str:
    action_id = (await _accepted(made, client)).structured_content['action_id']
    made.arrive(2.0, 0.0)
    await client.call_tool('wait_for_action', {'action_id': action_id})
    return str(action_id)


async def _rejected(made: Rig, client: Client) -> Any:
    made.nav2.accept_after_s = None
    send = made.nav2.send_goal

    def refuse(goal_id: str, goal: dict[str, Any]) -> None:
        send(goal_id, goal)
        made.nav2.respond(False)

    made.nav2.send_goal = refuse  # type: ignore[method-assign]
    return await client.call_tool('navigate_to_pose', GOAL)


async def _busy(made: Rig, client: Client) -> Any:
    await _accepted(made, client)
    return await client.call_tool('navigate_to_pose', {'x': 0.0, 'y': 1.0})


async def _away(made: Rig, client: Client) -> Any:
    made.nav2.set_reachable(False)
    call = asyncio.ensure_future(client.call_tool('navigate_to_pose', GOAL))
    while not call.done():
        # The call may give the server a moment to appear.
        made.observe(0.5)
        await asyncio.sleep(0.01)
    return call.result()


async def _inactive(made: Rig, client: Client) -> Any:
    made.core.dispatcher.active = False
    return await client.call_tool('navigate_to_pose', GOAL)


async def _silent(made: Rig, client: Client) -> Any:
    made.nav2.accept_after_s = None
    return await client.call_tool('navigate_to_pose', GOAL)


async def _outcome(made: Rig, client: Client) -> Any:
    return await client.call_tool('get_action', {'action_id': await _finished(made, client)})


async def _running(made: Rig, client: Client) -> Any:
    action_id = (await _accepted(made, client)).structured_content['action_id']
    made.nav2.feedback(distance_remaining=1.5)
    arguments = {'action_id': action_id, 'timeout_s': 0.01}
    return await client.call_tool('wait_for_action', arguments)


async def _cancel(made: Rig, client: Client) -> Any:
    made.nav2.cancel_code = 0
    action_id = (await _accepted(made, client)).structured_content['action_id']
    return await client.call_tool('cancel_action', {'action_id': action_id})


def _call(name: str, /, **arguments: Any) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        return await client.call_tool(name, arguments)

    return step


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('step', 'tool', 'status'),
    [
        (_accepted, 'navigate_to_pose', 'accepted'),
        (_rejected, 'navigate_to_pose', 'rejected'),
        (_busy, 'navigate_to_pose', 'precondition_changed'),
        (_away, 'navigate_to_pose', 'controller_unavailable'),
        (_inactive, 'navigate_to_pose', 'harness_inactive'),
        (_silent, 'navigate_to_pose', 'acceptance_unknown'),
        (_call('navigate_to_pose', x='1,5', y=0), 'navigate_to_pose', 'invalid_arguments'),
        (_call('navigate_to_place', name='nowhere'), 'navigate_to_place', 'invalid_arguments'),
        (_call('get_action', action_id='0' * 32), 'get_action', 'unknown_action'),
        (_call('wait_for_action', action_id='0' * 32), 'wait_for_action', 'unknown_action'),
        (_call('cancel_action', action_id='0' * 32), 'cancel_action', 'unknown_action'),
        (_call('get_world_snapshot'), 'get_world_snapshot', 'completed'),
        (_call('list_places'), 'list_places', 'completed'),
        (_call('_crash'), '_crash', 'tool_error'),
        (_outcome, 'get_action', 'completed'),
        (_running, 'wait_for_action', 'completed'),
        (_cancel, 'cancel_action', 'completed'),
    ],
)
async def test_what_a_call_returns_satisfies_its_output_schema(
    tmp_path: Path, step: Step, tool: str, status: str
) -> None:
    quick = {'navigation.accept_timeout_s': 0.1}
    async with rig(tmp_path, parameters=quick) as made, connected(made, ERAS[1]) as client:
        listed = {entry.name: entry for entry in (await client.list_tools()).tools}
        answer = await step(made, client)
        assert answer.structured_content['status'] == status
        Draft202012Validator(listed[tool].output_schema).validate(answer.structured_content)
        assert answer.is_error == (status not in ('completed', 'accepted'))
        assert answer.structured_content == made.results()[-1]['structured']


@pytest.mark.parametrize('status', ResultStatus)
@pytest.mark.parametrize('tool', list_tools(REGISTRY), ids=lambda tool: str(tool.name))
def test_every_tool_may_answer_with_every_status(tool: Any, status: ResultStatus) -> None:
    data = {'action_id': '0' * 32} if 'action_id' in tool.output_schema['properties'] else {}
    result = call_result(ToolResult(status, 'so it is', data), max_text_bytes=8192)
    Draft202012Validator(tool.output_schema).validate(result.structured_content)
    assert result.is_error == status.is_error


def test_text_says_the_message_and_the_facts_as_compact_json() -> None:
    data = {'action_id': 'a' * 32, 'reason': None}
    result = call_result(ToolResult(ResultStatus.ACCEPTED, 'taken', data), max_text_bytes=8192)
    message, facts = (block.text for block in result.content if block.type == 'text')
    assert message == 'taken'
    assert facts == f'{{"status":"accepted","action_id":"{"a" * 32}"}}'


def test_a_message_that_says_it_all_stands_alone() -> None:
    result = call_result(ToolResult(ResultStatus.TOOL_ERROR, 'it broke'), max_text_bytes=8192)
    assert len(result.content) == 1


def test_text_that_would_be_too_long_names_what_it_leaves_out() -> None:
    data = {'blob': 'x' * 100_000, 'list': ['ä' * 50] * 100, 'action_id': 'a' * 32}
    result = call_result(ToolResult(ResultStatus.COMPLETED, 'ü' * 9000, data), max_text_bytes=8192)
    texts = [block.text for block in result.content if block.type == 'text']
    assert sum(len(text.encode()) for text in texts) <= 8192
    assert texts[0].endswith('...')
    facts = json.loads(texts[1])
    assert facts == {
        'status': 'completed',
        'action_id': 'a' * 32,
        'omitted': ['blob', 'list'],
    }
    assert result.structured_content['blob'] == data['blob']


def test_what_json_lacks_becomes_text() -> None:
    data = {'distance': float('nan'), 'object': object}
    result = call_result(ToolResult(ResultStatus.COMPLETED, 'odd', data), max_text_bytes=8192)
    assert result.structured_content['distance'] == 'NaN'
    json.dumps(result.structured_content, allow_nan=False)
