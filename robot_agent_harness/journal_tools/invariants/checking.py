# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Hands each record of a journal to the checks that it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robot_agent_harness.errors import JournalError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader, Told, unheard
from robot_agent_harness.journal.store import DROPPED
from robot_agent_harness.journal_tools.invariants.actions import Actions
from robot_agent_harness.journal_tools.invariants.calls import Calls
from robot_agent_harness.journal_tools.invariants.file import check_payload, Continuation
from robot_agent_harness.journal_tools.invariants.missions import Missions
from robot_agent_harness.journal_tools.invariants.notes import Notes
from robot_agent_harness.journal_tools.invariants.recovery import check_recovery

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


def violations(reader: JournalReader, *, finished: bool, told: Told = unheard) -> Iterator[str]:
    """Yield every violation of a journal's invariants, each in a line, as it is found.

    :param finished: whether every call, action and mission must have its end; False for a journal
        that a harness is writing, or has left when it was killed.
    :param told: of each record that has been checked.
    """
    for trouble in reader.unguarded():
        yield f'journal {reader.path}: {trouble}'
    lost = reader.log_damage()
    if lost is not None:
        yield f'journal {reader.path}: {lost}'
    checks, last_seq = _Checks(reader), reader.last_seq
    try:
        for seq, event, troubles in reader.scan():
            yield from troubles
            if event is not None:
                checks.take(event)
                yield from checks.notes.take()
            told(seq, last_seq)
    except JournalError as error:
        # A page that cannot be read ends the reading; what was open by then is no fault.
        yield from checks.notes.take()
        yield f'{error}; what follows was not checked'
        finished = False
    checks.finish(finished=finished)
    yield from checks.notes.take()


class _Checks:
    """All checks, on one reading."""

    def __init__(self, reader: JournalReader) -> None:
        self.notes = notes = Notes(reader)
        self._continuation = Continuation(notes)
        self._calls = Calls(notes)
        self._actions = Actions(notes, self._calls)
        self._missions = Missions(notes)
        takers: dict[EventType, tuple[Callable[[RecordedEvent], None], ...]] = {
            _E.JOURNAL_CONTINUED: (self._continuation.take,),
            _E.RECORD_CARRIED_OVER: (self._continuation.take,),
            _E.TOOL_CALL_RECORDED: (self._calls.take,),
            _E.ACTION_PRECONDITION_CHECKED: (self._calls.take,),
            _E.TOOL_RESULT_RECORDED: (self._calls.take, self._actions.answered),
            _E.ROBOT_ACTION_STARTED: (self._actions.start, self._missions.start),
            _E.ROBOT_ACTION_PROGRESS: (self._actions.progress,),
            _E.ROBOT_ACTION_OUTCOME: (self._actions.outcome, self._missions.outcome),
            _E.CONTROLLER_EVENT_RECEIVED: (self._actions.heard,),
            _E.SALIENT_EVENT: (self._salient,),
            _E.MISSION_STARTED: (self._missions.take,),
            _E.MODEL_TURN_STARTED: (self._missions.turn,),
            _E.MODEL_RESPONSE_RECORDED: (self._missions.answer,),
            _E.MISSION_ENDED: (self._missions.take,),
            _E.RECOVERY_PERFORMED: (self._recovered,),
        }
        self._takers = {kind.value: taken_by for kind, taken_by in takers.items()}

    def take(self, event: RecordedEvent) -> None:
        """Check a record, and what it says about others."""
        check_payload(self.notes, event)
        column = _ABOUT.get(event.type)
        if column is not None and not getattr(event, column):
            self.notes.add(f'record {event.seq} ({event.type}) lacks the id that it is about')
            return
        for taken_by in self._takers.get(event.type, ()):
            taken_by(event)

    def finish(self, *, finished: bool) -> None:
        """Judge what is open, and what should have come."""
        self._continuation.finish()
        self._calls.finish(finished=finished)
        self._actions.finish(finished=finished)
        self._missions.finish(finished=finished)

    def _salient(self, event: RecordedEvent) -> None:
        details = event.payload.get('details')
        if event.payload.get('kind') == DROPPED and isinstance(details, dict):
            self._actions.dropped(details.get('dropped'))

    def _recovered(self, event: RecordedEvent) -> None:
        check_recovery(self.notes, event)
