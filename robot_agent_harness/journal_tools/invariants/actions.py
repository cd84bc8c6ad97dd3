# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The promises about physical actions: on disk before anything is heard of them, legal steps, one
outcome, and no success without evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import re
from typing import Any

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, TRANSITIONS
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.invariants.calls import Calls
from robot_agent_harness.journal_tools.invariants.ended import check_result_and_outcome, Ended
from robot_agent_harness.journal_tools.invariants.notes import check_begin_and_end, Notes
from robot_agent_harness.report.values import text

_E = EventType
_STATES = {state.value: state for state in ActionState}
_REASONS = {reason.value for reason in OutcomeReason}
_GOAL_ID = re.compile(r'[0-9a-f]{32}')
_TOLERANCES = (
    ('position_error_m', 'position_tolerance_m'),
    ('yaw_error_rad', 'yaw_tolerance_rad'),
)
"""What was measured of an arrival, and what it may be at most."""


@dataclass(slots=True)
class _Action:
    started: list[int] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    call_id: str | None = None
    status: str | None = None
    """Of the call's result, where that came first."""
    state: ActionState | None = None
    verifying: int | None = None
    """The record since which its end has been verified."""
    heard: bool = False
    """Whether anything the controller said about it is on record."""
    success_ns: int | None = None
    """Steady time at which the controller told of its success first."""
    progress_lost: bool = False
    """Whether records of it were dropped for want of room."""
    news_lost: bool = False
    """Whether any of what controllers said since its start was."""


class Actions:
    """Takes the records about actions, and judges each one at its outcome."""

    def __init__(self, notes: Notes, calls: Calls) -> None:
        self._notes = notes
        self._calls = calls
        self._open: dict[str, _Action] = {}
        self._strangers: set[str] = set()
        """Goals that a controller told of and that are no action's, so far."""

    # -- records ---------------------------------------------------------------------------------

    def start(self, event: RecordedEvent) -> None:
        """Take in the start of an action."""
        action_id = str(event.action_id)
        action = self._open[action_id] = self._known(event, action_id)
        action.started.append(event.seq)
        action.state = ActionState.REQUESTED
        action.call_id = event.tool_call_id
        if not _GOAL_ID.fullmatch(action_id):
            self._notes.add(
                f'record {event.seq}: action {action_id} is no goal id of 32 hex digits'
            )
        if action_id in self._strangers:
            self._notes.add(
                f'record {event.seq}: action {action_id} starts after the controller told of its'
                ' goal, which was sent before this was on disk'
            )
        if event.tool_call_id is None:
            self._notes.add(f'record {event.seq}: action {action_id} starts without a call')
        else:
            self._calls.take(event)
        if action.outcomes:
            self._judge(action_id, action)

    def answered(self, event: RecordedEvent) -> None:
        """Take in the result of a call that may have started an action, or tell of one."""
        structured = event.payload.get('structured')
        if not isinstance(structured, dict):
            return
        action_id = structured.get('action_id')
        if not isinstance(action_id, str):
            return
        action = self._open.get(action_id)
        if action is not None and action.call_id == event.tool_call_id:
            action.status = text(event.payload, 'status')
        state = _STATES.get(str(structured.get('state')))
        if state is not None and state.terminal:
            self._check_report(event, action_id, structured)

    def progress(self, event: RecordedEvent) -> None:
        """Take in what became known of an action."""
        action_id = str(event.action_id)
        action = self._known(event, action_id)
        late = event.payload.get('late') is True
        if not action.started and late and self._notes.continues:
            return  # of an action in the file before this one
        if not action.started:
            self._notes.add(f'record {event.seq}: progress of action {action_id} before its start')
        elif late and not action.outcomes:
            self._notes.add(
                f'record {event.seq}: late progress of action {action_id}, which goes on'
            )
        elif action.outcomes and not late:
            self._notes.add(
                f'record {event.seq}: progress of action {action_id} after its outcome'
            )
        elif not late:
            self._step(event, action_id, action)

    def outcome(self, event: RecordedEvent) -> None:
        """Take in how an action ended."""
        notes, action_id = self._notes, str(event.action_id)
        action = self._known(event, action_id)
        state, reason = str(event.payload.get('state')), str(event.payload.get('reason'))
        if action.started and not action.outcomes:
            self._step(event, action_id, action)
        action.outcomes.append(event.seq)
        if state not in _STATES or not _STATES[state].terminal:
            notes.add(f'record {event.seq}: action {action_id} ends in {state}, which is no end')
        if reason not in _REASONS:
            notes.add(f'record {event.seq}: action {action_id} ends for no known reason: {reason}')
        if (state == ActionState.SUCCEEDED) != (reason == OutcomeReason.VERIFIED):
            notes.add(f'record {event.seq}: action {action_id} is {state} for reason {reason}')
        if state == ActionState.SUCCEEDED:
            self._check_success(event, action_id, action)
        ended = Ended(event.seq, state, reason)
        if action.call_id is not None:
            self._calls.ended(action.call_id, action_id, ended)
            check_result_and_outcome(notes, action.call_id, action.status, action_id, ended)
        self._judge(action_id, action)

    def heard(self, event: RecordedEvent) -> None:
        """Take in what a controller said."""
        said = event.payload.get('said')
        if not isinstance(said, dict):
            return
        kind = event.payload.get('event')
        goal_id = said.get('goal_id')
        if isinstance(goal_id, str):
            action = self._open.get(goal_id)
            if action is None:
                if event.action_id is None:
                    self._strangers.add(goal_id)
            else:
                action.heard = True
                if kind == 'result':
                    self._note_status(action, said.get('status'), event)
        elif kind == 'status':
            goals = said.get('goals')
            for goal in goals if isinstance(goals, list) else ():
                if not isinstance(goal, dict):
                    continue
                action = self._open.get(str(goal.get('goal_id')))
                if action is not None:
                    action.heard = True
                    self._note_status(action, goal.get('status'), event)

    def dropped(self, action_ids: object) -> None:
        """Take in of which actions records were dropped for want of room; '' stands for none."""
        for action_id in action_ids if isinstance(action_ids, dict) else ():
            if action_id in self._open:
                self._open[action_id].progress_lost = True
            for action in self._open.values():
                action.news_lost = True

    def finish(self, *, finished: bool) -> None:
        """Judge the actions that have no outcome."""
        for action_id, action in self._open.items():
            self._check(action_id, action, finished)

    # -- rules -----------------------------------------------------------------------------------

    def _known(self, event: RecordedEvent, action_id: str) -> _Action:
        """Return what is known of an action before a record about it."""
        action = self._open.get(action_id)
        if action is None:
            action = _Action()
            for earlier in self._notes.reader.select(
                Selection(action_id=action_id, before_seq=event.seq)
            ):
                if earlier.type == _E.ROBOT_ACTION_STARTED:
                    action.started.append(earlier.seq)
                    action.state = ActionState.REQUESTED
                    action.call_id = earlier.tool_call_id
                elif earlier.type == _E.ROBOT_ACTION_OUTCOME:
                    action.outcomes.append(earlier.seq)
        return action

    @staticmethod
    def _note_status(action: _Action, status: object, event: RecordedEvent) -> None:
        at_ns = event.payload.get('monotonic_ns')
        if status == GoalStatus.SUCCEEDED and action.success_ns is None and isinstance(at_ns, int):
            action.success_ns = at_ns

    def _step(self, event: RecordedEvent, action_id: str, action: _Action) -> None:
        before, after = action.state, _STATES.get(str(event.payload.get('state')))
        if before is None or after is None:
            self._notes.add(f'record {event.seq}: action {action_id} has an unknown state')
            return
        legal = _reachable(before) if action.progress_lost else {before, *TRANSITIONS[before]}
        if after not in legal:
            self._notes.add(
                f'record {event.seq}: action {action_id} went from {before.value} to {after.value}'
            )
        if after is ActionState.VERIFYING and action.verifying is None:
            action.verifying = event.seq
        action.state = after

    def _check_success(self, event: RecordedEvent, action_id: str, action: _Action) -> None:
        notes, name = self._notes, f'record {event.seq}: action {action_id} SUCCEEDED'
        snapshot_id = event.payload.get('verification_snapshot_id')
        seen = notes.reader.captures(snapshot_id) if isinstance(snapshot_id, str) else []
        begun = max([*action.started, action.verifying or 0], default=event.seq)
        if not any(begun < seq < event.seq for seq in seen):
            since = 'the beginning of its verification' if action.verifying else 'its start'
            notes.add(
                f'{name}, but no snapshot {snapshot_id} was recorded between {since} and its'
                ' outcome'
            )
        evidence = event.payload.get('evidence')
        if not isinstance(evidence, dict) or not evidence:
            notes.add(f'{name} without evidence')
            return
        for trouble in _contradictions(evidence):
            notes.add(f'{name} on evidence that speaks against it: {trouble}')
        if not action.heard or action.news_lost:
            return  # under schema 1 nobody recorded what controllers said
        if action.success_ns is None:
            notes.add(f'{name}, and no record has the controller say so')
        elif seen:
            snapshot = notes.reader.snapshot(str(snapshot_id)) or {}
            captured_ns = snapshot.get('captured_monotonic_ns')
            if isinstance(captured_ns, int) and captured_ns < action.success_ns:
                notes.add(f'{name} on snapshot {snapshot_id}, which is older than its end')

    def _check_report(self, event: RecordedEvent, action_id: str, told: Mapping[str, Any]) -> None:
        """Hold what a result tells of an action's outcome against that outcome."""
        reader, name = self._notes.reader, f'record {event.seq}: a result'
        outcomes = [
            found
            for found in reader.events(action_id=action_id, type=_E.ROBOT_ACTION_OUTCOME)
            if found.seq < event.seq
        ]
        if not outcomes:
            begun = next(reader.events(action_id=action_id, type=_E.ROBOT_ACTION_STARTED), None)
            if begun is not None:
                self._notes.add(
                    f'{name} says that action {action_id} is {told["state"]}, before its outcome'
                    ' was recorded'
                )
            return
        for key in ('state', 'reason'):
            recorded, said = outcomes[0].payload.get(key), told.get(key)
            if said is not None and said != recorded:
                self._notes.add(
                    f'{name} says that the {key} of action {action_id} is {said}, and its outcome'
                    f' in record {outcomes[0].seq} says {recorded}'
                )
                return

    def _judge(self, action_id: str, action: _Action) -> None:
        self._check(action_id, action, finished=False)
        self._open.pop(action_id, None)

    def _check(self, action_id: str, action: _Action, finished: bool) -> None:
        if action.started or action.outcomes:
            name = f'action {action_id}'
            check_begin_and_end(
                self._notes, name, action.started, action.outcomes, 'outcome', finished
            )


def _contradictions(evidence: Mapping[str, Any]) -> list[str]:
    """Return what in evidence of a success says that it was none."""
    found = []
    status = evidence.get('controller_status')
    if status is not None and status != GoalStatus.SUCCEEDED.name:
        found.append(f'controller_status {status}')
    if evidence.get('at_rest') is False:
        found.append('at_rest false')
    for measured, limit in _TOLERANCES:
        value, most = evidence.get(measured), evidence.get(limit)
        if not isinstance(value, (int, float)) or not isinstance(most, (int, float)):
            continue
        if value > most:
            found.append(f'{measured} {value} over {limit} {most}')
    return found


def _reachable(state: ActionState) -> set[ActionState]:
    """Return the state and all that may follow it, directly or not."""
    found = {state}
    for following in TRANSITIONS[state]:
        found |= _reachable(following)
    return found
