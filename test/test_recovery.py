# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a start does about what an earlier run left open: it closes it, and moves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import (
    Correlation,
    RecordedEvent,
    RobotActionProgress,
    RobotActionStarted,
    ToolCallRecorded,
)
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.summaries import OpenWork
from robot_agent_harness.recovery import adopt, find, recover
from robot_agent_harness.testing import (
    Bench,
    call,
    check_journal,
    run_virtual,
    ScriptableNav2,
    scripted,
)


async def _crash(path: Path, *, mission: bool = False) -> str:
    """Leave a journal behind as a killed process does, with one action running."""
    model = scripted(call('navigate_to_pose', x=2.0, y=0.0, purpose='p', expected_outcome='e'))
    live = path.with_name('live.db')
    async with Bench(live, model=model) as bench:
        if mission:
            task = asyncio.create_task(bench.core.harness.run_mission('go'))
            await asyncio.sleep(1.0)
        else:
            await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
        waiting = asyncio.create_task(
            bench.call('wait_for_action', {'action_id': bench.nav2.own_goal})
        )
        await asyncio.sleep(1.0)
        with sqlite3.connect(live) as source, sqlite3.connect(path) as copy:
            source.backup(copy)
        path.chmod(0o600)
        waiting.cancel()
        if mission:
            task.cancel()
        return bench.nav2.own_goal


async def _restart(path: Path, goal_id: str, tell: Callable[[Bench, str], None]) -> Bench:
    async with Bench(path) as bench:
        recovering = asyncio.create_task(recover(bench.core, adopt(bench.core)))
        await asyncio.sleep(0.5)
        tell(bench, goal_id)
        await recovering
        assert bench.core.tracker.unfinished == ()
        return bench


def _recovered(
    tmp_path: Path, tell: Callable[[Bench, str], None], *, mission: bool = False
) -> tuple[Bench, list[RecordedEvent]]:
    path = tmp_path / 'journal.db'
    goal_id = run_virtual(_crash(path, mission=mission))
    bench = run_virtual(_restart(path, goal_id, tell))
    assert check_journal(path) == []
    assert bench.nav2.sent == []
    with JournalReader(path) as reader:
        assert reader.open_work() == OpenWork((), (), ())
        return bench, list(reader.events())


def _outcome(events: list[RecordedEvent]) -> tuple[str, str]:
    (outcome,) = (e.payload for e in events if e.type == 'ROBOT_ACTION_OUTCOME')
    return outcome['state'], outcome['reason']


def _silent(bench: Bench, goal_id: str) -> None:
    """The controller says nothing."""


def _running(bench: Bench, goal_id: str) -> None:
    bench.nav2.status((goal_id, GoalStatus.EXECUTING))


def _arrived(bench: Bench, goal_id: str) -> None:
    bench.robot.place(2.0, 0.0)
    bench.nav2.result(GoalStatus.SUCCEEDED, {}, goal_id)


def _elsewhere(bench: Bench, goal_id: str) -> None:
    bench.nav2.status((goal_id, GoalStatus.SUCCEEDED))


def _aborted(bench: Bench, goal_id: str) -> None:
    bench.nav2.result(GoalStatus.ABORTED, {'error_code': 105}, goal_id)


def _forgotten(bench: Bench, goal_id: str) -> None:
    bench.nav2.result(GoalStatus.UNKNOWN, {}, goal_id)


@pytest.mark.parametrize(
    ('tell', 'expected'),
    [
        (_silent, ('UNKNOWN', 'interrupted')),
        (_running, ('UNKNOWN', 'interrupted')),
        (_forgotten, ('UNKNOWN', 'interrupted')),
        (_arrived, ('SUCCEEDED', 'verified')),
        (_elsewhere, ('FAILED', 'verification_disproved')),
        (_aborted, ('FAILED', 'aborted')),
    ],
)
def test_an_open_action_is_settled_on_what_the_controller_still_tells(
    tell: Callable[[Bench, str], None], expected: tuple[str, str], tmp_path: Path
) -> None:
    _, events = _recovered(tmp_path, tell)
    assert _outcome(events) == expected


def test_open_calls_are_answered_and_open_missions_ended(tmp_path: Path) -> None:
    _, events = _recovered(tmp_path, _silent, mission=True)
    answered: dict[str, Any] = {
        e.payload['status']: e for e in events if e.type == 'TOOL_RESULT_RECORDED'
    }
    assert 'interrupted' in answered
    (ended,) = (e.payload for e in events if e.type == 'MISSION_ENDED')
    assert (ended['outcome'], ended['reason']) == ('unknown', 'interrupted')
    (done,) = (e.payload for e in events if e.type == 'RECOVERY_PERFORMED')
    assert len(done['interrupted_calls']) == 1
    assert len(done['settled_actions']) == 1


@pytest.mark.parametrize(('told', 'sent'), [(None, None), ('ACCEPTED', True), ('RUNNING', True)])
def test_an_interrupted_call_says_that_its_goal_was_sent_only_where_that_is_known(
    told: str | None, sent: bool | None, tmp_path: Path
) -> None:
    path, ids = tmp_path / 'journal.db', Correlation(tool_call_id='open', action_id='0' * 32)
    asked = ToolCallRecorded(
        name='navigate_to_pose',
        arguments={'x': 2.0, 'y': 0.0},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
    )
    started = RobotActionStarted(skill='navigate_to_pose', goal={'x': 2.0, 'y': 0.0})
    progress = [] if told is None else [(RobotActionProgress(state=told), ids)]

    async def scenario() -> None:
        journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
        await journal.append((asked, Correlation(tool_call_id='open')), (started, ids), *progress)
        await journal.close()
        async with Bench(path) as bench:
            await recover(bench.core, adopt(bench.core))

    run_virtual(scenario())
    with JournalReader(path) as reader:
        (result,) = reader.events(type='TOOL_RESULT_RECORDED')
    shown = result.payload['structured']
    assert (shown['status'], shown['action_id']) == ('interrupted', '0' * 32)
    assert shown['goal_sent'] is sent


def test_a_goal_that_still_runs_is_cancelled_and_blocks_new_work(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / 'journal.db'
        goal_id = await _crash(path)
        async with Bench(path) as bench:
            bench.nav2.status((goal_id, GoalStatus.EXECUTING))
            await recover(bench.core, adopt(bench.core))
            assert bench.nav2.cancel_requests == [goal_id]
            refused = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert refused.status.value == 'precondition_changed'
            bench.nav2.status((goal_id, GoalStatus.CANCELED))
            taken = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert taken.status.value == 'accepted'

    run_virtual(scenario())


def test_a_journal_with_nothing_open_gets_no_record_of_recovery(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'journal.db') as bench:
            assert await recover(bench.core, adopt(bench.core)) is None
        with JournalReader(tmp_path / 'journal.db') as reader:
            assert {event.type for event in reader.events()} == {'HARNESS_STATE_CHANGED'}

    run_virtual(scenario())


def test_an_action_that_ended_unknown_in_an_earlier_run_still_stands_in_the_way(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> list[str]:
        async with Bench(path) as bench:
            await bench.call('navigate_to_pose', {'x': 4, 'y': 0})
            own = bench.nav2.own_goal
        async with Bench(path) as bench:
            bench.robot.place(0.5, 0.0, v=(0.4, 0.0))
            await recover(bench.core, adopt(bench.core))
            assert own in bench.nav2.cancel_requests
            moving = await bench.call('navigate_to_pose', {'x': -4, 'y': 0})
            bench.robot.place(0.6, 0.0)
            await asyncio.sleep(1.0)
            unseen = await bench.call('navigate_to_pose', {'x': -4, 'y': 0})
            bench.nav2.result(GoalStatus.UNKNOWN, {}, own)
            settled = await bench.call('navigate_to_pose', {'x': -4, 'y': 0})
            return [result.status.value for result in (moving, unseen, settled)]

    assert run_virtual(scenario()) == ['precondition_changed'] * 2 + ['accepted']


def test_what_is_heard_of_an_own_goal_before_activation_is_neither_lost_nor_foreign(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'

    async def restart(goal_id: str) -> None:
        async with Bench(path) as bench:
            left = adopt(bench.core)
            bench.robot.place(2.0, 0.0)
            bench.nav2.status((goal_id, GoalStatus.EXECUTING))
            await asyncio.sleep(0.3)
            bench.nav2.status((goal_id, GoalStatus.SUCCEEDED))
            await asyncio.sleep(0.3)
            await recover(bench.core, left)

    run_virtual(restart(run_virtual(_crash(path))))
    with JournalReader(path) as reader:
        events = list(reader.events())
    assert _outcome(events) == ('SUCCEEDED', 'verified')
    assert [e for e in events if e.type == 'SALIENT_EVENT'] == []


class _Left:
    """A turn on the spot that a killed run left open, and what a user changed since."""

    def __init__(self, path: Path, skills: str) -> None:
        self.path, self.file = path / 'journal.db', path / 'skills.yaml'
        self.file.write_text(skills)
        self.goal_id = ''

    async def crash(self) -> None:
        """Leave the turn behind as a killed process does."""
        live = self.path.with_name('live.db')
        async with Bench(live, others={'spin': ScriptableNav2()}) as bench:
            taken = await bench.call('spin', {'angle': 1.0})
            self.goal_id = taken.data['action_id']
            await asyncio.sleep(1.0)
            with sqlite3.connect(live) as source, sqlite3.connect(self.path) as copy:
                source.backup(copy)
        self.path.chmod(0o600)

    def bench(self, *others: str) -> Bench:
        """Start again."""
        return Bench(
            self.path,
            parameters={'skills_file': str(self.file)},
            others={name: ScriptableNav2() for name in others},
        )


SPIN_OFF = 'skills: {spin: {enabled: false}}'
SPIN_ELSEWHERE = 'skills: {spin: {managed: {controller: other_spin}}}'


@pytest.mark.parametrize('skills', [SPIN_OFF, SPIN_ELSEWHERE, 'skills: {}'])
def test_an_open_action_is_asked_for_at_its_own_server_whatever_became_of_its_skill(
    skills: str, tmp_path: Path
) -> None:
    left = _Left(tmp_path, skills)

    async def restart() -> None:
        async with left.bench('spin', 'other_spin') as bench:
            found = find(left.path)
            assert found.followed(bench.core.registry.actions)['spin'].type.endswith('/Spin')
            recovering = asyncio.create_task(recover(bench.core, adopt(bench.core, found)))
            await asyncio.sleep(0.5)
            assert bench.others['spin'].result_requests == [left.goal_id]
            assert bench.nav2.result_requests == []
            assert bench.others['other_spin'].result_requests == []
            bench.robot.place(0.0, 0.0, 1.0)
            bench.others['spin'].result(GoalStatus.SUCCEEDED, {'error_code': 0}, left.goal_id)
            await recovering

    run_virtual(left.crash())
    run_virtual(restart())
    with JournalReader(left.path) as reader:
        assert _outcome(list(reader.events())) == ('SUCCEEDED', 'verified')


def test_an_open_action_that_still_runs_is_cancelled_though_its_skill_was_switched_off(
    tmp_path: Path,
) -> None:
    left = _Left(tmp_path, SPIN_OFF)

    async def restart() -> None:
        async with left.bench('spin') as bench:
            server = bench.others['spin']
            server.status((left.goal_id, GoalStatus.EXECUTING))
            await recover(bench.core, adopt(bench.core))
            assert server.cancel_requests == [left.goal_id]
            refused = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert refused.status.value == 'precondition_changed'
        # And once more: an UNKNOWN one stands in the way over the next start too.
        async with left.bench('spin') as bench:
            server = bench.others['spin']
            await recover(bench.core, adopt(bench.core))
            await asyncio.sleep(0.1)
            assert server.cancel_requests == [left.goal_id]
            server.result(GoalStatus.CANCELED, {}, left.goal_id)
            taken = await bench.call('navigate_to_pose', {'x': 1, 'y': 0})
            assert taken.status.value == 'accepted'

    run_virtual(left.crash())
    run_virtual(restart())


def test_a_success_of_a_skill_whose_verifier_is_gone_is_unknown(tmp_path: Path) -> None:
    left = _Left(tmp_path, SPIN_OFF)

    async def restart() -> None:
        async with left.bench('spin') as bench:
            del bench.core.verifiers['turn']
            recovering = asyncio.create_task(recover(bench.core, adopt(bench.core)))
            await asyncio.sleep(0.5)
            bench.others['spin'].result(GoalStatus.SUCCEEDED, {}, left.goal_id)
            await recovering

    run_virtual(left.crash())
    run_virtual(restart())
    with JournalReader(left.path) as reader:
        assert _outcome(list(reader.events())) == ('UNKNOWN', 'verification_inconclusive')
