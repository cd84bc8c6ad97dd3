# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal's file opened for reading, wherever it lies and whatever wrote it last.

Beside a running harness, as a killed one left it, on a read-only medium, and as an archive: the
last ones are read from a private copy where SQLite could not read them in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
from functools import lru_cache
import json
import math
from pathlib import Path
import shutil
import sqlite3
import tempfile
from types import NoneType
from typing import Any

from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalTooNewError,
    JournalUnavailableError,
)
from robot_agent_harness.events import RecordedEvent, SCHEMA_VERSION
from robot_agent_harness.journal.archive import is_archive, unpack
from robot_agent_harness.journal.records import storable
from robot_agent_harness.journal.schema import COLUMNS
from robot_agent_harness.journal.soundness import (
    check_identity,
    check_kind,
    connect_read_only,
    has_wal,
    refuse_special,
)
from robot_agent_harness.journal.sqlite_errors import Trouble, trouble_with
from robot_agent_harness.paths import expanded, resolved

BUSY_TIMEOUT_MS = 2000
"""How long to wait for the moments in which SQLite locks readers out (recovery of a log)."""

_NO_SHM = (Trouble.CANNOT_OPEN, Trouble.READ_ONLY, Trouble.FULL)
"""What SQLite fails with where it cannot make one."""

_SELECT = f'SELECT {", ".join(COLUMNS)} FROM events'


def _refuse_constant(name: str) -> None:
    raise ValueError(f'{name} is no JSON')


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f'{digits} is beyond all numbers')
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
"""Of JSON as it is: what Python takes beyond it (NaN, Infinity, 1e999) no journal holds."""

_NUMBERS = {'seq', 'schema_version', 'wall_time_ns', 'ros_time_ns'}
_MAY_BE_NULL = {'ros_time_ns', 'mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id'}


@lru_cache(maxsize=256)
def _out_of_place(types: tuple[type, ...]) -> tuple[str, type] | None:
    """Return the first column that holds what no journal writes there, with the type of that:
    SQLite takes anything.

    :param types: of a row's values.
    """
    for column, kind in zip(COLUMNS, types, strict=True):
        wanted = int if column in _NUMBERS else str
        if kind is not wanted and not (kind is NoneType and column in _MAY_BE_NULL):
            return column, kind
    return None


def _storable(values: Any) -> Any:
    """Return the values of a query as a record has them."""
    if isinstance(values, Mapping):
        return {name: _one_storable(value) for name, value in values.items()}
    return tuple(_one_storable(value) for value in values)


def _one_storable(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def existing(path: Path | str) -> Path:
    """Return the absolute path, without links, of a file that is there; `~` is expanded.

    :raises JournalUnavailableError: there is no such file, or it is a folder, a pipe or a device.
    """
    try:
        refuse_special(expanded(path))
        found = resolved(path)
        if found.is_file():
            return found
    except OSError as error:
        raise JournalUnavailableError(f'there is no journal {path}: {error.strerror}') from error
    raise JournalUnavailableError(f'there is no journal {found}')


class ReadOnlyJournal:
    """The open file: rows as they are, records, and errors that name it.

    :param path: as :func:`existing` returns it.
    :param lenient: open it also if triggers or views are missing.
    :raises JournalUnavailableError: it may not be read.
    :raises JournalCorruptError: it is damaged, or no journal.
    :raises JournalTooNewError: a newer release wrote it.
    """

    def __init__(self, path: Path, *, lenient: bool = False) -> None:
        self.path = path
        self._check = check_kind if lenient else check_identity
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.archived = False
        """Whether it is an archive, to which nothing can be added any more."""
        with self.errors_named():
            self._file = self._identity()
            self.connection = self._connect()
            while self._identity() != self._file:
                # A rotation came between: SQLite would read one file by the log of another.
                self.close()
                self._file = self._identity()
                self.connection = self._connect()

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self.connection.close()
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

    def fetch(self, query: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        :raises JournalError: they cannot be read.
        """
        with self.errors_named():
            return self.connection.execute(query, _storable(values)).fetchall()

    def one(self, query: str, values: Any = ()) -> Any:
        """Return the only value of the only row of a query.

        :raises JournalError: it cannot be read.
        """
        ((value,),) = self.fetch(query, values)
        return value

    def records(self, where: str, values: Any = ()) -> list[RecordedEvent]:
        """Return the records that meet a condition, which may go on with an order and a limit.

        :raises JournalError: one cannot be read.
        """
        return [self.record(row) for row in self.fetch(f'{_SELECT} WHERE {where}', values)]

    def record(self, row: tuple[Any, ...]) -> RecordedEvent:
        """Return a row, all columns in order, as a record.

        :raises JournalTooNewError: it is of a schema that this release does not know.
        :raises JournalCorruptError: a column is of another type, or its payload no JSON object.
        """
        *columns, text, chain = row
        seq, version = columns[:2]
        if (wrong := _out_of_place(tuple(map(type, row)))) is not None:
            column, kind = wrong
            raise JournalCorruptError(
                f'journal {self.path}: {column} of record {seq} cannot be of type {kind.__name__}'
            )
        if version > SCHEMA_VERSION:
            raise JournalTooNewError(
                f'journal {self.path}: record {seq} has schema {version}, and this release knows'
                f' up to {SCHEMA_VERSION}: upgrade robot_agent_harness'
            )
        try:
            payload = _DECODER.decode(text)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            raise JournalCorruptError(
                f'journal {self.path}: the payload of record {seq} is no JSON object'
            )
        return RecordedEvent(*(*columns, payload, chain))

    @contextlib.contextmanager
    def errors_named(self) -> Iterator[None]:
        """Turn errors of SQLite and the file system into the journal's."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            trouble = trouble_with(self.path, error)
            text = f'journal {self.path}: {error}: {trouble.value}'
            if trouble is Trouble.DAMAGED:
                raise JournalCorruptError(text) from error
            raise JournalUnavailableError(text) from error
        except OSError as error:
            raise JournalUnavailableError(f'journal {self.path}: {error.strerror}') from error

    def _identity(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def _connect(self) -> sqlite3.Connection:
        """Open the file where it lies; where SQLite cannot even make a -shm, without one."""
        self.archived = is_archive(self.path)
        if self.archived:
            copy = self._private_copy()
            unpack(self.path, copy)
            return self._checked(connect_read_only(copy))
        try:
            return self._checked(connect_read_only(self.path))
        except sqlite3.OperationalError as error:
            if trouble_with(self.path, error) not in _NO_SHM:
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
            self._check(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection
