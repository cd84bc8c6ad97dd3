# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Managed calls as tasks (SEP-2663): with the SDK's client, and request by request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
import contextlib
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.types import CallToolResult, Request, RequestParams, Result
from mcp_rig import answer_of, BOUND_S, connected, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.clock import RandomIds
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import EventType
from robot_agent_harness.mcp_server.history import History
from robot_agent_harness.mcp_server.requests import IDEMPOTENCY_KEY
from robot_agent_harness.mcp_server.settings import McpSettings
from robot_agent_harness.mcp_server.tasks import IDENTIFIER
from robot_agent_harness.recovery import adopt, recover
from robot_agent_harness.testing.journal_assertions import check_journal

pytestmark = pytest.mark.anyio
MODERN = ERAS[1]
GOAL = {'x': 2.0, 'y': 0.0}
CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
DECLARED = {CAPABILITIES: {'extensions': {IDENTIFIER: {}}}}
TASK_KEYS = {
    'taskId',
    'status',
    'statusMessage',
    'createdAt',
    'lastUpdatedAt',
    'ttlMs',
    'pollIntervalMs',
}
"""What the extension's schema has of every task."""


class TaskRaw:
    """A client that declares the extension and sends every request by hand."""

    def __init__(self, raw: RawClient) -> None:
        self.raw = raw

    async def call(self, name: str, arguments: Any, **meta: Any) -> Any:
        return (await self.raw.call(name, arguments, **DECLARED, **meta))['result']

    async def answer(self, method: str, task_id: str, **params: Any) -> Any:
        """Return the whole answer to a request about a task."""
        params = {'taskId': task_id, **params, '_meta': DECLARED}
        return answer_of(await self.raw.post(self.raw.request(method, params, 7)))

    async def get(self, task_id: str) -> Any:
        return (await self.answer('tasks/get', task_id))['result']

    async def settled(self, task_id: str) -> Any:
        """Ask until the task has ended."""
        for _ in range(1000):
            task = await self.get(task_id)
            if task['status'] != 'working':
                return task
            await asyncio.sleep(0.005)
        raise TimeoutError(task)


@contextlib.asynccontextmanager
async def tasking(made: Rig, **options: Any) -> AsyncIterator[TaskRaw]:
    async with RawClient.connected(made, MODERN, **options) as raw:
        yield TaskRaw(raw)


# -- with the SDK's client -----------------------------------------------------------------------


class TaskHandle(Result):
    result_type: Literal['task'] = 'task'
    task_id: str


class TaskIdParams(RequestParams):
    task_id: str


class GetTask(Request[TaskIdParams, Literal['tasks/get']]):
    method: Literal['tasks/get'] = 'tasks/get'


class TaskState(Result):
    status: str
    result: dict[str, Any] | None = None


class Polling(ClientExtension):
    """Follows a task until it has ended, as an MCP client does that has the extension."""

    identifier = IDENTIFIER
    seen: Sequence[str] = ()

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type='task', model=TaskHandle, resolve=self._resolve)]

    async def _resolve(self, handle: TaskHandle, context: ClaimContext) -> CallToolResult:
        self.seen = []
        while True:
            request = GetTask(params=TaskIdParams(task_id=handle.task_id))
            task = await context.session.send_request(request, TaskState)
            self.seen.append(task.status)
            if task.status != 'working':
                return CallToolResult.model_validate(task.result)
            await asyncio.sleep(0.01)


async def test_the_sdks_client_follows_a_task_to_the_verified_outcome(tmp_path: Path) -> None:
    polling = Polling()
    async with rig(tmp_path) as made, connected(made, MODERN, extensions=[polling]) as client:
        calling = asyncio.ensure_future(client.call_tool('navigate_to_pose', GOAL))
        await made.until(lambda: len(polling.seen) > 1)
        made.arrive(2.0, 0.0)
        answer = await asyncio.wait_for(calling, BOUND_S)
        assert not answer.is_error
        assert answer.structured_content['state'] == 'SUCCEEDED'
        assert set(polling.seen[:-1]) == {'working'}
        assert polling.seen[-1] == 'completed'


# -- what a task is ------------------------------------------------------------------------------


async def test_a_task_is_on_disk_before_it_is_told_and_holds_what_the_extension_asks_for(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        (started,) = made.records(EventType.ROBOT_ACTION_STARTED)
        assert task['resultType'] == 'task'
        assert task['taskId'] == started.action_id == made.nav2.own_goal
        assert task['status'] == 'working'
        assert set(task) - {'resultType', '_meta'} == TASK_KEYS
        assert task['ttlMs'] is None
        assert task['pollIntervalMs'] > 0
        for key in ('createdAt', 'lastUpdatedAt'):
            assert datetime.fromisoformat(task[key].replace('Z', '+00:00')).year == 2026
        got = await client.get(task['taskId'])
        assert got['resultType'] == 'complete'
        assert got['status'] == 'working'
        assert set(got) - {'resultType', '_meta'} == TASK_KEYS


async def test_a_completed_task_holds_the_outcome_as_the_tools_result(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        made.arrive(2.0, 0.0)
        ended = await client.settled(task['taskId'])
        assert ended['status'] == 'completed'
        result = ended['result']
        assert result['isError'] is False
        assert result['structuredContent']['status'] == 'completed'
        assert result['structuredContent']['state'] == 'SUCCEEDED'
        assert result['structuredContent']['reason'] == 'verified'
        assert result['structuredContent']['evidence']
        await _satisfies_the_schema(made, result)
        # It showed the world after the action: the next call is held against that.
        made.observe()
        again = await client.call('navigate_to_pose', {'x': 3.0, 'y': 0.0})
        assert again['resultType'] == 'task'
    assert check_journal(made.journal, finished=False) == []


async def _satisfies_the_schema(made: Rig, result: dict[str, Any]) -> None:
    async with connected(made, MODERN) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    Draft202012Validator(tools['navigate_to_pose'].output_schema).validate(
        result['structuredContent']
    )


async def test_an_unknown_outcome_is_a_completed_task_with_an_error_that_says_what_is_known(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        made.nav2.result(GoalStatus.UNKNOWN, {})  # the controller does not know it any more
        await made.until(lambda: made.core.board.get(task['taskId']))
        made.observe(1.0)
        made.nav2.status()
        ended = await client.settled(task['taskId'])
        assert ended['status'] == 'completed'
        told = ended['result']['structuredContent']
        assert ended['result']['isError'] is True
        assert (told['status'], told['state'], told['reason']) == (
            'tool_error',
            'UNKNOWN',
            'result_lost',
        )
        assert told['evidence']['why']
        await _satisfies_the_schema(made, ended['result'])


async def test_a_failed_action_is_a_completed_task_with_an_error(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        made.nav2.result(GoalStatus.ABORTED, {'error_code': 9001, 'error_msg': 'no path'})
        ended = await client.settled(task['taskId'])
        assert ended['status'] == 'completed'
        assert ended['result']['isError'] is True
        assert ended['result']['structuredContent']['reason'] == 'aborted'
        assert 'no path' in ended['statusMessage']
        await _satisfies_the_schema(made, ended['result'])


async def test_a_goal_that_nobody_answered_is_a_task_too(tmp_path: Path) -> None:
    quick = {'navigation.accept_timeout_s': 0.1}
    async with rig(tmp_path, parameters=quick) as made, tasking(made) as client:
        made.nav2.accept_after_s = None
        calling = asyncio.ensure_future(client.call('navigate_to_pose', GOAL))
        await made.until(lambda: made.nav2.sent)
        made.observe(0.2)
        made.nav2.status()
        task = await calling
        assert task['resultType'] == 'task'
        ended = await client.settled(task['taskId'])
        assert ended['result']['structuredContent']['status'] == 'acceptance_unknown'


async def test_what_started_nothing_is_answered_at_once(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        wrong = await client.call('navigate_to_pose', {'x': 'far'})
        assert wrong['structuredContent']['status'] == 'invalid_arguments'
        looked = await client.call('get_world_snapshot', {})
        assert looked['structuredContent']['status'] == 'completed'
        await client.call('navigate_to_pose', GOAL)
        busy = await client.call('navigate_to_pose', {'x': 0.0, 'y': 1.0})
        assert busy['structuredContent']['status'] == 'precondition_changed'
        assert {result['resultType'] for result in (wrong, looked, busy)} == {'complete'}


# -- cancel, update, restart ---------------------------------------------------------------------


async def test_a_task_can_be_cancelled_as_a_recorded_call(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        made.nav2.cancel_code = 0
        task = await client.call('navigate_to_pose', GOAL)
        answer = await client.answer('tasks/cancel', task['taskId'])
        assert set(answer['result']) <= {'resultType', '_meta'}
        assert answer['result']['resultType'] == 'complete'
        assert made.nav2.cancel_requests == [task['taskId']]
        assert [call['name'] for call in made.calls()] == ['navigate_to_pose', 'cancel_action']
        made.nav2.result(GoalStatus.CANCELED, {})
        ended = await client.settled(task['taskId'])
        assert ended['status'] == 'cancelled'
        assert 'cancelled' in ended['statusMessage']
        assert 'result' not in ended
        # Once more changes nothing, and asks the controller for nothing.
        assert 'result' in await client.answer('tasks/cancel', task['taskId'])
        assert made.nav2.cancel_requests == [task['taskId']]


async def test_a_task_that_arrives_before_it_is_cancelled_has_arrived(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        made.nav2.cancel_code = 3  # the goal had already ended
        task = await client.call('navigate_to_pose', GOAL)
        await client.answer('tasks/cancel', task['taskId'])
        made.arrive(2.0, 0.0)
        assert (await client.settled(task['taskId']))['status'] == 'completed'


async def test_an_update_is_acknowledged_and_changes_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        answers = {'name': {'action': 'accept', 'content': {}}}
        answer = await client.answer('tasks/update', task['taskId'], inputResponses=answers)
        assert answer['result']['resultType'] == 'complete'
        assert (await client.get(task['taskId']))['status'] == 'working'


async def test_a_task_outlives_the_harness_that_made_it(tmp_path: Path) -> None:
    async with rig(tmp_path, ids=RandomIds()) as made, tasking(made) as client:
        ended = (await client.call('navigate_to_pose', GOAL))['taskId']
        made.arrive(2.0, 0.0)
        await client.settled(ended)
        made.observe()
        await client.call('get_world_snapshot', {})
        interrupted = (await client.call('navigate_to_pose', {'x': 3.0, 'y': 0.0}))['taskId']
    async with rig(tmp_path, ids=RandomIds(), start=False) as made:
        await recover(made.core, adopt(made.core))
        await made.server.start()
        async with tasking(made) as client:
            told = (await client.get(ended))['result']['structuredContent']
            assert (told['state'], told['reason']) == ('SUCCEEDED', 'verified')
            told = (await client.get(interrupted))['result']
            assert told['isError'] is True
            assert told['structuredContent']['state'] == 'UNKNOWN'
            assert told['structuredContent']['status'] == 'interrupted'


@pytest.mark.parametrize('fault', [None, JournalUnavailableError('locked')])
async def test_a_task_outlives_the_file_that_it_was_recorded_in(
    tmp_path: Path, fault: Exception | None
) -> None:
    async def lost(self: History, action_id: str) -> None:
        if fault is not None:
            raise fault

    async with rig(tmp_path) as made, tasking(made) as client:
        task = await client.call('navigate_to_pose', GOAL)
        made.arrive(2.0, 0.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(History, 'action', lost)
            assert (await client.settled(task['taskId']))['status'] == 'completed'
            code = (await client.answer('tasks/get', '0' * 32))['error']['code']
            assert code == (-32602 if fault is None else -32603)


async def test_a_repeat_of_the_call_gets_the_same_task(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        key = {IDEMPOTENCY_KEY: 'k'}
        first = await client.call('navigate_to_pose', GOAL, **key)
        again = await client.call('navigate_to_pose', GOAL, **key)
        assert first['taskId'] == again['taskId']
        assert len(made.nav2.sent) == 1


# -- who may -------------------------------------------------------------------------------------


@pytest.mark.parametrize('era', ERAS)
async def test_a_client_that_does_not_declare_the_extension_sees_the_plain_tools(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        answer = await raw.call('navigate_to_pose', GOAL)
        accepted = answer['result']['structuredContent']
        assert accepted['status'] == 'accepted'
        assert answer['result'].get('resultType', 'complete') == 'complete'
        params = {'taskId': accepted['action_id']}
        refused = answer_of(await raw.post(raw.request('tasks/get', params, 2)))['error']
        if era == 'legacy':
            assert refused['code'] == -32601
        else:
            assert refused['code'] == -32021
            needed = refused['data']['requiredCapabilities']['extensions']
            assert needed == {IDENTIFIER: {}}


async def test_a_client_of_an_earlier_era_gets_no_task_even_if_it_asks_for_one(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, 'legacy') as raw:
        answer = await raw.call('navigate_to_pose', GOAL, **DECLARED)
        assert answer['result']['structuredContent']['status'] == 'accepted'


async def test_the_server_says_that_it_has_the_extension(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, MODERN) as raw:
        answer = answer_of(await raw.post(raw.request('server/discover', {}, 1)))
        assert answer['result']['capabilities']['extensions'] == {IDENTIFIER: {}}


@pytest.mark.parametrize('method', ['tasks/get', 'tasks/update', 'tasks/cancel'])
async def test_a_task_that_is_none_is_an_error(tmp_path: Path, method: str) -> None:
    async with rig(tmp_path) as made, tasking(made) as client, connected(made, MODERN) as plain:
        accepted = await plain.call_tool('navigate_to_pose', GOAL)
        for task_id in ('0' * 32, '', 'x' * 5000, accepted.structured_content['action_id']):
            error = (await client.answer(method, task_id, inputResponses={}))['error']
            assert error['code'] == -32602
            assert len(str(error)) < 1000
        assert made.nav2.cancel_requests == []


async def test_results_of_tasks_are_asked_for_with_get_only(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, tasking(made) as client:
        for method in ('tasks/result', 'tasks/list'):
            assert (await client.answer(method, 'x'))['error']['code'] == -32601


TOKENS = """\
alice observe,act alice-0123456789abcdef
bob observe,act bob-0123456789abcdef
carol observe carol-0123456789abcdef
"""


async def test_a_task_belongs_to_the_token_that_made_it(tmp_path: Path) -> None:
    file = tmp_path / 'tokens'
    file.write_text(TOKENS)
    file.chmod(0o600)
    settings = McpSettings(port=0, token_file=file)

    def bearer(name: str) -> dict[str, str]:
        return {'authorization': f'Bearer {name}-0123456789abcdef'}

    async with (
        rig(tmp_path, settings=settings) as made,
        tasking(made, headers=bearer('alice')) as alice,
        tasking(made, headers=bearer('bob')) as bob,
        tasking(made, headers=bearer('carol')) as carol,
    ):
        task = await alice.call('navigate_to_pose', GOAL)
        for stranger in (bob, carol):
            for method in ('tasks/get', 'tasks/cancel', 'tasks/update'):
                refused = await stranger.answer(method, task['taskId'], inputResponses={})
                assert refused['error']['code'] == -32602
        assert made.nav2.cancel_requests == []
        assert (await alice.get(task['taskId']))['status'] == 'working'
