# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The promises about calls: one result each, in order, and nothing sent on what does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.invariants.ended import check_result_and_outcome, Ended
from robot_agent_harness.journal_tools.invariants.notes import check_begin_and_end, Notes
from robot_agent_harness.report.values import text
from robot_agent_harness.skills.result import ResultStatus

_E, _S = EventType, ResultStatus
_STATUSES = {status.value: status for status in ResultStatus}
_OF_ACTIONS = frozenset({_S.ACCEPTED, _S.REJECTED, _S.ACCEPTANCE_UNKNOWN})
"""Results that only the start of an action can have; each names it."""
_OF_FAILED_CHECKS = frozenset(
    {
        _S.PRECONDITION_CHANGED,
        _S.CONTROLLER_UNAVAILABLE,
        _S.JOURNAL_UNAVAILABLE,
        _S.INTERRUPTED,
        _S.TOOL_ERROR,
    }
)
"""Results of a call whose preconditions did not hold."""


@dataclass(slots=True)
class _Call:
    recorded: list[int] = field(default_factory=list)
    checked: list[tuple[int, bool]] = field(default_factory=list)
    started: list[tuple[int, str]] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    status: str | None = None
    structured: Mapping[str, Any] = field(default_factory=dict)
    repeat_of: str | None = None
    ended: dict[str, Ended] = field(default_factory=dict)
    """Its actions that have ended before its result."""


class Calls:
    """Takes the records about calls, and judges each call at its result."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._open: dict[str, _Call] = {}

    def take(self, event: RecordedEvent) -> None:
        """Take in a record about a call: itself, its check, its start or its result."""
        call_id = str(event.tool_call_id)
        call = self._open.get(call_id)
        if call is None:
            call = self._open[call_id] = _Call()
            for earlier in self._notes.reader.select(
                Selection(tool_call_id=call_id, before_seq=event.seq)
            ):
                _add(call, earlier)
        _add(call, event)
        if event.type == _E.ACTION_PRECONDITION_CHECKED:
            self._check_check(event, call)
        elif event.type == _E.TOOL_RESULT_RECORDED:
            self._check_result(event, call_id, call)
        if call.results:
            self._judge(call_id, call, finished=False)
            del self._open[call_id]

    def ended(self, call_id: str, action_id: str, ended: Ended) -> None:
        """Take in that an action of a call has ended."""
        if call_id in self._open:
            self._open[call_id].ended[action_id] = ended

    def finish(self, *, finished: bool) -> None:
        """Judge the calls that have no result."""
        for call_id, call in self._open.items():
            self._judge(call_id, call, finished)

    def _judge(self, call_id: str, call: _Call, finished: bool) -> None:
        notes, name = self._notes, f'call {call_id}'
        check_begin_and_end(notes, name, call.recorded, call.results, 'result', finished)
        first = min(call.recorded, default=0)
        for seq, _ in call.checked:
            if seq < first:
                notes.add(f'record {seq}: the preconditions of {name} were checked before it')
        if call.repeat_of is not None and (call.checked or call.started):
            notes.add(f'{name} repeats call {call.repeat_of}, and was carried out all the same')
        if len(call.started) > 1:
            notes.add(f'{name} started {len(call.started)} actions')
        for seq, _ in call.started:
            checks = [ok for at, ok in call.checked if at < seq]
            if not checks:
                notes.add(f'record {seq}: {name} started an action without checked preconditions')
            elif not checks[-1]:
                notes.add(f'record {seq}: {name} started an action though its check had failed')
            if any(result < seq for result in call.results):
                notes.add(f'record {seq}: {name} started an action after its result')

    def _check_check(self, event: RecordedEvent, call: _Call) -> None:
        """Hold the verdict of a check against what it measured, and on what."""
        notes, payload, ok = self._notes, event.payload, event.payload.get('ok') is True
        checks = payload.get('checks')
        held = [
            isinstance(check, dict) and check.get('ok') is True
            for check in (checks if isinstance(checks, list) else ())
        ]
        if ok != all(held):
            notes.add(
                f'record {event.seq}: the check of call {event.tool_call_id} is'
                f' {"good" if ok else "bad"}, and {held.count(False)} of its {len(held)}'
                ' assumptions did not hold'
            )
        if not ok:
            return
        fresh, decision = payload.get('fresh_snapshot_id'), payload.get('decision_snapshot_id')
        begun = max(call.recorded, default=0)
        if not any(begun < seq < event.seq for seq in self._captures(fresh)):
            notes.add(
                f'record {event.seq}: call {event.tool_call_id} was checked on snapshot {fresh},'
                ' which was not recorded between the call and the check'
            )
        if not (notes.continues or any(seq < event.seq for seq in self._captures(decision))):
            notes.add(
                f'record {event.seq}: call {event.tool_call_id} was decided on snapshot'
                f' {decision}, which is not on record before'
            )

    def _captures(self, snapshot_id: object) -> list[int]:
        return self._notes.reader.captures(snapshot_id) if isinstance(snapshot_id, str) else []

    def _check_result(self, event: RecordedEvent, call_id: str, call: _Call) -> None:
        """Hold a result against its own status, the check, and the action that was started."""
        notes, name = self._notes, f'record {event.seq}: the result of call {call_id}'
        status = _STATUSES.get(str(call.status))
        if status is None:
            return  # of a later release
        if event.payload.get('is_error') is not status.is_error:
            notes.add(f'{name} is {status.value}, and is_error says otherwise')
        for key, wanted in (('status', status.value), ('message', None)):
            said = call.structured.get(key)
            if not isinstance(said, str) or (wanted is not None and said != wanted):
                notes.add(f'{name} is {status.value}, and its structured {key} is {said!r}')
        for action_id, ended in call.ended.items():
            check_result_and_outcome(notes, call_id, status.value, action_id, ended)
        if call.repeat_of is not None:
            own = self._actions_of(call.repeat_of)
        else:
            own = [action_id for _, action_id in call.started]
            self._check_against_check(name, status, call)
        named = call.structured.get('action_id')
        elsewhere = call.repeat_of is not None and notes.continues and not own
        if status in _OF_ACTIONS and named not in own and not elsewhere:
            notes.add(f'{name} is {status.value}, and names action {named}, which is not its own')
        if status is _S.COMPLETED and call.started:
            notes.add(
                f'{name} is completed, though all that was done is that action {own[0]} began'
            )

    def _check_against_check(self, name: str, status: ResultStatus, call: _Call) -> None:
        failed = bool(call.checked) and not call.checked[-1][1]
        if failed and status not in _OF_FAILED_CHECKS:
            self._notes.add(f'{name} is {status.value}, though its preconditions did not hold')
        if status is _S.PRECONDITION_CHANGED and not failed and not call.started:
            self._notes.add(f'{name} is {status.value}, and no check is on record that failed')

    def _actions_of(self, call_id: str) -> list[str]:
        starts = self._notes.reader.events(tool_call_id=call_id, type=_E.ROBOT_ACTION_STARTED)
        return [str(start.action_id) for start in starts]


def _add(call: _Call, event: RecordedEvent) -> None:
    if event.type == _E.TOOL_CALL_RECORDED:
        call.recorded.append(event.seq)
        call.repeat_of = text(event.payload, 'repeat_of')
    elif event.type == _E.ACTION_PRECONDITION_CHECKED:
        call.checked.append((event.seq, event.payload.get('ok') is True))
    elif event.type == _E.ROBOT_ACTION_STARTED:
        call.started.append((event.seq, str(event.action_id)))
    elif event.type == _E.TOOL_RESULT_RECORDED:
        call.results.append(event.seq)
        structured = event.payload.get('structured')
        call.status = text(event.payload, 'status')
        call.structured = structured if isinstance(structured, dict) else {}
