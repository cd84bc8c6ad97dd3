# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal show`: what led to what, for people and for programs."""

from __future__ import annotations

import os
from pathlib import Path
import pty
import re
import subprocess
import sys

from journal_command_rig import action_of, call, command, HOSTILE, lines, mission, write
from journal_rig import BOUND_S
import pytest

from robot_agent_harness.cli import MODULE
from robot_agent_harness.testing import FakeClock

GOOD, BAD = ('SUCCEEDED', 'verified'), ('FAILED', 'aborted')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    clock = FakeClock()
    path = write(tmp_path / 'journal.db', mission('m1', GOOD, BAD), clock=clock)
    clock.advance(600.0)
    return write(path, call('out-1', say='too far off'), mission('m2', GOOD), clock=clock)


def depths(out: str) -> list[tuple[int, str]]:
    """Return how deep each line of a tree stands, and what it says."""
    found = []
    for line in out.splitlines():
        told = line.lstrip('│├└─ \xa0')
        found.append(((len(line) - len(told)) // 4, told.rstrip()))
    return found


def test_a_mission_is_told_from_its_turns_to_the_evidence(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, 'show', path, '--mission', 'm1')
    assert (code, err) == (0, '')
    told = depths(out)
    assert told[0][1].startswith('mission m1  2026-01-01 00:00:01.000 UTC')
    assert told[1][1] == '“bring it”'
    wanted = [
        (0, 'turn 1  mission_started  +0.0 s'),
        (1, 'snapshot m1-seen-1'),
        (1, 'decision  +2.0 s'),
        (2, 'rationale: The way is free.'),
        (2, 'call navigate_to_pose {"x": 1.0, "y": 2.0}  +2.0 s'),
        (3, 'purpose: The way is free.'),
        (3, 'expects: it stands there'),
        (3, 'checked: the decision still holds  +2.1 s'),
        (4, 'ok  Age of the map pose: 0.25 s (at most 1 s)'),
        (4, 'ok  Moved since the decision: 0.1 m (at most 0.5 m)'),
        (3, f'action {action_of("m1-call-1")}  ' + 'goal {"x": 1.0, "y": 2.0}'),
        (
            4,
            'REQUESTED  +2.1 s > ACCEPTED  +2.6 s > RUNNING  +3.1 s > VERIFYING  +6.1 s'
            ' > SUCCEEDED  +6.1 s',
        ),
        (4, 'SUCCEEDED: verified'),
        (5, 'The way is free.'),
        (5, 'Controller said: SUCCEEDED (unknown source)'),
        (5, 'From the goal: 0.12 m, tolerance 0.35 m'),
        (5, 'verified on snapshot m1-call-1-verified'),
        (3, 'result accepted  +2.6 s: The way is free.'),
    ]
    begin = told.index(wanted[0])
    assert told[begin : begin + len(wanted)] == wanted
    assert told[-3][1].startswith('mission ended not_achieved: finished')
    assert told[-1][1] == 'the model claims achieved: verified outcomes do not support it'


def test_calls_outside_missions_stand_between_them_in_their_order(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = [node['kind'] for node in lines(command(capsys, 'show', path, '--json')[1])]
    first = ['mission', 'turn', 'turn', 'event', 'end']
    assert kinds == [*first, 'call', 'mission', 'turn', 'event', 'end']
    out = command(capsys, 'show', path)[1]
    assert 'call of mcp' in out
    assert 'NOT Moved since the decision: 0.8 m (at most 0.5 m)' in out
    assert 'result precondition_changed' in out


def test_one_line_of_json_has_a_turn_with_all_that_came_of_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = lines(command(capsys, 'show', path, '--mission', 'm1', '--json')[1])
    turn = nodes[2]
    [decision] = turn['decisions']
    [made] = decision['calls']
    assert (turn['step'], turn['snapshot_id']) == (2, 'm1-seen-2')
    assert made['check']['checks'][1]['measured'] == 0.1
    assert made['result']['status'] == 'accepted'
    assert [entered['state'] for entered in made['action']['states']] == [
        'REQUESTED',
        'ACCEPTED',
        'RUNNING',
        'FAILED',
    ]
    assert made['action']['outcome']['reason'] == 'aborted'


@pytest.mark.parametrize(
    ('chosen', 'kinds'),
    [
        (('--call', 'out-1'), ['call']),
        (('--action', action_of('m2-call-1')), ['call']),
        (('--limit', '1'), ['mission', 'turn', 'event', 'end']),
        (('--after', '0', '--limit', '1'), ['mission', 'turn', 'turn', 'event', 'end']),
        (
            ('--since', '2026-01-01T00:05Z', '--limit', '0'),
            ['call', 'mission', 'turn', 'event', 'end'],
        ),
    ],
)
def test_less_than_everything_can_be_chosen(
    path: Path, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...], kinds: list[str]
) -> None:
    code, out, _ = command(capsys, 'show', path, *chosen, '--json')
    assert (code, [node['kind'] for node in lines(out)]) == (0, kinds)


@pytest.mark.parametrize('name', ['mission', 'call', 'action'])
def test_what_is_not_there_is_said(
    path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, out, err = command(capsys, 'show', path, f'--{name}', 'lost')
    assert (code, out) == (2, '')
    assert err == f'robot-agent-harness journal show: {name} lost: not in {path}\n'


def test_a_mission_that_is_under_way_is_shown_as_far_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = list(mission('m1', GOOD))
    path = write(tmp_path / 'journal.db', iter(story[:8]))
    out = command(capsys, 'show', path)[1]
    assert 'REQUESTED  +2.1 s' in out
    assert 'no result is recorded' in out
    assert 'mission ended' not in out


def on_a_terminal(path: Path, **environment: str) -> str:
    """Return what the command prints on a terminal."""
    ours, its = pty.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'FORCE_COLOR')}
    with subprocess.Popen(
        [sys.executable, '-m', MODULE, 'journal', 'show', str(path)],
        stdout=its,
        stderr=its,
        env={**inherited, 'TERM': 'xterm-256color', 'COLUMNS': '120', **environment},
    ) as process:
        os.close(its)
        out = b''
        while chunk := _read(ours):
            out += chunk
        assert process.wait(BOUND_S) == 0
    os.close(ours)
    return out.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other side has closed it
        return b''


COLOUR = re.compile(r'\x1b\[[0-9;]*m')


def test_a_terminal_gets_colour_unless_it_says_no(tmp_path: Path) -> None:
    path = write(tmp_path / 'journal.db', mission('m1', GOOD, instruction=HOSTILE, say=HOSTILE))
    coloured = on_a_terminal(path)
    assert COLOUR.search(coloured)
    # No control sequence but those of the colours, and none that a text had in it.
    assert '\x1b' not in COLOUR.sub('', coloured)
    assert '\x07' not in coloured
    assert '\x1b[31mred' not in coloured
    plain = on_a_terminal(path, NO_COLOR='1')
    assert '\x1b' not in plain
    assert 'SUCCEEDED: verified' in plain
