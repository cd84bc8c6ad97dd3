# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills that look: at the world, at actions and at the known places. They move nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from pydantic import Field

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import Look
from robot_agent_harness.errors import JournalError
from robot_agent_harness.jsonable import finite_number
from robot_agent_harness.skills.outputs import ActionOutput, PlacesOutput, SnapshotOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext, SkillError
from robot_agent_harness.texts import quoted
from robot_agent_harness.world.projection import project

WAIT_MAX_S = 600.0
"""Longest wait in one call; a client that wants more asks again."""
PROGRESS_PERIOD_S = 2.0
"""How often a waiting client is told that the action goes on."""
_ActionId = Annotated[
    str, Field(description='The action_id of the call that started it; 32 hex digits.')
]


@skill(output=SnapshotOutput, title='Look at the world', read_only=True)
async def get_world_snapshot(context: SkillContext) -> ToolResult:
    """Look at the robot and its world now: pose, motion, battery, emergency stop, what the
    controller runs, how the last action ended. Each fact says how old it is and whether it may be
    believed. Decisions that follow are held against this view.
    """
    return ToolResult(ResultStatus.COMPLETED, 'the world as it is now', _world(context))


@skill(output=PlacesOutput, title='List the known places', read_only=True)
async def list_places(context: SkillContext) -> ToolResult:
    """List the places that navigate_to_place knows, with their poses (metres and radians)."""
    places = [
        {'name': name, **place.model_dump()} for name, place in sorted(context.places.items())
    ]
    return ToolResult(ResultStatus.COMPLETED, f'{len(places)} places', {'places': places})


@skill(output=ActionOutput, title='Look at an action', read_only=True)
async def get_action(context: SkillContext, action_id: _ActionId) -> ToolResult:
    """Tell the state of an action, and its outcome with the evidence once it has one. Returns at
    once; use wait_for_action to wait for the outcome.
    """
    return _told(context, context.tracker.get(action_id) or await recorded(context, action_id))


@skill(output=ActionOutput, title='Wait for an outcome', read_only=True)
async def wait_for_action(
    context: SkillContext,
    action_id: _ActionId,
    timeout_s: Annotated[
        float, Field(ge=0.0, le=WAIT_MAX_S, description='Seconds to wait at most.')
    ] = 60.0,
) -> ToolResult:
    """Wait until an action has its outcome, and return it with the evidence and the world after
    it. SUCCEEDED was verified on the robot's own state; FAILED was disproved, refused or given up;
    UNKNOWN means that nobody can say, and the robot may still move: look before you go on. Returns
    the current state when the time is up. Waiting, or giving up waiting, does not disturb the
    action.
    """
    action = context.tracker.get(action_id)
    if action is None:  # nobody follows it any more
        return _told(context, await recorded(context, action_id))
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not action.state.terminal:
        elapsed = loop.time() - started
        if elapsed >= timeout_s:
            break
        if context.interest.give_up():
            raise SkillError(
                f'the client gave up waiting; the action goes on ({line(action)})',
                status=ResultStatus.INTERRUPTED,
            )
        if context.progress is not None:
            await context.progress(elapsed, timeout_s, line(action))
        pause = min(PROGRESS_PERIOD_S, timeout_s - elapsed)
        still = await context.tracker.wait(action_id, pause)
        if still is None:
            return _told(context, await recorded(context, action_id))
        action = still
    return _told(context, action)


async def recorded(context: SkillContext, action_id: str) -> RobotAction:
    """Return an action of which nothing is in memory, as the journal has it.

    :raises SkillError: there is none of that id, or the journal cannot be read.
    """
    try:
        action = await context.recorded(action_id)
    except JournalError as error:
        raise SkillError(f'{quoted(action_id)} is not in memory, and {error}') from error
    if action is None:
        raise SkillError(
            f'no action {quoted(action_id)}: the journal knows none of that id',
            status=ResultStatus.UNKNOWN_ACTION,
        )
    return action


def _told(context: SkillContext, action: RobotAction) -> ToolResult:
    data = describe(action)
    if action.outcome is not None:
        # The next decision is made from the world as it is after the action, not from before.
        data |= _world(context)
    return ToolResult(ResultStatus.COMPLETED, line(action), data)


def _world(context: SkillContext) -> dict[str, Any]:
    snapshot = context.observer.capture(context.mission_id, Look.REQUESTED, context.tool_call_id)
    projection = project(snapshot, max_bytes=context.projection_max_bytes)
    return {'snapshot_id': snapshot.snapshot_id, 'snapshot': json.loads(projection.text)}


def describe(action: RobotAction) -> dict[str, Any]:
    """Return what is known of an action, as the results and resources show it."""
    outcome = action.outcome
    return {
        'action_id': action.action_id,
        'skill': action.skill,
        'goal': action.goal,
        'state': action.state.value,
        'reason': outcome.reason.value if outcome else None,
        'evidence': outcome.evidence if outcome else None,
        'feedback': None if outcome else action.feedback or None,
    }


def line(action: RobotAction) -> str:
    """Return the state of an action in a line."""
    if action.outcome is not None:
        why = action.outcome.evidence.get('why', '')
        return f'{action.state.value} ({action.outcome.reason.value}): {why}'
    left = finite_number(action.feedback.get('distance_remaining'))
    return action.state.value + (f', {left:.1f} m of path left' if left else '')
