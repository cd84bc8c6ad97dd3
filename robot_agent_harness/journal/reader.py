# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading a journal: while a harness writes it, after one died, or from a read-only medium.

A reader never writes a record, never blocks the writer, and holds no transaction between two pages
of rows, so that a slow consumer does not keep the write-ahead log from being emptied.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass, replace
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
from robot_agent_harness.journal.archive import is_archive, SUFFIX, unpack
from robot_agent_harness.journal.schema import (
    COLUMNS,
    DECISION_LOG,
    follows,
    GENESIS,
    MISSION_USAGE,
    TIME_INDEX,
)
from robot_agent_harness.journal.selection import ENDS, Selection
from robot_agent_harness.journal.soundness import (
    check_identity,
    connect_read_only,
    has_wal,
    Tail,
    tail_of,
)
from robot_agent_harness.journal.sqlite_errors import Trouble, trouble_of

PAGE_ROWS = 500
"""Rows that are fetched at once."""

FIRST_PAGE_ROWS = 50
"""The same of what takes longer, at first."""

BUSY_TIMEOUT_MS = 2000
"""How long to wait for the moments in which SQLite locks readers out (recovery of a log)."""

_SELECT = f'SELECT {", ".join(COLUMNS)} FROM events'

_CONTINUED = EventType.JOURNAL_CONTINUED.value

_OF_SNAPSHOT = f"snapshot_id = ? AND likely(type = '{EventType.WORLD_SNAPSHOT_CAPTURED.value}')"
"""The type as a literal, so that SQLite sees that its partial index answers this; and likely, so
that it does not look through all records of the type instead."""

_DECISIONS = f"""
SELECT log.*, answer.wall_time_ns AS wall_time_ns,
       (SELECT json_extract(r.payload, '$.status') FROM events AS r
        WHERE r.tool_call_id = log.tool_call_id AND +r.type = 'TOOL_RESULT_RECORDED'
        ORDER BY r.seq LIMIT 1) AS status,
       begun.action_id AS action_id,
       json_extract(ended.payload, '$.state') AS state,
       json_extract(ended.payload, '$.reason') AS reason
FROM ({DECISION_LOG}) AS log
JOIN events AS answer ON answer.seq = log.seq
LEFT JOIN events AS begun ON begun.seq = (
    SELECT b.seq FROM events AS b
    WHERE b.tool_call_id = log.tool_call_id AND +b.type = 'ROBOT_ACTION_STARTED'
    ORDER BY b.seq LIMIT 1)
LEFT JOIN events AS ended ON ended.seq = (
    SELECT e.seq FROM events AS e
    WHERE e.action_id = begun.action_id AND +e.type = 'ROBOT_ACTION_OUTCOME'
    ORDER BY e.seq LIMIT 1)
"""


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


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The file that a journal goes on from."""

    name: str
    path: Path | None
    """Where it lies, beside the journal; None where it does not."""
    last_seq: int
    """The number of its last record, as the journal has it."""
    last_chain: str
    """The chain of that record."""


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
            self._file = self._identity()
            self._conn = self._connect()
            while self._identity() != self._file:
                # A rotation came between: SQLite would read one file by the log of another.
                self.close()
                self._file = self._identity()
                self._conn = self._connect()
            self._finds_by_time = self._has(TIME_INDEX)

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
    def in_place(self) -> bool:
        """Return whether the file that was opened still bears its name."""
        try:
            return self._identity() == self._file
        except FileNotFoundError:
            return False

    @property
    def data_version(self) -> int:
        """Return a number that changes whenever somebody has written; cheap to ask for."""
        with self._errors_named():
            (version,) = self._conn.execute('PRAGMA data_version').fetchone()
        return int(version)

    @property
    def archived(self) -> bool:
        """Return whether the file is an archive, to which nothing can be added any more."""
        return self._archived

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
        found = self._where(selection)
        if found is None:
            return
        where, values = found
        left = limit
        while left is None or left > 0:
            size = PAGE_ROWS if left is None else min(PAGE_ROWS, left)
            page = self._rows(
                f'{_SELECT} WHERE {where} AND seq > :after ORDER BY seq LIMIT :size',
                {**values, 'after': after_seq, 'size': size},
            )
            yield from page
            if len(page) < size:
                return
            after_seq = page[-1].seq
            left = None if left is None else left - size

    def newest_seqs(self, selection: Selection, count: int) -> list[int]:
        """Return the numbers of the newest `count` records of a selection, the newest first."""
        found = self._where(selection)
        if found is None:
            return []
        where, values = found
        with self._errors_named():
            rows = self._conn.execute(
                f'SELECT seq FROM events WHERE {where} ORDER BY seq DESC LIMIT :count',
                {**values, 'count': count},
            ).fetchall()
        return [seq for (seq,) in rows]

    def count(self, selection: Selection) -> int:
        """Return how many records a selection has."""
        found = self._where(selection)
        if found is None:
            return 0
        where, values = found
        with self._errors_named():
            query = f'SELECT count(*) FROM events WHERE {where}'
            (number,) = self._conn.execute(query, values).fetchone()
        return int(number)

    def newest_of(self, selection: Selection) -> RecordedEvent | None:
        """Return the newest record of a selection; None if there is none."""
        found = self._where(selection)
        if found is None:
            return None
        where, values = found
        rows = self._rows(f'{_SELECT} WHERE {where} ORDER BY seq DESC LIMIT 1', values)
        return rows[0] if rows else None

    def end(self, begin: RecordedEvent) -> RecordedEvent | None:
        """Return the record that ends what this one begins; None while it is open.

        :param begin: of a type in `ENDS`.
        """
        kind, column = ENDS[begin.type]
        query = f'{_SELECT} WHERE type = ? AND seq > ? AND +{column} = ? ORDER BY seq LIMIT 1'
        rows = self._rows(query, (kind, begin.seq, getattr(begin, column)))
        return rows[0] if rows else None

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
        ended = {'status': status, 'reason': reason, 'action_id': action_id}
        given = {name: value for name, value in ended.items() if value is not None}
        only = ''.join(f' AND {name} = :{name}' for name in given)
        # Each decision costs several searches: those that cannot match are left out before.
        has = {'status': EventType.TOOL_RESULT_RECORDED, 'reason': EventType.ROBOT_ACTION_OUTCOME}
        turn_has = tuple((has[k].value, k, v) for k, v in given.items() if k in has)
        selection = replace(selection, turn_has=turn_has)
        order = 'DESC' if newest_first else 'ASC'
        left = limit
        for answers in self._pages(selection, after_seq, order):
            with self._errors_named():
                cursor = self._conn.execute(
                    f'SELECT * FROM ({_DECISIONS}) WHERE seq IN (SELECT value FROM'
                    f' json_each(:answers)){only} ORDER BY seq {order}',
                    {**given, 'answers': json.dumps(answers)},
                )
                names = [column[0] for column in cursor.description]
                rows = cursor.fetchall()
            for row in rows if left is None else rows[:left]:
                yield dict(zip(names, row, strict=True))
            if left is not None:
                left -= len(rows)
                if left <= 0:
                    return

    def newest(self, type: EventType) -> RecordedEvent | None:
        """Return the newest record of a type; None if there is none."""
        return self.newest_of(Selection(types=(type.value,)))

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
            f'{_SELECT} WHERE {_OF_SNAPSHOT} ORDER BY seq LIMIT 1',
            (snapshot_id,),
        )
        snapshot = rows[0].payload.get('snapshot') if rows else None
        return snapshot if isinstance(snapshot, dict) else None

    def tail(self) -> Tail:
        """Return the number and the chain of the newest record."""
        with self._errors_named():
            return tail_of(self._conn)

    def predecessor(self) -> Predecessor | None:
        """Return what this file goes on from; None where it is the first."""
        first = next(self.select(Selection(types=(_CONTINUED,)), limit=1), None)
        if first is None or first.seq != 1:
            return None
        name = str(first.payload.get('predecessor'))
        seq, chain = (first.payload.get(f'predecessor_last_{what}') for what in ('seq', 'chain'))
        # The name is looked for in our folder: it must not lead anywhere else.
        known = Path(name).name == name and isinstance(seq, int) and isinstance(chain, str)
        if not known:
            raise JournalCorruptError(f'journal {self.path}: record 1 names no file: {name!r}')
        candidates = (self.path.with_name(name), self.path.with_name(name.removesuffix(SUFFIX)))
        found = next((path for path in candidates if path.is_file()), None)
        return Predecessor(name, found, int(seq or 0), str(chain))

    def carried_over(self) -> list[RecordedEvent]:
        """Return the records of earlier files that this one quotes, as they were there.

        Of large payloads only what matters was quoted.
        """
        quotes = self.select(Selection(types=(EventType.RECORD_CARRIED_OVER.value,)))
        return [self._quoted(event) for event in quotes]

    def captures(self, snapshot_id: str) -> list[int]:
        """Return the numbers of the records in which a snapshot was captured."""
        with self._errors_named():
            rows = self._conn.execute(
                f'SELECT seq FROM events WHERE {_OF_SNAPSHOT} ORDER BY seq', (snapshot_id,)
            ).fetchall()
        return [seq for (seq,) in rows]

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

    def _pages(self, selection: Selection, after_seq: int, order: str) -> Iterator[list[int]]:
        """Yield the numbers of a selection's records, a few at first, since somebody waits."""
        found = self._where(selection)
        if found is None:
            return
        where, values = found
        bound, last = ('seq > :last', after_seq)
        if order == 'DESC':
            bound, last = ('seq < :last AND seq > :after', self.last_seq + 1)
        size = FIRST_PAGE_ROWS
        while True:
            with self._errors_named():
                rows = self._conn.execute(
                    f'SELECT seq FROM events WHERE {where} AND {bound} ORDER BY seq {order}'
                    ' LIMIT :size',
                    {**values, 'last': last, 'after': after_seq, 'size': size},
                ).fetchall()
            if not rows:
                return
            yield [seq for (seq,) in rows]
            last, size = rows[-1][0], PAGE_ROWS

    def _where(self, selection: Selection) -> tuple[str, dict[str, Any]] | None:
        """Return the condition of a selection and its values; None where nothing can match."""
        if selection.since_ns is None and selection.until_ns is None:
            return selection.where()
        if not self._finds_by_time:
            return selection.where()
        # Clocks step back at times, so that times are no order; but where in the file the wanted
        # ones lie can be told from the index alone.
        terms = []
        if selection.since_ns is not None:
            terms.append('wall_time_ns >= :since_ns')
        if selection.until_ns is not None:
            terms.append('wall_time_ns <= :until_ns')
        with self._errors_named():
            first, last = self._conn.execute(
                f'SELECT min(seq), max(seq) FROM events WHERE {" AND ".join(terms)}',
                {'since_ns': selection.since_ns, 'until_ns': selection.until_ns},
            ).fetchone()
        return None if first is None else selection.where((first, last))

    def _unanswered(
        self, column: str, begin: EventType, end: EventType
    ) -> tuple[RecordedEvent, ...]:
        # Not one search for each: a set of all ends is ten times as fast in a long journal.
        rows = self._rows(
            f'{_SELECT} WHERE type = ? AND {column} NOT IN ('
            f'SELECT {column} FROM events WHERE type = ? AND {column} IS NOT NULL) ORDER BY seq',
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

    def _identity(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def _has(self, index: str) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = ?"
        (number,) = self._conn.execute(query, (index,)).fetchone()
        return bool(number)

    def _quoted(self, event: RecordedEvent) -> RecordedEvent:
        record = event.payload.get('record')
        try:
            return RecordedEvent(**record)  # type: ignore[arg-type]
        except TypeError as error:
            raise JournalCorruptError(
                f'journal {self.path}: record {event.seq} quotes no record'
            ) from error

    def _connect(self) -> sqlite3.Connection:
        """Open the file where it lies; where SQLite cannot even make a -shm, without one."""
        self._archived = is_archive(self.path)
        if self._archived:
            copy = self._private_copy()
            unpack(self.path, copy)
            return self._checked(connect_read_only(copy))
        try:
            return self._checked(connect_read_only(self.path))
        except sqlite3.OperationalError as error:
            if trouble_of(error) not in (Trouble.CANNOT_OPEN, Trouble.READ_ONLY):
                raise
        if not has_wal(self.path):
            return self._checked(connect_read_only(self.path, immutable=True))
        copy = self._private_copy()
        for suffix in ('', '-wal'):
            source = self.path.with_name(self.path.name + suffix)
            shutil.copyfile(source, copy.with_name(copy.name + suffix))
        return self._checked(connect_read_only(copy))

    def _private_copy(self) -> Path:
        """Return where a copy may be made that nobody else can read."""
        self._copy = tempfile.TemporaryDirectory(prefix='journal-')
        return Path(self._copy.name) / self.path.name

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
