# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Resources: the contract's URIs, their bounds, and what is said of what is not there."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

from mcp import Client, MCPError
from mcp_rig import connected, ERAS, rig
import pytest

from robot_agent_harness.clock import RandomIds
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.mcp_server import history as history_module
from robot_agent_harness.mcp_server.settings import McpSettings
from robot_agent_harness.redaction import REDACTED

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def read(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert content.mime_type == 'application/json'
    assert content.uri == uri
    return json.loads(content.text)


async def test_the_contracts_resources_are_listed(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        assert listed == ['robot://world/latest']
        assert [template.uri_template for template in templates] == [
            'robot://snapshots/{snapshot_id}',
            'robot://actions/{action_id}',
            'robot://missions/{mission_id}/events',
        ]
        assert {entry.mime_type for entry in templates} == {'application/json'}


async def test_the_latest_world_is_taken_at_the_moment_of_reading(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        first = await read(client, 'robot://world/latest')
        made.robot.place(1.0, 2.0)
        made.observe()
        second = await read(client, 'robot://world/latest')
        assert first['map_pose']['value']['x'] == 0.0
        assert second['map_pose']['value']['x'] == 1.0
        assert second['map_pose']['availability'] == 'available'
        assert await read(client, f'robot://snapshots/{first["snapshot_id"]}') == first


async def test_an_action_can_be_read_while_it_runs_and_after(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'mission-1'
        sent = await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': 0.0})
        action_id = sent.structured_content['action_id']
        running = await read(client, f'robot://actions/{action_id}')
        assert running['state'] in ('ACCEPTED', 'RUNNING')
        assert running['mission_id'] == 'mission-1'
        made.arrive(2.0, 0.0)
        await client.call_tool('wait_for_action', {'action_id': action_id})
        ended = await read(client, f'robot://actions/{action_id}')
        assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
        assert ended['evidence']


async def test_resources_show_no_secret_of_an_actions_goal(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        sent = await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': 0.0})
        action_id = sent.structured_content['action_id']
        running = made.core.board.get(action_id)
        assert running is not None
        made.core.board.put(replace(running, goal={'x': 2.0, 'password': 'hunter2'}))
        shown = await read(client, f'robot://actions/{action_id}')
        assert shown['goal'] == {'x': 2.0, 'password': REDACTED}
        assert shown['action_id'] == action_id
        world = await read(client, 'robot://world/latest')
        assert world['active_action']['goal'] == shown['goal']


async def pages(client: Client, uri: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = await read(client, f'{uri}?after={after}&limit=3')
        assert len(page['events']) <= 3
        events += page['events']
        after = page['next_after']
    return events


async def test_a_missions_events_are_read_in_pages_without_gap_or_repetition(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'kitchen/1 & co'
        for _ in range(5):
            await client.call_tool('list_places', {})
        made.mission_id = 'another'
        await client.call_tool('list_places', {})
        uri = 'robot://missions/kitchen%2F1%20%26%20co/events'
        whole = await read(client, uri)
        assert whole['mission_id'] == 'kitchen/1 & co'
        assert whole['next_after'] is None
        first = whole['events'][0]['seq']  # before it are records that belong to no mission
        assert [event['seq'] for event in whole['events']] == list(range(first, first + 10))
        assert await pages(client, uri) == whole['events']


async def test_an_event_list_stays_within_its_bound(tmp_path: Path) -> None:
    bounded = McpSettings(port=0, max_resource_bytes=4096)
    async with rig(tmp_path, settings=bounded) as made, connected(made, ERAS[1]) as client:
        made.mission_id = 'm'
        for size in (10, 900, 900, 900, 900, 50_000, 10):
            await client.call_tool('get_action', {'action_id': 'x' * size})
        events: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            uri = f'robot://missions/m/events?after={after}'
            (content,) = (await client.read_resource(uri)).contents
            assert len(content.text.encode()) <= 4096
            page = json.loads(content.text)
            events += page['events']
            after = page['next_after']
        first = events[0]['seq']  # after the records of the start
        assert [event['seq'] for event in events] == list(range(first, first + 14))
        assert 'omitted' in events[10]['payload']
        assert 'arguments' in events[0]['payload']


async def test_a_snapshot_beyond_the_bound_is_projected(tmp_path: Path) -> None:
    bounded = McpSettings(port=0, max_resource_bytes=1024)
    async with rig(tmp_path, settings=bounded) as made, connected(made, ERAS[1]) as client:
        (content,) = (await client.read_resource('robot://world/latest')).contents
        assert len(content.text.encode()) <= 1024
        assert json.loads(content.text)['map_pose']['x_m'] == 0.0


NOT_THERE = [
    'robot://snapshots/nope',
    'robot://actions/' + '0' * 32,
    'robot://missions/nope/events',
    'robot://missions/m',
    'robot://missions/m/events/1',
    'robot://snapshots/snapshot-1/events',
    'robot://snapshots/',
    'robot://snapshots/..%2Factions',
    'robot://world/first',
    'file:///etc/passwd',
    'robot://missions/m/events?after=-1',
    'robot://missions/m/events?limit=0',
    'robot://missions/m/events?limit=1001',
    'robot://missions/m/events?after=99999999999999999999',
    'robot://missions/m/events?after=²',
    'robot://missions/m/events?before=1',
    'robot://snapshots/' + 'x' * 5000,
    'robot://[missions/x/events',
    'robot://missions]/x/events',
    'robot://[v1.x]/a',
    'robot://snapshots\u2100/x',
    'robot://missions/\u202e/events',
    'robot://actions/\U0001f600',
    'robot://actions/%F0%9F',
    'robot://actions/%ED%A0%80',
    'robot://missions/%00/events',
    'robot://missions/../events',
    'robot:missions/m/events',
    'robot://missions/m/events#here',
    f'robot://actions/{"0" * 32}?x=1',
    'robot://user:secret@world/latest',
    'robot://world/latest#here',
    'http://[::1/',
    'robot:',
]


async def test_what_is_not_there_is_the_sdks_not_found_error(
    tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'm'
        await client.call_tool('list_places', {})
        for uri in NOT_THERE:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.code == -32602
            assert caught.value.data['uri'] == uri[:512]
            assert len(caught.value.message) < 1024
    assert 'Traceback' not in caplog.text


async def test_a_uri_with_half_a_character_names_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        for half in ('robot://actions/\ud800', 'robot://missions/x\udfff/events', '\ud800'):
            with pytest.raises(MCPError) as caught:
                await made.server._resources.read(half)
            assert caught.value.code == -32602
            assert caught.value.data['uri'] == half.translate({0xD800: '?', 0xDFFF: '?'})


async def test_what_memory_has_forgotten_is_read_from_the_journal(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path, ids=RandomIds()) as made, connected(made, era) as client:
        made.mission_id = 'mission-1'
        seen = (await client.call_tool('get_world_snapshot', {})).structured_content
        sent = await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': 0.0})
        action_id = sent.structured_content['action_id']
        made.arrive(2.0, 0.0)
        await client.call_tool('wait_for_action', {'action_id': action_id})
        action = await read(client, f'robot://actions/{action_id}')
        snapshot = await read(client, f'robot://snapshots/{seen["snapshot_id"]}')
    async with rig(tmp_path, ids=RandomIds()) as made, connected(made, era) as client:
        assert await read(client, f'robot://actions/{action_id}') == action
        assert await read(client, f'robot://snapshots/{seen["snapshot_id"]}') == snapshot


async def test_a_journal_that_cannot_be_read_is_an_error_that_says_so(
    tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise JournalUnavailableError('no journal today')

    async with rig(tmp_path) as made, connected(made, era) as client:
        monkeypatch.setattr(history_module, 'JournalReader', fail)
        for uri in (
            'robot://missions/m/events',
            'robot://actions/' + '0' * 32,
            'robot://snapshots/nope',
        ):
            with pytest.raises(MCPError, match='no journal today') as caught:
                await client.read_resource(uri)
            assert caught.value.code == -32603
