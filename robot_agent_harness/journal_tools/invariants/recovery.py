# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether what a start says it has closed is closed on record."""

from __future__ import annotations

from collections.abc import Iterator

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal_tools.invariants.notes import Notes

_E = EventType


def check_recovery(notes: Notes, event: RecordedEvent) -> None:
    """Note what a RECOVERY_PERFORMED says was ended, and no record before it ends so."""
    for what in _untrue(notes.reader, event):
        notes.add(f'record {event.seq}: recovery says that {what}, which is not on record before')


def _untrue(reader: JournalReader, event: RecordedEvent) -> Iterator[str]:
    payload, seq = event.payload, event.seq
    for call_id in _texts(payload.get('interrupted_calls')):
        results = reader.events(tool_call_id=call_id, type=_E.TOOL_RESULT_RECORDED)
        if not any(r.seq < seq and r.payload.get('status') == 'interrupted' for r in results):
            yield f'call {call_id} was interrupted'
    settled = payload.get('settled_actions')
    for action in settled if isinstance(settled, list) else ():
        if not isinstance(action, dict):
            yield f'{action} was settled'
            continue
        action_id = action.get('action_id')
        state, reason = action.get('state'), action.get('reason')
        outcomes = reader.events(action_id=str(action_id), type=_E.ROBOT_ACTION_OUTCOME)
        told = [(o.payload.get('state'), o.payload.get('reason')) for o in outcomes if o.seq < seq]
        if (state, reason) not in told:
            yield f'action {action_id} ended {state} ({reason})'
    for mission_id in _texts(payload.get('ended_missions')):
        ends = reader.events(mission_id=mission_id, type=_E.MISSION_ENDED)
        if not any(end.seq < seq for end in ends):
            yield f'mission {mission_id} was ended'


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
