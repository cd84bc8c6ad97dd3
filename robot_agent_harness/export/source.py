# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What an export is made from: records of one journal, as it is when the export begins."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from dataclasses import dataclass, field

from robot_agent_harness.errors import ConfigurationError, JournalCorruptError
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.elsewhere import not_in
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection


@dataclass(frozen=True, slots=True)
class Source:
    """The records of a journal that a selection names, up to now."""

    reader: JournalReader
    selection: Selection = field(default_factory=Selection)
    """Default: all records."""

    def events(self) -> Iterator[RecordedEvent]:
        """Yield the records in order; those that a harness writes meanwhile are left out.

        :raises ConfigurationError: the journal has nothing of the mission that was named.
        :raises JournalError: a record cannot be read.
        """
        last, found = self.reader.last_seq, False
        for event in self.reader.select(self.selection):
            if event.seq > last:
                break
            found = True
            yield event
        if self.selection.mission_id is not None and not found:
            raise ConfigurationError(f'mission {self.selection.mission_id}: {not_in(self.reader)}')


@contextlib.contextmanager
def naming(event: RecordedEvent) -> Iterator[None]:
    """Name the record if what it holds cannot be written: no harness has recorded that.

    :raises JournalCorruptError: a number that JSON does not have, or half a character.
    """
    try:
        yield
    except ValueError as error:
        raise JournalCorruptError(f'record {event.seq} cannot be exported: {error}') from error
