# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The node's life: its transitions from outside, and its end by a signal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import re
import signal
import socket
import sqlite3
import subprocess
import time
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from mcp import Client
from node_rig import FakeNav2, FakeRobot, harness, HarnessProcess, NODE, Probe, SUCCEEDED

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, ToolCallRecorded
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.journal.lock import JournalLock

READY = r'ready: MCP at (http://127\.0\.0\.1:\d+/mcp), journal .*, model none'
GOAL = {'x': 1.0, 'y': 0.0}


@pytest.fixture
def probe():
    made = Probe()
    yield made
    made.close()


def call(url: str, name: str, **arguments: Any) -> dict[str, Any]:
    async def ask() -> Any:
        async with Client(url) as client:
            return (await client.call_tool(name, arguments)).structured_content

    return dict(asyncio.run(ask()))


def start_goal(node: HarnessProcess, nav2: FakeNav2) -> tuple[str, str]:
    """Send a goal as an MCP client, once the node knows the robot; return the URL and its id."""
    url = node.says(READY).group(1)
    nav2.probe.until_known(nav2)
    answer = call(url, 'navigate_to_pose', **GOAL)
    assert answer['status'] == 'accepted', answer
    assert nav2.goal() == answer['action_id']
    return url, answer['action_id']


def outcomes(path) -> list[tuple[str, str]]:
    with JournalReader(path) as reader:
        return [
            (event.payload['state'], event.payload['reason'])
            for event in reader.events(type='ROBOT_ACTION_OUTCOME')
        ]


def test_every_transition_does_what_it_says(probe, tmp_path):
    path = tmp_path / 'j.db'
    FakeRobot(probe)
    nav2 = FakeNav2(probe)
    with harness(path, autostart=False) as node:
        assert probe.state() == 'unconfigured'
        assert not path.exists()
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        assert path.exists()
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        url, action_id = start_goal(node, nav2)

        assert probe.transition(Transition.TRANSITION_DEACTIVATE)
        assert probe.state() == 'inactive'
        assert call(url, 'navigate_to_pose', **GOAL)['status'] == 'harness_inactive'
        # What was under way is followed to its end all the same.
        nav2.feed(action_id, 0.5)
        probe.until(lambda: call(url, 'get_action', action_id=action_id)['state'] == 'RUNNING')
        assert nav2.cancel_requests == []

        assert probe.transition(Transition.TRANSITION_CLEANUP)
        assert probe.state() == 'unconfigured'
        assert outcomes(path) == [('UNKNOWN', 'interrupted')]
        assert len(nav2.cancel_requests) == 1

        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        assert probe.state() == 'active'
        assert probe.transition(Transition.TRANSITION_ACTIVE_SHUTDOWN)
        assert node.ends() == 0


class Told:
    """What the node says of its lifecycle in /diagnostics."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._heard = probe.listen(DiagnosticArray, '/diagnostics')

    def until(self, level: bytes, text: str) -> None:
        self._probe.until(
            lambda: any(
                status.level == level and text in status.message
                for array in self._heard[-3:]
                for status in array.status
                if status.name == f'{NODE[1:]}: lifecycle'
            ),
            (text, self._heard[-1:]),
        )


@contextlib.contextmanager
def folder_missing(tmp_path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    blocked = tmp_path / 'folder'
    blocked.touch()
    yield {'journal__path': blocked / 'j.db'}, 'parameter journal.path'
    blocked.unlink()


@contextlib.contextmanager
def second_holder(tmp_path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    path = tmp_path / 'held.db'
    path.touch()
    lock = JournalLock(path)
    path.unlink()
    yield {'journal__path': path}, f'is in use by another harness (process {os.getpid()})'
    lock.release()


@contextlib.contextmanager
def places_wrong(tmp_path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    path = tmp_path / 'places.yaml'
    path.write_text('places: {dock: {x: here, y: 0.0}}')
    yield {'places_file': path}, 'places.dock.x'
    path.write_text('places: {dock: {x: 1.0, y: 0.0}}')


@pytest.mark.parametrize('fault', [folder_missing, second_holder, places_wrong])
def test_a_configuration_that_fails_is_explained_and_works_once_the_cause_is_mended(
    probe, tmp_path, fault
):
    told = Told(probe)
    with fault(tmp_path) as (given, why):
        node = HarnessProcess(
            parameters={
                'journal.path': tmp_path / 'j.db',
                'mcp.enabled': False,
                'autostart': False,
                **{name.replace('__', '.'): value for name, value in given.items()},
            }
        )
        told.until(DiagnosticStatus.WARN, 'unconfigured')
        assert not probe.transition(Transition.TRANSITION_CONFIGURE)
        node.says(rf'\[ERROR\].*configure failed: .*{re.escape(why)}')
        told.until(DiagnosticStatus.ERROR, why)
        assert probe.state() == 'unconfigured'
    try:
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        told.until(DiagnosticStatus.WARN, 'inactive')
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        told.until(DiagnosticStatus.OK, 'active')
    finally:
        assert node.end() == 0
    assert sum('Traceback' in line for line in node.lines) == 0


def test_an_activation_whose_port_is_taken_fails_and_works_once_it_is_free(probe, tmp_path):
    told = Told(probe)
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        node = HarnessProcess(
            parameters={
                'journal.path': tmp_path / 'j.db',
                'mcp.port': port,
                'autostart': False,
            }
        )
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        assert not probe.transition(Transition.TRANSITION_ACTIVATE)
        node.says(rf'\[ERROR\].*activate failed: mcp\.port: 127\.0\.0\.1:{port} is in use')
        told.until(DiagnosticStatus.ERROR, f'activate failed: mcp.port: 127.0.0.1:{port} is in')
        assert probe.state() == 'inactive'
    try:
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        told.until(DiagnosticStatus.OK, 'active')
        assert call(node.says(READY).group(1), 'list_places')['status'] == 'completed'
    finally:
        assert node.end() == 0


def test_a_recovery_that_the_journal_refuses_is_explained_and_done_after_a_new_configuration(
    probe, tmp_path
):
    told, path = Told(probe), tmp_path / 'j.db'
    asyncio.run(leave_a_call_open(path))
    with harness(path, autostart=False, mcp__enabled=False) as node:
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute('BEGIN IMMEDIATE')
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        node.says(r'\[ERROR\].*no physical work is taken: recovery failed: ')
        told.until(DiagnosticStatus.WARN, 'recovery failed: ')
        told.until(DiagnosticStatus.WARN, 'clean up, configure, activate')
        other.close()
        assert probe.transition(Transition.TRANSITION_DEACTIVATE)
        assert probe.transition(Transition.TRANSITION_CLEANUP)
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        told.until(DiagnosticStatus.OK, 'active')
    assert not any('Traceback' in line for line in node.lines)
    with JournalReader(path) as reader:
        assert [event.payload['status'] for event in reader.events(type='TOOL_RESULT_RECORDED')]
        assert reader.open_work().calls == ()


async def leave_a_call_open(path: Path) -> None:
    journal = MissionJournal.open(path, clock=SystemClock())
    recorded = ToolCallRecorded(
        name='list_places',
        arguments={},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
        client={},
    )
    await journal.append((recorded, Correlation(tool_call_id='open')))
    await journal.close()


def test_an_action_goes_on_to_its_verified_end_over_a_deactivation(probe, tmp_path):
    robot, nav2 = FakeRobot(probe), FakeNav2(probe)
    with harness(tmp_path / 'j.db') as node:
        url, action_id = start_goal(node, nav2)
        assert probe.transition(Transition.TRANSITION_DEACTIVATE)
        assert call(url, 'navigate_to_pose', **GOAL)['status'] == 'harness_inactive'
        robot.x = GOAL['x']
        nav2.report(action_id, SUCCEEDED)
        ended = call(url, 'wait_for_action', action_id=action_id)
        assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified')
        assert probe.transition(Transition.TRANSITION_ACTIVATE)
        nav2.probe.until(
            lambda: call(url, 'navigate_to_pose', x=2.0, y=0.0)['status'] == 'accepted'
        )


@pytest.mark.parametrize('state', ['unconfigured', 'inactive', 'active'])
def test_a_shutdown_from_any_state_ends_the_process_with_the_journal_closed(
    probe, tmp_path, state
):
    path = tmp_path / 'j.db'
    with harness(path, autostart=False, mcp__enabled=False) as node:
        ways = {
            'unconfigured': ([], Transition.TRANSITION_UNCONFIGURED_SHUTDOWN),
            'inactive': (
                [Transition.TRANSITION_CONFIGURE],
                Transition.TRANSITION_INACTIVE_SHUTDOWN,
            ),
            'active': (
                [Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE],
                Transition.TRANSITION_ACTIVE_SHUTDOWN,
            ),
        }
        before, shutdown = ways[state]
        for transition in before:
            assert probe.transition(transition)
        assert probe.state() == state
        assert probe.transition(shutdown)
        assert node.ends() == 0
    assert path.exists() == (state != 'unconfigured')
    assert not path.with_name('j.db-wal').exists()


@pytest.mark.skipif(
    os.environ.get('ROS_DISTRO') in ('humble', 'jazzy'),
    reason='its rclpy answers no transition that it refuses; the node goes on',
)
def test_a_transition_that_is_none_of_the_state_is_refused(probe, tmp_path):
    with harness(tmp_path / 'j.db', autostart=False, mcp__enabled=False):
        assert not probe.transition(Transition.TRANSITION_ACTIVATE)
        assert probe.state() == 'unconfigured'
        assert probe.transition(Transition.TRANSITION_CONFIGURE)
        assert not probe.transition(Transition.TRANSITION_CONFIGURE)
        assert not probe.transition(Transition.TRANSITION_DEACTIVATE)
        assert probe.state() == 'inactive'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['sigint', 'sigterm'])
def test_a_signal_cancels_the_goal_under_way_and_closes_the_journal(probe, tmp_path, number):
    path = tmp_path / 'j.db'
    FakeRobot(probe)
    nav2 = FakeNav2(probe)
    with harness(path) as node:
        _, action_id = start_goal(node, nav2)
        assert node.end(number) == 0
        probe.until(lambda: nav2.cancel_requests, 'a cancel request')
    (request,) = nav2.cancel_requests
    assert bytes(request.goal_info.goal_id.uuid).hex() == action_id
    assert outcomes(path) == [('UNKNOWN', 'interrupted')]


def test_a_goal_is_left_alone_at_the_end_where_that_is_configured(probe, tmp_path):
    path = tmp_path / 'j.db'
    FakeRobot(probe)
    nav2 = FakeNav2(probe)
    with harness(path, navigation__cancel_on_timeout=False) as node:
        start_goal(node, nav2)
    assert nav2.cancel_requests == []
    assert outcomes(path) == [('UNKNOWN', 'interrupted')]


def test_a_killed_harness_is_cleared_up_after_and_sends_nothing_again(probe, tmp_path):
    path = tmp_path / 'j.db'
    FakeRobot(probe)
    nav2 = FakeNav2(probe)
    with harness(path) as node:
        _, action_id = start_goal(node, nav2)
        node.process.kill()
        node.ends()
        with harness(path) as again:
            again.says(READY)
            assert outcomes(path) == [('UNKNOWN', 'interrupted')]
        node.process.returncode = 0  # its death was ours
    assert [goal_id for goal_id, _ in nav2.goals] == [action_id]


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['sigint', 'sigterm'])
def test_signals_that_go_on_until_the_end_make_no_failure_of_it(tmp_path, number):
    """`ros2 launch` passes Ctrl-C on to a process that has had it from the terminal."""
    with harness(tmp_path / 'journal.db', fresh=True) as node:
        node.says('ready')
        deadline = time.monotonic() + 5.0
        while node.process.poll() is None and time.monotonic() < deadline:
            node.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                node.process.wait(0.005)
        assert node.ends() == 0, node.lines


def test_signals_during_the_start_and_twice_are_fine(tmp_path):
    with harness(tmp_path / 'j.db', fresh=True) as node:
        node.says('MCP server at')
        node.process.send_signal(signal.SIGINT)
        node.process.send_signal(signal.SIGINT)
        assert node.ends() == 0
