# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges a mission by what was true, and by what the harness had been told.

A robot can be deceived in ways that nothing on it shows. So a wrong SUCCEEDED is held against the
harness only if what it had been told contradicted the success, or did not suffice for it; a wrong
one behind which every message looked right is counted apart, with its reason. `docs/campaign.md`
has the definitions.
"""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.testing.campaign.ledger import Ledger, off_goal, Sent
from robot_agent_harness.testing.campaign.recorded import Recorded
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.testing.campaign.signs import truly_moving
from robot_agent_harness.testing.campaign.starts import Starts
from robot_agent_harness.testing.campaign.successes import Successes
from robot_agent_harness.testing.campaign.verdicts import ActionVerdict, Finding, Kind, Limits

STILL_RUNNING_S = 3.0
OUTCOME_DURABLE_S = 2.0
"""How long an outcome may wait for the disk before it is announced without."""


class Oracle:
    """Judges one mission after its end.

    :param events: every record of its journal.
    """

    def __init__(
        self,
        ledger: Ledger,
        habits: Habits,
        limits: Limits,
        events: Iterable[RecordedEvent],
    ) -> None:
        self._ledger = ledger
        self._limits = limits
        self._recorded = Recorded(events)
        self._starts = Starts(ledger, habits, self._recorded)
        self._successes = Successes(ledger, habits, limits)
        self.findings: list[Finding] = []
        self.actions: list[ActionVerdict] = []

    def judge(self) -> None:
        """Fill `actions` and `findings`."""
        ids = [sent.goal_id for sent in self._ledger.sent]
        for goal_id in sorted({i for i in ids if ids.count(i) > 1}):
            self._find('broken', f'goal {goal_id[-4:]} was sent more than once')
        for sent in self._ledger.sent:
            for fault in self._starts.faults(sent):
                self._find('broken', fault)
            self._judge_action(sent)

    def _find(self, kind: Kind, what: str) -> None:
        self.findings.append(Finding(kind, what))

    def _judge_action(self, sent: Sent) -> None:
        outcome = self._recorded.outcomes.get(sent.goal_id)
        name = f'action {sent.goal_id[-4:]}'
        if outcome is None:
            self._find('broken', f'{name} has no outcome')
            return
        look = self._recorded.looks.get(outcome.get('verification_snapshot_id') or '')
        announced = self._ledger.outcomes.get(sent.goal_id)
        at_s = look if look is not None else (announced[0] if announced else sent.at_s)
        truth = self._ledger.truth_at(at_s)
        off_m, off_rad = off_goal(truth.pose, sent.goal)
        moving = truly_moving(self._ledger, at_s)
        there = off_m <= self._limits.xy_m and off_rad <= self._limits.yaw_rad and not moving
        state, reason = outcome['state'], outcome['reason']
        why = str(outcome['evidence'].get('why', ''))
        self.actions.append(
            ActionVerdict(sent.goal_id, state, reason, why, there, off_m, off_rad, truth.speed_m_s)
        )
        told = f'{name} {state} ({reason}), truly {off_m:.2f} m and {off_rad:.2f} rad off'
        told += f', moving {truth.speed_m_s:.2f} m/s' if moving else ''
        if announced is not None and announced[1] != state:
            self._judge_lost(announced, name, state)
        elif state == 'SUCCEEDED':
            self._judge_success(sent, at_s, there, told)
        else:
            self._judge_other(sent, at_s, told)
        if announced is not None:
            self._judge_running(sent, announced[0], told)

    def _judge_lost(
        self, announced: tuple[float, str, str, dict[str, Any]], name: str, state: str
    ) -> None:
        """Judge an outcome that a run told and a later one recorded otherwise.

        What a locked journal did not take until the run was stopped is lost, as docs/journal.md
        says: the next run cannot know what was told, and neither is it held against it.
        """
        at_s, told, _, _ = announced
        end = min(end for _, end in self._ledger.lives if end >= at_s)
        if not self._ledger.locked(at_s - OUTCOME_DURABLE_S, end):
            self._find('broken', f'{name} was announced as {told} and recorded as {state}')

    def _judge_success(self, sent: Sent, at_s: float, there: bool, told: str) -> None:
        against = list(self._successes.against(sent, at_s, strict=False))
        missing = [text for text in against if text.startswith('no ')]
        if there:
            if missing:
                self._find('unsupported', f'{told}: {"; ".join(missing)}')
        elif against:
            self._find('false_success', f'{told}: {"; ".join(against)}')
        else:
            self._find('deceived', f'{told}: {self._deception(sent, at_s)}')

    def _judge_other(self, sent: Sent, at_s: float, told: str) -> None:
        """Find a success that was missed: truly there, with nothing that spoke against it.

        With something that did, or that was missing, nobody could have known it: undecidable.
        """
        ledger = self._ledger
        ends = ledger.ended_statuses(sent.goal_id, math.inf)
        announced = ledger.outcomes.get(sent.goal_id)
        if not ends or announced is None or ends[0][0] > announced[0]:
            return
        begin = ends[0][0]
        if any(status != GoalStatus.SUCCEEDED for _, status in ends):
            return
        if ledger.error_code(sent.goal_id, math.inf):
            return
        if any(begin - 0.5 < end < begin + self._limits.verify_s for _, end in ledger.lives):
            return
        if any(
            sent.at_s - 1.0 < jump < begin + self._limits.verify_s for jump in ledger.clock_jumps
        ):
            return
        lacking: list[str] = []
        for later_s in (0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 4.0):
            moment = begin + later_s
            truth = ledger.truth_at(moment)
            off_m, off_rad = off_goal(truth.pose, sent.goal)
            if off_m > self._limits.xy_m or off_rad > self._limits.yaw_rad:
                return
            if later_s >= 1.0:
                if truly_moving(self._ledger, moment):
                    return
                lacking += self._successes.against(sent, moment, strict=True)
        if lacking:
            self._find('undecidable', f'{told}: {lacking[0]}')
        else:
            self._find('missed', told)

    def _judge_running(self, sent: Sent, at_s: float, told: str) -> None:
        """Report an action that has ended for the harness while the controller drives on."""
        later = at_s + STILL_RUNNING_S
        truth = self._ledger.truth
        if truth[-1].at_s >= later and self._ledger.truth_at(later).running == sent.goal_id:
            self._find('running', told)

    def _deception(self, sent: Sent, at_s: float) -> str:
        """Say what the harness was deceived by."""
        if truly_moving(self._ledger, at_s):
            return 'it moved, and no message showed that'
        estimate = self._ledger.estimate(at_s)
        truth = self._ledger.truth_at(at_s).pose
        assert estimate is not None
        wrong = math.hypot(estimate.pose.x - truth.x, estimate.pose.y - truth.y)
        off_m, _ = off_goal(truth, sent.goal)
        if off_m < self._limits.xy_m + 0.15:
            return f'at the edge, the localisation {wrong:.2f} m wrong'
        return f'the localisation was {wrong:.2f} m wrong, and nothing showed it'
