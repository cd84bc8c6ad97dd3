# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the first records of a file say about the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_agent_harness.errors import JournalCorruptError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.archive import SUFFIX
from robot_agent_harness.journal.read_only import ReadOnlyJournal

_CONTINUED = EventType.JOURNAL_CONTINUED.value


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


def predecessor_of(journal: ReadOnlyJournal) -> Predecessor | None:
    """Return what a file goes on from; None where it is the first.

    :raises JournalCorruptError: its first record names no file.
    """
    first = journal.records('seq = 1 AND +type = ?', (_CONTINUED,))
    if not first:
        return None
    payload = first[0].payload
    name = str(payload.get('predecessor'))
    seq, chain = (payload.get(f'predecessor_last_{what}') for what in ('seq', 'chain'))
    # The name is looked for in our folder: it must not lead anywhere else.
    known = Path(name).name == name and isinstance(seq, int) and isinstance(chain, str)
    if not known:
        raise JournalCorruptError(f'journal {journal.path}: record 1 names no file: {name!r}')
    candidates = (
        journal.path.with_name(name),
        journal.path.with_name(name.removesuffix(SUFFIX)),
    )
    found = next((path for path in candidates if path.is_file()), None)
    return Predecessor(name, found, int(seq or 0), str(chain))


def quoted(event: RecordedEvent, path: Path) -> RecordedEvent:
    """Return the record that a RECORD_CARRIED_OVER quotes, as it was in the file before.

    :raises JournalCorruptError: it quotes none.
    """
    record = event.payload.get('record')
    try:
        return RecordedEvent(**record)  # type: ignore[arg-type]
    except TypeError as error:
        raise JournalCorruptError(
            f'journal {path}: record {event.seq} quotes no record'
        ) from error
