# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a reader tells of more than one record: a mission, its cost, what is open."""

from __future__ import annotations

from dataclasses import dataclass

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.read_only import ReadOnlyJournal
from robot_agent_harness.journal.schema import MISSION_USAGE


@dataclass(frozen=True, slots=True)
class MissionRecord:
    """A mission as the journal knows it."""

    mission_id: str
    instruction: str | None
    """What was asked; None where the start is not recorded."""
    started_wall_ns: int
    """Nanoseconds since the Unix epoch, of the first record."""
    ended_wall_ns: int | None
    """The same of MISSION_ENDED; None while the mission is open."""
    outcome: str | None
    """`achieved`, `not_achieved` or `unknown`; None while the mission is open."""
    events: int
    """How many records bear its id."""


@dataclass(frozen=True, slots=True)
class MissionUsage:
    """What a mission has cost: how often its model was asked, and what it counted."""

    model_calls: int
    """Attempts, the failed ones included."""
    failed_calls: int
    input_tokens: int
    """Without those of the cache, where the provider counts them apart."""
    output_tokens: int
    """With those of the thinking."""
    cache_read_input_tokens: int | None
    """None where the provider did not say."""
    cache_creation_input_tokens: int | None
    """The same."""
    model_s: float | None
    """Seconds spent on waiting for the model; None where all records are of schema 1."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What a run left unfinished, in the order in which it was recorded."""

    calls: tuple[RecordedEvent, ...]
    """TOOL_CALL_RECORDED without a TOOL_RESULT_RECORDED."""
    actions: tuple[RecordedEvent, ...]
    """ROBOT_ACTION_STARTED, with its payload, without a ROBOT_ACTION_OUTCOME."""
    missions: tuple[RecordedEvent, ...]
    """MISSION_STARTED without a MISSION_ENDED."""


def missions(journal: ReadOnlyJournal) -> list[MissionRecord]:
    """Return every mission, in the order of their beginnings."""
    rows = journal.fetch(
        'SELECT mission_id, min(seq), max(CASE type WHEN :ended THEN seq END), count(*)'
        ' FROM events WHERE mission_id IS NOT NULL GROUP BY mission_id ORDER BY min(seq)',
        {'ended': EventType.MISSION_ENDED.value},
    )
    return [_mission(journal, *row) for row in rows]


def _mission(
    journal: ReadOnlyJournal, mission_id: str, first: int, ended: int | None, count: int
) -> MissionRecord:
    (begin,) = journal.records('seq = ?', (first,))
    (end,) = journal.records('seq = ?', (ended,)) if ended else (None,)
    started = (mission_id, EventType.MISSION_STARTED.value)
    start = journal.records('mission_id = ? AND +type = ? ORDER BY seq LIMIT 1', started)
    return MissionRecord(
        mission_id=mission_id,
        instruction=start[0].payload.get('instruction') if start else None,
        started_wall_ns=begin.wall_time_ns,
        ended_wall_ns=end.wall_time_ns if end else None,
        outcome=end.payload.get('outcome') if end else None,
        events=count,
    )


def usage(journal: ReadOnlyJournal) -> dict[str, MissionUsage]:
    """Return what each mission whose model was asked has cost so far, by its id, in order."""
    rows = journal.fetch(MISSION_USAGE)
    return {mission_id: MissionUsage(*values) for mission_id, *values in rows}


def open_work(journal: ReadOnlyJournal) -> OpenWork:
    """Return the calls, actions and missions that have begun and not ended."""

    def unended(column: str, begin: EventType, end: EventType) -> tuple[RecordedEvent, ...]:
        # Not one search for each: a set of all ends is ten times as fast in a long journal.
        return tuple(
            journal.records(
                f'type = ? AND {column} NOT IN (SELECT {column} FROM events WHERE type = ?'
                f' AND {column} IS NOT NULL) ORDER BY seq',
                (begin.value, end.value),
            )
        )

    return OpenWork(
        calls=unended(
            'tool_call_id', EventType.TOOL_CALL_RECORDED, EventType.TOOL_RESULT_RECORDED
        ),
        actions=unended(
            'action_id', EventType.ROBOT_ACTION_STARTED, EventType.ROBOT_ACTION_OUTCOME
        ),
        missions=unended('mission_id', EventType.MISSION_STARTED, EventType.MISSION_ENDED),
    )
