# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the journal records: one model per event type, and the ids that tie events together.

A payload key that is published in CONTRACT ("The journal") is never renamed or removed; new ones
may be added. Readers ignore types and keys that they do not know. `SCHEMA_VERSION` goes up when a
reader of the version before could misread what is written now.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class EventType(str, Enum):
    """The types of event; values are those of the `type` column."""

    MISSION_STARTED = 'MISSION_STARTED'
    MODEL_TURN_STARTED = 'MODEL_TURN_STARTED'
    WORLD_SNAPSHOT_CAPTURED = 'WORLD_SNAPSHOT_CAPTURED'
    MODEL_RESPONSE_RECORDED = 'MODEL_RESPONSE_RECORDED'
    TOOL_CALL_RECORDED = 'TOOL_CALL_RECORDED'
    ACTION_PRECONDITION_CHECKED = 'ACTION_PRECONDITION_CHECKED'
    TOOL_RESULT_RECORDED = 'TOOL_RESULT_RECORDED'
    ROBOT_ACTION_STARTED = 'ROBOT_ACTION_STARTED'
    ROBOT_ACTION_PROGRESS = 'ROBOT_ACTION_PROGRESS'
    ROBOT_ACTION_OUTCOME = 'ROBOT_ACTION_OUTCOME'
    SALIENT_EVENT = 'SALIENT_EVENT'
    MISSION_ENDED = 'MISSION_ENDED'
    RECOVERY_PERFORMED = 'RECOVERY_PERFORMED'
    HARNESS_STATE_CHANGED = 'HARNESS_STATE_CHANGED'
    CONTROLLER_EVENT_RECEIVED = 'CONTROLLER_EVENT_RECEIVED'
    SERVICE_EVENT_RECEIVED = 'SERVICE_EVENT_RECEIVED'
    TOOL_CALL_WITHDRAWN = 'TOOL_CALL_WITHDRAWN'
    MISSION_CANCEL_REQUESTED = 'MISSION_CANCEL_REQUESTED'
    COMMIT_WAS_SLOW = 'COMMIT_WAS_SLOW'
    JOURNAL_CONTINUED = 'JOURNAL_CONTINUED'
    RECORD_CARRIED_OVER = 'RECORD_CARRIED_OVER'


@dataclass(frozen=True, slots=True)
class Correlation:
    """The ids that an event belongs to; None where there is none."""

    mission_id: str | None = None
    turn_id: str | None = None
    tool_call_id: str | None = None
    action_id: str | None = None
    snapshot_id: str | None = None


class Event(BaseModel):
    """Base of every payload. Values must be JSON-ready and finite."""

    model_config = ConfigDict(frozen=True, extra='forbid')
    type: ClassVar[EventType]


class MissionStarted(Event):
    """A mission began."""

    type = EventType.MISSION_STARTED
    instruction: str
    robot_id: str
    provider: str
    model: str | None = None
    max_steps: int


class ModelTurnStarted(Event):
    """The model is about to be asked."""

    type = EventType.MODEL_TURN_STARTED
    step: int
    trigger: str
    """`mission_started`, `action_outcome`, `precondition_changed`, or the kind of salient
    event."""
    system_prompt: str
    user_prompt: str
    omitted: list[str] = []
    """What the projection left out to stay within its budget."""
    tools: list[str] = []
    """The names of the tools that the model was offered, in their order."""


class WorldSnapshotCaptured(Event):
    """A snapshot was taken for a purpose."""

    type = EventType.WORLD_SNAPSHOT_CAPTURED
    reason: Literal[
        'model_turn', 'pre_dispatch', 'verification', 'salient_event', 'requested', 'recovery'
    ]
    snapshot: dict[str, Any]


class ModelResponseRecorded(Event):
    """The model answered, or could not be asked."""

    type = EventType.MODEL_RESPONSE_RECORDED
    rationale: str | None
    thinking: str | None
    tool_calls: list[dict[str, Any]]
    """`id`, `name`, `arguments`, and `malformed`: why a call could not be used, else None."""
    usage: dict[str, Any]
    stop_reason: str | None
    provider: str
    model: str | None
    response_id: str | None = None
    raw_content: list[dict[str, Any]] = []
    """The provider's content blocks as received."""
    error: str | None = None
    """Why there is no answer; None where there is one."""
    retryable: bool | None = None
    """Of a failure: whether asking again might have helped."""
    retry_after_s: float | None = None
    """Of a failure: what the provider asked to wait, in seconds, if it did."""
    duration_s: float | None = None
    """Seconds from the question to the answer or the failure."""


class ToolCallRecorded(Event):
    """A call reached the dispatcher."""

    type = EventType.TOOL_CALL_RECORDED
    name: str
    arguments: Any
    """As received, whatever that was."""
    decision_snapshot_id: str | None
    purpose: str | None
    expected_outcome: str | None
    client: dict[str, Any] = {}
    """Who called: `kind` (model, mcp, operator), and the ids that the client used."""
    idempotency: dict[str, str] = {}
    """Digests of the key that the client gave the call (`key`), of what it asked (`request`) and
    of whose remembered keys it counts among (`share`); empty without a key."""
    repeat_of: str | None = None
    """The call that had this key before; this one has its result, or is refused."""
    malformed: str | None = None
    """Why the arguments cannot be used, where that was known before they were looked at."""
    non_finite: list[str] = []
    """Where the arguments held a number that JSON lacks, recorded as text: JSON pointers."""


class ActionPreconditionChecked(Event):
    """The decision's assumptions were compared with a fresh snapshot."""

    type = EventType.ACTION_PRECONDITION_CHECKED
    ok: bool
    decision_snapshot_id: str | None
    fresh_snapshot_id: str
    checks: list[dict[str, Any]]


class ToolResultRecorded(Event):
    """The one result of a call."""

    type = EventType.TOOL_RESULT_RECORDED
    status: str
    is_error: bool
    structured: dict[str, Any]


class RobotActionStarted(Event):
    """The record that authorises a goal; durable before the goal is sent."""

    type = EventType.ROBOT_ACTION_STARTED
    skill: str
    goal: dict[str, Any]
    state: Literal['REQUESTED'] = 'REQUESTED'
    driven: dict[str, str] | None = None
    """Whose goal it is, where it is not `navigate_to_pose`'s: the action's `name` and `type`, and
    the `verifier`."""


class RobotActionProgress(Event):
    """An action changed its state, reported feedback, or was heard of after its end (`late`)."""

    type = EventType.ROBOT_ACTION_PROGRESS
    state: str
    feedback: dict[str, Any] = {}
    late: bool = False
    note: str | None = None


class RobotActionOutcome(Event):
    """How an action ended."""

    type = EventType.ROBOT_ACTION_OUTCOME
    state: str
    reason: str
    evidence: dict[str, Any]
    verification_snapshot_id: str | None


class SalientEvent(Event):
    """Something happened that the model should know of before it decides again."""

    type = EventType.SALIENT_EVENT
    kind: str
    """battery_low, emergency_stop, foreign_goal, localization_jump, clock_jump, human_message,
    ..."""
    message: str
    details: dict[str, Any] = {}


class MissionEnded(Event):
    """A mission is over; `outcome` is judged by evidence, `claim` is what the model said."""

    type = EventType.MISSION_ENDED
    outcome: Literal['achieved', 'not_achieved', 'unknown']
    reason: str
    summary: str
    claim: str | None = None
    claim_supported: bool | None = None
    steps: int
    usage: dict[str, Any] = {}


class RecoveryPerformed(Event):
    """What a start found open from the run before, and how it was closed."""

    type = EventType.RECOVERY_PERFORMED
    interrupted_calls: list[str]
    settled_actions: list[dict[str, Any]]
    ended_missions: list[str]


class JournalContinued(Event):
    """The first record of a file that goes on where another one was closed."""

    type = EventType.JOURNAL_CONTINUED
    predecessor: str
    """Name of the archive that the other file became; it lies in the same folder."""
    predecessor_last_seq: int
    predecessor_last_chain: str
    """Of its last record."""
    carried_over: int
    """How many RECORD_CARRIED_OVER follow."""


class RecordCarriedOver(Event):
    """A record of a file before this one that still matters, quoted: it did not happen again."""

    type = EventType.RECORD_CARRIED_OVER
    record: dict[str, Any]
    """Its columns by name, with the payload as an object."""


class HarnessStateChanged(Event):
    """The harness was configured, took over what an earlier run left (`adopted`), began to close
    that (`recovering`), or is now ready for something else than before.
    """

    type = EventType.HARNESS_STATE_CHANGED
    state: Literal[
        'configured', 'reconfigured', 'adopted', 'recovering', 'active', 'inactive', 'closing'
    ]
    monotonic_ns: int
    """Steady time: with the record's wall time it ties all others of the run to that clock."""
    configuration: dict[str, Any] = {}
    """With `configured`: `version`, `parameters`, the contents of the `skills` and `places` files,
    `reachable` by controller, `use_sim_time`. With `reconfigured`: what has changed."""
    cancel_running: bool | None = None
    """With `closing`: whether actions under way are cancelled."""


class ControllerEventReceived(Event):
    """A controller said something that counts; of feedback that is one a second."""

    type = EventType.CONTROLLER_EVENT_RECEIVED
    controller: str
    event: Literal[
        'goal_response',
        'feedback',
        'status',
        'result',
        'cancel_response',
        'presence',
        'send_failed',
    ]
    said: dict[str, Any]
    """The event's fields, raw; of a status list the goals that are active or our own."""
    monotonic_ns: int
    """Steady time at which it was heard."""
    held: bool = False
    """Whether it was heard before the records in front of it: it counted only later."""
    late: list[str] = []
    """Those of its goals whose outcome had been announced by then, which waits for the disk."""


class ServiceEventReceived(Event):
    """A service came, went, answered a call, or did not."""

    type = EventType.SERVICE_EVENT_RECEIVED
    service: str
    event: Literal['presence', 'response', 'failed']
    said: dict[str, Any]
    """`reachable`; or `response`, of one beyond 64 KiB its `size_bytes` alone; or `code` and
    `message` of what kept it from answering."""
    monotonic_ns: int
    """Steady time at which it was heard."""


class ToolCallWithdrawn(Event):
    """Somebody who wanted a call wants it no longer, while it is under way."""

    type = EventType.TOOL_CALL_WITHDRAWN
    monotonic_ns: int


class MissionCancelRequested(Event):
    """A mission is to end."""

    type = EventType.MISSION_CANCEL_REQUESTED
    reason: str
    """`canceled`, `max_wall_time`, `interrupted`, or what the operator's program gave."""
    monotonic_ns: int


class CommitWasSlow(Event):
    """Records were on disk late: whoever waited for them went on only then.

    Written in front of the next record, so that it costs no commit of its own.
    """

    type = EventType.COMMIT_WAS_SLOW
    first_seq: int
    last_seq: int
    """The records that were waited for are among these; others may have been on disk at once."""
    durable_ns: int
    """Steady time at which they were on disk."""
    waited_s: float
    """Seconds from when the first of them was handed in."""
    monotonic_ns: int
    """Steady time at which this was recorded."""


EVENT_MODELS: dict[EventType, type[Event]] = {
    model.type: model
    for model in (
        MissionStarted,
        ModelTurnStarted,
        WorldSnapshotCaptured,
        ModelResponseRecorded,
        ToolCallRecorded,
        ActionPreconditionChecked,
        ToolResultRecorded,
        RobotActionStarted,
        RobotActionProgress,
        RobotActionOutcome,
        SalientEvent,
        MissionEnded,
        RecoveryPerformed,
        JournalContinued,
        RecordCarriedOver,
        HarnessStateChanged,
        ControllerEventReceived,
        ServiceEventReceived,
        ToolCallWithdrawn,
        MissionCancelRequested,
        CommitWasSlow,
    )
}
"""Each type's payload model."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One row of the journal."""

    seq: int
    schema_version: int
    type: str
    wall_time_ns: int
    ros_time_ns: int | None
    mission_id: str | None
    turn_id: str | None
    tool_call_id: str | None
    action_id: str | None
    snapshot_id: str | None
    payload: dict[str, Any]
    chain: str
