# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How the simulated robot treats `navigate_to_pose` goals: as a recorded Nav2, or as faults say.

No ROS here: goals come in, `advance` moves the robot and returns the goals that ended. Two times
are kept apart. *Node time* (`now`, `dt`, in s) paces the protocol: planning, preemption, cancels,
faults. *World time* is `time_scale` times as fast and paces what the robot does: driving,
recoveries, the progress check. The latencies are a Nav2's, less half a tick of 10 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum
import math
from typing import TYPE_CHECKING

from robot_agent_harness.ros.sim_faults import Faults
from robot_agent_harness.ros.sim_world import (
    Path,
    Pose2D,
    pursue,
    Robot,
    turn_towards,
    World,
    wrap_angle,
)

if TYPE_CHECKING:
    from robot_agent_harness.ros.sim_behaviors import SimBehaviors

LOAD_FAILURE_S = 0.002
FRAME_FAILURE_S = 0.1
PLANNING_S = 0.015
REPLANNING_S = 0.055
"""A goal that preempts is planned for only after the controller has taken it over."""
FIRST_CHECK_S = 0.02
PREEMPTION_S = 0.005
CANCELLING_S = 0.01

RECOVERY_S = 0.5
RECOVERIES = 6
"""A goal without a path is given up after so many recoveries of so many s of world time."""
PROGRESS_ALLOWANCE_S = 10.0
"""World time in which the robot has to get ahead by the two below (Nav2's progress checker)."""
PROGRESS_RADIUS_M = 0.5
PROGRESS_ANGLE_RAD = 0.5
YAW_TOLERANCE_RAD = 0.25
FALSE_SUCCESS_SHORT_M = 0.95
"""`false_success` stops at least so far from the goal, which leaves 0.8 m after braking."""
VIA_RADIUS_M = 0.5
"""So near a pose of a tour counts as passed."""
CHARGE_WAIT_S = 2.0
"""Node time in which the current must flow at the dock."""
MAX_STEP_S = 0.02
"""World time of one step of motion and control: small enough for any `time_scale`."""

NO_ERROR = 0
FAILED_TO_MAKE_PROGRESS = 105
GOAL_OUTSIDE_MAP = 204
NO_VALID_PATH = 208
UNKNOWN_ERROR = 9000
FAILED_TO_LOAD_BEHAVIOR_TREE = 9001
TF_ERROR = 9002
DOCK_NOT_IN_DB = 901
FAILED_TO_CHARGE = 906


class Ending(IntEnum):
    """How a goal ended; the values are those of `action_msgs/GoalStatus`."""

    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


@dataclass(frozen=True, slots=True)
class NavGoal:
    """What a client asked for."""

    target: Pose2D | None
    """Goal pose in the map frame; None if its frame is unknown."""
    frame_id: str
    behavior_tree: str = ''
    via: tuple[Pose2D, ...] = ()
    """Poses to come by before, in the map frame."""
    dock: bool = False
    """Whether it ends when the battery charges there, however the robot stands."""
    error_code: int = NO_ERROR
    """Where it is known from the start that it cannot be carried out: why."""
    error_msg: str = ''


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one goal, as it goes on the wire."""

    goal_id: str
    ending: Ending
    error_code: int = NO_ERROR
    error_msg: str = ''


@dataclass(frozen=True, slots=True)
class Progress:
    """The content of one feedback message."""

    goal_id: str
    distance_remaining: float
    """Length of the path that is left, in m; 0.0 before there is one."""
    navigation_time: float
    """Node time since acceptance, in s."""
    estimated_time_remaining: float
    """Node time to the end at the present speed, in s; 0.0 at rest."""
    recoveries: int
    poses_remaining: int = 1


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames that a goal may be given in, and where odometry has its origin."""

    global_frame: str
    odom_frame: str
    base_frame: str
    odom_origin: Pose2D
    """The odometry frame's origin in the map frame: where the robot was started."""

    def to_map(self, frame_id: str, pose: Pose2D, robot: Pose2D) -> Pose2D | None:
        """Return `pose` in the map frame, or None if there is no such frame."""
        if not all(map(math.isfinite, (pose.x, pose.y, pose.yaw))):
            return None
        if frame_id == self.global_frame:
            return pose
        if frame_id == self.odom_frame:
            return self.odom_origin.compose(pose)
        return robot.compose(pose) if frame_id == self.base_frame else None


class _Phase(Enum):
    LOADING = 'loading'  # the goal cannot be taken in, which takes a moment to come out
    PLANNING = 'planning'
    DRIVING = 'driving'
    STOPPING_SHORT = 'stopping_short'  # false_success brakes, then lies
    RECOVERING = 'recovering'
    CHARGING = 'charging'  # at the dock; is there current?
    SILENT = 'silent'  # drop_result: over, and nobody is told


@dataclass(slots=True)
class _Run:
    goal_id: str
    goal: NavGoal
    accepted_at: float
    phase: _Phase = _Phase.PLANNING
    due: float = 0.0
    """Node time of the phase's next event."""
    error: tuple[int, str] = (NO_ERROR, '')
    """Code and text that the goal will end with, however it ends by itself."""
    trip: float = 0.0
    """Length of its first path, in m."""
    position_met: bool = False
    """Latched, as Nav2's goal checker does."""
    recoveries: int = 0
    recovering: float = 0.0
    """World time spent in recoveries, in s."""
    cancel_due: float | None = None
    milestone: Pose2D | None = None
    """Where the robot last was known to get ahead, and for how long it has not since."""
    stalled: float = 0.0
    via: list[Pose2D] = field(default_factory=list)
    """What is left to come by."""


class SimNav2:
    """The navigation stack of the simulated robot: one goal drives, the newest one preempts."""

    def __init__(
        self,
        *,
        world: World,
        robot: Robot,
        faults: Faults,
        time_scale: float = 1.0,
        xy_goal_tolerance_m: float = 0.25,
        charging: Callable[[], bool] = lambda: False,
        behaviors: SimBehaviors | None = None,
    ) -> None:
        self._world = world
        self._robot = robot
        self._faults = faults
        self._time_scale = time_scale
        self._xy_goal_tolerance = xy_goal_tolerance_m
        self._charging = charging
        self._behaviors = behaviors
        self._run: _Run | None = None
        self._waiting: list[_Run] = []
        # A goal that preempts starts on the old one's path, until it has one of its own.
        self._path: Path | None = None
        self._target = robot.pose
        self._pushed = False

    @property
    def busy(self) -> bool:
        """Whether a goal has not ended."""
        return self._run is not None or bool(self._waiting)

    def accept(self, goal_id: str, goal: NavGoal, now: float) -> None:
        """Take a goal over; it starts at once, or preempts the running one a moment later."""
        run = _Run(goal_id, goal, now)
        run.via = [] if self._faults.skip_waypoints else list(goal.via)
        if self._run is None:
            self._start(run, now)
        else:
            self._waiting.append(run)

    def cancel(self, goal_id: str, now: float) -> None:
        """Have a goal end as cancelled a moment later, whatever it does; else do nothing."""
        for run in self._runs():
            if run.goal_id == goal_id and run.cancel_due is None:
                run.cancel_due = now + CANCELLING_S

    def advance(self, now: float, dt: float) -> list[Outcome]:
        """Let `dt` s of node time pass up to `now`; return the goals that ended, in order."""
        outcomes = [*self._preempt(now), *self._end_cancelled(now), *self._end_phase(now)]
        world_dt = dt * self._time_scale
        steps = math.ceil(world_dt / MAX_STEP_S - 1e-9)
        for _ in range(steps):
            outcomes += self._step(world_dt / steps, now)
        return outcomes

    def progress(self, now: float) -> Progress | None:
        """Return what the running goal's feedback says now; None if it would send none."""
        run = self._run
        if run is None or run.phase in (_Phase.LOADING, _Phase.SILENT):
            return None
        distance = 0.0 if self._path is None else self._path.remaining(self._robot.pose)
        speed = abs(self._robot.v) * self._time_scale
        return Progress(
            goal_id=run.goal_id,
            distance_remaining=distance,
            navigation_time=now - run.accepted_at,
            estimated_time_remaining=distance / speed if speed > 0.01 else 0.0,
            recoveries=run.recoveries,
            poses_remaining=len(run.via) + 1,
        )

    def _runs(self) -> list[_Run]:
        return [*([] if self._run is None else [self._run]), *self._waiting]

    def _start(self, run: _Run, now: float) -> None:
        self._run = run
        if run.goal.error_code:
            run.phase, run.due = _Phase.LOADING, now + LOAD_FAILURE_S
            run.error = (run.goal.error_code, run.goal.error_msg)
        elif run.goal.behavior_tree:
            run.phase, run.due = _Phase.LOADING, now + LOAD_FAILURE_S
            run.error = (
                FAILED_TO_LOAD_BEHAVIOR_TREE,
                f'Error loading XML file: {run.goal.behavior_tree}. Navigation canceled.',
            )
        elif run.goal.target is None:
            run.phase, run.due = _Phase.LOADING, now + FRAME_FAILURE_S
            run.error = (
                TF_ERROR,
                'Failed to transform a goal pose provided with frame_id '
                f"'{run.goal.frame_id}' to the global frame.",
            )
        else:
            run.due = now + (PLANNING_S if self._path is None else REPLANNING_S)

    def _preempt(self, now: float) -> Iterator[Outcome]:
        if not self._waiting or now < self._waiting[-1].accepted_at + PREEMPTION_S:
            return
        *superseded, newest = self._runs()
        self._waiting.clear()
        self._start(newest, now)
        for run in superseded:
            yield Outcome(run.goal_id, Ending.ABORTED)

    def _end_cancelled(self, now: float) -> Iterator[Outcome]:
        for run in self._runs():
            if run.cancel_due is None or now < run.cancel_due:
                continue
            if run is self._run:
                self._run = self._path = None
            else:
                self._waiting.remove(run)
            yield Outcome(run.goal_id, Ending.CANCELED)

    def _end_phase(self, now: float) -> Iterator[Outcome]:
        run = self._run
        if run is None or run.phase is _Phase.SILENT:
            return
        if 0.0 < self._faults.abort_after_s <= now - run.accepted_at:
            run.error = (UNKNOWN_ERROR, 'fault.abort_after_s')
            yield from self._end(run, Ending.ABORTED)
        elif run.phase is _Phase.LOADING and now >= run.due:
            if run.goal.target is None and self._path is not None:
                # Recorded: the robot drives on to the preempted goal, under the new goal's id.
                self._drive(run, self._path, now)
            else:
                yield from self._end(run, Ending.ABORTED)
        elif run.phase is _Phase.PLANNING and now >= run.due:
            assert run.goal.target is not None
            self._target = run.goal.target
            yield from self._plan(run, now)

    def _plan(self, run: _Run, now: float) -> Iterator[Outcome]:
        pose, target = self._robot.pose, self._target
        outside = not self._world.inside_map(target.x, target.y)
        points = self._route(pose, [*run.via, target])
        if points is not None:
            self._drive(run, Path(points), now)
            return
        reason = (
            f'Goal Coordinates of({target.x:f}, {target.y:f}) was outside bounds'
            if outside
            else 'Failed to create plan with tolerance of: 0.000000'
        )
        text = (
            f'GridBasedplugin failed to plan from ({pose.x:.2f}, {pose.y:.2f}) '
            f'to ({target.x:.2f}, {target.y:.2f}): "{reason}"'
        )
        self._path = None
        if outside:
            run.error = (GOAL_OUTSIDE_MAP, text)
            yield from self._end(run, Ending.ABORTED)
        else:
            run.phase, run.error = _Phase.RECOVERING, (NO_VALID_PATH, text)

    def _route(self, start: Pose2D, stops: list[Pose2D]) -> list[tuple[float, float]] | None:
        points = [(start.x, start.y)]
        for stop in stops:
            stretch = self._world.plan(points[-1], (stop.x, stop.y))
            if stretch is None:
                return None
            points += stretch[1:]
        return points

    def _drive(self, run: _Run, path: Path, now: float) -> None:
        run.phase, run.due = _Phase.DRIVING, now + FIRST_CHECK_S
        run.trip = run.trip or path.remaining(self._robot.pose)
        self._path = path

    def _end(self, run: _Run, ending: Ending) -> Iterator[Outcome]:
        self._path = None
        if self._faults.drop_result:
            run.phase = _Phase.SILENT
            return
        self._run = None
        yield Outcome(run.goal_id, ending, *run.error)

    def _step(self, dt: float, now: float) -> Iterator[Outcome]:
        """Control and move for one short step of world time."""
        run, behaviors = self._run, self._behaviors
        if behaviors is not None:
            yield from behaviors.step(dt, now)
        if run is not None:
            if self._pushed and not self._robot.pushed and run.phase is _Phase.DRIVING:
                yield from self._plan(run, now)
            if run.phase is _Phase.DRIVING:
                yield from self._check(run, dt, now)
            elif run.phase is _Phase.STOPPING_SHORT and not self._robot.moving:
                yield from self._end(run, Ending.SUCCEEDED)
            elif run.phase is _Phase.CHARGING:
                yield from self._check_charging(run, now)
            elif run.phase is _Phase.RECOVERING:
                run.recovering += dt
                run.recoveries = min(int(run.recovering / RECOVERY_S) + 1, RECOVERIES)
                if run.recovering >= RECOVERIES * RECOVERY_S:
                    yield from self._end(run, Ending.ABORTED)
        self._pushed = self._robot.pushed
        aside = behaviors is not None and behaviors.busy
        speeds = behaviors.speeds() if behaviors and aside else self._wanted_speeds()
        self._robot.step(dt, *speeds)

    def _check_charging(self, run: _Run, now: float) -> Iterator[Outcome]:
        lies = self._faults.false_success and not self._robot.moving
        if self._charging() or lies:
            yield from self._end(run, Ending.SUCCEEDED)
        elif now >= run.due:
            run.error = (FAILED_TO_CHARGE, 'Timed out waiting for charge to start')
            yield from self._end(run, Ending.ABORTED)

    def _check(self, run: _Run, dt: float, now: float) -> Iterator[Outcome]:
        pose, target = self._robot.pose, self._target
        away = pose.distance_to(target.x, target.y)
        while run.via and pose.distance_to(run.via[0].x, run.via[0].y) <= VIA_RADIUS_M:
            run.via.pop(0)
        run.position_met |= away <= self._xy_goal_tolerance and not run.via
        if run.position_met and run.goal.dock:
            run.phase, run.due = _Phase.CHARGING, now + CHARGE_WAIT_S
            return
        if run.position_met:
            turned = abs(wrap_angle(target.yaw - pose.yaw)) <= YAW_TOLERANCE_RAD
            if turned and now >= run.due:
                yield from self._end(run, Ending.SUCCEEDED)
                return
        elif self._faults.false_success:
            assert self._path is not None
            half_way = self._path.remaining(pose) <= run.trip / 2.0
            if half_way or away <= FALSE_SUCCESS_SHORT_M:
                run.phase = _Phase.STOPPING_SHORT
                return
        been = run.milestone
        if (
            been is None
            or been.distance_to(pose.x, pose.y) >= PROGRESS_RADIUS_M
            or abs(wrap_angle(pose.yaw - been.yaw)) >= PROGRESS_ANGLE_RAD
        ):
            run.milestone, run.stalled = pose, 0.0
            return
        run.stalled += dt
        if run.stalled >= PROGRESS_ALLOWANCE_S:
            run.error = (FAILED_TO_MAKE_PROGRESS, 'Failed to make progress')
            yield from self._end(run, Ending.ABORTED)

    def _wanted_speeds(self) -> tuple[float, float]:
        run = self._run
        if run is None or self._path is None or self._faults.emergency_stop:
            return 0.0, 0.0
        if run.phase in (_Phase.STOPPING_SHORT, _Phase.CHARGING):
            return 0.0, 0.0
        if run.phase is _Phase.DRIVING and run.position_met:
            return 0.0, turn_towards(wrap_angle(self._target.yaw - self._robot.pose.yaw))
        return pursue(self._robot.pose, self._path)
