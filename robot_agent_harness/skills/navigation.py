# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills that move the robot to somewhere, and the one that stops it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.skills.observation import recorded
from robot_agent_harness.skills.outputs import ActionOutput, ManagedOutput
from robot_agent_harness.skills.places import COORDINATE, YAW
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import (
    GoalContext,
    ManagedAction,
    skill,
    SkillContext,
    SkillError,
)
from robot_agent_harness.texts import quoted

POSES_MAX = 32

NAVIGATE_THROUGH_POSES = RosAction(
    'navigate_through_poses', 'nav2_msgs/action/NavigateThroughPoses', {'poses': '{poses}'}
)


class Waypoint(BaseModel):
    """A pose on the way."""

    model_config = ConfigDict(extra='forbid', strict=True, allow_inf_nan=False)

    x: Annotated[float, COORDINATE, Field(description='Metres, in frame_id.')]
    y: Annotated[float, COORDINATE, Field(description='Metres, in frame_id.')]
    yaw: Annotated[
        float,
        YAW,
        Field(description='Radians, counter-clockwise; it matters for the last pose only.'),
    ] = 0.0


_CANCEL_CODES = {
    0: 'the controller accepted the request to cancel',
    1: 'the controller refused to cancel',
    2: 'the controller does not know this goal',
    3: 'the goal had already ended',
}


@skill(output=ManagedOutput, title='Drive to a pose', managed=ManagedAction())
def navigate_to_pose(
    context: GoalContext,
    x: Annotated[float, COORDINATE, Field(description='Metres, in frame_id.')],
    y: Annotated[float, COORDINATE, Field(description='Metres, in frame_id.')],
    yaw: Annotated[
        float,
        YAW,
        Field(description='Radians, counter-clockwise from the x axis.'),
    ] = 0.0,
    frame_id: Annotated[str, Field(description='The map frame; no other is accepted.')] = 'map',
) -> dict[str, Any]:
    """Drive the robot to a pose on the map. Returns once the controller has accepted or refused
    the goal; status accepted means that the robot has started, not that it has arrived. Use
    wait_for_action with the returned action_id to learn the verified outcome. One action runs at a
    time. Refused with precondition_changed, and nothing sent, if the world is no longer what you
    saw last: decide again from the snapshot that comes with the refusal.
    """
    if frame_id != context.global_frame:
        raise SkillError(
            f'navigate_to_pose: frame_id: goals are given in {context.global_frame!r}, the frame'
            f' in which arrival can be verified (got {quoted(frame_id)})',
            status=ResultStatus.INVALID_ARGUMENTS,
        )
    return {'x': float(x), 'y': float(y), 'yaw': float(yaw), 'frame_id': frame_id}


@skill(output=ManagedOutput, title='Drive to a place', managed=ManagedAction())
def navigate_to_place(
    context: GoalContext,
    name: Annotated[str, Field(description='A name from list_places.')],
) -> dict[str, Any]:
    """Drive the robot to a named place. Works like navigate_to_pose: accepted is not arrived, use
    wait_for_action to learn the outcome; precondition_changed means that nothing was sent.
    """
    place = context.places.get(name)
    if place is None:
        known = ', '.join(sorted(context.places)) or 'none'
        raise SkillError(
            f'navigate_to_place: name: no place {quoted(name)}; known places: {known}',
            status=ResultStatus.INVALID_ARGUMENTS,
        )
    if place.frame_id != context.global_frame:
        raise SkillError(
            f'navigate_to_place: {name} is given in frame {place.frame_id!r}, arrival can be'
            f' verified in {context.global_frame!r} only; correct places_file',
            status=ResultStatus.INVALID_ARGUMENTS,
        )
    return {'x': place.x, 'y': place.y, 'yaw': place.yaw, 'frame_id': place.frame_id}


@skill(
    output=ManagedOutput,
    title='Drive through poses',
    managed=ManagedAction(action=NAVIGATE_THROUGH_POSES, verifier='waypoints'),
)
def navigate_through_poses(
    context: GoalContext,
    poses: Annotated[
        list[Waypoint],
        Field(min_length=1, max_length=POSES_MAX, description='In the order of the way.'),
    ],
    frame_id: Annotated[str, Field(description='The map frame; no other is accepted.')] = 'map',
) -> dict[str, Any]:
    """Drive the robot by way of poses on the map, in their order, to the last one. It passes near
    the others without stopping; one that it misses makes the whole a failure. Works like
    navigate_to_pose: accepted is not arrived, use wait_for_action to learn the outcome;
    precondition_changed means that nothing was sent.
    """
    if frame_id != context.global_frame:
        raise SkillError(
            f'navigate_through_poses: frame_id: goals are given in {context.global_frame!r}, the'
            f' frame in which arrival can be verified (got {quoted(frame_id)})',
            status=ResultStatus.INVALID_ARGUMENTS,
        )
    return {
        'poses': [
            {'x': float(p.x), 'y': float(p.y), 'yaw': float(p.yaw), 'frame_id': frame_id}
            for p in poses
        ]
    }


@skill(output=ActionOutput, title='Cancel an action', idempotent=True)
async def cancel_action(
    context: SkillContext,
    action_id: Annotated[
        str, Field(description='The action_id of the call that started it; 32 hex digits.')
    ],
) -> ToolResult:
    """Ask the controller to cancel an action of this harness that is under way. The robot stops
    when the controller says so; learn the outcome with wait_for_action. Harmless on an action that
    has ended. This is no emergency stop.
    """
    action = context.board.get(action_id)
    if action is None:
        ended = await recorded(context, action_id)
        return ToolResult(
            ResultStatus.COMPLETED,
            f'nobody follows this action any more; it is {ended.state.value}',
            {'action_id': action_id, 'state': ended.state.value, 'cancel_return_code': None},
        )
    code = await context.tracker.cancel(action_id)
    said = 'the controller did not answer' if code is None else _CANCEL_CODES.get(code, f'{code}')
    current = context.board.get(action_id) or action
    return ToolResult(
        ResultStatus.COMPLETED,
        f'{said}; the action is {current.state.value}',
        {'action_id': action_id, 'state': current.state.value, 'cancel_return_code': code},
    )
