# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The five endpoints of an action on the wire, with nobody behind them who answers by itself.

rclpy's own ActionServer would keep a test from lying: here every answer is given by whoever was
handed the request, when and as often as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import hashlib
import threading
import time
from typing import Any

from action_msgs.msg import GoalStatusArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_action_status_default, QoSProfile
from rclpy.service import Service
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.ros.quiet import QUIET_PUBLISHER

FEEDBACK_DEPTH = 10
"""As rclpy's own action server."""
DISCOVERED_S, LOOK_S = 2.0, 0.01
"""How long, and how often looked for, an answer waits until whoever asked has been discovered: the
middleware waits 0.1 s, and then drops it."""
_GOAL_ID_HEX = 32


@dataclass(slots=True)
class Asked:
    """One request that has not necessarily been answered; its header says whom to answer."""

    header: Any
    request: Any


class Endpoints:
    """Services `send_goal`, `get_result`, `cancel_goal` and topics `feedback`, `status`.

    Services and feedback are reliable and volatile, the status reliable and transient local, as
    rcl_action has them.

    :param impl: the action's `Impl`, which holds the types of its endpoints.
    :param heard: for each service, who is handed its requests, on the executor's thread.
    """

    def __init__(
        self,
        node: Node,
        action_name: str,
        impl: Any,
        heard: Mapping[str, Callable[[Asked], None]],
    ) -> None:
        self._node = node
        self._part = f'{action_name}/_action/'
        self._impl = impl
        self._heard = heard
        self._services: dict[str, Service] = {}
        self._publishers: dict[str, Publisher] = {}
        # A publisher that one thread takes away while another publishes ends the latter.
        self._lock = threading.Lock()

    @property
    def are_open(self) -> bool:
        """Whether they are on the wire."""
        return bool(self._services)

    def open(self) -> None:
        """Put them on the wire."""
        node, part, impl = self._node, self._part, self._impl
        self._publishers = {
            name: node.create_publisher(kind, part + name, qos, event_callbacks=QUIET_PUBLISHER)
            for name, kind, qos in (
                ('feedback', impl.FeedbackMessage, QoSProfile(depth=FEEDBACK_DEPTH)),
                ('status', GoalStatusArray, qos_profile_action_status_default),
            )
        }
        self._services = {
            name: _deferred_service(node, kind, part + name, self._heard[name])
            for name, kind in (
                ('send_goal', impl.SendGoalService),
                ('get_result', impl.GetResultService),
                ('cancel_goal', impl.CancelGoalService),
            )
        }

    def close(self) -> None:
        """Take them away."""
        with self._lock:
            services, publishers = self._services, self._publishers
            self._services, self._publishers = {}, {}
            for service in services.values():
                self._node.destroy_service(service)
            for publisher in publishers.values():
                self._node.destroy_publisher(publisher)

    def answer(self, endpoint: str, asked: Asked, **fields: Any) -> None:
        """Answer a request, also if it was answered before."""
        name = self._node.resolve_service_name(self._part + endpoint)
        deadline = time.monotonic() + DISCOVERED_S
        while not self._node.count_clients(name) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        with self._lock:
            service = self._services.get(endpoint)
            if service is not None:  # a server that is away says nothing
                # The class's own: the instance's is replaced, see below.
                Service.send_response(service, service.srv_type.Response(**fields), asked.header)

    def publish(self, endpoint: str, message: Any) -> None:
        """Publish a message of one of the topics."""
        with self._lock:
            publisher = self._publishers.get(endpoint)
            if publisher is not None:
                publisher.publish(message)


def _deferred_service(node: Node, kind: Any, name: str, heard: Callable[[Asked], None]) -> Service:
    """Return a service whose requests are handed over and answered by nobody but the test.

    rclpy sends what a callback returns, at once and exactly once, and keeps the header for itself.
    So the callback returns the request, and what should send it hands both over instead.
    """
    service = node.create_service(kind, name, lambda request, response: request)
    service.send_response = lambda request, header: heard(Asked(header, request))
    return service


def goal_id_of(name: str) -> str:
    """Return a goal id as it is, and for a name that is none always the same one."""
    is_id = len(name) == _GOAL_ID_HEX and all(digit in '0123456789abcdef' for digit in name)
    return name if is_id else hashlib.sha256(name.encode()).hexdigest()[:_GOAL_ID_HEX]


def hex_of(goal_id: UUID) -> str:
    """Return a goal id of the wire as the harness writes it."""
    return bytes(goal_id.uuid).hex()


def uuid_of(goal_id: str) -> UUID:
    """Return a goal id as it is on the wire."""
    return UUID(uuid=list(bytes.fromhex(goal_id)))
