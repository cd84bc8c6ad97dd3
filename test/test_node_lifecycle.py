# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The node's life: its transitions from outside, and its end by a signal."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from lifecycle_msgs.msg import Transition
from mcp import Client
from node_rig import FakeNav2, FakeRobot, harness, HarnessProcess, Probe

from robot_agent_harness.journal import JournalReader

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
    nav2.probe.until_known()
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


def test_a_transition_that_fails_is_explained_and_can_be_repeated(probe, tmp_path):
    blocked = tmp_path / 'folder'
    blocked.touch()
    with harness(blocked / 'j.db', autostart=False) as node:
        assert not probe.transition(Transition.TRANSITION_CONFIGURE)
        node.says(r'\[ERROR\].*configure failed: parameter journal\.path')
        assert probe.state() == 'unconfigured'
        blocked.unlink()
        assert probe.transition(Transition.TRANSITION_CONFIGURE)


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


def test_signals_during_the_start_and_twice_are_fine(tmp_path):
    with harness(tmp_path / 'j.db') as node:
        node.says('MCP server at')
        node.process.send_signal(signal.SIGINT)
        node.process.send_signal(signal.SIGINT)
        assert node.ends() == 0
