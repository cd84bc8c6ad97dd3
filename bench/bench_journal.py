# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a durable record costs, against raw sqlite3 on the same table in the same run.

The raw side does what a program without the journal would do for the same record: serialise the
payload, insert the row, commit with the same `synchronous`. All sides alternate in short blocks,
so that a noisy machine disturbs them alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path
import sqlite3
from statistics import median, quantiles
import tempfile
import threading
import time
from typing import Any

from sqlite_utils import Database

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, RobotActionProgress
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.migrations import migrations
from robot_agent_harness.journal.schema import COLUMNS

BLOCKS = 40
BLOCK_RECORDS = 96
WRITERS = 16
EVENT = RobotActionProgress(
    state='RUNNING',
    feedback={
        'distance_remaining': 3.25,
        'estimated_time_remaining_s': 8.5,
        'navigation_time_s': 4.25,
        'number_of_recoveries': 0,
        'pose': {'x': 1.25, 'y': -0.5, 'yaw': 0.75, 'frame_id': 'map'},
    },
)
IDS = Correlation(
    mission_id='mission-0123456789abcdef',
    turn_id='turn-0123456789abcdef',
    tool_call_id='call-0123456789abcdef',
    action_id='0123456789abcdef0123456789abcdef',
)
_INSERT = f'INSERT INTO events VALUES ({", ".join("?" * len(COLUMNS))})'


class RawWriter:
    """Plain sqlite3, one commit a record."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self._conn = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._conn.execute('PRAGMA journal_mode = WAL')
        self._conn.execute(f'PRAGMA synchronous = {synchronous}')
        migrations.apply(Database(self._conn))
        self._lock = threading.Lock()
        self._seq = 0

    def write(self) -> None:
        with self._lock:
            self._seq += 1
            payload = json.dumps(EVENT.model_dump(mode='json'))
            now = time.time_ns()
            ids = (IDS.mission_id, IDS.turn_id, IDS.tool_call_id, IDS.action_id, None)
            self._conn.execute('BEGIN IMMEDIATE')
            self._conn.execute(
                _INSERT, (self._seq, 1, EVENT.type.value, now, now, *ids, payload, '0' * 64)
            )
            self._conn.execute('COMMIT')


class Side:
    """The times of one way of writing, in seconds: of each record, and of each block."""

    def __init__(self, write: Callable[[], Awaitable[Any]], writers: int) -> None:
        self._write = write
        self._writers = writers
        self.records: list[float] = []
        self.blocks: list[float] = []

    async def block(self) -> None:
        begin = time.perf_counter()
        await asyncio.gather(*(self._writer() for _ in range(self._writers)))
        self.blocks.append(time.perf_counter() - begin)

    @property
    def rate(self) -> float:
        """Records a second."""
        return BLOCK_RECORDS / median(self.blocks)

    @property
    def p50_us(self) -> float:
        return median(self.records) * 1e6

    @property
    def p95_us(self) -> float:
        return quantiles(self.records, n=20)[-1] * 1e6

    async def _writer(self) -> None:
        for _ in range(BLOCK_RECORDS // self._writers):
            begin = time.perf_counter()
            await self._write()
            self.records.append(time.perf_counter() - begin)


def _row(figure: str, value: float, reference: float) -> dict[str, Any]:
    return {
        'figure': figure,
        'value': round(value, 1),
        'reference': round(reference, 1),
        'ratio': round(value / reference, 2),
    }


async def _measure(folder: Path, synchronous: Any) -> list[dict[str, Any]]:
    journal = MissionJournal.open(
        folder / f'ours-{synchronous}.db', clock=SystemClock(), synchronous=synchronous
    )
    blocking = RawWriter(folder / f'blocking-{synchronous}.db', synchronous)
    threaded = RawWriter(folder / f'threaded-{synchronous}.db', synchronous)
    loop = asyncio.get_running_loop()

    async def append() -> None:
        await journal.append((EVENT, IDS))

    async def block_the_loop() -> None:
        blocking.write()

    with ThreadPoolExecutor(WRITERS) as pool:

        async def leave_the_loop() -> None:
            await loop.run_in_executor(pool, threaded.write)

        ways = (append, block_the_loop, leave_the_loop)
        alone = [Side(way, 1) for way in ways]
        together = [Side(way, WRITERS) for way in ways]
        for _ in range(BLOCKS):
            for side in (*alone, *together):
                await side.block()
    await journal.close()
    ours, raw, raw_thread = alone
    many, raw_many, raw_many_threads = together
    name = f'journal {synchronous}:'
    return [
        _row(f'{name} append p50 us / raw', ours.p50_us, raw.p50_us),
        _row(f'{name} append p50 us / raw off the loop', ours.p50_us, raw_thread.p50_us),
        _row(f'{name} append p95 us / raw', ours.p95_us, raw.p95_us),
        _row(f'{name} append records/s / raw', ours.rate, raw.rate),
        _row(f'{name} {WRITERS} writers records/s / raw', many.rate, raw_many.rate),
        _row(
            f'{name} {WRITERS} writers p50 us / raw threads', many.p50_us, raw_many_threads.p50_us
        ),
        _row(
            f'{name} {WRITERS} writers p95 us / raw threads', many.p95_us, raw_many_threads.p95_us
        ),
    ]


def run() -> list[dict[str, Any]]:
    """Measure and return rows {figure, value, reference, ratio}.

    The file system is that of the working directory: /tmp may be one that never syncs.
    """
    with tempfile.TemporaryDirectory(prefix='.bench-journal-', dir=Path.cwd()) as folder:
        return [
            row
            for synchronous in ('full', 'normal')
            for row in asyncio.run(_measure(Path(folder), synchronous))
        ]


if __name__ == '__main__':
    for measured in run():
        print('{figure:48} {value:>10} {reference:>10} {ratio:>6}'.format(**measured))
