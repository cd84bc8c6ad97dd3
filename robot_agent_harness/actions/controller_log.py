# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts on record what a controller said, as far as anything can come of it.

Nav2 sends a hundred pieces of feedback a second, and a server may list the same goals again and
again. What changes nothing by itself is held back, the newest of its kind; it goes on record in
front of the first thing that shows it, or that its order matters to, and else never.
"""

from __future__ import annotations

from typing import Any, Literal

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.recorder import Recorder
from robot_agent_harness.events import ControllerEventReceived, Correlation
from robot_agent_harness.jsonable import jsonable

Kind = Literal[
    'goal_response', 'feedback', 'status', 'result', 'cancel_response', 'presence', 'send_failed'
]


class ControllerLog:
    """Records the events of all controllers, in the order in which they were heard."""

    def __init__(self, *, journal: Recorder, board: ActionBoard) -> None:
        self._journal = journal
        self._board = board
        self._held: dict[tuple[str, str], tuple[ControllerEvent, int, list[str]]] = {}
        self._fed: set[str] = set()
        """Goals of which feedback is what was recorded last."""
        self._listed: dict[str, StatusReport] = {}
        """By controller: the list that was recorded last, if nothing was since."""

    def repeats(self, controller: str, report: StatusReport) -> bool:
        """Whether a list says what is known, so that nothing can come of it."""
        return self._listed.get(controller) == report

    def heard(
        self,
        controller: str,
        event: ControllerEvent,
        now_ns: int,
        *,
        late: list[str],
        quiet: bool = False,
    ) -> None:
        """Record an event, or hold it back if it is quiet.

        :param late: the goals in it whose actions have ended.
        """
        goal_id = '' if isinstance(event, (StatusReport, ServerPresence)) else event.goal_id
        fed = isinstance(event, GoalFeedback)
        listed = isinstance(event, StatusReport)
        if quiet and (listed or goal_id in self._fed):
            self._held[controller, goal_id] = (event, now_ns, late)
            return
        if fed:
            self._held.pop((controller, goal_id), None)
        self.flush()
        if fed:
            self._fed.add(goal_id)
        elif isinstance(event, StatusReport):
            self._listed[controller] = event
        else:
            self._listed.pop(controller, None)
            self._fed.discard(goal_id)
        self._record(controller, event, now_ns, late)

    def flush(self) -> None:
        """Record what is held back: something is about to show it."""
        if not self._held:
            return
        held = sorted(self._held.items(), key=lambda item: item[1][1])
        self._held.clear()
        for (controller, _), (event, at_ns, late) in held:
            self._record(controller, event, at_ns, late, held=True)

    def forget(self, goal_id: str) -> None:
        """Let go of what is held back about a goal that has ended."""
        self._fed.discard(goal_id)
        for key in [key for key in self._held if key[1] == goal_id]:
            del self._held[key]

    def _record(
        self,
        controller: str,
        event: ControllerEvent,
        at_ns: int,
        late: list[str],
        *,
        held: bool = False,
    ) -> None:
        kind, said = told(event)
        record = ControllerEventReceived(
            controller=controller,
            event=kind,
            said=said,
            monotonic_ns=at_ns,
            held=held,
            late=late,
        )
        self._journal.defer((record, self._ids(said.get('goal_id'))))

    def _ids(self, goal_id: str | None) -> Correlation:
        action = self._board.get(goal_id) if goal_id else None
        if action is None:
            return Correlation()
        return Correlation(
            mission_id=action.mission_id,
            turn_id=action.turn_id,
            tool_call_id=action.tool_call_id,
            action_id=action.action_id,
        )


def told(event: ControllerEvent) -> tuple[Kind, dict[str, Any]]:
    """Return an event's name and its fields, JSON-ready."""
    if isinstance(event, StatusReport):
        goals = [{'goal_id': goal_id, 'status': status} for goal_id, status in event.goals]
        return 'status', {'goals': goals}
    if isinstance(event, ServerPresence):
        return 'presence', {'reachable': event.reachable}
    goal = {'goal_id': event.goal_id}
    if isinstance(event, GoalResponse):
        return 'goal_response', {**goal, 'accepted': event.accepted}
    if isinstance(event, GoalFeedback):
        return 'feedback', {**goal, 'feedback': jsonable(event.feedback)}
    if isinstance(event, GoalResult):
        return 'result', {**goal, 'status': event.status, 'payload': jsonable(event.payload)}
    if isinstance(event, CancelResponse):
        return 'cancel_response', {**goal, 'return_code': event.return_code}
    return 'send_failed', {**goal, 'message': event.message}
