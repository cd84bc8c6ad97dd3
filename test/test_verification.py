# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What confirms an arrival, and what only looks like one."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.testing import Bench, check_journal, run_virtual

Pose = tuple[float, float, float]


def _arrive(
    tmp_path: Path,
    goal: dict[str, float],
    *,
    pose: Pose | None = None,
    odom: Pose | None = None,
    payload: dict[str, Any] | None = None,
) -> RobotAction:
    """Drive for a while, be somewhere, and hear success."""

    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', goal)
            await asyncio.sleep(6.0)
            at = pose or (goal['x'], goal['y'], goal.get('yaw', 0.0))
            bench.robot.place(*at, odom=odom)
            await asyncio.sleep(0.3)
            bench.nav2.result(GoalStatus.SUCCEEDED, payload or {'error_code': 0})
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert check_journal(tmp_path / 'j.db') == []
    return action


@pytest.mark.parametrize(
    ('goal', 'odom'),
    [
        ({'x': 0.4, 'y': 0.0, 'yaw': math.pi}, (0.0, 0.0, 0.0)),
        ({'x': 2.0, 'y': 2.0, 'yaw': 0.0}, (2.0, -2.0, 0.0)),
        ({'x': 3.0, 'y': 0.0, 'yaw': 0.0}, (0.12, 0.0, 0.0)),
        ({'x': 0.0, 'y': 0.0, 'yaw': 0.0}, (3.0, 0.0, 0.0)),
    ],
)
def test_a_localisation_that_jumped_onto_the_goal_is_no_success(
    goal: dict[str, float], odom: Pose, tmp_path: Path
) -> None:
    action = _arrive(tmp_path, goal, odom=odom)
    assert action.state.value == 'UNKNOWN'
    assert action.outcome is not None
    assert 'localisation jumped' in action.outcome.evidence['why']


@pytest.mark.parametrize('goal', [(0.2, 0.2, 2.8), (0.0, 0.0, 1.5)])
def test_a_jump_onto_the_goal_is_none_the_truer_once_odometry_falls_silent(
    goal: Pose, tmp_path: Path
) -> None:
    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            x, y, yaw = goal
            result = await bench.call('navigate_to_pose', {'x': x, 'y': y, 'yaw': yaw})
            await asyncio.sleep(1.0)
            bench.robot.place(x, y, yaw, odom=(0.0, 0.0, 0.0))
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            await asyncio.sleep(0.2)
            bench.robot.stopped.add('odom')
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert action.outcome is not None
    assert (action.state.value, action.outcome.reason.value) == (
        'UNKNOWN',
        'verification_inconclusive',
    )


@pytest.mark.parametrize(
    ('goal_m', 'wheels_m', 'corrections'), [(0.74, 0.0, 2), (2.0, 0.85, 5), (10.0, 6.1, 20)]
)
@pytest.mark.parametrize('source', ['amcl_pose', 'tf'])
def test_a_localisation_that_is_corrected_onto_the_goal_bit_by_bit_is_no_success(
    goal_m: float, wheels_m: float, corrections: int, source: str, tmp_path: Path
) -> None:
    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.robot.pose_source = source
            await asyncio.sleep(1.0)
            result = await bench.call('navigate_to_pose', {'x': goal_m, 'y': 0.0})
            for step in range(1, corrections + 1):
                share = step / corrections
                bench.robot.place(goal_m * share, 0.0, odom=(wheels_m * share, 0.0, 0.0))
                await asyncio.sleep(0.5)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert (action.state.value, action.outcome.reason.value) == (
        'UNKNOWN',
        'verification_inconclusive',
    )


@pytest.mark.parametrize(
    ('goal', 'odom'),
    [
        ({'x': 5.0, 'y': 0.0, 'yaw': 0.0}, (4.6, 0.8, 0.2)),
        ({'x': 1.0, 'y': 1.0, 'yaw': math.pi / 2}, (1.1, 0.8, 1.3)),
    ],
)
def test_wheels_that_slipped_as_wheels_do_are_no_contradiction(
    goal: dict[str, float], odom: Pose, tmp_path: Path
) -> None:
    assert _arrive(tmp_path, goal, odom=odom).state.value == 'SUCCEEDED'


@pytest.mark.parametrize(('comes_round', 'state'), [(True, 'SUCCEEDED'), (False, 'FAILED')])
def test_a_localisation_that_jumped_on_the_way_disproves_an_arrival_only_if_it_stays_so(
    comes_round: bool, state: str, tmp_path: Path
) -> None:
    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', {'x': 2.0, 'y': 0.0})
            for y in (3.0, 0.0):  # it jumps, and jumps back
                await asyncio.sleep(1.0)
                bench.robot.place(0.0, y, odom=(0.0, 0.0, 0.0))
            await asyncio.sleep(1.0)
            bench.robot.place(1.6, 0.0, odom=(1.9, 0.0, 0.0))
            await asyncio.sleep(0.3)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            await asyncio.sleep(1.0)
            if comes_round:
                bench.robot.place(1.9, 0.0)
            return await bench.outcome(result.data['action_id'])

    assert run_virtual(scenario()).state.value == state


@pytest.mark.parametrize(
    ('yaw', 'observed', 'state'),
    [
        (math.pi, -math.pi + 0.1, 'SUCCEEDED'),
        (-math.pi, math.pi, 'SUCCEEDED'),
        (math.pi, 0.0, 'FAILED'),
        (0.0, 0.34, 'SUCCEEDED'),
        (0.0, 0.36, 'FAILED'),
    ],
)
def test_a_heading_is_compared_around_the_circle(
    yaw: float, observed: float, state: str, tmp_path: Path
) -> None:
    action = _arrive(tmp_path, {'x': 1.0, 'y': 0.0, 'yaw': yaw}, pose=(1.0, 0.0, observed))
    assert action.state.value == state


@pytest.mark.parametrize(
    ('x', 'state'), [(1.34, 'SUCCEEDED'), (0.66, 'SUCCEEDED'), (1.36, 'FAILED'), (0.64, 'FAILED')]
)
def test_the_position_tolerance_is_neither_wider_nor_narrower_than_it_says(
    x: float, state: str, tmp_path: Path
) -> None:
    assert _arrive(tmp_path, {'x': 1.0, 'y': 0.0}, pose=(x, 0.0, 0.0)).state.value == state


def _rounds(
    tmp_path: Path, source: str, *, heading_rad_m: float = 0.0, missed_m: float = 0.0
) -> RobotAction:
    """Drive 10 m out, 2 m aside and back again, at 1 m/s, with wheels that see it otherwise.

    :param heading_rad_m: how far their heading drifts on each metre.
    :param missed_m: how much of the way back they have not done.
    """
    corners = [(10.0, 0.0), (10.0, 2.0), (0.0, 2.0)]

    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.robot.pose_source = source
            await asyncio.sleep(1.0)
            result = await bench.call('navigate_to_pose', {'x': 0.0, 'y': 2.0})
            x = y = wheels_x = wheels_y = driven_m = 0.0
            for number, (to_x, to_y) in enumerate(corners):
                dx, dy = to_x - x, to_y - y
                steps = round(10 * math.hypot(dx, dy))
                done = 1.0 - missed_m / 10.0 if number == 2 else 1.0
                for _ in range(steps):
                    x, y, driven_m = x + dx / steps, y + dy / steps, driven_m + 0.1
                    off = heading_rad_m * driven_m
                    cos, sin = math.cos(off) * done / steps, math.sin(off) * done / steps
                    wheels_x, wheels_y = (
                        wheels_x + cos * dx - sin * dy,
                        wheels_y + sin * dx + cos * dy,
                    )
                    bench.robot.place(x, y, 0.0, odom=(wheels_x, wheels_y, off), v=(1.0, 0.0))
                    await asyncio.sleep(0.1)
            bench.robot.place(x, y, 0.0, odom=bench.robot.odom)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert check_journal(tmp_path / 'j.db') == []
    return action


@pytest.mark.parametrize('heading_rad_m', [0.012, -0.015])
@pytest.mark.parametrize('source', ['amcl_pose', 'tf'])
def test_a_long_way_that_leads_back_is_verified_though_the_heading_of_odometry_drifts(
    source: str, heading_rad_m: float, tmp_path: Path
) -> None:
    action = _rounds(tmp_path, source, heading_rad_m=heading_rad_m)
    assert action.outcome is not None
    assert action.outcome.evidence['displacements_apart_m'] > 1.2
    assert action.state.value == 'SUCCEEDED', action.outcome.evidence


@pytest.mark.parametrize('source', ['amcl_pose', 'tf'])
def test_a_way_back_that_the_wheels_did_not_do_is_no_drift_of_their_heading(
    source: str, tmp_path: Path
) -> None:
    action = _rounds(tmp_path, source, heading_rad_m=0.005, missed_m=3.0)
    assert action.state.value == 'UNKNOWN'


def test_an_error_code_without_a_value_says_nothing(tmp_path: Path) -> None:
    payload = {'error_code': None, 'error_msg': None}
    assert _arrive(tmp_path, {'x': 1.0, 'y': 0.0}, payload=payload).state.value == 'SUCCEEDED'


@pytest.mark.parametrize(
    'payload', [{'error_code': 9002, 'error_msg': 'no frame'}, {'missed_waypoints': [1]}]
)
def test_success_that_contradicts_itself_confirms_nothing(
    payload: dict[str, Any], tmp_path: Path
) -> None:
    assert _arrive(tmp_path, {'x': 1.0, 'y': 0.0}, payload=payload).state.value == 'UNKNOWN'


def test_a_cancel_while_the_outcome_waits_for_the_disk_is_not_recorded_after_it(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', {'x': 0.05, 'y': 0.0})
            lock = sqlite3.connect(tmp_path / 'j.db', isolation_level=None, timeout=0)
            lock.execute('BEGIN IMMEDIATE')
            bench.nav2.result(GoalStatus.SUCCEEDED, {'error_code': 0})
            await asyncio.sleep(1.0)
            cancel = asyncio.create_task(
                bench.call('cancel_action', {'action_id': result.data['action_id']})
            )
            await asyncio.sleep(0.2)
            lock.close()
            await cancel

    run_virtual(scenario())
    assert check_journal(tmp_path / 'j.db') == []
