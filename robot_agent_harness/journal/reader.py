# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading a journal: while a harness writes it, after one died, or from a read-only medium.

A reader never writes a record, never blocks the writer, and holds no transaction between two pages
of rows, so that a slow consumer does not keep the write-ahead log from being emptied.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
import json
from pathlib import Path
import shutil
import sqlite3
import tempfile
from typing import Any

from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalTooNewError,
    JournalUnavailableError,
)
from robot_agent_harness.events import EventType, RecordedEvent, SCHEMA_VERSION
from robot_agent_harness.journal.schema import COLUMNS, follows, GENESIS, MISSION_USAGE
from robot_agent_harness.journal.soundness import check_identity, connect_read_only, has_wal
from robot_agent_harness.journal.sqlite_errors import Trouble, trouble_of

PAGE_ROWS = 500
"""Rows that are fetched at once."""

BUSY_TIMEOUT_MS = 2000
"""How long to wait for the moments in which SQLite locks readers out (recovery of a log)."""

_SELECT = f'SELECT {", ".join(COLUMNS)} FROM events'


@dataclass(frozen=True, slots=True)
class MissionRecord:
    """A mission as the journal knows it."""

    mission_id: str
    instruction: str | None
    """What was asked; None where the start is not recorded."""
    started_wall_ns: int
    """Nanoseconds since the Unix epoch, of the first record."""
    ended_wall_ns: int | None
    """The same of MISSION_ENDED; None while the mission is open."""
    outcome: str | None
    """`achieved`, `not_achieved` or `unknown`; None while the mission is open."""
    events: int
    """How many records bear its id."""


@dataclass(frozen=True, slots=True)
class MissionUsage:
    """What a mission has cost: how often its model was asked, and what it counted."""

    model_calls: int
    """Attempts, the failed ones included."""
    failed_calls: int
    input_tokens: int
    """Without those of the cache, where the provider counts them apart."""
    output_tokens: int
    """With those of the thinking."""
    cache_read_input_tokens: int | None
    """None where the provider did not say."""
    cache_creation_input_tokens: int | None
    """The same."""
    model_s: float | None
    """Seconds spent on waiting for the model; None in journals of release 0.1.0."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What a run left unfinished, in the order in which it was recorded."""

    calls: tuple[RecordedEvent, ...]
    """TOOL_CALL_RECORDED without a TOOL_RESULT_RECORDED."""
    actions: tuple[RecordedEvent, ...]
    """ROBOT_ACTION_STARTED, with its payload, without a ROBOT_ACTION_OUTCOME."""
    missions: tuple[RecordedEvent, ...]
    """MISSION_STARTED without a MISSION_ENDED."""


class JournalReader:
    """A read-only view of a journal; usable from one thread at a time.

    :param path: the file; `~` is expanded.
    :raises JournalUnavailableError: there is no such file, or it may not be read.
    :raises JournalCorruptError: it is damaged, or no journal.
    :raises JournalTooNewError: a newer release wrote it.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser().resolve()
        if not self.path.is_file():
            raise JournalUnavailableError(f'there is no journal {self.path}')
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        with self._errors_named():
            self._conn = self._connect()

    def __enter__(self) -> JournalReader:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._conn.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    @property
    def last_seq(self) -> int:
        """Return the number of the newest record; 0 in an empty journal."""
        with self._errors_named():
            (seq,) = self._conn.execute('SELECT coalesce(max(seq), 0) FROM events').fetchone()
        return int(seq)

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
        filters = {
            'mission_id': mission_id,
            'action_id': action_id,
            'tool_call_id': tool_call_id,
            'type': type.value if isinstance(type, EventType) else type,
        }
        given = {column: value for column, value in filters.items() if value is not None}
        where = ' AND '.join(['seq > :after', *(f'{column} = :{column}' for column in given)])
        left = limit
        while left is None or left > 0:
            size = PAGE_ROWS if left is None else min(PAGE_ROWS, left)
            page = self._rows(
                f'{_SELECT} WHERE {where} ORDER BY seq LIMIT :size',
                {**given, 'after': after_seq, 'size': size},
            )
            yield from page
            if len(page) < size:
                return
            after_seq = page[-1].seq
            left = None if left is None else left - size

    def newest(self, type: EventType) -> RecordedEvent | None:
        """Return the newest record of a type; None if there is none."""
        query = f'{_SELECT} WHERE type = ? ORDER BY seq DESC LIMIT 1'
        return next(iter(self._rows(query, (type.value,))), None)

    def missions(self) -> list[MissionRecord]:
        """Return every mission, in the order of their beginnings."""
        with self._errors_named():
            rows = self._conn.execute(
                'SELECT mission_id, min(seq), max(CASE type WHEN :ended THEN seq END), count(*)'
                ' FROM events WHERE mission_id IS NOT NULL GROUP BY mission_id ORDER BY min(seq)',
                {'ended': EventType.MISSION_ENDED.value},
            ).fetchall()
        return [self._mission(*row) for row in rows]

    def usage(self) -> dict[str, MissionUsage]:
        """Return what each mission whose model was asked has cost so far, by its id, in order."""
        with self._errors_named():
            rows = self._conn.execute(MISSION_USAGE).fetchall()
        return {mission_id: MissionUsage(*values) for mission_id, *values in rows}

    def open_work(self) -> OpenWork:
        """Return the calls, actions and missions that have begun and not ended."""
        return OpenWork(
            calls=self._unanswered(
                'tool_call_id', EventType.TOOL_CALL_RECORDED, EventType.TOOL_RESULT_RECORDED
            ),
            actions=self._unanswered(
                'action_id', EventType.ROBOT_ACTION_STARTED, EventType.ROBOT_ACTION_OUTCOME
            ),
            missions=self._unanswered(
                'mission_id', EventType.MISSION_STARTED, EventType.MISSION_ENDED
            ),
        )

    def snapshot(self, snapshot_id: str) -> dict[str, Any] | None:
        """Return the recorded world snapshot with this id; None if there is none."""
        rows = self._rows(
            # The type as a literal, so that SQLite sees that its partial index answers this.
            f'{_SELECT} WHERE snapshot_id = ?'
            f" AND type = '{EventType.WORLD_SNAPSHOT_CAPTURED.value}' ORDER BY seq LIMIT 1",
            (snapshot_id,),
        )
        snapshot = rows[0].payload.get('snapshot') if rows else None
        return snapshot if isinstance(snapshot, dict) else None

    def verify_chain(self) -> int:
        """Recompute the chain of every record and return how many there are.

        :raises JournalCorruptError: a record was lost or altered; the text says which one.
        """
        expected, previous = 1, GENESIS
        query = f'{_SELECT} WHERE seq >= ? ORDER BY seq LIMIT {PAGE_ROWS}'
        while True:
            with self._errors_named():
                page = self._conn.execute(query, (expected,)).fetchall()
            for *values, chain in page:
                if values[0] != expected:
                    raise JournalCorruptError(f'journal {self.path}: record {expected} is missing')
                if not follows(previous, values, chain):
                    raise JournalCorruptError(
                        f'journal {self.path}: record {expected} was altered, or the one before it'
                    )
                expected, previous = expected + 1, chain
            if len(page) < PAGE_ROWS:
                return expected - 1

    def _unanswered(
        self, column: str, begin: EventType, end: EventType
    ) -> tuple[RecordedEvent, ...]:
        rows = self._rows(
            f'{_SELECT} AS begun WHERE type = ? AND {column} IS NOT NULL AND NOT EXISTS ('
            f'SELECT 1 FROM events AS ended WHERE ended.{column} = begun.{column}'
            ' AND ended.type = ?) ORDER BY seq',
            (begin.value, end.value),
        )
        return tuple(rows)

    def _mission(
        self, mission_id: str, first: int, ended: int | None, count: int
    ) -> MissionRecord:
        (begin,) = self._rows(f'{_SELECT} WHERE seq = ?', (first,))
        (end,) = self._rows(f'{_SELECT} WHERE seq = ?', (ended,)) if ended else (None,)
        start = next(self.events(mission_id=mission_id, type=EventType.MISSION_STARTED), None)
        return MissionRecord(
            mission_id=mission_id,
            instruction=start.payload.get('instruction') if start else None,
            started_wall_ns=begin.wall_time_ns,
            ended_wall_ns=end.wall_time_ns if end else None,
            outcome=end.payload.get('outcome') if end else None,
            events=count,
        )

    def _rows(self, query: str, values: Any) -> list[RecordedEvent]:
        with self._errors_named():
            rows = self._conn.execute(query, values).fetchall()
        return [self._event(row) for row in rows]

    def _event(self, row: tuple[Any, ...]) -> RecordedEvent:
        fields = dict(zip(COLUMNS, row, strict=True))
        if fields['schema_version'] > SCHEMA_VERSION:
            raise JournalTooNewError(
                f'journal {self.path}: record {fields["seq"]} has schema '
                f'{fields["schema_version"]}, and this release knows up to {SCHEMA_VERSION}: '
                'upgrade robot_agent_harness'
            )
        try:
            payload = json.loads(fields['payload'])
        except (TypeError, ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise JournalCorruptError(
                f'journal {self.path}: the payload of record {fields["seq"]} is no JSON object'
            )
        return RecordedEvent(**{**fields, 'payload': payload})

    def _connect(self) -> sqlite3.Connection:
        """Open the file where it lies; where SQLite cannot even make a -shm, without one."""
        try:
            return self._checked(connect_read_only(self.path))
        except sqlite3.OperationalError as error:
            if trouble_of(error) not in (Trouble.CANNOT_OPEN, Trouble.READ_ONLY):
                raise
        if not has_wal(self.path):
            return self._checked(connect_read_only(self.path, immutable=True))
        self._copy = tempfile.TemporaryDirectory(prefix='journal-')
        copy = Path(self._copy.name) / self.path.name
        for suffix in ('', '-wal'):
            source = self.path.with_name(self.path.name + suffix)
            shutil.copyfile(source, copy.with_name(copy.name + suffix))
        return self._checked(connect_read_only(copy))

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            connection.execute(f'PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}')
            check_identity(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            trouble = trouble_of(error)
            text = f'journal {self.path}: {error}: {trouble.value}'
            if trouble is Trouble.DAMAGED:
                raise JournalCorruptError(text) from error
            raise JournalUnavailableError(text) from error
        except OSError as error:
            raise JournalUnavailableError(f'journal {self.path}: {error.strerror}') from error
