# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What each `verification.*` parameter changes: the same robot, judged before and after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.assembly import retune
from robot_agent_harness.parameters import change_parameters, check_parameters, PARAMETERS
from robot_agent_harness.testing import Bench, run_virtual, ScriptableNav2

SERVERS = ('spin', 'drive_on_heading', 'navigate_through_poses', 'dock_robot', 'undock_robot')
TOUR = {'poses': [{'x': 1.0, 'y': 0.0}, {'x': 2.0, 'y': 0.0}]}
VERIFIED = ('SUCCEEDED', 'verified')
DISPROVED = ('FAILED', 'verification_disproved')
INCONCLUSIVE = ('UNKNOWN', 'verification_inconclusive')

Move = Callable[[Bench], Awaitable[None]]


async def _turn(bench: Bench) -> None:
    """Turn by 1.5 rad where 1.0 was meant."""
    for step in range(1, 6):
        bench.robot.place(0.0, 0.0, 0.3 * step)
        await asyncio.sleep(0.2)


async def _straight(bench: Bench) -> None:
    """Go 0.8 m where 0.5 was meant."""
    bench.robot.place(0.8, 0.0)


async def _askew(bench: Bench) -> None:
    """Go as far as was meant, and come out turned by half a radian."""
    bench.robot.place(0.5, 0.0, 0.5)


async def _aside(bench: Bench) -> None:
    """Pass the first pose by 1.2 m."""
    for x, y in ((0.2, 0.9), (1.0, 1.2), (1.8, 0.9), (2.0, 0.0)):
        bench.robot.place(x, y)
        await asyncio.sleep(0.2)


async def _unsure(bench: Bench) -> None:
    """Arrive by a localisation that is not sure of itself."""
    bench.robot.variance = 0.5
    bench.robot.place(2.0, 0.0)


async def _off(bench: Bench) -> None:
    """Move off by 0.05 m."""
    bench.robot.place(0.05, 0.0)


async def _stay(bench: Bench) -> None:
    """Stay, at a battery of 80 %."""


async def _late(bench: Bench) -> None:
    """Be seen 12 s after the end, when the battery has not been heard for nearly as long."""
    loop = asyncio.get_running_loop()
    bench.robot.place(0.5, 0.0)
    bench.robot.stopped |= {'pose', 'odom'}
    await asyncio.sleep(0.03)  # what was seen in the moment of the end counts as seen since
    loop.call_later(1.5, lambda: bench.robot.stopped.add('battery'))
    loop.call_later(13.0, lambda: bench.robot.stopped.difference_update({'pose', 'odom'}))


CASES: dict[str, tuple[Any, str, str, dict[str, Any], Move, Any, Any]] = {
    'turn_tolerance_rad': (0.6, 'spin', 'spin', {'angle': 1.0}, _turn, DISPROVED, VERIFIED),
    'distance_tolerance_m': (
        0.4,
        'drive_on_heading',
        'drive_on_heading',
        {'distance': 0.5},
        _straight,
        DISPROVED,
        VERIFIED,
    ),
    'heading_tolerance_rad': (
        0.6,
        'drive_on_heading',
        'drive_on_heading',
        {'distance': 0.5},
        _askew,
        DISPROVED,
        VERIFIED,
    ),
    'waypoint_radius_m': (
        1.5,
        'navigate_through_poses',
        'navigate_through_poses',
        TOUR,
        _aside,
        DISPROVED,
        VERIFIED,
    ),
    'max_position_variance_m2': (
        1.0,
        'navigate_to_pose',
        'navigate_to_pose',
        {'x': 2.0, 'y': 0.0},
        _unsure,
        INCONCLUSIVE,
        VERIFIED,
    ),
    'battery_max_age_s': (20.0, 'undock', 'undock_robot', {}, _late, INCONCLUSIVE, VERIFIED),
    'full_battery_fraction': (
        0.7,
        'dock',
        'dock_robot',
        {'dock_id': 'home'},
        _stay,
        DISPROVED,
        INCONCLUSIVE,
    ),
    'undocked_distance_m': (0.03, 'undock', 'undock_robot', {}, _off, DISPROVED, VERIFIED),
}


def test_these_are_all_parameters_of_the_verification() -> None:
    names = [p.name for p in PARAMETERS if p.name.startswith('verification.')]
    assert names == [f'verification.{name}' for name in CASES]


@pytest.mark.parametrize('name', CASES)
def test_a_parameter_counts_for_the_actions_that_start_after_it_was_changed(
    name: str, tmp_path: Path
) -> None:
    value, tool, server, arguments, move, before, after = CASES[name]
    skills = tmp_path / 'skills.yaml'
    skills.write_text(f'skills: {{{tool}: {{managed: {{preconditions: {UNCHECKED}}}}}}}')
    parameters = check_parameters({'skills_file': str(skills)})

    async def judged(bench: Bench) -> tuple[str, str]:
        bench.robot.stopped.clear()
        bench.robot.place(0.0, 0.0)
        bench.robot.variance = 0.01
        await asyncio.sleep(1.5)
        taken = await bench.call(tool, arguments)
        assert taken.status.value == 'accepted', taken
        await move(bench)
        controller = bench.nav2 if server == 'navigate_to_pose' else bench.others[server]
        controller.result(GoalStatus.SUCCEEDED, {})
        ended = await bench.outcome(taken.data['action_id'])
        assert ended.outcome is not None
        return ended.state.value, ended.outcome.reason.value

    async def run() -> list[tuple[str, str]]:
        others = {server: ScriptableNav2() for server in SERVERS}
        async with Bench(tmp_path / 'j.db', others=others, parameters=parameters) as bench:
            told = [await judged(bench)]
            given = {f'verification.{name}': value}
            retune(bench.core, change_parameters(parameters, given), given)
            return [*told, await judged(bench)]

    assert run_virtual(run()) == [before, after]


UNCHECKED = '{max_position_variance_m2: null, max_drift_m: null, controller_idle: false}'
