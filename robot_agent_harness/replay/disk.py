# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""When what was recorded was on disk, for those who waited for it and went on only then."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from robot_agent_harness.actions.lifecycle import ActionState
from robot_agent_harness.actions.preconditions import NO_UNFINISHED_ACTION
from robot_agent_harness.actions.records import CANCEL_REQUESTED
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.redaction.boundaries import SAME_COMMIT_S
from robot_agent_harness.replay.loop import SLACK_S
from robot_agent_harness.replay.recording import Recording
from robot_agent_harness.skills.navigation import cancel_action
from robot_agent_harness.skills.observation import (
    get_action,
    get_world_snapshot,
    list_places,
    wait_for_action,
)


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
    waits = (_noted, _unsent, _withdrawn, _in_turn, _outlasted)
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


def _in_turn(recording: Recording) -> Iterator[SlowCommit]:
    """Yield what was waited for while another call, which was then withdrawn, waited for its turn.

    Managed calls are checked one after the other. One that was answered without a check had not
    had its turn when it was withdrawn: the check before was still on its way to the disk.
    """
    newest: RecordedEvent | None = None
    queued: dict[str, RecordedEvent] = {}
    for record in recording.records:
        call_id = str(record.tool_call_id)
        if record.type == EventType.TOOL_CALL_WITHDRAWN:
            queued[call_id] = record
        elif record.type == EventType.ACTION_PRECONDITION_CHECKED:
            newest = record
            queued.pop(call_id, None)
        elif record.type == EventType.ROBOT_ACTION_STARTED:
            newest = record  # in the same transaction as its check
        elif record.type == EventType.TOOL_RESULT_RECORDED:
            withdrawn = queued.pop(call_id, None)
            if withdrawn is None or newest is None or not _sent_nothing(record):
                continue
            at_ns = int(withdrawn.payload['monotonic_ns'])
            if at_ns - recording.when(newest.seq) <= SLACK_S * NS_PER_S:
                waited = range(newest.seq, newest.seq + 1)
                yield SlowCommit(waited, withdrawn.seq + 0.25, at_ns, withdrawn.seq)


def _sent_nothing(result: RecordedEvent) -> bool:
    return result.payload['structured'].get('goal_sent') is False


def _outlasted(recording: Recording) -> Iterator[SlowCommit]:
    """Yield what calls waited for while something else came, before they were answered.

    What only looks is answered as soon as its call is on disk, what is refused as soon as the
    check is, and a cancel request is noted as soon as the call for it is. So an answer shows, and
    comes behind, what was heard and asked in that time.
    """
    waiting: dict[str, RecordedEvent] = {}
    newest: dict[str, _Came] = {}
    ended: set[str] = set()
    for record in recording.records:
        call_id = str(record.tool_call_id)
        noted = _notes_cancel(record)
        if noted:
            ids = (i for i, call in waiting.items() if _cancels(call, str(record.action_id)))
            call_id = next(ids, call_id)
        if record.type == EventType.TOOL_RESULT_RECORDED or noted:
            before, came = waiting.pop(call_id, None), newest.pop(call_id, None)
            # A cancel request that is not noted was made nobody knows when.
            asked = before is not None and before.payload.get('name') == cancel_action.name
            if before is not None and came is not None and noted is asked:
                waited = range(before.seq, before.seq + 1)
                yield SlowCommit(waited, came.seq + 0.25, came.at_ns, before.seq + 1)
        elif record.type in _COME and record.payload.get('event') != 'cancel_response':
            # What was heard before is put on record by whoever shows it.
            shows = record.type != EventType.TOOL_CALL_RECORDED
            came = _Came(record.seq, recording.when(record.seq), shows)
            for asked_id in waiting:
                if came.shows >= newest.get(asked_id, came).shows:
                    newest[asked_id] = came
        if record.type == EventType.ROBOT_ACTION_OUTCOME:
            ended.add(str(record.action_id))
        refused = record.type == EventType.ACTION_PRECONDITION_CHECKED and not record.payload['ok']
        if refused or _waits_once(record, ended):
            waiting[call_id] = record


class _Came(NamedTuple):
    """What came while a call waited."""

    seq: int
    at_ns: int
    shows: bool
    """Whether an answer may show it; another call says only how late it was."""


def _waits_once(record: RecordedEvent, ended: Collection[str]) -> bool:
    """Whether a record is that of a call which waits for nothing but the disk until it is answered
    or has noted its request.

    :param ended: the actions that had their outcome by then.
    """
    if record.type != EventType.TOOL_CALL_RECORDED:
        return False
    name = record.payload['name']
    return name in _WAIT_ONCE or (name == wait_for_action.name and _about(record) in ended)


def _notes_cancel(record: RecordedEvent) -> bool:
    noted = record.payload.get('note') == CANCEL_REQUESTED
    return record.type == EventType.ROBOT_ACTION_PROGRESS and noted


def _cancels(call: RecordedEvent, action_id: str) -> bool:
    return call.payload.get('name') == cancel_action.name and _about(call) == action_id


def _about(call: RecordedEvent) -> str:
    """Return the action that a call names; empty for none."""
    arguments = call.payload['arguments']
    return str(arguments.get('action_id')) if isinstance(arguments, dict) else ''


_WAIT_ONCE = frozenset(
    tool.name for tool in (get_action, get_world_snapshot, list_places, cancel_action)
)
_COME = (
    EventType.CONTROLLER_EVENT_RECEIVED.value,
    EventType.ROBOT_ACTION_OUTCOME.value,
    EventType.ROBOT_ACTION_PROGRESS.value,
    EventType.TOOL_CALL_RECORDED.value,
)
"""What comes from outside, or follows from that, whatever becomes of a call that only looks or is
refused."""


def _place(recording: Recording, note: RecordedEvent) -> float:
    """Return the place of a slow commit: in front of the record for which its note was held back,
    behind what was heard before and is shown by that one.
    """
    behind = recording.records[note.seq - recording.first_seq + 1 :]
    for record in behind:
        if record.type != note.type and not record.payload.get('held'):
            return record.seq - 0.5
    return float(note.seq)


_GOING_ON = [state.value for state in ActionState if not state.terminal]


def announcements(recording: Recording) -> dict[str, int]:
    """Return after which input each outcome was announced that something came in front of.

    An outcome is announced once it is on disk. What was heard of its goal before that says so
    (`late`). A check or an answer that takes the action for one that goes on was made before that,
    and what is told to the model with the outcome was said before.
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
        elif (goal_id := _found_unfinished(record)) in open_outcomes:
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


def _found_unfinished(record: RecordedEvent) -> str:
    """Return the action that a check or an answer took for one that goes on; empty for none."""
    if record.type == EventType.ACTION_PRECONDITION_CHECKED:
        checks = {check['name']: check for check in record.payload['checks']}
        check = checks.get(NO_UNFINISHED_ACTION, {'ok': True})
        return '' if check['ok'] else str(check['measured'])
    if record.type == EventType.TOOL_RESULT_RECORDED:
        told = record.payload['structured']
        # Other tools may have a word of their own there.
        return str(told.get('action_id')) if told.get('state') in _GOING_ON else ''
    return ''


def goals_of(record: RecordedEvent) -> frozenset[str]:
    """Return the goals that a controller spoke of."""
    if record.type != EventType.CONTROLLER_EVENT_RECEIVED:
        return frozenset()
    said = record.payload['said']
    listed = [said] if 'goal_id' in said else said.get('goals', [])
    return frozenset(goal['goal_id'] for goal in listed)
