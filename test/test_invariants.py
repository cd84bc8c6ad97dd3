# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The invariants as properties: whatever happens, in whatever order, they hold.

One call, one result has its own in test_dispatcher.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from pathlib import Path
import re
import sqlite3
import tempfile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import ActionState
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.skills.result import ResultStatus
from robot_agent_harness.testing import (
    Bench,
    BenchRobot,
    check_journal,
    run_virtual,
    ScriptableNav2,
)

ROOT = Path(__file__).parents[1]
GOAL = {'x': 2.0, 'y': 0.0}
FOREIGN = 'f' * 32
QUICK = {
    'navigation.accept_timeout_s': 2.0,
    'navigation.execution_timeout_s': 10.0,
    'navigation.verify_timeout_s': 3.0,
}


class Watched(BenchRobot):
    """A robot that really moves as fast as it says, and knows when it last said where it is."""

    def __init__(self) -> None:
        super().__init__()
        self.told_ns = 0
        self._moved_ns = 0

    def publish(self, topic: str, clock: Any, builder: Any) -> None:
        now_ns = clock.monotonic_ns()
        metres = self.velocity[0] * (now_ns - self._moved_ns) / 1e9
        self._moved_ns = now_ns
        if metres:
            x, y, yaw = self.pose
            self.place(x + metres, y, yaw, v=self.velocity)
        if topic == 'pose' and topic not in self.stopped:
            self.told_ns = now_ns
        super().publish(topic, clock, builder)


STATUS = st.sampled_from([*GoalStatus, 99])
HAPPENINGS = st.one_of(
    st.tuples(st.just('place'), st.sampled_from([0.0, 1.0, 1.7, 1.9, 2.0, 2.3, 2.4, 3.0])),
    st.tuples(st.just('drive'), st.sampled_from([0.5, 1.9, 2.0])),
    st.tuples(st.just('turn'), st.floats(-math.pi, math.pi)),
    st.tuples(st.just('doubt'), st.sampled_from([0.01, 0.24, 0.3, 5.0])),
    st.tuples(st.just('silence'), st.sampled_from(['pose', 'odom', 'both', 'none'])),
    st.tuples(st.just('result'), STATUS, st.booleans()),
    st.tuples(st.just('status'), STATUS, st.booleans()),
    st.tuples(st.just('feedback'), st.floats(0.0, 3.0), st.booleans()),
    st.tuples(st.just('answer'), st.booleans()),
    st.tuples(st.just('reach'), st.booleans()),
    st.tuples(st.just('wait'), st.floats(0.0, 2.0)),
)


async def _happen(bench: Bench, robot: Watched, event: tuple[Any, ...]) -> None:
    kind, value, own = event[0], event[1], event[-1]
    goal = bench.nav2.own_goal if own is True else FOREIGN
    if kind == 'place':
        robot.place(value, 0.0)
    elif kind == 'drive':
        robot.place(value, 0.0, v=(0.4, 0.0))
    elif kind == 'turn':
        robot.place(robot.pose[0], 0.0, value)
    elif kind == 'doubt':
        robot.variance = value
    elif kind == 'silence':
        both = {'both': {'pose', 'odom'}, 'none': set()}
        robot.stopped = set(both.get(value, {value}))
    elif kind == 'result':
        bench.nav2.result(value, {}, goal)
    elif kind == 'status':
        bench.nav2.status((goal, value))
    elif kind == 'feedback':
        bench.nav2.feedback(goal, distance_remaining=value)
    elif kind == 'answer':
        bench.nav2.respond(value)
    elif kind == 'reach':
        bench.nav2.set_reachable(value)
    else:
        await asyncio.sleep(value)


def _evident(robot: Watched, heard_ns: int | None) -> bool:
    """Say whether a person who sees everything would call it an arrival."""
    x, _, yaw = robot.pose
    return (
        heard_ns is not None
        and abs(x - 2.0) <= 0.36
        and abs(yaw) <= 0.36
        and robot.velocity == (0.0, 0.0)
        and (robot.variance or 0.0) <= 0.25
        and robot.told_ns >= heard_ns
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(HAPPENINGS, max_size=14))
def test_success_is_said_only_of_what_was_seen_to_be_so(events: list[tuple[Any, ...]]) -> None:
    """Invariant 2, against an oracle that knows where the robot is."""

    async def scenario(path: Path) -> None:
        robot = Watched()
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(path, nav2=nav2, robot=robot, parameters=QUICK) as bench:
            seen: dict[str, int | None] = {'heard': None}
            verdicts: list[tuple[ActionState, bool]] = []
            bench.core.tracker.on_outcome(
                lambda action: verdicts.append((action.state, _evident(robot, seen['heard'])))
            )
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.1)
            for event in events:
                claims = event[0] in ('result', 'status') and event[1:] == (4, True)
                if claims and seen['heard'] is None and nav2.reachable:
                    seen['heard'] = bench.clock.monotonic_ns()
                await _happen(bench, robot, event)
            await calling
            await bench.outcome(nav2.own_goal)
            ((state, evident),) = verdicts
            assert state is not ActionState.SUCCEEDED or evident, (events, robot)

    with tempfile.TemporaryDirectory() as folder:
        run_virtual(scenario(Path(folder) / 'j.db'))
        assert check_journal(Path(folder) / 'j.db') == []


class Auditing(ScriptableNav2):
    """Looks into the file, as another process would, in the moment a goal leaves."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.found: list[list[str]] = []

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        with JournalReader(self._path) as reader:
            (start,) = reader.events(action_id=goal_id)
            call_id = start.tool_call_id
            self.found.append([event.type for event in reader.events(tool_call_id=call_id)])
        super().send_goal(goal_id, goal)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 4.0), st.floats(0.0, 6.0)), max_size=4))
def test_no_goal_leaves_before_its_start_is_in_the_file(locks: list[tuple[float, float]]) -> None:
    """Invariant 3: whenever another program locks the journal, and for however long."""

    async def scenario(path: Path) -> tuple[list[str], Auditing]:
        nav2 = Auditing(path)
        statuses = []
        async with Bench(path, nav2=nav2) as bench:
            for pause_s, held_s in [*locks, (10.0, 0.0)]:
                lock = sqlite3.connect(path, isolation_level=None, timeout=0)
                with contextlib.suppress(sqlite3.OperationalError):
                    lock.execute('BEGIN IMMEDIATE')
                asyncio.get_running_loop().call_later(held_s, lock.close)
                await asyncio.sleep(pause_s)
                result = await bench.call('navigate_to_pose', GOAL)
                statuses.append(result.status.value)
                looked = await bench.call('get_world_snapshot', {})
                assert looked.status is ResultStatus.COMPLETED
                if len(nav2.sent) > len(nav2.found):
                    raise AssertionError('a goal left unseen')
                if result.status is ResultStatus.ACCEPTED:
                    bench.nav2.result(GoalStatus.ABORTED, {})
                    await bench.outcome(bench.nav2.own_goal)
        return statuses, nav2

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'j.db'
        statuses, nav2 = run_virtual(scenario(path))
        assert check_journal(path) == []
    assert set(statuses) <= {'accepted', 'journal_unavailable'}
    assert statuses[-1] == 'accepted', 'it works again once the lock is gone'
    assert len(nav2.sent) == statuses.count('accepted')
    order = ['TOOL_CALL_RECORDED', 'ACTION_PRECONDITION_CHECKED', 'ROBOT_ACTION_STARTED']
    for found in nav2.found:
        assert [kind for kind in found if kind in order] == order
        assert 'TOOL_RESULT_RECORDED' not in found


CHANGES = st.fixed_dictionaries(
    {
        'drift': st.sampled_from([0.0, 0.2, 0.49, 0.52, 1.0, 5.0]),
        'battery': st.sampled_from([None, 0.0, 0.19, 0.21, 1.0]),
        'stop': st.sampled_from([None, False, True]),
        'variance': st.sampled_from([None, 0.01, 0.24, 0.26]),
        'foreign': st.booleans(),
        'silent': st.sampled_from([(), ('odom',), ('pose', 'odom')]),
    }
)


@settings(max_examples=30, deadline=None)
@given(CHANGES)
def test_a_goal_leaves_exactly_if_everything_that_it_rests_on_holds(
    change: dict[str, Any],
) -> None:
    """Invariant 4, against the limits of the contract."""
    holds = (
        change['drift'] <= 0.5
        and (change['battery'] is None or change['battery'] >= 0.2)
        and change['stop'] is not True
        and (change['variance'] is None or change['variance'] <= 0.25)
        and not change['foreign']
        and not change['silent']
    )

    async def scenario(path: Path) -> None:
        robot = BenchRobot(battery=change['battery'])
        async with Bench(path, robot=robot) as bench:
            decision = await bench.call('get_world_snapshot', {})
            robot.place(change['drift'], 0.0)
            robot.emergency_stop = change['stop']
            robot.variance = change['variance']
            if change['foreign']:
                bench.nav2.status((FOREIGN, GoalStatus.EXECUTING))
            await asyncio.sleep(1.5)
            robot.stopped |= set(change['silent'])
            await asyncio.sleep(1.5)
            named = {'decision_snapshot_id': decision.data['snapshot_id']}
            result = await bench.call('navigate_to_pose', GOAL, **named)
            assert (result.status.value == 'accepted') == holds, (change, result)
            assert len(bench.nav2.sent) == holds

    with tempfile.TemporaryDirectory() as folder:
        run_virtual(scenario(Path(folder) / 'j.db'))
        with JournalReader(Path(folder) / 'j.db') as reader:
            (checked,) = reader.events(type='ACTION_PRECONDITION_CHECKED')
            assert checked.payload['ok'] == holds


def test_on_a_full_disk_nothing_new_moves_and_looking_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K35, from the call that meets it to the first one after it."""
    path = tmp_path / 'j.db'

    async def scenario() -> tuple[list[str], str, int]:
        async with Bench(path) as bench:
            await bench.call('navigate_to_pose', GOAL)
            database = bench.core.journal._database

            def full() -> None:
                raise sqlite3.OperationalError('database or disk is full')

            with monkeypatch.context() as patch:
                patch.setattr(database, 'begin', full)
                # What runs already is followed in memory, and written when the disk takes it.
                bench.robot.place(2.0, 0.0)
                bench.nav2.result(GoalStatus.SUCCEEDED, {})
                action = await bench.outcome(bench.nav2.own_goal)
                statuses = [
                    (await bench.call(name, arguments)).status.value
                    for name, arguments in (('navigate_to_pose', GOAL), ('get_world_snapshot', {}))
                ]
                assert not bench.core.journal.healthy
            await asyncio.sleep(1.0)
            statuses.append((await bench.call('navigate_to_pose', GOAL)).status.value)
            return statuses, action.state.value, len(bench.nav2.sent)

    statuses, state, sent = run_virtual(scenario())
    assert statuses == ['journal_unavailable', 'completed', 'accepted']
    assert (state, sent) == ('SUCCEEDED', 2)
    assert check_journal(path) == []


def test_nothing_outside_the_simulation_can_command_a_velocity_or_a_stop() -> None:
    """Emergency stop and low-level safety never depend on the package: it only listens."""
    for path in (ROOT / 'robot_agent_harness').rglob('*.py'):
        source = path.read_text(encoding='utf-8')
        assert not re.search(r'cmd_vel|\bTwist\b', source), path
        if 'sim' not in path.stem and 'demo' not in path.stem:
            assert not re.search(r'publisher\([^)]*emergency_stop', source, re.DOTALL), path
