# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal's records about one action."""

from __future__ import annotations

from robot_agent_harness.actions.lifecycle import Outcome, RobotAction
from robot_agent_harness.events import (
    Correlation,
    Event,
    RobotActionOutcome,
    RobotActionProgress,
    WorldSnapshotCaptured,
)
from robot_agent_harness.world.snapshot import WorldSnapshot

Entry = tuple[Event, Correlation]

CANCEL_REQUESTED = 'cancel requested'
"""The note of an action whose controller was asked to cancel it."""


def progress(action: RobotAction, *, late: bool = False, note: str | None = None) -> Entry:
    """Return the record of an action's state and newest feedback."""
    record = RobotActionProgress(
        state=action.state.value, feedback=action.feedback, late=late, note=note
    )
    return record, _ids(action, None)


def outcome_record(action: RobotAction, outcome: Outcome) -> Entry:
    """Return the record of how an action ended."""
    record = RobotActionOutcome(
        state=outcome.state.value,
        reason=outcome.reason.value,
        evidence=outcome.evidence,
        verification_snapshot_id=outcome.verification_snapshot_id,
    )
    return record, _ids(action, outcome.verification_snapshot_id)


def verification_snapshot(action: RobotAction, snapshot: WorldSnapshot) -> Entry:
    """Return the record of the snapshot that an outcome rests on."""
    record = WorldSnapshotCaptured(reason='verification', snapshot=snapshot.to_dict())
    return record, _ids(action, snapshot.snapshot_id)


def _ids(action: RobotAction, snapshot_id: str | None) -> Correlation:
    return Correlation(
        mission_id=action.mission_id,
        turn_id=action.turn_id,
        tool_call_id=action.tool_call_id,
        action_id=action.action_id,
        snapshot_id=snapshot_id,
    )
