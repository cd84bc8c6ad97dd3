# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Values as a viewer is sent them: every text with what cannot be seen made visible.

The page puts them into the document as text, never as markup; here control characters and those
that reorder a line lose their effect.
"""

from __future__ import annotations

from typing import Any

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal_tools.records import as_json
from robot_agent_harness.journal_tools.summary import about
from robot_agent_harness.report.values import mapping, pretty, printable, text
from robot_agent_harness.texts import one_line

LINE_MAX_BYTES = 400
"""What a viewer is shown of a record in a list; opened, it shows the whole."""
_E = EventType
_KINDS = {
    _E.MISSION_STARTED.value: 'mission',
    _E.MISSION_ENDED.value: 'mission',
    _E.MISSION_CANCEL_REQUESTED.value: 'mission',
    _E.MODEL_TURN_STARTED.value: 'decision',
    _E.MODEL_RESPONSE_RECORDED.value: 'decision',
    _E.TOOL_CALL_RECORDED.value: 'decision',
    _E.TOOL_RESULT_RECORDED.value: 'decision',
    _E.TOOL_CALL_WITHDRAWN.value: 'decision',
    _E.ACTION_PRECONDITION_CHECKED.value: 'action',
    _E.ROBOT_ACTION_STARTED.value: 'action',
    _E.ROBOT_ACTION_PROGRESS.value: 'action',
    _E.ROBOT_ACTION_OUTCOME.value: 'action',
    _E.SALIENT_EVENT.value: 'salient',
    _E.RECOVERY_PERFORMED.value: 'salient',
}
_LOOKS = {
    'SUCCEEDED': 'good',
    'achieved': 'good',
    'FAILED': 'bad',
    'not_achieved': 'bad',
    'UNKNOWN': 'unsure',
    'unknown': 'unsure',
}


def shown(value: Any) -> Any:
    """Return a JSON-ready value whose texts are safe to show."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(key)): shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    return value


def line(event: RecordedEvent) -> dict[str, Any]:
    """Return a record in short: what a list shows of it.

    `kind` is mission, decision, action, salient or detail; `look` is good, bad, unsure or stopped,
    or empty.
    """
    payload = event.payload
    kind = _KINDS.get(event.type, 'detail')
    if event.type == _E.ROBOT_ACTION_PROGRESS and mapping(payload, 'feedback'):
        kind = 'detail'
    return {
        'seq': event.seq,
        'at_ns': event.wall_time_ns,
        'type': printable(event.type),
        'kind': kind,
        'look': _look(event),
        'mission_id': event.mission_id,
        'mission': None if event.mission_id is None else printable(event.mission_id),
        'about': printable(one_line(about(as_json(event)), LINE_MAX_BYTES)),
    }


def whole(event: RecordedEvent) -> dict[str, Any]:
    """Return a record with all that it holds, its texts cut where they are endless.

    `record` is the text to show: a script reads numbers as floats, which hold no nanoseconds.
    """
    return {**line(event), 'record': pretty(shown(as_json(event)))}


def _look(event: RecordedEvent) -> str:
    payload = event.payload
    if event.type == _E.ACTION_PRECONDITION_CHECKED:
        return '' if payload.get('ok') is True else 'stopped'
    if event.type == _E.TOOL_RESULT_RECORDED:
        return 'bad' if payload.get('is_error') is True else ''
    if event.type == _E.SALIENT_EVENT:
        return 'unsure'
    ended = text(payload, 'outcome' if event.type == _E.MISSION_ENDED else 'state')
    return _LOOKS.get(ended or '', '')
