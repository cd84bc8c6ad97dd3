# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How long somebody waits for the first line about a journal of a million records.

Each figure is the time from opening the file to the first line of the subcommand's output, in this
process; the one of a whole command, with the start of Python, stands beside them. The reference is
one look at the same file by bare sqlite3.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
import contextlib
from io import StringIO
from pathlib import Path
import sqlite3
import subprocess
import sys
import tempfile
import time

from million import make, RECORDS
from rows import Limit, Row, row, Say

from robot_agent_harness.cli import MODULE, PROGRAM
from robot_agent_harness.journal_tools import SUBCOMMANDS
from robot_agent_harness.journal_tools.subcommand import add_subcommands, run_subcommand

FIRST_ROW = Limit('value', 500.0)
"""Milliseconds until the first line (the product's own limit)."""
REPEATS, QUICK_REPEATS = 2, 1
ASKED = (
    'missions',
    'missions --status not_achieved',
    'show',
    'show --mission mission-001000',
    'events',
    'events --type MISSION_ENDED --after 0',
    'events --mission mission-001999',
    'events --since 2026-01-05T00:00Z --until 2026-01-05T00:05Z',
    'events --reason interrupted',
    'decisions --reason aborted',
    'decisions --status rejected',
    'actions --reason aborted',
    'actions --state open',
)
"""What many records match, few, and none at all."""


class FirstLine(Exception):
    """The first line was written: nobody waits any more."""


class Watch(StringIO):
    """Standard output that ends the program at its first line."""

    def write(self, text: str) -> int:
        if text.strip():
            raise FirstLine
        return super().write(text)


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    with tempfile.TemporaryDirectory(prefix='reader-') as folder:
        path = Path(folder) / 'journal.db'
        say(f'making a journal of {RECORDS:,} records')
        make(path)
        say(f'it has {path.stat().st_size / 1e6:.0f} MB')
        bare = [_bare_ms(path) for _ in range(repeats)]
        rows = []
        for asked in ASKED:
            times = [_first_line_ms(path, asked) for _ in range(repeats)]
            say(f'journal {asked}: {min(times):.0f} ms')
            name = f'journal of 1,000,000 events, {asked}: first row'
            rows.append(row(name, 'ms', times, bare, limit=FIRST_ROW))
        whole = [_whole_ms(path, 'events') for _ in range(repeats)]
        rows.append(row('  the same with the start of Python, events', 'ms', whole))
    return rows


def _bare_ms(path: Path) -> float:
    begun = time.perf_counter()
    with contextlib.closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as connection:
        connection.execute('SELECT * FROM events ORDER BY seq DESC LIMIT 100').fetchall()
    return (time.perf_counter() - begun) * 1e3


def _first_line_ms(path: Path, asked: str) -> float:
    parser = ArgumentParser()
    add_subcommands(parser, SUBCOMMANDS)
    name, *more = asked.split()
    arguments: Namespace = parser.parse_args([name, str(path), *more])
    begun = time.perf_counter()
    said = StringIO()
    code = 0  # of what matches nothing as well
    with (
        contextlib.suppress(FirstLine),
        contextlib.redirect_stdout(Watch()),
        contextlib.redirect_stderr(said),
    ):
        code = run_subcommand(arguments, PROGRAM)
    passed = time.perf_counter() - begun
    if code != 0:
        raise RuntimeError(f'journal {asked} ended with {code}: {said.getvalue()}')
    return passed * 1e3


def _whole_ms(path: Path, subcommand: str) -> float:
    command = [sys.executable, '-m', MODULE, 'journal', subcommand, str(path)]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        passed = time.perf_counter() - begun
        process.stdout.close()
    return passed * 1e3


if __name__ == '__main__':
    for made in run():
        print(made)
