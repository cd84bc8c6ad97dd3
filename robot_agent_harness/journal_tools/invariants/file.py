# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The promises about records of any kind: what a payload holds, and what continues a file."""

from __future__ import annotations

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.payload_shape import fault_of_payload
from robot_agent_harness.journal_tools.invariants.notes import Notes

_E = EventType


def check_payload(notes: Notes, event: RecordedEvent) -> None:
    """Note where a payload lacks a key of its type, or has one of another type."""
    fault = fault_of_payload(event)
    if fault is not None:
        notes.add(f'record {event.seq} ({event.type}): {fault}')


class Continuation:
    """What a file quotes of the one before it stands at its beginning, and nowhere else."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._promised = 0
        self._quoted = 0

    def take(self, event: RecordedEvent) -> None:
        """Take a record in that continues a file."""
        if event.type == _E.RECORD_CARRIED_OVER:
            self._quoted += 1
            if event.seq > 1 + self._promised:
                self._notes.add(
                    f'record {event.seq} quotes an earlier file, but not at the beginning'
                )
            return
        if event.seq != 1:
            self._notes.add(f'record {event.seq} continues another file, but is not the first')
        number = event.payload.get('carried_over')
        self._notes.continues = True
        self._promised = number if isinstance(number, int) else 0

    def finish(self) -> None:
        """Note quotes that are missing: the file begins with all of them in one transaction."""
        if self._quoted < self._promised:
            self._notes.add(
                f'record 1 says that {self._promised} records are quoted, and {self._quoted} are'
            )
