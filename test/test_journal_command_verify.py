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

from journal_command_rig import call, command, mission, write
import pytest

from robot_agent_harness.events import EventType
from robot_agent_harness.journal import JournalReader, Selection
from robot_agent_harness.journal_tools.invariants import violations
from robot_agent_harness.testing import FakeClock

GOOD, BAD = ('SUCCEEDED', 'verified'), ('FAILED', 'aborted')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / 'journal.db', mission('m1', GOOD, BAD), call('out-1'))


def alter(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER {name}')
        connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


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
        ('DROP VIEW decision_log', 'lacks decision_log'),
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
        'actions': ['m1-call-1-action'],
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
    # Both hold a page of rows; the second one is four times as long.
    assert peak(160) < 1.2 * peak(40)


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
                lambda: list(reader.events(action_id='m0-call-1-action', type='SALIENT_EVENT')),
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
