# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges the start of an action: whether what had been told allowed the goal to be sent."""

from __future__ import annotations

from collections.abc import Iterable
import math

from robot_agent_harness.testing.campaign.ledger import Ledger, Sent
from robot_agent_harness.testing.campaign.recorded import Recorded, SAME_S
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.testing.campaign.signs import (
    AGE_MARGIN_S,
    localizer_dead,
    MARGIN,
    MAX_AGE_S,
    MAX_VARIANCE_M2,
    MOVING_M_S,
)

MIN_BATTERY = 0.2
MAX_DRIFT_M = 0.5
START_LATENCY_S = 1.1
"""How old a check may be when a slow journal lets the goal go."""


class Starts:
    """Says what spoke against sending a goal."""

    def __init__(self, ledger: Ledger, habits: Habits, recorded: Recorded) -> None:
        self._ledger = ledger
        self._habits = habits
        self._recorded = recorded

    def faults(self, sent: Sent) -> Iterable[str]:
        """Say what was wrong with the sending of a goal."""
        ledger, name = self._ledger, f'goal {sent.goal_id[-4:]} at {sent.at_s:.2f} s'
        if not sent.durable:
            yield f'{name} was sent before its start was in the journal'
        checked = self._recorded.checked_s(sent.goal_id)
        if checked is None:
            yield f'{name} has no precondition snapshot in the journal'
            return
        if sent.at_s - checked > START_LATENCY_S:
            yield f'{name} rests on a check {sent.at_s - checked:.1f} s old'
        for problem in self._against_start(sent, checked):
            yield f'{name} was sent although {problem}'
        for other in sent.running:
            # Nobody can see through one that refused a goal and is not heard to drive to it.
            if not (ledger.seen_ended(other, checked) or ledger.refused(other, checked)):
                yield f'{name} was sent while own goal {other[-4:]} was running'

    def _against_start(self, sent: Sent, at_s: float) -> Iterable[str]:
        """Say which precondition did not hold in what the harness had been told."""
        ledger = self._ledger
        estimate, odometry = ledger.estimate(at_s), ledger.odometry_now(at_s)
        limit = MAX_AGE_S + AGE_MARGIN_S
        if estimate is None:
            yield 'no map pose could be believed'
        elif at_s - estimate.measured_s > limit:
            yield f'the map pose was {at_s - estimate.measured_s:.1f} s old'
        elif not (estimate.variance_m2 or 0.0) <= MAX_VARIANCE_M2:  # NaN is no trust either
            yield f'the variance was {estimate.variance_m2}'
        elif localizer_dead(ledger, self._habits, at_s):
            yield 'the localiser had evidently stopped'
        if odometry is None:
            yield 'no odometry could be believed'
        elif at_s - odometry.measured_s > limit:
            yield f'the odometry was {at_s - odometry.measured_s:.1f} s old'
        since = ledger.told_since(at_s)
        battery = [value for at, value in ledger.battery if since <= at <= at_s]
        if battery and not MIN_BATTERY <= battery[-1] <= 1.0:
            yield f'the battery said {battery[-1]}'
        stops = [value for at, value in ledger.stops if since <= at <= at_s]
        if stops and stops[-1]:
            yield 'the emergency stop was engaged'
        if not ledger.reachable(at_s):
            yield 'the controller was away'
        own = {other.goal_id for other in ledger.sent}
        foreign = [goal for goal, _ in ledger.listed(at_s) if goal not in own]
        if foreign:
            yield f'foreign goal {foreign[0][-4:]} was active'
        yield from self._against_previous(sent, at_s)
        yield from self._drift(sent, at_s)

    def _against_previous(self, sent: Sent, at_s: float) -> Iterable[str]:
        ledger = self._ledger
        earlier = [other for other in ledger.sent if other.at_s < sent.at_s]
        for other in earlier:
            ended = ledger.outcomes.get(other.goal_id)
            if ended is None or ended[0] > at_s + SAME_S:
                yield f'action {other.goal_id[-4:]} had no outcome yet'
        if not earlier:
            return
        last = earlier[-1]
        ended = ledger.outcomes.get(last.goal_id)
        if ended is None or ended[1] != 'UNKNOWN' or ended[0] > at_s:
            return
        if not ledger.seen_ended(last.goal_id, at_s):
            yield f'action {last.goal_id[-4:]} was UNKNOWN, with no sign of its end'
        odometry = ledger.odometry_now(at_s)
        if odometry is not None and abs(odometry.speed[0]) > MOVING_M_S:
            yield 'the robot was moving after an UNKNOWN action'

    def _drift(self, sent: Sent, at_s: float) -> Iterable[str]:
        decided = self._recorded.decided_s(sent.goal_id)
        if decided is None:
            yield 'the snapshot of its decision is not in the journal'
            return
        then, now = self._ledger.estimate(decided), self._ledger.estimate(at_s)
        if then is None:
            yield 'no pose was known at the decision'
        elif now is not None:
            drift = math.hypot(now.pose.x - then.pose.x, now.pose.y - then.pose.y)
            if drift > MAX_DRIFT_M + MARGIN:
                yield f'the robot had moved {drift:.2f} m since the decision'
