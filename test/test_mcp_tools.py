# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools as clients see them: schemas, annotations and the shape of every result."""

from __future__ import annotations

from base64 import b64encode
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp_rig import answer_of, connected, ERAS, RawClient, rig
import pytest

from robot_agent_harness.assembly import Core
from robot_agent_harness.mcp_server.tools import call_result, list_tools
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext

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
    wait = next(tool for tool in list_tools(REGISTRY) if tool.name == 'wait_for_action')
    timeout = wait.input_schema['properties']['timeout_s']
    assert (timeout['minimum'], timeout['maximum'], timeout['default']) == (0.0, 600.0, 60.0)


@pytest.mark.parametrize('tool', list_tools(REGISTRY), ids=lambda tool: str(tool.name))
def test_every_argument_and_result_says_what_it_is(tool: Any) -> None:
    for name, field in tool.input_schema['properties'].items():
        assert field['description'], name
        if field['type'] == 'number':
            assert {'minimum', 'maximum'} <= set(field), name
    for name, field in tool.output_schema['properties'].items():
        assert field['description'], name


def test_descriptions_tell_a_model_that_never_saw_the_robot_what_comes_next() -> None:
    told = {tool.name: tool.description for tool in list_tools(REGISTRY)}
    for name in ('navigate_to_pose', 'navigate_to_place'):
        assert 'wait_for_action' in told[name]
        assert 'precondition_changed' in told[name]
    assert 'no emergency stop' in told['cancel_action']
    assert 'UNKNOWN' in told['wait_for_action']
    assert 'navigate_to_place' in told['list_places']


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
        'navigate_through_poses': moves,
        'spin': moves,
        'back_up': moves,
        'drive_on_heading': moves,
        'dock': moves,
        'undock': moves,
        'cancel_action': stops,
        'wait_for_action': looks,
        'get_action': looks,
        'get_world_snapshot': looks,
        'list_places': looks,
    }


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


@pytest.mark.anyio
@pytest.mark.parametrize('era', ERAS)
async def test_a_picture_of_four_megabytes_reaches_no_client(tmp_path: Path, era: str) -> None:
    async def photograph(context: SkillContext) -> ToolResult:
        """Take a picture."""
        picture = b64encode(b'\x89PNG\r\n' + bytes(4 * 1024 * 1024)).decode()
        return ToolResult(ResultStatus.COMPLETED, 'a picture', {'image': picture})

    def offer(core: Core) -> None:
        core.registry._skills['photograph'] = skill(output=CallOutput)(photograph)

    async with rig(tmp_path, wrap=offer) as made, RawClient.connected(made, era) as raw:
        response = await raw.post(raw.request('tools/call', {'name': 'photograph'}, 1))
        assert len(response.content) < 65_536
        told = answer_of(response)['result']['structuredContent']
        assert told['status'] == 'completed'
        assert told['image']['media_type'] == 'image/png'
        assert told['image']['size_bytes'] > 4_000_000
        assert len(told['image']['sha256']) == 64
        assert told == made.results()[-1]['structured']
