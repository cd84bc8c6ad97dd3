# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One call, one result: whatever callers, skills, controllers and the journal do."""

from __future__ import annotations

import asyncio
from pathlib import Path
import sqlite3
import tempfile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.errors import ConfigurationError, JournalUnavailableError
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.skills import registry
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import BUILT_IN, load_registry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext
from robot_agent_harness.skills.starter import DECISION_MAX_AGE_S
from robot_agent_harness.testing import Bench, check_journal, run_virtual, ScriptableNav2


@skill(output=CallOutput)
async def crash(context: SkillContext) -> ToolResult:
    """Raise what no caller should see."""
    raise RuntimeError('secret detail')


ARGUMENTS = st.one_of(
    st.fixed_dictionaries({'x': st.floats(-5, 5), 'y': st.floats(-5, 5)}),
    st.dictionaries(
        st.sampled_from(['x', 'y', 'yaw', 'frame_id', 'yow', 'action_id', 'name']),
        st.one_of(
            st.floats(), st.integers(), st.text(max_size=5), st.none(), st.lists(st.booleans())
        ),
        max_size=4,
    ),
    st.none(),
    st.text(max_size=10),
)
CALL = st.fixed_dictionaries(
    {
        'name': st.sampled_from([*(entry.name for entry in BUILT_IN), 'fly', 'crash', '']),
        'arguments': ARGUMENTS,
        'give_up_after_s': st.one_of(st.none(), st.floats(0.0, 0.2)),
        'pause_s': st.floats(0.0, 3.0),
        'then': st.sampled_from(['nothing', 'succeed', 'abort', 'die', 'come back', 'lock']),
    }
)


async def _storm(path: Path, calls: list[dict[str, Any]], accepts: bool | None) -> None:
    nav2 = ScriptableNav2(accept_after_s=None if accepts is None else 0.05)
    async with Bench(path, nav2=nav2, parameters={'navigation.execution_timeout_s': 5.0}) as bench:
        tasks = []
        for call in calls:
            task = asyncio.create_task(bench.call(call['name'], call['arguments']))
            tasks.append(task)
            if call['give_up_after_s'] is not None:
                asyncio.get_running_loop().call_later(call['give_up_after_s'], task.cancel)
            await asyncio.sleep(call['pause_s'])
            _do(bench, path, call['then'])
        await asyncio.gather(*tasks, return_exceptions=True)
        # A lock that outlasts the closing leaves facts to the next start's recovery.
        await asyncio.sleep(4.0)


def _do(bench: Bench, path: Path, what: str) -> None:
    nav2 = bench.nav2
    if what == 'lock':
        lock = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            lock.execute('BEGIN IMMEDIATE')
        except sqlite3.OperationalError:
            pass  # an earlier step's lock still stands
        asyncio.get_running_loop().call_later(3.0, lock.close)
    elif what in ('die', 'come back'):
        nav2.set_reachable(what == 'come back')
    elif nav2.sent and what != 'nothing':
        goal = nav2.sent[-1][1]
        bench.robot.place(goal['x'], goal['y'])
        status = GoalStatus.SUCCEEDED if what == 'succeed' else GoalStatus.ABORTED
        nav2.result(status, {})


@settings(max_examples=60, deadline=None)
@given(st.lists(CALL, min_size=1, max_size=8), st.sampled_from([True, None]))
def test_each_call_gets_exactly_one_recorded_result_whatever_happens(
    calls: list[dict[str, Any]], accepts: bool | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry.load_registry, '__kwdefaults__', {'skills': (*BUILT_IN, crash)})
        path = Path(folder) / 'journal.db'
        run_virtual(_storm(path, calls, accepts))

        assert check_journal(path) == []
        with JournalReader(path) as reader:
            events = list(reader.events())
        recorded = [e.tool_call_id for e in events if e.type == 'TOOL_CALL_RECORDED']
        answered = [e.tool_call_id for e in events if e.type == 'TOOL_RESULT_RECORDED']
        assert len(recorded) == len(calls)
        assert sorted(recorded) == sorted(answered)


def _one(path: Path, name: str, arguments: Any, **context: Any) -> ToolResult:
    async def scenario() -> ToolResult:
        async with Bench(path) as bench:
            return await bench.call(name, arguments, **context)

    return run_virtual(scenario())


def test_the_text_of_a_crash_stays_out_of_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.load_registry, '__kwdefaults__', {'skills': (*BUILT_IN, crash)})
    result = _one(tmp_path / 'j.db', 'crash', {})
    assert result.status.value == 'tool_error'
    assert 'secret' not in result.message


def test_an_unknown_tool_is_answered_with_what_there_is(tmp_path: Path) -> None:
    result = _one(tmp_path / 'j.db', 'fly_to', {'z': 3})
    assert result.status.value == 'unknown_tool'
    assert 'navigate_to_pose' in result.message


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        ({'x': 1.0}, 'y: missing'),
        ({'x': '2.0', 'y': 0}, 'x: '),
        ({'x': '1,5', 'y': 0}, 'x: '),
        ({'x': True, 'y': 0}, 'x: '),
        ({'x': 1, 'y': 0, 'yow': 1}, 'yow: unknown key'),
        ({'x': float('nan'), 'y': 0}, 'x: '),
        ({'x': float('inf'), 'y': 0}, 'x: '),
        ({'x': 1e9, 'y': 0}, 'x: '),
        ({'x': 1, 'y': 0, 'yaw': 90}, 'yaw: '),
        ({'x': 1, 'y': 0, 'frame_id': 'odom'}, 'frame_id'),
        ({'x': 1, 'y': 0, 'frame_id': None}, 'frame_id: '),
        ('{"x": 2, "y": 0}', 'navigate_to_pose: '),
        ([1, 2], 'navigate_to_pose: '),
    ],
)
def test_unclear_arguments_are_refused_and_the_key_is_named(
    arguments: Any, named: str, tmp_path: Path
) -> None:
    path = tmp_path / 'j.db'
    result = _one(path, 'navigate_to_pose', arguments)
    assert result.status.value == 'invalid_arguments'
    assert named in result.message
    assert check_journal(path) == []
    with JournalReader(path) as reader:
        assert not [e for e in reader.events() if e.type == 'ROBOT_ACTION_STARTED']


def test_a_caller_that_goes_away_does_not_undo_what_it_started(tmp_path: Path) -> None:
    async def scenario() -> str:
        nav2 = ScriptableNav2(accept_after_s=1.5)
        async with Bench(tmp_path / 'j.db', nav2=nav2) as bench:
            call = asyncio.create_task(bench.call('navigate_to_pose', {'x': 2, 'y': 0}))
            await asyncio.sleep(0.5)
            call.cancel()
            await asyncio.sleep(7.0)
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            action = await bench.outcome(bench.nav2.own_goal)
            return action.state.value

    assert run_virtual(scenario()) == 'SUCCEEDED'
    assert check_journal(tmp_path / 'j.db') == []


def test_of_two_calls_at_once_one_goal_goes_out_and_the_loser_is_told_of_the_other(
    tmp_path: Path,
) -> None:
    async def scenario() -> tuple[list[ToolResult], int]:
        async with Bench(tmp_path / 'j.db') as bench:
            calls = [bench.call('navigate_to_pose', {'x': x, 'y': 0}) for x in (1, 2)]
            return list(await asyncio.gather(*calls)), len(bench.nav2.sent)

    (first, second), sent = run_virtual(scenario())
    assert (first.status.value, second.status.value, sent) == (
        'accepted',
        'precondition_changed',
        1,
    )
    assert first.data['action_id'] in str(second.data['failed_checks'])


@pytest.mark.parametrize('locked', [False, True])
def test_a_call_that_closing_interrupts_names_its_action_and_says_whether_the_goal_left(
    locked: bool, tmp_path: Path
) -> None:
    async def scenario() -> tuple[ToolResult, Bench]:
        nav2 = ScriptableNav2(accept_after_s=None)  # it never answers
        async with Bench(tmp_path / 'j.db', nav2=nav2) as bench:
            other = sqlite3.connect(tmp_path / 'j.db', isolation_level=None, timeout=0)
            if locked:  # the start reaches the disk only after the call has been interrupted
                other.execute('BEGIN IMMEDIATE')
                asyncio.get_running_loop().call_later(1.5, other.close)
            calling = asyncio.create_task(bench.call('navigate_to_pose', {'x': 2, 'y': 0}))
            await asyncio.sleep(0.1)
            await bench.core.dispatcher.close()
            other.close()
            return await calling, bench

    result, bench = run_virtual(scenario())
    sent = [goal_id for goal_id, _ in bench.nav2.sent]
    with JournalReader(tmp_path / 'j.db') as reader:
        (started,) = reader.events(type='ROBOT_ACTION_STARTED')
        (recorded,) = reader.events(type='TOOL_RESULT_RECORDED')
    assert result.status.value == 'interrupted'
    assert result.data['action_id'] == started.action_id == recorded.action_id
    assert result.data['goal_sent'] is not locked
    assert sent == ([] if locked else [started.action_id])
    assert check_journal(tmp_path / 'j.db') == []


def test_a_call_that_closing_keeps_from_starting_is_interrupted(tmp_path: Path) -> None:
    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.nav2.set_reachable(False)  # so that the call waits for it
            calling = asyncio.create_task(bench.call('navigate_to_pose', {'x': 2, 'y': 0}))
            await asyncio.sleep(0.1)
            await bench.core.dispatcher.close()
            return await calling

    result = run_virtual(scenario())
    assert result.status.value == 'interrupted'  # a key that it had is free again
    assert 'action_id' not in result.data
    assert check_journal(tmp_path / 'j.db') == []


def test_an_inactive_harness_moves_nothing_and_still_looks(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, str]:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.core.dispatcher.active = False
            moved = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            looked = await bench.call('get_world_snapshot', {})
            return moved.status.value, looked.status.value

    assert run_virtual(scenario()) == ('harness_inactive', 'completed')


def test_a_place_that_was_moved_since_the_decision_stops_the_call(tmp_path: Path) -> None:
    places = tmp_path / 'places.yaml'
    places.write_text('places:\n  shelf: {x: 2.0, y: 0.0}\n', encoding='utf-8')

    async def scenario() -> ToolResult:
        parameters = {'places_file': str(places)}
        async with Bench(tmp_path / 'j.db', parameters=parameters) as bench:
            decision = await bench.call('get_world_snapshot', {})
            await asyncio.sleep(1.0)
            places.write_text('places:\n  shelf: {x: 4.0, y: 0.0}\n', encoding='utf-8')
            return await bench.call(
                'navigate_to_place',
                {'name': 'shelf'},
                decision_snapshot_id=decision.data['snapshot_id'],
            )

    result = run_virtual(scenario())
    assert result.status.value == 'precondition_changed'
    (check,) = result.data['failed_checks']
    assert check['name'] == 'target_unchanged'
    assert check['detail'] == 'the place has other coordinates than at the decision'


def test_a_decision_on_a_snapshot_that_nobody_knows_is_stale(tmp_path: Path) -> None:
    result = _one(
        tmp_path / 'j.db', 'navigate_to_pose', {'x': 1, 'y': 0}, decision_snapshot_id='snapshot-0'
    )
    assert result.status.value == 'precondition_changed'
    assert result.data['failed_checks'][0]['name'] == 'decision_snapshot_known'


@pytest.mark.parametrize(
    ('text', 'named'),
    [
        ('skills: {navigate_to_moon: {}}', 'navigate_to_moon'),
        ('skills: {navigate_to_pose: {managed: {preconditions: {pose_age: 1}}}}', 'pose_age'),
        ('skills: [', 'not YAML'),
        ('skills: {navigate_to_pose: {managed: {controller: go there}}}', 'managed.controller'),
        ('skils: {}', 'skils'),
    ],
)
def test_a_wrong_skills_file_is_refused_by_name(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / 'skills.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(ConfigurationError, match=named) as caught:
        load_registry(path)
    assert str(path) in str(caught.value)


def test_what_the_skills_file_does_not_name_stays_as_the_skill_declares_it(tmp_path: Path) -> None:
    path = tmp_path / 'skills.yaml'
    path.write_text(
        'skills:\n'
        '  navigate_to_pose: {managed: {preconditions: {odometry_max_age_s: null}}}\n'
        '  navigate_to_place: {enabled: false}\n',
        encoding='utf-8',
    )
    loaded = load_registry(path)
    chosen = loaded.get('navigate_to_pose')
    assert chosen is not None
    assert chosen.managed is not None
    assert chosen.managed.preconditions.odometry_max_age_s is None
    assert chosen.managed.preconditions.max_drift_m == 0.5
    assert loaded.get('navigate_to_place') is None


def test_a_client_that_waited_for_an_outcome_decides_on_the_world_after_it(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db') as bench:
            first = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            told = await bench.call('wait_for_action', {'action_id': first.data['action_id']})
            second = await bench.call(
                'navigate_to_pose',
                {'x': 0, 'y': 0},
                decision_snapshot_id=told.data['snapshot_id'],
            )
            return [first.status.value, told.data['state'], second.status.value]

    assert run_virtual(scenario()) == ['accepted', 'SUCCEEDED', 'accepted']


def test_an_action_that_ended_in_an_earlier_run_is_told_of_by_every_tool(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, list[ToolResult], ToolResult]:
        async with Bench(tmp_path / 'j.db') as bench:
            sent = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            await bench.outcome(sent.data['action_id'])
        action_id = str(sent.data['action_id'])
        async with Bench(tmp_path / 'j.db') as bench:
            tools = ('get_action', 'wait_for_action', 'cancel_action')
            told = [await bench.call(tool, {'action_id': action_id}) for tool in tools]
            never = await bench.call('get_action', {'action_id': 'f' * 32})
        return action_id, told, never

    action_id, told, never = run_virtual(scenario())
    assert [result.status for result in told] == [ResultStatus.COMPLETED] * 3
    assert [result.data['action_id'] for result in told] == [action_id] * 3
    assert [result.data['state'] for result in told] == ['SUCCEEDED'] * 3
    got, waited, cancelled = told
    assert got.data['evidence']
    assert got.data['evidence'] == waited.data['evidence']
    assert cancelled.data['cancel_return_code'] is None
    assert never.status is ResultStatus.UNKNOWN_ACTION


def test_where_the_journal_cannot_be_read_no_action_is_said_never_to_have_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> list[ToolResult]:
        async with Bench(tmp_path / 'j.db') as bench:

            async def unreadable(action_id: str) -> RobotAction | None:
                raise JournalUnavailableError('no journal today')

            monkeypatch.setattr(bench.core.dispatcher, '_recorded', unreadable)
            tools = ('get_action', 'wait_for_action', 'cancel_action')
            return [await bench.call(tool, {'action_id': 'f' * 32}) for tool in tools]

    for result in run_virtual(scenario()):
        assert result.status is ResultStatus.TOOL_ERROR
        assert 'no journal today' in result.message


def test_every_decision_snapshot_of_a_managed_call_is_in_the_journal(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            looked = await bench.call('get_world_snapshot', {})
            for decision in (looked.data['snapshot_id'], looked.data['snapshot_id'], None):
                await bench.call(
                    'navigate_to_pose', {'x': 1, 'y': 0}, decision_snapshot_id=decision
                )

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        events = list(reader.events())
    used = [
        e.payload['decision_snapshot_id']
        for e in events
        if e.type == 'TOOL_CALL_RECORDED' and e.payload['name'] == 'navigate_to_pose'
    ]
    captured = [
        e.payload['snapshot']['snapshot_id'] for e in events if e.type == 'WORLD_SNAPSHOT_CAPTURED'
    ]
    assert len(used) == 3
    assert set(used) <= set(captured)
    assert len(captured) == len(set(captured))


def test_arguments_nested_without_end_are_refused_and_recorded(tmp_path: Path) -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {'x': deep}
    result = _one(tmp_path / 'j.db', 'navigate_to_pose', deep)
    assert result.status.value == 'invalid_arguments'
    assert check_journal(tmp_path / 'j.db') == []


def test_a_goal_that_was_refused_but_runs_is_unknown_and_cancelled(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, str]:
        async with Bench(tmp_path / 'j.db', nav2=ScriptableNav2(accept_after_s=None)) as bench:
            call = asyncio.create_task(bench.call('navigate_to_pose', {'x': 4, 'y': 0}))
            await asyncio.sleep(0.1)
            bench.nav2.respond(False)
            bench.nav2.status((bench.nav2.own_goal, GoalStatus.EXECUTING))
            result = await call
            action = await bench.outcome(bench.nav2.own_goal)
            assert bench.nav2.cancel_requests == [bench.nav2.own_goal]
            return result.status.value, action.state.value

    assert run_virtual(scenario()) == ('acceptance_unknown', 'UNKNOWN')


def test_a_decision_on_what_was_seen_long_ago_is_stale_though_nothing_seems_to_have_changed(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[ToolResult]:
        async with Bench(tmp_path / 'j.db') as bench:
            told = []
            for waited_s in (DECISION_MAX_AGE_S - 1.0, DECISION_MAX_AGE_S + 1.0):
                seen = bench.core.observer.capture(None).snapshot_id
                await asyncio.sleep(waited_s)
                goal = {'x': 2, 'y': 0}
                told.append(await bench.call('navigate_to_pose', goal, decision_snapshot_id=seen))
                if told[-1].status is ResultStatus.ACCEPTED:
                    bench.nav2.result(GoalStatus.ABORTED, {})
                    await bench.outcome(bench.nav2.own_goal)
            return told

    young, old = run_virtual(scenario())
    assert young.status is ResultStatus.ACCEPTED
    assert old.status is ResultStatus.PRECONDITION_CHANGED
    assert 'too old' in old.message
    assert old.data['snapshot']


@pytest.mark.parametrize('tool', ['get_action', 'wait_for_action', 'cancel_action'])
@pytest.mark.parametrize('action_id', ['\ud83d', '\0', '', "' OR 1=1 --", 'A' * 100_000])
def test_an_id_that_can_be_none_is_unknown(tool: str, action_id: str, tmp_path: Path) -> None:
    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db') as bench:
            return await bench.call(tool, {'action_id': action_id})

    assert run_virtual(scenario()).status is ResultStatus.UNKNOWN_ACTION
    assert check_journal(tmp_path / 'j.db') == []


@pytest.mark.parametrize(
    ('tool', 'arguments', 'told'),
    [
        ('n' * 1_000_000, {}, 'there are: navigate_to_pose, '),
        ('navigate_to_place', {'name': 'z' * 300_000}, 'known places: dock, '),
        ('navigate_to_pose', {'x': 1, 'y': 0, 'frame_id': 'm' * 300_000}, "given in 'map'"),
        ('get_action', {'action_id': 'A' * 100_000}, 'the journal knows none of that id'),
    ],
    ids=['tool', 'place', 'frame', 'action'],
)
def test_an_error_says_what_to_do_however_long_what_was_said_is(
    tool: str, arguments: Any, told: str, tmp_path: Path
) -> None:
    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db') as bench:
            return await bench.call(tool, arguments)

    message = run_virtual(scenario()).message
    assert told in message
    assert len(message) < 500
