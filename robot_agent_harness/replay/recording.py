# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One run of the harness as its journal has it: its records, their times, and its snapshots.

A run goes from its `configured` to the next one, or to the end of the file. Records bear wall
time, which may step; those that hold steady time as well tie the others to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.replay.errors import ReplayError
from robot_agent_harness.replay.payloads import check_payload
from robot_agent_harness.world.recorded import recorded_snapshot
from robot_agent_harness.world.snapshot import WorldSnapshot

_E = EventType


@dataclass(frozen=True, slots=True)
class Taken:
    """A recorded snapshot."""

    seq: int
    snapshot: WorldSnapshot


@dataclass
class Recording:
    """The records of one run, oldest first; the first one is its `configured`."""

    records: list[RecordedEvent]
    steady_ns: list[int] = field(init=False)
    """Steady time of each record, never decreasing."""

    def __post_init__(self) -> None:
        """Work out the times."""
        self.steady_ns = _steady_times(self.records)

    @property
    def origin_ns(self) -> int:
        """Return the steady time at which it begins."""
        return self.steady_ns[0]

    @property
    def first_seq(self) -> int:
        """Return the number of its first record."""
        return self.records[0].seq

    @property
    def last_seq(self) -> int:
        """Return the number of its last record."""
        return self.records[-1].seq

    @property
    def configuration(self) -> dict[str, Any]:
        """Return what it ran on."""
        configuration: dict[str, Any] = self.records[0].payload['configuration']
        return configuration

    @property
    def duration_s(self) -> float:
        """Return how long it took, in seconds."""
        return (self.steady_ns[-1] - self.steady_ns[0]) / 1e9

    def of(self, *types: EventType) -> Iterator[RecordedEvent]:
        """Yield the records of some types, in order."""
        wanted = {kind.value for kind in types}
        return (record for record in self.records if record.type in wanted)

    def when(self, seq: int) -> int:
        """Return the steady time of a record."""
        return self.steady_ns[seq - self.first_seq]

    @cached_property
    def missions(self) -> tuple[str, ...]:
        """The missions that it began."""
        return tuple(str(record.mission_id) for record in self.of(_E.MISSION_STARTED))

    @cached_property
    def snapshots(self) -> dict[str, Taken]:
        """Every recorded snapshot by its id."""
        return {
            str(record.snapshot_id): Taken(
                record.seq, recorded_snapshot(record.payload['snapshot'])
            )
            for record in self.of(_E.WORLD_SNAPSHOT_CAPTURED)
        }

    @cached_property
    def by_reason(self) -> dict[tuple[str, str], Taken]:
        """The recorded snapshots by reason and the id that each was taken about.

        Of those that a caller requested: `decision` what its call was decided on, `shown` what it
        was shown.
        """
        calls = {str(r.tool_call_id): r.seq for r in self.of(_E.TOOL_CALL_RECORDED)}
        found = {}
        for record in self.of(_E.WORLD_SNAPSHOT_CAPTURED):
            reason = record.payload['reason']
            about = {'model_turn': record.turn_id, 'pre_dispatch': record.tool_call_id}.get(
                reason, record.action_id
            )
            if reason == 'requested':
                about = record.tool_call_id
                reason = 'decision' if record.seq < calls.get(str(about), 0) else 'shown'
            found[reason, str(about)] = self.snapshots[str(record.snapshot_id)]
        return found

    @cached_property
    def closing(self) -> RecordedEvent | None:
        """The record of its end; None if it was killed, or goes on."""
        states = self.of(_E.HARNESS_STATE_CHANGED)
        return next((record for record in states if record.payload['state'] == 'closing'), None)

    @cached_property
    def is_whole(self) -> bool:
        """Whether it is on record to its end: it was closed, and left nothing open.

        Else it was killed, or goes on, and what it would have recorded next is unknown.
        """
        if self.closing is None:
            return False
        states = [record.payload['state'] for record in self.of(_E.HARNESS_STATE_CHANGED)]
        switched = [state for state in states if state in ('active', 'inactive')]
        began = {r.action_id for r in self.of(_E.ROBOT_ACTION_STARTED)}
        ended = {r.action_id for r in self.of(_E.ROBOT_ACTION_OUTCOME)}
        over = {str(r.mission_id) for r in self.of(_E.MISSION_ENDED)}
        return (
            switched[-1:] != ['active']
            and began <= ended
            and set(self.missions) <= over
            and self.calls.keys() <= self.results.keys()
        )

    @cached_property
    def calls(self) -> dict[str, RecordedEvent]:
        """TOOL_CALL_RECORDED by the call's id."""
        return {str(record.tool_call_id): record for record in self.of(_E.TOOL_CALL_RECORDED)}

    @cached_property
    def results(self) -> dict[str, RecordedEvent]:
        """TOOL_RESULT_RECORDED by the call's id."""
        return {str(record.tool_call_id): record for record in self.of(_E.TOOL_RESULT_RECORDED)}


def runs_of(records: Iterable[RecordedEvent]) -> Iterator[Recording]:
    """Yield the runs of a journal, oldest first.

    :raises ReplayError: the journal does not say what it ran on, has lost records, or holds one
        that is not what the package writes.
    """
    run: list[RecordedEvent] = []
    for record in records:
        if run and record.seq != run[-1].seq + 1:
            raise ReplayError(f'record {run[-1].seq + 1} is missing: some are lost')
        if _is_begin(record):
            check_payload(record, record)
            if run:
                yield Recording(run)
            run = [record]
        elif run:
            check_payload(record, run[0])
            run.append(record)
        elif record.type == _E.JOURNAL_CONTINUED:
            raise ReplayError(
                f'this file goes on from {record.payload.get("predecessor")}, and the run began'
                ' there; replay the file before it'
            )
        else:
            raise ReplayError(
                'it does not say what the harness ran on (no HARNESS_STATE_CHANGED before record'
                f' {record.seq}): an older release wrote it'
            )
    if run:
        yield Recording(run)


def _is_begin(record: RecordedEvent) -> bool:
    return record.type == _E.HARNESS_STATE_CHANGED and record.payload.get('state') == 'configured'


def _steady_times(records: Sequence[RecordedEvent]) -> list[int]:
    """Return each record's steady time: its own, or its wall time by the nearest tie.

    By the tie before it, unless the wall clock has stepped in between: then by the one after it.
    """
    ties = [_tie(record) for record in records]
    after: list[_Tie | None] = [None] * len(records)
    for index in range(len(records) - 2, -1, -1):
        after[index] = ties[index + 1] or after[index + 1]
    before, last_ns, times = _Tie(0, 0), 0, []
    for record, tie, following in zip(records, ties, after, strict=True):
        before = tie or before
        steady_ns = _own_ns(record)
        if steady_ns is None:
            steady_ns = record.wall_time_ns - before.offset_ns
            end_ns = None if following is None else following.steady_ns
            if following is not None and not last_ns <= steady_ns <= following.steady_ns:
                steady_ns = record.wall_time_ns - following.offset_ns
            if end_ns is not None:
                steady_ns = min(steady_ns, end_ns)
        last_ns = max(last_ns, steady_ns)
        times.append(last_ns)
    return times


class _Tie(NamedTuple):
    """What ties wall time to steady time."""

    steady_ns: int
    offset_ns: int
    """Of the wall clock against the steady one."""


def _own_ns(record: RecordedEvent) -> int | None:
    own_ns = record.payload.get('monotonic_ns')
    return own_ns if isinstance(own_ns, int) and not record.payload.get('held') else None


def _tie(record: RecordedEvent) -> _Tie | None:
    """Return what a record says about both clocks."""
    own_ns = _own_ns(record)
    if own_ns is not None:
        return _Tie(own_ns, record.wall_time_ns - own_ns)
    if record.type != _E.WORLD_SNAPSHOT_CAPTURED:
        return None
    snapshot = record.payload['snapshot']
    steady_ns = snapshot['captured_monotonic_ns']
    return _Tie(steady_ns, snapshot['captured_wall_ns'] - steady_ns)
