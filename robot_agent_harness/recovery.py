# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Closes at start what an earlier run left open in the journal. Nothing is ever dispatched again.

Open calls get the result `interrupted`. Open actions are asked for once by their goal id, which
was journalled before the goal was sent, at the server that was sent it, whatever has become of
their skill since; they are settled by the usual rule on what is found, else UNKNOWN. Open missions
end as unknown. One record says what was found and done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
import logging
from pathlib import Path
from typing import Any

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.actions.observer import Look
from robot_agent_harness.actions.plan import ActionPlan
from robot_agent_harness.actions.recorded import Driven, recorded_action, recorded_driven
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.assembly import Core
from robot_agent_harness.events import (
    Correlation,
    EventType,
    MissionEnded,
    RecordedEvent,
    RecoveryPerformed,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import ManagedAction

logger = logging.getLogger(__name__)

MESSAGE = 'the harness was stopped before this ended; closed at the next start'


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """What an earlier run left open."""

    calls: tuple[RecordedEvent, ...]
    actions: tuple[RobotAction, ...]
    missions: tuple[RecordedEvent, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a journal tells of an earlier run."""

    left: LeftOpen
    unknown: RobotAction | None
    """The newest action, where it ended UNKNOWN: its goal may still run."""
    driven: Mapping[str, Driven]
    """Of each of these actions, by its id, who was to carry it out."""

    def followed(self, actions: Mapping[str, RosAction]) -> dict[str, RosAction]:
        """Return the actions that skills drive, by name, with those of what was found.

        One whose type is another by now has the new one, as its server has.
        """
        return {d.ros_action.name: d.ros_action for d in self.driven.values()} | dict(actions)


def find(journal: Path) -> Found:
    """Read what an earlier run left open.

    :raises JournalError: the journal cannot be read.
    """
    with JournalReader(journal) as reader:
        work = reader.open_work()
        records = [list(reader.events(action_id=event.action_id)) for event in work.actions]
        actions = tuple(filter(None, map(recorded_action, records)))
        newest = [] if actions else _newest_unknown(reader)
    driven = {
        event.action_id or '': recorded_driven(event)
        for event in (*work.actions, *newest)
        if event.type == EventType.ROBOT_ACTION_STARTED
    }
    left = LeftOpen(work.calls, actions, work.missions)
    return Found(left, recorded_action(newest), driven)


def adopt(core: Core, found: Found | None = None) -> LeftOpen:
    """Take over the actions that were left open, before anything is heard of their goals.

    Call it right after the core is assembled. The newest action, if it ended UNKNOWN, is taken
    over as well: its goal may still run, and stands in the way of a new one.

    :param found: what :func:`find` found in the journal; None: found now.
    :raises JournalError: the journal cannot be read.
    """
    core.states.changed('adopted')
    if found is None:
        found = find(core.journal.path)
    for action in found.left.actions:
        before = core.observer.capture(action.mission_id, Look.RECOVERY, action.action_id)
        core.observer.store.first_use(before.snapshot_id)
        core.journal.defer(
            (
                WorldSnapshotCaptured(reason='recovery', snapshot=before.to_dict()),
                Correlation(
                    action.mission_id, action_id=action.action_id, snapshot_id=before.snapshot_id
                ),
            )
        )
        core.tracker.take(action, _plan(core, action, found), before)
    if found.unknown is not None:
        core.tracker.restore(found.unknown, _plan(core, found.unknown, found))
    return found.left


async def recover(core: Core, left: LeftOpen) -> RecoveryPerformed | None:
    """Close every open call, action and mission, and return what was done; None if nothing was.

    Call it once, before managed calls are taken.

    :raises JournalError: the journal cannot be written.
    """
    if not (left.calls or left.actions or left.missions):
        return None
    logger.warning(
        'closing what an earlier run left open: %d calls, %d actions, %d missions',
        len(left.calls),
        len(left.actions),
        len(left.missions),
    )
    core.states.changed('recovering')
    await _answer_calls(core, left)
    settled = await asyncio.gather(*(core.tracker.settle(a.action_id) for a in left.actions))
    done = RecoveryPerformed(
        interrupted_calls=[event.tool_call_id or '' for event in left.calls],
        settled_actions=[
            {
                'action_id': action.action_id,
                'state': action.state.value,
                'reason': action.outcome.reason.value if action.outcome else None,
            }
            for action in settled
        ],
        ended_missions=[event.mission_id or '' for event in left.missions],
    )
    await core.journal.append(
        *((_mission_end(), _ids(event)) for event in left.missions), (done, Correlation())
    )
    return done


_ANSWERED = (ActionState.ACCEPTED, ActionState.RUNNING, ActionState.VERIFYING)


async def _answer_calls(core: Core, left: LeftOpen) -> None:
    started = {action.tool_call_id: action for action in left.actions}
    records = []
    for event in left.calls:
        data: dict[str, Any] = {}
        action = started.get(event.tool_call_id or '')
        if action is not None:
            # A goal leaves right after its start is on disk: whether it did, only an answer tells.
            sent = True if action.state in _ANSWERED else None
            data = {'action_id': action.action_id, 'goal_sent': sent}
        result = ToolResult(ResultStatus.INTERRUPTED, MESSAGE, data)
        record = ToolResultRecorded(
            status=result.status.value, is_error=True, structured=result.structured
        )
        records.append((record, _ids(event, action.action_id if action else None)))
    await core.journal.append(*records)


def _plan(core: Core, action: RobotAction, found: Found) -> ActionPlan:
    """Return the plan of the action's skill, with the server that was sent its goal."""
    driven = found.driven[action.action_id]
    known = core.registry.get(action.skill)
    managed = known.managed if known else None
    if managed is None:
        verifier = driven.verifier if driven.verifier in core.verifiers else 'none'
        managed = ManagedAction(verifier=verifier)
    if managed.action.name != driven.ros_action.name:
        managed = replace(managed, action=driven.ros_action)
    return core.starter.plan(managed)


def _newest_unknown(reader: JournalReader) -> list[RecordedEvent]:
    """Return the records of the newest action if it ended UNKNOWN, be it in a file before this
    one.
    """
    ended = reader.newest(EventType.ROBOT_ACTION_OUTCOME)
    if ended is None:
        return reader.carried_over()
    if ended.payload['state'] != ActionState.UNKNOWN.value:
        return []
    return list(reader.events(action_id=ended.action_id))


def _mission_end() -> MissionEnded:
    return MissionEnded(outcome='unknown', reason='interrupted', summary=MESSAGE, steps=0)


def _ids(event: RecordedEvent, action_id: str | None = None) -> Correlation:
    return Correlation(
        mission_id=event.mission_id,
        turn_id=event.turn_id,
        tool_call_id=event.tool_call_id,
        action_id=action_id,
        snapshot_id=None,
    )
