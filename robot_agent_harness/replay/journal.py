# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal of a replay: the real one on a database that only hands on what it is given.

Its file holds the records of earlier runs, which a start reads; nothing is added to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
import contextlib
from pathlib import Path
import sqlite3

from robot_agent_harness.clock import Clock
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.database import JournalDatabase
from robot_agent_harness.journal.records import Row
from robot_agent_harness.journal.rotator import RotationLimits, Rotator
from robot_agent_harness.journal.schema import COLUMNS
from robot_agent_harness.journal.soundness import Tail
from robot_agent_harness.journal.store import MAX_DEFERRED, MissionJournal
from robot_agent_harness.journal.writer import Entry
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.replay.disk import SlowCommit

WRITE_TIMEOUT_S = 2.0


class ReplayedJournal(MissionJournal):
    """Says that a record is on disk when that was so, where the recording tells; else, at once."""

    def __init__(self, database: HandingDatabase, *, clock: Clock) -> None:
        super().__init__(
            database,
            clock=clock,
            inline=True,
            write_timeout_s=WRITE_TIMEOUT_S,
            max_deferred=MAX_DEFERRED,
            rotator=Rotator(database, clock=clock, limits=RotationLimits(), threaded=False),
        )
        self._held: set[str] = set()
        self._waiting: dict[str, asyncio.Future[list[int]]] = {}
        self._handing = database
        self._slow: list[tuple[range, asyncio.Future[None]]] = []

    def hold(self, action_ids: Iterable[str]) -> None:
        """Let the outcomes of these actions be on disk only when `release` says so."""
        self._held |= set(action_ids)

    def release(self, action_id: str) -> None:
        """Let the outcome of an action be on disk."""
        self._held.discard(action_id)
        waiting = self._waiting.pop(action_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result([])

    def hold_slow(self, slow: SlowCommit) -> Callable[[], None]:
        """Let these records be on disk only when what is returned is called."""
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slow.append((slow.records, gate))
        return lambda: gate.set_result(None)

    def append(
        self, *entries: Entry, meanwhile: Callable[[], object] | None = None
    ) -> asyncio.Future[list[int]]:
        """Write the records; see :meth:`MissionJournal.append`."""
        return self._gated(super().append(*entries, meanwhile=meanwhile))

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        """Queue the records of facts; see :meth:`MissionJournal.defer`."""
        durable = super().defer(*entries)
        event, ids = entries[-1]
        if event.type is EventType.ROBOT_ACTION_OUTCOME and ids.action_id in self._held:
            self._waiting[ids.action_id] = asyncio.get_running_loop().create_future()
            return self._waiting[ids.action_id]
        return self._gated(durable)

    def _gated(self, durable: asyncio.Future[list[int]]) -> asyncio.Future[list[int]]:
        """Return a future that waits for all that the records waited for then."""
        gates = self._gates()
        if not gates:
            return durable
        later: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()

        def on_disk(_: asyncio.Future[list[None]]) -> None:
            if not later.done():
                later.set_result(durable.result())

        asyncio.gather(*gates).add_done_callback(on_disk)
        return later

    def _gates(self) -> list[asyncio.Future[None]]:
        """Return all that the records that were just written wait for; nothing: they are on
        disk.
        """
        seq = self._handing.recorded_as
        return [gate for slow, gate in self._slow if seq in slow and not gate.done()]


def replay_journal_of(
    path: Path,
    earlier: Iterable[RecordedEvent],
    *,
    clock: Clock,
    take: Callable[[Sequence[Row]], int | None],
) -> ReplayedJournal:
    """Return a journal that writes nothing.

    :param path: a file to make.
    :param earlier: what it is to hold.
    :param take: given each transaction's rows; returns the number that the last one had.
    """
    database = JournalDatabase(path, synchronous='normal', busy_timeout_ms=0)
    database.close()
    marks = ', '.join('?' * len(COLUMNS))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            f'INSERT INTO events VALUES ({marks})',
            (
                (*(getattr(r, c) for c in COLUMNS[:-2]), canonical_json(r.payload), r.chain)
                for r in earlier
            ),
        )
    return ReplayedJournal(HandingDatabase(path, take), clock=clock)


class HandingDatabase(JournalDatabase):
    """Stands in for the file: takes what is written and keeps nothing."""

    def __init__(self, path: Path, take: Callable[[Sequence[Row]], int | None]) -> None:
        # Not the other constructor: there is no file to lock and to watch.
        self.path = path
        self.tail = Tail(0, '')
        self._take = take
        self._rows: list[Row] = []
        self.recorded_as: int | None = None
        """The number in the recording of the last record; None: it is not on it."""

    def begin(self) -> None:
        """Start a transaction."""
        self._rows = []

    def insert(self, rows: Sequence[Row]) -> int:
        """Take rows and return the first one's number."""
        self._rows += rows
        return self.tail.seq + 1

    def commit(self) -> None:
        """Hand the rows on."""
        self.tail = Tail(self.tail.seq + len(self._rows), '')
        self.recorded_as = self._take(self._rows)

    def rollback(self) -> None:
        """Give the transaction up."""
        self._rows = []

    def probe(self) -> None:
        """Do nothing: writing works."""

    def failed(self, error: Exception) -> str:
        """Raise what the comparison raised: no disk is at fault here."""
        raise error

    def close(self) -> None:
        """Do nothing."""
