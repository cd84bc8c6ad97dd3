# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading a journal: while a harness writes it, after one died, or from a read-only medium.

A reader never writes a record, never blocks the writer, and holds no transaction between two pages
of rows, so that a slow consumer does not keep the write-ahead log from being emptied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from robot_agent_harness.errors import JournalCorruptError, JournalError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal import decisions, summaries
from robot_agent_harness.journal.chained import break_in_tail, chained_rows, first_break
from robot_agent_harness.journal.continuation import Predecessor, predecessor_of, quoted
from robot_agent_harness.journal.keyed_calls import keyed_calls, KeyedCall
from robot_agent_harness.journal.log_damage import log_damage
from robot_agent_harness.journal.read_only import existing, ReadOnlyJournal
from robot_agent_harness.journal.search import Search
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal.soundness import lacking, powerless, Tail, tail_of
from robot_agent_harness.journal.summaries import MissionRecord, MissionUsage, OpenWork

__all__ = [
    'JournalReader',
    'MissionRecord',
    'MissionUsage',
    'OpenWork',
    'Predecessor',
    'Told',
    'unheard',
]

Told: TypeAlias = Callable[[int, int], object]
"""Called with the number of each record that is done, and the last one's."""

_OF_SNAPSHOT = f"snapshot_id = ? AND likely(type = '{EventType.WORLD_SNAPSHOT_CAPTURED.value}')"
"""The type as a literal, so that SQLite sees that its partial index answers this; and likely, so
that it does not look through all records of the type instead."""


def unheard(_seq: int, _last_seq: int) -> None:
    """Take no notice of how far a reading is."""


class JournalReader:
    """A read-only view of a journal; usable from one thread at a time.

    :param path: the file; `~` is expanded.
    :param lenient: open it also if triggers or views are missing, see :meth:`unguarded`.
    :raises JournalUnavailableError: there is no such file, or it may not be read.
    :raises JournalCorruptError: it is damaged, or no journal.
    :raises JournalTooNewError: a newer release wrote it.
    """

    def __init__(self, path: Path | str, *, lenient: bool = False) -> None:
        self.path = existing(path)
        self._journal = ReadOnlyJournal(self.path, lenient=lenient)
        try:
            self._search = Search(self._journal)
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> JournalReader:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._journal.close()

    @property
    def in_place(self) -> bool:
        """Return whether the file that was opened still bears its name."""
        return self._journal.in_place

    @property
    def data_version(self) -> int:
        """Return a number that changes whenever somebody has written; cheap to ask for."""
        return int(self._journal.one('PRAGMA data_version'))

    @property
    def archived(self) -> bool:
        """Return whether the file is an archive, to which nothing can be added any more."""
        return self._journal.archived

    @property
    def last_seq(self) -> int:
        """Return the number of the newest record; 0 in an empty journal."""
        return self.tail().seq

    def events(
        self,
        *,
        mission_id: str | None = None,
        action_id: str | None = None,
        tool_call_id: str | None = None,
        type: EventType | str | None = None,
        after_seq: int = 0,
        limit: int | None = None,
    ) -> Iterator[RecordedEvent]:
        """Yield the records that match every filter given, in order, as they are needed.

        :param after_seq: only records with a higher number.
        :param limit: at most so many.
        :raises JournalCorruptError: a record cannot be read.
        :raises JournalTooNewError: a record is of a schema that this release does not know.
        """
        kind = type.value if isinstance(type, EventType) else type
        selection = Selection(
            mission_id=mission_id,
            action_id=action_id,
            tool_call_id=tool_call_id,
            types=() if kind is None else (kind,),
        )
        return self.select(selection, after_seq=after_seq, limit=limit)

    def select(
        self, selection: Selection, *, after_seq: int = 0, limit: int | None = None
    ) -> Iterator[RecordedEvent]:
        """Yield the records of a selection, in order, as they are needed.

        :param after_seq: only records with a higher number.
        :param limit: at most so many.
        :raises JournalCorruptError: a record cannot be read.
        :raises JournalTooNewError: a record is of a schema that this release does not know.
        """
        return self._search.select(selection, after_seq, limit)

    def newest_seqs(self, selection: Selection, count: int) -> list[int]:
        """Return the numbers of the newest `count` records of a selection, the newest first."""
        return self._search.newest_seqs(selection, count)

    def count(self, selection: Selection) -> int:
        """Return how many records a selection has."""
        return self._search.count(selection)

    def newest_of(self, selection: Selection) -> RecordedEvent | None:
        """Return the newest record of a selection; None if there is none."""
        return self._search.newest(selection)

    def newest(self, type: EventType) -> RecordedEvent | None:
        """Return the newest record of a type; None if there is none."""
        return self._search.newest(Selection(types=(type.value,)))

    def end(self, begin: RecordedEvent) -> RecordedEvent | None:
        """Return the record that ends what this one begins; None while it is open.

        :param begin: of a type in `ENDS`.
        """
        return self._search.end(begin)

    def decisions(
        self,
        selection: Selection,
        *,
        status: str | None = None,
        reason: str | None = None,
        action_id: str | None = None,
        after_seq: int = 0,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of `decision_log`, each with how its call and its action ended.

        `status` is of the call's result, `action_id`, `state` and `reason` of its action; None
        where there is none.

        :param selection: of the model's answers.
        """
        return decisions.decisions(
            self._search,
            selection,
            status=status,
            reason=reason,
            action_id=action_id,
            after_seq=after_seq,
            newest_first=newest_first,
            limit=limit,
        )

    def missions(self) -> list[MissionRecord]:
        """Return every mission, in the order of their beginnings."""
        return summaries.missions(self._journal)

    def usage(self) -> dict[str, MissionUsage]:
        """Return what each mission whose model was asked has cost so far, by its id, in order."""
        return summaries.usage(self._journal)

    def keyed_calls(self) -> list[KeyedCall]:
        """Return the calls that took an idempotency key and repeat none, the newest first."""
        return keyed_calls(self._journal)

    def open_work(self) -> OpenWork:
        """Return the calls, actions and missions that have begun and not ended."""
        return summaries.open_work(self._journal)

    def snapshot(self, snapshot_id: str) -> dict[str, Any] | None:
        """Return the recorded world snapshot with this id; None if there is none."""
        records = self._journal.records(f'{_OF_SNAPSHOT} ORDER BY seq LIMIT 1', (snapshot_id,))
        snapshot = records[0].payload.get('snapshot') if records else None
        return snapshot if isinstance(snapshot, dict) else None

    def captures(self, snapshot_id: str) -> list[int]:
        """Return the numbers of the records in which a snapshot was captured."""
        query = f'SELECT seq FROM events WHERE {_OF_SNAPSHOT} ORDER BY seq'
        return [seq for (seq,) in self._journal.fetch(query, (snapshot_id,))]

    def tail(self) -> Tail:
        """Return the number and the chain of the newest record."""
        with self._journal.errors_named():
            return tail_of(self._journal.connection)

    def predecessor(self) -> Predecessor | None:
        """Return what this file goes on from; None where it is the first.

        :raises JournalCorruptError: its first record names no file.
        """
        return predecessor_of(self._journal)

    def carried_over(self) -> list[RecordedEvent]:
        """Return the records of earlier files that this one quotes, as they were there.

        Of large payloads only what matters was quoted.
        """
        quotes = self.select(Selection(types=(EventType.RECORD_CARRIED_OVER.value,)))
        return [quoted(event, self.path) for event in quotes]

    def verify_chain(self) -> int:
        """Recompute the chain of every record and return how many there are.

        :raises JournalCorruptError: a record was lost or altered; the text says which one.
        """
        number = 0
        for _, trouble in chained_rows(self._journal):
            if trouble is not None:
                raise JournalCorruptError(f'journal {self.path}: {trouble}')
            number += 1
        return number

    def scan(self) -> Iterator[tuple[int, RecordedEvent | None, tuple[str, ...]]]:
        """Yield each record with its number and what is wrong with it, in order.

        None stands for one that cannot be read. A broken chain ends nothing.
        """
        for row, trouble in chained_rows(self._journal):
            troubles = () if trouble is None else (trouble,)
            try:
                yield row[0], self._journal.record(row), troubles
            except JournalError as error:
                yield row[0], None, (*troubles, str(error))

    def break_in_tail(self) -> str | None:
        """Return what is wrong with the chain of the newest records; None where nothing is."""
        return break_in_tail(self._journal)

    def damage(self, told: Told = unheard) -> str | None:
        """Return what shows that records were altered or lost; None where nothing does.

        Reads all of them: a quarter of a minute a million.

        :param told: of each that has been looked at.
        """
        last_seq = self.last_seq
        return self.log_damage() or first_break(
            self._journal, told=lambda seq: told(seq, last_seq)
        )

    def log_damage(self) -> str | None:
        """Return what is lost from the -wal of records that were committed; None where nothing
        is.
        """
        if self._journal.archived:
            return None
        with self._journal.errors_named():
            return log_damage(self.path)

    def unguarded(self) -> list[str]:
        """Return what of triggers, views and tables is missing or without effect, a line each."""
        with self._journal.errors_named():
            connection = self._journal.connection
            missing = [f'{name} is missing' for name in lacking(connection)]
            return missing + [f'{name} refuses nothing any more' for name in powerless(connection)]
