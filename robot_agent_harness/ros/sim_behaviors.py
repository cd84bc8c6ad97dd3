# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How the simulated robot turns on the spot and drives straight, as Nav2's behaviour server does.

No ROS here. One behaviour at a time; times as in `sim_nav2`: node time paces cancels and faults,
world time what the robot does. Lengths in m, angles in rad.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from robot_agent_harness.ros.sim_faults import Faults
from robot_agent_harness.ros.sim_nav2 import CANCELLING_S, Ending, NO_ERROR, Outcome, UNKNOWN_ERROR
from robot_agent_harness.ros.sim_world import BRAKING_MPS2, Robot, turn_towards, World, wrap_angle

DONE_RAD = 0.02
LOOK_AHEAD_M = 0.1
"""So far ahead of the robot a wall ends a stretch."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """What a client asked for: a turn or a straight stretch."""

    turn: float = 0.0
    """Counter-clockwise."""
    forward: float = 0.0
    """Negative: backwards."""
    speed: float = 0.1
    """Of a stretch in m/s of world time, not negative."""
    allowance: float = 0.0
    """Longest time that it may take, in s of node time; 0: any."""
    lies_after: float = 0.5
    """Share of it after which it stops where it is to report a success that is none."""
    timeout_code: int = NO_ERROR
    collision_code: int = NO_ERROR


@dataclass(slots=True)
class _Run:
    goal_id: str
    behavior: Behavior
    started_at: float
    done: float = 0.0
    """How much of it has been done, signed as what was asked for."""
    yaw: float = 0.0
    cancel_due: float | None = None
    stopping: bool = False
    """It lies: it brakes half way and will say success."""
    silent: bool = False


class SimBehaviors:
    """Carries out one behaviour at a time."""

    def __init__(self, *, world: World, robot: Robot, faults: Faults) -> None:
        self._world = world
        self._robot = robot
        self._faults = faults
        self._run: _Run | None = None

    @property
    def busy(self) -> bool:
        """Whether a behaviour has not ended."""
        return self._run is not None

    @property
    def done(self) -> float:
        """How much of the running one has been done, not negative; 0.0 without one."""
        return 0.0 if self._run is None else abs(self._run.done)

    @property
    def goal_id(self) -> str | None:
        """The running goal, if there is one that gives feedback."""
        return None if self._run is None or self._run.silent else self._run.goal_id

    def accept(self, goal_id: str, behavior: Behavior, now: float) -> None:
        """Begin; only when none is under way."""
        self._run = _Run(goal_id, behavior, now, yaw=self._robot.pose.yaw)

    def cancel(self, goal_id: str, now: float) -> None:
        """Have it end as cancelled a moment later; else do nothing."""
        run = self._run
        if run is not None and run.goal_id == goal_id and run.cancel_due is None:
            run.cancel_due = now + CANCELLING_S

    def step(self, dt: float, now: float) -> Iterator[Outcome]:
        """Account for what was done since the last step, and end what is over."""
        run = self._run
        if run is None:
            return
        yaw = self._robot.pose.yaw
        behavior = run.behavior
        run.done += wrap_angle(yaw - run.yaw) if behavior.turn else self._robot.v * dt
        run.yaw = yaw
        if run.cancel_due is not None:
            if now >= run.cancel_due:
                self._run = None
                yield Outcome(run.goal_id, Ending.CANCELED)
        elif run.silent:
            return
        elif 0.0 < self._faults.abort_after_s <= now - run.started_at:
            yield from self._end(run, Ending.ABORTED, UNKNOWN_ERROR, 'fault.abort_after_s')
        elif 0.0 < behavior.allowance < now - run.started_at:
            text = 'Exceeded time allowance before reaching the goal'
            yield from self._end(run, Ending.ABORTED, behavior.timeout_code, text)
        elif self._blocked(run):
            yield from self._end(run, Ending.ABORTED, behavior.collision_code, 'Collision Ahead')
        elif run.stopping:
            if not self._robot.moving:
                yield from self._end(run, Ending.SUCCEEDED)
        elif self._faults.false_success and self._lies(run):
            run.stopping = True
        elif abs(run.done) >= abs(self._asked(run)) - (DONE_RAD if behavior.turn else 0.005):
            yield from self._end(run, Ending.SUCCEEDED)

    def speeds(self) -> tuple[float, float]:
        """Return the speed (m/s) and turn rate (rad/s) that it wants now."""
        run = self._run
        stopped = run is None or run.stopping or run.silent or self._faults.emergency_stop
        if run is None or stopped:
            return 0.0, 0.0
        left = self._asked(run) - run.done
        if run.behavior.turn:
            return 0.0, turn_towards(left)
        # Slow enough to stop where it should.
        speed = min(run.behavior.speed, max(0.03, math.sqrt(BRAKING_MPS2 * abs(left))))
        return math.copysign(speed, run.behavior.forward), 0.0

    def _lies(self, run: _Run) -> bool:
        return abs(run.done) >= abs(self._asked(run)) * run.behavior.lies_after

    @staticmethod
    def _asked(run: _Run) -> float:
        return run.behavior.turn or run.behavior.forward

    def _blocked(self, run: _Run) -> bool:
        if run.behavior.turn:
            return False
        pose, ahead = self._robot.pose, math.copysign(LOOK_AHEAD_M, run.behavior.forward)
        x = pose.x + ahead * math.cos(pose.yaw)
        return self._world.touches(x, pose.y + ahead * math.sin(pose.yaw))

    def _end(
        self, run: _Run, ending: Ending, code: int = NO_ERROR, text: str = ''
    ) -> Iterator[Outcome]:
        if self._faults.drop_result:
            run.silent = True
            return
        self._run = None
        yield Outcome(run.goal_id, ending, code, text)
