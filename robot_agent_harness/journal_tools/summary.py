# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a record says, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_agent_harness.events import EventType
from robot_agent_harness.journal_tools import background
from robot_agent_harness.report.values import compact, items, mapping, number, text

Payload = Mapping[str, Any]


def about(row: Mapping[str, Any]) -> str:
    """Return the line about a record, given by its columns; a type unknown here shows its payload.

    Not made safe to show yet.
    """
    payload = row['payload']
    teller = _TELLERS.get(row['type'])
    return compact(payload) if teller is None else teller(payload, row)


def _mission_started(payload: Payload, row: Mapping[str, Any]) -> str:
    return text(payload, 'instruction') or ''


def _turn(payload: Payload, row: Mapping[str, Any]) -> str:
    return f'step {payload.get("step")}: {text(payload, "trigger") or ""}'


def _snapshot(payload: Payload, row: Mapping[str, Any]) -> str:
    return f'{row["snapshot_id"]} ({text(payload, "reason") or "for no reason given"})'


def _response(payload: Payload, row: Mapping[str, Any]) -> str:
    if (error := text(payload, 'error')) is not None:
        return f'could not be asked: {error}'
    calls = [str(mapping({'c': c}, 'c').get('name')) for c in items(payload, 'tool_calls')]
    told = f'calls {", ".join(calls)}' if calls else 'calls nothing'
    said = text(payload, 'rationale')
    return f'{told}: {said}' if said else told


def _call(payload: Payload, row: Mapping[str, Any]) -> str:
    arguments = payload.get('arguments')
    purpose = text(payload, 'purpose')
    told = f'{text(payload, "name")} {compact(arguments) if arguments else ""}'.strip()
    return f'{told}: {purpose}' if purpose else told


def _check(payload: Payload, row: Mapping[str, Any]) -> str:
    checks = [check for check in items(payload, 'checks') if isinstance(check, dict)]
    failed = [str(check.get('name')) for check in checks if check.get('ok') is not True]
    if failed:
        return f'does not hold: {", ".join(failed)}'
    return f'{len(checks)} checks hold' if payload.get('ok') is True else 'does not hold'


def _result(payload: Payload, row: Mapping[str, Any]) -> str:
    message = text(mapping(payload, 'structured'), 'message')
    return f'{text(payload, "status")}: {message}' if message else str(text(payload, 'status'))


def _started(payload: Payload, row: Mapping[str, Any]) -> str:
    return f'{text(payload, "skill")} {compact(payload.get("goal"))}'


def _progress(payload: Payload, row: Mapping[str, Any]) -> str:
    note = text(payload, 'note')
    feedback = mapping(payload, 'feedback')
    left = number(feedback, 'distance_remaining')
    told = f'{"late: " if payload.get("late") is True else ""}{text(payload, "state")}'
    return (
        told
        + (f', {left:.2f} m to go' if left is not None else '')
        + (f': {note}' if note else '')
    )


def _outcome(payload: Payload, row: Mapping[str, Any]) -> str:
    why = text(mapping(payload, 'evidence'), 'why')
    told = f'{text(payload, "state")} ({text(payload, "reason")})'
    return f'{told}: {why}' if why else told


def _salient(payload: Payload, row: Mapping[str, Any]) -> str:
    return f'{text(payload, "kind")}: {text(payload, "message") or ""}'


def _ended(payload: Payload, row: Mapping[str, Any]) -> str:
    told = f'{text(payload, "outcome")} ({text(payload, "reason")})'
    summary = text(payload, 'summary')
    return f'{told}: {summary}' if summary else told


def _carried_over(payload: Payload, row: Mapping[str, Any]) -> str:
    record = mapping(payload, 'record')
    kind, seq = text(record, 'type'), number(record, 'seq')
    head = f'record {"unknown" if seq is None else f"{seq:,.0f}"} of an earlier file, {kind}'
    # A quote is never quoted again: its own record is carried over.
    if kind == EventType.RECORD_CARRIED_OVER:
        return head
    quoted = {**record, 'payload': mapping(record, 'payload')}
    return f'{head}: {about({"snapshot_id": None, **quoted, "type": kind})}'


_TELLERS: dict[str, Callable[[Payload, Mapping[str, Any]], str]] = {
    EventType.MISSION_STARTED.value: _mission_started,
    EventType.MODEL_TURN_STARTED.value: _turn,
    EventType.WORLD_SNAPSHOT_CAPTURED.value: _snapshot,
    EventType.MODEL_RESPONSE_RECORDED.value: _response,
    EventType.TOOL_CALL_RECORDED.value: _call,
    EventType.ACTION_PRECONDITION_CHECKED.value: _check,
    EventType.TOOL_RESULT_RECORDED.value: _result,
    EventType.ROBOT_ACTION_STARTED.value: _started,
    EventType.ROBOT_ACTION_PROGRESS.value: _progress,
    EventType.ROBOT_ACTION_OUTCOME.value: _outcome,
    EventType.SALIENT_EVENT.value: _salient,
    EventType.MISSION_ENDED.value: _ended,
    EventType.RECOVERY_PERFORMED.value: background.recovered,
    EventType.HARNESS_STATE_CHANGED.value: background.state_changed,
    EventType.CONTROLLER_EVENT_RECEIVED.value: background.controller_said,
    EventType.SERVICE_EVENT_RECEIVED.value: background.service_said,
    EventType.TOOL_CALL_WITHDRAWN.value: background.withdrawn,
    EventType.MISSION_CANCEL_REQUESTED.value: background.cancel_requested,
    EventType.COMMIT_WAS_SLOW.value: background.was_slow,
    EventType.JOURNAL_CONTINUED.value: background.continued,
    EventType.RECORD_CARRIED_OVER.value: _carried_over,
}
