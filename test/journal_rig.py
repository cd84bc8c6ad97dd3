# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the journal's tests share: events, a journal that is always closed, and other processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
import contextlib
from pathlib import Path
import sqlite3
import subprocess
import sys
from typing import Any

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import (
    Correlation,
    Event,
    RobotActionProgress,
    SalientEvent,
    ToolCallRecorded,
)
from robot_agent_harness.journal import MissionJournal

BOUND_S = 20.0
"""No wait of a test is longer."""


def fact(number: int, who: str = 'test') -> tuple[Event, Correlation]:
    """Return an entry that tells itself from all others."""
    event = SalientEvent(kind='human_message', message=who, details={'number': number})
    return event, Correlation(mission_id='mission-1')


def progress(number: int, action_id: str = 'a' * 32) -> tuple[Event, Correlation]:
    event = RobotActionProgress(state='RUNNING', feedback={'number': number})
    return event, Correlation(mission_id='mission-1', action_id=action_id)


def call(name: str = 'navigate_to_pose', arguments: Any = None) -> tuple[Event, Correlation]:
    event = ToolCallRecorded(
        name=name,
        arguments=arguments,
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
    )
    return event, Correlation(tool_call_id='call-1')


@contextlib.asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[MissionJournal]:
    journal = MissionJournal.open(path, clock=SystemClock(), **options)
    try:
        yield journal
    finally:
        await asyncio.wait_for(journal.close(), BOUND_S)


async def becomes(journal: MissionJournal, healthy: bool) -> None:
    """Wait until the journal's health is as given, by its own news."""
    changed = asyncio.Event()
    journal.add_health_listener(lambda *_: changed.set())
    while journal.healthy is not healthy:
        await asyncio.wait_for(changed.wait(), BOUND_S)
        changed.clear()


FIRST_RELEASE = Path(__file__).parent / 'journals' / 'release_0_1_0.sql'


def of_first_release(path: Path | str) -> sqlite3.Connection:
    """Make the file that a user of release 0.1.0 has, and return a connection to it."""
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_RELEASE.read_text(encoding='utf-8'))
    return connection


@contextlib.contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal for changes, as who tampers with one does, and put its guards back."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        guards = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in guards:
            connection.execute(f'DROP TRIGGER {name}')
        yield connection
        for _, sql in guards:
            connection.execute(sql)


def alter(path: Path, *statements: str) -> None:
    """Change a journal behind its back: its guards are there again afterwards."""
    with unguarded(path) as connection:
        for statement in statements:
            connection.execute(statement)


def rows(path: Path, columns: str = 'seq, payload') -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(f'SELECT {columns} FROM events ORDER BY seq').fetchall()


def numbers(path: Path) -> list[int]:
    """Return the numbers of the facts in the file, in its order."""
    column = "coalesce(json_extract(payload, '$.details.number'), -1)"
    return [number for (number,) in rows(path, column)]


def content(path: Path) -> dict[str, bytes]:
    """Return every byte of a journal's files that holds records."""
    files = {name: path.with_name(path.name + name) for name in ('', '-wal')}
    read = {name: file.read_bytes() for name, file in files.items() if file.exists()}
    return {name: content for name, content in read.items() if content}


class Helper:
    """Another Python process that runs a script and speaks in lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, '-c', script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=BOUND_S)

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, line: str = '') -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()


LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute('BEGIN ' + sys.argv[2])
print('locked', flush=True)
sys.stdin.readline()
connection.execute('ROLLBACK')
print('released', flush=True)
sys.stdin.readline()
"""

WRITER = """
import asyncio, sys
sys.path[:0] = sys.argv[2:]
from journal_rig import fact
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.journal import MissionJournal

async def main():
    journal = MissionJournal.open(sys.argv[1], clock=SystemClock())
    number = 0
    while True:
        number += 1
        [seq] = await journal.append(fact(number))
        print(seq, flush=True)

asyncio.run(main())
"""
