# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A service client that costs nothing until it is used.

rclpy's executor builds its wait set anew for each message, from all entities that may execute. A
robot with all of Nav2's actions has two dozen services of which a run uses three: a client is in
the wait set from its first request on. To take it out again after each would wake the executor
twice for each, which costs more.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future


class AskingClient:
    """One service, for requests of which each may stay without an answer.

    Made and destroyed on the rclpy thread; requests may come from any thread.
    """

    def __init__(self, node: Node, service_type: Any, name: str) -> None:
        self._node = node
        self._use = _OnceUsed()
        self._client: Client = node.create_client(service_type, name, callback_group=self._use)

    def service_is_ready(self) -> bool:
        """Whether a server is there."""
        return bool(self._client.service_is_ready())

    def ask(self, request: Any) -> Future:
        """Send a request; the future is done once its answer has come.

        Its callbacks are called on the rclpy thread.
        """
        future = self._client.call_async(request)
        if not self._use.began:
            self._use.began = True
            # What the executor waits for just now, this is not among it.
            if self._node.executor is not None:
                self._node.executor.wake()
        return future

    def give_up(self, future: Future) -> None:
        """Wait for an answer no longer: rclpy would keep the request for ever."""
        self._client.remove_pending_request(future)

    def destroy(self) -> None:
        """Withdraw the client."""
        self._node.destroy_client(self._client)


class _OnceUsed(CallbackGroup):
    """The callback group of one client, which may execute once it has been used."""

    def __init__(self) -> None:
        super().__init__()
        self.began = False

    def can_execute(self, entity: Any) -> bool:
        """Whether an answer may come."""
        return self.began

    def beginning_execution(self, entity: Any) -> bool:
        """Allow it: one executor with one thread runs everything."""
        return True

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: nothing was excluded."""
