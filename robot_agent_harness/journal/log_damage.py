# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a journal's -wal has lost records that were on disk.

SQLite reads a log up to the first frame whose checksum is wrong, and takes the rest for what a
crash left half-written: a byte that changed in its middle silently costs all records behind it.
But a commit is only begun once the one before it has been synced. So of what a crash leaves, at
most the last commit is incomplete; where two follow a bad frame, frames that were on disk have
changed (sqlite.org/fileformat2.html, section 4).
"""

from __future__ import annotations

from array import array
from pathlib import Path
import struct
import sys
from typing import BinaryIO

_HEADER = struct.Struct('>8I')
"""Magic number, version, page size, checkpoint, two salts, two checksums."""
_FRAME = struct.Struct('>6I')
"""Page, size after a commit (0: none), two salts, two checksums."""
_MAGIC = 0x377F0682
"""With 1 added where checksums are over big-endian words."""
_MASK = 0xFFFFFFFF
_COMMITS_MIN = 2


def log_damage(journal: Path) -> str | None:
    """Return in words that a journal's -wal is damaged, with committed records behind that; None
    where it is sound or only its last commit is incomplete.

    Somebody may be writing it: what has changed by a second look was no damage.

    :raises OSError: it cannot be read.
    """
    log = journal.with_name(f'{journal.name}-wal')
    at = _damage(log)
    if at is None or at != _damage(log):
        return None
    return f'its -wal is damaged at byte {at}, and records behind that were on disk and are lost'


def _damage(log: Path) -> int | None:
    try:
        file = log.open('rb')
    except FileNotFoundError:
        return None
    with file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return None
        magic, _, page_bytes, _, *rest = _HEADER.unpack(header)
        salts, told = rest[:2], rest[2:]
        little = magic == _MAGIC
        sums = _added(header[:24], (0, 0), little=little)
        if magic not in (_MAGIC, _MAGIC + 1) or list(sums) != told:
            # Written and synced before the first frame, so that none stands behind half a header.
            return 0 if any(file.read()) else None
        frame_bytes = _FRAME.size + page_bytes
        good = 0
        while len(frame := file.read(frame_bytes)) == frame_bytes:
            _, _, *own = _FRAME.unpack_from(frame)
            sums = _added(frame[:8], sums, little=little)
            sums = _added(frame[_FRAME.size :], sums, little=little)
            if own != [*salts, *sums]:
                break
            good += 1
        start = _HEADER.size + good * frame_bytes
        file.seek(start)
        return start if _commits(file, frame_bytes, salts) >= _COMMITS_MIN else None


def _commits(file: BinaryIO, frame_bytes: int, salts: list[int]) -> int:
    """Return how many frames of this log from here on end a commit; an older log's are other."""
    count = 0
    while len(frame := file.read(frame_bytes)) == frame_bytes:
        _, size, *own = _FRAME.unpack_from(frame)
        count += size > 0 and own[:2] == salts
    return count


def _added(data: bytes, sums: tuple[int, int], *, little: bool) -> tuple[int, int]:
    """Return the checksums with some more data."""
    words = array('I', data)
    if little != (sys.byteorder == 'little'):
        words.byteswap()
    one, two = sums
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & _MASK
        two = (two + odd + one) & _MASK
    return one, two
