# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the journal of a mission says of its actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import RecordedEvent

SAME_S = 1e-6
"""Two readings of one moment may differ by their rounding."""


class Recorded:
    """Looks, decisions and outcomes, as far as they were recorded.

    :param events: every record of the mission's journal.
    """

    def __init__(self, events: Iterable[RecordedEvent]) -> None:
        self.looks: dict[str, float] = {}
        """Snapshot id: when it was taken, in seconds."""
        self.outcomes: dict[str, dict[str, Any]] = {}
        """Action id: the payload of its first outcome."""
        self._decisions: dict[str, str | None] = {}
        self._calls: dict[str, str] = {}
        self._checks: dict[str, str | None] = {}
        for event in events:
            self._take(event)

    def checked_s(self, action_id: str) -> float | None:
        """Return when the snapshot was taken that an action's preconditions were checked on."""
        return self.looks.get(self._checks.get(action_id) or '')

    def decided_s(self, action_id: str) -> float | None:
        """Return when the snapshot was taken that an action was decided on."""
        return self.looks.get(self._decisions.get(self._calls.get(action_id, '')) or '')

    def _take(self, event: RecordedEvent) -> None:
        payload = event.payload
        if event.type == 'WORLD_SNAPSHOT_CAPTURED' and event.snapshot_id:
            at = payload['snapshot']['captured_monotonic_ns'] / NS_PER_S + SAME_S
            self.looks.setdefault(event.snapshot_id, at)
        elif event.type == 'TOOL_CALL_RECORDED' and event.tool_call_id:
            self._decisions[event.tool_call_id] = payload['decision_snapshot_id']
        elif event.type == 'ROBOT_ACTION_STARTED' and event.action_id:
            self._calls[event.action_id] = event.tool_call_id or ''
            self._checks[event.action_id] = event.snapshot_id
        elif event.type == 'ROBOT_ACTION_OUTCOME' and event.action_id:
            self.outcomes.setdefault(event.action_id, payload)
