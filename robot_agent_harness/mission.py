# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a mission is, while it runs and when it is over: judged by evidence, not by what was
claimed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.llm.prompting import HistoryEntry


class MissionOutcome(str, Enum):
    """How a mission ended."""

    ACHIEVED = 'achieved'
    NOT_ACHIEVED = 'not_achieved'
    UNKNOWN = 'unknown'


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Bounds of the loop."""

    robot_id: str
    max_steps: int = 50
    max_tokens: int = 0
    """0 = no limit."""
    history_size: int = 10
    """0 = the model is shown no history."""
    projection_max_bytes: int = 2048
    battery_low_fraction: float = 0.2

    def spent(self, mission: Mission) -> bool:
        """Whether a mission has used its tokens up."""
        return 0 < self.max_tokens <= mission.tokens


@dataclass(frozen=True, slots=True)
class Claim:
    """What the model said of the mission when it finished it."""

    outcome: MissionOutcome
    reason: str


@dataclass(frozen=True, slots=True)
class MissionReport:
    """How a mission ended, with what supports it."""

    mission_id: str
    outcome: MissionOutcome
    reason: str
    """`finished`, `canceled`, `max_steps`, `max_tokens`, `no_decision`, `model_error`,
    `journal_unavailable`, `harness_fault`, `interrupted`."""
    summary: str
    claim: Claim | None
    claim_supported: bool | None
    """Whether verified outcomes support a claim of success; None where there was none to
    support."""
    steps: int
    usage: dict[str, int]


@dataclass(slots=True)
class Mission:
    """A mission under way; nothing of it outlives it but the journal."""

    mission_id: str
    instruction: str
    history: deque[HistoryEntry]
    step: int = 0
    claim: Claim | None = None
    usage: dict[str, int] = field(default_factory=dict)
    ended_actions: dict[str, RobotAction] = field(default_factory=dict)
    unreported: list[RobotAction] = field(default_factory=list)
    """Ended actions that the model has not been told of."""
    started_entries: dict[str, HistoryEntry] = field(default_factory=dict)
    """What led to each action that has not ended."""

    def remember(self, action_id: str | None, entry: HistoryEntry) -> None:
        """Add a decision to the history, or hold it until its action has ended."""
        if action_id is None:
            self.history.append(entry)
        elif action_id in self.ended_actions:
            self.history.append(_with_outcome(entry, self.ended_actions[action_id]))
        else:
            self.started_entries[action_id] = entry

    def end_action(self, action: RobotAction) -> None:
        """Take the outcome of one of the mission's actions in."""
        self.ended_actions[action.action_id] = action
        self.unreported.append(action)
        entry = self.started_entries.pop(action.action_id, None)
        if entry is not None:
            self.history.append(_with_outcome(entry, action))

    def spend(self, usage: Mapping[str, Any]) -> None:
        """Add what one answer of the model cost; what is no count is left out."""
        for key, value in usage.items():
            if isinstance(value, bool) or not isinstance(value, int):
                continue
            self.usage[key] = self.usage.get(key, 0) + value

    @property
    def tokens(self) -> int:
        """Input and output tokens so far."""
        return self.usage.get('input_tokens', 0) + self.usage.get('output_tokens', 0)

    def report(self, reason: str) -> MissionReport:
        """Judge the mission. A claim of success counts only if the last action was verified."""
        last = next(reversed(self.ended_actions.values()), None)
        supported = _supported(self.claim, last)
        outcome = self.claim.outcome if self.claim else MissionOutcome.UNKNOWN
        if outcome is MissionOutcome.ACHIEVED and not supported:
            failed = last is not None and last.state is ActionState.FAILED
            outcome = MissionOutcome.NOT_ACHIEVED if failed else MissionOutcome.UNKNOWN
        return MissionReport(
            mission_id=self.mission_id,
            outcome=outcome,
            reason=reason,
            summary=self._summary(last, supported),
            claim=self.claim,
            claim_supported=supported,
            steps=self.step,
            usage=dict(self.usage),
        )

    def _summary(self, last: RobotAction | None, supported: bool | None) -> str:
        counts = {
            state: 0 for state in (ActionState.SUCCEEDED, ActionState.FAILED, ActionState.UNKNOWN)
        }
        for action in self.ended_actions.values():
            counts[action.state] += 1
        told = ', '.join(f'{number} {state.value}' for state, number in counts.items())
        parts = [f'{len(self.ended_actions)} actions: {told}']
        if last is not None and last.outcome is not None:
            parts.append(
                f'the last: {last.skill} {last.state.value} ({last.outcome.reason.value})'
            )
        if self.claim is not None:
            weight = {True: 'supported', False: 'not supported', None: 'nothing to check it by'}
            parts.append(
                f'the model claims {self.claim.outcome.value} ({weight[supported]}):'
                f' {self.claim.reason}'
            )
        return '; '.join(parts)


def _with_outcome(entry: HistoryEntry, action: RobotAction) -> HistoryEntry:
    assert action.outcome is not None
    why = action.outcome.evidence.get('why', '')
    reason = f'{action.outcome.reason.value}: {why}'
    return replace(entry, outcome=action.state.value, reason=reason)


def _supported(claim: Claim | None, last: RobotAction | None) -> bool | None:
    if claim is None or claim.outcome is not MissionOutcome.ACHIEVED or last is None:
        return None
    return last.state is ActionState.SUCCEEDED
