# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Managed calls as tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663).

A client of 2026-07-28 that declares the extension gets a task for a call that started an action,
and need not hold a request open while the robot drives. Everybody else gets the plain result.

The task *is* the action, seen through the journal, and its id is the action's: it survives the
process, and opens nothing that `get_action` and `cancel_action` do not. It is made once the
controller has taken the goal, or has not answered in time; by then the call and the start of the
action are on disk. It belongs to the access token that made it, where there are tokens.

    working    the action has no outcome yet
    completed  it has one. SUCCEEDED is a result; FAILED and UNKNOWN are results with `isError`
    cancelled  it was cancelled, and the controller said so

A call that started nothing (refused, invalid, rejected) is answered at once. `failed` is for
JSON-RPC errors and `input_required` for tools that ask back: neither happens here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from datetime import datetime, timezone
import logging
from typing import Any, Protocol

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import require_client_extension
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from robot_agent_harness.actions.board import FINISHED_KEPT
from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, RobotAction
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.errors import JournalError
from robot_agent_harness.mcp_server.clients import identify
from robot_agent_harness.mcp_server.history import ActionRecord, History
from robot_agent_harness.mcp_server.scopes import require_act
from robot_agent_harness.mcp_server.tools import call_result
from robot_agent_harness.skills.observation import describe, line
from robot_agent_harness.skills.result import ResultStatus, ToolResult

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]

IDENTIFIER = 'io.modelcontextprotocol/tasks'
POLL_INTERVAL_MS = 1000
"""How often a client should ask: feedback changes no faster."""
MARK = 'task'
"""Key of a recorded call's `client` that makes its action a task."""
TASKS_KEPT = FINISHED_KEPT
"""How many tasks are known by heart, whatever becomes of the journal."""
_STARTED = (ResultStatus.ACCEPTED.value, ResultStatus.ACCEPTANCE_UNKNOWN.value)
_STATUS_OF = {
    OutcomeReason.VERIFIED: ResultStatus.COMPLETED,
    OutcomeReason.REJECTED: ResultStatus.REJECTED,
    OutcomeReason.ACCEPTANCE_TIMEOUT: ResultStatus.ACCEPTANCE_UNKNOWN,
    OutcomeReason.INTERRUPTED: ResultStatus.INTERRUPTED,
}
"""What a task's result says of an outcome; of all others `tool_error`."""


class TaskParams(RequestParams):
    """What `tasks/get`, `tasks/update` and `tasks/cancel` name."""

    task_id: str


class Harness(Protocol):
    """What the tasks need of the server around them."""

    def live(self, action_id: str) -> RobotAction | None:
        """Return an action that is in memory."""
        ...

    def shown(self, context: Context, action: RobotAction) -> ToolResult:
        """Return what this client may be told of an action, in the form of a tool's result."""
        ...

    async def cancel(self, context: Context, action_id: str) -> None:
        """Ask the controller to cancel, as a recorded call of this client."""
        ...


class Tasks(Extension):
    """The extension: it wraps `tools/call` and serves the `tasks/` methods."""

    identifier = IDENTIFIER

    def __init__(
        self,
        *,
        managed: Collection[str],
        history: History,
        harness: Harness,
        max_text_bytes: int,
    ) -> None:
        """Take the collaborators.

        :param managed: names of the tools that start actions.
        """
        self._managed = managed
        self._history = history
        self._harness = harness
        self._max_text_bytes = max_text_bytes
        self._newest: OrderedDict[str, ActionRecord] = OrderedDict()
        """Tasks of this process: the file that has them may be rotated away meanwhile."""

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods of the extension."""
        return (
            MethodBinding('tasks/get', TaskParams, self._get),
            MethodBinding('tasks/update', TaskParams, self._update),
            MethodBinding('tasks/cancel', TaskParams, self._cancel),
        )

    def wanted(self, context: Context, tool: str) -> bool:
        """Whether this call becomes a task, should it start an action."""
        return tool in self._managed and _declared(context)

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Context, call_next: CallNext
    ) -> HandlerResult:
        """Return a task instead of the result of a call that started an action."""
        result = await call_next(ctx)
        if not self.wanted(ctx, params.name) or not isinstance(result, CallToolResult):
            return result
        told = result.structured_content or {}
        if told.get('status') not in _STARTED:
            return result
        try:
            record = await self._history.action(str(told['action_id']))
        except JournalError as error:
            # The action is on record; only the task cannot be told of now.
            logger.error('no task for action %s: %s', told['action_id'], error)
            return result
        if record is None or not _of(record, ctx):
            return result  # a repeat of a call that was not made as a task
        self._newest[record.action.action_id] = record
        while len(self._newest) > TASKS_KEPT:
            self._newest.popitem(last=False)
        return {**self._view(ctx, record), 'resultType': 'task'}

    async def _get(self, context: Context, params: TaskParams) -> dict[str, Any]:
        record = await self._known(context, params.task_id)
        return self._view(context, record) | self._result(context, record)

    async def _update(self, context: Context, params: TaskParams) -> dict[str, Any]:
        """Acknowledge: no task of ours asks for input, so that all answers are superfluous."""
        await self._known(context, params.task_id)
        return {}

    async def _cancel(self, context: Context, params: TaskParams) -> dict[str, Any]:
        record = await self._known(context, params.task_id)
        require_act(context, 'tasks/cancel')
        if self._action(record).outcome is None:
            await self._harness.cancel(context, params.task_id)
        return {}

    async def _known(self, context: Context, task_id: str) -> ActionRecord:
        """Return a task of this client.

        :raises MCPError: there is none, or the client did not declare the extension.
        """
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(METHOD_NOT_FOUND, 'Method not found', context.method)
        require_client_extension(context, IDENTIFIER)
        try:
            record = await self._history.action(task_id) or self._newest.get(task_id)
        except JournalError as error:
            record = self._newest.get(task_id)
            if record is None:
                why = f'the journal cannot be read: {error}'
                raise MCPError(INTERNAL_ERROR, why) from error
        if record is None or not _of(record, context):
            # One that is another's looks like one that never was.
            raise MCPError(INVALID_PARAMS, 'Unknown task', {'taskId': task_id[:128]})
        return record

    def _action(self, record: ActionRecord) -> RobotAction:
        """Return the action as it is in memory: its newest records may still wait for the disk."""
        return self._harness.live(record.action.action_id) or record.action

    def _view(self, context: Context, record: ActionRecord) -> dict[str, Any]:
        action = self._action(record)
        return {
            'taskId': action.action_id,
            'status': _status(action),
            'statusMessage': self._harness.shown(context, action).message,
            'createdAt': _iso(record.started_wall_ns),
            'lastUpdatedAt': _iso(record.updated_wall_ns),
            'ttlMs': None,  # the journal forgets nothing until it is rotated
            'pollIntervalMs': POLL_INTERVAL_MS,
        }

    def _result(self, context: Context, record: ActionRecord) -> dict[str, Any]:
        """Return what a completed task adds: the call's result, as it is after the outcome."""
        action = self._action(record)
        if action.outcome is None or _status(action) != 'completed':
            return {}
        shown = self._harness.shown(context, action)
        status = _STATUS_OF.get(action.outcome.reason, ResultStatus.TOOL_ERROR)
        result = ToolResult(status, shown.message, shown.data)
        made = call_result(result, max_text_bytes=self._max_text_bytes)
        return {'result': made.model_dump(by_alias=True, mode='json', exclude_none=True)}


def outcome_of(action: RobotAction) -> ToolResult:
    """Return an action's state and outcome as a tool's result tells of them."""
    known = {key: value for key, value in describe(action).items() if key != 'feedback'}
    return ToolResult(ResultStatus.COMPLETED, line(action), known)


def _status(action: RobotAction) -> str:
    if action.outcome is None:
        return 'working'
    canceled = action.outcome.reason is OutcomeReason.CANCELED
    return 'cancelled' if canceled and action.state is ActionState.FAILED else 'completed'


def _of(record: ActionRecord, context: Context) -> bool:
    """Whether the action was started as a task, by the holder of this client's token."""
    mine = identify(context).record.get('token_subject')
    return record.client.get(MARK) is True and record.client.get('token_subject') == mine


def _declared(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    declared = capabilities.extensions if capabilities else None
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return modern and declared is not None and IDENTIFIER in declared


def _iso(wall_ns: int) -> str:
    moment = datetime.fromtimestamp(wall_ns / NS_PER_S, tz=timezone.utc)
    return moment.isoformat(timespec='milliseconds').replace('+00:00', 'Z')
