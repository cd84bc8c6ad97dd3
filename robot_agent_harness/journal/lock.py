# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One harness per journal: a lock beside the file, that dies with its process.

It is a lock file of its own, since SQLite's locks on the database come and go with each
transaction, and closing any other descriptor of the database would drop them (POSIX record locks).
The file stays behind when the lock is released: removing it would let two processes lock two
different files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from robot_agent_harness.errors import JournalLockedError, JournalUnavailableError
from robot_agent_harness.journal.sqlite_errors import remedy_of

_ATTEMPTS = 3
"""How often the file may be replaced underneath us before we give up."""


class JournalLock:
    """An exclusive `flock` on `<journal>.lock`.

    :param journal: path of the journal, absolute and without links, so that all agree on the file.
    :raises JournalLockedError: another process, or this one, holds it.
    :raises JournalUnavailableError: the lock file cannot be made.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._path = journal.with_name(journal.name + '.lock')
        self._fd = self._acquire()

    def ensure(self) -> None:
        """Hold the lock on the file that bears its name now, if it was removed or replaced.

        :raises JournalLockedError: another harness holds that one.
        :raises JournalUnavailableError: the lock file cannot be made.
        """
        if self._fd is None or not _is_file(self._fd, self._path):
            fresh = self._acquire()
            self.release()
            self._fd = fresh

    def release(self) -> None:
        """Let go of the lock; a second time does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _acquire(self) -> int | None:
        for _ in range(_ATTEMPTS):
            try:
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise JournalUnavailableError(
                    f'journal {self._journal}: cannot make its lock file {self._path.name} '
                    f'({error.strerror}); {remedy_of(error)}, '
                    'or choose another path'
                ) from error
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.pread(fd, 64, 0).decode('ascii', 'replace').strip() or 'unknown'
                os.close(fd)
                raise JournalLockedError(
                    f'journal {self._journal} is in use by another harness (process {holder}); '
                    'stop that one, or choose another path'
                ) from error
            except OSError as error:
                os.close(fd)
                raise JournalUnavailableError(
                    f'journal {self._journal}: its file system cannot lock files '
                    f'({error.strerror}); choose a path on a local disk'
                ) from error
            if _is_file(fd, self._path):
                with contextlib.suppress(OSError):  # who holds it is a courtesy: the disk is full
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, f'{os.getpid()}\n'.encode('ascii'), 0)
                return fd
            os.close(fd)
        raise JournalUnavailableError(
            f'journal {self._journal}: its lock file {self._path.name} keeps being replaced; '
            'find out which program does that'
        )


def _is_file(fd: int, path: Path) -> bool:
    """Return whether the path still names the open file."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except OSError:
        return False


def holder_of(journal: Path) -> str | None:
    """Return which process holds a journal's lock, without touching the lock; None: nobody.

    :param journal: as for :class:`JournalLock`.
    """
    path = journal.with_name(journal.name + '.lock')
    try:
        status = path.stat()
        if not path.is_file():
            return None  # to read a pipe would wait for whoever writes it
        named = path.read_text('ascii', 'replace').strip()
        held = Path('/proc/locks').read_text('ascii')
    except OSError:
        return None
    device = f'{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}'
    for line in held.splitlines():
        # Number, FLOCK, ADVISORY, WRITE, process, device:inode, from, to.
        _, kind, _, _, process, where, *_ = line.split()
        found, _, inode = where.rpartition(':')
        # An overlay calls the device otherwise, a container the process; not both at once.
        if (
            kind == 'FLOCK'
            and inode == str(status.st_ino)
            and (found == device or process == named)
        ):
            return process
    return None
