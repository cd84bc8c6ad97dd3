# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients of the services that skills call, one each; there are none unless a skill names one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
import contextlib
from typing import Any

from rclpy.clock import Clock as RclClock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.task import Future

from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.asking_client import AskingClient
from robot_agent_harness.ros.filling import fill, interface, plain
from robot_agent_harness.skills.services import (
    RosService,
    ServiceTimeoutError,
    ServiceUnavailableError,
)

POLL_PERIOD_S = 0.5
"""How often the graph is asked for the servers."""


class ServiceClients:
    """Made and closed on the rclpy thread, used on the loop.

    :raises ConfigurationError: this machine does not have a service's type.
    """

    def __init__(
        self,
        node: Node,
        services: Mapping[str, RosService],
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._node = node
        self._clock = clock
        self._loop = loop
        self._listener: Callable[[str, bool], None] = _nobody
        self._there: dict[str, bool] = dict.fromkeys(services, False)
        self._types: dict[str, Any] = {}
        self._clients: dict[str, AskingClient] = {}
        self._timer: Any = None
        for name, service in services.items():
            try:
                self._types[name] = interface(service.type)
            except ImportError as error:
                self.close()
                raise ConfigurationError(f'service {name}: {error}') from error
            self._clients[name] = AskingClient(node, self._types[name], name)
        if services:
            steady = RclClock(clock_type=ClockType.STEADY_TIME)
            self._timer = node.create_timer(POLL_PERIOD_S, self._poll, clock=steady)

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Call `listener`, on the loop, with each service whose server came (True) or went."""
        self._listener = listener

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        """Call a service; see :class:`robot_agent_harness.skills.services.ServiceCaller`."""
        client = self._clients[service.name]
        if not client.service_is_ready():
            raise ServiceUnavailableError(f'no server answers for service {service.name}')
        try:
            message = self._types[service.name].Request()
            fill(message, request, now_ns=self._clock.ros_ns())
        except ValueError as error:
            raise ServiceUnavailableError(f'the request cannot be made: {error}') from error
        answer: asyncio.Future[Any] = self._loop.create_future()

        def settle(result: Any) -> None:
            if not answer.done():
                answer.set_result(result)

        def answered(future: Future) -> None:
            # RuntimeError: the loop has been closed, so nobody is left to tell.
            with contextlib.suppress(RuntimeError):
                result = None if future.cancelled() else future.result()
                self._loop.call_soon_threadsafe(settle, result)

        pending = client.ask(message)
        pending.add_done_callback(answered)
        try:
            response = await asyncio.wait_for(answer, timeout_s)
        except asyncio.TimeoutError:
            client.give_up(pending)
            why = f'service {service.name} did not answer within {timeout_s} s; it may have acted'
            raise ServiceTimeoutError(why) from None
        return plain(response)

    def mute(self) -> None:
        """Tell of nothing any more."""
        self._listener = _nobody

    def close(self) -> None:
        """Give the clients up; on the rclpy thread, or once it has ended."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        for client in self._clients.values():
            client.destroy()

    def _poll(self) -> None:
        for name, client in self._clients.items():
            there = client.service_is_ready()
            if there != self._there[name]:
                self._there[name] = there
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._tell, name, there)

    def _tell(self, name: str, there: bool) -> None:
        self._listener(name, there)


def _nobody(name: str, there: bool) -> None:
    """Listen to nothing."""
