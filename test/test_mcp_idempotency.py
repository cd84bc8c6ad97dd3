# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests that are repeated: two calls, or one, as the client's key says."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp_rig import connected, ERAS, Rig, rig
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.clock import RandomIds, SystemClock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import Correlation, EventType, SalientEvent
from robot_agent_harness.journal.keys_in_force import KEYS_KEPT
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.mcp_server.requests import IDEMPOTENCY_KEY
from robot_agent_harness.replay import replay_journal
from robot_agent_harness.skills import repeats as repeats_module
from robot_agent_harness.skills.call import IdempotencyKey
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.repeats import Repeats
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.testing.virtual_time import run_virtual

GOAL = {'x': 2.0, 'y': 0.0}
KEY = {IDEMPOTENCY_KEY: '7f6c1d2e-0001'}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def go(client: Any, meta: dict[str, Any] | None = None, **goal: float) -> Any:
    answer = await client.call_tool('navigate_to_pose', {**GOAL, **goal}, meta=meta)
    return answer.structured_content


def first_of(made: Rig) -> Any:
    return made.records(EventType.TOOL_CALL_RECORDED)[0]


@pytest.mark.anyio
async def test_a_request_repeated_without_a_key_is_a_call_of_its_own_and_learns_of_the_first(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        first = await go(client)
        made.observe(10.0)
        second = await go(client)
        assert first['status'] == 'accepted'
        assert second['status'] == 'precondition_changed'
        assert first['action_id'] in second['message']
        assert len(made.nav2.sent) == 1
        calls = made.records(EventType.TOOL_CALL_RECORDED)
        assert len({call.tool_call_id for call in calls}) == len(made.results()) == 2
        assert all(call.payload['repeat_of'] is None for call in calls)


@pytest.mark.anyio
async def test_a_request_repeated_under_its_key_gets_the_first_result_and_nothing_is_sent_again(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        first = await go(client, KEY)
        made.arrive(2.0, 0.0)
        await client.call_tool('wait_for_action', {'action_id': first['action_id']})
        assert await go(client, KEY) == first
        assert len(made.nav2.sent) == 1
        calls = [e for e in made.records(EventType.TOOL_CALL_RECORDED) if e.payload['idempotency']]
        assert [call.payload['repeat_of'] for call in calls] == [None, calls[0].tool_call_id]
        assert KEY[IDEMPOTENCY_KEY] not in str([call.payload for call in calls])
        assert len(made.results()) == 3
    assert check_journal(made.journal) == []


@pytest.mark.anyio
async def test_a_repeat_waits_for_the_first_while_that_is_still_under_way(
    tmp_path: Path, era: str
) -> None:
    async with (
        rig(tmp_path) as made,
        connected(made, era) as client,
        connected(made, era) as again,
    ):
        made.nav2.accept_after_s = None
        answers: list[Any] = []

        async def ask(who: Any) -> None:
            answers.append(await go(who, KEY))

        async with anyio.create_task_group() as group:
            group.start_soon(ask, client)
            await made.until(lambda: made.nav2.sent)
            group.start_soon(ask, again)
            await made.until(lambda: len(made.calls()) == 2)
            assert answers == []
            made.nav2.respond(True)
        assert answers[0] == answers[1]
        assert answers[0]['status'] == 'accepted'
        assert len(made.nav2.sent) == 1


@pytest.mark.anyio
async def test_the_same_key_for_something_else_is_refused(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        first = await go(client, KEY)
        other = await go(client, KEY, x=3.0)
        looked = (await client.call_tool('list_places', {}, meta=KEY)).structured_content
        assert other['status'] == looked['status'] == 'invalid_arguments'
        assert 'idempotency key' in other['message']
        assert await go(client, KEY) == first
        assert len(made.nav2.sent) == 1


@pytest.mark.anyio
async def test_another_clients_key_is_another_key(tmp_path: Path, era: str) -> None:
    async with (
        rig(tmp_path) as made,
        connected(made, era, name='a') as one,
        connected(made, era, name='b') as two,
    ):
        assert (await go(one, KEY))['status'] == 'accepted'
        assert (await go(two, KEY))['status'] == 'precondition_changed'


@pytest.mark.anyio
@pytest.mark.parametrize('key', [7, ['a'], {'a': 1}, True, '', 'x' * 129])
async def test_a_key_that_is_none_makes_the_arguments_invalid(tmp_path: Path, key: Any) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        answer = await go(client, {IDEMPOTENCY_KEY: key})
        assert answer['status'] == 'invalid_arguments'
        assert IDEMPOTENCY_KEY in answer['message']
        assert made.nav2.sent == []


@pytest.mark.anyio
async def test_a_key_holds_across_a_restart_of_the_harness(tmp_path: Path, era: str) -> None:
    async with (
        rig(tmp_path, ids=RandomIds()) as made,
        connected(made, era) as client,
    ):
        first = await go(client, KEY)
        refused = await go(client, {IDEMPOTENCY_KEY: 'busy'}, x=1.0)
        assert refused['status'] == 'precondition_changed'
        made.arrive(2.0, 0.0)
        await client.call_tool('wait_for_action', {'action_id': first['action_id']})
    async with (
        rig(tmp_path, ids=RandomIds()) as made,
        connected(made, era) as client,
    ):
        assert await go(client, KEY) == first
        assert await go(client, {IDEMPOTENCY_KEY: 'busy'}, x=1.0) == refused
        assert (await go(client, KEY, x=9.0))['status'] == 'invalid_arguments'
        assert made.nav2.sent == []
        assert (await go(client, {IDEMPOTENCY_KEY: 'new'}))['status'] == 'accepted'
    assert check_journal(made.journal) == []


@pytest.mark.anyio
async def test_with_a_journal_that_cannot_be_read_a_call_with_a_key_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(journal: Path) -> Any:
        raise JournalUnavailableError('locked')

    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        with monkeypatch.context() as patch:
            patch.setattr(repeats_module, '_read', unreadable)
            assert (await go(client, KEY))['status'] == 'journal_unavailable'
            assert made.nav2.sent == []
        assert (await go(client, KEY))['status'] == 'accepted'


def test_a_call_that_an_earlier_run_left_open_must_have_its_result_before_its_key_is_used(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[ToolResult]:
        key = IdempotencyKey('me', 'k')
        async with Bench(tmp_path / 'j.db', nav2=ScriptableNav2(accept_after_s=None)) as bench:
            running = asyncio.create_task(
                bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
            )
            await asyncio.sleep(0.5)
            # Another process reads the journal as this one leaves it at the moment.
            later = Repeats(tmp_path / 'j.db')
            marks = key.marks('navigate_to_pose', {'x': 2, 'y': 0}, acts=True)
            early = await later.claim(marks, 'c', Interest())
            bench.nav2.respond(True)
            first = await running
            late = await later.claim(marks, 'c', Interest())
            return [first, await early.result, await late.result]

    first, early, late = run_virtual(scenario())
    assert early.status is ResultStatus.JOURNAL_UNAVAILABLE
    assert (late.status, late.data) == (first.status, first.data)


def test_a_call_withdrawn_before_anything_was_sent_frees_its_key(tmp_path: Path) -> None:
    async def scenario() -> tuple[ToolResult, int]:
        async with Bench(tmp_path / 'j.db') as bench:
            key = IdempotencyKey('me', 'k')
            bench.nav2.set_reachable(False)  # the call waits a moment for the server
            call = asyncio.create_task(
                bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
            )
            await asyncio.sleep(0.5)
            call.cancel()
            await asyncio.sleep(0.5)
            bench.nav2.set_reachable(True)
            await asyncio.sleep(1.0)
            again = await bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
            return again, len(bench.nav2.sent)

    again, sent = run_virtual(scenario())
    assert (again.status.value, sent) == ('accepted', 1)
    with JournalReader(tmp_path / 'j.db') as reader:
        results = [e.payload['status'] for e in reader.events(type='TOOL_RESULT_RECORDED')]
    assert results == ['interrupted', 'accepted']
    assert check_journal(tmp_path / 'j.db') == []


def test_a_call_is_not_withdrawn_while_a_repeat_still_waits_for_it(tmp_path: Path) -> None:
    async def scenario() -> tuple[ToolResult, int]:
        async with Bench(tmp_path / 'j.db') as bench:
            key = IdempotencyKey('me', 'k')
            bench.nav2.set_reachable(False)
            first, again = (
                asyncio.create_task(
                    bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
                )
                for _ in range(2)
            )
            await asyncio.sleep(0.5)
            first.cancel()
            await asyncio.sleep(0.1)
            bench.nav2.set_reachable(True)
            return await again, len(bench.nav2.sent)

    again, sent = run_virtual(scenario())
    assert (again.status.value, sent) == ('accepted', 1)


def test_the_newest_keys_are_remembered(tmp_path: Path) -> None:
    async def scenario() -> list[str | None]:
        async with Bench(tmp_path / 'j.db') as bench:
            asked = [*range(KEYS_KEPT + 1), KEYS_KEPT, 0]
            for number in asked:
                await bench.call('list_places', {}, idempotency=IdempotencyKey('me', str(number)))
        with JournalReader(tmp_path / 'j.db') as reader:
            calls = list(reader.events(type='TOOL_CALL_RECORDED'))
            return [calls[-2].payload['repeat_of'], calls[-1].payload['repeat_of']]

    newest, oldest = run_virtual(scenario())
    assert newest is not None
    assert oldest is None


@pytest.mark.parametrize(
    'others',
    [
        IdempotencyKey('another', 'k', 'dashboard'),
        IdempotencyKey('me', 'k', 'operator'),  # what only looks counts on its own
    ],
    ids=['of another token', 'of tools that look'],
)
def test_a_call_is_not_made_twice_for_all_that_others_and_looks_take_keys_for(
    tmp_path: Path, others: IdempotencyKey
) -> None:
    """While it runs, after a restart, and after a rotation."""
    path, key = tmp_path / 'j.db', IdempotencyKey('me', 'mine', 'operator')

    async def scenario() -> list[ToolResult]:
        goal, results = {'x': 2, 'y': 0}, []
        async with Bench(path) as bench:
            results.append(await bench.call('navigate_to_pose', goal, idempotency=key))
            for number in range(KEYS_KEPT + 1):
                look = replace(others, key=f'k{number}')
                await bench.call('list_places', {}, idempotency=look)
            results.append(await bench.call('navigate_to_pose', goal, idempotency=key))
        async with Bench(path) as bench:
            results.append(await bench.call('navigate_to_pose', goal, idempotency=key))
        assert rotate(path, clock=SystemClock()) is not None
        async with Bench(path) as bench:
            results.append(await bench.call('navigate_to_pose', goal, idempotency=key))
            assert bench.nav2.sent == []
        return results

    first, *again = run_virtual(scenario())
    assert first.status is ResultStatus.ACCEPTED
    assert [result.data for result in again] == [first.data] * 3


def test_the_key_of_a_call_under_way_is_not_forgotten(tmp_path: Path) -> None:
    async def scenario() -> list[ToolResult]:
        async with Bench(tmp_path / 'j.db', nav2=ScriptableNav2(accept_after_s=None)) as bench:
            goal, key = {'x': 2, 'y': 0}, IdempotencyKey('me', 'mine')

            async def go() -> ToolResult:
                return await bench.call('navigate_to_pose', goal, idempotency=key)

            first = asyncio.create_task(go())
            await asyncio.sleep(0.5)
            for number in range(KEYS_KEPT + 1):
                other = IdempotencyKey('me', str(number))
                await bench.call('cancel_action', {'action_id': 'none'}, idempotency=other)
            again = asyncio.create_task(go())
            await asyncio.sleep(0.5)
            bench.nav2.respond(True)
            return [await first, await again]

    first, again = run_virtual(scenario())
    assert first.status is ResultStatus.ACCEPTED
    assert again.data == first.data


def test_after_a_restart_a_key_that_was_used_anew_stands_for_its_newest_call(
    tmp_path: Path,
) -> None:
    def asked(number: int) -> IdempotencyKey:
        return IdempotencyKey('me', str(number))

    async def scenario() -> tuple[str, str | None, str | None]:
        async with Bench(tmp_path / 'j.db') as bench:
            for number in (*range(KEYS_KEPT + 1), 0):  # the first is forgotten by then
                await bench.call('list_places', {}, idempotency=asked(number))
        async with Bench(tmp_path / 'j.db') as bench:
            for number in (0, 1):
                await bench.call('list_places', {}, idempotency=asked(number))
        with JournalReader(tmp_path / 'j.db') as reader:
            calls = list(reader.events(type='TOOL_CALL_RECORDED'))
            *_, anew, newest, oldest = calls
            assert newest.payload['repeat_of'] != calls[0].tool_call_id
            return (
                anew.tool_call_id or '',
                newest.payload['repeat_of'],
                oldest.payload['repeat_of'],
            )

    anew, newest, oldest = run_virtual(scenario())
    assert newest == anew
    assert oldest is None


@pytest.mark.parametrize('rotated', [False, True], ids=['a restart', 'a rotation'])
def test_a_key_is_known_however_much_was_recorded_since(tmp_path: Path, rotated: bool) -> None:
    path, key, goal = tmp_path / 'j.db', IdempotencyKey('me', 'k'), {'x': 2, 'y': 0}
    said = SalientEvent(kind='human_message', message='', details={}), Correlation()

    async def scenario() -> tuple[ToolResult, ToolResult]:
        async with Bench(path) as bench:
            first = await bench.call('navigate_to_pose', goal, idempotency=key)
            for _ in range(60):
                await bench.core.journal.append(*[said] * 1000)
        if rotated:
            assert rotate(path, clock=SystemClock()) is not None
        async with Bench(path) as bench:
            again = await bench.call('navigate_to_pose', goal, idempotency=key)
            assert bench.nav2.sent == []
        return first, again

    first, again = run_virtual(scenario())
    assert first.status is ResultStatus.ACCEPTED
    assert again.data == first.data


def test_a_repeat_of_a_call_that_has_given_up_is_a_call_of_its_own(tmp_path: Path) -> None:
    """Though the result of the one that gave up is not on disk yet."""

    async def scenario() -> tuple[ToolResult, int]:
        async with Bench(tmp_path / 'j.db') as bench:
            key = IdempotencyKey('me', 'k')
            answer, answering = bench.core.dispatcher._answer, asyncio.Event()

            async def slowly(*told: Any) -> ToolResult:
                answering.set()
                await asyncio.sleep(0.3)
                return await answer(*told)

            bench.core.dispatcher._answer = slowly  # type: ignore[method-assign]

            async def go() -> ToolResult:
                return await bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)

            first = asyncio.create_task(go())
            await asyncio.sleep(0)
            first.cancel()
            await answering.wait()
            assert (await asyncio.gather(first, return_exceptions=True))[0] is not None
            return await go(), len(bench.nav2.sent)

    again, sent = run_virtual(scenario())
    assert (again.status.value, sent) == ('accepted', 1)
    assert check_journal(tmp_path / 'j.db') == []


def test_the_goal_that_a_repeat_speaks_of_is_the_one_that_was_sent(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, str]:
        async with Bench(tmp_path / 'j.db') as bench:
            key = IdempotencyKey('me', 'k')
            await bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            await bench.outcome(bench.nav2.own_goal)
            again = await bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
            return bench.nav2.own_goal, str(again.data['action_id'])

    sent, told = run_virtual(scenario())
    assert sent == told


def test_a_repeat_under_way_when_the_harness_closes_gets_the_first_result(tmp_path: Path) -> None:
    async def scenario() -> list[ToolResult]:
        async with Bench(tmp_path / 'j.db') as bench:
            key = IdempotencyKey('me', 'k')
            bench.nav2.accept_after_s = None  # no answer comes
            calls = [
                asyncio.create_task(
                    bench.call('navigate_to_pose', {'x': 2, 'y': 0}, idempotency=key)
                )
                for _ in range(2)
            ]
            await asyncio.sleep(0.5)
            await bench.core.close(cancel_running=True)
            return await asyncio.gather(*calls)

    first, again = run_virtual(scenario())
    assert first.status is ResultStatus.INTERRUPTED
    assert first.data['goal_sent'] is True
    assert (again.status, again.data) == (first.status, first.data)
    assert check_journal(tmp_path / 'j.db') == []
    assert replay_journal(tmp_path / 'j.db').identical
