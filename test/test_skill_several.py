# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Several actions of one robot: one moves it at a time, each tool comes and goes with its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.replay import replay_journal
from robot_agent_harness.testing import Bench, check_journal, run_virtual, ScriptableNav2

FOREIGN = 'f' * 32
SPIN = {'angle': 1.0}
GOAL = {'x': 2.0, 'y': 0.0}


def _on_bench(tmp_path: Path, scenario: Callable[[Bench], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        others = {'spin': ScriptableNav2(), 'backup': ScriptableNav2()}
        async with Bench(tmp_path / 'j.db', others=others) as bench:
            return await scenario(bench)

    result = run_virtual(run())
    assert check_journal(tmp_path / 'j.db') == []
    return result


def _failed(result: Any) -> list[str]:
    return [check['name'] for check in result.data['failed_checks']]


def test_a_goal_goes_to_the_action_of_its_skill_as_the_fields_of_its_message(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench) -> None:
        result = await bench.call('spin', SPIN)
        assert result.status.value == 'accepted'
        (sent,) = bench.others['spin'].sent
        assert sent == (result.data['action_id'], {'target_yaw': 1.0, 'time_allowance': 10.0})
        assert bench.nav2.sent == bench.others['backup'].sent == []

    _on_bench(tmp_path, scenario)


def test_one_action_moves_the_robot_at_a_time_whichever_it_is(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        await bench.call('navigate_to_pose', GOAL)
        refused = await bench.call('spin', SPIN)
        assert 'no_unfinished_action' in _failed(refused)
        assert bench.others['spin'].sent == []

    _on_bench(tmp_path, scenario)


def test_a_goal_of_somebody_else_on_any_action_stands_in_the_way_of_all(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        bench.others['backup'].status((FOREIGN, GoalStatus.EXECUTING))
        for tool, arguments in (('navigate_to_pose', GOAL), ('spin', SPIN)):
            refused = await bench.call(tool, arguments)
            assert _failed(refused) == ['no_foreign_goal']
        bench.others['backup'].status((FOREIGN, GoalStatus.SUCCEEDED))
        assert (await bench.call('spin', SPIN)).status.value == 'accepted'

    _on_bench(tmp_path, scenario)


def test_a_recovery_of_the_navigator_is_no_goal_of_somebody_else_while_it_navigates_for_us(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench) -> None:
        told: list[tuple[str, ...]] = []
        bench.core.tracker.on_foreign_goals(told.append)
        taken = await bench.call('navigate_to_pose', GOAL)
        bench.others['spin'].status((FOREIGN, GoalStatus.EXECUTING))
        looked = await bench.call('get_world_snapshot', {})
        assert looked.data['snapshot']['navigation'].get('active_goals', []) == []
        assert told == []
        # It gives up right after its recovery: nobody replaced the goal.
        bench.nav2.result(GoalStatus.ABORTED, {})
        ended = await bench.outcome(taken.data['action_id'])
        assert ended.outcome is not None
        assert ended.outcome.reason.value == 'aborted'
        # What goes on after the action is nobody's of ours.
        assert _failed(await bench.call('spin', SPIN)) == ['no_foreign_goal']

    _on_bench(tmp_path, scenario)


@pytest.mark.parametrize('tool', ['spin', 'back_up'])
def test_a_navigation_of_somebody_else_is_no_part_of_a_move_on_the_spot(
    tool: str, tmp_path: Path
) -> None:
    async def scenario(bench: Bench) -> None:
        told: list[tuple[str, ...]] = []
        bench.core.tracker.on_foreign_goals(told.append)
        await bench.call(tool, SPIN if tool == 'spin' else {'distance': 0.5})
        bench.nav2.status((FOREIGN, GoalStatus.EXECUTING))
        looked = await bench.call('get_world_snapshot', {})
        (goal,) = looked.data['snapshot']['navigation']['active_goals']
        assert (goal['goal_id'], goal['owner']) == (FOREIGN, 'foreign')
        assert told == [(FOREIGN,)]

    _on_bench(tmp_path, scenario)


def test_a_goal_of_somebody_else_on_another_action_is_told_while_nothing_of_ours_runs(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench) -> None:
        told: list[tuple[str, ...]] = []
        bench.core.tracker.on_foreign_goals(told.append)
        bench.others['spin'].status((FOREIGN, GoalStatus.EXECUTING))
        assert told == [(FOREIGN,)]

    _on_bench(tmp_path, scenario)


def test_a_tool_goes_with_its_server_and_comes_back_with_it(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        registry, changes = bench.core.registry, []
        registry.on_change(lambda: changes.append(registry.names))
        assert 'spin' in registry.names
        assert 'dock' not in registry.names  # nobody drives it on this bench
        bench.others['spin'].set_reachable(False)
        refused = await bench.call('spin', SPIN)
        assert refused.status.value == 'controller_unavailable'
        await asyncio.sleep(2.0)
        assert 'spin' in registry.names
        await asyncio.sleep(2.0)
        assert 'spin' not in registry.names
        refused = await bench.call('spin', SPIN)
        assert refused.status.value == 'controller_unavailable'
        bench.others['spin'].set_reachable(True)
        assert 'spin' in registry.names
        assert len(changes) == 2
        assert (await bench.call('spin', SPIN)).status.value == 'accepted'

    _on_bench(tmp_path, scenario)


def test_a_server_that_only_blinks_takes_no_tool_away(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        changes: list[str] = []
        bench.core.registry.on_change(lambda: changes.append('changed'))
        bench.others['spin'].set_reachable(False)
        await asyncio.sleep(1.0)
        bench.others['spin'].set_reachable(True)
        await asyncio.sleep(10.0)
        assert changes == []

    _on_bench(tmp_path, scenario)


def test_navigation_is_offered_without_its_server(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        bench.nav2.set_reachable(False)
        await asyncio.sleep(10.0)
        assert 'navigate_to_pose' in bench.core.registry.names
        refused = await bench.call('navigate_to_pose', GOAL)
        assert refused.status.value == 'controller_unavailable'
        # A spin needs another server.
        assert (await bench.call('spin', SPIN)).status.value == 'accepted'

    _on_bench(tmp_path, scenario)


def test_a_run_of_several_actions_replays_identically(tmp_path: Path) -> None:
    async def run() -> None:
        others = {'spin': ScriptableNav2(), 'navigate_through_poses': ScriptableNav2()}
        async with Bench(tmp_path / 'j.db', others=others) as bench:
            taken = await bench.call('spin', {'angle': 1.5})
            bench.robot.place(0.0, 0.0, 1.5)
            await asyncio.sleep(0.3)
            bench.others['spin'].result(GoalStatus.SUCCEEDED, {'error_code': 0})
            assert (await bench.outcome(taken.data['action_id'])).state.value == 'SUCCEEDED'
            bench.others['spin'].set_reachable(False)
            await asyncio.sleep(5.0)
            await bench.call('spin', SPIN)
            bench.robot.place(0.0, 0.0, 0.0)
            await asyncio.sleep(1.0)
            tour = {'poses': [{'x': 2.0, 'y': 0.0}, {'x': 4.0, 'y': 0.0}]}
            taken = await bench.call('navigate_through_poses', tour)
            for step in range(1, 41):
                bench.robot.place(0.1 * step, 0.0, 0.0)
                await asyncio.sleep(0.1)
            bench.others['navigate_through_poses'].result(GoalStatus.SUCCEEDED, {})
            ended = await bench.outcome(taken.data['action_id'])
            assert ended.state.value == 'SUCCEEDED', ended.outcome

    run_virtual(run())
    replay = replay_journal(tmp_path / 'j.db')
    assert replay.identical, [difference for r in replay.runs for difference in r.differences]


UNCHECKED = """\
skills:
  navigate_to_pose: {managed: {preconditions: {controller_idle: false}}}
  spin: {managed: {preconditions: {controller_idle: false}}}
"""


def test_a_spin_that_is_taken_does_not_replace_a_drive_that_may_still_run(
    tmp_path: Path,
) -> None:
    skills = tmp_path / 'skills.yaml'
    skills.write_text(UNCHECKED)

    async def run() -> None:
        others = {'spin': ScriptableNav2()}
        parameters = {'skills_file': str(skills), 'navigation.execution_timeout_s': 5.0}
        async with Bench(tmp_path / 'j.db', others=others, parameters=parameters) as bench:
            lost = await bench.call('navigate_to_pose', GOAL)
            ended = await bench.outcome(lost.data['action_id'])
            assert ended.state.value == 'UNKNOWN'
            await bench.call('spin', SPIN)
            assert bench.core.board.unsettled == (lost.data['action_id'],)
            # Another drive does replace it.
            await bench.call('navigate_to_pose', GOAL)
            assert bench.core.board.unsettled == ()

    run_virtual(run())


@pytest.mark.parametrize(
    ('tool', 'arguments'),
    [
        ('spin', {'angle': 13.0}),
        ('spin', {}),
        ('back_up', {'distance': -0.2}),
        ('back_up', {'distance': 0.2, 'speed': 1.0}),
    ],
)
def test_what_a_move_may_be_asked_for_is_bounded(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    async def scenario(bench: Bench) -> None:
        result = await bench.call(tool, arguments)
        assert result.status.value == 'invalid_arguments'

    _on_bench(tmp_path, scenario)


def test_a_spin_is_verified_by_the_turn_that_odometry_counted(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        taken = await bench.call('spin', {'angle': 7.0})
        for step in range(1, 15):
            bench.robot.place(0.0, 0.0, 0.5 * step - (6.283185307 if step > 6 else 0.0))
            await asyncio.sleep(0.2)
        bench.others['spin'].result(GoalStatus.SUCCEEDED, {'error_code': 0})
        ended = await bench.outcome(taken.data['action_id'])
        assert ended.state.value == 'SUCCEEDED', ended.outcome
        assert ended.outcome is not None
        assert ended.outcome.evidence['turned_rad'] == pytest.approx(7.0, abs=0.01)

    _on_bench(tmp_path, scenario)


RENAMED = """\
skills:
  navigate_to_place: {managed: {controller: go_there}}
"""


def test_skills_of_one_type_may_go_to_differently_named_actions(tmp_path: Path) -> None:
    skills = tmp_path / 'skills.yaml'
    skills.write_text(RENAMED)

    async def run() -> None:
        there = ScriptableNav2()
        parameters = {'skills_file': str(skills)}
        others = {'go_there': there}
        async with Bench(tmp_path / 'j.db', others=others, parameters=parameters) as bench:
            bench.nav2.set_reachable(False)
            refused = await bench.call('navigate_to_pose', GOAL)
            assert refused.status.value == 'controller_unavailable'
            taken = await bench.call('navigate_to_place', {'name': 'kitchen'})
            assert taken.status.value == 'accepted', taken.data
            assert [goal_id for goal_id, _ in there.sent] == [taken.data['action_id']]

    run_virtual(run())
