# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Closes at start what an earlier run left open in the journal. Nothing is ever dispatched again.

Open calls get the result `interrupted`. Open actions are asked for once by their goal id, which
was journalled before the goal was sent, and are settled by the usual rule on what is found, else
UNKNOWN. Open missions end as unknown. One record says what was found and done.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
import logging
from typing import Any

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.actions.observer import Look
from robot_agent_harness.actions.plan import ActionPlan
from robot_agent_harness.actions.recorded import recorded_action
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


def adopt(core: Core) -> LeftOpen:
    """Find what was left open, and take its actions over before anything is heard of their goals.

    Call it right after the core is assembled. The newest action, if it ended UNKNOWN, is taken
    over as well: its goal may still run, and stands in the way of a new one.

    :raises JournalError: the journal cannot be read.
    """
    core.states.changed('adopted')
    with JournalReader(core.journal.path) as reader:
        work = reader.open_work()
        actions = tuple(_action(reader, event) for event in work.actions)
        unknown = None if actions else _newest_unknown(reader)
    for action in actions:
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
        core.tracker.take(action, _plan(core, action), before)
    if unknown is not None:
        core.tracker.restore(unknown, _plan(core, unknown))
    return LeftOpen(work.calls, actions, work.missions)


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


def _plan(core: Core, action: RobotAction) -> ActionPlan:
    known = core.registry.get(action.skill)
    return core.starter.plan((known.managed if known else None) or ManagedAction())


def _action(reader: JournalReader, started: RecordedEvent) -> RobotAction:
    action = recorded_action(reader.events(action_id=started.action_id))
    assert action is not None  # its start is at hand
    return action


def _newest_unknown(reader: JournalReader) -> RobotAction | None:
    """Return the newest action if it ended UNKNOWN, be it in a file before this one."""
    ended = reader.newest(EventType.ROBOT_ACTION_OUTCOME)
    if ended is None:
        return recorded_action(reader.carried_over())
    if ended.payload['state'] != ActionState.UNKNOWN.value:
        return None
    return recorded_action(reader.events(action_id=ended.action_id))


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
