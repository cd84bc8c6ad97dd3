# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills that come from elsewhere, over DDS: a package of somebody else's, and a file of YAML.

They are the examples of docs/writing_a_skill.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
import os
from pathlib import Path
import shutil
import subprocess
import sys
from typing import Any

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from live_robot import live_robot, LiveRobot
from mcp import Client
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from std_srvs.srv import SetBool

pytestmark = pytest.mark.anyio

PACKAGE = Path(__file__).parent / 'skill_package'
WAIT_S = 30.0


@pytest.fixture(scope='module')
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(scope='module')
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package as its user would, into a folder of its own."""
    source = tmp_path_factory.mktemp('source') / 'package'
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns('__pycache__'))
    target = tmp_path_factory.mktemp('target')
    options = ['--no-deps', '--no-build-isolation', '--no-index', '--quiet']
    command = [sys.executable, '-m', 'pip', 'install', *options, '--target', target, source]
    subprocess.run([str(part) for part in command], check=True, timeout=120)
    return target


@pytest.fixture(scope='module')
async def live(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[LiveRobot]:
    """One robot in the hall for all tests."""
    journal: Path = tmp_path_factory.mktemp('skills') / 'journal.db'
    robot = {'start_x': 5.0, 'start_y': 4.0, 'start_yaw': 0.0, 'time_scale': 4.0}
    path = os.pathsep.join(filter(None, (str(installed), os.environ.get('PYTHONPATH'))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('PYTHONPATH', path)
        harness = {'skills_file': PACKAGE / 'skills.yaml'}
        async with live_robot(journal, robot=robot, harness=harness) as live:
            await _offered(live, lambda tools: {'nudge', 'face_about', 'scrub'} <= tools)
            yield live


async def _offered(live: LiveRobot, holds: Callable[[set[str]], bool]) -> None:
    with anyio.fail_after(WAIT_S):
        async with Client(live.url) as client:
            while not holds({tool.name for tool in (await client.list_tools()).tools}):
                await asyncio.sleep(0.1)


async def _call(live: LiveRobot, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with Client(live.url) as client:
        return (await client.call_tool(tool, arguments)).structured_content or {}


async def _do(live: LiveRobot, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool of a robot at rest, and wait for the outcome."""
    with anyio.fail_after(WAIT_S):
        while (taken := await _call(live, tool, arguments))['status'] == 'precondition_changed':
            await asyncio.sleep(0.2)  # the robot still settles from the test before
    assert taken['status'] == 'accepted', taken
    asked = {'action_id': taken['action_id'], 'timeout_s': WAIT_S}
    return await _call(live, 'wait_for_action', asked)


async def test_a_skill_from_another_package_is_a_tool_with_its_own_result(
    live: LiveRobot,
) -> None:
    told = await _call(live, 'count_people', {'room': 'kitchen'})
    assert (told['status'], told['people']) == ('completed', 2)
    told = await _call(live, 'count_people', {'room': 'cellar'})
    assert (told['status'], told['message']) == (
        'tool_error',
        "count_people: no camera in 'cellar'",
    )


async def test_a_skill_that_blocks_holds_up_nobody_else(live: LiveRobot) -> None:
    blocking = asyncio.create_task(_call(live, 'measure_noise', {'seconds': 3.0}))
    await asyncio.sleep(0.3)
    assert (await _call(live, 'get_world_snapshot', {}))['status'] == 'completed'
    assert not blocking.done()
    assert (await blocking)['message'] == 'quiet'


async def test_a_managed_skill_of_another_package_is_judged_by_its_own_verifier(
    live: LiveRobot,
) -> None:
    ended = await _do(live, 'nudge', {'distance': 0.2})
    assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified'), ended
    assert ended['evidence']['moved_m'] == pytest.approx(0.2, abs=0.1)


async def test_an_action_mapped_by_yaml_is_verified_by_a_shipped_kind(live: LiveRobot) -> None:
    ended = await _do(live, 'face_about', {})
    assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified'), ended
    assert ended['goal'] == {'angle': 3.14, 'angle_rad': 3.14}
    assert ended['evidence']['turned_rad'] == pytest.approx(3.14, abs=0.3)


async def test_an_action_mapped_by_yaml_that_only_claims_success_is_disproved(
    live: LiveRobot,
) -> None:
    await live.witness.set(false_success=True)
    try:
        ended = await _do(live, 'face_about', {'angle': 3.0})
    finally:
        await live.witness.set(false_success=False)
    assert (ended['state'], ended['reason']) == ('FAILED', 'verification_disproved'), ended


async def test_a_success_that_nobody_verifies_stays_unknown(live: LiveRobot) -> None:
    ended = await _do(live, 'scrub', {'distance': 0.2})
    assert (ended['state'], ended['reason']) == ('UNKNOWN', 'verification_inconclusive'), ended
    assert ended['evidence']['controller_status'] == 'SUCCEEDED'
    # The goal has ended and the robot is at rest: the next one may go.
    assert (await _do(live, 'scrub', {'distance': 0.2}))['state'] == 'UNKNOWN'


async def test_arguments_of_a_mapped_tool_are_held_to_their_ranges(live: LiveRobot) -> None:
    for arguments in ({'angle': 9.0}, {'angle': '1'}, {'angel': 1.0}):
        told = await _call(live, 'face_about', arguments)
        assert told['status'] == 'invalid_arguments', told


class Bell:
    """A server of the service, in the test's hands."""

    def __init__(self, live: LiveRobot) -> None:
        self.rung: list[bool] = []
        self.refuses = False
        self.silent = False
        self._node = live.witness.node
        self._service = self._node.create_service(
            SetBool, 'dock/bell', self._ring, callback_group=ReentrantCallbackGroup()
        )

    async def _ring(self, request: Any, response: Any) -> Any:
        self.rung.append(request.data)
        if self.silent:
            await Future()
        response.success, response.message = not self.refuses, 'ding'
        return response

    def close(self) -> None:
        self._node.destroy_service(self._service)


async def test_a_service_mapped_by_yaml_is_a_tool_while_its_server_is_there(
    live: LiveRobot,
) -> None:
    told = await _call(live, 'ring_bell', {'ringing': True})
    assert told['status'] == 'controller_unavailable', told
    bell = Bell(live)
    try:
        await _offered(live, lambda tools: 'ring_bell' in tools)
        told = await _call(live, 'ring_bell', {'ringing': True})
        assert (told['status'], told['note']) == ('completed', 'ding'), told
        assert bell.rung == [True]
        bell.refuses = True
        told = await _call(live, 'ring_bell', {'ringing': False})
        assert told['status'] == 'tool_error', told
        assert 'refused (note: ding)' in told['message']
        bell.silent = True
        told = await _call(live, 'ring_bell', {'ringing': False})
        assert told['status'] == 'tool_error', told
        assert 'did not answer within 2.0 s' in told['message']
    finally:
        bell.close()
    await _offered(live, lambda tools: 'ring_bell' not in tools)
