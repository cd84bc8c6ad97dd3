# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The structured results of the built-in skills, as output schemas (MCP `outputSchema`).

Only `status` and `message` are always there: every tool may answer with an error.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason
from robot_agent_harness.skills.result import ResultStatus


class CallOutput(BaseModel):
    """What every call answers."""

    model_config = ConfigDict(extra='allow')

    status: ResultStatus = Field(
        description='completed: the call is done. accepted: the controller took the goal, the'
        ' physical outcome comes later. Anything else is an error code.'
    )
    message: str = Field(description='The answer in one or two sentences.')
    recorded: bool | None = Field(
        default=None, description='false where the journal could not take this result yet.'
    )
    artifacts: dict[str, Any] | None = Field(
        default=None,
        description='References (URI, type, size, digest) to what was too large, by key.',
    )


class FailedCheck(BaseModel):
    """One assumption that did not hold."""

    name: str = Field(description='Which one, for instance pose_drift or no_unfinished_action.')
    ok: bool = Field(description='Always false here.')
    measured: Any = Field(description='What was found: metres, seconds, ids; null if unknown.')
    limit: Any = Field(description='What would have been allowed, in the same unit.')
    detail: str | None = Field(default=None, description='The same in words.')


class ManagedOutput(CallOutput):
    """What a call that moves the robot answers."""

    action_id: str | None = Field(
        default=None, description='Follow it with wait_for_action; the ROS goal id, 32 hex digits.'
    )
    failed_checks: list[FailedCheck] | None = Field(
        default=None, description='Why it was refused with precondition_changed.'
    )
    snapshot: dict[str, Any] | None = Field(
        default=None,
        description='The world now, where the call was refused over it: decide from this.',
    )
    snapshot_id: str | None = Field(default=None, description='The id of that snapshot.')
    goal_sent: bool | None = Field(
        default=None,
        description='Whether the goal had left when the call was withdrawn or interrupted.',
    )
    skill: str | None = Field(default=None, description='In the result of a task: what was done.')
    goal: dict[str, Any] | None = Field(
        default=None, description='In the result of a task: the goal, metres and radians.'
    )
    state: ActionState | None = Field(
        default=None, description='In the result of a task: SUCCEEDED, FAILED or UNKNOWN.'
    )
    reason: OutcomeReason | None = Field(
        default=None, description='In the result of a task: why it ended so.'
    )
    evidence: dict[str, Any] | None = Field(
        default=None,
        description='In the result of a task: what the controller said and what was measured.',
    )


class ActionOutput(CallOutput):
    """What is known of an action."""

    action_id: str | None = Field(default=None, description='The action; 32 hex digits.')
    skill: str | None = Field(default=None, description='The tool that started it.')
    goal: dict[str, Any] | None = Field(
        default=None, description='Where to: x and y in metres, yaw in radians, in frame_id.'
    )
    state: ActionState | None = Field(
        default=None,
        description='SUCCEEDED, FAILED and UNKNOWN are final. UNKNOWN means that nobody can say.',
    )
    reason: OutcomeReason | None = Field(
        default=None, description='Why it ended so; null while it goes on.'
    )
    evidence: dict[str, Any] | None = Field(
        default=None, description='What the controller said and what was measured.'
    )
    feedback: dict[str, Any] | None = Field(
        default=None,
        description='Newest feedback of a running action (metres, seconds); no evidence of'
        ' arrival.',
    )
    snapshot_id: str | None = Field(
        default=None, description='The world after an ended action: the basis of a next call.'
    )
    snapshot: dict[str, Any] | None = Field(default=None, description='That world.')
    cancel_return_code: int | None = Field(
        default=None,
        description='Of cancel_action: 0 accepted, 1 refused, 2 unknown goal, 3 already ended;'
        ' null without an answer.',
    )


class SnapshotOutput(CallOutput):
    """A bounded view of the world."""

    snapshot_id: str | None = Field(
        default=None, description='Names this view as the basis of a later call.'
    )
    snapshot: dict[str, Any] | None = Field(
        default=None,
        description='Metres, radians, seconds; each fact with its age and whether it may be'
        ' believed.',
    )


class PlaceOutput(BaseModel):
    """One place."""

    name: str = Field(description='What navigate_to_place takes.')
    x: float = Field(description='Metres, in frame_id.')
    y: float = Field(description='Metres, in frame_id.')
    yaw: float = Field(description='Radians, counter-clockwise from the x axis.')
    frame_id: str = Field(description='The frame of the pose.')
    description: str = Field(description='What is there; may be empty.')


class PlacesOutput(CallOutput):
    """The known places."""

    places: list[PlaceOutput] | None = Field(
        default=None, description='By name, in alphabetical order.'
    )
