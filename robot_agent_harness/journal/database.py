# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The one connection that writes: blocking, used by one thread at a time.

It knows where the journal ends, and writes only while the file that it opened still bears the
name. A file that was deleted or replaced is never made again behind the user's back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import contextlib
import os
from pathlib import Path
import sqlite3
import stat
import time
from typing import Literal

from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalError,
    JournalUnavailableError,
)
from robot_agent_harness.journal.archive import closed_files
from robot_agent_harness.journal.foreign import refuse_foreign
from robot_agent_harness.journal.lock import JournalLock
from robot_agent_harness.journal.records import Row
from robot_agent_harness.journal.schema import chain_of, COLUMNS, SCHEMA_USER_VERSION
from robot_agent_harness.journal.soundness import (
    check_log,
    EMPTY,
    has_wal,
    inspect,
    refuse_special,
    Tail,
    tail_of,
)
from robot_agent_harness.journal.sqlite_errors import remedy_of, Trouble, trouble_of, trouble_with

Synchronous = Literal['full', 'normal']

FILE_MODE = 0o600
"""Of the journal, its -wal and its -shm: they hold what people said."""

LOG_SUFFIXES = ('-wal', '-shm')
"""Of the files that SQLite keeps beside a database in use."""

FOLDER_TICK_NS = 20_000_000
"""A folder that changed less than 20 ms ago may change again without showing it: the clock behind
its time of change ticks every 10 ms at the slowest."""

WAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024
"""To what a -wal that grew is cut back at the next checkpoint."""

_INSERT = f'INSERT INTO events ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})'
_PROBE = (
    "INSERT INTO meta (key, value) VALUES ('probes', '1')"
    ' ON CONFLICT (key) DO UPDATE SET value = value + 1'
)


class JournalDatabase:
    """The journal's file, locked and checked, and the transactions on it.

    :param path: absolute, without links; its folder exists.
    :param busy_timeout_ms: how long one attempt waits for another program's lock.
    :raises JournalError: the file cannot be used; it was left as it was.
    """

    def __init__(self, path: Path, *, synchronous: Synchronous, busy_timeout_ms: int) -> None:
        self.path = path
        self._name, self._parent = str(path), str(path.parent)
        self._synchronous = synchronous
        self._busy_timeout_ms = busy_timeout_ms
        self._conn: sqlite3.Connection | None = None
        self._files: tuple[int, ...] | None = None
        self._folder: tuple[int, int, int] | None = None
        self._suspect = False
        self._parted = False
        """Whether a rotation has closed the file and not got to open it, or the next, again."""
        self._log: int | None = None
        """The -wal, opened to ask for its length: a seek costs nothing, unlike a `stat`."""
        self._log_bytes = 0
        self._file_bytes = 0
        """The length of the file itself when a transaction last began: it never gets shorter."""
        try:
            # Before a lock is made beside it, in /dev for instance.
            refuse_special(path)
            refuse_foreign(path)
        except OSError as error:
            raise JournalUnavailableError(
                f'journal {path}: {error.strerror}; choose another path'
            ) from error
        self._lock = JournalLock(path)
        try:
            clear_second_names(path)
            if synchronous == 'full':
                check_log(path)  # else the newest commits may be incomplete after a power failure
            self.tail = inspect(path) if path.exists() else self._create()
            self._next = self.tail
            self._conn = self._connect()
            migrate(self._conn)
            self.probe()
            self._files = self._identity()
            self._watch_log()
        except sqlite3.Error as error:
            self._abandon()
            raise JournalUnavailableError(self.explain(error)) from error
        except OSError as error:
            self._abandon()
            raise JournalUnavailableError(
                f'journal {path}: {error.strerror}; {remedy_of(error)}, or choose another path'
            ) from error
        except BaseException:
            self._abandon()
            raise

    def begin(self) -> None:
        """Start a transaction on the file that was opened, if it is still in its place.

        :raises JournalUnavailableError: it is not.
        :raises sqlite3.Error: SQLite cannot.
        """
        if self._parted:
            self._return()
        files = self._files
        shorter = files is not None and self._file_is_cut()
        cut = shorter or self._log_length() < self._log_bytes
        if files is not None and (self._suspect or cut or not self._in_place(files)):
            try:
                self._reopen(files, whole=shorter)
            except sqlite3.Error as error:
                if not cut:
                    raise
                raise JournalUnavailableError(
                    f'journal {self.path}: it or its -wal was cut off while in use, and records '
                    'with it; keep the files aside and restart'
                ) from error
        self._connection().execute('BEGIN IMMEDIATE')
        self._next = self.tail

    def insert(self, rows: Sequence[Row]) -> int:
        """Add rows to the open transaction and return the first one's `seq`.

        :raises JournalUnavailableError: a trigger keeps one out.
        """
        first = self._next.seq + 1
        values, tail = chained(self._next, rows)
        added = self._connection().executemany(_INSERT, values).rowcount
        if added != len(rows):
            raise JournalUnavailableError(
                f'journal {self.path}: a trigger that no release has made keeps records out; '
                'drop it, or move the file away and keep it'
            )
        self._next = tail
        return first

    def commit(self) -> None:
        """Make the transaction durable, to the degree that `synchronous` says."""
        self._connection().execute('COMMIT')
        self.tail = self._next
        self._log_bytes = self._log_length()

    def rollback(self) -> None:
        """Give the open transaction up, if there is one."""
        self._next = self.tail
        if self._conn is not None and self._conn.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._conn.execute('ROLLBACK')

    def probe(self) -> None:
        """Write something that is no record, to learn whether writing works."""
        self.begin()
        self._connection().execute(_PROBE)
        self.commit()

    def size_bytes(self) -> int:
        """Return the size of the file with its log."""
        log = self.path.with_name(self.path.name + '-wal')
        return self.path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def begun_wall_ns(self) -> int | None:
        """Return when the first record was written; None: there is none."""
        query = 'SELECT wall_time_ns FROM events WHERE seq = 1'
        row = self._connection().execute(query).fetchone()
        return None if row is None else int(row[0])

    def failed(self, error: Exception) -> str:
        """Take note of a failure and return its explanation for people."""
        self.rollback()
        if not (isinstance(error, sqlite3.Error) and trouble_of(error) in _HARMLESS):
            self._suspect = True
        return self.explain(error)

    def explain(self, error: Exception) -> str:
        """Return what went wrong and what to do, with the path."""
        if isinstance(error, sqlite3.Error):
            return f'journal {self.path}: {error}: {trouble_with(self.path, error).value}'
        return str(error)

    def close(self) -> None:
        """Move everything into the main file, close it and let go of the lock."""
        # Were the file replaced, its -wal might be the one that we hold: leave that alone.
        if self._conn is not None and self._files is not None and self._log_in_place(self._files):
            with contextlib.suppress(sqlite3.Error):
                self._conn.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        self._abandon()

    def _connection(self) -> sqlite3.Connection:
        if self._conn is None:
            raise JournalUnavailableError(f'journal {self.path} is closed')
        return self._conn

    def _abandon(self) -> None:
        if self._conn is not None:
            with contextlib.suppress(sqlite3.Error):
                self._conn.close()
            self._conn = None
        if self._log is not None:
            os.close(self._log)
            self._log = None
        self._lock.release()

    def go_on(self, archive: Path, rows: Sequence[Row], step: Callable[[str], None]) -> None:
        """Give the file another name, and go on in a new one that begins with these rows.

        :param archive: the other name, in the same folder.
        :param step: told after each step; what it raises, the next one does not happen after.
        :raises JournalUnavailableError: it cannot be done now; the file is in use as before.
        """
        try:
            (busy, _, _) = self._connection().execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
            if busy:
                raise JournalUnavailableError(
                    f'journal {self.path}: a program reads it just now; try again later'
                )
            step('emptied the log')
            draft, tail = self._draft(rows)
            step('drafted')
            # A name more, not another name: the journal's own must never be missing.
            os.link(self.path, archive)
            sync_folder(self.path.parent)
            step('named')
            self._parted = True
            self._connection().close()
            self._conn = None
            # Who still reads the old file goes on with its own, empty log: it must not be that of
            # the new one.
            for suffix in LOG_SUFFIXES:
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            step('parted')
            draft.replace(self.path)
            self.tail = self._next = tail
            sync_folder(self.path.parent)
            step('switched')
        except OSError as error:
            raise JournalUnavailableError(
                f'journal {self.path} cannot be rotated ({error.strerror}); it goes on as it is'
            ) from error
        except sqlite3.Error as error:
            raise JournalUnavailableError(
                f'{self.explain(error)}; it cannot be rotated, and goes on as it is'
            ) from error
        finally:
            self._return()

    def _return(self) -> None:
        """Write the file that bears the name now, whichever a rotation left there."""
        clear_drafts(self.path)
        clear_second_names(self.path)
        if self._parted:
            self._folder = self._files = None
            self._conn = self._connect()
            self._connection().execute(_PROBE)  # makes -wal and -shm
            self._files = self._identity()
            self._watch_log()
            self._parted = False

    def _create(self) -> Tail:
        if has_wal(self.path):
            raise JournalCorruptError(
                f'journal {self.path} is missing, but its -wal with records is there: '
                'restore the file, or move the -wal away and keep it'
            )
        draft, tail = self._draft(())
        draft.replace(self.path)
        sync_folder(self.path.parent)
        return tail

    def _draft(self, rows: Sequence[Row]) -> tuple[Path, Tail]:
        """Make a file whole under another name, so that a crash leaves no half-made journal."""
        draft = clear_drafts(self.path)
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
        try:
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                migrate(connection)
                values, tail = chained(EMPTY, rows)
                connection.execute('BEGIN')
                connection.executemany(_INSERT, values)
                connection.execute('COMMIT')
            finally:
                connection.close()
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return draft, tail

    def _connect(self) -> sqlite3.Connection:
        """Open the existing file for writing; -wal and -shm take its mode."""
        if stat.S_IMODE(self.path.stat().st_mode) != FILE_MODE:
            self.path.chmod(FILE_MODE)
        connection = sqlite3.connect(
            f'{self.path.as_uri()}?mode=rw',
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute(f'PRAGMA busy_timeout = {self._busy_timeout_ms}')
            connection.execute(f'PRAGMA synchronous = {self._synchronous}')
            connection.execute('PRAGMA recursive_triggers = ON')
            connection.execute(f'PRAGMA journal_size_limit = {WAL_SIZE_LIMIT_BYTES}')
            (mode,) = connection.execute('PRAGMA journal_mode = WAL').fetchone()
            if mode != 'wal':
                raise JournalUnavailableError(
                    f'journal {self.path}: its file system does not support a write-ahead log; '
                    'choose a path on a local disk'
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _in_place(self, files: tuple[int, ...]) -> bool:
        """Return whether the files that we opened still bear their names.

        While the folder is as it was, they do. To ask for the -wal itself would cost 30 us on a
        kernel with multigrain timestamps: a `stat` makes the next write record a new time.

        :raises JournalUnavailableError: one of them is gone.
        :raises JournalLockedError: our lock file was removed, and another harness made its own.
        """
        try:
            folder = os.stat(self._parent)
        except OSError as error:
            raise self._gone(error) from error
        seen = (folder.st_dev, folder.st_ino, folder.st_mtime_ns)
        if seen == self._folder:
            return True
        if self._identity() != files:
            return False
        self._lock.ensure()
        if abs(time.time_ns() - folder.st_mtime_ns) > FOLDER_TICK_NS:
            self._folder = seen
        return True

    def _identity(self) -> tuple[int, ...]:
        """Return which files bear the journal's names now.

        :raises JournalUnavailableError: one of them is gone.
        """
        path = str(self.path)
        try:
            main, wal, shm = os.stat(path), os.stat(path + '-wal'), os.stat(path + '-shm')
        except OSError as error:
            raise self._gone(error) from error
        return (main.st_dev, main.st_ino, wal.st_dev, wal.st_ino, shm.st_dev, shm.st_ino)

    def _reopen(self, files: tuple[int, ...], *, whole: bool = False) -> None:
        """Open the file that we wrote anew, if it bears its name and ends where we left it.

        :param whole: look at all of it; its end may be in the log still.
        :raises JournalUnavailableError: it is gone, or is another one.
        """
        try:
            main = os.stat(self.path)
        except OSError as error:
            raise self._gone(error) from error
        if (main.st_dev, main.st_ino) != files[:2]:
            raise JournalUnavailableError(
                f'journal {self.path} was replaced by another file while in use; '
                'put the original back, or restart the harness'
            )
        self._lock.ensure()
        # The old connection goes last: were it the file's last one, SQLite would read the log
        # anew, and might find in it a transaction whose sync failed and that was reported lost.
        # But where -wal or -shm is gone from the folder, both connections would share what is
        # gone: there, the log is emptied into the main file first.
        if self._conn is not None and not self._log_in_place(files):
            (busy, _, _) = self._conn.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
            if busy:
                raise JournalUnavailableError(
                    f'journal {self.path}: its -wal or -shm was deleted, and a reader prevents '
                    'repair; close the programs that read it'
                )
            self._conn.close()
            self._conn = None
        fresh = self._connect()
        try:
            tail = tail_of(fresh)
            if tail != self.tail:
                raise JournalUnavailableError(
                    f'journal {self.path} ends at record {tail.seq} and not at {self.tail.seq} as '
                    'written: another program changed it; keep it aside and restart'
                )
            if whole and fresh.execute('PRAGMA quick_check(1)').fetchone() != ('ok',):
                raise JournalUnavailableError(
                    f'journal {self.path} was cut off while in use, and records with it; keep it '
                    'aside and restart'
                )
            fresh.execute(_PROBE)  # makes -wal and -shm, and shows that it can be written
        except BaseException:
            fresh.close()
            raise
        if self._conn is not None:
            self._conn.close()
        self._conn = fresh
        self._files = self._identity()
        self._watch_log()
        self._suspect = False

    def _watch_log(self) -> None:
        """Watch the lengths of the file and of the -wal that bear their names now."""
        log = os.open(f'{self.path}-wal', os.O_RDONLY | os.O_CLOEXEC)
        if self._log is not None:
            os.close(self._log)
        self._log = log
        self._log_bytes = self._log_length()
        self._file_bytes = os.stat(self.path).st_size

    def _log_length(self) -> int:
        """Return the length of the -wal in bytes.

        It shrinks when another program has emptied it into the main file, which loses nothing, or
        has cut it off in place, which SQLite does not notice: reopening tells the two apart.
        """
        return 0 if self._log is None else os.lseek(self._log, 0, os.SEEK_END)

    def _file_is_cut(self) -> bool:
        """Return whether the file is shorter than at the transaction before."""
        try:
            length = os.stat(self._name).st_size
        except OSError:
            return True  # gone: reopening says so
        cut = length < self._file_bytes
        self._file_bytes = max(length, self._file_bytes)
        return cut

    def _log_in_place(self, files: tuple[int, ...]) -> bool:
        try:
            return self._in_place(files)
        except JournalError:
            return False

    def _gone(self, error: OSError) -> JournalUnavailableError:
        return JournalUnavailableError(
            f'journal {self.path} was deleted or moved while in use ({error.filename}: '
            f'{error.strerror}); put it back, or restart the harness'
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to the schema of this release, if it has an older one or none."""
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    if version >= SCHEMA_USER_VERSION:
        return
    # Not above: sqlite-utils takes as long to import as rclpy, for what a start seldom has to do.
    from sqlite_utils import Database

    from robot_agent_harness.journal.migrations import migrations

    migrations.apply(Database(connection))


def chained(tail: Tail, rows: Sequence[Row]) -> tuple[list[tuple[object, ...]], Tail]:
    """Return the values of rows that follow after a tail, and where the journal then ends."""
    seq, chain = tail
    values: list[tuple[object, ...]] = []
    for row in rows:
        seq += 1
        numbered = (seq, *row)
        chain = chain_of(chain, numbered)
        values.append((*numbered, chain))
    return values, Tail(seq, chain)


def clear_drafts(path: Path) -> Path:
    """Remove what a kill has left beside a journal of a file that was being made.

    :return: where a draft is made.
    """
    draft = path.with_name(f'.{path.name}.new')
    for name in (draft, draft.with_name(draft.name + '-journal')):
        name.unlink(missing_ok=True)
    return draft


def clear_second_names(path: Path) -> None:
    """Remove the names that a rotation gave to the journal in use and did not get to use."""
    if path.exists():
        for closed in closed_files(path):
            if closed.samefile(path):
                closed.unlink()


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_HARMLESS = (Trouble.BUSY, Trouble.FULL)
"""What the same connection gets over by itself."""
