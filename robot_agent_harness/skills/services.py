# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The seam between skills that call ROS services and whoever can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from robot_agent_harness.errors import HarnessError


@dataclass(frozen=True, slots=True)
class RosService:
    """One service of the robot."""

    name: str
    """Relative to the node's namespace or absolute."""
    type: str
    """For instance `std_srvs/srv/SetBool`."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The template of its request, see :mod:`robot_agent_harness.actions.ros_action`."""
    reads: tuple[str, ...] = ()
    """Dotted paths of what is told of its response."""
    success: str | None = None
    """Dotted path of what must be true in its response."""


class ServiceUnavailableError(HarnessError):
    """No server answers for the service; nothing was sent."""

    code = 'controller_unavailable'


class ServiceTimeoutError(HarnessError):
    """The request was sent, and nobody answered in time."""

    code = 'tool_error'


class ServiceCaller(Protocol):
    """Calls services; used on the loop."""

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Call `listener` with the name of each service whose server came (True) or went."""
        ...

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        """Return the response's fields, JSON-ready.

        :param request: the fields of the request, see :mod:`robot_agent_harness.ros.filling`.
        :raises ServiceUnavailableError: there is no server, or the request is not what it takes.
        :raises ServiceTimeoutError: there was no answer within `timeout_s` seconds.
        """
        ...
