# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What has been heard of one goal, in whatever order the wire gave it, and what that amounts
to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.actions.controller import (
    ACTIVE_STATUSES,
    CancelResponse,
    ENDED_STATUSES,
    GoalResponse,
    GoalResult,
    GoalStatus,
    SendFailed,
)
from robot_agent_harness.actions.verification import Terminal

RUNS_NO_SUCH_GOAL = frozenset({2, 3})
"""Return codes of action_msgs/srv/CancelGoal: unknown goal id, goal has ended."""


@dataclass(slots=True)
class Heard:
    """The newest of each kind of news about one goal; times are steady, in nanoseconds."""

    response: bool | None = None
    """Whether the goal was accepted; the first answer counts."""
    send_error: str | None = None
    status: int | None = None
    """From the status topic; an end is not taken back."""
    status_ns: int = 0
    result: GoalResult | None = None
    result_ns: int = 0
    lost_ns: int | None = None
    """Since when the server has been out of sight; None while it is there."""
    ends: set[int] = field(default_factory=set)
    """Every end that was told, by either source: more than one is a contradiction."""
    shown_running_ns: int = 0
    """When the controller was last seen to run the goal, or to take it."""
    accepted_by: str | None = None
    """What first showed that the goal was taken: `response`, `status`, `feedback` or `result`."""
    denied_ns: int = 0
    """When it last said that it runs no such goal."""

    def take(self, event: GoalResponse | GoalResult | SendFailed, now_ns: int) -> None:
        """Take one piece of news in."""
        if isinstance(event, GoalResponse):
            self.response = event.accepted if self.response is None else self.response
            if event.accepted:
                self._shown(now_ns, 'response')
        elif isinstance(event, SendFailed):
            self.send_error = event.message
        else:
            self._take_result(event, now_ns)

    def take_status(self, status: int, now_ns: int) -> None:
        """Take in what the status topic lists for the goal."""
        if status in ENDED_STATUSES:
            self.ends.add(status)
            self.accepted_by = self.accepted_by or 'status'
        elif status in ACTIVE_STATUSES:
            self._shown(now_ns, 'status')
        if self.status not in ENDED_STATUSES and status != self.status:
            self.status, self.status_ns = status, now_ns

    def take_feedback(self, now_ns: int) -> None:
        """Take in that there was feedback: the goal runs."""
        self._shown(now_ns, 'feedback')

    def take_cancel_response(self, event: CancelResponse, now_ns: int) -> None:
        """Take in what the controller says to a cancel request."""
        if event.return_code in RUNS_NO_SUCH_GOAL:
            self.denied_ns = now_ns

    def _shown(self, now_ns: int, source: str) -> None:
        self.shown_running_ns = now_ns
        self.accepted_by = self.accepted_by or source

    def _take_result(self, result: GoalResult, now_ns: int) -> None:
        if result.status in ENDED_STATUSES:
            self.ends.add(result.status)
            self.accepted_by = self.accepted_by or 'result'
        elif result.status == GoalStatus.UNKNOWN:
            self.denied_ns = now_ns
        if not self.result_ended:
            # A forgotten goal's empty answer (status 0, no proof) must not displace a real one.
            self.result, self.result_ns = result, now_ns

    @property
    def contradicts(self) -> bool:
        """Whether the controller claims success and something else about the same goal."""
        success = GoalStatus.SUCCEEDED in self.ends
        return success and (len(self.ends) > 1 or self.response is False)

    @property
    def accepted(self) -> bool:
        """Whether the controller has shown that it took the goal."""
        return self.shown_running_ns > 0 or bool(self.ends)

    @property
    def result_ended(self) -> bool:
        """Whether the result itself tells of an end."""
        return self.result is not None and self.result.status in ENDED_STATUSES

    @property
    def last_status(self) -> int | None:
        """The newest status that means anything, from the result or the status topic."""
        return self.result.status if self.result and self.result_ended else self.status

    @property
    def runs(self) -> bool:
        """Whether the controller's last word is that it runs the goal."""
        return self.last_status in ACTIVE_STATUSES

    @property
    def runs_no_more(self) -> bool:
        """Whether there is positive evidence that the controller does not run the goal."""
        # A goal that was never seen to be taken may be on its way still.
        denied = self.accepted and self.denied_ns > self.shown_running_ns
        return self.last_status in ENDED_STATUSES or denied

    def terminal(self) -> Terminal | None:
        """Return the controller's last word about a goal that has ended; None while it has not."""
        if self.result is not None and self.result_ended:
            heard_ns = self.result_ns
            if self.status == self.result.status:
                heard_ns = min(heard_ns, self.status_ns)
            return Terminal(self.result.status, heard_ns, 'result', self.result.payload)
        if self.status is not None and self.status in ENDED_STATUSES:
            return Terminal(self.status, self.status_ns, 'status_topic', None)
        return None

    def told(self, terminal: Terminal | None) -> dict[str, Any]:
        """Return what the controller said, raw and by name, as evidence."""
        return {
            'controller_status': None if terminal is None else GoalStatus.name_of(terminal.status),
            'controller_status_source': None if terminal is None else terminal.source,
            'result_status': None if self.result is None else self.result.status,
            'result': None if self.result is None else self.result.payload,
        }
