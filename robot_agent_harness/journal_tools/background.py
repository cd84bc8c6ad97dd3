# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a record says, in one line, that is no step of a mission: what controllers and services
said, what became of the harness itself, of its disk and of its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.report.values import (
    counted,
    items,
    mapping,
    metres,
    number,
    plain,
    seconds,
    text,
    worded,
)

Payload = Mapping[str, Any]

GOAL_CHARS = 8
"""What is shown of a goal's id: enough to tell it from the others of a run."""
_STATES = {
    'adopted': 'has taken over what an earlier run left open',
    'recovering': 'begins to close what an earlier run left open',
    'active': 'active: takes calls that move the robot',
    'inactive': 'inactive: takes no calls that move the robot',
}
_CANCEL_ANSWERS = {
    0: 'will cancel',
    1: 'refuses to cancel',
    2: 'is asked to cancel, and knows no such goal:',
    3: 'is asked to cancel what has ended:',
}
"""By return code of action_msgs/srv/CancelGoal."""


def recovered(payload: Payload, row: Payload) -> str:
    """Tell of a RECOVERY_PERFORMED."""
    calls, missions = items(payload, 'interrupted_calls'), items(payload, 'ended_missions')
    actions = [action for action in items(payload, 'settled_actions') if isinstance(action, dict)]
    settled = ', '.join(f'{_of(action, "state")} ({_of(action, "reason")})' for action in actions)
    told = f'{counted(len(calls), "call")}, {counted(len(actions), "action")}'
    return (
        f'closed what an earlier run left open: {told}'
        + (f' {settled}' if settled else '')
        + f', {counted(len(missions), "mission")}'
    )


def state_changed(payload: Payload, row: Payload) -> str:
    """Tell of a HARNESS_STATE_CHANGED."""
    state, configuration = text(payload, 'state') or '', mapping(payload, 'configuration')
    if state == 'configured':
        there = mapping(configuration, 'reachable')
        away = [name for name, reachable in there.items() if reachable is not True]
        return (
            f'configured: release {_of(configuration, "version")}, '
            f'{counted(len(there), "controller")}'
            + (f', of which not there: {", ".join(away)}' if away else '')
        )
    if state == 'reconfigured':
        return f'reconfigured: {"; ".join(_changes(configuration)) or "nothing"}'
    if state == 'closing':
        ends = payload.get('cancel_running') is True
        return f'closes; actions under way {"are cancelled" if ends else "go on"}'
    return _STATES.get(state, worded(state) or 'changed')


def _changes(configuration: Payload) -> Iterator[str]:
    parameters = mapping(configuration, 'parameters')
    yield from (f'{name} is {plain(value)}' for name, value in parameters.items())
    if 'places' in configuration:
        yield counted(len(mapping(configuration, 'places')), 'place')


def controller_said(payload: Payload, row: Payload) -> str:
    """Tell of a CONTROLLER_EVENT_RECEIVED."""
    said = mapping(payload, 'said')
    teller = _CONTROLLER.get(text(payload, 'event') or '')
    told = _fields(said) if teller is None else teller(said)
    notes = [
        note
        for note, holds in (
            ('heard before the record in front of it', payload.get('held') is True),
            ('after the outcome', bool(items(payload, 'late'))),
        )
        if holds
    ]
    return f'{_of(payload, "controller")} {told}' + (f' ({", ".join(notes)})' if notes else '')


def _goal_response(said: Payload) -> str:
    return f'{"accepts" if said.get("accepted") is True else "rejects"} {_goal(said)}'


def _feedback(said: Payload) -> str:
    feedback = mapping(said, 'feedback')
    left = number(feedback, 'distance_remaining')
    told = _fields(feedback) if left is None else f'{metres(left)} to go'
    return f'is on the way with {_goal(said)}' + (f': {told}' if told else '')


def _status(said: Payload) -> str:
    goals = [goal for goal in items(said, 'goals') if isinstance(goal, dict)]
    return 'lists ' + (', '.join(f'{_goal(g)} {_status_of(g)}' for g in goals) or 'no goal')


def _result(said: Payload) -> str:
    result = mapping(said, 'payload')
    if number(said, 'status') == GoalStatus.UNKNOWN:
        return f'knows of no result of {_goal(said)}'
    error = ' '.join(
        plain(value) for key in ('error_code', 'error_msg') if (value := result.get(key))
    )
    return f'ended {_goal(said)}: {_status_of(said)}' + (f', error {error}' if error else '')


def _cancel_response(said: Payload) -> str:
    code = number(said, 'return_code')
    other = f'answers {plain(said.get("return_code"))} to the cancelling of'
    return f'{other if code is None else _CANCEL_ANSWERS.get(int(code), other)} {_goal(said)}'


def _send_failed(said: Payload) -> str:
    return f'could not be sent {_goal(said)}: {_of(said, "message")}'


def _presence(said: Payload) -> str:
    return 'is there' if said.get('reachable') is True else 'is not there any more'


_CONTROLLER = {
    'goal_response': _goal_response,
    'feedback': _feedback,
    'status': _status,
    'result': _result,
    'cancel_response': _cancel_response,
    'send_failed': _send_failed,
    'presence': _presence,
}


def service_said(payload: Payload, row: Payload) -> str:
    """Tell of a SERVICE_EVENT_RECEIVED."""
    said, event = mapping(payload, 'said'), text(payload, 'event')
    if event == 'presence':
        told = _presence(said)
    elif event == 'failed':
        told = f'did not answer ({_of(said, "code")}): {_of(said, "message")}'
    elif (size := number(said, 'size_bytes')) is not None:
        told = f'answered with {counted(int(size), "byte")}'
    else:
        told = f'answered: {_fields(mapping(said, "response")) or "nothing"}'
    return f'{_of(payload, "service")} {told}'


def withdrawn(payload: Payload, row: Payload) -> str:
    """Tell of a TOOL_CALL_WITHDRAWN."""
    return 'whoever made the call wants it no longer'


def cancel_requested(payload: Payload, row: Payload) -> str:
    """Tell of a MISSION_CANCEL_REQUESTED."""
    return f'the mission is to end: {worded(_of(payload, "reason"))}'


def was_slow(payload: Payload, row: Payload) -> str:
    """Tell of a COMMIT_WAS_SLOW."""
    first, last = number(payload, 'first_seq'), number(payload, 'last_seq')
    waited = number(payload, 'waited_s')
    which = f'records {_count(first)} to {_count(last)}'
    if first == last:
        which = f'record {_count(first)}'
    return f'waited {_seconds(waited)} for {which} to be on the disk'


def continued(payload: Payload, row: Payload) -> str:
    """Tell of a JOURNAL_CONTINUED."""
    carried = number(payload, 'carried_over')
    return (
        f'goes on from {_of(payload, "predecessor")}, which ends with record '
        f'{_count(number(payload, "predecessor_last_seq"))}'
        + (f'; {counted(int(carried), "record")} carried over from there' if carried else '')
    )


def _fields(said: Payload) -> str:
    return ', '.join(f'{worded(key)} {plain(value)}' for key, value in said.items())


def _goal(said: Payload) -> str:
    return f'goal {_of(said, "goal_id")[:GOAL_CHARS]}'


def _status_of(said: Payload) -> str:
    status = number(said, 'status')
    return 'of no status' if status is None else GoalStatus.name_of(int(status))


def _of(payload: Payload, key: str) -> str:
    return text(payload, key) or 'unknown'


def _count(value: float | None) -> str:
    return 'unknown' if value is None else f'{int(value):,}'


def _seconds(value: float | None) -> str:
    return 'an unknown time' if value is None else seconds(value)
