# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Holds what a replay records against what was recorded: every type, id and payload, in order.

Wall time, ROS time and the chain are not compared: they follow from when a thing was written.
Records of flows that do not wait for each other may have changed places within `REORDER_S`; they
are counted. A run that was killed, or goes on, ends in its middle: what a replay makes after its
last record is no difference, nor what may have changed places with that one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import json
from typing import Any, Literal

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.records import Row
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.replay.loop import SLACK_S
from robot_agent_harness.replay.recording import Recording

REORDER_S = SLACK_S
"""How far apart records may lie that have changed places, in seconds."""
WINDOW = 200
"""How many records ahead one is looked for."""
CONTEXT = 5
"""How many records before a difference are told with it."""

_E = EventType
MEASURED_S: dict[tuple[str, str], float] = {
    (_E.MODEL_RESPONSE_RECORDED.value, 'duration_s'): 0.25,
}
"""Payload numbers that measure how long the machine took, and by how many seconds they may
differ: a replay waits for no disk, so that the question is put earlier than it was."""
STEADY_NS = 'monotonic_ns'
"""Steady time in a payload: the same but for what was put in the recorded order, `SLACK_S`."""
NOT_COMPARED: dict[str, tuple[str, ...]] = {
    _E.HARNESS_STATE_CHANGED.value: ('configuration',),
}
"""What a replay sets itself: the paths of its own files, the package's version, and parameters
that are tried out; all of a `configured` is what the replay was made from."""
OF_THE_MACHINE = _E.COMMIT_WAS_SLOW.value
"""The type of records that tell of the machine alone; they are inputs, and not compared."""

Kind = Literal['payload', 'missing', 'unexpected']


@dataclass(frozen=True, slots=True)
class Difference:
    """One record that is not what it was."""

    kind: Kind
    recorded: dict[str, Any] | None
    """Type, ids and payload as they were; None where the replay made a record of its own."""
    replayed: dict[str, Any] | None
    """The same as they are now; None where the replay made no such record."""
    seq: int
    """The number of the recorded one, or of that before which the new one came."""
    keys: tuple[str, ...] = ()
    """Where the payloads differ: paths of keys."""
    before: tuple[str, ...] = ()
    """What was recorded last before it, a line each, and is the same."""


class Comparison:
    """Takes each record that the replay makes, as it is made.

    :param now_ns: the replay's steady time.
    :param told: called with the number of each recorded one when it and those before it are done.
    """

    def __init__(
        self, recording: Recording, now_ns: Callable[[], int], told: Callable[[int], object]
    ) -> None:
        self.differences: list[Difference] = []
        self.same = 0
        self.reordered = 0
        self.made: list[tuple[int, Row]] = []
        """What was made: steady time and row, kept for whoever compares more than records."""
        self._recording = recording
        self._records = recording.records
        self._done = [record.type == OF_THE_MACHINE for record in recording.records]
        self._end = _end_of(recording)
        self._open = 0
        self._now_ns = now_ns
        self._told_of = told
        self._context: deque[str] = deque(maxlen=CONTEXT)
        self._advance()

    @property
    def diverged(self) -> bool:
        """Whether anything but a payload differs: then the recorded order says nothing more."""
        return any(difference.kind != 'payload' for difference in self.differences)

    @property
    def of_the_machine(self) -> int:
        """Return how many of the records tell of the machine alone."""
        return sum(record.type == OF_THE_MACHINE for record in self._records)

    @property
    def left_at_the_end(self) -> int:
        """Return how many records at the end of a run that is cut off were not made again, as they
        need not be.
        """
        return self._done[self._end :].count(False)

    @property
    def next_seq(self) -> int:
        """Return the number of the first record that has not been made again or given up."""
        return self._recording.first_seq + self._open

    def made_before(self, seq: int) -> bool:
        """Whether every record before this one has been made again, or been given up."""
        return self._open >= seq - self._recording.first_seq

    def give_up_before(self, seq: int) -> None:
        """Count what has not been made again before this record as missing."""
        for index in range(self._open, min(seq - self._recording.first_seq, self._end)):
            if not self._done[index]:
                self._miss(self._records[index])
                self._done[index] = True
        self._advance()

    def take(self, rows: Sequence[Row]) -> int | None:
        """Compare records that have been made together, and return the recorded number of the last
        one; None where that was not recorded.
        """
        index = None
        for row in rows:
            if row.type == OF_THE_MACHINE:
                continue
            index = self._find(row)
            if index is None and self._is_beyond_the_end():
                continue
            self.made.append((self._now_ns(), row))
            if index is None:
                self.differences.append(
                    Difference('unexpected', None, _of_row(row), self.next_seq, (), self._told())
                )
            else:
                self._match(index, self._records[index], row)
        return None if index is None else self._records[index].seq

    def finish(self) -> None:
        """Count what was never made again."""
        self.give_up_before(self._recording.last_seq + 1)

    def _find(self, row: Row) -> int | None:
        """Return which recorded one this is; None for none of them."""
        key = (row.type, *row[4:9])
        for index in range(self._open, min(self._open + WINDOW, len(self._records))):
            record = self._records[index]
            if not self._done[index] and _key(record) == key and self._is_near(index):
                return index
        return None

    def _is_beyond_the_end(self) -> bool:
        """Whether a recording that ends in its middle says nothing about what comes now."""
        if self._recording.is_whole:
            return False
        left_ns = self._recording.steady_ns[-1] - self._now_ns()
        return self._open >= self._end or left_ns <= REORDER_S * 1e9

    def _is_near(self, index: int) -> bool:
        """Whether a record may have come before those that are still to be made."""
        times = self._recording.steady_ns
        return times[index] - times[self._open] <= REORDER_S * 1e9

    def _match(self, index: int, record: RecordedEvent, row: Row) -> None:
        self.reordered += index != self._open
        self._done[index] = True
        # Nearly all are the same to the letter; what is not may still be the same numbers.
        same = canonical_json(record.payload) == row.payload
        keys = () if same else _unlike(record, json.loads(row.payload))
        if keys:
            self.differences.append(
                Difference(
                    'payload', _of_record(record), _of_row(row), record.seq, keys, self._told()
                )
            )
        else:
            self.same += 1
            self._context.append(line(record))
        self._advance()

    def _miss(self, record: RecordedEvent) -> None:
        self.differences.append(
            Difference('missing', _of_record(record), None, record.seq, (), self._told())
        )

    def _advance(self) -> None:
        while self._open < len(self._done) and self._done[self._open]:
            self._told_of(self._records[self._open].seq)
            self._open += 1

    def _told(self) -> tuple[str, ...]:
        return tuple(self._context)


def _end_of(recording: Recording) -> int:
    """Return the index behind the last record that a replay must make."""
    records = recording.records
    end = len(records)
    while not recording.is_whole and _comes_of_what_follows(records[end - 1], recording):
        end -= 1
    return end


def _comes_of_what_follows(record: RecordedEvent, recording: Recording) -> bool:
    """Whether a record was written in front of that of its cause, which is not on record."""
    reason = record.payload.get('reason')
    looked = record.type == _E.WORLD_SNAPSHOT_CAPTURED
    if looked and reason == 'salient_event':
        told = {one.snapshot_id for one in recording.of(_E.SALIENT_EVENT)}
        return record.snapshot_id not in told
    if (looked and reason == 'requested') or record.type == _E.TOOL_CALL_WITHDRAWN:
        return record.tool_call_id is not None and record.tool_call_id not in recording.calls
    return bool(record.payload.get('held'))


def line(record: RecordedEvent) -> str:
    """Return a record in a few words."""
    payload = record.payload
    words = [
        str(payload[key])
        for key in ('state', 'event', 'reason', 'status', 'name', 'kind', 'trigger')
        if payload.get(key)
    ]
    about = record.action_id or record.tool_call_id or record.turn_id or record.mission_id or ''
    return ' '.join(filter(None, (str(record.seq), record.type, *words, about)))


def _key(record: RecordedEvent) -> tuple[str | None, ...]:
    return (
        record.type,
        record.mission_id,
        record.turn_id,
        record.tool_call_id,
        record.action_id,
        record.snapshot_id,
    )


def _unlike(record: RecordedEvent, payload: dict[str, Any]) -> tuple[str, ...]:
    """Return where a payload differs by more than it may."""
    skipped = NOT_COMPARED.get(record.type, ())
    return tuple(
        path
        for path in unlike_paths(record.payload, payload)
        if path.partition('.')[0] not in skipped
        and not _is_measured(record.type, path, record.payload, payload)
    )


def _is_measured(kind: str, path: str, then: dict[str, Any], now: dict[str, Any]) -> bool:
    limit = SLACK_S * 1e9 if path == STEADY_NS else MEASURED_S.get((kind, path))
    if limit is None or not isinstance(then.get(path), (int, float)):
        return False
    return isinstance(now.get(path), (int, float)) and abs(then[path] - now[path]) <= limit


def unlike_paths(then: Any, now: Any, path: str = '') -> list[str]:
    """Return the paths of keys at which two JSON values differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = []
        for key in sorted(then.keys() | now.keys()):
            below = f'{path}.{key}' if path else str(key)
            if key not in then and now[key] in _NOTHING:
                continue  # a later release has added it, and here it says nothing
            if key not in then or key not in now:
                found.append(below)
            else:
                found += unlike_paths(then[key], now[key], below)
        return found
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [
            found
            for number, (a, b) in enumerate(zip(then, now, strict=True))
            for found in unlike_paths(a, b, f'{path}.{number}')
        ]
    return [] if then == now and type(then) is type(now) else [path]


_NOTHING: tuple[Any, ...] = (None, [], {}, '')


def _of_record(record: RecordedEvent) -> dict[str, Any]:
    return _plain(_key(record), record.payload)


def _of_row(row: Row) -> dict[str, Any]:
    return _plain((row.type, *row[4:9]), json.loads(row.payload))


def _plain(key: tuple[str | None, ...], payload: dict[str, Any]) -> dict[str, Any]:
    names = ('type', 'mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id')
    told: dict[str, Any] = {n: v for n, v in zip(names, key, strict=True) if v is not None}
    return {**told, 'payload': payload}
