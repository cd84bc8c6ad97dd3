# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever fails, nothing moves without a record, and nothing that hangs takes the rest along.

K34 and K35 with the real journal and its thread; K24, K25 and K38 on virtual time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
import contextlib
from pathlib import Path
import sqlite3
import time
from typing import Any

from journal_rig import becomes, BOUND_S, Helper, LOCKER
import pytest
from test_journal_failures import Fault, full_disk

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.assembly import assemble, CONTROLLER, Core
from robot_agent_harness.clock import RandomIds, SystemClock
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.recovery import adopt, recover
from robot_agent_harness.skills import registry
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.outputs import CallOutput, ManagedOutput
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import GoalContext, ManagedAction, skill, SkillContext
from robot_agent_harness.testing import Bench, check_journal, run_virtual, ScriptableNav2
from robot_agent_harness.testing.bench import BenchRobot

SHORT_S = 0.3
"""How long a record that is needed may take, where it is meant to fail."""
CLOSE_S = 5.0
"""Closing takes no longer, whatever is broken (K25)."""


# -- the journal dies under a running action -----------------------------------------------------


class Live:
    """The core on a real loop, with the journal's thread, in real time."""

    def __init__(self, path: Path) -> None:
        clock = SystemClock()
        self.robot = BenchRobot(emergency_stop=False)
        self.nav2 = ScriptableNav2()
        self.journal = MissionJournal.open(path, clock=clock, write_timeout_s=SHORT_S)
        self.core: Core = assemble(
            check_parameters({}),
            clock=clock,
            ids=RandomIds(),
            journal=self.journal,
            controllers={CONTROLLER: self.nav2},
            model=None,
        )
        self.core.dispatcher.active = True
        self.core.harness.start()
        self._clock: Any = clock
        self.publishing = asyncio.create_task(self._publish())

    async def _publish(self) -> None:
        while True:
            for topic in ('pose', 'odom', 'battery'):
                self.robot.publish(topic, self._clock, self.core.builder)
            await asyncio.sleep(0.05)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        calling = self.core.dispatcher.call(name, arguments, CallContext())
        return await asyncio.wait_for(calling, BOUND_S)

    async def close(self) -> float:
        """Close as a node does, and return how long it took."""
        self.publishing.cancel()
        begin = time.monotonic()
        await asyncio.wait_for(self.core.close(cancel_running=True), BOUND_S)
        return time.monotonic() - begin


@contextlib.asynccontextmanager
async def locked(live: Live) -> AsyncIterator[None]:
    with Helper(LOCKER, live.journal.path, 'EXCLUSIVE') as other:
        assert await asyncio.to_thread(other.hear) == 'locked'
        yield
        other.tell()
        assert await asyncio.to_thread(other.hear) == 'released'


@contextlib.asynccontextmanager
async def full(live: Live) -> AsyncIterator[None]:
    with full_disk(live.journal.path):
        yield


@contextlib.asynccontextmanager
async def removed(live: Live) -> AsyncIterator[None]:
    folder = live.journal.path.parent
    away = folder.with_name('away')
    folder.rename(away)
    yield
    away.rename(folder)


def failing(step: str, text: str) -> Any:
    @contextlib.asynccontextmanager
    async def broken(live: Live) -> AsyncIterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            fault = Fault(live.journal, step, patch)
            fault.error = sqlite3.OperationalError(text)
            yield
            fault.error = None

    return broken


BREAKS = {
    'locked': locked,
    'full': full,
    'removed': removed,
    'read-only': failing('begin', 'attempt to write a readonly database'),
    'I/O error': failing('commit', 'disk I/O error'),
}


def stopped(core: Core) -> bool | None:
    safety = core.observer.peek().safety.value
    return safety and safety.emergency_stop


def _events(path: Path) -> list[RecordedEvent]:
    with JournalReader(path) as reader:
        return list(reader.events())


@pytest.mark.anyio
@pytest.mark.parametrize('name', BREAKS)
async def test_without_a_journal_nothing_is_sent_and_all_that_happened_is_written_later(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / 'folder' / 'journal.db'
    live = Live(path)
    try:
        first = await live.call('navigate_to_pose', x=2.0, y=0.0)
        assert first.status is ResultStatus.ACCEPTED
        assert 'recorded' not in first.data

        async with BREAKS[name](live):
            refused = await live.call('navigate_to_pose', x=3.0, y=0.0)
            assert refused.status is ResultStatus.JOURNAL_UNAVAILABLE
            assert 'nothing was sent' in refused.message
            begin = time.monotonic()
            looked = await live.call('get_world_snapshot')
            assert looked.status is ResultStatus.COMPLETED
            assert time.monotonic() - begin < 1.0
            # The running action is followed in memory, and its outcome is announced.
            live.robot.place(2.0, 0.0)
            live.robot.emergency_stop = True
            live.nav2.result(GoalStatus.SUCCEEDED, {})
            told = await live.call('wait_for_action', action_id=first.data['action_id'])
            assert told.data['state'] == 'SUCCEEDED'
            assert [r.data['recorded'] for r in (refused, looked, told)] == [False] * 3
            assert stopped(live.core) is True
            assert len(live.nav2.sent) == 1
            assert not live.journal.healthy
            live.robot.emergency_stop = False
        await becomes(live.journal, True)
        while stopped(live.core):
            await asyncio.sleep(0.02)
        second = await live.call('navigate_to_pose', x=1.0, y=0.0)
        assert second.status is ResultStatus.ACCEPTED
        assert 'recorded' not in second.data
    finally:
        assert await live.close() < CLOSE_S
    events = _events(path)
    assert check_journal(path) == []
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    statuses = [e.payload['status'] for e in events if e.type == 'TOOL_RESULT_RECORDED']
    assert statuses == [
        'accepted', 'journal_unavailable', 'completed', 'completed', 'accepted'
    ]  # fmt: skip
    assert not any('recorded' in e.payload.get('structured', {}) for e in events)
    kinds = [e.payload['kind'] for e in events if e.type == 'SALIENT_EVENT']
    assert kinds[0] == 'emergency_stop'  # its release may be seen after the end
    outcomes = [e.payload['reason'] for e in events if e.type == 'ROBOT_ACTION_OUTCOME']
    assert outcomes == ['verified', 'interrupted']


@pytest.mark.anyio
@pytest.mark.parametrize('hangs', [False, True])
async def test_what_could_not_be_written_before_the_end_is_settled_by_the_next_start(
    hangs: bool, tmp_path: Path
) -> None:
    path = tmp_path / 'journal.db'
    live = Live(path)
    first = await live.call('navigate_to_pose', x=2.0, y=0.0)
    goal_id = first.data['action_id']
    with pytest.MonkeyPatch.context() as patch:
        fault = Fault(live.journal, 'commit', patch)
        fault.error = sqlite3.OperationalError('disk I/O error')
        if hangs:
            fault.may_go.clear()
        waiting = asyncio.create_task(live.call('wait_for_action', action_id=goal_id))
        await asyncio.sleep(0)
        took = await live.close()
        fault.may_go.set()
        await asyncio.to_thread(live.journal._writer._thread.join, BOUND_S)
    assert took < CLOSE_S
    assert (await waiting).status is ResultStatus.INTERRUPTED
    assert live.nav2.cancel_requests == [goal_id]
    assert [e for e in _events(path) if e.type == 'ROBOT_ACTION_OUTCOME'] == []

    again = Live(path)
    again.nav2.set_reachable(True)
    try:
        recovering = asyncio.create_task(recover(again.core, adopt(again.core)))
        while goal_id not in again.nav2.result_requests:
            await asyncio.sleep(0.01)
        again.nav2.result(GoalStatus.CANCELED, {}, goal_id)
        done = await asyncio.wait_for(recovering, BOUND_S)
    finally:
        await again.close()
    assert done is not None
    assert [(a['action_id'], a['state']) for a in done.settled_actions] == [(goal_id, 'FAILED')]
    assert again.nav2.sent == []
    assert check_journal(path) == []


# -- skills and verifiers that raise or hang -----------------------------------------------------

RELEASE: list[bool] = []


@skill(output=CallOutput)
async def stubborn(context: SkillContext) -> ToolResult:
    """Never return, and resist cancellation."""
    while not RELEASE:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
    return ToolResult(ResultStatus.COMPLETED, 'at last')


@skill(output=CallOutput)
async def odd(context: SkillContext, how: str) -> ToolResult:
    """Do what no skill should."""
    if how == 'exits':
        raise SystemExit(3)
    if how == 'ends':
        raise GeneratorExit
    if how == 'cancels':
        raise asyncio.CancelledError
    if how == 'recurses':
        return await odd.function(context, how)  # type: ignore[misc]
    return RETURNED[how]()  # type: ignore[no-any-return]


class _Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError('no')


def _returning(data: Any) -> Callable[[], Any]:
    return lambda: ToolResult(ResultStatus.COMPLETED, 'done', data)


RETURNED: dict[str, Callable[[], Any]] = {
    'nothing': lambda: None,
    'a dict': lambda: {'status': 'completed'},
    'no data': _returning(None),
    'no message': lambda: ToolResult(ResultStatus.COMPLETED, None, {}),  # type: ignore[arg-type]
    'a wrong id': _returning({'action_id': 7}),
    'an unprintable value': _returning({'x': _Unprintable()}),
    'odd keys': _returning({1: 'one', 'b': {2: 'two', None: 3}}),
    'no numbers': _returning({'x': float('nan'), 'y': [float('inf')]}),
    'its own status': _returning({'status': 'accepted', 'message': 'mine'}),
    'text that is none': _returning({'x': 'a\x00b\udc80c', '\udc81': 'ü😀'}),
    'sets and bytes': _returning({'x': {1}, 'y': b'\x00\xff', 'z': (1, 2)}),
}


def _looped() -> ToolResult:
    data: dict[str, Any] = {}
    data['self'] = data
    return ToolResult(ResultStatus.COMPLETED, 'done', data)


RETURNED['a loop'] = _looped


@skill(output=ManagedOutput, managed=ManagedAction())
def lunge(context: GoalContext, how: str) -> dict[str, Any]:
    """Raise where the goal should come from."""
    if how == 'exits':
        raise SystemExit(3)
    if how == 'ends':
        raise GeneratorExit
    if how == 'returns':
        return None  # type: ignore[return-value]
    raise ZeroDivisionError('secret detail')


@pytest.fixture(autouse=True)
def skills(monkeypatch: pytest.MonkeyPatch) -> None:
    kwdefaults = {'skills': (*BUILT_IN, stubborn, odd, lunge)}
    monkeypatch.setattr(registry.load_registry, '__kwdefaults__', kwdefaults)
    RELEASE.clear()


def test_a_skill_that_never_returns_blocks_neither_others_nor_the_end(tmp_path: Path) -> None:
    async def scenario() -> tuple[float, ToolResult]:
        loop = asyncio.get_running_loop()
        async with Bench(tmp_path / 'j.db') as bench:
            hung = asyncio.create_task(bench.call('stubborn', {}))
            await asyncio.sleep(1.0)
            taken = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert taken.status is ResultStatus.ACCEPTED
            begin = loop.time()
        took = loop.time() - begin
        RELEASE.append(True)
        return took, await hung

    took, result = run_virtual(scenario())
    assert took < CLOSE_S
    assert result.status is ResultStatus.INTERRUPTED
    assert check_journal(tmp_path / 'j.db') == []


@pytest.mark.parametrize('how', ['exits', 'ends', 'cancels', 'recurses', *RETURNED])
def test_whatever_a_skill_does_its_call_gets_one_result_that_is_json(
    how: str, tmp_path: Path
) -> None:
    async def scenario() -> tuple[ToolResult, ToolResult]:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('odd', {'how': how})
            return result, await bench.call('list_places', {})

    result, after = run_virtual(scenario())
    assert after.status is ResultStatus.COMPLETED
    assert check_journal(tmp_path / 'j.db') == []
    (recorded,) = (
        e.payload['structured']
        for e in _events(tmp_path / 'j.db')
        if e.type == 'TOOL_RESULT_RECORDED' and 'places' not in e.payload['structured']
    )
    assert recorded == result.structured
    assert recorded['status'] == result.status.value
    unusable = {
        'exits',
        'ends',
        'cancels',
        'recurses',
        'nothing',
        'a dict',
        'no data',
        'no message',
    }
    assert result.is_error is (how in unusable)
    if how == 'its own status':
        assert result.data == {'status_': 'accepted', 'message_': 'mine'}
    if how == 'text that is none':
        assert result.data == {'x': 'a\x00b\\udc80c', '\\udc81': 'ü😀'}


@pytest.mark.parametrize('how', ['raises', 'exits', 'ends', 'returns'])
def test_a_skill_that_finds_no_goal_moves_nothing(how: str, tmp_path: Path) -> None:
    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('lunge', {'how': how})
            assert bench.nav2.sent == []
            assert bench.core.tracker.unfinished == ()
            taken = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert taken.status is ResultStatus.ACCEPTED
            return result

    result = run_virtual(scenario())
    assert result.status is ResultStatus.TOOL_ERROR
    assert 'secret' not in result.message
    assert check_journal(tmp_path / 'j.db') == []


class _Raises:
    """Raises whenever it is asked, on the way already."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def waypoints(self, _: Any) -> Any:
        raise self.error

    def judge(self, **_: Any) -> Any:
        raise self.error


@pytest.mark.parametrize(
    'error', [ValueError('no'), SystemExit(3), GeneratorExit(), RecursionError('deep')]
)
def test_a_verifier_that_raises_has_shown_nothing(error: BaseException, tmp_path: Path) -> None:
    async def scenario() -> tuple[str, str]:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.core.tracker._verifiers = {'navigation': _Raises(error)}  # type: ignore[dict-item]
            await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            action = await bench.outcome(bench.nav2.own_goal)
            assert action.outcome is not None
            return action.state.value, action.outcome.reason.value

    assert run_virtual(scenario()) == ('UNKNOWN', 'verification_inconclusive')
    assert check_journal(tmp_path / 'j.db') == []


# -- a model that hangs, and the end of everything -----------------------------------------------


class HangingModel:
    """Never answers, and never lets its connections go."""

    provider, model = 'stub', None

    async def decide(self, request: ModelRequest) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError('unreachable')

    async def close(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize('lock', [False, True])
def test_an_emergency_stop_is_seen_while_the_model_hangs_and_the_journal_is_dead(
    lock: bool, tmp_path: Path
) -> None:
    path = tmp_path / 'j.db'

    async def scenario() -> None:
        robot = BenchRobot(emergency_stop=False)
        async with Bench(path, model=HangingModel(), robot=robot) as bench:
            mission = asyncio.create_task(bench.core.harness.run_mission('go'))
            await asyncio.sleep(2.0)
            other = sqlite3.connect(path, isolation_level=None, timeout=0)
            if lock:
                other.execute('BEGIN IMMEDIATE')
            waiting = bench.core.journal.pending
            robot.emergency_stop = True
            await asyncio.sleep(1.5)  # its topic speaks once a second
            assert stopped(bench.core) is True
            assert bench.core.journal.pending == waiting + (2 if lock else 0)
            other.close()
            bench.core.harness.cancel_mission()
            await asyncio.wait_for(mission, 20.0)

    run_virtual(scenario())
    assert check_journal(path) == []
    events = _events(path)
    (stop,) = (e for e in events if e.type == 'SALIENT_EVENT')
    assert stop.payload['kind'] == 'emergency_stop'
    (seen,) = (
        e.payload for e in events
        if e.type == 'WORLD_SNAPSHOT_CAPTURED' and e.payload['reason'] == 'salient_event'
    )  # fmt: skip
    assert seen['snapshot']['snapshot_id'] == stop.snapshot_id
    assert seen['snapshot']['safety']['value']['emergency_stop'] is True


def test_closing_is_bounded_while_everything_hangs_at_once(tmp_path: Path) -> None:
    path = tmp_path / 'j.db'

    async def scenario() -> float:
        loop = asyncio.get_running_loop()
        other = sqlite3.connect(path.with_name('other.db'), isolation_level=None)
        bench = Bench(path, model=HangingModel())
        async with bench:
            mission = asyncio.create_task(bench.core.harness.run_mission('go'))
            calls = [
                asyncio.create_task(bench.call('stubborn', {})),
                asyncio.create_task(bench.call('navigate_to_pose', {'x': 1, 'y': 0})),
            ]
            await asyncio.sleep(1.0)
            other = sqlite3.connect(path, isolation_level=None, timeout=0)
            other.execute('BEGIN IMMEDIATE')
            bench.robot.place(1.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            await asyncio.sleep(0.7)  # the outcome is being written
            mission.cancel()
            begin = loop.time()
        took = loop.time() - begin
        # Late news finds a closed journal, and nobody who minds.
        bench.nav2.status((bench.nav2.own_goal, GoalStatus.ABORTED))
        bench.nav2.result(GoalStatus.ABORTED, {})
        other.close()
        RELEASE.append(True)
        await asyncio.gather(mission, *calls, return_exceptions=True)
        return took

    assert run_virtual(scenario()) < CLOSE_S
    with JournalReader(path) as reader:
        assert len(reader.open_work().actions) == 1  # the next start settles it
