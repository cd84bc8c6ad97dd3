# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""When what was recorded was on disk, for those who waited for it and went on only then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.redaction.boundaries import SAME_COMMIT_S
from robot_agent_harness.replay.loop import SLACK_S
from robot_agent_harness.replay.recording import Recording


@dataclass(frozen=True, slots=True)
class SlowCommit:
    """Records that were on disk only at a later input."""

    records: range
    """Their numbers; others among them may have been on disk at once."""
    place: float
    """Behind which record this was, by its number."""
    at_ns: int
    """When, in steady time."""
    after: int
    """The first record that need not have been made again before it."""


def slow_commits(recording: Recording) -> list[SlowCommit]:
    """Return what a run waited for, as far as it was long or something came in between."""
    waits = (_noted, _unsent, _withdrawn, _outlasted)
    return [slow for found in waits for slow in found(recording)]


def _noted(recording: Recording) -> list[SlowCommit]:
    """Return what is on record as long.

    What came to the disk in one commit may have several notes, the first of which was written
    while others still went on.
    """
    found: list[SlowCommit] = []
    for note in recording.of(EventType.COMMIT_WAS_SLOW):
        first, last = (int(note.payload[f'{which}_seq']) for which in ('first', 'last'))
        at_ns, place = int(note.payload['durable_ns']), _place(recording, note)
        if found and at_ns - found[-1].at_ns < SAME_COMMIT_S * NS_PER_S:
            before = found.pop()
            first, last = min(first, before.records.start), max(last, before.records.stop - 1)
            at_ns, place = before.at_ns, before.place
        found.append(SlowCommit(range(first, last + 1), place, at_ns, last + 1))
    return found


def _unsent(recording: Recording) -> Iterator[SlowCommit]:
    """Yield the starts of goals that never left: what kept them came before the disk had them."""
    starts = {str(r.action_id): r.seq for r in recording.of(EventType.ROBOT_ACTION_STARTED)}
    for outcome in recording.of(EventType.ROBOT_ACTION_OUTCOME):
        begun = starts.get(str(outcome.action_id))
        if begun is not None and outcome.payload['evidence'].get('goal_sent') is False:
            at_ns = recording.when(outcome.seq)
            yield SlowCommit(range(begun, begun + 1), outcome.seq - 0.5, at_ns, outcome.seq)


def _withdrawn(recording: Recording) -> Iterator[SlowCommit]:
    """Yield what calls waited for that were withdrawn and ended within a moment.

    A wait too short to be on record still came before the end of a call that it has outlasted.
    """
    newest: dict[str, RecordedEvent] = {}
    for record in recording.of(
        EventType.TOOL_CALL_RECORDED,
        EventType.ACTION_PRECONDITION_CHECKED,
        EventType.ROBOT_ACTION_STARTED,
        EventType.TOOL_CALL_WITHDRAWN,
    ):
        call_id = str(record.tool_call_id)
        result = recording.results.get(call_id)
        if record.type != EventType.TOOL_CALL_WITHDRAWN:
            newest[call_id] = record
            continue
        before = newest.get(call_id)
        if before is None or before.type == EventType.ROBOT_ACTION_STARTED or result is None:
            continue  # of a start it is known whether its goal left
        took_ns = recording.when(result.seq) - recording.when(before.seq)
        if before.seq < record.seq < result.seq and took_ns <= SLACK_S * NS_PER_S:
            at_ns = int(record.payload['monotonic_ns'])
            yield SlowCommit(
                range(before.seq, before.seq + 1), record.seq + 0.25, at_ns, record.seq
            )


def _outlasted(recording: Recording) -> Iterator[SlowCommit]:
    """Yield what calls waited for that were shown what was heard or concluded meanwhile.

    What only looks is answered as soon as its call is on disk: within a moment, an answer shows
    what came before that. A call in whose course a cancel request was answered may have made it
    itself, and then went on before.
    """
    open_calls: dict[str, RecordedEvent] = {}
    newest: dict[str, tuple[RecordedEvent, int]] = {}
    for record in recording.records:
        call_id = str(record.tool_call_id)
        if record.type == EventType.TOOL_CALL_RECORDED:
            open_calls[call_id] = record
        elif record.type == EventType.ACTION_PRECONDITION_CHECKED:
            open_calls.pop(call_id, None)  # a managed call waits for no record of its own
        elif record.type == EventType.TOOL_RESULT_RECORDED:
            call, (last, at_ns) = open_calls.pop(call_id, None), newest.pop(call_id, (record, 0))
            if call is None or last is record:
                continue
            if recording.when(record.seq) - recording.when(call.seq) <= SLACK_S * NS_PER_S:
                waited = range(call.seq, call.seq + 1)
                yield SlowCommit(waited, last.seq + 0.25, at_ns, call.seq + 1)
        elif record.payload.get('event') == 'cancel_response':
            open_calls.clear()
        elif record.type in (
            EventType.CONTROLLER_EVENT_RECEIVED,
            EventType.ROBOT_ACTION_OUTCOME,
        ):
            at_ns = int(record.payload.get('monotonic_ns', recording.when(record.seq)))
            for asked_id, call in open_calls.items():
                if at_ns > recording.when(call.seq):
                    newest[asked_id] = (record, at_ns)


def _place(recording: Recording, note: RecordedEvent) -> float:
    """Return the place of a slow commit: in front of the record for which its note was held back,
    behind what was heard before and is shown by that one.
    """
    behind = recording.records[note.seq - recording.first_seq + 1 :]
    for record in behind:
        if record.type != note.type and not record.payload.get('held'):
            return record.seq - 0.5
    return float(note.seq)


def announcements(recording: Recording) -> dict[str, int]:
    """Return after which input each outcome was announced that something came in front of.

    An outcome is announced once it is on disk. What was heard of its goal before that says so
    (`late`), and what is told to the model with it was said before that.
    """
    after: dict[str, int] = {}
    open_outcomes: dict[str, RecordedEvent] = {}
    said: dict[str, int] = {}
    for record in recording.records:
        if record.type == EventType.ROBOT_ACTION_OUTCOME:
            open_outcomes[str(record.action_id)] = record
        elif record.type == EventType.CONTROLLER_EVENT_RECEIVED:
            late = record.payload.get('late', [])
            for goal_id in goals_of(record) & open_outcomes.keys():
                if goal_id in late:
                    del open_outcomes[goal_id]
                elif not record.payload['held']:
                    after[goal_id] = record.seq
        elif record.type == EventType.SALIENT_EVENT and record.mission_id is not None:
            said[record.mission_id] = record.seq
        elif record.type in (EventType.MODEL_TURN_STARTED, EventType.MISSION_ENDED):
            for goal_id, outcome in list(open_outcomes.items()):
                if outcome.mission_id == record.mission_id:
                    del open_outcomes[goal_id]
                    last = said.get(str(record.mission_id), 0)
                    if last > outcome.seq:
                        after[goal_id] = max(last, after.get(goal_id, 0))
    return after


def goals_of(record: RecordedEvent) -> frozenset[str]:
    """Return the goals that a controller spoke of."""
    if record.type != EventType.CONTROLLER_EVENT_RECEIVED:
        return frozenset()
    said = record.payload['said']
    listed = [said] if 'goal_id' in said else said.get('goals', [])
    return frozenset(goal['goal_id'] for goal in listed)
