# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The last look before a goal is sent: taken again where anything has changed since the check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import Look
from robot_agent_harness.events import RobotActionStarted
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.journal.writer import Entry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.testing import (
    Bench,
    check_journal,
    FakeClock,
    run_virtual,
    ScriptableNav2,
)
from robot_agent_harness.testing import bench as bench_module


class NewsFromTheDisk(MissionJournal):
    """Lets something be heard just as a start reaches the disk, which takes no time."""

    news: ClassVar[Callable[[], None]]

    def append(self, *entries: Entry, **more: Any) -> asyncio.Future[list[int]]:
        written = super().append(*entries, **more)
        if any(isinstance(event, RobotActionStarted) for event, _ in entries):
            NewsFromTheDisk.news()
        return written


def _drive_off(bench: Bench) -> None:
    bench.robot.place(3.0, 0.0)
    bench.robot.publish('odom', bench.clock, bench.core.builder)
    bench.robot.publish('pose', bench.clock, bench.core.builder)


def _stop_by_hand(bench: Bench) -> None:
    bench.robot.emergency_stop = True
    bench.robot.publish('battery', bench.clock, bench.core.builder)


def _run_flat(bench: Bench) -> None:
    bench.robot.battery = 0.05
    bench.robot.publish('battery', bench.clock, bench.core.builder)


def _hear_the_same(bench: Bench) -> None:
    for topic in ('odom', 'pose', 'battery'):
        bench.robot.publish(topic, bench.clock, bench.core.builder)


@pytest.mark.parametrize(
    ('news', 'refused_for'),
    [
        (_drive_off, 'pose_drift'),
        (_stop_by_hand, 'emergency_stop_clear'),
        (_run_flat, 'battery'),
        (lambda bench: bench.nav2.set_reachable(False), 'controller_reachable'),
        (lambda bench: bench.nav2.status(('f0' * 16, GoalStatus.EXECUTING)), 'no_foreign_goal'),
        (lambda bench: bench.clock.step_ros(-60.0), 'pose_age odometry_age pose_drift battery'),
        (_hear_the_same, None),
        (lambda bench: None, None),
    ],
    ids=[
        'pose',
        'emergency stop',
        'battery',
        'server',
        'foreign goal',
        'clock',
        'the same',
        'nothing',
    ],
)
def test_what_is_heard_while_the_start_is_written_counts_however_quick_the_disk(
    news: Callable[[Bench], None],
    refused_for: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_module, 'MissionJournal', NewsFromTheDisk)

    async def scenario() -> tuple[ToolResult, ScriptableNav2]:
        async with Bench(tmp_path / 'j.db') as bench:
            monkeypatch.setattr(NewsFromTheDisk, 'news', lambda: news(bench), raising=False)
            seen = await bench.call('get_world_snapshot', {})
            named = seen.data['snapshot_id']
            goal = {'x': 2, 'y': 0}
            result = await bench.call('navigate_to_pose', goal, decision_snapshot_id=named)
            return result, bench.nav2

    result, nav2 = run_virtual(scenario())
    failed = [check['name'] for check in result.data.get('failed_checks', [])]
    assert failed == ([] if refused_for is None else refused_for.split())
    assert (result.status is ResultStatus.ACCEPTED) is (refused_for is None)
    assert len(nav2.sent) == (refused_for is None)
    assert check_journal(tmp_path / 'j.db') == []


NOTED = st.one_of(
    st.tuples(st.just('set_reachable'), st.just('nav'), st.booleans()),
    st.tuples(
        st.just('update_goals'),
        st.just('nav'),
        st.lists(
            st.tuples(st.sampled_from(['a', 'b', 'f']), st.sampled_from([2, 4, 6])),
            max_size=2,
            unique_by=lambda goal: goal[0],
        ).map(tuple),
    ),
    st.tuples(st.just('goal_ended'), st.sampled_from(['a', 'b', 'f'])),
    st.tuples(st.just('goal_runs'), st.sampled_from(['a', 'b'])),
    st.tuples(st.just('drives'), st.just('nav'), st.sampled_from(['a', 'b'])),
    st.tuples(st.just('put'), st.sampled_from(['a', 'b'])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(NOTED, max_size=12))
def test_whatever_stands_in_the_way_differently_is_news(noted: list[tuple[Any, ...]]) -> None:
    board = ActionBoard(clock=FakeClock(), controllers=('nav',))
    for what, *arguments in noted:
        before = (board.gate('nav'), board.navigation('nav'), board.active_summary())
        changes = board.changes
        if what == 'put':
            board.put(RobotAction(arguments[0], 'navigate_to_pose', {}, None, None, 'call-1', 0))
        elif what == 'drives':
            board.drives(*arguments, alone=True)
        else:
            getattr(board, what)(*arguments)
        after = (board.gate('nav'), board.navigation('nav'), board.active_summary())
        assert after == before or board.changes != changes


def test_a_start_that_reaches_the_disk_at_once_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> list[Look]:
        async with Bench(tmp_path / 'j.db') as bench:
            looks = []
            capture = bench.core.observer.capture

            def counted(mission_id: Any, look: Look, about: Any) -> Any:
                looks.append(look)
                return capture(mission_id, look, about)

            monkeypatch.setattr(bench.core.observer, 'capture', counted)
            await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            return list(looks)  # closing looks as well

    assert run_virtual(scenario()) == [Look.DECISION, Look.PRE_DISPATCH]
