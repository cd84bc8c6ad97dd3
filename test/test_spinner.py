# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that a thread of its own spins comes to its end without an accident in that thread."""

from __future__ import annotations

from collections.abc import Iterator
import sys
import threading
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from domains import own_domain
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.context import Context
from rclpy.node import Node

from robot_agent_harness.ros.spinner import Spinner

WAIT_S = 20.0
NAP_S = 0.2


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context, domain_id=own_domain())
    node = rclpy.create_node('spun', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


class Napping(MutuallyExclusiveCallbackGroup):
    """Holds the executor up between its wait and the callback, where it needs its guard."""

    def __init__(self) -> None:
        super().__init__()
        self.holding = threading.Event()

    def can_execute(self, entity: object) -> bool:
        if sys._getframe(1).f_code.co_name == '_wait_for_ready_callbacks':
            self.holding.set()
            time.sleep(NAP_S)
        return super().can_execute(entity)


def test_an_end_waits_until_the_thread_has_used_the_executor(node: Node) -> None:
    napping = Napping()
    node.create_timer(NAP_S, lambda: None, callback_group=napping)
    spinner = Spinner(node, name='spun')
    assert napping.holding.wait(WAIT_S)
    spinner.end(WAIT_S)  # an exception in the thread fails the test, by pytest's own means
    assert 'spun' not in {thread.name for thread in threading.enumerate()}


def test_a_callback_that_hangs_does_not_hold_up_the_end(node: Node) -> None:
    hangs, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        go_on.wait(WAIT_S)

    spinner = Spinner(node, name='spun')
    spinner.executor.create_task(hang)
    assert hangs.wait(WAIT_S)
    began = time.monotonic()
    spinner.end(NAP_S)
    assert time.monotonic() - began < WAIT_S / 2
    (thread,) = (thread for thread in threading.enumerate() if thread.name == 'spun')
    go_on.set()
    thread.join(WAIT_S)
    assert not thread.is_alive()


def test_what_a_callback_raises_is_told_and_the_thread_goes_on(node: Node) -> None:
    told: list[Exception] = []
    went_on = threading.Event()

    def fail() -> None:
        raise ValueError('a bad message')

    spinner = Spinner(node, name='spun', on_error=told.append)
    spinner.executor.create_task(fail)
    spinner.executor.create_task(went_on.set)
    assert went_on.wait(WAIT_S)
    spinner.end(WAIT_S)
    assert [str(error) for error in told] == ['a bad message']
