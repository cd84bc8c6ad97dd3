# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch files started as `ros2 launch` does: the simulations come up, and the harness drives.

They run where `launch` is installed, and those with Nav2 where Nav2 is. They use launch's own
service, since launch_pytest does not go with the pytest that the rest of the tests needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
import re
from typing import Any
import uuid

import anyio
import pytest

pytest.importorskip('launch', reason='launch is on no package index: it comes with ROS 2')
pytest.importorskip('launch_ros', reason='launch_ros is on no package index: it comes with ROS 2')
pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from ament_index_python.packages import get_package_share_directory, PackageNotFoundError
from domains import own_domain
from launch import LaunchDescription, LaunchService
from launch.actions import (
    IncludeLaunchDescription,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.launch_description_sources import PythonLaunchDescriptionSource
from mcp import Client

from robot_agent_harness.testing import check_journal

pytestmark = pytest.mark.anyio

READY = re.compile(r'ready: MCP at (http://\S+/mcp), journal')
DOMAIN = str(own_domain())
UP_S, DRIVEN_S, DOWN_S = 60.0, 90.0, 30.0


def launch_file(name: str) -> Path:
    """Return a launch file as installed; skip the test where it is not.

    `make setup` builds the interfaces alone; a colcon build installs the rest as well.
    """
    path = Path(get_package_share_directory('robot_agent_harness')) / 'launch' / name
    if not path.exists():
        pytest.skip('the package is not installed by colcon, only its interfaces are')
    return path


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, where a package is not installed."""
    missing = []
    for package in packages:
        try:
            get_package_share_directory(package)
        except PackageNotFoundError:
            missing.append(package)
    return pytest.mark.skipif(bool(missing), reason=f'not installed: {", ".join(missing)}')


class Launched:
    """What the processes of one launch say, and how they end."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.exit_codes: dict[str, int] = {}
        self._news = asyncio.Event()

    def hear(self, event: Any) -> None:
        self.lines += event.text.decode(errors='replace').splitlines()
        self._news.set()

    def ended(self, event: Any, _context: Any) -> None:
        self.exit_codes[event.process_name.rsplit('-', 1)[0]] = event.returncode

    async def url(self) -> str:
        """Return where MCP is served; waits until the harness is ready."""
        with anyio.move_on_after(UP_S):
            while True:
                for match in filter(None, map(READY.search, self.lines)):
                    return match.group(1)
                self._news.clear()
                await self._news.wait()
        raise AssertionError('\n'.join(['not ready:', *self.lines]))


@asynccontextmanager
async def launched(name: str, journal: Path, **arguments: str) -> AsyncIterator[Launched]:
    """Run a launch file, and end it as Ctrl-C does."""
    run = Launched()
    given = {'journal_path': str(journal), 'mcp_port': '0', **arguments}
    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [
                SetEnvironmentVariable('ROS_DOMAIN_ID', DOMAIN),
                RegisterEventHandler(OnProcessIO(on_stdout=run.hear, on_stderr=run.hear)),
                RegisterEventHandler(OnProcessExit(on_exit=run.ended)),
                IncludeLaunchDescription(
                    PythonLaunchDescriptionSource(str(launch_file(name))),
                    launch_arguments=list(given.items()),
                ),
            ]
        )
    )
    running = asyncio.create_task(service.run_async())
    try:
        yield run
    finally:
        with anyio.fail_after(DOWN_S):
            stopping = service.shutdown()
            if stopping is not None:
                await stopping
            await running


async def drive(url: str, place: str) -> dict[str, Any]:
    """Send the robot to a place as soon as it is ready for it, and return what became of it."""
    with anyio.fail_after(DRIVEN_S):
        async with Client(url) as client:
            while True:
                seen = await client.call_tool('get_world_snapshot', {})
                world = (seen.structured_content or {})['snapshot']
                fields = (world['map_pose'], world['motion'])
                if world['navigation'].get('controller_reachable') and all(
                    field['availability'] == 'available' for field in fields
                ):
                    break
                await asyncio.sleep(0.2)
            sent = await client.call_tool('navigate_to_place', {'name': place})
            taken = sent.structured_content or {}
            assert taken['status'] == 'accepted', taken
            asked = {'action_id': taken['action_id'], 'timeout_s': 60.0}
            ended = await client.call_tool('wait_for_action', asked)
            return dict(ended.structured_content or {})


@pytest.mark.timeout(200)
async def test_the_simulated_robot_is_launched_driven_and_ended(tmp_path: Path) -> None:
    journal = tmp_path / 'journal.db'
    namespace = f'launched_{uuid.uuid4().hex[:8]}'
    settings = {'namespace': namespace, 'time_scale': '5.0', 'robot_id': 'launched'}
    async with launched('sim.launch.py', journal, **settings) as run:
        ended = await drive(await run.url(), 'kitchen')
        assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
        assert ended['snapshot']['robot_id'] == 'launched'
    assert run.exit_codes == {'harness': 0, 'sim_robot': 0}, '\n'.join(run.lines)
    assert check_journal(journal) == []


@needs('nav2_bringup', 'nav2_loopback_sim', 'nav2_minimal_tb3_sim')
@pytest.mark.timeout(200)
async def test_nav2_with_its_loopback_simulator_is_launched_and_driven(tmp_path: Path) -> None:
    async with launched('nav2_loopback.launch.py', tmp_path / 'journal.db') as run:
        ended = await drive(await run.url(), 'south')
        assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
    assert check_journal(tmp_path / 'journal.db') == []


@needs('nav2_bringup', 'nav2_minimal_tb3_sim', 'ros_gz_sim', 'ros_gz_bridge')
@pytest.mark.timeout(300)
async def test_a_turtlebot3_in_gazebo_is_launched_and_driven(tmp_path: Path) -> None:
    async with launched('turtlebot3_gazebo.launch.py', tmp_path / 'journal.db') as run:
        ended = await drive(await run.url(), 'south')
        assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
    assert check_journal(tmp_path / 'journal.db') == []
