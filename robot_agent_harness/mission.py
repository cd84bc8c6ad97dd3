# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a mission is, while it runs and when it is over: judged by evidence, not by what was
claimed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, RobotAction
from robot_agent_harness.mailbox import Mailbox
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.world.world_model import HISTORY_SIZE, WorldModel

VERIFIED_KEPT = 32
"""How many of the goals verified last a mission remembers."""


COUNTED_TOKENS = (
    'input_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'output_tokens',
)
"""What makes up a mission's tokens. Anthropic counts the input that its cache holds apart; others
count it in, and under other names."""


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
    max_wall_time_s: float = 0.0
    """Seconds; 0 = no limit."""
    world_model: bool = True
    """Whether a mission remembers anything."""
    history_size: int = HISTORY_SIZE
    """Decisions that it remembers."""
    projection_max_bytes: int = 2048
    battery_low_fraction: float = 0.2

    def spent(self, mission: Mission) -> bool:
        """Whether a mission has used its tokens up."""
        return 0 < self.max_tokens <= mission.tokens

    def begin(self, mission_id: str, instruction: str) -> Mission:
        """Return a mission that knows nothing yet, and keeps to these bounds to its end."""
        world = WorldModel(history_size=self.history_size) if self.world_model else None
        return Mission(mission_id, instruction, world, self)


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
    """`finished`, `canceled`, `max_steps`, `max_tokens`, `max_wall_time`, `no_decision`,
    `model_error`, `journal_unavailable`, `harness_fault`, `interrupted`."""
    summary: str
    claim: Claim | None
    claim_supported: bool | None
    """Whether verified outcomes support a claim of success; None where nothing was claimed, or no
    action took place that could support it."""
    steps: int
    usage: dict[str, int]


@dataclass(slots=True)
class Mission:
    """A mission under way; nothing of it outlives it but the journal."""

    mission_id: str
    instruction: str
    world: WorldModel | None
    """What it remembers; None where that is switched off."""
    settings: LoopSettings
    """The bounds that held when it began."""
    mailbox: Mailbox = field(default_factory=Mailbox)
    step: int = 0
    claim: Claim | None = None
    usage: dict[str, int] = field(default_factory=dict)
    last: RobotAction | None = None
    """The action that ended last."""
    unreported: list[RobotAction] = field(default_factory=list)
    """Ended actions that the model has not been told of."""
    managed_call: Interest | None = None
    """Whether the managed call that is being carried out is still wanted."""
    _not_done: str | None = None
    """The newest physical decision, where no action came of it."""
    _last_reason: str = ''
    _counts: Counter[ActionState] = field(default_factory=Counter)
    _verified: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=VERIFIED_KEPT))
    """Goals that were seen to be reached."""

    def decided(self, action_id: str | None, **decision: Any) -> None:
        """Remember a managed call and its result, see :meth:`WorldModel.decided`."""
        self._not_done = None
        if action_id is None:
            self._not_done = f'{decision["action"]} ({decision["outcome"]})'
        if self.world is None:
            return
        self.world.decided(action_id=action_id, **decision)
        if self.last is not None and self.last.action_id == action_id:
            self._remember_end(self.world, self.last)  # it ended before its call returned

    @property
    def has_news(self) -> bool:
        """Whether something has happened that the model has not been told of."""
        return bool(self.unreported or self.mailbox)

    def end_action(self, action: RobotAction, reason: str) -> None:
        """Take the outcome of one of the mission's actions in.

        :param reason: why it ended so, in words that may be shown.
        """
        self.last, self._last_reason = action, reason
        self.unreported.append(action)
        self._counts[action.state] += 1
        if action.state is ActionState.SUCCEEDED:
            self._verified.append(action.goal)
        if self.world is not None:
            self._remember_end(self.world, action)

    def _remember_end(self, world: WorldModel, action: RobotAction) -> None:
        world.ended(action.action_id, outcome=action.state.value, reason=self._last_reason)

    def spend(self, usage: Mapping[str, Any]) -> None:
        """Add what one answer of the model cost; what is no count is left out."""
        for key, value in usage.items():
            if isinstance(value, bool) or not isinstance(value, int):
                continue
            self.usage[key] = self.usage.get(key, 0) + value

    @property
    def tokens(self) -> int:
        """Input and output tokens so far, with what the provider counts apart for its cache."""
        return sum(self.usage.get(name, 0) for name in COUNTED_TOKENS)

    def report(self, reason: str, *, under_way: RobotAction | None = None) -> MissionReport:
        """Judge the mission by evidence.

        A claim of success counts only if the last action was verified, and nothing physical was
        decided after it that did not come about. If the last action failed, the claim is wrong,
        unless that says nothing of what was reached: it was called off after a success, or its
        goal had been verified before. Then nobody knows.

        :param under_way: the action that has not ended although it was to.
        """
        last, supported = self.last, None
        if self.claim is not None and self.claim.outcome is MissionOutcome.ACHIEVED and last:
            supported = last.state is ActionState.SUCCEEDED and self._not_done is None
        outcome = self.claim.outcome if self.claim else MissionOutcome.UNKNOWN
        if outcome is MissionOutcome.ACHIEVED and not supported:
            wrong = last is not None and self._contradicts(last)
            outcome = MissionOutcome.NOT_ACHIEVED if wrong else MissionOutcome.UNKNOWN
        return MissionReport(
            mission_id=self.mission_id,
            outcome=outcome,
            reason=reason,
            summary=self._summary(supported, under_way),
            claim=self.claim,
            claim_supported=supported,
            steps=self.step,
            usage=dict(self.usage),
        )

    def _contradicts(self, last: RobotAction) -> bool:
        if last.state is not ActionState.FAILED or last.outcome is None:
            return False
        called_off = last.outcome.reason is OutcomeReason.CANCELED and self._verified
        return not called_off and last.goal not in self._verified

    def _summary(self, supported: bool | None, under_way: RobotAction | None) -> str:
        states = (ActionState.SUCCEEDED, ActionState.FAILED, ActionState.UNKNOWN)
        told = ', '.join(f'{self._counts[state]} {state.value}' for state in states)
        parts = [f'{self._counts.total()} actions ended: {told}']
        if under_way is not None:
            parts.append(
                f'still under way: {under_way.skill} {under_way.state.value}'
                f' (action_id {under_way.action_id})'
            )
        last = self.last
        if last is not None and last.outcome is not None:
            parts.append(
                f'the last: {last.skill} {last.state.value} ({last.outcome.reason.value})'
            )
        if self._not_done is not None:
            parts.append(f'decided last, and not carried out: {self._not_done}')
        if self.claim is not None:
            weight = {True: 'supported', False: 'not supported', None: 'nothing to check it by'}
            parts.append(
                f'the model claims {self.claim.outcome.value} ({weight[supported]}):'
                f' {self.claim.reason}'
            )
        return '; '.join(parts)
