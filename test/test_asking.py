# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests ask other processes with: it must not fail by itself."""

from __future__ import annotations

import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from asking import action_client
from nav2_msgs.action import NavigateToPose
from node_rig import Probe

HALF_MADE_S = 0.2


def test_a_client_of_an_action_does_not_end_the_thread_that_spins_its_node(monkeypatch):
    probe = Probe()
    add = probe.node.add_waitable

    def add_slowly(waitable: object) -> None:
        add(waitable)
        probe.executor.wake()
        time.sleep(HALF_MADE_S)  # as long as rclpy shows the executor a client that is half made

    monkeypatch.setattr(probe.node, 'add_waitable', add_slowly)
    try:
        action_client(probe.node, NavigateToPose, 'goals')
        ran = probe.executor.create_task(lambda: True)
        assert probe.until(ran.done, 'the thread that spins')
    finally:
        probe.close()
