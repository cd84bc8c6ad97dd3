# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller that treats goals as Nav2 does, drives the true robot, and fails as it is told to.

It steers by what the localisation believes, preempts an older goal for a newer one, keeps results
for ten seconds and forgets everything when it dies. Each of its five wire endpoints may lose,
delay or repeat what it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
import math
import random
from typing import Any

from robot_agent_harness.actions.controller import (
    ACTIVE_STATUSES,
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.testing.campaign.faults import Faults
from robot_agent_harness.testing.campaign.robot import TrueRobot
from robot_agent_harness.world.geometry import wrap_angle

LATENCY_S = 0.02
RESULT_KEPT_S = 10.0
NEAR_M, TURNED_RAD = 0.15, 0.15
"""Where it stops; Nav2's own goal checker would let it be 0.25 and 0.25."""
FEEDBACK_TICKS = 4
FLOOD_PER_TICK = 20
BAD_FEEDBACK = {'feedback_zero': 0.0, 'feedback_jump': 1e6, 'feedback_nan': math.nan}
CANCEL_REFUSED, CANCEL_UNKNOWN, CANCEL_ENDED = 1, 2, 3

Say = Callable[[ControllerEvent], None]


@dataclass(slots=True)
class Goal:
    """A goal that the controller has taken."""

    goal_id: str
    x: float
    y: float
    yaw: float
    own: bool
    status: int = int(GoalStatus.ACCEPTED)
    near: bool = False
    ended_s: float = math.inf
    payload: dict[str, Any] | None = None

    @property
    def active(self) -> bool:
        """Whether it has not ended."""
        return self.status in ACTIVE_STATUSES


class FaultyController:
    """The action server; `say` carries its events to whoever listens."""

    def __init__(self, robot: TrueRobot, faults: Faults, *, rng: random.Random, say: Say) -> None:
        self.alive = True
        self.goals: dict[str, Goal] = {}
        self._robot = robot
        self._faults = faults
        self._rng = rng
        self._say = say
        self._asked: set[str] = set()
        self._ticks = 0
        self._hold_until = 0.0
        self._foreign = 0

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def active(self) -> Goal | None:
        """The goal that it drives to."""
        return next((goal for goal in self.goals.values() if goal.active), None)

    # -- what is asked of it ---------------------------------------------------------------------

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Take a goal request from the wire."""
        now = self._now
        if self._faults.at('send_failed', now):
            self._later(0.0, SendFailed(goal_id, 'the request could not be sent'))
        elif self.alive:
            asyncio.get_running_loop().call_later(LATENCY_S, self._take_own, goal_id, goal)

    def request_result(self, goal_id: str) -> None:
        """Answer once the goal has ended; at once if it is not known."""
        if self.alive:
            self._asked.add(goal_id)
            self._answer(goal_id)

    def cancel(self, goal_id: str) -> None:
        """Cancel a goal, if it is running."""
        if not self.alive:
            return
        goal = self.goals.get(goal_id)
        code = 0
        if goal is None:
            code = CANCEL_UNKNOWN
        elif not goal.active:
            code = CANCEL_ENDED
        elif self._faults.at('cancel_refused', self._now):
            code = CANCEL_REFUSED
        self._tell('cancel', CancelResponse(goal_id, code))
        if goal is not None and code == 0:
            goal.status = int(GoalStatus.CANCELING)
            self._publish_status()
            asyncio.get_running_loop().call_later(
                0.2, self._end, goal, GoalStatus.CANCELED, {'error_code': 0}
            )

    def speak_to_newcomer(self) -> None:
        """Say the latched list of goals again, if there ever was one."""
        if self.alive and self.goals:
            self._publish_status()

    # -- what it does ----------------------------------------------------------------------------

    def step(self, now: float) -> None:
        """Let one tick pass."""
        self._ticks += 1
        self._presence(now)
        if not self.alive:
            return
        if self._faults.once('foreign_goal', now):
            self._take_foreign(near=False)
        goal = self.active
        self._robot.goal = None if goal is None else (goal.x, goal.y, goal.yaw)
        if goal is None:
            if now >= self._hold_until:
                self._robot.command = (0.0, 0.0)
            return
        if goal.own and self._interrupt(goal, now):
            return
        self._steer(goal, now)
        if self._ticks % FEEDBACK_TICKS == 0 or self._faults.at('feedback_flood', now):
            self._feedback(goal, now)

    def _presence(self, now: float) -> None:
        blink = self._faults.once('server_blink', now)
        if blink is not None and self.alive:
            self._say(ServerPresence(False))
            asyncio.get_running_loop().call_later(blink.value, self._say, ServerPresence(True))
        for kind in ('server_death', 'server_zombie'):
            fault = self._faults.once(kind, now)
            if fault is None or not self.alive:
                continue
            self.alive = False
            self._say(ServerPresence(False))
            self.goals.clear()
            self._asked.clear()
            if kind == 'server_death':
                self._robot.command = (0.0, 0.0)
            else:  # the base goes on with its last command
                asyncio.get_running_loop().call_later(fault.value / 2, self._halt)
            if math.isfinite(fault.value):
                asyncio.get_running_loop().call_later(fault.value, self._restart)

    def _halt(self) -> None:
        self._robot.command = (0.0, 0.0)

    def _restart(self) -> None:
        self.alive = True
        self._halt()
        self._say(ServerPresence(True))
        self._publish_status()

    def _interrupt(self, goal: Goal, now: float) -> bool:
        """Do what a fault wants done to a running own goal; return whether it has ended."""
        once = self._faults.once
        if once('status_false_success', now):
            self._tell('status', StatusReport(((goal.goal_id, int(GoalStatus.SUCCEEDED)),)))
        if once('result_of_other', now):
            other = f'{self._rng.getrandbits(128):032x}'
            self._tell('result', GoalResult(other, int(GoalStatus.SUCCEEDED), {'error_code': 0}))
        if once('cancel_by_other', now):
            self._end(goal, GoalStatus.CANCELED, {'error_code': 0})
        elif once('false_success', now):
            self._end(goal, GoalStatus.SUCCEEDED, {'error_code': 0})
        elif fault := once('success_driving', now):
            self._hold_until = now + fault.value
            self._end(goal, GoalStatus.SUCCEEDED, {'error_code': 0})
        elif fault := once('abort', now):
            payload = {} if fault.value < 0 else {'error_code': int(fault.value)}
            self._end(goal, GoalStatus.ABORTED, payload)
        elif fault := once('preempt', now):
            self._take_foreign(near=fault.value > 0)
        return not goal.active

    def _steer(self, goal: Goal, now: float) -> None:
        here = self._robot.believed
        distance = math.hypot(goal.x - here.x, goal.y - here.y)
        if distance < NEAR_M:
            goal.near = True
        turn = wrap_angle(goal.yaw - here.yaw)
        if not goal.near:
            heading = wrap_angle(math.atan2(goal.y - here.y, goal.x - here.x) - here.yaw)
            v = min(self._robot.habits.speed_m_s, 0.1 + 0.8 * distance)
            self._robot.command = (v if abs(heading) < 0.4 else 0.0, _clip(2.0 * heading, 1.2))
        elif abs(turn) > TURNED_RAD:
            self._robot.command = (0.0, _clip(2.0 * turn, 1.2))
        else:
            self._arrive(goal, now)

    def _arrive(self, goal: Goal, now: float) -> None:
        faults = self._faults
        if goal.own and faults.at('never_ends', now):
            self._halt()
            return
        there = faults.once('abort_there', now) if goal.own else None
        run_on = faults.once('run_on', now)
        self._halt()
        if there is not None:
            payload = {} if there.value < 0 else {'error_code': 0}
            self._end(goal, GoalStatus.ABORTED, payload)
            return
        if run_on is not None:
            self._robot.command = (0.3, 0.0)
            self._hold_until = now + run_on.value
        self._end(goal, GoalStatus.SUCCEEDED, {'error_code': 0, 'error_msg': ''})

    def _take_own(self, goal_id: str, goal: dict[str, Any]) -> None:
        if not self.alive:
            return
        now = self._now
        if self._faults.at('reject', now):
            self._tell('response', GoalResponse(goal_id, False))
            return
        taken = Goal(goal_id, goal['x'], goal['y'], goal['yaw'], True)
        if self._faults.at('feedback_early', now):
            self._tell('feedback', GoalFeedback(goal_id, {'distance_remaining': 0.0}))
        accepted = self._faults.at('reject_but_run', now) is None
        self._tell('response', GoalResponse(goal_id, accepted))
        self._take(taken)

    def _take_foreign(self, *, near: bool) -> None:
        self._foreign += 1
        here = self._robot.believed
        reach = 0.3 if near else 3.0
        x, y = here.x + reach * math.cos(here.yaw), here.y + reach * math.sin(here.yaw)
        self._take(Goal(f'{self._foreign:032x}'.replace('0', 'f', 8), x, y, here.yaw, False))

    def _take(self, goal: Goal) -> None:
        older = self.active
        self.goals[goal.goal_id] = goal
        goal.status = int(GoalStatus.EXECUTING)
        if older is not None:
            self._end(older, GoalStatus.ABORTED, {})
        self._publish_status()

    def _end(self, goal: Goal, status: GoalStatus, payload: dict[str, Any]) -> None:
        if not goal.active or not self.alive:
            return
        goal.status, goal.ended_s = int(status), self._now
        goal.payload = payload
        if self._now >= self._hold_until and self.active is None:
            self._halt()
        self._publish_status()
        if goal.goal_id in self._asked:
            self._answer(goal.goal_id)

    # -- what it says ----------------------------------------------------------------------------

    def _answer(self, goal_id: str) -> None:
        goal, now = self.goals.get(goal_id), self._now
        if goal is not None and goal.active:
            return
        self._asked.discard(goal_id)
        if goal is None or now - goal.ended_s > RESULT_KEPT_S:
            self._tell('result', GoalResult(goal_id, 0, {'error_code': 0, 'error_msg': ''}))
            return
        status, payload = goal.status, dict(goal.payload or {})
        if fault := self._faults.at('result_status', now):
            status = int(fault.value)
        if fault := self._faults.at('result_error_code', now):
            payload['error_code'] = int(fault.value)
        if self._faults.at('result_empty', now):
            payload = {}
        self._tell('result', GoalResult(goal_id, status, payload))

    def _publish_status(self) -> None:
        listed = tuple(
            (goal.goal_id, goal.status)
            for goal in self.goals.values()
            if goal.active or self._now - goal.ended_s <= RESULT_KEPT_S
        )
        self._tell('status', StatusReport(listed))

    def _feedback(self, goal: Goal, now: float) -> None:
        here = self._robot.believed
        distance = math.hypot(goal.x - here.x, goal.y - here.y)
        for kind, number in BAD_FEEDBACK.items():
            if self._faults.at(kind, now):
                distance = number
        feedback = {'distance_remaining': round(distance, 3), 'number_of_recoveries': 0}
        number = FLOOD_PER_TICK if self._faults.at('feedback_flood', now) else 1
        for _ in range(number):
            self._tell('feedback', GoalFeedback(goal.goal_id, feedback))

    def _tell(self, endpoint: str, event: ControllerEvent) -> None:
        now = self._now
        if self._faults.at(f'{endpoint}_lost', now):
            return
        late = self._faults.at(f'{endpoint}_late', now)
        twice = self._faults.at(f'{endpoint}_twice', now)
        self._later(late.value if late else 0.0, event)
        if twice is not None:
            self._later(twice.value, event)

    def _later(self, seconds: float, event: ControllerEvent) -> None:
        loop = asyncio.get_running_loop()
        if seconds > 0.0:
            loop.call_later(seconds, self._say, event)
        else:
            loop.call_soon(self._say, event)


def _clip(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))
