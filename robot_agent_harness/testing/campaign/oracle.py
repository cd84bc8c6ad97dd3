# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges a mission by what was true, and by what the harness had been told.

A robot can be deceived in ways that nothing on it shows. So a wrong SUCCEEDED is held against the
harness only if what it had been told contradicted the success, or did not suffice for it; a wrong
one behind which every message looked right is counted apart, with its reason. `docs/campaign.md`
has the definitions; the limits here are wider than the harness's own, so that a dispute over a
centimetre is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import Any, Literal

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.testing.campaign.ledger import Ledger, Message, off_goal, Sent
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.world.geometry import compose, inverse, wrap_angle

MARGIN = 0.06
"""Metres and radians that the oracle's own estimate may be off."""
MOVING_M_S, TURNING_RAD_S = 0.08, 0.15
POSES_S = 0.45
"""Over this long the poses must agree on a rest; the harness itself looks back over 0.5 s."""
MAX_VARIANCE_M2 = 0.25
MAX_AGE_S = 1.0
AGE_MARGIN_S = 0.15
CARRY_MAX_M, CARRY_MAX_RAD = 0.8, 0.9
SILENT_S = 1.5
HABIT_FIXES = 8
"""So many poses show the habit of a localiser that speaks at rest."""
"""A localiser that speaks ten times a second, also at rest, is dead after this."""
SMALL_JUMP_M = 0.25
PLAIN_JUMP_M = 0.8
"""Between two poses; the world model itself reports a jump from 0.5 m on."""
CONFLICT_M, CONFLICT_RATIO, CONFLICT_RAD = 1.0, 0.3, 1.2
MIN_BATTERY = 0.2
SAME_S = 1e-6
"""Two readings of one moment may differ by their rounding."""
MAX_DRIFT_M = 0.5
START_LATENCY_S = 1.1
"""How old a check may be when a slow journal lets the goal go."""
STILL_RUNNING_S = 3.0
OUTCOME_DURABLE_S = 2.0
"""How long an outcome may wait for the disk before it is announced without."""

Kind = Literal[
    'false_success', 'deceived', 'unsupported', 'missed', 'undecidable', 'broken', 'running'
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the configuration on trial calls an arrival."""

    xy_m: float
    yaw_rad: float
    verify_s: float
    """How long a robot may take to settle."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the oracle has to say about a mission."""

    kind: Kind
    what: str


@dataclass(frozen=True, slots=True)
class ActionVerdict:
    """One action, with what the oracle makes of its outcome."""

    action_id: str
    state: str
    reason: str
    why: str
    truly_there: bool
    off_m: float
    off_rad: float
    speed_m_s: float


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
        self._habits = habits
        self._looks: dict[str, float] = {}
        self._decisions: dict[str, str | None] = {}
        self._calls: dict[str, str] = {}
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._started: dict[str, dict[str, Any]] = {}
        for event in events:
            self._take(event)
        self.findings: list[Finding] = []
        self.actions: list[ActionVerdict] = []

    def judge(self) -> None:
        """Fill `actions` and `findings`."""
        ids = [sent.goal_id for sent in self._ledger.sent]
        for goal_id in sorted({i for i in ids if ids.count(i) > 1}):
            self._find('broken', f'goal {goal_id[-4:]} was sent more than once')
        for sent in self._ledger.sent:
            self._judge_send(sent)
            self._judge_action(sent)

    def _find(self, kind: Kind, what: str) -> None:
        self.findings.append(Finding(kind, what))

    def _take(self, event: RecordedEvent) -> None:
        payload = event.payload
        if event.type == 'WORLD_SNAPSHOT_CAPTURED' and event.snapshot_id:
            at = payload['snapshot']['captured_monotonic_ns'] / NS_PER_S + SAME_S
            self._looks.setdefault(event.snapshot_id, at)
        elif event.type == 'TOOL_CALL_RECORDED' and event.tool_call_id:
            self._decisions[event.tool_call_id] = payload['decision_snapshot_id']
        elif event.type == 'ROBOT_ACTION_STARTED' and event.action_id:
            self._calls[event.action_id] = event.tool_call_id or ''
            self._started[event.action_id] = {'snapshot_id': event.snapshot_id}
        elif event.type == 'ROBOT_ACTION_OUTCOME' and event.action_id:
            self._outcomes.setdefault(event.action_id, payload)

    # -- before the act --------------------------------------------------------------------------

    def _judge_send(self, sent: Sent) -> None:
        ledger, name = self._ledger, f'goal {sent.goal_id[-4:]} at {sent.at_s:.2f} s'
        if not sent.durable:
            self._find('broken', f'{name} was sent before its start was in the journal')
        checked = self._looks.get(self._started.get(sent.goal_id, {}).get('snapshot_id') or '')
        if checked is None:
            self._find('broken', f'{name} has no precondition snapshot in the journal')
            return
        if sent.at_s - checked > START_LATENCY_S:
            self._find('broken', f'{name} rests on a check {sent.at_s - checked:.1f} s old')
        for problem in self._against_start(sent, checked):
            self._find('broken', f'{name} was sent although {problem}')
        for other in sent.running:
            # Nobody can see through one that refused a goal and is not heard to drive to it.
            if not (ledger.seen_ended(other, checked) or ledger.refused(other, checked)):
                self._find('broken', f'{name} was sent while own goal {other[-4:]} was running')

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
        elif self._localizer_dead(at_s):
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
        decision = self._decisions.get(self._calls.get(sent.goal_id, ''))
        decided = self._looks.get(decision or '')
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

    # -- after the act ---------------------------------------------------------------------------

    def _judge_action(self, sent: Sent) -> None:
        outcome = self._outcomes.get(sent.goal_id)
        name = f'action {sent.goal_id[-4:]}'
        if outcome is None:
            self._find('broken', f'{name} has no outcome')
            return
        look = self._looks.get(outcome.get('verification_snapshot_id') or '')
        announced = self._ledger.outcomes.get(sent.goal_id)
        at_s = look if look is not None else (announced[0] if announced else sent.at_s)
        truth = self._ledger.truth_at(at_s)
        off_m, off_rad = off_goal(truth.pose, sent.goal)
        moving = self._truly_moving(at_s)
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
        against = list(self._against_success(sent, at_s, strict=False))
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
                if self._truly_moving(moment):
                    return
                lacking += self._against_success(sent, moment, strict=True)
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

    def _against_success(self, sent: Sent, at_s: float, *, strict: bool) -> Iterable[str]:
        """Say what spoke against a success, or what was missing for it.

        :param strict: name also what only weakens the evidence, to find missed successes.
        """
        ledger = self._ledger
        ends = ledger.ended_statuses(sent.goal_id, at_s)
        good = [at for at, status in ends if status == GoalStatus.SUCCEEDED]
        if not good:
            yield 'no word of success for this goal'
            return
        begin = min(good)
        if ends[0][1] != GoalStatus.SUCCEEDED:
            yield f'the controller first said {GoalStatus.name_of(ends[0][1])}'
        code = ledger.error_code(sent.goal_id, at_s)
        if code:
            yield f'the result had error_code {code}'
        yield from self._against_pose(sent, at_s, begin, strict=strict)
        yield from self._against_rest(at_s, begin, strict=strict)
        yield from self._against_trip(sent, at_s, strict=strict)

    def _against_pose(
        self, sent: Sent, at_s: float, begin: float, *, strict: bool
    ) -> Iterable[str]:
        estimate = self._ledger.estimate(at_s)
        if estimate is None:
            yield 'no map pose could be believed'
            return
        age = at_s - estimate.measured_s
        if estimate.measured_s < begin - AGE_MARGIN_S or age > MAX_AGE_S + AGE_MARGIN_S:
            yield f'no pose from after the end: the newest was {age:.1f} s old'
        if strict and (estimate.measured_s < begin + 0.1 or age > MAX_AGE_S / 2):
            yield 'the pose is not quite fresh'
        margin = -MARGIN if strict else MARGIN
        off_m, off_rad = off_goal(estimate.pose, sent.goal)
        if off_m > self._limits.xy_m + margin or off_rad > self._limits.yaw_rad + margin:
            yield f'the pose said {off_m:.2f} m and {off_rad:.2f} rad off'
        variance = estimate.variance_m2
        if variance is not None and not variance <= MAX_VARIANCE_M2:
            yield f'the variance was {variance}'
        if self._localizer_dead(at_s, strict=strict):
            yield 'the localiser had evidently stopped'

    def _against_rest(self, at_s: float, begin: float, *, strict: bool) -> Iterable[str]:
        odometry = self._ledger.odometry_now(at_s)
        fresh = odometry is not None and odometry.measured_s >= begin - AGE_MARGIN_S
        if strict and odometry is not None:
            fresh = fresh and at_s - odometry.measured_s <= MAX_AGE_S / 2
        poses = [
            message
            for message in self._ledger.localizer(at_s).since(at_s - POSES_S, at_s)
            if message.valid and message.measured_s >= at_s - POSES_S
        ]
        if not fresh and len(poses) < 3:
            yield 'no word on whether the robot rested'
        if fresh and odometry is not None:
            v, w = odometry.speed
            if abs(v) > MOVING_M_S or abs(w) > TURNING_RAD_S:
                yield f'odometry said {v:.2f} m/s and {w:.2f} rad/s'
        if len(poses) >= 3:
            first, last = poses[0].pose, poses[-1].pose
            moved = math.hypot(last.x - first.x, last.y - first.y)
            if moved > 0.15 + 8 * self._habits.pose_noise_m:
                yield f'the poses of the last {POSES_S} s moved {moved:.2f} m'
            if strict and not fresh and self._hides_creeping(poses):
                yield 'the poses alone scatter too much to tell rest from creeping'

    def _hides_creeping(self, poses: list[Message]) -> bool:
        """Whether the noise of poses is as large as what the slowest motion would show."""
        last = poses[-1]
        scatter = max(math.hypot(last.pose.x - m.pose.x, last.pose.y - m.pose.y) for m in poses)
        noise = 3.0 * math.sqrt(2.0) * self._habits.pose_noise_m  # of a difference of two
        passed_s = last.measured_s - poses[0].measured_s
        return max(scatter, noise) > MOVING_M_S * passed_s

    def _against_trip(self, sent: Sent, at_s: float, *, strict: bool) -> Iterable[str]:
        """Compare where odometry alone would have carried the robot with where the map has it."""
        ledger = self._ledger
        begin = sent.at_s
        if not any(life[0] <= sent.at_s < at_s <= life[1] for life in ledger.lives):
            begin = ledger.followed_since(sent.at_s, at_s)
        then, now = ledger.estimate(begin), ledger.estimate(at_s)
        rolled = (ledger.odometry_now(begin), ledger.odometry_now(at_s))
        broken = begin >= at_s or ledger.reset_between(begin, at_s)
        if broken or not (then and now and rolled[0] and rolled[1]):
            if strict:
                yield 'the trip cannot be compared'
            return
        trip = compose(inverse(rolled[0].pose), rolled[1].pose)
        expected = compose(then.pose, trip)
        apart = math.hypot(expected.x - now.pose.x, expected.y - now.pose.y)
        turned = abs(wrap_angle(expected.yaw - now.pose.yaw))
        if turned > (0.2 if strict else CONFLICT_RAD):
            yield f'the map has it turned {turned:.2f} rad from what odometry says'
        limit = CONFLICT_M + CONFLICT_RATIO * math.hypot(trip.x, trip.y)
        if apart > limit * (0.3 if strict else 1.0):
            yield f'the map has it {apart:.2f} m from where odometry brought it'
        jump = ledger.largest_jump_m(begin, at_s)
        if jump > PLAIN_JUMP_M and apart > PLAIN_JUMP_M:
            yield f'the localisation jumped by {jump:.2f} m, and stayed there'
        if strict and jump > SMALL_JUMP_M:
            yield 'the localisation jumped'

    def _localizer_dead(self, at_s: float, *, strict: bool = False) -> bool:
        """Whether a localiser's silence shows that it has stopped."""
        estimate = self._ledger.estimate(at_s)
        if estimate is None:
            return False
        if self._habits.localizer != 'amcl' and self._ledger.fixes(at_s) >= HABIT_FIXES:
            limit = SILENT_S / 3 if strict else SILENT_S
            return at_s - estimate.fixed_s > limit
        share = 0.5 if strict else 1.0
        far = estimate.carried_m > share * CARRY_MAX_M
        return far or estimate.turned_rad > share * CARRY_MAX_RAD

    def _truly_moving(self, at_s: float) -> bool:
        return all(
            tick.speed_m_s > MOVING_M_S or tick.turn_rad_s > TURNING_RAD_S
            for tick in (self._ledger.truth_at(at_s - back) for back in (0.0, 0.15, 0.3))
        )

    def _deception(self, sent: Sent, at_s: float) -> str:
        """Say what the harness was deceived by."""
        if self._truly_moving(at_s):
            return 'it moved, and no message showed that'
        estimate = self._ledger.estimate(at_s)
        truth = self._ledger.truth_at(at_s).pose
        assert estimate is not None
        wrong = math.hypot(estimate.pose.x - truth.x, estimate.pose.y - truth.y)
        off_m, _ = off_goal(truth, sent.goal)
        if off_m < self._limits.xy_m + 0.15:
            return f'at the edge, the localisation {wrong:.2f} m wrong'
        return f'the localisation was {wrong:.2f} m wrong, and nothing showed it'
