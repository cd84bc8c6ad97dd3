# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a ROS 2 node: state topics, Nav2's actions, faults as parameters.

One timer on the steady clock does everything, in one thread. Goals are coroutines that wait for
futures which the timer completes, so nothing blocks and odometry never pauses. Stamps and the time
by which the robot moves come from the node's clock, so that twists agree with stamped poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
import math
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

from action_msgs.msg import GoalStatus
from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.action.server import (
    ActionServer,
    CancelResponse,
    GoalEvent,
    GoalResponse,
    ServerGoalHandle,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.sim_actions import (
    behavior_feedback,
    navigation_feedback,
    result,
    Served,
    served,
)
from robot_agent_harness.ros.sim_behaviors import Behavior, SimBehaviors
from robot_agent_harness.ros.sim_faults import Faults
from robot_agent_harness.ros.sim_nav2 import Ending, Frames, Outcome, SimNav2
from robot_agent_harness.ros.sim_parameters import checked_change, declare_settings, FAULT
from robot_agent_harness.ros.sim_topics import Every, StateTopics
from robot_agent_harness.ros.sim_world import Battery, default_world, Pose2D, Robot, World

_MIN_TICK_HZ = 20.0
_MAX_TICK_S = 1.0
"""More node time than this at once is a jump of the clock or a stopped machine, not motion."""
_BATTERY_AT_START = 0.9
_RESULT_TIMEOUT_S = 10
_NS_PER_S = 1_000_000_000


class _Nav2OrderServer(ActionServer):
    """Announces EXECUTING before it answers the goal request, as Nav2's C++ server does.

    rclpy answers first and then announces ACCEPTED and EXECUTING. `add_future` is its one public
    call between taking a goal on and answering; should that change, rclpy's own order remains.
    """

    def add_future(self, future: Future[Any]) -> None:
        """Take on the future of a new goal's result."""
        super().add_future(future)
        newest = next(reversed(self._goal_handles.values()))
        if newest.status == GoalStatus.STATUS_ACCEPTED:
            newest._update_state(GoalEvent.EXECUTE)


class SimRobotNode(Node):
    """Publishes a simulated robot's state and carries out the goals that it is given.

    :raises ConfigurationError: a parameter is unknown or its value cannot be used.
    """

    def __init__(self) -> None:
        super().__init__('sim_robot', automatically_declare_parameters_from_overrides=True)
        try:
            settings = declare_settings(self)
            world = default_world()
            start = _start_pose(world, settings)
            self._frames = _frames(settings, start)
        except ConfigurationError:
            self.destroy_node()
            raise
        self._scale: float = settings['time_scale']
        self._faults = Faults()
        self._robot = Robot(world=world, pose=start)
        self._battery = Battery(world=world, fraction=_BATTERY_AT_START)
        self._behaviors = SimBehaviors(world=world, robot=self._robot, faults=self._faults)
        self._nav = SimNav2(
            world=world,
            robot=self._robot,
            faults=self._faults,
            time_scale=self._scale,
            xy_goal_tolerance_m=settings['xy_goal_tolerance_m'],
            charging=lambda: self._battery.charging,
            behaviors=self._behaviors,
        )
        self._topics = StateTopics(
            node=self,
            robot=self._robot,
            battery=self._battery,
            faults=self._faults,
            frames=self._frames,
            time_scale=self._scale,
            rates_hz=(settings['odom_rate_hz'], settings['localization_rate_hz']),
        )
        self._served = served(world=world, robot=self._robot, frames=self._frames)
        self._feedback = {
            name: self._served[name].type.Feedback()
            for name in ('navigate_to_pose', 'navigate_through_poses')
        }
        for message in self._feedback.values():
            message.current_pose.header.frame_id = self._frames.global_frame
        self._feedback_due = Every(1.0 / settings['feedback_rate_hz'])
        self._crash_at = math.inf
        self._handles: dict[str, tuple[Served, ServerGoalHandle]] = {}
        self._outcomes: dict[str, Future[Outcome]] = {}
        self._delayed: list[tuple[float, Future[None]]] = []

        self._topics.publish_emergency_stop()
        self._apply_faults(settings)
        self.add_post_set_parameters_callback(
            lambda changed: self._apply_faults({p.name: p.value for p in changed})
        )
        idle_hz = max(settings['odom_rate_hz'], settings['localization_rate_hz'], _MIN_TICK_HZ)
        self._idle_tick_ns = round(_NS_PER_S / idle_hz)
        self._busy_tick_ns = round(_NS_PER_S / max(idle_hz, settings['feedback_rate_hz']))
        self._last_ns = self.get_clock().now().nanoseconds
        self._servers = {name: self._serve(action) for name, action in self._served.items()}
        self._tick_timer = self.create_timer(
            self._idle_tick_ns / _NS_PER_S,
            self._tick,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self.get_logger().info(
            f'sim_robot ready: {len(self._served)} actions served, {self._scale:g}x real time, '
            f'robot in the {world.room_at(start.x, start.y)} at ({start.x:.2f}, {start.y:.2f})'
        )

    def set_parameters(self, parameter_list: list[Parameter[Any]]) -> list[SetParametersResult]:
        """Change parameters one by one; what the services and rclpy's own method come to."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(
        self, parameter_list: list[Parameter[Any]]
    ) -> SetParametersResult:
        """Change all of the parameters or none."""
        try:
            changes = [checked_change(parameter) for parameter in parameter_list]
        except ConfigurationError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically(changes)

    def _serve(self, action: Served) -> _Nav2OrderServer:
        return _Nav2OrderServer(
            self,
            action.type,
            action.name,
            partial(self._execute, action),
            # A delayed acceptance must not hold up the requests that come after it.
            callback_group=ReentrantCallbackGroup(),
            goal_callback=partial(self._decide, action),
            handle_accepted_callback=partial(self._start, action),
            cancel_callback=self._cancel,
            result_timeout=_RESULT_TIMEOUT_S,
        )

    def _apply_faults(self, changed: dict[str, Any]) -> None:
        for name, value in changed.items():
            if not name.startswith(FAULT):
                continue
            setattr(self._faults, name.removeprefix(FAULT), value)
            if name == 'fault.push_x_m':
                self._robot.push(value)
            elif name == 'fault.crash_after_s':
                self._crash_at = time.monotonic() + value if value > 0.0 else math.inf
            elif name == 'fault.emergency_stop':
                self._topics.publish_emergency_stop()
            elif name == 'fault.battery_fraction':
                self._topics.publish_battery()

    def _tick(self) -> None:
        now, ros_now = time.monotonic(), self.get_clock().now()
        if now >= self._crash_at:
            os._exit(1)
        dt = (ros_now.nanoseconds - self._last_ns) / _NS_PER_S
        self._last_ns = ros_now.nanoseconds
        dt = min(max(dt, 0.0), _MAX_TICK_S)
        self._answer_delayed(now)
        for outcome in self._nav.advance(now, dt):
            self._finish(outcome)
        self._battery.step(dt * self._scale, self._robot, current=not self._faults.no_charge)
        self._topics.publish_due(now, ros_now.to_msg())
        busy = self._nav.busy or self._behaviors.busy
        if busy and self._feedback_due.due(now):
            self._publish_feedback(now)
        self._set_tick(self._busy_tick_ns if busy else self._idle_tick_ns)

    def _set_tick(self, period_ns: int) -> None:
        if self._tick_timer.timer_period_ns != period_ns:
            self._tick_timer.timer_period_ns = period_ns
            self._tick_timer.reset()

    async def _decide(self, action: Served, _request: Any) -> GoalResponse:
        if self._faults.accept_delay_s > 0.0:
            answer: Future[None] = Future()
            self._delayed.append((time.monotonic() + self._faults.accept_delay_s, answer))
            await answer
        # A newer goal replaces one of the same navigator's; nothing else does two things at once.
        others = any(other.name != action.name for other, _ in self._handles.values())
        refused = self._faults.reject_goals or others or self._behaviors.busy
        return GoalResponse.REJECT if refused else GoalResponse.ACCEPT

    def _answer_delayed(self, now: float) -> None:
        for due, answer in self._delayed:
            if now >= due:
                answer.set_result(None)
        self._delayed = [item for item in self._delayed if not item[1].done()]

    def _start(self, action: Served, handle: ServerGoalHandle) -> None:
        goal_id, now = _hex(handle), time.monotonic()
        goal = action.goal(handle.request)
        self.get_logger().info(f'goal {goal_id}: {action.name}')
        self._handles[goal_id] = action, handle
        self._outcomes[goal_id] = Future()
        if handle.status == GoalStatus.STATUS_ACCEPTED:
            handle.execute()
        else:
            self._servers[action.name].notify_execute(handle, None)
        first = not self._nav.busy
        if isinstance(goal, Behavior):
            self._behaviors.accept(goal_id, goal, now)
        else:
            self._nav.accept(goal_id, goal, now)
        if first:
            self._publish_feedback(now)
        self._set_tick(self._busy_tick_ns)

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        self._nav.cancel(_hex(handle), time.monotonic())
        self._behaviors.cancel(_hex(handle), time.monotonic())
        return CancelResponse.ACCEPT

    async def _execute(self, action: Served, handle: ServerGoalHandle) -> Any:
        goal_id = _hex(handle)
        outcome = await self._outcomes[goal_id]
        del self._outcomes[goal_id]
        return result(action, outcome, handle.request)

    def _finish(self, outcome: Outcome) -> None:
        _, handle = self._handles.pop(outcome.goal_id)
        if outcome.ending is Ending.SUCCEEDED:
            handle.succeed()
        elif outcome.ending is Ending.CANCELED:
            handle.canceled()
        else:
            handle.abort()
        self._outcomes[outcome.goal_id].set_result(outcome)
        self.get_logger().info(
            f'goal {outcome.goal_id}: {outcome.ending.name}, error_code {outcome.error_code}'
        )

    def _publish_feedback(self, now: float) -> None:
        if self._faults.drop_feedback:
            return
        if (goal_id := self._behaviors.goal_id) is not None:
            action, handle = self._handles[goal_id]
            handle.publish_feedback(behavior_feedback(action, self._behaviors.done))
            return
        progress = self._nav.progress(now)
        if progress is None:
            return
        action, handle = self._handles[progress.goal_id]
        if action.name in self._feedback:
            message = self._feedback[action.name]
            message.current_pose.header.stamp = self.get_clock().now().to_msg()
            navigation_feedback(message, progress, self._robot.pose)
            handle.publish_feedback(message)


def _start_pose(world: World, settings: dict[str, Any]) -> Pose2D:
    x, y = settings['start_x'], settings['start_y']
    if not world.can_stand(x, y):
        raise ConfigurationError(
            f"parameters 'start_x', 'start_y': ({x:g}, {y:g}) is in a wall or too near to one"
        )
    return Pose2D(x, y, settings['start_yaw'])


def _frames(settings: dict[str, Any], odom_origin: Pose2D) -> Frames:
    names = {name: settings[name] for name in ('global_frame', 'odom_frame', 'base_frame')}
    if len(set(names.values())) < len(names):
        raise ConfigurationError(f'parameters {names}: frames must differ')
    return Frames(**names, odom_origin=odom_origin)


def _hex(handle: ServerGoalHandle) -> str:
    return bytes(handle.goal_id.uuid).hex()


class _StopRequest:
    """Notes SIGINT and SIGTERM; the node's next tick ends the executor's wait, so soon enough.

    rclpy's own handlers shut DDS down under a running callback, which then fails.
    """

    def __init__(self) -> None:
        self.received = False
        self._former: dict[int, Any] = {}

    def __enter__(self) -> _StopRequest:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._former[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            # The end was asked for, and is here: asked again, it is no failure.
            signal.signal(number, signal.SIG_IGN if self.received else handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.received = True


def main(args: Sequence[str] | None = None) -> int:
    """Run the simulated robot until SIGINT or SIGTERM.

    :param args: the command line after the program's name; None = that of this process.
    :return: 0 after a signal, 2 if the command line or a parameter cannot be used.
    """
    argv = list(sys.argv if args is None else ['sim_robot', *args])
    with _StopRequest() as stop:
        try:
            unknown = remove_ros_args(argv)[1:]
            if unknown:
                raise ConfigurationError(f"unknown argument '{unknown[0]}' before --ros-args")
            rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
            node = SimRobotNode()
        except (ConfigurationError, RuntimeError) as error:
            print(f'sim_robot: {" ".join(str(error).split())}', file=sys.stderr)
            rclpy.try_shutdown()
            return 2
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while not stop.received:
            executor.spin_once()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
