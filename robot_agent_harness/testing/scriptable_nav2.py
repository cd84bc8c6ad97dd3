# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A NavigateToPose action server, in process, that says exactly what a test tells it to.

It stands where the ROS client stands
(:class:`~robot_agent_harness.actions.controller.ActionController`) and speaks on the running loop.
Left alone it accepts each goal after :attr:`accept_after_s` and then stays silent, as a server
does whose result never comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    ServerPresence,
    StatusReport,
)


class ScriptableNav2:
    """Records what it is asked; every answer can be given, withheld, delayed or falsified."""

    def __init__(self, *, accept_after_s: float | None = 0.05) -> None:
        self.accept_after_s = accept_after_s
        """Seconds until a goal is accepted by itself; None: the test answers."""
        self.sent: list[tuple[str, dict[str, Any]]] = []
        """Every goal that came in: its id and its pose; of an action without one, its fields."""
        self.result_requests: list[str] = []
        self.cancel_requests: list[str] = []
        self.cancel_code: int | None = None
        """Return code for cancel requests; None: they are not answered."""
        self._reachable = True
        self._listener: Callable[[ControllerEvent], None] = lambda event: None

    def set_listener(self, listener: Callable[[ControllerEvent], None]) -> None:
        """Deliver every event to `listener`."""
        self._listener = listener

    @property
    def reachable(self) -> bool:
        """Whether the server is there."""
        return self._reachable

    @property
    def own_goal(self) -> str:
        """The id of the newest goal that came in."""
        return self.sent[-1][0]

    def prepare(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Do nothing."""

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Take a goal in; a server that is away hears nothing."""
        self.sent.append((goal_id, goal.get('pose', goal)))
        if self._reachable and self.accept_after_s is not None:
            asyncio.get_running_loop().call_later(
                self.accept_after_s, self.say, GoalResponse(goal_id, True)
            )

    def request_result(self, goal_id: str) -> None:
        """Note that the result was asked for."""
        self.result_requests.append(goal_id)

    def cancel(self, goal_id: str) -> None:
        """Note that a cancel was asked for, and answer if a code is set."""
        self.cancel_requests.append(goal_id)
        if self._reachable and self.cancel_code is not None:
            self.say(CancelResponse(goal_id, self.cancel_code))

    def say(self, event: ControllerEvent) -> None:
        """Send any event at once; a server that is away says nothing."""
        if self._reachable or isinstance(event, ServerPresence):
            self._listener(event)

    def respond(self, accepted: bool, goal_id: str | None = None) -> None:
        """Answer a goal request (the newest one by default)."""
        self.say(GoalResponse(goal_id or self.own_goal, accepted))

    def feedback(self, goal_id: str | None = None, **numbers: Any) -> None:
        """Send feedback about a goal."""
        self.say(GoalFeedback(goal_id or self.own_goal, numbers))

    def status(self, *goals: tuple[str, GoalStatus | int]) -> None:
        """Publish the list of goals."""
        self.say(StatusReport(tuple((goal_id, int(status)) for goal_id, status in goals)))

    def result(
        self, status: GoalStatus | int, payload: dict[str, Any], goal_id: str | None = None
    ) -> None:
        """Answer the request for a goal's result."""
        self.say(GoalResult(goal_id or self.own_goal, int(status), payload))

    def set_reachable(self, reachable: bool) -> None:
        """Let the server die, or come back knowing nothing."""
        self._reachable = reachable
        self.say(ServerPresence(reachable))

    def goals_named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return goal ids, `own` standing for the newest goal that came in."""
        return tuple(self.own_goal if name == 'own' else name for name in names)
