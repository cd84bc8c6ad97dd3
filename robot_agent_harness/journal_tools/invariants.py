# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a journal keeps what DESIGN section 2 and CONTRACT ("The journal") promise.

The records are read once, in order. What has begun and not ended is kept in memory; what has
ended is judged and forgotten, and read again by its id should the file speak of it once more. So
the size of a journal does not matter, only how much is open at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import ValidationError

from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, TRANSITIONS
from robot_agent_harness.errors import JournalError
from robot_agent_harness.events import EVENT_MODELS, EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal.store import DROPPED

_E = EventType
_ABOUT = {
    _E.TOOL_CALL_RECORDED.value: 'tool_call_id',
    _E.ACTION_PRECONDITION_CHECKED.value: 'tool_call_id',
    _E.TOOL_RESULT_RECORDED.value: 'tool_call_id',
    _E.ROBOT_ACTION_STARTED.value: 'action_id',
    _E.ROBOT_ACTION_PROGRESS.value: 'action_id',
    _E.ROBOT_ACTION_OUTCOME.value: 'action_id',
    _E.WORLD_SNAPSHOT_CAPTURED.value: 'snapshot_id',
    _E.MISSION_STARTED.value: 'mission_id',
    _E.MISSION_ENDED.value: 'mission_id',
}
"""The id without which a record of a type says nothing."""
_STATES = {state.value: state for state in ActionState}


def violations(reader: JournalReader, *, finished: bool) -> Iterator[str]:
    """Yield every violation of a journal's invariants, each in a line, as it is found.

    :param finished: whether every call, action and mission must have its end; False for a journal
        that a harness is writing, or has left when it was killed.
    """
    try:
        reader.verify_chain()
    except JournalError as error:
        yield str(error)
    yield from _Checker(reader).check(finished=finished)


@dataclass(slots=True)
class _Call:
    recorded: list[int] = field(default_factory=list)
    checked: list[tuple[int, bool]] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    repeat_of: str | None = None


@dataclass(slots=True)
class _Action:
    started: list[int] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    state: ActionState | None = None
    progress_lost: bool = False


@dataclass(slots=True)
class _Mission:
    begun: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)


class _Checker:
    """Reads the records of a journal once, in order."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._found: list[str] = []
        self._told: set[str] = set()
        self._calls: dict[str, _Call] = {}
        self._actions: dict[str, _Action] = {}
        self._missions: dict[str, _Mission] = {}
        self._continues = False
        self._quoted_until = 0

    def check(self, *, finished: bool) -> Iterator[str]:
        """Yield the violations."""
        expected = 1
        try:
            for event in self._reader.select(Selection()):
                if event.seq != expected:
                    self._add(f'record {event.seq} follows record {expected - 1}: seq has a gap')
                expected = event.seq + 1
                self._check_payload(event)
                self._take(event)
                yield from self._take_found()
        except JournalError as error:
            self._add(f'{error}; what follows was not checked')
        for call_id, call in self._calls.items():
            self._check_call(call_id, call, finished)
        for action_id, action in self._actions.items():
            self._check_action(action_id, action, finished)
        for mission_id, mission in self._missions.items():
            self._check_mission(mission_id, mission, finished)
        yield from self._take_found()

    def _add(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._found.append(text)

    def _take_found(self) -> Iterator[str]:
        found, self._found = self._found, []
        yield from found

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
        column = _ABOUT.get(event.type)
        key = None if column is None else getattr(event, column)
        if column is not None and not key:
            self._add(f'record {event.seq} ({event.type}) lacks the id that it is about')
        elif event.type in (
            _E.TOOL_CALL_RECORDED,
            _E.ACTION_PRECONDITION_CHECKED,
            _E.TOOL_RESULT_RECORDED,
        ):
            self._about_call(event, str(key))
        elif event.type in (_E.MISSION_STARTED, _E.MISSION_ENDED):
            self._about_mission(event, str(key))
        elif event.type == _E.ROBOT_ACTION_STARTED:
            self._take_start(event, str(key))
        elif event.type == _E.ROBOT_ACTION_PROGRESS:
            self._take_progress(event, str(key))
        elif event.type == _E.ROBOT_ACTION_OUTCOME:
            self._take_outcome(event, str(key))
        elif event.type == _E.SALIENT_EVENT and event.payload.get('kind') == DROPPED:
            details = event.payload.get('details')
            dropped = details.get('dropped') if isinstance(details, dict) else None
            for action_id in dropped if isinstance(dropped, dict) else ():
                if action_id in self._actions:
                    self._actions[action_id].progress_lost = True
        elif event.type in (_E.JOURNAL_CONTINUED, _E.RECORD_CARRIED_OVER):
            self._take_continuation(event)

    def _take_continuation(self, event: RecordedEvent) -> None:
        if event.type == _E.RECORD_CARRIED_OVER:
            if event.seq > self._quoted_until:
                self._add(f'record {event.seq} quotes an earlier file, but not at the beginning')
            return
        if event.seq != 1:
            self._add(f'record {event.seq} continues another file, but is not the first')
        number = event.payload.get('carried_over')
        self._continues = True
        self._quoted_until = 1 + number if isinstance(number, int) else 1

    def _about_call(self, event: RecordedEvent, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = _Call()
            for earlier in self._reader.select(
                Selection(tool_call_id=call_id, before_seq=event.seq)
            ):
                _add_to_call(call, earlier)
        _add_to_call(call, event)
        if call.results:
            self._check_call(call_id, call, finished=False)
            del self._calls[call_id]

    def _about_mission(self, event: RecordedEvent, mission_id: str) -> None:
        mission = self._missions.get(mission_id)
        if mission is None:
            mission = self._missions[mission_id] = _Mission()
            types = (_E.MISSION_STARTED.value, _E.MISSION_ENDED.value)
            for earlier in self._reader.select(
                Selection(mission_id=mission_id, types=types, before_seq=event.seq)
            ):
                _add_to_mission(mission, earlier)
        _add_to_mission(mission, event)
        if mission.ended:
            self._check_mission(mission_id, mission, finished=False)
            del self._missions[mission_id]

    def _action_of(self, event: RecordedEvent, action_id: str) -> _Action:
        """Return what is known of an action before a record about it."""
        action = self._actions.get(action_id)
        if action is None:
            action = _Action()
            for earlier in self._reader.select(
                Selection(action_id=action_id, before_seq=event.seq)
            ):
                if earlier.type == _E.ROBOT_ACTION_STARTED:
                    action.started.append(earlier.seq)
                    action.state = ActionState.REQUESTED
                elif earlier.type == _E.ROBOT_ACTION_OUTCOME:
                    action.outcomes.append(earlier.seq)
        return action

    def _take_start(self, event: RecordedEvent, action_id: str) -> None:
        action = self._actions[action_id] = self._action_of(event, action_id)
        action.started.append(event.seq)
        action.state = ActionState.REQUESTED
        if event.tool_call_id is None:
            self._add(f'record {event.seq}: action {action_id} starts without a call')
        else:
            self._about_call(event, event.tool_call_id)
        if action.outcomes:
            self._ended(action_id, action)

    def _ended(self, action_id: str, action: _Action) -> None:
        self._check_action(action_id, action, finished=False)
        self._actions.pop(action_id, None)

    def _take_progress(self, event: RecordedEvent, action_id: str) -> None:
        action = self._action_of(event, action_id)
        late = event.payload.get('late') is True
        if not action.started and late and self._continues:
            return  # of an action in the file before this one
        if not action.started:
            self._add(f'record {event.seq}: progress of action {action_id} before its start')
        elif late and not action.outcomes:
            self._add(f'record {event.seq}: late progress of action {action_id}, which goes on')
        elif action.outcomes and not late:
            self._add(f'record {event.seq}: progress of action {action_id} after its outcome')
        elif not late:
            self._step(event, action_id, action)

    def _take_outcome(self, event: RecordedEvent, action_id: str) -> None:
        action = self._action_of(event, action_id)
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
            seen = self._reader.captures(snapshot_id) if isinstance(snapshot_id, str) else []
            begun = min(action.started, default=event.seq)
            if not any(begun < seq < event.seq for seq in seen):
                self._add(
                    f'record {event.seq}: action {action_id} SUCCEEDED, but no snapshot '
                    f'{snapshot_id} was recorded between its start and its outcome'
                )
        self._ended(action_id, action)

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
        if call.repeat_of is not None and (call.checked or call.started):
            self._add(f'{name} repeats call {call.repeat_of}, and was carried out all the same')
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

    def _check_mission(self, mission_id: str, mission: _Mission, finished: bool) -> None:
        name = f'mission {mission_id}'
        self._check_begin_and_end(name, mission.begun, mission.ended, 'end', finished)

    def _check_begin_and_end(
        self, name: str, begun: list[int], ended: list[int], end: str, finished: bool
    ) -> None:
        if len(begun) != 1:
            self._add(f'{name} was recorded {len(begun)} times')
        if len(ended) > 1 or (finished and not ended):
            self._add(f'{name} has {len(ended)} {end}s')
        if begun and ended and min(ended) < min(begun):
            self._add(f'record {min(ended)}: the {end} of {name} comes before it')


def _add_to_call(call: _Call, event: RecordedEvent) -> None:
    if event.type == _E.TOOL_CALL_RECORDED:
        call.recorded.append(event.seq)
        call.repeat_of = event.payload.get('repeat_of')
    elif event.type == _E.ACTION_PRECONDITION_CHECKED:
        call.checked.append((event.seq, event.payload.get('ok') is True))
    elif event.type == _E.ROBOT_ACTION_STARTED:
        call.started.append(event.seq)
    elif event.type == _E.TOOL_RESULT_RECORDED:
        call.results.append(event.seq)


def _add_to_mission(mission: _Mission, event: RecordedEvent) -> None:
    if event.type == _E.MISSION_STARTED:
        mission.begun.append(event.seq)
    elif event.type == _E.MISSION_ENDED:
        mission.ended.append(event.seq)


def _reachable(state: ActionState) -> set[ActionState]:
    """Return the state and all that may follow it, directly or not."""
    found = {state}
    for following in TRANSITIONS[state]:
        found |= _reachable(following)
    return found
