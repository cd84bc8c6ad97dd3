# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Services and actions of another process, asked so that no answer is lost to discovery.

That a client sees a server does not say that the server has heard of the client: the middleware
waits 0.1 s for that, and then drops the answer.

Clients live as long as their node: a process that is told that an endpoint is gone may come to a
standstill in Fast DDS 3.2 (its issue 6502), where two of its threads wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, TypeVar

from rclpy.action import ActionClient
from rclpy.node import Node

ANSWER_S = 1.0
"""After so long an answer counts as lost, and the request is made again."""
LOOK_S = 0.01
"""How often the graph is looked at: rclpy's own waits look four times a second."""

T = TypeVar('T')


def until_there(client: Any, within_s: float, rest: Callable[[float], Any] = time.sleep) -> None:
    """Wait until a client of a service or an action sees its server."""
    there = getattr(client, 'service_is_ready', None) or client.server_is_ready
    deadline = time.monotonic() + within_s
    while not there():
        assert time.monotonic() < deadline, f'not within {within_s} s: a server'
        rest(LOOK_S)


def ask(
    node: Node,
    kind: Any,
    name: str,
    request: Any,
    within_s: float,
    rest: Callable[[float], Any] = time.sleep,
) -> Any:
    """Make a request until it is answered, and return the answer.

    It may reach the server more than once. For one that must not: make its client, ask something
    harmless of the same process, and then make it. Discovery tells of endpoints in the order in
    which they were made, so that whoever answers the newest client has heard of the older ones.

    :param rest: lets so many seconds pass; it spins the node if nobody else does.
    """
    client = node.create_client(kind, name)
    deadline = time.monotonic() + within_s
    asked: list[Any] = []
    while True:
        until_there(client, deadline - time.monotonic(), rest)
        asked.append(client.call_async(request))
        lost = time.monotonic() + ANSWER_S
        while time.monotonic() < lost:
            if answered := [future for future in asked if future.done()]:
                return answered[0].result()
            rest(LOOK_S)
        assert time.monotonic() < deadline, f'not within {within_s} s: an answer of {name}'


def by_spinner(node: Node, act: Callable[..., T], *given: Any, within_s: float = 60.0) -> T:
    """Have the thread that spins a node call something, and return what that returns.

    To be used to make and to destroy servers and clients of actions. rclpy 9 shows a new one to
    the executor before it has the lock that the executor takes, and an old one after it is gone:
    the error ends whoever spins.
    """
    done = node.executor.create_task(act, *given)
    deadline = time.monotonic() + within_s
    while not done.done():
        assert time.monotonic() < deadline, f'not within {within_s} s: {act}{given}'
        time.sleep(LOOK_S)
    return done.result()


def action_client(node: Node, kind: Any, name: str) -> ActionClient:
    """Make a client of an action for a node that another thread spins."""
    return by_spinner(node, ActionClient, node, kind, name)
