# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The line that `journal show`, `journal events` and the dashboard have for a record of each type:
words that a person understands, whatever the record holds.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.dashboard.shown import line
from robot_agent_harness.events import EVENT_MODELS, EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal_tools.records import as_json
from robot_agent_harness.journal_tools.summary import about

REPLAYS = sorted((Path(__file__).parent / 'replays').glob('*.db.gz'))
GOAL = '7' * 32
ODD: tuple[Any, ...] = (None, True, -1, 1e308, 10**400, 'x', [None, [], {'a': 1}], {'a': {}})
"""What a key may hold that this release writes otherwise."""


def controller(event: str, said: dict[str, Any], **other: Any) -> tuple[str, dict[str, Any]]:
    told = {'controller': 'spin', 'event': event, 'said': said, 'monotonic_ns': 1, **other}
    return 'CONTROLLER_EVENT_RECEIVED', told


def service(event: str, said: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    told = {'service': '/lamp', 'event': event, 'said': said, 'monotonic_ns': 1}
    return 'SERVICE_EVENT_RECEIVED', told


def state(name: str, **other: Any) -> tuple[str, dict[str, Any]]:
    return 'HARNESS_STATE_CHANGED', {'state': name, 'monotonic_ns': 1, **other}


LINES: list[tuple[tuple[str, dict[str, Any]], str]] = [
    (
        (
            'MISSION_STARTED',
            {'instruction': 'bring it', 'robot_id': 'r', 'provider': 'p', 'max_steps': 9},
        ),
        'bring it',
    ),
    (
        (
            'MODEL_TURN_STARTED',
            {'step': 2, 'trigger': 'action_outcome', 'system_prompt': 's', 'user_prompt': 'u'},
        ),
        'step 2: action_outcome',
    ),
    (('WORLD_SNAPSHOT_CAPTURED', {'reason': 'requested', 'snapshot': {}}), 'seen-1 (requested)'),
    (
        (
            'MODEL_RESPONSE_RECORDED',
            {
                'rationale': 'free',
                'thinking': None,
                'tool_calls': [{'name': 'spin'}],
                'usage': {},
                'stop_reason': None,
                'provider': 'p',
                'model': 'm',
            },
        ),
        'calls spin: free',
    ),
    (
        (
            'TOOL_CALL_RECORDED',
            {
                'name': 'spin',
                'arguments': {'angle': 1.5},
                'decision_snapshot_id': None,
                'purpose': 'to look',
                'expected_outcome': None,
            },
        ),
        'spin {"angle": 1.5}: to look',
    ),
    (
        (
            'ACTION_PRECONDITION_CHECKED',
            {
                'ok': False,
                'decision_snapshot_id': None,
                'fresh_snapshot_id': 's',
                'checks': [{'name': 'pose_age', 'ok': False}],
            },
        ),
        'does not hold: pose_age',
    ),
    (
        (
            'TOOL_RESULT_RECORDED',
            {'status': 'accepted', 'is_error': False, 'structured': {'message': 'it goes'}},
        ),
        'accepted: it goes',
    ),
    (('ROBOT_ACTION_STARTED', {'skill': 'spin', 'goal': {'a': 1.5}}), 'spin {"a": 1.5}'),
    (('ROBOT_ACTION_PROGRESS', {'state': 'RUNNING'}), 'RUNNING'),
    (
        (
            'ROBOT_ACTION_OUTCOME',
            {
                'state': 'FAILED',
                'reason': 'aborted',
                'evidence': {'why': 'a wall'},
                'verification_snapshot_id': None,
            },
        ),
        'FAILED (aborted): a wall',
    ),
    (('SALIENT_EVENT', {'kind': 'battery_low', 'message': '12 %'}), 'battery_low: 12 %'),
    (
        ('MISSION_ENDED', {'outcome': 'achieved', 'reason': 'f', 'summary': 'ok', 'steps': 1}),
        'achieved (f): ok',
    ),
    (
        (
            'RECOVERY_PERFORMED',
            {
                'interrupted_calls': ['c'],
                'settled_actions': [
                    {'action_id': GOAL, 'state': 'UNKNOWN', 'reason': 'result_lost'}
                ],
                'ended_missions': [],
            },
        ),
        'closed what an earlier run left open: 1 call, 1 action UNKNOWN (result_lost), 0 missions',
    ),
    (
        state(
            'configured', configuration={'version': '1.2', 'reachable': {'a': True, 'b': False}}
        ),
        'configured: release 1.2, 2 controllers, of which not there: b',
    ),
    (
        state('reconfigured', configuration={'parameters': {'battery.low_fraction': 0.3}}),
        'reconfigured: battery.low_fraction is 0.3',
    ),
    (state('reconfigured', configuration={'places': {'k': {}}}), 'reconfigured: 1 place'),
    (state('adopted'), 'has taken over what an earlier run left open'),
    (state('recovering'), 'begins to close what an earlier run left open'),
    (state('active'), 'active: takes calls that move the robot'),
    (state('inactive'), 'inactive: takes no calls that move the robot'),
    (state('closing', cancel_running=True), 'closes; actions under way are cancelled'),
    (state('closing', cancel_running=False), 'closes; actions under way go on'),
    (controller('goal_response', {'goal_id': GOAL, 'accepted': True}), 'spin accepts goal 7777'),
    (controller('goal_response', {'goal_id': GOAL, 'accepted': False}), 'spin rejects goal 7777'),
    (
        controller('feedback', {'goal_id': GOAL, 'feedback': {'distance_remaining': 3.456}}),
        'spin is on the way with goal 77777777: 3.46 m to go',
    ),
    (
        controller('feedback', {'goal_id': GOAL, 'feedback': {'angular_distance_traveled': 0.5}}),
        'spin is on the way with goal 77777777: angular distance traveled 0.5',
    ),
    (controller('status', {'goals': []}), 'spin lists no goal'),
    (
        controller('status', {'goals': [{'goal_id': GOAL, 'status': 2}]}, held=True),
        'spin lists goal 77777777 EXECUTING (heard before the record in front of it)',
    ),
    (
        controller(
            'result',
            {'goal_id': GOAL, 'status': 6, 'payload': {'error_code': 101, 'error_msg': 'stuck'}},
            late=[GOAL],
        ),
        'spin ended goal 77777777: ABORTED, error 101 stuck (after the outcome)',
    ),
    (
        controller('result', {'goal_id': GOAL, 'status': 4, 'payload': {'error_code': 0}}),
        'spin ended goal 77777777: SUCCEEDED',
    ),
    (
        controller('result', {'goal_id': GOAL, 'status': 0, 'payload': {}}),
        'spin knows of no result of goal 77777777',
    ),
    (
        controller('cancel_response', {'goal_id': GOAL, 'return_code': 0}),
        'spin will cancel goal 77777777',
    ),
    (
        controller('cancel_response', {'goal_id': GOAL, 'return_code': 77}),
        'spin answers 77 to the cancelling of goal 77777777',
    ),
    (
        controller('send_failed', {'goal_id': GOAL, 'message': 'no such field'}),
        'spin could not be sent goal 77777777: no such field',
    ),
    (controller('presence', {'reachable': True}), 'spin is there'),
    (controller('presence', {'reachable': False}), 'spin is not there any more'),
    (service('presence', {'reachable': False}), '/lamp is not there any more'),
    (
        service('response', {'response': {'success': True, 'message': 'on'}}),
        '/lamp answered: success yes, message on',
    ),
    (service('response', {'response': {}}), '/lamp answered: nothing'),
    (service('response', {'size_bytes': 70000}), '/lamp answered with 70,000 bytes'),
    (
        service('failed', {'code': 'tool_error', 'message': 'no answer within 5 s'}),
        '/lamp did not answer (tool_error): no answer within 5 s',
    ),
    (('TOOL_CALL_WITHDRAWN', {'monotonic_ns': 1}), 'whoever made the call wants it no longer'),
    (
        ('MISSION_CANCEL_REQUESTED', {'reason': 'max_wall_time', 'monotonic_ns': 1}),
        'the mission is to end: max wall time',
    ),
    (
        (
            'COMMIT_WAS_SLOW',
            {
                'first_seq': 3,
                'last_seq': 1004,
                'durable_ns': 1,
                'waited_s': 0.1642,
                'monotonic_ns': 1,
            },
        ),
        'waited 0.16 s for records 3 to 1,004 to be on the disk',
    ),
    (
        (
            'COMMIT_WAS_SLOW',
            {'first_seq': 3, 'last_seq': 3, 'durable_ns': 1, 'waited_s': 2.5, 'monotonic_ns': 1},
        ),
        'waited 2.5 s for record 3 to be on the disk',
    ),
    (
        (
            'JOURNAL_CONTINUED',
            {
                'predecessor': 'journal.1.db.gz',
                'predecessor_last_seq': 1234,
                'predecessor_last_chain': 'c',
                'carried_over': 2,
            },
        ),
        'goes on from journal.1.db.gz, which ends with record 1,234; 2 records carried over',
    ),
    (
        (
            'RECORD_CARRIED_OVER',
            {
                'record': {
                    'seq': 1000,
                    'type': 'SALIENT_EVENT',
                    'payload': {'kind': 'battery_low', 'message': '12 %'},
                }
            },
        ),
        'record 1,000 of an earlier file, SALIENT_EVENT: battery_low: 12 %',
    ),
]


def record(kind: str, payload: dict[str, Any]) -> RecordedEvent:
    return RecordedEvent(
        1, 1, kind, 0, None, 'mission-1', None, 'call-1', None, 'seen-1', payload, ''
    )


@pytest.mark.parametrize(('told', 'wanted'), LINES, ids=lambda value: str(value)[:40])
def test_a_record_has_a_line_that_a_person_understands(
    told: tuple[str, dict[str, Any]], wanted: str
) -> None:
    kind, payload = told
    # As it is recorded: every example is what this release writes.
    event = record(kind, EVENT_MODELS[EventType(kind)](**payload).model_dump(mode='json'))
    assert about(as_json(event)).startswith(wanted)
    assert line(event)['about'].startswith(wanted)


def test_every_type_of_event_has_such_a_line() -> None:
    assert {kind for (kind, _), _ in LINES} == {kind.value for kind in EventType}


@pytest.mark.parametrize('kind', EventType, ids=lambda kind: kind.value)
def test_a_record_of_another_shape_has_a_line_as_well(kind: EventType) -> None:
    assert not about(as_json(record(kind.value, {}))).startswith('{')
    for told, payload in (told for told, _ in LINES):
        if told != kind.value:
            continue
        for odd in ODD:
            for strange in _each_replaced(payload, odd):
                assert isinstance(line(record(told, strange))['about'], str)


def _each_replaced(value: dict[str, Any], by: Any) -> list[dict[str, Any]]:
    """Return copies in each of which one value, at any depth, is another."""
    made = []
    for key, item in value.items():
        made.append({**value, key: by})
        if isinstance(item, dict):
            made += [{**value, key: inner} for inner in _each_replaced(item, by)]
        elif isinstance(item, list):
            made.append({**value, key: [by]})
    return made


@pytest.mark.parametrize('packed', REPLAYS, ids=lambda path: path.name.split('.')[0])
def test_no_line_of_a_recorded_run_is_raw_json(packed: Path, tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    with JournalReader(path) as reader:
        lines = [about(as_json(event)) for event in reader.events()]
    assert lines
    assert [told for told in lines if told.startswith(('{', '[')) or '{}' in told] == []


def test_a_type_of_a_later_release_shows_what_its_record_holds() -> None:
    assert about(as_json(record('OF_A_LATER_RELEASE', {'a': 1}))) == '{"a": 1}'
