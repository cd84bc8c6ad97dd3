# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal in plain words, record by record, for somebody who has never seen the product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.report.findings import measured
from robot_agent_harness.report.story import Check
from robot_agent_harness.report.values import items, mapping, metres, number, point, text

Line = tuple[str, str, str]
"""Who, what, style."""

_TRIGGERS = {
    'mission_started': 'the mission begins',
    'action_outcome': 'an action has ended',
    'precondition_changed': 'its last decision was refused',
    'tools_used': 'it has looked around',
}
_STATES = {
    'ACCEPTED': ('controller', 'accepts the goal'),
    'VERIFYING': ('controller', 'says SUCCEEDED. The harness looks for itself'),
}
_OUTCOME_STYLES = {'SUCCEEDED': 'bold green', 'FAILED': 'bold red', 'UNKNOWN': 'bold yellow'}


def lines(event: RecordedEvent) -> Iterator[Line]:
    """Yield what a record says; nothing for records that only matter to programs."""
    teller = _TELLERS.get(event.type)
    if teller is not None:
        yield from teller(event.payload)


def _mission_started(payload: Mapping[str, Any]) -> Iterator[Line]:
    yield 'you', f'“{text(payload, "instruction") or ""}”', ''


def _turn_started(payload: Mapping[str, Any]) -> Iterator[Line]:
    trigger = text(payload, 'trigger') or ''
    why = _TRIGGERS.get(trigger, trigger.replace('_', ' '))
    yield 'harness', f'shows the model a fresh snapshot of the world and asks it: {why}', ''


def _model_answered(payload: Mapping[str, Any]) -> Iterator[Line]:
    if (error := text(payload, 'error')) is not None:
        yield 'model', f'could not be asked: {error}', 'red'
    if (said := text(payload, 'rationale')) is not None:
        yield 'model', f'says “{said}”', ''


def _called(payload: Mapping[str, Any]) -> Iterator[Line]:
    arguments = ', '.join(f'{k}={v}' for k, v in mapping(payload, 'arguments').items())
    expects = text(payload, 'expected_outcome')
    told = f'calls {text(payload, "name")}({arguments})'
    yield 'model', f'{told} and expects: {expects}' if expects else told, ''


def _checked(payload: Mapping[str, Any]) -> Iterator[Line]:
    checks = [
        Check(
            text(check, 'name') or '',
            check.get('ok') is True,
            check.get('measured'),
            check.get('limit'),
            text(check, 'detail'),
        )
        for check in items(payload, 'checks')
        if isinstance(check, dict)
    ]
    told = {check.name: measured(check) for check in checks}
    failed = [told[check.name] for check in checks if not check.ok]
    if not failed:
        drift = told.get('pose_drift')
        moved = f'; moved since the decision: {drift.value}' if drift else ''
        yield (
            'check',
            f'the world still is what the model saw: {len(checks)} of'
            f' {len(checks)} checks hold{moved}',
            '',
        )
    for check in failed:
        yield (
            'check',
            f'NOT what the model saw. {check.label}: {check.value}, {check.limit}',
            'bold red',
        )


def _started(payload: Mapping[str, Any]) -> Iterator[Line]:
    where = point(mapping(payload, 'goal'))
    to = f' ({where[0]:.2f}, {where[1]:.2f})' if where else ''
    yield 'harness', f'writes the goal{to} to the journal on disk, and only then sends it', ''


def _answered(payload: Mapping[str, Any]) -> Iterator[Line]:
    status = text(payload, 'status')
    if status not in ('accepted', 'completed'):
        yield 'harness', f'answers {status}: {_first(payload)}', 'bold'


def _first(payload: Mapping[str, Any]) -> str:
    message = text(mapping(payload, 'structured'), 'message') or ''
    return message.partition('. ')[0]


def _progressed(payload: Mapping[str, Any]) -> Iterator[Line]:
    state = text(payload, 'state')
    if state in _STATES:
        yield (*_STATES[state], '')
    elif state == 'RUNNING':
        left = number(mapping(payload, 'feedback'), 'distance_remaining')
        yield 'controller', f'drives, {left:.1f} m to go' if left else 'drives', 'dim'


def _ended(payload: Mapping[str, Any]) -> Iterator[Line]:
    evidence = mapping(payload, 'evidence')
    error = number(evidence, 'position_error_m')
    tolerance = number(evidence, 'position_tolerance_m')
    if error is not None:
        rest = 'stands still' if evidence.get('at_rest') is True else 'moves'
        limit = '' if tolerance is None else f' (allowed: {metres(tolerance)})'
        style = 'red' if tolerance is not None and error > tolerance else 'green'
        yield 'observed', f'the robot {rest}, {metres(error)} from the goal{limit}', style
    state, reason = text(payload, 'state') or '', text(payload, 'reason') or ''
    yield 'outcome', f'{state}: {reason.replace("_", " ")}', _OUTCOME_STYLES.get(state, '')


def _salient(payload: Mapping[str, Any]) -> Iterator[Line]:
    yield 'harness', f'notices {text(payload, "kind")}: {text(payload, "message")}', ''


def _mission_ended(payload: Mapping[str, Any]) -> Iterator[Line]:
    outcome = (text(payload, 'outcome') or 'unknown').replace('_', ' ')
    good = payload.get('outcome') == 'achieved'
    claim = (text(payload, 'claim') or 'nothing').replace('_', ' ')
    weight = {True: 'verified outcomes support it', False: 'verified outcomes do not support it'}
    told = weight.get(payload.get('claim_supported') is True, '')
    yield (
        'outcome',
        f'mission {outcome}; the model claims {claim}: {told}',
        ('bold green' if good else 'bold red'),
    )


_TELLERS: dict[str, Callable[[Mapping[str, Any]], Iterator[Line]]] = {
    EventType.MISSION_STARTED: _mission_started,
    EventType.MODEL_TURN_STARTED: _turn_started,
    EventType.MODEL_RESPONSE_RECORDED: _model_answered,
    EventType.TOOL_CALL_RECORDED: _called,
    EventType.ACTION_PRECONDITION_CHECKED: _checked,
    EventType.ROBOT_ACTION_STARTED: _started,
    EventType.TOOL_RESULT_RECORDED: _answered,
    EventType.ROBOT_ACTION_PROGRESS: _progressed,
    EventType.ROBOT_ACTION_OUTCOME: _ended,
    EventType.SALIENT_EVENT: _salient,
    EventType.MISSION_ENDED: _mission_ended,
}
