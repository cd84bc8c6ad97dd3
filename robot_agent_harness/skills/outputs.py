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
    message: str = Field(description='The answer in words.')


class ManagedOutput(CallOutput):
    """What a call that moves the robot answers."""

    action_id: str | None = Field(
        default=None, description='Follow it with wait_for_action; the ROS goal id, 32 hex digits.'
    )
    failed_checks: list[dict[str, Any]] | None = Field(
        default=None,
        description='Preconditions that did not hold: name, measured value, limit, detail.',
    )
    snapshot: dict[str, Any] | None = Field(
        default=None, description='The world as it is now, where the call was refused over it.'
    )
    snapshot_id: str | None = Field(default=None, description='The id of that snapshot.')


class ActionOutput(CallOutput):
    """What is known of an action."""

    action_id: str | None = None
    skill: str | None = None
    goal: dict[str, Any] | None = None
    state: ActionState | None = Field(
        default=None,
        description='SUCCEEDED, FAILED and UNKNOWN are final. UNKNOWN means that nobody can say.',
    )
    reason: OutcomeReason | None = Field(default=None, description='Why it ended so.')
    evidence: dict[str, Any] | None = Field(
        default=None, description='What the controller said and what was measured.'
    )
    feedback: dict[str, Any] | None = Field(
        default=None, description='Newest feedback of a running action; no evidence of arrival.'
    )
    snapshot_id: str | None = Field(
        default=None, description='The world after an ended action: the basis of a next call.'
    )
    snapshot: dict[str, Any] | None = None


class SnapshotOutput(CallOutput):
    """A bounded view of the world."""

    snapshot_id: str | None = Field(
        default=None, description='Names this view as the basis of a later call.'
    )
    snapshot: dict[str, Any] | None = None


class PlacesOutput(CallOutput):
    """The known places."""

    places: list[dict[str, Any]] | None = None
