# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal ... --all`: a journal of several files, and what is said of older and broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from journal_command_rig import action_of, call, command, lines, mission, write
import pytest
from test_journal_tampering import unguarded

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.testing import FakeClock

GOOD, BAD = ('SUCCEEDED', 'verified'), ('FAILED', 'aborted')
LISTINGS = ('missions', 'events', 'decisions', 'actions')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three files: m1 in the oldest, m2 and a call in the next one, m3 in the newest."""
    clock, path = FakeClock(), tmp_path / 'journal.db'
    write(path, mission('m1', GOOD, BAD), clock=clock)
    clock.advance(3600.0)
    rotate(path, clock=SystemClock())
    write(path, mission('m2', BAD), call('out-1', *GOOD), clock=clock)
    clock.advance(3600.0)
    rotate(path, clock=SystemClock())
    return write(path, mission('m3', GOOD), clock=clock)


def archives(path: Path) -> list[Path]:
    return sorted(path.parent.glob('*.db.gz'))


def listed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    code, out, _ = command(capsys, *arguments, '--json')
    assert code == 0
    return lines(out)


def test_all_files_of_a_journal_are_listed_in_their_order_each_row_with_its_file(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, middle = (archive.name for archive in archives(path))
    rows = listed(capsys, 'missions', path, '--all')
    assert [(row['mission_id'], row['file']) for row in rows] == [
        ('m1', old),
        ('m2', middle),
        ('m3', path.name),
    ]
    for name in LISTINGS:
        rows = listed(capsys, name, path, '--all', '--limit', 0)
        one_by_one = [
            row | {'file': file.name}
            for file in (*archives(path), path)
            for row in listed(capsys, name, file, '--limit', 0)
        ]
        assert rows == one_by_one
        assert rows


def test_the_newest_page_is_taken_from_as_many_files_as_it_needs(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in LISTINGS:
        every = listed(capsys, name, path, '--all', '--limit', 0)
        for limit in range(1, len(every) + 2):
            code, out, err = command(capsys, name, path, '--all', '--json', '--limit', limit)
            assert (code, lines(out)) == (0, every[-limit:])
            assert ('there are earlier ones' in err) is (limit < len(every)), (name, limit)


def test_an_archive_is_not_opened_where_the_newer_files_are_enough(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archives(path)[0].write_bytes(b'\x1f\x8bno more')
    rows = listed(capsys, 'missions', path, '--all', '--limit', 2)
    assert [row['mission_id'] for row in rows] == ['m2', 'm3']
    code, out, err = command(capsys, 'missions', path, '--all')
    assert (code, out) == (2, '')
    assert archives(path)[0].name in err


def test_filters_go_through_all_files(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(capsys, 'actions', path, '--all', '--reason', 'aborted')
    assert [row['action_id'] for row in rows] == [action_of('m1-call-2'), action_of('m2-call-1')]
    rows = listed(capsys, 'events', path, '--all', '--mission', 'm2', '--type', 'MISSION_ENDED')
    assert [row['file'] for row in rows] == [archives(path)[1].name]


def test_an_id_is_a_slip_only_where_no_file_has_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, 'events', path, '--mission', 'm1')
    assert (code, out) == (2, '')
    assert f'mission m1: not in {path}, and what was before it is in' in err
    assert err.endswith('; --all looks there as well\n')
    code, out, err = command(capsys, 'events', path, '--mission', 'm9', '--all')
    assert (code, out) == (2, '')
    assert err.endswith(', nor in any file before it that is beside it\n')
    archives(path)[1].unlink()
    code, out, err = command(capsys, 'events', path, '--mission', 'm1')
    assert (code, out) == (2, '')
    assert err.endswith(', which is not beside it\n')
    code, out, err = command(capsys, 'events', path, '--mission', 'm1', '--all')
    assert (code, out) == (2, '')
    assert ', which is not beside it, nor in any file before it that is beside it' in err


def test_a_filter_without_a_match_for_an_id_of_an_older_file_is_an_empty_list(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ('--all', '--mission', 'm1', '--reason', 'preempted')
    assert listed(capsys, 'events', path, *asked) == []


def test_a_table_of_several_files_names_each_above_its_rows(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = command(capsys, 'missions', path, '--all')[1].splitlines()
    old, middle = (archive.name for archive in archives(path))
    assert [line.strip() for line in out if '.db' in line] == [old, middle, path.name]
    assert sum(line.split()[:1] == ['seq'] for line in out) == 1


@pytest.mark.parametrize(
    ('name', 'wanted', 'kind'),
    [('mission', 'm1', 'mission'), ('call', 'out-1', 'call'), ('action', 'out-1', 'call')],
)
def test_one_thing_is_shown_from_whichever_file_has_it(
    path: Path, capsys: pytest.CaptureFixture[str], name: str, wanted: str, kind: str
) -> None:
    wanted = action_of(wanted) if name == 'action' else wanted
    code, out, err = command(capsys, 'show', path, f'--{name}', wanted)
    assert (code, out) == (2, '')
    assert f'{archives(path)[1].name}; --all looks there as well' in err
    code, out, _ = command(capsys, 'show', path, f'--{name}', wanted, '--all', '--json')
    assert code == 0
    assert lines(out)[0]['kind'] == kind
    code, out, err = command(capsys, 'show', path, f'--{name}', 'lost', '--all')
    assert (code, out) == (2, '')
    assert 'lost: not in' in err
    assert 'nor in any file before it' in err


def test_trees_of_all_files_are_shown_in_their_order(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = listed(capsys, 'show', path, '--all')
    missions = [node['mission_id'] for node in nodes if node['kind'] == 'mission']
    assert missions == ['m1', 'm2', 'm3']


def test_after_counts_one_file_and_does_not_go_with_all(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, 'events', path, '--all', '--after', 3)
    assert (code, out) == (2, '')
    assert '--after counts the records of one file' in err


def test_a_list_that_reaches_the_beginning_of_its_file_names_the_older_one(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = f'older records are in {archives(path)[1].name}: --all looks there as well'
    for name in (*LISTINGS, 'show'):
        for more in ((), ('--limit', 0), ('--after', 0)):
            assert older in command(capsys, name, path, *more)[2].splitlines(), (name, more)
    assert older not in command(capsys, 'events', path, '--limit', 1)[2]
    assert 'older' not in command(capsys, 'missions', archives(path)[0])[2]


def test_an_older_file_that_is_gone_is_said_to_be(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = archives(path)[1]
    gone.unlink()
    for more in ((), ('--all',)):
        code, out, err = command(capsys, 'missions', path, *more, '--json')
        assert (code, [row['mission_id'] for row in lines(out)]) == (0, ['m3'])
        assert err == f'older records are in {gone.name}, which is not beside {path}\n'


@pytest.mark.parametrize('name', [*LISTINGS, 'show'])
def test_a_broken_chain_is_told_with_where_to_learn_all_of_it(
    path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told = (
        'the chain is broken: record 5 was altered, or the one before it.'
        " 'robot-agent-harness journal verify' checks everything"
    )
    for more in ((), ('--all',), ('--json',)):
        assert told not in command(capsys, name, path, *more)[2]
    with unguarded(path) as connection:
        connection.execute('UPDATE events SET wall_time_ns = 7 WHERE seq = 5')
    for more in ((), ('--all',), ('--json',)):
        code, out, err = command(capsys, name, path, *more)
        assert code == 0
        assert out
        assert err.splitlines().count(told) == 1
    assert told in command(capsys, 'show', path, '--mission', 'm3')[2]


def test_a_record_that_cannot_be_read_is_told_with_where_to_learn_all_of_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with unguarded(path) as connection:
        connection.execute("UPDATE events SET payload = 'x' WHERE seq = 5")
    code, _, err = command(capsys, 'events', path)
    assert code == 2
    assert err.splitlines()[-1].endswith(
        "record 5 is no JSON object; 'robot-agent-harness journal verify' names all that is wrong"
        ' with it'
    )
    code, out, _ = command(capsys, 'verify', path, '--json')
    assert code == 1
    assert len(json.loads(out)['files'][0]['violations']) > 1
