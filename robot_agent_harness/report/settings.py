# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How the harness was configured while something happened, which is on record beside missions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection

_STATE = EventType.HARNESS_STATE_CHANGED.value


def with_settings(
    reader: JournalReader, events: Iterable[RecordedEvent]
) -> Iterator[RecordedEvent]:
    """Yield records in their order, and among them those of the harness's own states.

    They begin with the configuration that was in force at the first record.
    """
    states: Iterator[RecordedEvent] | None = None
    state: RecordedEvent | None = None
    for event in events:
        if states is None:
            states = _states(reader, event.seq)
            state = next(states, None)
        while state is not None and state.seq < event.seq:
            yield state
            state = next(states, None)
        yield event


def _states(reader: JournalReader, seq: int) -> Iterator[RecordedEvent]:
    configured = reader.newest_of(
        Selection(types=(_STATE,), payload={'state': 'configured'}, before_seq=seq)
    )
    if configured is None:
        # A rotation came since: the file quotes what it goes on with, by numbers of the other one.
        quoted = (event for event in reader.carried_over() if event.type == _STATE)
        yield from (replace(event, seq=0) for event in quoted)
    after_seq = 0 if configured is None else configured.seq - 1
    yield from reader.select(Selection(types=(_STATE,)), after_seq=after_seq)
