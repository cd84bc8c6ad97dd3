# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The seam between the tracker and whatever drives the robot: an action controller and its events.

The controller sends and listens; it never judges. Whatever it hears is posted as one of the frozen
events below, with the goal id that the wire carried, and the tracker decides what that means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol


class GoalStatus(IntEnum):
    """Values of action_msgs/msg/GoalStatus."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6

    @classmethod
    def name_of(cls, value: int) -> str:
        """Return the constant's name, or the number as text for a value that no one defines."""
        return cls(value).name if value in cls._value2member_map_ else str(value)


ACTIVE_STATUSES = frozenset({GoalStatus.ACCEPTED, GoalStatus.EXECUTING, GoalStatus.CANCELING})
ENDED_STATUSES = frozenset({GoalStatus.SUCCEEDED, GoalStatus.CANCELED, GoalStatus.ABORTED})


@dataclass(frozen=True, slots=True)
class GoalResponse:
    """The server answered the request for a goal."""

    goal_id: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class GoalFeedback:
    """The newest feedback of a goal, reduced to its JSON-ready numbers."""

    goal_id: str
    feedback: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The server's list of goals: (goal id, raw status), oldest first."""

    goals: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The answer to a request for a goal's result."""

    goal_id: str
    status: int
    """Raw; 0 when the server does not know the goal (any more), which proves nothing."""
    payload: dict[str, Any]
    """The result message's fields that exist, JSON-ready; a missing field is absent."""


@dataclass(frozen=True, slots=True)
class CancelResponse:
    """The answer to a cancel request (action_msgs/srv/CancelGoal return code)."""

    goal_id: str
    return_code: int


@dataclass(frozen=True, slots=True)
class ServerPresence:
    """The action server appeared or went away."""

    reachable: bool


@dataclass(frozen=True, slots=True)
class SendFailed:
    """The request could not be handed to the middleware: it certainly did not leave."""

    goal_id: str
    message: str


ControllerEvent = (
    GoalResponse
    | GoalFeedback
    | StatusReport
    | GoalResult
    | CancelResponse
    | ServerPresence
    | SendFailed
)


class ActionController(Protocol):
    """One action server, seen from a client that chooses its own goal ids.

    No method waits, and none raises: what comes of a request arrives as an event, or never.
    Events are delivered on the asyncio loop, in the order in which the wire gave them.
    """

    def set_listener(self, listener: Callable[[ControllerEvent], None]) -> None:
        """Deliver every event to `listener`; set once, before anything is sent."""
        ...

    @property
    def reachable(self) -> bool:
        """Whether the action server is there now."""
        ...

    def prepare(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Make ready what `send_goal` is about to be asked to send, while there is time for it.

        Nothing leaves. It may never be called, and what it made ready may never be sent.
        """
        ...

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Send one goal under this id; answered by GoalResponse or SendFailed, perhaps.

        :param goal: the fields of the action's goal.
        """
        ...

    def request_result(self, goal_id: str) -> None:
        """Ask for the goal's result; answered by GoalResult once the goal has ended, perhaps."""
        ...

    def cancel(self, goal_id: str) -> None:
        """Ask the server to cancel this goal and no other; answered by CancelResponse, perhaps."""
        ...
