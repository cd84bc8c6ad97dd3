# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An action as its journal records tell of it, where nothing of it is in memory any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from robot_agent_harness.actions.lifecycle import ActionState, Outcome, OutcomeReason, RobotAction
from robot_agent_harness.actions.plan import ActionPlan
from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE, RosAction
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader


@dataclass(frozen=True, slots=True)
class Driven:
    """Who was to carry an action out, and to judge it."""

    ros_action: RosAction
    """Its server; a template for goals is not on record."""
    verifier: str


NAVIGATED = Driven(NAVIGATE_TO_POSE, 'navigation')
"""Of a record that does not say: usual, and all there was in schema 1."""


def driven(plan: ActionPlan) -> dict[str, str] | None:
    """Return what the record of a start says of who carries the action out."""
    action, usual = plan.action, NAVIGATED.ros_action
    if (action.name, action.type, plan.verifier) == (usual.name, usual.type, NAVIGATED.verifier):
        return None
    return {'name': action.name, 'type': action.type, 'verifier': plan.verifier}


def recorded_driven(started: RecordedEvent) -> Driven:
    """Return what :func:`driven` put into the record of a start."""
    said = started.payload.get('driven')
    if not said:
        return NAVIGATED
    return Driven(RosAction(said['name'], said['type']), said['verifier'])


def recorded_action(events: Iterable[RecordedEvent]) -> RobotAction | None:
    """Return the action that the records of one action id are about; None without its start.

    :param events: in their order; records of other types are ignored.
    """
    started: RecordedEvent | None = None
    state, outcome = ActionState.REQUESTED, None
    for event in events:
        if event.type == EventType.ROBOT_ACTION_STARTED:
            started = event
        elif event.type == EventType.ROBOT_ACTION_PROGRESS and not event.payload.get('late'):
            state = ActionState(event.payload['state'])
        elif event.type == EventType.ROBOT_ACTION_OUTCOME and outcome is None:
            state = ActionState(event.payload['state'])
            outcome = Outcome(
                state,
                OutcomeReason(event.payload['reason']),
                event.payload['evidence'],
                event.payload.get('verification_snapshot_id'),
            )
    if started is None:
        return None
    return RobotAction(
        action_id=started.action_id or '',
        skill=started.payload['skill'],
        goal=started.payload['goal'],
        mission_id=started.mission_id,
        turn_id=started.turn_id,
        tool_call_id=started.tool_call_id or '',
        requested_monotonic_ns=0,
        state=state,
        outcome=outcome,
    )


async def read_action(journal: Path, action_id: str) -> RobotAction | None:
    """Return an action as a journal has it; None if it has none of that id.

    Read on a worker thread: the disk holds up no loop.

    :raises JournalError: the journal cannot be read.
    """

    def read() -> RobotAction | None:
        with JournalReader(journal) as reader:
            return recorded_action(reader.events(action_id=action_id))

    return await asyncio.to_thread(read)
