# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Closing a journal between missions, and going on in a new file.

The file gets the archive's name as a second one, then the new file takes the journal's name in
one step: at every moment the journal's name leads to a whole journal, and every record is in
exactly one file. A kill in between leaves at most a second name or a draft, which the next opening
removes, or an archive that is not compressed yet, which is as good to read.

A file starts at 1 and with a fresh chain, so that it can be checked alone; its first record names
the file before it and that one's last chain, so that they can be checked together. What a start
must know of earlier files is quoted after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import (
    Correlation,
    EventType,
    JournalContinued,
    RecordCarriedOver,
    RecordedEvent,
)
from robot_agent_harness.journal.archive import archive_name, closed_files, pack, SUFFIX
from robot_agent_harness.journal.database import JournalDatabase, sync_folder
from robot_agent_harness.journal.keys_in_force import keys_in_force
from robot_agent_harness.journal.read_only import existing
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.records import prepare, Row
from robot_agent_harness.journal.schema import COLUMNS
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal.soundness import Tail

STATES_CARRIED = 100
"""States of the harness after its configuration, the newest: it may run for years."""

_UNKNOWN = 'UNKNOWN'
_KEPT_KEYS = {
    EventType.TOOL_CALL_RECORDED.value: ('name', 'idempotency'),
    EventType.TOOL_RESULT_RECORDED.value: ('status', 'is_error', 'structured'),
}
"""What is quoted of a payload that may be large; of others, all."""

Step = Callable[[str], None]
"""Told after each step, by its name; tests stop there."""


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation did."""

    archive: Path
    """The file that was closed, compressed."""
    records: int
    """How many records it holds."""
    carried_over: int
    """How many of them the new file quotes."""


def rotate(path: Path, *, clock: Clock, step: Step = lambda name: None) -> Rotated | None:
    """Close a journal that no harness holds, and begin the next; None: there is nothing to close.

    :raises JournalLockedError: a harness holds it.
    :raises JournalUnavailableError: something is open in it, or a file cannot be written.
    :raises JournalError: it is damaged, or of a newer release.
    """
    path = existing(path)
    database = JournalDatabase(path, synchronous='full', busy_timeout_ms=2000)
    try:
        _refuse_if_open(path)
        closed = close_file(database, clock=clock, step=step)
    finally:
        database.close()
    pack_closed(path, step=step)
    return closed


def close_file(
    database: JournalDatabase, *, clock: Clock, step: Step = lambda name: None
) -> Rotated | None:
    """Close the file that a database writes and go on in a new one; None: there is nothing in it.

    The closed file is not compressed yet. Nothing may be open in it.

    :raises JournalUnavailableError: somebody reads just now, or a file cannot be written.
    """
    path, tail = database.path, database.tail
    with JournalReader(path) as reader:
        newest = next(reader.select(Selection(), after_seq=tail.seq - 1), None)
        if newest is None or newest.type in _CONTINUATION:
            return None
        quotes = list(carried_over(reader))
    name = archive_name(path, tail.chain, newest.wall_time_ns)
    database.go_on(path.with_name(name), first_rows(f'{name}{SUFFIX}', tail, quotes, clock), step)
    return Rotated(path.with_name(f'{name}{SUFFIX}'), tail.seq, len(quotes))


_CONTINUATION = (EventType.JOURNAL_CONTINUED, EventType.RECORD_CARRIED_OVER)


def _refuse_if_open(path: Path) -> None:
    with JournalReader(path) as reader:
        work = reader.open_work()
        names = {'calls': work.calls, 'actions': work.actions, 'missions': work.missions}
        open_ = [f'{len(events)} {name}' for name, events in names.items() if events]
        if open_:
            raise JournalUnavailableError(
                f'journal {path} has {", ".join(open_)} open; start a harness on it, which ends'
                ' them, or wait until they have ended'
            )


def pack_closed(path: Path, *, step: Step = lambda name: None) -> None:
    """Compress what rotations of this journal have closed, also those that were killed.

    Call it after an opening of the journal, which takes away second names of what is in use.

    :raises JournalUnavailableError: a file cannot be written; it is left as it was.
    """
    for closed in closed_files(path):
        draft = closed.with_name(f'.{closed.name}{SUFFIX}.new')
        try:
            pack(closed, draft)
            step('compressed')
            draft.replace(closed.with_name(closed.name + SUFFIX))
            sync_folder(path.parent)
            step('archived')
            for suffix in ('', '-wal', '-shm'):
                closed.with_name(closed.name + suffix).unlink(missing_ok=True)
            step('cleared')
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            raise JournalUnavailableError(
                f'journal {closed} cannot be compressed ({error.strerror or error}); it can be '
                'read as it is, and the next rotation tries again'
            ) from error


def first_rows(
    predecessor: str, tail: Tail, quotes: Iterable[RecordedEvent], clock: Clock
) -> list[Row]:
    """Return the first records of a file that goes on from another one."""
    quoted = [RecordCarriedOver(record=_quote(event)) for event in quotes]
    begin = JournalContinued(
        predecessor=predecessor,
        predecessor_last_seq=tail.seq,
        predecessor_last_chain=tail.chain,
        carried_over=len(quoted),
    )
    return [prepare(event, Correlation(), clock) for event in (begin, *quoted)]


def carried_over(reader: JournalReader) -> Iterator[RecordedEvent]:
    """Yield the records of a file, and those that it quotes, that a later start must know.

    They are the newest action, if it ended UNKNOWN, whose goal may still run; the calls whose
    idempotency keys are in force, with their results; and, where a harness is running, how it was
    configured, without which the next file could not be replayed.
    """
    before = reader.carried_over()
    yield from _states(reader, before)
    ended = reader.newest(EventType.ROBOT_ACTION_OUTCOME)
    if ended is None:
        yield from (event for event in before if event.type in _OF_ACTIONS)
    elif ended.payload.get('state') == _UNKNOWN and ended.action_id is not None:
        begun = reader.events(action_id=ended.action_id, type=EventType.ROBOT_ACTION_STARTED)
        yield from begun
        yield ended
    for call, result in keys_in_force(reader, _has_result):
        if result is not None:
            yield from (call, result)


def _has_result(call: RecordedEvent, result: RecordedEvent | None) -> bool:
    return result is not None


def _states(reader: JournalReader, before: list[RecordedEvent]) -> list[RecordedEvent]:
    """Return the states of the harness that is running, from its configuration on."""
    configured = reader.newest_of(Selection(types=(_STATE,), payload={'state': 'configured'}))
    states = [event for event in before if event.type == _STATE] if configured is None else []
    after = 0 if configured is None else configured.seq - 1
    states += reader.select(Selection(types=(_STATE,)), after_seq=after)
    if not states or any(event.payload.get('state') == 'closing' for event in states):
        return []
    return [states[0], *states[1:][-STATES_CARRIED:]]


_STATE = EventType.HARNESS_STATE_CHANGED.value
_CALL = EventType.TOOL_CALL_RECORDED
_OF_ACTIONS = (EventType.ROBOT_ACTION_STARTED, EventType.ROBOT_ACTION_OUTCOME)


def _quote(event: RecordedEvent) -> dict[str, Any]:
    kept = _KEPT_KEYS.get(event.type)
    payload = event.payload
    if kept is not None:
        payload = {key: payload[key] for key in kept if key in payload}
    return {column: getattr(event, column) for column in COLUMNS} | {'payload': payload}
