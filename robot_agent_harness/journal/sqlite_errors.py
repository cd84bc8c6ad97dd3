# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What SQLite's errors mean for a journal, and what a person can do about each."""

from __future__ import annotations

from enum import Enum
import sqlite3


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
