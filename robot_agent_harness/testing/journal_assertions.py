# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a journal keeps what DESIGN section 2 and CONTRACT ("The journal") promise.

For tests of the harness, and for users who want to check a robot's journal, or a skill of theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, TRANSITIONS
from robot_agent_harness.errors import JournalError
from robot_agent_harness.events import EVENT_MODELS, EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.store import DROPPED

_E = EventType
_STATES = {state.value: state for state in ActionState}


def assert_journal(path: Path | str, *, finished: bool = True) -> None:
    """Raise an AssertionError that names every violation in a journal, if there is one.

    :param finished: whether every call, action and mission must have its end.
    """
    violations = check_journal(path, finished=finished)
    if violations:
        raise AssertionError('\n'.join([f'journal {path}:', *violations]))


def check_journal(path: Path | str, *, finished: bool = True) -> list[str]:
    """Return every violation of the journal's invariants, each in a line; none for a sound one.

    :param finished: whether every call, action and mission must have its end; False for a journal
        that a harness is writing, or has left when it was killed.
    """
    violations: list[str] = []
    try:
        with JournalReader(path) as reader:
            try:
                reader.verify_chain()
            except JournalError as error:
                violations.append(str(error))
            violations += _Checker().check(reader.events(), finished=finished)
    except JournalError as error:
        violations.append(str(error))
    return violations


@dataclass(slots=True)
class _Call:
    recorded: list[int] = field(default_factory=list)
    checked: list[tuple[int, bool]] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Action:
    started: list[int] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    state: ActionState | None = None
    progress_lost: bool = False


class _Checker:
    """Reads the records once, in order."""

    def __init__(self) -> None:
        self._violations: list[str] = []
        self._calls: dict[str, _Call] = defaultdict(_Call)
        self._actions: dict[str, _Action] = defaultdict(_Action)
        self._missions: dict[str, list[RecordedEvent]] = defaultdict(list)
        self._snapshots: dict[str, list[int]] = defaultdict(list)

    def check(self, events: Iterator[RecordedEvent], *, finished: bool) -> list[str]:
        """Return the violations."""
        expected = 1
        try:
            for event in events:
                if event.seq != expected:
                    self._add(f'record {event.seq} follows record {expected - 1}: seq has a gap')
                expected = event.seq + 1
                self._check_payload(event)
                self._take(event)
        except JournalError as error:
            self._add(f'{error}; what follows was not checked')
        for call_id, call in self._calls.items():
            self._check_call(call_id, call, finished)
        for action_id, action in self._actions.items():
            self._check_action(action_id, action, finished)
        for mission_id, ends in self._missions.items():
            self._check_mission(mission_id, ends, finished)
        return self._violations

    def _add(self, text: str) -> None:
        self._violations.append(text)

    def _check_payload(self, event: RecordedEvent) -> None:
        try:
            model = EVENT_MODELS[EventType(event.type)]
        except ValueError:
            return  # a type of a later release, which readers ignore
        try:
            # Keys of a later release are nobody's violation.
            known = event.payload.keys() & model.model_fields.keys()
            model.model_validate({key: event.payload[key] for key in known})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = '.'.join(str(part) for part in first['loc'])
            self._add(f'record {event.seq} ({event.type}): payload {where}: {first["msg"]}')

    def _take(self, event: RecordedEvent) -> None:
        needed = {
            _E.TOOL_CALL_RECORDED: event.tool_call_id,
            _E.ACTION_PRECONDITION_CHECKED: event.tool_call_id,
            _E.TOOL_RESULT_RECORDED: event.tool_call_id,
            _E.ROBOT_ACTION_STARTED: event.action_id,
            _E.ROBOT_ACTION_PROGRESS: event.action_id,
            _E.ROBOT_ACTION_OUTCOME: event.action_id,
            _E.WORLD_SNAPSHOT_CAPTURED: event.snapshot_id,
            _E.MISSION_STARTED: event.mission_id,
            _E.MISSION_ENDED: event.mission_id,
        }
        ids: dict[str, str | None] = {kind.value: value for kind, value in needed.items()}
        key = ids.get(event.type)
        if event.type in ids and not key:
            self._add(f'record {event.seq} ({event.type}) lacks the id that it is about')
        elif event.type == _E.TOOL_CALL_RECORDED:
            self._calls[str(key)].recorded.append(event.seq)
        elif event.type == _E.ACTION_PRECONDITION_CHECKED:
            self._calls[str(key)].checked.append((event.seq, event.payload.get('ok') is True))
        elif event.type == _E.TOOL_RESULT_RECORDED:
            self._calls[str(key)].results.append(event.seq)
        elif event.type == _E.WORLD_SNAPSHOT_CAPTURED:
            self._snapshots[str(key)].append(event.seq)
        elif event.type in (_E.MISSION_STARTED, _E.MISSION_ENDED):
            self._missions[str(key)].append(event)
        elif event.type == _E.ROBOT_ACTION_STARTED:
            self._take_start(event, str(key))
        elif event.type == _E.ROBOT_ACTION_PROGRESS:
            self._take_progress(event, str(key))
        elif event.type == _E.ROBOT_ACTION_OUTCOME:
            self._take_outcome(event, str(key))
        elif event.type == _E.SALIENT_EVENT and event.payload.get('kind') == DROPPED:
            for action_id in event.payload.get('details', {}).get('dropped', {}):
                self._actions[action_id].progress_lost = True

    def _take_start(self, event: RecordedEvent, action_id: str) -> None:
        action = self._actions[action_id]
        action.started.append(event.seq)
        action.state = ActionState.REQUESTED
        if event.tool_call_id is None:
            self._add(f'record {event.seq}: action {action_id} starts without a call')
        else:
            self._calls[event.tool_call_id].started.append(event.seq)

    def _take_progress(self, event: RecordedEvent, action_id: str) -> None:
        action = self._actions[action_id]
        late = event.payload.get('late') is True
        if not action.started:
            self._add(f'record {event.seq}: progress of action {action_id} before its start')
        elif late and not action.outcomes:
            self._add(f'record {event.seq}: late progress of action {action_id}, which goes on')
        elif action.outcomes and not late:
            self._add(f'record {event.seq}: progress of action {action_id} after its outcome')
        elif not late:
            self._step(event, action_id, action)

    def _take_outcome(self, event: RecordedEvent, action_id: str) -> None:
        action = self._actions[action_id]
        state, reason = event.payload.get('state'), event.payload.get('reason')
        if action.started and not action.outcomes:
            self._step(event, action_id, action)
        action.outcomes.append(event.seq)
        if state not in _STATES or not _STATES[state].terminal:
            self._add(f'record {event.seq}: action {action_id} ends in {state}, which is no end')
        if (state == ActionState.SUCCEEDED) != (reason == OutcomeReason.VERIFIED):
            self._add(f'record {event.seq}: action {action_id} is {state} for reason {reason}')
        if state == ActionState.SUCCEEDED:
            snapshot_id = event.payload.get('verification_snapshot_id')
            seen = self._snapshots.get(snapshot_id, []) if isinstance(snapshot_id, str) else []
            if not any(seq > min(action.started, default=event.seq) for seq in seen):
                self._add(
                    f'record {event.seq}: action {action_id} SUCCEEDED, but no snapshot '
                    f'{snapshot_id} was recorded between its start and its outcome'
                )

    def _step(self, event: RecordedEvent, action_id: str, action: _Action) -> None:
        before, after = action.state, _STATES.get(str(event.payload.get('state')))
        if before is None or after is None:
            self._add(f'record {event.seq}: action {action_id} has an unknown state')
            return
        legal = _reachable(before) if action.progress_lost else {before, *TRANSITIONS[before]}
        if after not in legal:
            self._add(
                f'record {event.seq}: action {action_id} went from {before.value} to {after.value}'
            )
        action.state = after

    def _check_call(self, call_id: str, call: _Call, finished: bool) -> None:
        name = f'call {call_id}'
        self._check_begin_and_end(name, call.recorded, call.results, 'result', finished)
        first = min(call.recorded, default=0)
        for seq, _ in call.checked:
            if seq < first:
                self._add(f'record {seq}: the preconditions of {name} were checked before it')
        if len(call.started) > 1:
            self._add(f'{name} started {len(call.started)} actions')
        for seq in call.started:
            checks = [ok for at, ok in call.checked if at < seq]
            if not checks:
                self._add(f'record {seq}: {name} started an action without checked preconditions')
            elif not checks[-1]:
                self._add(f'record {seq}: {name} started an action though its check had failed')
            if any(result < seq for result in call.results):
                self._add(f'record {seq}: {name} started an action after its result')

    def _check_action(self, action_id: str, action: _Action, finished: bool) -> None:
        name = f'action {action_id}'
        if action.started or action.outcomes:
            self._check_begin_and_end(name, action.started, action.outcomes, 'outcome', finished)

    def _check_mission(self, mission_id: str, ends: list[RecordedEvent], finished: bool) -> None:
        begun = [event.seq for event in ends if event.type == _E.MISSION_STARTED]
        ended = [event.seq for event in ends if event.type == _E.MISSION_ENDED]
        self._check_begin_and_end(f'mission {mission_id}', begun, ended, 'end', finished)

    def _check_begin_and_end(
        self, name: str, begun: list[int], ended: list[int], end: str, finished: bool
    ) -> None:
        if len(begun) != 1:
            self._add(f'{name} was recorded {len(begun)} times')
        if len(ended) > 1 or (finished and not ended):
            self._add(f'{name} has {len(ended)} {end}s')
        if begun and ended and min(ended) < min(begun):
            self._add(f'record {min(ended)}: the {end} of {name} comes before it')


def _reachable(state: ActionState) -> set[ActionState]:
    """Return the state and all that may follow it, directly or not."""
    found = {state}
    for following in TRANSITIONS[state]:
        found |= _reachable(following)
    return found
