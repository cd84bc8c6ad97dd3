# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What errors of SQLite and the system mean for a journal, and what to do about each."""

from __future__ import annotations

from enum import Enum
import errno
from pathlib import Path
import sqlite3

from robot_agent_harness.disk import free_bytes


class Trouble(Enum):
    """Kinds of failure that are handled or explained differently; the value is the remedy."""

    BUSY = 'another program holds its write lock; end that program'
    FULL = 'the disk is full; free some space'
    READ_ONLY = 'it is read-only; give this user write access to the file and its folder'
    CANNOT_OPEN = 'it cannot be opened; give this user access to the file and its folder'
    DAMAGED = 'it is damaged; stop the harness and keep the file aside'
    FOREIGN_WRITE = 'another program wrote into it; stop that program, and restart with a new file'
    INPUT_OUTPUT = 'the disk or its file system failed; look at the system log'


# SQLite's primary result codes (sqlite.org/rescode.html).
_CODES = {
    5: Trouble.BUSY,
    6: Trouble.BUSY,
    8: Trouble.READ_ONLY,
    11: Trouble.DAMAGED,
    13: Trouble.FULL,
    14: Trouble.CANNOT_OPEN,
    19: Trouble.FOREIGN_WRITE,
    26: Trouble.DAMAGED,
}

# Python 3.10 gives no codes; these texts are constants inside SQLite (sqlite3ErrStr).
_TEXTS = {
    'database is locked': Trouble.BUSY,
    'database table is locked': Trouble.BUSY,
    'attempt to write a readonly database': Trouble.READ_ONLY,
    'database disk image is malformed': Trouble.DAMAGED,
    'database or disk is full': Trouble.FULL,
    'unable to open database file': Trouble.CANNOT_OPEN,
    'file is not a database': Trouble.DAMAGED,
}


def trouble_of(error: BaseException) -> Trouble:
    """Return what kind of failure an error is."""
    code = getattr(error, 'sqlite_errorcode', None)
    if code is not None:
        return _CODES.get(code & 0xFF, Trouble.INPUT_OUTPUT)
    if isinstance(error, sqlite3.IntegrityError):
        return Trouble.FOREIGN_WRITE
    return _TEXTS.get(str(error), Trouble.INPUT_OUTPUT)


def trouble_with(path: Path, error: BaseException) -> Trouble:
    """Return what kind of failure an error of SQLite's is that came up with this file.

    Where there is no room at all it is that: SQLite, which cannot make its -shm then, speaks of
    the disk only.
    """
    trouble = trouble_of(error)
    if trouble is Trouble.INPUT_OUTPUT and str(error) == _IO_ERROR and _has_no_room(path.parent):
        return Trouble.FULL
    return trouble


def _has_no_room(folder: Path) -> bool:
    try:
        return free_bytes(folder) < SHM_BYTES
    except OSError:
        return False


SHM_BYTES = 32 * 1024
"""What SQLite needs at least to open a journal: its -shm."""
_IO_ERROR = 'disk I/O error'
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def remedy_of(error: OSError) -> str:
    """Return what to do about a file that cannot be made or written, beside choosing another."""
    if error.errno in _NO_ROOM:
        return 'free some space'
    return 'give this user write access there'
