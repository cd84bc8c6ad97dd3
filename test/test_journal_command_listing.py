# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal missions | events | decisions | actions`: what they list, find, page and refuse."""

from __future__ import annotations

import os
from pathlib import Path
import sqlite3
import subprocess
import sys
from typing import Any

from journal_command_rig import action_of, call, command, HOSTILE, lines, mission, write
from journal_rig import BOUND_S, of_first_release
import pytest

from robot_agent_harness.cli import MODULE
from robot_agent_harness.journal_tools import SUBCOMMANDS
from robot_agent_harness.journal_tools.arguments import wall_ns
from robot_agent_harness.testing import check_journal, FakeClock

LISTINGS = ('missions', 'events', 'decisions', 'actions')
GOOD, BAD = ('SUCCEEDED', 'verified'), ('FAILED', 'aborted')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two missions and two calls outside them, ten minutes apart."""
    clock = FakeClock()
    path = write(tmp_path / 'journal.db', mission('m1', GOOD, BAD), clock=clock)
    clock.advance(600.0)
    write(path, call('out-1'), call('out-2', *GOOD), clock=clock)
    clock.advance(600.0)
    write(path, mission('m2', GOOD), clock=clock)
    assert check_journal(path) == []
    return path


def found(capsys: pytest.CaptureFixture[str], key: str, *arguments: object) -> list[Any]:
    code, out, _ = command(capsys, *arguments, '--json')
    assert code == 0
    return [row[key] for row in lines(out)]


def test_every_listing_shows_a_table_and_the_same_as_json_lines(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in LISTINGS:
        code, out, err = command(capsys, name, path)
        assert (code, err) == (0, '')
        rows = lines(command(capsys, name, path, '--json')[1])
        head, *told = out.splitlines()
        assert head.split()[0] == 'seq'
        assert [int(line.split()[0]) for line in told] == [row['seq'] for row in rows]


def test_missions_tell_what_was_asked_and_what_became_of_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = lines(command(capsys, 'missions', path, '--json')[1])
    assert (first['mission_id'], first['outcome'], first['steps']) == ('m1', 'not_achieved', 2)
    assert (second['mission_id'], second['outcome'], second['events']) == ('m2', 'achieved', 16)
    assert first['ended_ns'] > first['started_ns']
    out = command(capsys, 'missions', path)[1]
    assert 'bring it' in out.splitlines()[1]


def test_actions_tell_how_they_ended_and_how_far_off(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = lines(command(capsys, 'actions', path, '--json')[1])
    assert [(row['state'], row['reason']) for row in rows] == [GOOD, BAD, GOOD, GOOD]
    assert rows[0]['evidence']['position_error_m'] == 0.12
    assert '0.12 m' in command(capsys, 'actions', path)[1]


def test_decisions_tell_what_came_of_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = lines(command(capsys, 'decisions', path, '--json')[1])
    assert [(row['mission_id'], row['step'], row['reason']) for row in rows] == [
        ('m1', 1, 'verified'),
        ('m1', 2, 'aborted'),
        ('m2', 1, 'verified'),
    ]
    assert rows[0]['arguments'] == {'x': 1.0, 'y': 2.0}
    assert rows[0]['tool_calls'][0]['name'] == 'navigate_to_pose'


@pytest.mark.parametrize(
    ('asked', 'key', 'wanted'),
    [
        ('missions --status achieved', 'mission_id', ['m2']),
        ('missions --status open', 'mission_id', []),
        ('missions --reason finished', 'mission_id', ['m1', 'm2']),
        ('missions --since 2026-01-01T00:15Z', 'mission_id', ['m2']),
        ('missions --until 2026-01-01T00:15Z', 'mission_id', ['m1']),
        ('actions --state failed', 'action_id', [action_of('m1-call-2')]),
        ('actions --state open', 'action_id', []),
        ('actions --reason aborted', 'action_id', [action_of('m1-call-2')]),
        ('actions --mission m2', 'action_id', [action_of('m2-call-1')]),
        (f'actions --action {action_of("out-2")}', 'mission_id', [None]),
        (
            'actions --since 2026-01-01T00:05Z --until 2026-01-01T00:15Z',
            'action_id',
            [action_of('out-2')],
        ),
        ('decisions --reason aborted', 'turn_id', ['m1-turn-2']),
        ('decisions --status accepted --mission m2', 'turn_id', ['m2-turn-1']),
        (f'decisions --action {action_of("m1-call-1")}', 'turn_id', ['m1-turn-1']),
        (f'decisions --action {action_of("out-2")}', 'turn_id', []),
        ('actions --mission m2 --state open', 'action_id', []),
        ('decisions --until 2026-01-01T00:01Z --reason verified', 'turn_id', ['m1-turn-1']),
        ('decisions --since 2026-01-01T00:15Z --after 0', 'turn_id', ['m2-turn-1']),
        ('events --type mission_ended', 'mission_id', ['m1', 'm2']),
        (
            'events --type MISSION_ENDED --type MISSION_STARTED --mission m2',
            'mission_id',
            ['m2'] * 2,
        ),
        ('events --reason aborted', 'action_id', [action_of('m1-call-2')]),
        ('events --status precondition_changed', 'tool_call_id', ['out-1']),
        (
            'events --call out-1',
            'type',
            [
                'WORLD_SNAPSHOT_CAPTURED',
                'TOOL_CALL_RECORDED',
                'WORLD_SNAPSHOT_CAPTURED',
                'ACTION_PRECONDITION_CHECKED',
                'TOOL_RESULT_RECORDED',
            ],
        ),
        ('events --turn m2-turn-1 --type TOOL_RESULT_RECORDED', 'tool_call_id', ['m2-call-1']),
        (
            f'events --action {action_of("m2-call-1")} --type ROBOT_ACTION_OUTCOME',
            'mission_id',
            ['m2'],
        ),
        ('events --since 2027-01-01', 'seq', []),
    ],
)
def test_filters_find_what_matches_all_of_them(
    path: Path, capsys: pytest.CaptureFixture[str], asked: str, key: str, wanted: list[Any]
) -> None:
    name, *filters = asked.split()
    assert found(capsys, key, name, path, *filters) == wanted
    # A file of an older release has no index to find them by.
    with sqlite3.connect(path) as old:
        for index in ('events_type', 'events_wall_time_ns', 'events_outside'):
            old.execute(f'DROP INDEX {index}')
    assert found(capsys, key, name, path, *filters) == wanted


@pytest.mark.parametrize(
    'option',
    [
        *(f'events --{name}' for name in ('mission', 'turn', 'call', 'action')),
        *(f'{name} --{of}' for name in ('decisions', 'actions') for of in ('mission', 'action')),
        'show --mission',
        'tail --mission',
        'export --mission',
    ],
)
def test_an_id_that_is_not_in_the_journal_is_a_slip_and_not_an_empty_list(
    path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    name, kind = option.split(' --')
    code, out, err = command(capsys, name, path, f'--{kind}', 'm3')
    assert (code, out) == (2, '')
    assert err == f'robot-agent-harness journal {name}: {kind} m3: not in {path}\n'


def test_times_hold_whatever_the_clock_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = FakeClock()
    path = write(tmp_path / 'journal.db', mission('early', GOOD), clock=clock)
    clock.step_wall(-3600.0)
    write(path, mission('set back', GOOD), clock=clock)
    assert found(capsys, 'mission_id', 'missions', path, '--until', '2026-01-01T00:00Z') == [
        'set back'
    ]
    assert found(capsys, 'mission_id', 'missions', path, '--since', '2026-01-01T00:00Z') == [
        'early'
    ]


def test_without_after_the_newest_page_is_shown_and_with_it_the_pages_follow_each_other(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in LISTINGS:
        every = found(capsys, 'seq', name, path, '--limit', 0)
        _, out, err = command(capsys, name, path, '--limit', 1, '--json')
        assert [row['seq'] for row in lines(out)] == every[-1:]
        assert 'there are earlier ones' in err
        paged, after = [], 0
        while page := found(capsys, 'seq', name, path, '--after', after, '--limit', 2):
            paged += page
            after = page[-1]
        assert paged == every
        _, _, err = command(capsys, name, path, '--after', 0, '--limit', 1)
        assert f'--after {every[0]} goes on' in err


def test_what_was_said_outside_reaches_the_terminal_as_text_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / 'journal.db', mission('m\x1b[2J', GOOD, instruction=HOSTILE, say=HOSTILE)
    )
    for name in (*LISTINGS, 'tail', 'show'):
        code, out, _ = command(capsys, name, path)
        assert code == 0
        assert not set(out) & set('\x1b\x07\r\u202e')
        assert '\n└── call forged' not in out
    assert '[bold]markup[/bold]' in command(capsys, 'missions', path)[1]
    raw = command(capsys, 'missions', path, '--json')[1]
    assert lines(raw)[0]['instruction'] == HOSTILE
    assert raw.isascii()


@pytest.mark.parametrize('name', [name for name in SUBCOMMANDS if name != 'export'])
def test_a_file_that_cannot_be_used_is_code_2_with_one_line_that_names_it(
    name: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = path.with_name('notes.txt')
    other.write_text('These are my notes on the journal.')
    foreign = path.with_name('foreign.db')
    with sqlite3.connect(foreign) as database:
        database.execute('CREATE TABLE t (x)')
    database.close()
    newer = path.with_name('newer.db')
    newer.write_bytes(path.read_bytes())
    with sqlite3.connect(newer) as database:
        database.execute('PRAGMA user_version = 99')
    database.close()
    for file, why in (
        (path.with_name('nothing.db'), 'there is no journal'),
        (other, 'is no journal but a text file'),
        (foreign, 'is no journal but a SQLite database of another program (tables: t)'),
        (newer, 'schema 99'),
    ):
        before = file.read_bytes() if file.exists() else b''
        code, out, err = command(capsys, name, file)
        assert (code, out) == (2, ''), file
        (line,) = err.splitlines()
        assert line.startswith(f'robot-agent-harness journal {name}: ')
        assert str(file) in line
        assert why in line
        assert (file.read_bytes() if file.exists() else b'') == before
        if file in (other, foreign):
            assert 'damaged' not in line
            assert '-wal' not in line


@pytest.mark.parametrize('name', SUBCOMMANDS)
def test_without_a_file_the_error_says_which_one_was_looked_for_and_what_to_give(
    name: str,
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    code, out, err = command(capsys, name)
    assert (code, out) == (2, '')
    (line,) = err.splitlines()
    default = tmp_path / '.ros' / 'robot_agent_harness' / 'journal.db'
    assert f'there is no journal {default}, where a harness writes' in line
    assert 'No JOURNAL was given' in line
    assert f"'robot-agent-harness journal {name} demo_output/journal.db'" in line
    default.parent.mkdir(parents=True)
    default.write_bytes(path.read_bytes())
    assert 'No JOURNAL' not in command(capsys, name, '--json' if name == 'tail' else '')[2]


@pytest.mark.parametrize(
    'arguments',
    [
        'events --since yesterday',
        'missions --since 99999999w',
        'missions --since 9999-12-31',
        'export --until 1600-01-01',
        'events --limit -1',
        'missions --status fine',
        'fly',
        '',
    ],
)
def test_wrong_arguments_are_code_2(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = command(capsys, *arguments.split())
    assert (code, out) == (2, '')
    assert 'usage: robot-agent-harness journal' in err


@pytest.mark.parametrize(
    ('arguments', 'known'),
    [
        ('events --type MISSION_ENDS', 'MISSION_ENDED'),
        ('events --status acepted', 'accepted'),
        ('decisions --status rejekted', 'rejected'),
        ('missions --status fine', 'not_achieved'),
        ('actions --state DONE', 'SUCCEEDED'),
    ],
)
def test_a_name_that_is_mistyped_is_refused_with_those_that_there_are(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: str, known: str
) -> None:
    name, *options = arguments.split()
    code, out, err = command(capsys, name, path, *options)
    assert (code, out) == (2, '')
    assert options[-1] in err
    assert known in err


def test_times_are_iso_or_how_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('time.time_ns', lambda: 10 * 86_400 * 10**9)
    assert wall_ns('2h') == (10 * 86_400 - 7200) * 10**9
    assert wall_ns('1.5d') == int(8.5 * 86_400) * 10**9
    assert wall_ns('1970-01-01T00:00:01.5Z') == 1_500_000_000
    assert wall_ns('1970-01-01T01:00:00+01:00') == 0


def test_a_journal_of_the_first_release_is_listed_as_it_lies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'old.db'
    of_first_release(path).close()
    before = path.read_bytes()
    for name in (*LISTINGS, 'show', 'tail', 'verify'):
        code, out, _ = command(capsys, name, path)
        assert code == 0
        assert out
    assert path.read_bytes() == before
    assert found(capsys, 'mission_id', 'missions', path) == ['mission-a']
    assert len(found(capsys, 'seq', 'decisions', path)) == 3


@pytest.mark.parametrize(
    ('name', 'options'),
    [('events', '--after 0 --limit 0 --json'), ('events', '--limit 0'), ('verify', '')],
)
def test_a_pipe_that_is_closed_early_is_code_141_and_never_an_answer(
    path: Path, name: str, options: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, '-m', MODULE, 'journal', name, str(path), *options.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, '')


@pytest.mark.parametrize('name', [name for name in SUBCOMMANDS if name != 'rotate'])
def test_an_answer_that_finds_no_room_is_code_2_with_one_line(path: Path, name: str) -> None:
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(
            [sys.executable, '-m', MODULE, 'journal', name, str(path)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
    why = 'standard output: No space left on device'
    assert (done.returncode, done.stderr) == (2, f'robot-agent-harness journal: {why}\n')
