# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""check_journal finds each broken promise, and finds none where none is broken."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
import sqlite3
from typing import Any

from journal_rig import alter, opened
import pytest

from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    JournalContinued,
    MissionEnded,
    MissionStarted,
    ModelTurnStarted,
    RecordCarriedOver,
    RobotActionOutcome,
    RobotActionProgress,
    RobotActionStarted,
    SalientEvent,
    ToolCallRecorded,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.schema import chain_of
from robot_agent_harness.testing.journal_assertions import assert_journal, check_journal

A, B = 'a' * 32, 'b' * 32
IDS = Correlation(mission_id='m', tool_call_id='c', action_id=A, snapshot_id='s1')
Entry = tuple[Event, Correlation]


def progress(state: str, *, late: bool = False) -> Entry:
    return RobotActionProgress(state=state, late=late), IDS


def checked(ok: bool) -> Entry:
    event = ActionPreconditionChecked(
        ok=ok,
        decision_snapshot_id='s0',
        fresh_snapshot_id='s1',
        checks=[{'name': 'pose_age', 'ok': ok, 'measured': 0.5, 'limit': 1.0}],
    )
    return event, IDS


def result(status: str, *, is_error: bool = False, **structured: Any) -> Entry:
    told = {'status': status, 'message': 'so it is', 'action_id': A, **structured}
    return ToolResultRecorded(status=status, is_error=is_error, structured=told), IDS


def outcome(state: str, reason: str, snapshot_id: str | None = 's2') -> Entry:
    event = RobotActionOutcome(
        state=state,
        reason=reason,
        evidence={'why': 'seen', 'position_error_m': 0.1, 'position_tolerance_m': 0.35},
        verification_snapshot_id=snapshot_id,
    )
    return event, IDS


def snapshot(snapshot_id: str) -> Entry:
    event = WorldSnapshotCaptured(reason='verification', snapshot={})
    return event, Correlation(snapshot_id=snapshot_id)


SOUND: dict[str, Entry] = {
    'mission': (
        MissionStarted(instruction='', robot_id='r', provider='scripted', max_steps=1),
        IDS,
    ),
    'seen': snapshot('s0'),
    'call': (
        ToolCallRecorded(
            name='navigate_to_pose',
            arguments={},
            decision_snapshot_id='s0',
            purpose=None,
            expected_outcome=None,
        ),
        IDS,
    ),
    'fresh': snapshot('s1'),
    'checked': checked(True),
    'started': (RobotActionStarted(skill='navigate_to_pose', goal={}), IDS),
    'accepted': progress('ACCEPTED'),
    'result': result('accepted'),
    'running': progress('RUNNING'),
    'still running': progress('RUNNING'),
    'verifying': progress('VERIFYING'),
    'snapshot': snapshot('s2'),
    'outcome': outcome('SUCCEEDED', 'verified'),
    'late': progress('SUCCEEDED', late=True),
    'ended': (
        MissionEnded(
            outcome='achieved',
            reason='finished',
            summary='',
            claim='achieved',
            claim_supported=True,
            steps=1,
        ),
        IDS,
    ),
}


def write(path: Path, entries: list[Entry]) -> Path:
    async def main() -> None:
        async with opened(path) as journal:
            await journal.append(*entries)

    asyncio.run(main())
    return path


def order(*names: str) -> list[Entry]:
    return [SOUND[name] for name in names]


def without(*names: str) -> list[Entry]:
    return [entry for name, entry in SOUND.items() if name not in names]


def swapped(one: str, other: str) -> list[Entry]:
    names = list(SOUND)
    i, j = names.index(one), names.index(other)
    names[i], names[j] = names[j], names[i]
    return order(*names)


def changed(name: str, entry: Entry) -> list[Entry]:
    return [entry if key == name else value for key, value in SOUND.items()]


def inserted(before: str, *entries: Entry) -> list[Entry]:
    place = list(SOUND).index(before)
    values = list(SOUND.values())
    return [*values[:place], *entries, *values[place:]]


def idless(name: str) -> list[Entry]:
    return changed(name, (SOUND[name][0], Correlation()))


def test_a_sound_journal_has_no_violations(tmp_path: Path) -> None:
    path = write(tmp_path / 'journal.db', list(SOUND.values()))
    assert check_journal(path) == []
    assert_journal(path)


VIOLATIONS: dict[str, tuple[list[Entry], str]] = {
    'no result': (without('result'), 'call c has 0 results'),
    'two results': (inserted('ended', SOUND['result']), 'call c has 2 results'),
    'result of no call': (without('call'), 'call c was recorded 0 times'),
    'call twice': (inserted('started', SOUND['call']), 'call c was recorded 2 times'),
    'result first': (swapped('call', 'result'), 'the result of call c comes before it'),
    'no outcome': (without('outcome', 'late'), f'action {A} has 0 outcomes'),
    'two outcomes': (inserted('ended', SOUND['outcome']), f'action {A} has 2 outcomes'),
    'outcome of no action': (
        without('started', 'accepted', 'running', 'still running', 'verifying'),
        f'action {A} was recorded 0 times',
    ),
    'outcome first': (
        [*order('outcome', 'call', 'checked', 'started', 'result')],
        f'the outcome of action {A} comes before it',
    ),
    'unchecked': (without('checked'), 'without checked preconditions'),
    'checked too late': (swapped('checked', 'started'), 'without checked preconditions'),
    'checked before the call': (swapped('checked', 'call'), 'were checked before it'),
    'failed check': (changed('checked', checked(False)), 'though its check had failed'),
    'result before the start': (swapped('started', 'result'), 'an action after its result'),
    'a repeat that was carried out': (
        changed('call', (SOUND['call'][0].model_copy(update={'repeat_of': 'b'}), IDS)),
        'call c repeats call b, and was carried out all the same',
    ),
    'two actions of a call': (
        inserted('outcome', (SOUND['started'][0], Correlation(tool_call_id='c', action_id=B))),
        'call c started 2 actions',
    ),
    'action of no call': (
        changed('started', (SOUND['started'][0], Correlation(action_id=A))),
        f'action {A} starts without a call',
    ),
    'success unverified': (
        changed('outcome', outcome('SUCCEEDED', 'aborted')),
        'is SUCCEEDED for reason aborted',
    ),
    'verified failure': (
        changed('outcome', outcome('FAILED', 'verified')),
        'is FAILED for reason verified',
    ),
    'success without snapshot': (without('snapshot'), 'no snapshot s2 was recorded between'),
    'success on an old snapshot': (swapped('snapshot', 'call'), 'no snapshot s2 was recorded'),
    'success on a later snapshot': (swapped('snapshot', 'late'), 'no snapshot s2 was recorded'),
    'success on no snapshot': (
        changed('outcome', outcome('SUCCEEDED', 'verified', None)),
        'no snapshot None was recorded',
    ),
    'success without verifying': (without('verifying'), 'went from RUNNING to SUCCEEDED'),
    'success on request': (
        without('accepted', 'running', 'still running', 'verifying'),
        'went from REQUESTED to SUCCEEDED',
    ),
    'a step back': (inserted('outcome', progress('RUNNING')), 'went from VERIFYING to RUNNING'),
    'an unknown state': (inserted('outcome', progress('FLYING')), 'an unknown state'),
    'no end': (changed('outcome', outcome('RUNNING', 'aborted')), 'RUNNING, which is no end'),
    'progress first': (swapped('accepted', 'checked'), f'progress of action {A} before its start'),
    'progress after the end': (inserted('ended', progress('RUNNING')), 'after its outcome'),
    'late before the end': (
        swapped('late', 'running'),
        f'late progress of action {A}, which goes',
    ),
    'mission twice': (inserted('call', SOUND['mission']), 'mission m was recorded 2 times'),
    'mission without end': (without('ended'), 'mission m has 0 ends'),
    'call without id': (idless('call'), '(TOOL_CALL_RECORDED) lacks the id'),
    'outcome without id': (idless('outcome'), '(ROBOT_ACTION_OUTCOME) lacks the id'),
}


@pytest.mark.parametrize('name', VIOLATIONS)
def test_each_broken_promise_is_named(tmp_path: Path, name: str) -> None:
    entries, told = VIOLATIONS[name]
    path = write(tmp_path / 'journal.db', entries)
    violations = check_journal(path)
    assert any(told in violation for violation in violations), violations
    with pytest.raises(AssertionError) as caught:
        assert_journal(path)
    assert told in str(caught.value)


def test_open_work_is_no_violation_of_a_journal_that_is_being_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / 'journal.db', order('mission', 'seen', 'call', 'fresh', 'checked', 'started')
    )
    assert len(check_journal(path)) == 3
    assert check_journal(path, finished=False) == []


def test_progress_that_was_dropped_for_want_of_room_is_missed_by_nobody(tmp_path: Path) -> None:
    event = SalientEvent(kind='journal_records_dropped', message='', details={'dropped': {A: 2}})
    note = (event, Correlation(mission_id='m'))
    entries = [*inserted('accepted', note)]
    entries = [entry for entry in entries if entry not in order('accepted', 'running')]
    assert check_journal(write(tmp_path / 'journal.db', entries)) == []


def test_a_rejected_and_an_unknown_action_are_sound(tmp_path: Path) -> None:
    for state, reason, status in (
        ('FAILED', 'rejected', 'rejected'),
        ('UNKNOWN', 'acceptance_timeout', 'acceptance_unknown'),
    ):
        names = ('seen', 'call', 'fresh', 'checked', 'started')
        entries = [*order(*names), result(status, is_error=True), outcome(state, reason, None)]
        assert check_journal(write(tmp_path / f'{reason}.db', entries)) == []


@pytest.mark.parametrize(
    ('statement', 'told'),
    [
        ('DELETE FROM events WHERE seq = 8', 'record 9 follows record 7, seq has a gap'),
        ('DELETE FROM events WHERE seq = 8', 'record 8 is missing'),
        ("UPDATE events SET mission_id = 'n' WHERE seq = 9", 'record 9 was altered'),
        ("UPDATE events SET payload = 'x' WHERE seq = 9", 'record 9 is no JSON object'),
        ("UPDATE events SET payload = '{}' WHERE seq = 3", 'payload name: Field required'),
        ('UPDATE events SET payload = \'{"x":NaN}\' WHERE seq = 9', 'record 9 is no JSON object'),
        (
            "UPDATE events SET schema_version = 'x' WHERE seq = 9",
            'schema_version of record 9 cannot be of type str',
        ),
        ('UPDATE events SET schema_version = 9 WHERE seq = 9', 'record 9 has schema 9'),
    ],
)
def test_altered_files_are_named(tmp_path: Path, statement: str, told: str) -> None:
    path = write(tmp_path / 'journal.db', list(SOUND.values()))
    alter(path, statement)
    violations = check_journal(path)
    assert any(told in violation for violation in violations), violations


def test_types_of_a_later_release_are_ignored(tmp_path: Path) -> None:
    path = write(tmp_path / 'journal.db', list(SOUND.values()))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        seq, chain = connection.execute(
            'SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1'
        ).fetchone()
        row: tuple[Any, ...] = (seq + 1, 1, 'DREAM_RECORDED', 0, *[None] * 6, '{"deep":true}')
        marks = ', '.join('?' * 12)
        connection.execute(f'INSERT INTO events VALUES ({marks})', (*row, chain_of(chain, row)))
    assert check_journal(path) == []


def test_what_cannot_be_read_is_a_violation(tmp_path: Path) -> None:
    [violation] = check_journal(tmp_path / 'nothing.db')
    assert 'nothing.db' in violation


def test_a_second_action_of_one_turn_is_named(tmp_path: Path) -> None:
    ids = {'mission_id': 'm', 'turn_id': 't', 'snapshot_id': 's0'}
    turn = ModelTurnStarted(step=1, trigger='mission_started', system_prompt='', user_prompt='')
    entries = [SOUND['mission'], SOUND['seen'], (turn, Correlation(**ids))]
    for call_id, action_id in (('c', A), ('d', B)):
        own = {**ids, 'tool_call_id': call_id, 'action_id': action_id}
        for name in ('call', 'fresh', 'checked', 'started'):
            event, _ = SOUND[name]
            entries.append((event, Correlation(**{**own, 'snapshot_id': f's{name == "fresh":d}'})))
    [violation] = check_journal(write(tmp_path / 'journal.db', entries), finished=False)
    assert f'action {B} is the second one of turn t, after {A}' in violation


def test_quotes_of_the_file_before_that_are_missing_are_named(tmp_path: Path) -> None:
    begin = JournalContinued(
        predecessor='journal-x.db.gz',
        predecessor_last_seq=9,
        predecessor_last_chain='c',
        carried_over=2,
    )
    quote = RecordCarriedOver(record={})
    path = write(tmp_path / 'journal.db', [(begin, Correlation()), (quote, Correlation())])
    assert check_journal(path) == ['record 1 says that 2 records are quoted, and 1 are']
