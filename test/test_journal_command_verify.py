# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal verify`: what it finds, where it says that it is, and what that costs."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
import sqlite3
import tracemalloc

from journal_command_rig import action_of, call, command, mission, write
from journal_rig import alter
import pytest

from robot_agent_harness.events import EventType
from robot_agent_harness.journal import JournalReader, Selection
from robot_agent_harness.journal_tools.invariants import violations
from robot_agent_harness.journal_tools.progress import Progress
from robot_agent_harness.testing import FakeClock

GOOD, BAD = ('SUCCEEDED', 'verified'), ('FAILED', 'aborted')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / 'journal.db', mission('m1', GOOD, BAD), call('out-1'))


def test_a_sound_file_is_code_0_with_its_last_chain(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, 'verify', path, '--json')
    told = json.loads(out)
    [file] = told['files']
    with JournalReader(path) as reader:
        assert (file['records'], file['last_chain']) == reader.tail()
    assert (code, err, told['sound'], file['violations']) == (0, '', True, [])
    code, out, _ = command(capsys, 'verify', path)
    assert code == 0
    assert out.splitlines() == [
        f'{path}: {file["records"]} records, none lost or altered, every promise kept; the last'
        f' chain is {file["last_chain"]}'
    ]


@pytest.mark.parametrize(
    ('statement', 'place'),
    [
        ("UPDATE events SET mission_id = 'n' WHERE seq = 9", 'record 9 was altered'),
        ('DELETE FROM events WHERE seq = 8', 'record 8 is missing'),
        ("DELETE FROM events WHERE type = 'TOOL_RESULT_RECORDED'", 'has 0 results'),
        ('DROP VIEW decision_log', 'decision_log is missing'),
    ],
)
def test_what_does_not_hold_is_code_1_and_the_place_is_named(
    path: Path, capsys: pytest.CaptureFixture[str], statement: str, place: str
) -> None:
    alter(path, statement)
    # As an archive: there everything must have its end.
    archive = path.with_name('archive.db.gz')
    archive.write_bytes(gzip.compress(path.read_bytes()))
    code, out, _ = command(capsys, 'verify', archive)
    assert code == 1
    assert place in out
    assert out.splitlines()[-1].endswith(' violations')
    code, out, _ = command(capsys, 'verify', archive, '--json')
    assert (code, json.loads(out)['sound']) == (1, False)


@pytest.mark.parametrize('packed', [False, True])
def test_a_damaged_file_is_code_1_and_named(
    path: Path, capsys: pytest.CaptureFixture[str], packed: bool
) -> None:
    content = path.read_bytes()
    if packed:
        content = gzip.compress(content)
    path.write_bytes(content[: len(content) // 2])
    code, out, _ = command(capsys, 'verify', path)
    assert code == 1
    assert str(path) in out
    assert 'damaged' in out


def test_work_under_way_is_no_violation_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / 'journal.db', iter(list(mission('m1', GOOD))[:8]))
    code, out, _ = command(capsys, 'verify', path, '--json')
    [file] = json.loads(out)['files']
    assert code == 0
    assert file['open'] == {
        'calls': ['m1-call-1'],
        'actions': [action_of('m1-call-1')],
        'missions': ['m1'],
    }
    assert 'open: 1 actions' in command(capsys, 'verify', path)[1]


def test_a_journal_that_names_a_file_elsewhere_is_not_followed_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / 'journal.db', mission('m1', GOOD))
    # Its first record says that it continues a file outside its folder.
    alter(
        path,
        "UPDATE events SET type = 'JOURNAL_CONTINUED', payload = "
        '\'{"predecessor":"../other.db.gz","predecessor_last_seq":1,'
        '"predecessor_last_chain":"c","carried_over":0}\' WHERE seq = 1',
    )
    code, out, _ = command(capsys, 'verify', path)
    assert code == 1
    assert "record 1 names no file: '../other.db.gz'" in out


@pytest.mark.parametrize(
    ('statement', 'told'),
    [
        ('DROP TRIGGER events_refuse_update', 'events_refuse_update is missing'),
        ('DROP TRIGGER events_no_gap', 'events_no_gap is missing'),
        ('DROP VIEW mission_usage', 'mission_usage is missing'),
        (
            'DROP TRIGGER events_refuse_delete; CREATE TRIGGER events_refuse_delete'
            ' BEFORE DELETE ON events BEGIN SELECT 1; END',
            'events_refuse_delete refuses nothing any more',
        ),
        (
            'DROP TRIGGER events_refuse_update; CREATE TRIGGER events_refuse_update'
            " BEFORE UPDATE ON events WHEN OLD.seq > 9 BEGIN SELECT RAISE(ABORT, ''); END",
            'events_refuse_update refuses nothing any more',
        ),
    ],
)
def test_a_guard_that_was_taken_away_is_named_and_all_else_is_checked_all_the_same(
    path: Path, capsys: pytest.CaptureFixture[str], statement: str, told: str
) -> None:
    alter(path, "UPDATE events SET mission_id = 'n' WHERE seq = 9")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    code, out, _ = command(capsys, 'verify', path)
    assert code == 1
    assert told in out
    assert 'record 9 was altered' in out
    assert f'{path}: ' in out.splitlines()[-1]


def test_each_break_of_the_chain_is_named_once(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(path, 'UPDATE events SET wall_time_ns = 7 WHERE seq IN (9, 20)')
    _, out, _ = command(capsys, 'verify', path)
    assert [line for line in out.splitlines() if 'was altered' in line] == [
        'record 9 was altered, or the one before it',
        'record 20 was altered, or the one before it',
    ]


def test_who_waits_is_told_every_two_seconds_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now_s = 0.0
    progress = Progress('checked', lambda: now_s)
    for seq in range(1, 9_001):
        now_s += 0.0011
        progress(seq, 9_000)
    told = ['2,000 of 9,000', '4,000 of 9,000', '6,000 of 9,000', '8,000 of 9,000']
    assert capsys.readouterr().err.splitlines() == [f'{one} records are checked' for one in told]


def test_a_longer_journal_takes_no_more_memory(tmp_path: Path) -> None:
    def peak(missions: int) -> int:
        clock = FakeClock()
        stories = [mission(f'm{number}', GOOD, BAD, GOOD) for number in range(missions)]
        path = write(tmp_path / f'{missions}.db', *stories, clock=clock)
        with JournalReader(path) as reader:
            tracemalloc.start()
            try:
                assert list(violations(reader, finished=True)) == []
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    peak(1)  # what is imported and compiled at the first time
    # Both hold a page of rows; the second one is four times as long. When garbage is collected
    # makes a fifth of difference.
    assert peak(160) < 1.5 * peak(40)


def test_what_is_looked_up_by_an_id_costs_the_same_in_a_longer_journal(tmp_path: Path) -> None:
    def steps(missions: int) -> list[int]:
        stories = [mission(f'm{number}', GOOD, BAD) for number in range(missions)]
        path = write(tmp_path / f'{missions}.db', *stories)
        counts = []
        with JournalReader(path) as reader:
            for look in (
                lambda: reader.captures('m0-call-1-verified'),
                lambda: reader.snapshot('m0-seen-1'),
                lambda: list(reader.events(tool_call_id='m0-call-1', type='TOOL_CALL_RECORDED')),
                lambda: list(
                    reader.events(action_id=action_of('m0-call-1'), type='SALIENT_EVENT')
                ),
                lambda: list(reader.events(mission_id='m0', type='MISSION_ENDED')),
                lambda: reader.newest(EventType.MISSION_ENDED),
                lambda: list(reader.decisions(Selection(turn_id='m0-turn-1'))),
            ):
                taken = [0]

                def step(taken: list[int] = taken) -> int:
                    taken[0] += 1
                    return 0

                reader._journal.connection.set_progress_handler(step, 1)
                assert look() is not None
                counts.append(taken[0])
        return counts

    # Steps of SQLite's machine: what SQLite itself does may differ by a few, not by a factor.
    for short, long in zip(steps(3), steps(60), strict=True):
        assert long < 1.5 * short + 50
