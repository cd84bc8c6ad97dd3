# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Closes at start what an earlier run left open in the journal. Nothing is ever dispatched again.

Open calls get the result `interrupted`. Open actions are asked for once by their goal id, which
was journalled before the goal was sent, and are settled by the usual rule on what is found, else
UNKNOWN. Open missions end as unknown. One record says what was found and done.
"""

from __future__ import annotations

import asyncio
import logging

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.assembly import Core
from robot_agent_harness.events import (
    Correlation,
    EventType,
    MissionEnded,
    RecordedEvent,
    RecoveryPerformed,
    ToolResultRecorded,
)
from robot_agent_harness.journal.reader import JournalReader, OpenWork
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import ManagedAction

logger = logging.getLogger(__name__)

MESSAGE = 'the harness was stopped before this ended; closed at the next start'


async def recover(core: Core) -> RecoveryPerformed | None:
    """Close every open call, action and mission, and return what was done; None if nothing was.

    Call it once, before managed calls are taken.

    :raises JournalError: the journal cannot be read or written.
    """
    with JournalReader(core.journal.path) as reader:
        work = reader.open_work()
        actions = [_action(reader, event) for event in work.actions]
    if not (work.calls or work.actions or work.missions):
        return None
    logger.warning(
        'closing what an earlier run left open: %d calls, %d actions, %d missions',
        len(work.calls),
        len(work.actions),
        len(work.missions),
    )
    await _answer_calls(core, work)
    settled = await asyncio.gather(*(_settle(core, action) for action in actions))
    done = RecoveryPerformed(
        interrupted_calls=[event.tool_call_id or '' for event in work.calls],
        settled_actions=[
            {
                'action_id': action.action_id,
                'state': action.state.value,
                'reason': action.outcome.reason.value if action.outcome else None,
            }
            for action in settled
        ],
        ended_missions=[event.mission_id or '' for event in work.missions],
    )
    await core.journal.append(
        *((_mission_end(), _ids(event)) for event in work.missions), (done, Correlation())
    )
    return done


async def _answer_calls(core: Core, work: OpenWork) -> None:
    started = {event.tool_call_id: event.action_id for event in work.actions}
    records = []
    for event in work.calls:
        action_id = started.get(event.tool_call_id)
        data = {'action_id': action_id} if action_id else {}
        result = ToolResult(ResultStatus.INTERRUPTED, MESSAGE, data)
        record = ToolResultRecorded(
            status=result.status.value, is_error=True, structured=result.structured
        )
        records.append((record, _ids(event, action_id)))
    await core.journal.append(*records)


async def _settle(core: Core, action: RobotAction) -> RobotAction:
    known = core.registry.get(action.skill)
    managed = (known.managed if known else None) or ManagedAction()
    return await core.tracker.settle(action, core.dispatcher.plan(managed))


def _action(reader: JournalReader, started: RecordedEvent) -> RobotAction:
    """Return the open action as far as the journal knows it."""
    state = ActionState.REQUESTED
    for event in reader.events(action_id=started.action_id, type=EventType.ROBOT_ACTION_PROGRESS):
        state = ActionState(event.payload['state'])
    return RobotAction(
        action_id=started.action_id or '',
        skill=started.payload['skill'],
        goal=started.payload['goal'],
        mission_id=started.mission_id,
        turn_id=started.turn_id,
        tool_call_id=started.tool_call_id or '',
        requested_monotonic_ns=0,
        state=state,
    )


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
