# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the journal command on terminals that are too narrow for all of their columns."""

from __future__ import annotations

import os
from pathlib import Path
import pty
import re
import subprocess
import sys

from journal_command_rig import mission, write
from journal_rig import BOUND_S
import pytest

from robot_agent_harness.cli import MODULE
from robot_agent_harness.journal_tools.table import Column, fitting

SAY = 'It is to be brought to the kitchen.'
SHOWN_AT_80 = {
    'missions': (
        ['seq', 'mission', 'outcome', 'asked for'],
        'started (UTC), took, reason, events',
    ),
    'events': (['seq', 'type', 'what'], 'time (UTC), mission'),
    'decisions': (
        ['seq', 'tool', 'ended', 'purpose, or rationale'],
        'time (UTC), mission, step, status',
    ),
    'actions': (
        ['seq', 'state', 'reason', 'off by', 'skill and goal'],
        'action, started (UTC), took',
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ends = (('FAILED', 'verification_disproved'),)
    return write(tmp_path / 'journal.db', mission('m1', *ends, instruction=SAY, say=SAY))


def on_a_terminal(name: str, path: Path, columns: int) -> tuple[list[str], str]:
    """Return the lines of a table on a terminal so wide, and what stands on standard error."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, '-m', MODULE, 'journal', name, str(path)],
        stdout=its,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'NO_COLOR': '1', 'TERM': 'xterm', 'COLUMNS': str(columns)},
    ) as process:
        os.close(its)
        out = b''
        while chunk := _read(ours):
            out += chunk
        assert process.stderr is not None
        err = process.stderr.read()
        assert process.wait(BOUND_S) == 0
    os.close(ours)
    return out.decode().splitlines(), err


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other side has closed it
        return b''


def titles(head: str) -> list[str]:
    return re.split(r' {2,}', head.strip())


@pytest.mark.parametrize('name', SHOWN_AT_80)
def test_a_list_can_be_read_on_80_columns_and_says_what_it_leaves_out(
    name: str, path: Path
) -> None:
    shown, left_out = SHOWN_AT_80[name]
    lines, err = on_a_terminal(name, path, 80)
    assert titles(lines[0]) == shown
    assert all(len(line) <= 80 for line in lines)
    assert err.startswith(f'80 characters a line have no room for: {left_out}. ')
    needed = re.search(r'(\d+) show all, and so does --json', err)
    assert needed is not None
    lines, err = on_a_terminal(name, path, int(needed[1]))
    assert err == ''
    assert len(titles(lines[0])) == len(shown) + len(left_out.split(', '))


def test_what_was_said_and_how_it_ended_can_be_read_on_80_columns(path: Path) -> None:
    lines, _ = on_a_terminal('missions', path, 80)
    assert 'It is to be brought to' in lines[1]
    assert 'not_achieved' in lines[1]
    lines, _ = on_a_terminal('actions', path, 80)
    assert 'verification_disproved' in lines[1]
    assert 'navigate_to_pose' in lines[1]


def test_columns_are_left_out_in_their_order_and_no_more_of_them_than_must_be() -> None:
    columns = [
        Column('a', 10),
        Column('b', 20, useful=2),
        Column('c', 30, useful=1),
        Column('d', 5, useful=3),
        Column('e'),
    ]
    shown = {width: ''.join(c.title for c in fitting(columns, width)) for width in range(20, 100)}
    assert shown[89] == 'abcde'
    assert (shown[88], shown[58]) == ('abde', 'abde')
    assert (shown[57], shown[37]) == ('ade', 'ade')
    assert (shown[36], shown[20]) == ('ae', 'ae')
