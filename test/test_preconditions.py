# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is checked right before a goal would leave, and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import math
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.testing import Bench, run_virtual, ScriptableNav2
from robot_agent_harness.world.samples import Sample

GOAL = {'x': 2.0, 'y': 0.0}
FOREIGN = 'f' * 32
Play = Callable[[Bench], Any]


def test_the_default_preconditions_are_those_of_the_contract() -> None:
    registry = load_registry(config_path('skills.yaml'))
    for name in ('navigate_to_pose', 'navigate_to_place'):
        skill = registry.get(name)
        assert skill is not None
        assert skill.managed is not None
        policy = skill.managed.preconditions
        assert (policy.pose_max_age_s, policy.odometry_max_age_s) == (1.0, 1.0)
        assert (policy.max_drift_m, policy.max_position_variance_m2) == (0.5, 0.25)
        assert policy.min_battery_fraction == 0.2
        assert policy.emergency_stop_clear
        assert policy.controller_idle


def silent(*topics: str) -> Play:
    return lambda bench: bench.robot.stopped.update(topics)


def said(**values: Any) -> Play:
    return lambda bench: [setattr(bench.robot, name, value) for name, value in values.items()]


@pytest.mark.parametrize(
    ('change', 'check', 'limit'),
    [
        (silent('pose', 'odom'), 'pose_age', 1.0),
        (silent('odom'), 'odometry_age', 1.0),
        (lambda b: b.robot.place(0.6, 0.0), 'pose_drift', 0.5),
        (said(variance=0.3), 'position_variance', 0.25),
        (said(battery=0.19), 'battery', 0.2),
        (said(battery=math.nan), 'battery', 0.2),
        (said(emergency_stop=True), 'emergency_stop_clear', True),
        (lambda b: b.nav2.status((FOREIGN, GoalStatus.ACCEPTED)), 'no_foreign_goal', []),
        (lambda b: b.nav2.set_reachable(False), 'controller_reachable', True),
    ],
)
def test_each_check_stops_the_goal_and_reports_what_it_measured(
    change: Play, check: str, limit: Any, tmp_path: Path
) -> None:
    path = tmp_path / 'j.db'

    async def scenario() -> Any:
        async with Bench(path) as bench:
            decision = await bench.call('get_world_snapshot', {})
            change(bench)
            await asyncio.sleep(2.5)
            named = {'decision_snapshot_id': decision.data['snapshot_id']}
            result = await bench.call('navigate_to_pose', GOAL, **named)
            assert bench.nav2.sent == []
            return result

    result = run_virtual(scenario())
    unreachable = check == 'controller_reachable'
    assert result.status.value == (
        'controller_unavailable' if unreachable else 'precondition_changed'
    )
    failed = {entry['name']: entry for entry in result.data['failed_checks']}
    assert failed[check]['limit'] == limit
    assert failed[check]['measured'] is not None
    assert result.data['snapshot']['snapshot_id'] == result.data['snapshot_id']
    with JournalReader(path) as reader:
        (checked,) = reader.events(type='ACTION_PRECONDITION_CHECKED')
        assert reader.snapshot(checked.payload['fresh_snapshot_id']) is not None
        assert reader.snapshot(checked.payload['decision_snapshot_id']) is not None
        assert list(reader.events(type='ROBOT_ACTION_STARTED')) == []
    # Every check is told, with its measure, and not only the one that failed.
    assert len(checked.payload['checks']) > len(failed)
    for entry in checked.payload['checks']:
        assert {'name', 'ok', 'measured', 'limit'} <= set(entry)


@pytest.mark.parametrize('turned', [2.0, -2.0, 6.0, 0.4])
@pytest.mark.parametrize(
    ('tool', 'arguments', 'action'),
    [
        ('drive_on_heading', {'distance': 0.5}, 'drive_on_heading'),
        ('back_up', {'distance': 0.5}, 'backup'),
        ('spin', {'angle': 1.0}, 'spin'),
    ],
)
def test_a_move_from_where_the_robot_faces_is_stale_once_it_faces_elsewhere(
    tool: str, arguments: dict[str, float], action: str, turned: float, tmp_path: Path
) -> None:
    async def scenario() -> Any:
        server = ScriptableNav2()
        async with Bench(tmp_path / 'j.db', others={action: server}) as bench:
            decision = await bench.call('get_world_snapshot', {})
            bench.robot.place(0.0, 0.0, turned)
            await asyncio.sleep(1.0)
            result = await bench.call(
                tool, arguments, decision_snapshot_id=decision.data['snapshot_id']
            )
            return result, server.sent

    result, sent = run_virtual(scenario())
    if turned == 6.0:  # the same heading but for 0.28 rad, all the way round
        assert (result.status.value, len(sent)) == ('accepted', 1)
        return
    assert (result.status.value, sent) == ('precondition_changed', [])
    (failed,) = result.data['failed_checks']
    assert (failed['name'], failed['limit']) == ('heading_drift', 0.35)
    assert failed['measured'] == pytest.approx(abs(turned), abs=0.01)


def test_fields_that_are_not_declared_may_change(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with Bench(tmp_path / 'j.db') as bench:
            decision = await bench.call('get_world_snapshot', {})
            bench.robot.place(0.3, 0.2, 1.5, v=(0.3, 0.5))
            bench.robot.battery = 0.5
            await asyncio.sleep(1.0)
            named = {'decision_snapshot_id': decision.data['snapshot_id']}
            return (await bench.call('navigate_to_pose', GOAL, **named)).status.value

    assert run_virtual(scenario()) == 'accepted'


def test_a_server_that_was_just_found_may_say_first_what_it_runs(tmp_path: Path) -> None:
    async def scenario(says: bool) -> tuple[str, int, float]:
        async with Bench(tmp_path / f'{says}.db') as bench:
            bench.nav2.set_reachable(False)
            await asyncio.sleep(5.0)
            bench.nav2.set_reachable(True)
            loop = asyncio.get_running_loop()
            begin = loop.time()
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.6)
            if says:
                bench.nav2.status((FOREIGN, GoalStatus.EXECUTING))
            result = await calling
            return result.status.value, len(bench.nav2.sent), loop.time() - begin

    assert run_virtual(scenario(says=True))[:2] == ('precondition_changed', 0)
    status, sent, waited_s = run_virtual(scenario(says=False))
    assert (status, sent) == ('accepted', 1)
    assert 1.0 <= waited_s < 1.2


@pytest.mark.parametrize('engaged', [True, False, None])
def test_a_call_right_after_the_start_hears_what_the_robot_latches(
    engaged: bool | None, tmp_path: Path
) -> None:
    async def scenario() -> tuple[str, int]:
        bench = Bench(tmp_path / 'j.db')
        entering = asyncio.create_task(bench.__aenter__())
        await asyncio.sleep(0.2)
        calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
        await asyncio.sleep(0.6)
        if engaged is not None:
            stop = Sample(engaged, None, bench.clock.monotonic_ns(), bench.clock.ros_ns())
            bench.core.builder.observe_emergency_stop(stop)
        result = await calling
        await entering
        await bench.__aexit__(None, None, None)
        return result.status.value, len(bench.nav2.sent)

    expected = ('precondition_changed', 0) if engaged else ('accepted', 1)
    assert run_virtual(scenario()) == expected
