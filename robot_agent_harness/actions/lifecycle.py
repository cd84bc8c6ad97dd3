# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The life of a physical action: its states, the steps between them, and how it can end.

The table below is the only place that says which step is legal (DESIGN section 3). A step outside
it raises: a wrong step would be a wrong claim about a robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from robot_agent_harness.errors import IllegalTransitionError


class ActionState(str, Enum):
    """The states of an action; values are those of the journal, MCP and RobotActionState.msg."""

    REQUESTED = 'REQUESTED'
    ACCEPTED = 'ACCEPTED'
    RUNNING = 'RUNNING'
    VERIFYING = 'VERIFYING'
    SUCCEEDED = 'SUCCEEDED'
    FAILED = 'FAILED'
    UNKNOWN = 'UNKNOWN'

    @property
    def terminal(self) -> bool:
        """Whether nothing follows."""
        return not TRANSITIONS[self]


class OutcomeReason(str, Enum):
    """Why an action ended as it did (CONTRACT, outcome reasons)."""

    VERIFIED = 'verified'
    REJECTED = 'rejected'
    ABORTED = 'aborted'
    CANCELED = 'canceled'
    VERIFICATION_DISPROVED = 'verification_disproved'
    VERIFICATION_INCONCLUSIVE = 'verification_inconclusive'
    ACCEPTANCE_TIMEOUT = 'acceptance_timeout'
    EXECUTION_TIMEOUT = 'execution_timeout'
    RESULT_LOST = 'result_lost'
    CONTROLLER_LOST = 'controller_lost'
    PREEMPTED = 'preempted'
    JOURNAL_UNAVAILABLE = 'journal_unavailable'
    INTERRUPTED = 'interrupted'


_S = ActionState
TRANSITIONS: dict[ActionState, frozenset[ActionState]] = {
    _S.REQUESTED: frozenset({_S.ACCEPTED, _S.FAILED, _S.UNKNOWN}),
    _S.ACCEPTED: frozenset({_S.RUNNING, _S.VERIFYING, _S.FAILED, _S.UNKNOWN}),
    _S.RUNNING: frozenset({_S.VERIFYING, _S.FAILED, _S.UNKNOWN}),
    _S.VERIFYING: frozenset({_S.SUCCEEDED, _S.FAILED, _S.UNKNOWN}),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
    _S.UNKNOWN: frozenset(),
}
"""From each state, the states that may follow. SUCCEEDED has one way in, and it is
verification."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an action ended: the first one stands, for ever."""

    state: ActionState
    reason: OutcomeReason
    evidence: dict[str, Any]
    """What was measured and reported, JSON-ready."""
    verification_snapshot_id: str | None = None


@dataclass(frozen=True, slots=True)
class RobotAction:
    """One physical action, as far as it is known; each step makes a new value."""

    action_id: str
    """The ROS goal id as 32 hex digits, made before the goal was sent."""
    skill: str
    goal: dict[str, Any]
    """The goal as it goes to the controller, JSON-ready; for navigation x, y (m), yaw (rad),
    frame_id."""
    mission_id: str | None
    turn_id: str | None
    tool_call_id: str
    requested_monotonic_ns: int
    state: ActionState = ActionState.REQUESTED
    outcome: Outcome | None = None
    feedback: dict[str, Any] = field(default_factory=dict)
    """The newest feedback, reduced to its numbers."""

    def advance(self, state: ActionState, outcome: Outcome | None = None) -> RobotAction:
        """Return the action one step on.

        :raises IllegalTransitionError: the table has no such step, or an outcome is missing or
            early.
        """
        if state not in TRANSITIONS[self.state]:
            raise IllegalTransitionError(
                f'action {self.action_id}: {self.state.value} -> {state.value} is not a step'
            )
        if state.terminal != (outcome is not None) or (outcome and outcome.state is not state):
            raise IllegalTransitionError(
                f'action {self.action_id}: {state.value} and its outcome {outcome} do not agree'
            )
        return replace(self, state=state, outcome=outcome)
