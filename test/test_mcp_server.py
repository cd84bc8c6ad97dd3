# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The MCP server with the SDK's own client over HTTP, against the real core, in both eras."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio
from mcp import MCPError
from mcp.types import PromptReference
from mcp_rig import answer_of, BOUND_S, connected, ERAS, RawClient, rig
import pytest

from robot_agent_harness.events import EventType
from robot_agent_harness.mcp_server import clients, McpSettings
from robot_agent_harness.mcp_server import progress as progress_module
from robot_agent_harness.mcp_server.clients import CLIENTS_KEPT
from robot_agent_harness.mcp_server.progress import Progress
from robot_agent_harness.mcp_server.requests import DECISION_KEY

pytestmark = pytest.mark.anyio
GOAL = {'x': 2.0, 'y': 0.0}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_client_sends_the_robot_and_learns_the_verified_outcome(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        accepted = await client.call_tool('navigate_to_pose', GOAL)
        assert not accepted.is_error
        assert accepted.structured_content['status'] == 'accepted'
        action_id = accepted.structured_content['action_id']
        assert [goal_id for goal_id, _ in made.nav2.sent] == [action_id]
        made.arrive(2.0, 0.0)
        told = await client.call_tool('wait_for_action', {'action_id': action_id})
        assert told.structured_content['state'] == 'SUCCEEDED'
        assert told.structured_content['reason'] == 'verified'
        assert not told.is_error
        kinds = [event.type for event in made.records()]
        order = [
            EventType.TOOL_CALL_RECORDED,
            EventType.ACTION_PRECONDITION_CHECKED,
            EventType.ROBOT_ACTION_STARTED,
            EventType.TOOL_RESULT_RECORDED,
            EventType.ROBOT_ACTION_OUTCOME,
        ]
        assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)


async def test_the_journal_says_which_client_called_and_never_with_what_token(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        await client.call_tool('list_places', {})
        recorded = made.calls()[0]['client']
        assert recorded['kind'] == 'mcp'
        assert recorded['client_name'] == 'tester'
        assert recorded['client_version'] == '1.2.3'
        assert recorded['protocol_version'] == ('2025-11-25' if era == 'legacy' else '2026-07-28')
        assert ('session' in recorded) == (era == 'legacy')
        assert 'request_id' in recorded


async def test_calls_belong_to_the_mission_that_is_under_way(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.mission_id = 'mission-7'
        await client.call_tool('navigate_to_pose', GOAL)
        (call,) = made.records(EventType.TOOL_CALL_RECORDED)
        (action,) = made.records(EventType.ROBOT_ACTION_STARTED)
        assert (call.mission_id, action.mission_id) == ('mission-7', 'mission-7')


async def test_a_tool_that_does_not_exist_is_recorded_and_answered(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        answer = await client.call_tool('fly', {'height': 3})
        assert answer.is_error
        assert answer.structured_content['status'] == 'unknown_tool'
        assert made.calls()[0]['name'] == 'fly'
        assert made.results()[0]['status'] == 'unknown_tool'


async def test_arguments_of_the_wrong_shape_move_nothing_and_are_kept_as_received(
    tmp_path: Path, era: str
) -> None:
    wrong = [
        ({'x': '2.0', 'y': '0', 'yaw': '0', 'frame_id': 'map'}, 'x'),
        ({'x': '1,5', 'y': 0, 'yaw': 0, 'frame_id': 'map'}, 'x'),
        ({'pose': '{"x":2,"y":0}'}, 'pose'),
        ({'x': 2, 'y': 0, 'jaw': 1}, 'jaw'),
        ({'x': 2}, 'y'),
        ({}, 'x'),
    ]
    async with rig(tmp_path) as made, connected(made, era) as client:
        for arguments, named in wrong:
            answer = await client.call_tool('navigate_to_pose', arguments)
            assert answer.is_error
            assert answer.structured_content['status'] == 'invalid_arguments'
            assert f' {named}: ' in answer.content[0].text
            assert made.calls()[-1]['arguments'] == arguments
        assert {result['status'] for result in made.results()} == {'invalid_arguments'}
        assert len(made.results()) == len(wrong)
        assert made.nav2.sent == []


async def test_numbers_that_json_does_not_have_move_nothing(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        message = raw.request('tools/call', {'name': 'navigate_to_pose', 'arguments': GOAL}, 1)
        for text in ('NaN', '-Infinity', '1e999'):
            body = json.dumps(message).replace('"x": 2.0', f'"x": {text}')
            headers = {**raw.headers_for(message), 'content-type': 'application/json'}
            answer = await raw.http.post(raw.url, content=body, headers=headers)
            assert answer.status_code == 400 or (
                answer_of(answer)['result']['structuredContent']['status'] == 'invalid_arguments'
            )
        assert made.nav2.sent == []
        assert 'result' in await raw.call('list_places', {})


async def test_arguments_that_are_no_object_are_recorded_and_refused(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        for arguments in ('{"x": 2, "y": 0}', ['x', 2], 7, True, False, ''):
            answer = await raw.call('navigate_to_pose', arguments)
            assert answer['result']['isError'] is True
            assert answer['result']['structuredContent']['status'] == 'invalid_arguments'
            assert made.calls()[-1]['arguments'] == arguments
            assert made.results()[-1]['status'] == 'invalid_arguments'
            # What one call could not use must not reach the next one.
            assert 'result' in await raw.call('list_places', {})
            assert made.results()[-1]['status'] == 'completed'


async def test_arguments_nested_without_end_are_refused_and_the_server_goes_on(
    tmp_path: Path, era: str
) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = {'x': deep}
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        answer = await raw.call('navigate_to_pose', deep)
        assert answer['result']['structuredContent']['status'] == 'invalid_arguments'
        assert 'result' in await raw.call('list_places', {})
        assert len(made.results()) == 2


async def test_finish_mission_is_refused_even_where_the_registry_has_it(tmp_path: Path) -> None:
    def offer(core: Any) -> None:
        listed = core.registry._skills
        listed['finish_mission'] = listed['list_places']

    async with rig(tmp_path, wrap=offer) as made, connected(made, ERAS[1]) as client:
        assert 'finish_mission' not in [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool('finish_mission', {})
        assert answer.is_error
        assert [result['status'] for result in made.results()] == ['invalid_arguments']


# -- the snapshot that a decision was made from --------------------------------------------------


async def test_a_call_is_bound_to_the_snapshot_that_its_meta_names(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        seen = (await client.call_tool('get_world_snapshot', {})).structured_content
        await client.call_tool('get_world_snapshot', {})
        await client.call_tool('navigate_to_pose', GOAL, meta={DECISION_KEY: seen['snapshot_id']})
        assert made.calls()[-1]['decision_snapshot_id'] == seen['snapshot_id']


async def test_a_call_is_bound_to_the_newest_snapshot_that_this_client_was_given(
    tmp_path: Path, era: str
) -> None:
    async with (
        rig(tmp_path) as made,
        connected(made, era, name='a') as client,
        connected(made, era, name='b') as other,
    ):
        await client.call_tool('get_world_snapshot', {})
        seen = (await client.call_tool('get_world_snapshot', {})).structured_content
        await other.call_tool('get_world_snapshot', {})
        await client.call_tool('navigate_to_pose', GOAL)
        assert made.calls()[-1]['decision_snapshot_id'] == seen['snapshot_id']


@pytest.mark.parametrize('which', ['latest', 'by id'])
async def test_a_snapshot_read_as_a_resource_binds_as_well(
    tmp_path: Path, era: str, which: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        snapshot_id = made.core.observer.capture(None).snapshot_id
        uri = f'robot://snapshots/{snapshot_id}' if which == 'by id' else 'robot://world/latest'
        (content,) = (await client.read_resource(uri)).contents
        await client.call_tool('navigate_to_pose', GOAL)
        bound = made.calls()[-1]['decision_snapshot_id']
        assert f'"snapshot_id":"{bound}"' in content.text


async def test_a_refusal_gives_the_snapshot_that_the_next_decision_is_bound_to(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        await client.call_tool('get_world_snapshot', {})
        made.robot.place(1.0, 0.0)
        made.observe()
        refused = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        assert refused['status'] == 'precondition_changed'
        assert [check['name'] for check in refused['failed_checks']] == ['pose_drift']
        again = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        assert again['status'] == 'accepted'
        assert made.calls()[-1]['decision_snapshot_id'] == refused['snapshot_id']
        assert len(made.nav2.sent) == 1


async def test_a_client_that_saw_nothing_is_bound_to_the_moment_of_its_call(
    tmp_path: Path, era: str
) -> None:
    async with (
        rig(tmp_path) as made,
        connected(made, era, name='a') as client,
        connected(made, era, name='b') as other,
    ):
        seen = (await other.call_tool('get_world_snapshot', {})).structured_content
        await client.call_tool('navigate_to_pose', GOAL)
        bound = made.calls()[-1]['decision_snapshot_id']
        assert bound not in (None, seen['snapshot_id'])


async def test_a_client_without_a_name_or_session_is_bound_to_the_moment_of_its_call(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, ERAS[1]) as raw:
        message = raw.request('tools/call', {'name': 'get_world_snapshot', 'arguments': {}}, 1)
        del message['params']['_meta']['io.modelcontextprotocol/clientInfo']
        # Nor does the header of the other era make it somebody.
        raw.headers['mcp-session-id'] = 'borrowed'
        assert (await raw.post(message)).status_code == 200
        message['params'].update(name='navigate_to_pose', arguments=GOAL)
        assert (await raw.post(message)).status_code == 200
        first, second = made.calls()
        assert first['decision_snapshot_id'] is None
        assert second['decision_snapshot_id'] not in (None, 'snapshot-1')
        assert 'session' not in second['client']


async def test_nobody_who_only_looks_makes_the_harness_forget_what_another_saw(
    tmp_path: Path, era: str
) -> None:
    tokens = tmp_path / 'tokens'
    tokens.write_text(f'dashboard observe {"l" * 32}\noperator observe,act {"a" * 32}\n')
    tokens.chmod(0o600)
    settings = McpSettings(port=0, token_file=tokens, max_requests_per_s=1e6)
    async with (
        rig(tmp_path, settings=settings) as made,
        connected(made, era, token='a' * 32) as operator,
    ):
        looked = await operator.call_tool('get_world_snapshot', {})
        headers = {'authorization': f'Bearer {"l" * 32}'}
        async with RawClient.connected(made, ERAS[1], headers=headers) as raw:
            for number in range(2 * CLIENTS_KEPT):
                raw.info['name'] = str(number)
                uri = {'uri': 'robot://world/latest'}
                read = await raw.post(raw.request('resources/read', uri, number))
                assert read.status_code == 200
        await operator.call_tool('list_places', {})
        call = made.calls()[-1]
        assert call['decision_snapshot_id'] == looked.structured_content['snapshot_id']


async def test_a_client_that_may_have_been_forgotten_must_look_again(
    tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, 'CLIENTS_KEPT', 1)
    async with (
        rig(tmp_path) as made,
        connected(made, era, name='a') as one,
        connected(made, era, name='b') as two,
    ):
        await one.call_tool('get_world_snapshot', {})
        await two.call_tool('get_world_snapshot', {})
        refused = (await one.call_tool('navigate_to_pose', GOAL)).structured_content
        assert refused['status'] == 'precondition_changed'
        assert made.nav2.sent == []
        # The refusal has shown it the world.
        again = (await one.call_tool('navigate_to_pose', GOAL)).structured_content
        assert again['status'] == 'accepted'


async def test_a_call_that_names_an_unknown_snapshot_is_refused(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        answer = await client.call_tool('navigate_to_pose', GOAL, meta={DECISION_KEY: 'nope'})
        assert answer.structured_content['status'] == 'precondition_changed'
        assert made.calls()[0]['decision_snapshot_id'] == 'nope'
        assert made.nav2.sent == []


async def test_a_decision_id_that_is_none_makes_the_arguments_invalid(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        for named in (7, ['snapshot-1'], {'id': 1}, True, '', 'x' * 129):
            answer = await client.call_tool('navigate_to_pose', GOAL, meta={DECISION_KEY: named})
            assert answer.structured_content['status'] == 'invalid_arguments'
            assert DECISION_KEY in answer.content[0].text
            assert made.results()[-1]['status'] == 'invalid_arguments'
        assert made.nav2.sent == []


# -- several clients, and clients that go away ---------------------------------------------------


async def test_two_clients_with_the_same_json_rpc_ids_get_their_own_answers(
    tmp_path: Path, era: str
) -> None:
    async with (
        rig(tmp_path) as made,
        RawClient.connected(made, era, name='a') as one,
        RawClient.connected(made, era, name='b') as two,
    ):
        answers: dict[str, Any] = {}

        async def ask(who: RawClient, name: str, arguments: Any) -> None:
            answers[name] = await who.call(name, arguments, request_id=5)

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, one, 'hold', {})
                await made.gate.started.wait()
                group.start_soon(ask, two, 'list_places', {})
                await made.recorded_results(1)
                made.gate.go_on.set()
        assert answers['hold']['result']['structuredContent']['message'] == 'held'
        assert 'places' in answers['list_places']['result']['structuredContent']
        assert [answer['id'] for answer in answers.values()] == [5, 5]
        calls = made.records(EventType.TOOL_CALL_RECORDED)
        assert len({call.tool_call_id for call in calls}) == 2
        assert [call.payload['client']['request_id'] for call in calls] == [5, 5]


async def test_of_two_clients_that_want_the_robot_one_gets_it_and_the_other_the_truth(
    tmp_path: Path, era: str
) -> None:
    async with (
        rig(tmp_path) as made,
        connected(made, era, name='a') as one,
        connected(made, era, name='b') as two,
    ):
        answers: list[dict[str, Any]] = []

        async def go(client: Any, y: float) -> None:
            answer = await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': y})
            answers.append(answer.structured_content)

        async with anyio.create_task_group() as group:
            group.start_soon(go, one, 0.0)
            group.start_soon(go, two, 1.0)
        assert sorted(answer['status'] for answer in answers) == [
            'accepted',
            'precondition_changed',
        ]
        assert len(made.nav2.sent) == 1
        assert len(made.results()) == 2


async def test_a_client_that_disconnects_leaves_its_call_to_end_and_the_server_to_serve(
    tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made:
        async with RawClient.connected(made, era) as raw, anyio.create_task_group() as group:
            group.start_soon(raw.call, 'hold', {})
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            group.cancel_scope.cancel()
        made.gate.progress = (1.0, 2.0)
        made.gate.go_on.set()
        results = await made.recorded_results(1)
        assert [result['status'] for result in results] == ['completed']
        async with connected(made, era) as client:
            assert not (await client.call_tool('list_places', {})).is_error
    assert [record for record in caplog.records if record.levelname in ('ERROR', 'CRITICAL')] == []


async def test_a_client_that_disconnects_before_acceptance_does_not_disturb_the_action(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made:
        made.nav2.accept_after_s = None
        async with RawClient.connected(made, era) as raw, anyio.create_task_group() as group:
            group.start_soon(raw.call, 'navigate_to_pose', GOAL)
            with anyio.fail_after(BOUND_S):
                while not made.nav2.sent:
                    await asyncio.sleep(0.005)
            group.cancel_scope.cancel()
        made.nav2.respond(True)
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'accepted'
        made.arrive(2.0, 0.0)
        action = await made.core.tracker.wait(made.nav2.own_goal, BOUND_S)
        assert action is not None
        assert action.state.value == 'SUCCEEDED'
        async with connected(made, era) as client:
            assert not (await client.call_tool('get_world_snapshot', {})).is_error
        assert len(made.nav2.sent) == 1
        assert made.nav2.cancel_requests == []


async def test_a_client_that_cancels_its_request_ends_its_own_waiting_only(
    tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, 'hold', {})
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            group.cancel_scope.cancel()
        assert not (await client.call_tool('list_places', {})).is_error
        made.gate.go_on.set()
        results = await made.recorded_results(2)
        assert sorted(result['status'] for result in results) == ['completed', 'completed']
    assert [record for record in caplog.records if record.levelname in ('ERROR', 'CRITICAL')] == []


# -- progress ------------------------------------------------------------------------------------


async def test_progress_reaches_the_client_that_asked_and_only_increases(
    tmp_path: Path, era: str
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with rig(tmp_path) as made, connected(made, era) as client:
        made.gate.progress = (0.0, 1.0, 1.0, 0.5, float('nan'), 2.0)
        made.gate.go_on.set()
        await client.call_tool('hold', {}, progress_callback=on_progress)
        with anyio.fail_after(BOUND_S):
            while len(told) < 3:
                await asyncio.sleep(0.005)
        assert [entry[0] for entry in told] == [0.0, 1.0, 2.0]
        assert told[-1] == (2.0, 10.0, 'at 2.0')


async def test_without_a_token_there_is_no_progress(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        made.gate.progress = (1.0,)
        made.gate.go_on.set()
        params = {'name': 'hold', 'arguments': {}}
        answer = await raw.post(raw.request('tools/call', params, 1))
        assert 'notifications/progress' not in answer.text


async def test_a_client_that_does_not_read_its_progress_holds_up_no_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stuck:
        reports = 0
        meta = MappingProxyType({'progress_token': 1})

        @property
        def session(self) -> Stuck:
            return self

        async def report_progress(self, *_: object) -> None:
            self.reports += 1
            await asyncio.Event().wait()

    monkeypatch.setattr(progress_module, 'PROGRESS_S', 0.01)
    stuck = Stuck()
    progress = Progress.of(stuck)  # type: ignore[arg-type]
    assert progress is not None
    with anyio.fail_after(BOUND_S):
        for number in range(100):
            await progress(float(number), None, 'on the way')
    assert stuck.reports == 1


async def test_a_crash_of_a_tool_is_an_answer_without_its_text(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        answer = await client.call_tool('_crash', {})
        assert answer.structured_content['status'] == 'tool_error'
        assert 'secret' not in str(answer)
        assert made.results()[0]['status'] == 'tool_error'


async def test_a_method_that_is_not_served_is_a_protocol_error(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        ref = PromptReference(name='mission_briefing')
        with pytest.raises(MCPError, match='Method not found'):
            await client.complete(ref, {'name': 'x', 'value': ''})
