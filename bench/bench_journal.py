# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a durable record costs, against raw sqlite3 on the same table in the same run.

The raw side does what a program without the journal would do for the same record: serialise the
payload with `json`, insert the row, commit with the same `synchronous`. Beside it stands the
quickest raw way that there is: a serialiser as quick as the journal's, and one statement for all
rows. Either holds the caller up until the disk has confirmed it, which the journal may not do to
the loop; so the raw side is also measured in a thread of its own, to which the loop hands each
record in the barest way that there is, and takes the answer back; and the journal without its
thread, as tests on virtual time have it: what is its own work, and what the change of threads.
Many writers are held against raw transactions as large as theirs, which nobody has to hand over,
and against that barest way, with whatever has been handed over meanwhile in one transaction. All
ways alternate in short blocks, so that a noisy machine disturbs them alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
import json
from pathlib import Path
import queue
import sqlite3
from statistics import median
import tempfile
import threading
import time
from typing import Any

from pydantic_core import to_json
from rows import Limit, quantile, Row, row, Say, unless
from sqlite_utils import Database

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, RobotActionProgress
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.migrations import migrations
from robot_agent_harness.journal.schema import COLUMNS

OVER_RAW = Limit('ratio', 1.5)
"""One durable append, alone, over a raw commit, median; and each of the two things that it pays
for: our own work without the change of threads, and all of it over a raw commit in a thread."""
WRITERS_RATE = Limit('ratio', at_least=0.7)
"""Records a second of many writers, over raw sqlite3 in transactions as large as theirs; and each
of the two things that they pay for: our own work without hand-over, and all of it over the same
written barely."""
REPEATS, QUICK_REPEATS = 4, 2
BLOCKS = 10
"""Of each way in each repeat."""
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
US = 1e6
_INSERT = f'INSERT INTO events VALUES ({", ".join("?" * len(COLUMNS))})'


class RawWriter:
    """Plain sqlite3.

    :param quick: with prepared rows in one statement, and pydantic's serialiser.
    """

    def __init__(self, path: Path, synchronous: str, *, quick: bool = False) -> None:
        self._conn = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._conn.execute('PRAGMA journal_mode = WAL')
        self._conn.execute(f'PRAGMA synchronous = {synchronous}')
        migrations.apply(Database(self._conn))
        self._quick = quick
        self._seq = 0

    def write(self, records: int = 1) -> None:
        """Commit so many records in one transaction."""
        self._conn.execute('BEGIN IMMEDIATE')
        if self._quick:
            self._conn.executemany(_INSERT, [self._row() for _ in range(records)])
        else:
            for _ in range(records):
                self._conn.execute(_INSERT, self._row())
        self._conn.execute('COMMIT')

    def _row(self) -> tuple[object, ...]:
        self._seq += 1
        ids = (IDS.mission_id, IDS.turn_id, IDS.tool_call_id, IDS.action_id, None)
        now = time.time_ns()
        payload = (
            to_json(EVENT).decode() if self._quick else json.dumps(EVENT.model_dump(mode='json'))
        )
        return (self._seq, 1, EVENT.type.value, now, now, *ids, payload, '0' * 64)


class OwnThread:
    """A thread that does one thing for as many as have asked, and the barest way to it and
    back.
    """

    def __init__(self, act: Callable[[int], None]) -> None:
        self._act = act
        self._loop = asyncio.get_running_loop()
        self._asked: queue.SimpleQueue[asyncio.Future[None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    async def do(self) -> None:
        """Have it done, and wait."""
        done = self._loop.create_future()
        self._asked.put(done)
        await done

    def end(self) -> None:
        self._asked.put(None)

    def _run(self) -> None:
        while (first := self._asked.get()) is not None:
            waiting = [first]
            while not self._asked.empty() and (another := self._asked.get()) is not None:
                waiting.append(another)
            self._act(len(waiting))
            self._loop.call_soon_threadsafe(_tell, waiting)


def _tell(waiting: list[asyncio.Future[None]]) -> None:
    for done in waiting:
        done.set_result(None)


class Way:
    """One way to write, and how long it took, in seconds: each record, and each block."""

    def __init__(self, write: Callable[[], Awaitable[Any]], *, writers: int, each: int) -> None:
        self._write = write
        self._writers = writers
        self._times = BLOCK_RECORDS // writers // each
        self._records: list[float] = []
        self._blocks: list[float] = []

    async def block(self) -> None:
        """Write `BLOCK_RECORDS` records."""
        begun = time.perf_counter()
        await asyncio.gather(*(self._writer() for _ in range(self._writers)))
        self._blocks.append(time.perf_counter() - begun)

    def take(self) -> tuple[float, float, float]:
        """Return the repeat's median and 95th percentile in us, and its records a second."""
        records, blocks = self._records, self._blocks
        self._records, self._blocks = [], []
        rate = BLOCK_RECORDS / median(blocks)
        return median(records) * US, quantile(records, 0.95) * US, rate

    async def _writer(self) -> None:
        for _ in range(self._times):
            begun = time.perf_counter()
            await self._write()
            self._records.append(time.perf_counter() - begun)


Measured = dict[str, list[tuple[float, float, float]]]
"""By way, of each repeat what `Way.take` returns."""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows.

    The file system is that of the working directory: /tmp may be one that never syncs.
    """
    repeats = QUICK_REPEATS if quick else REPEATS
    with tempfile.TemporaryDirectory(prefix='.bench-journal-', dir=Path.cwd()) as folder:
        full = asyncio.run(_measure(Path(folder), 'full', repeats, say))
        normal = asyncio.run(_measure(Path(folder), 'normal', repeats, say))
    return [*_rows_full(full), *_rows_normal(normal)]


async def _measure(folder: Path, synchronous: Any, repeats: int, say: Say) -> Measured:
    def raw(name: str, *, quick: bool = False) -> RawWriter:
        return RawWriter(folder / f'{name}-{synchronous}.db', synchronous, quick=quick)

    journal = MissionJournal.open(
        folder / f'ours-{synchronous}.db', clock=SystemClock(), synchronous=synchronous
    )
    holding = MissionJournal.open(
        folder / f'holding-{synchronous}.db',
        clock=SystemClock(),
        synchronous=synchronous,
        inline=True,
    )
    blocking, batching, quick = raw('blocking'), raw('batching'), raw('quick', quick=True)
    threaded, idle = OwnThread(raw('threaded').write), OwnThread(lambda _: None)

    async def block() -> None:
        blocking.write()

    async def batch() -> None:
        batching.write(WRITERS)

    async def quick_block() -> None:
        quick.write()

    async def quick_batch() -> None:
        quick.write(WRITERS)

    append, together = partial(journal.append, (EVENT, IDS)), [(EVENT, IDS)] * WRITERS
    ways = {
        'append': Way(append, writers=1, each=1),
        'inline': Way(partial(holding.append, (EVENT, IDS)), writers=1, each=1),
        'raw': Way(block, writers=1, each=1),
        'thread': Way(threaded.do, writers=1, each=1),
        'change': Way(idle.do, writers=1, each=1),
        'writers': Way(append, writers=WRITERS, each=1),
        'batches': Way(batch, writers=1, each=WRITERS),
        'barely': Way(threaded.do, writers=WRITERS, each=1),
        'quick': Way(quick_block, writers=1, each=1),
        'quick batches': Way(quick_batch, writers=1, each=WRITERS),
        'grouped': Way(partial(holding.append, *together), writers=1, each=WRITERS),
    }
    measured: Measured = {name: [] for name in ways}
    for number in range(repeats):
        for _ in range(BLOCKS):
            for way in ways.values():
                await way.block()
        for name, way in ways.items():
            measured[name].append(way.take())
        ours, other = measured['append'][-1][0], measured['raw'][-1][0]
        what = f'journal {synchronous}, repeat {number + 1} of {repeats}'
        say(f'{what}: append p50 {ours:.0f} us, raw {other:.0f}')
    threaded.end()
    idle.end()
    await journal.close()
    await holding.close()
    return measured


def _rows_full(measured: Measured) -> list[Row]:
    append, inline, raw, thread, change, quick = (
        [p50 for p50, _, _ in measured[name]]
        for name in ('append', 'inline', 'raw', 'thread', 'change', 'quick')
    )
    name = 'one durable append, alone,'
    return [
        row(f'{name} p50 / raw commit', 'us', append, raw, limit=_limit(raw, inline, thread)),
        row(f'{name} p50 / raw commit in its own thread', 'us', append, thread, limit=OVER_RAW),
        row(
            f'{name} p50, holding the loop up / raw commit',
            'us',
            inline,
            raw,
            limit=OVER_RAW,
        ),
        row('  raw commit in a thread of its own / raw commit', 'us', thread, raw),
        row('  to a thread and back, nothing done', 'us', change),
        row(f'  {name} p50 / the quickest raw commit', 'us', append, quick),
        row(f'{name} p95 / raw commit', 'us', *_p95s(measured)),
        *_rows_writers(measured),
    ]


def _rows_writers(measured: Measured) -> list[Row]:
    writers, batches, barely, grouped, quick = (
        [rate for _, _, rate in measured[name]]
        for name in ('writers', 'batches', 'barely', 'grouped', 'quick batches')
    )
    own, change = (median(way) / median(batches) for way in (grouped, barely))
    why = f'its own work ({own:.2f}) and a hand-over ({change:.2f}) leave'
    limit = unless(WRITERS_RATE, 1.0 / (1.0 / own + 1.0 / change - 1.0), why)
    name = f'{WRITERS} writers, durable records /'
    raw = f'raw batches of {WRITERS}'
    return [
        row(f'{name} {raw}', '1/s', writers, batches, limit=limit),
        row(f'{name} the same written barely', '1/s', writers, barely, limit=WRITERS_RATE),
        row(
            f'{WRITERS} durable records at once, holding the loop up / {raw}',
            '1/s',
            grouped,
            batches,
            limit=WRITERS_RATE,
        ),
        row(f'  {WRITERS} writers, written barely / {raw}', '1/s', barely, batches),
        row(f'  {WRITERS} writers, durable records / the quickest {raw}', '1/s', writers, quick),
    ]


def _rows_normal(measured: Measured) -> list[Row]:
    append, raw = ([p50 for p50, _, _ in measured[name]] for name in ('append', 'raw'))
    name = 'the same with synchronous NORMAL:'
    return [
        row(f'{name} append p50 / raw commit', 'us', append, raw),
        row(f'{name} {WRITERS} writers / raw batches', '1/s', *_rates(measured)),
    ]


def _limit(raw: Sequence[float], inline: Sequence[float], thread: Sequence[float]) -> Limit:
    """Return the limit, with what is in the way where our own work and the change of threads,
    each of which has a limit of its own, come to more.
    """
    own, change = (median(way) / median(raw) for way in (inline, thread))
    why = f'its own work ({own:.2f}) and a change of threads ({change:.2f}) come to'
    return unless(OVER_RAW, own + change - 1.0, why)


def _p95s(measured: Measured) -> tuple[list[float], list[float]]:
    ours, raw = ([p95 for _, p95, _ in measured[name]] for name in ('append', 'raw'))
    return ours, raw


def _rates(measured: Measured) -> tuple[list[float], list[float]]:
    ours, raw = ([rate for _, _, rate in measured[name]] for name in ('writers', 'batches'))
    return ours, raw


if __name__ == '__main__':
    for made in run():
        print(made)
