# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulation from its launch file to its end, as a ROS package tests it: with launch_pytest.

That comes with ROS 2, and goes with the pytest of its distributions; where pytest is newer,
`test_launch.py` starts the same launch files by launch's own service.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
import uuid

import pytest

pytest.importorskip(
    'launch_pytest', reason='launch_pytest is on no package index: it comes with ROS 2'
)

from launch import LaunchDescription
from launch.actions import (
    IncludeLaunchDescription,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_pytest
from test_launch import DOMAIN, drive, launch_file, Launched

from robot_agent_harness.testing import check_journal

if not hasattr(pytest.fixture(lambda: None), '_pytestfixturefunction'):
    pytest.skip(
        f'launch_pytest reads what pytest {pytest.__version__} has no more (before 8.4 it had)',
        allow_module_level=True,
    )


@launch_pytest.fixture
def simulation(tmp_path: Path) -> tuple[LaunchDescription, Launched, Path]:
    """Return what is launched, what its processes say, and where their journal is."""
    run, journal = Launched(), tmp_path / 'journal.db'
    given = {
        'journal_path': str(journal),
        'mcp_port': '0',
        'namespace': f'launched_{uuid.uuid4().hex[:8]}',
        'time_scale': '5.0',
        'robot_id': 'launched',
    }
    sim = PythonLaunchDescriptionSource(str(launch_file('sim.launch.py')))
    description = LaunchDescription(
        [
            SetEnvironmentVariable('ROS_DOMAIN_ID', DOMAIN),
            RegisterEventHandler(OnProcessIO(on_stdout=run.hear, on_stderr=run.hear)),
            RegisterEventHandler(OnProcessExit(on_exit=run.ended)),
            IncludeLaunchDescription(sim, launch_arguments=list(given.items())),
        ]
    )
    return description, run, journal


@pytest.mark.timeout(200)
@pytest.mark.launch(fixture=simulation)
async def test_the_simulation_comes_up_is_driven_and_ends_with_its_journal_closed(
    simulation: tuple[LaunchDescription, Launched, Path],
) -> AsyncIterator[None]:
    _, run, journal = simulation
    ended = await drive(await run.url(), 'kitchen')
    assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
    assert ended['snapshot']['robot_id'] == 'launched'
    yield  # until everything has been shut down, as Ctrl-C does
    assert run.exit_codes == {'harness': 0, 'sim_robot': 0}, '\n'.join(run.lines)
    assert check_journal(journal) == []
