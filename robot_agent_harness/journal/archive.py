# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Archives: journals that were closed and compressed (gzip, which every machine can unpack)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
import gzip
import hashlib
import os
from pathlib import Path
import re
import zlib

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalUnavailableError,
    NotAJournalError,
)
from robot_agent_harness.journal.foreign import (
    GZIP_MAGIC,
    kind_of,
    LOOKED_AT,
    not_a_journal,
    refuse_foreign,
    SQLITE_MAGIC,
)

SUFFIX = '.gz'
MAX_BYTES = 16 * 1024**3
"""What is unpacked of one archive: far more than a journal grows to, less than what a file made
to fill disks would unpack to."""

_CHUNK = 1024 * 1024
_LEVEL = 6
"""Of gzip: level 9 takes three times as long for 3 % less."""


def is_archive(path: Path) -> bool:
    """Return whether a file is a compressed journal, whatever its name; False: a plain one.

    :raises NotAJournalError: it is neither.
    :raises OSError: it cannot be read.
    """
    with path.open('rb') as file:
        beginning = file.read(LOOKED_AT)
    if beginning.startswith(GZIP_MAGIC):
        return True
    refuse_foreign(path, beginning)
    if not beginning:
        raise NotAJournalError(f'{path} is empty: it was cut off, or never was a journal')
    if not beginning.startswith(SQLITE_MAGIC):
        raise NotAJournalError(f'{path} is no journal, or its beginning is destroyed')
    return False


def unpack(archive: Path, target: Path) -> None:
    """Unpack an archive into a new file that its owner alone can read.

    :raises JournalCorruptError: it is damaged, or holds no journal.
    :raises JournalUnavailableError: it is too large.
    :raises OSError: a file cannot be read or written; the disk may be full.
    """
    done = 0
    with (
        gzip.open(archive, 'rb') as packed,
        open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'wb') as plain,
    ):
        try:
            while chunk := packed.read(_CHUNK):
                if not done and not chunk.startswith(SQLITE_MAGIC):
                    raise not_a_journal(archive, f'a compressed {kind_of(chunk) or "file"}')
                done += len(chunk)
                if done > MAX_BYTES:
                    raise JournalUnavailableError(
                        f'archive {archive} is larger than {MAX_BYTES // 1024**3} GiB unpacked: '
                        'unpack it with gunzip where there is room'
                    )
                plain.write(chunk)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise JournalCorruptError(f'archive {archive} is damaged ({error})') from error
    if not done:
        raise not_a_journal(archive, 'a compressed file that is empty')


def pack(journal: Path, draft: Path) -> None:
    """Compress a closed journal into a draft, read it back, and put it on disk.

    :raises OSError: a file cannot be read or written; the disk may be full.
    """
    draft.unlink(missing_ok=True)
    written = hashlib.sha256()
    with (
        journal.open('rb') as plain,
        open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'wb') as raw,
    ):
        with gzip.GzipFile(filename='', fileobj=raw, mode='wb', compresslevel=_LEVEL) as packed:
            while chunk := plain.read(_CHUNK):
                written.update(chunk)
                packed.write(chunk)
        raw.flush()
        os.fsync(raw.fileno())
    read = hashlib.sha256()
    with gzip.open(draft, 'rb') as again:
        while chunk := again.read(_CHUNK):
            read.update(chunk)
    if read.digest() != written.digest():
        raise OSError(f'{draft} does not read back as it was written: the disk fails')


def archive_name(path: Path, chain: str, wall_ns: int) -> str:
    """Return the name of a closed file, which says when it ended and is no other one's."""
    try:
        ended = datetime.fromtimestamp(wall_ns // NS_PER_S, timezone.utc)
    except (OverflowError, OSError, ValueError):
        ended = datetime.fromtimestamp(0, timezone.utc)
    return f'{path.stem}-{ended:%Y%m%dT%H%M%SZ}-{chain[:8]}{path.suffix}'


def closed_files(path: Path) -> Iterator[Path]:
    """Yield the files that were closed and not compressed, by their names."""
    name = re.compile(
        rf'{re.escape(path.stem)}-\d{{8}}T\d{{6}}Z-[0-9a-f]{{8}}{re.escape(path.suffix)}'
    )
    yield from sorted(entry for entry in path.parent.iterdir() if name.fullmatch(entry.name))
