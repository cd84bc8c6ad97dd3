# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The one result of a tool call (CONTRACT, "MCP", statuses)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class ResultStatus(str, Enum):
    """What became of a call. `accepted` is not success: the physical outcome comes later."""

    COMPLETED = 'completed'
    ACCEPTED = 'accepted'
    REJECTED = 'rejected'
    PRECONDITION_CHANGED = 'precondition_changed'
    ONE_MANAGED_ACTION_PER_STEP = 'one_managed_action_per_step'
    INVALID_ARGUMENTS = 'invalid_arguments'
    UNKNOWN_TOOL = 'unknown_tool'
    UNKNOWN_ACTION = 'unknown_action'
    JOURNAL_UNAVAILABLE = 'journal_unavailable'
    HARNESS_INACTIVE = 'harness_inactive'
    CONTROLLER_UNAVAILABLE = 'controller_unavailable'
    ACCEPTANCE_UNKNOWN = 'acceptance_unknown'
    TOOL_ERROR = 'tool_error'
    INTERRUPTED = 'interrupted'

    @property
    def is_error(self) -> bool:
        """Whether the status is one of the error codes."""
        return self not in (ResultStatus.COMPLETED, ResultStatus.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call returned, once."""

    status: ResultStatus
    message: str
    """One or two sentences that stand on their own."""
    data: dict[str, Any] = field(default_factory=dict)
    """Further keys of the structured result, JSON-ready."""

    @property
    def is_error(self) -> bool:
        """Whether the status is one of the error codes."""
        return self.status.is_error

    @property
    def structured(self) -> dict[str, Any]:
        """The structured result as it is recorded and sent: `status`, `message` and the data."""
        return {'status': self.status.value, 'message': self.message, **self.data}
