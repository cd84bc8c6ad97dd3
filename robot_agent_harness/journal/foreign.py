# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a file is that never was a journal, so that nobody is told to keep a damaged one."""

from __future__ import annotations

import codecs
import contextlib
from pathlib import Path
import sqlite3

from robot_agent_harness.errors import NotAJournalError

SQLITE_MAGIC = b'SQLite format 3\x00'
GZIP_MAGIC = b'\x1f\x8b'

LOOKED_AT = 4096
"""Bytes of a file's beginning by which text is told from the rest."""
_TABLES_MAX = 3
_MAGICS = (
    (b'\x89MCAP', 'MCAP recording'),
    (b'PK\x03\x04', 'ZIP archive'),
    (b'%PDF', 'PDF'),
    (b'\x89PNG', 'picture'),
    (b'\xff\xd8\xff', 'picture'),
    (b'\x7fELF', 'program'),
    (GZIP_MAGIC, 'compressed file, as an archive of a journal is, to which nothing is added'),
)
_BESIDE = {'-wal': 'the log', '-shm': 'the index of the log', '.lock': 'the lock'}
"""What lies beside a journal, by what its name ends in."""


def refuse_foreign(path: Path, beginning: bytes | None = None) -> None:
    """Refuse a file that shows by its name or its beginning that it never was a journal.

    :param beginning: its first bytes, where they have been read.
    :raises NotAJournalError: it never was; says what it is.
    """
    if beginning is None:
        try:
            with path.open('rb') as file:
                beginning = file.read(LOOKED_AT)
        except OSError:
            return  # whoever opens it says why it cannot be read
    if beginning.startswith(SQLITE_MAGIC):
        return
    # Also an empty one: a log that was taken over into its journal is.
    _refuse_part(path)
    kind = kind_of(beginning) if beginning else None
    if kind is not None:
        raise not_a_journal(path, f'{_article(kind)} {kind}')


def not_a_journal(path: Path, kind: str) -> NotAJournalError:
    """Return the error of a file that is something else."""
    return NotAJournalError(
        f'{path} is no journal but {kind}; it was left as it is: move it away, or name another'
    )


def kind_of_database(connection: sqlite3.Connection) -> str:
    """Return what a SQLite database that is no journal is called."""
    tables: list[str] = []
    with contextlib.suppress(sqlite3.Error):
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        tables = [str(name) for (name,) in connection.execute(query)]
    if not tables:
        return 'a SQLite database of another program, with no tables'
    more = f' and {len(tables) - _TABLES_MAX} more' if len(tables) > _TABLES_MAX else ''
    names = ', '.join(tables[:_TABLES_MAX])
    return f'a SQLite database of another program (tables: {names}{more})'


def _article(kind: str) -> str:
    return 'an' if kind[0] in 'HM' else 'a'  # HTML and MCAP are spelt out


def _refuse_part(path: Path) -> None:
    for suffix, what in _BESIDE.items():
        journal = path.name.removesuffix(suffix)
        if journal != path.name and path.with_name(journal).exists():
            raise NotAJournalError(
                f'{path} is no journal but {what} of {journal}: name that file, and leave this one'
                ' beside it'
            )


def kind_of(beginning: bytes) -> str | None:
    """Return what a file is by its first bytes; None where they do not tell."""
    for magic, kind in _MAGICS:
        if beginning.startswith(magic):
            return kind
    try:
        # Of what was read the last character may be cut in two.
        text = codecs.getincrementaldecoder('utf-8')().decode(beginning)
    except UnicodeDecodeError:
        return None
    if any(ord(character) < 32 and character not in '\t\n\r\f\x1b' for character in text):
        return None
    text = text.lstrip().lower()
    if text.startswith(('<!doctype html', '<html')):
        return 'HTML page'
    return 'JSON file' if text.startswith(('{', '[')) else 'text file'
