# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the result of a call fits what its action came to: acceptance is not completion."""

from __future__ import annotations

from dataclasses import dataclass

from robot_agent_harness.actions.lifecycle import OutcomeReason
from robot_agent_harness.journal_tools.invariants.notes import Notes
from robot_agent_harness.skills.result import ResultStatus

_S, _R = ResultStatus, OutcomeReason
_CUT_SHORT = frozenset({_S.INTERRUPTED, _S.TOOL_ERROR})
"""What any call may get instead of its answer: the harness was stopped, or its answer could not be
recorded."""
_RAN = _CUT_SHORT | {_S.ACCEPTED}
_RESULTS: dict[str, frozenset[ResultStatus]] = {
    _R.VERIFIED.value: _RAN,
    _R.ABORTED.value: _RAN,
    _R.CANCELED.value: _RAN,
    _R.PREEMPTED.value: _RAN,
    _R.VERIFICATION_DISPROVED.value: _RAN,
    _R.EXECUTION_TIMEOUT.value: _RAN,
    _R.RESULT_LOST.value: _RAN,
    # The controller refused the goal and told of it as of one that it took, or following failed.
    _R.VERIFICATION_INCONCLUSIVE.value: _RAN | {_S.ACCEPTANCE_UNKNOWN},
    _R.REJECTED.value: _CUT_SHORT | {_S.REJECTED},
    _R.ACCEPTANCE_TIMEOUT.value: _CUT_SHORT | {_S.ACCEPTANCE_UNKNOWN},
    _R.CONTROLLER_LOST.value: _RAN | {_S.ACCEPTANCE_UNKNOWN, _S.CONTROLLER_UNAVAILABLE},
    _R.JOURNAL_UNAVAILABLE.value: _CUT_SHORT | {_S.JOURNAL_UNAVAILABLE},
    # While it ran, before its answer came, or before its goal was sent: then with the reason why.
    _R.INTERRUPTED.value: _RAN
    | {
        _S.ACCEPTANCE_UNKNOWN,
        _S.HARNESS_INACTIVE,
        _S.PRECONDITION_CHANGED,
        _S.CONTROLLER_UNAVAILABLE,
    },
}
"""By the reason of an action's outcome: what its call may have got."""
_STATUSES = {status.value: status for status in ResultStatus}


@dataclass(frozen=True, slots=True)
class Ended:
    """How an action ended."""

    seq: int
    state: str
    reason: str


def check_result_and_outcome(
    notes: Notes, call_id: str, status: str | None, action_id: str, ended: Ended
) -> None:
    """Note where the result of a call contradicts the outcome of the action that it started."""
    allowed, known = _RESULTS.get(ended.reason), _STATUSES.get(status or '')
    if allowed is None or known is None or known in allowed or known is _S.COMPLETED:
        return  # that none is completed is named with the result, however its action ends
    notes.add(
        f'call {call_id} got the result {status}, but its action {action_id} ended'
        f' {ended.state} ({ended.reason}) in record {ended.seq}'
    )
