# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a file is a journal that can be trusted, found out without changing a byte of it."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from pathlib import Path
import re
import sqlite3
from typing import NamedTuple

from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalTooNewError,
    JournalUnavailableError,
)
from robot_agent_harness.events import SCHEMA_VERSION
from robot_agent_harness.journal.foreign import kind_of_database, not_a_journal, refuse_foreign
from robot_agent_harness.journal.log_damage import log_damage
from robot_agent_harness.journal.schema import (
    APPLICATION_ID,
    COLUMNS,
    follows,
    GENESIS,
    REQUIRED_OBJECTS,
    SCHEMA_USER_VERSION,
)
from robot_agent_harness.journal.sqlite_errors import Trouble, trouble_with

TAIL_ROWS = 5000
"""How many of the newest rows have their chain recomputed at each start: about 0.1 s of work."""

USUAL_NAME = 'journal.db'
"""What a journal is called where nobody says otherwise."""

_KEEP = 'The file was left as it is: move it away together with its -wal and -shm, and keep them.'


class Tail(NamedTuple):
    """Where a journal ends."""

    seq: int
    chain: str


EMPTY = Tail(0, GENESIS)


def connect_read_only(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """Return a connection that cannot write.

    :param immutable: promise that nobody writes: the file is read without locks, -wal and -shm.
    """
    options = 'mode=ro&immutable=1' if immutable else 'mode=ro'
    return sqlite3.connect(
        f'{path.as_uri()}?{options}',
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )


def has_wal(path: Path) -> bool:
    """Return whether committed records may lie outside the main file."""
    try:
        return path.with_name(path.name + '-wal').stat().st_size > 0
    except FileNotFoundError:
        return False


def refuse_special(path: Path) -> None:
    """Refuse a folder, a pipe or a device where a journal is to be; a file may be missing.

    :raises JournalUnavailableError: it is one of them.
    """
    if path.is_dir():
        inside = path / USUAL_NAME
        instead = f'name {inside}' if inside.is_file() else 'choose another path, that of a file'
        raise JournalUnavailableError(f'journal {path} is a folder: {instead}')
    if path.exists() and not path.is_file():
        raise JournalUnavailableError(
            f'journal {path} is a pipe or a device: choose another path, that of a file'
        )


def inspect(path: Path) -> Tail:
    """Return where a sound journal ends; the caller holds the journal's lock.

    :raises JournalCorruptError: it is damaged, or no journal.
    :raises JournalTooNewError: a newer release wrote it.
    :raises JournalUnavailableError: it cannot be read now.
    """
    if path.stat().st_size == 0:
        raise JournalCorruptError(f'journal {path} is empty: it was cut off. {_KEEP}')
    with _corruption_named(path):
        # Without a -wal nothing is pending and nobody writes, so that SQLite need not even make
        # a -shm; with one, a read-only connection recovers it in memory and leaves it alone.
        connection = connect_read_only(path, immutable=not has_wal(path))
        try:
            check_identity(connection, path)
            _check_pages(connection, path)
            return _check_rows(connection, path)
        finally:
            connection.close()


def check_log(path: Path) -> None:
    """Check that no record which was committed is lost from a journal's -wal.

    :raises JournalCorruptError: one is.
    :raises OSError: it cannot be read.
    """
    lost = log_damage(path)
    if lost is not None:
        raise JournalCorruptError(f'journal {path}: {lost}. {_KEEP}')


def inspect_end(path: Path, *, live: bool) -> Tail:
    """Return where a journal ends whose newest rows are sound; quick, however large it is.

    :param live: whether somebody may write it meanwhile.
    :raises JournalError: as :func:`inspect`.
    """
    refuse_special(path)
    refuse_foreign(path)
    with _corruption_named(path):
        connection = connect_read_only(path, immutable=not live and not has_wal(path))
        try:
            connection.execute('BEGIN')  # one moment for all that is compared
            check_identity(connection, path)
            return _check_rows(connection, path)
        finally:
            connection.close()


def check_identity(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the file is a journal of a schema that this release knows.

    :raises JournalCorruptError: it is no journal, or one without its table, triggers or views.
    :raises JournalTooNewError: a newer release wrote it.
    """
    check_kind(connection, path)
    missing = lacking(connection)
    if missing:
        raise JournalCorruptError(f'journal {path} lacks {", ".join(missing)}. {_KEEP}')


def check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the file holds a journal's records, of a schema that this release knows.

    :raises JournalCorruptError: it is no journal, or one without its table.
    :raises JournalTooNewError: a newer release wrote it.
    """
    (application,) = connection.execute('PRAGMA application_id').fetchone()
    if application != APPLICATION_ID:
        raise not_a_journal(path, kind_of_database(connection))
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    if version > SCHEMA_USER_VERSION:
        raise JournalTooNewError(
            f'journal {path} has schema {version}, and this release knows up to '
            f'{SCHEMA_USER_VERSION}: upgrade robot_agent_harness, or choose another path'
        )
    present = {row[1] for row in connection.execute('PRAGMA table_info(events)')}
    missing = [column for column in COLUMNS if column not in present]
    if missing:
        raise JournalCorruptError(f'journal {path} lacks {", ".join(missing)}. {_KEEP}')
    newest = connection.execute('SELECT schema_version FROM events ORDER BY seq DESC LIMIT 1')
    (version,) = newest.fetchone() or (None,)
    # Of another type it is damage, which is named with its record.
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise JournalTooNewError(
            f'journal {path} holds records of schema {version}, and this release knows up to '
            f'{SCHEMA_VERSION}: upgrade robot_agent_harness, or choose another path'
        )


def lacking(connection: sqlite3.Connection) -> list[str]:
    """Return the triggers, views and tables that a journal of this file's schema has, and this one
    has not.
    """
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    names = {row[0] for row in connection.execute('SELECT name FROM sqlite_master')}
    return [
        name
        for name, since in REQUIRED_OBJECTS.items()
        if since <= max(version, 1) and name not in names
    ]


def powerless(connection: sqlite3.Connection) -> list[str]:
    """Return the triggers that bear a guard's name and refuse nothing, or not everything."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    written = dict(connection.execute(query).fetchall())
    return [
        name
        for name, guard in _GUARDS.items()
        if name in written and not guard.match(' '.join(written[name].split()))
    ]


_REFUSES = r"BEGIN SELECT RAISE ?\(ABORT, '[^']*'\); END"
_GUARDS = {
    'events_refuse_update': re.compile(
        rf'CREATE TRIGGER \S+ BEFORE UPDATE ON "?events"? {_REFUSES}'
    ),
    'events_refuse_delete': re.compile(
        rf'CREATE TRIGGER \S+ BEFORE DELETE ON "?events"? {_REFUSES}'
    ),
    'events_no_gap': re.compile(
        r'CREATE TRIGGER \S+ BEFORE INSERT ON "?events"? WHEN NEW\.seq IS NOT'
        rf' \(SELECT coalesce\(max\(seq\), 0\) \+ 1 FROM events\) {_REFUSES}'
    ),
}
"""What the triggers that keep records as they are look like."""


def tail_of(connection: sqlite3.Connection) -> Tail:
    """Return the last row's number and chain."""
    row = connection.execute('SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1').fetchone()
    # Of another type it is no chain, and nothing that could be taken for one.
    return EMPTY if row is None else Tail(row[0], row[1] if type(row[1]) is str else repr(row[1]))


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
    if verdict != 'ok':
        raise JournalCorruptError(f'journal {path} is damaged ({verdict}). {_KEEP}')


def _check_rows(connection: sqlite3.Connection, path: Path) -> Tail:
    tail = tail_of(connection)
    (count,) = connection.execute('SELECT count(*) FROM events').fetchone()
    if count != tail.seq:
        raise JournalCorruptError(
            f'journal {path} ends at record {tail.seq} but holds {count}: some are lost. {_KEEP}'
        )
    first = max(1, tail.seq - TAIL_ROWS + 1)
    previous = GENESIS
    if first > 1:
        (previous,) = connection.execute(
            'SELECT chain FROM events WHERE seq = ?', (first - 1,)
        ).fetchone()
    query = f'SELECT {", ".join(COLUMNS)} FROM events WHERE seq >= ? ORDER BY seq'
    for *values, chain in connection.execute(query, (first,)):
        if not follows(previous, values, chain):
            raise JournalCorruptError(
                f'journal {path}: record {values[0]} does not follow from the one before it '
                f'(its chain is broken): a record was altered or lost. {_KEEP}'
            )
        previous = chain
    return tail


@contextlib.contextmanager
def _corruption_named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors while checking into the journal's."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        trouble = trouble_with(path, error)
        if trouble is Trouble.FULL:
            raise JournalUnavailableError(f'journal {path}: {error}: {trouble.value}') from error
        if trouble in (Trouble.BUSY, Trouble.CANNOT_OPEN):
            raise JournalUnavailableError(
                f'journal {path} cannot be read ({error}); end the program that locks it, '
                'or give this user access to it'
            ) from error
        raise JournalCorruptError(f'journal {path} is damaged ({error}). {_KEEP}') from error
