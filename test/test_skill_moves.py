# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Each shipped skill on the simulated robot, over DDS: done as told, and claimed but not done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import math
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from live_robot import live_robot, LiveRobot
from mcp import Client

pytestmark = pytest.mark.anyio

WAIT_S = 30.0


@pytest.fixture(scope='module')
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(scope='module')
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LiveRobot]:
    """One robot in the hall for all; each test puts back what it changes."""
    journal: Path = tmp_path_factory.mktemp('skills') / 'journal.db'
    robot = {'start_x': 5.0, 'start_y': 4.0, 'start_yaw': 0.0, 'time_scale': 4.0}
    async with live_robot(journal, robot=robot) as live:
        async with Client(live.url) as client:
            await _offered(client, 'undock')
        yield live


async def _offered(client: Client, tool: str) -> None:
    with anyio.fail_after(WAIT_S):
        while tool not in {t.name for t in (await client.list_tools()).tools}:
            await asyncio.sleep(0.1)


async def _do(live: LiveRobot, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool of a robot at rest, and wait for the outcome."""
    async with Client(live.url) as client:
        with anyio.fail_after(WAIT_S):
            while True:
                taken = (await client.call_tool(tool, arguments)).structured_content or {}
                if taken['status'] != 'precondition_changed':
                    break
                await asyncio.sleep(0.2)  # the robot still settles from the test before
        assert taken['status'] == 'accepted', taken
        asked = {'action_id': taken['action_id'], 'timeout_s': WAIT_S}
        return (await client.call_tool('wait_for_action', asked)).structured_content or {}


async def _turning(live: LiveRobot) -> None:
    async with Client(live.url) as client:
        with anyio.fail_after(WAIT_S):
            while True:
                looked = (await client.call_tool('get_world_snapshot', {})).structured_content
                if looked is not None and looked['snapshot']['motion'].get('at_rest') is False:
                    return
                await asyncio.sleep(0.05)


async def test_a_spin_turns_the_robot_more_than_once_round(live: LiveRobot) -> None:
    ended = await _do(live, 'spin', {'angle': -7.0})
    assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified'), ended
    assert ended['evidence']['turned_rad'] == pytest.approx(-7.0, abs=0.3)
    assert ended['goal']['angle_rad'] == -7.0


async def test_a_spin_that_stops_half_way_and_claims_success_is_disproved(
    live: LiveRobot,
) -> None:
    await live.witness.set(false_success=True)
    try:
        ended = await _do(live, 'spin', {'angle': 3.0})
    finally:
        await live.witness.set(false_success=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended
    assert 1.0 < ended['evidence']['turned_rad'] < 2.4


async def test_a_robot_backs_up_and_drives_on(live: LiveRobot) -> None:
    backed = await _do(live, 'back_up', {'distance': 0.4, 'speed': 0.2})
    assert (backed['state'], backed['reason']) == ('SUCCEEDED', 'verified'), backed
    assert backed['evidence']['odometry_forward_m'] == pytest.approx(-0.4, abs=0.1)
    drove = await _do(live, 'drive_on_heading', {'distance': 0.4, 'speed': 0.2})
    assert (drove['state'], drove['reason']) == ('SUCCEEDED', 'verified'), drove
    assert drove['evidence']['odometry_forward_m'] == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize('tool', ['back_up', 'drive_on_heading'])
async def test_a_stretch_that_is_cut_short_is_disproved(live: LiveRobot, tool: str) -> None:
    await live.witness.set(false_success=True)
    try:
        ended = await _do(live, tool, {'distance': 0.8, 'speed': 0.2})
    finally:
        await live.witness.set(false_success=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended
    assert abs(ended['evidence']['odometry_forward_m']) == pytest.approx(0.4, abs=0.15)


async def test_wheels_that_say_nothing_leave_the_number_of_turns_unknown(live: LiveRobot) -> None:
    taken = asyncio.create_task(_do(live, 'spin', {'angle': 2 * math.pi}))
    await _turning(live)
    await live.witness.set(freeze_odom=True)
    try:
        ended = await taken
    finally:
        await live.witness.set(freeze_odom=False)
    assert ended['state'] == 'UNKNOWN', ended


TOUR = [{'x': 5.0, 'y': 4.0}, {'x': 2.0, 'y': 4.0}, {'x': 2.0, 'y': 6.0}, {'x': 5.0, 'y': 6.0}]


async def test_a_tour_goes_by_its_poses_in_their_order(live: LiveRobot) -> None:
    ended = await _do(live, 'navigate_through_poses', {'poses': TOUR})
    assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified'), ended
    evidence = ended['evidence']
    assert (evidence['waypoints_between'], evidence['waypoints_passed']) == (3, 3)


async def test_a_tour_that_misses_a_pose_and_arrives_is_a_failure(live: LiveRobot) -> None:
    # Back the way it came, with a detour that the robot leaves out.
    poses = [{'x': 8.5, 'y': 4.0}, {'x': 5.0, 'y': 4.0}]
    await live.witness.set(skip_waypoints=True)
    try:
        ended = await _do(live, 'navigate_through_poses', {'poses': poses})
    finally:
        await live.witness.set(skip_waypoints=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended
    assert 'waypoint 1 of 2 was missed' in ended['evidence']['why']
    assert ended['evidence']['waypoints_passed'] == 0


async def test_a_robot_docks_where_it_charges_and_comes_off_again(live: LiveRobot) -> None:
    docked = await _do(live, 'dock', {'dock_id': 'dock'})
    assert (docked['state'], docked['reason']) == ('SUCCEEDED', 'verified'), docked
    assert docked['evidence']['charging'] is True
    off = await _do(live, 'undock', {})
    assert (off['state'], off['reason']) == ('SUCCEEDED', 'verified'), off
    assert off['evidence']['charging'] is False
    assert off['evidence']['moved_m'] > 0.3


async def test_a_dock_without_current_belies_a_success(live: LiveRobot) -> None:
    await live.witness.set(no_charge=True, false_success=True)
    try:
        ended = await _do(live, 'dock', {'dock_id': 'dock'})
    finally:
        await live.witness.set(no_charge=False, false_success=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended
    assert ended['evidence']['charging'] is False


async def test_an_undocking_that_stays_on_the_dock_is_disproved(live: LiveRobot) -> None:
    docked = await _do(live, 'dock', {'dock_id': 'dock'})
    assert docked['state'] == 'SUCCEEDED', docked
    await live.witness.set(false_success=True)
    try:
        ended = await _do(live, 'undock', {})
    finally:
        await live.witness.set(false_success=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended
    assert ended['evidence']['charging'] is True


async def test_a_battery_that_says_not_whether_it_charges_leaves_a_docking_unknown(
    live: LiveRobot,
) -> None:
    await live.witness.set(battery_mute=True)
    try:
        ended = await _do(live, 'dock', {'dock_id': 'dock'})
    finally:
        await live.witness.set(battery_mute=False)
    assert (ended['state'], ended['reason']) == ('UNKNOWN', 'verification_inconclusive'), ended
    assert 'does not say whether it charges' in ended['evidence']['why']


async def test_a_dock_that_nobody_knows_is_a_failure_with_the_servers_code(
    live: LiveRobot,
) -> None:
    ended = await _do(live, 'dock', {'dock_id': 'nowhere'})
    assert (ended['state'], ended['reason']) == ('FAILED', 'aborted'), ended
    assert ended['evidence']['result']['error_code'] == 901
