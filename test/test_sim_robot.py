# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a process, over DDS: its topics, its goals, its faults and its end.

Most tests share one robot, ten times as fast as a real one, and put it back in order afterwards.
They wait for events, with a bound; order and delays of events are those of the recorded Nav2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
from dataclasses import dataclass, field
import itertools
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any
import uuid

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from action_msgs.msg import GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from asking import ask
from domains import own_domain
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import (
    DurabilityPolicy,
    qos_profile_action_status_default,
    qos_profile_sensor_data,
    QoSProfile,
    ReliabilityPolicy,
)
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.resources import config_path
from robot_agent_harness.ros.sim_parameters import SETTINGS
from robot_agent_harness.ros.sim_robot_node import main

DOMAIN = own_domain()
NAMESPACE = f'/sim_robot_test_{os.getpid()}'
WAIT_S = 15.0
LAG_S = 3.0
"""How late a busy machine may see an event; `test_sim_nav2.py` checks the exact delays."""
TIME_SCALE = 10.0
REPOSITORY = Path(__file__).parents[1]

EXECUTING, CANCELING = GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED
KITCHEN, HALL, STORAGE = (1.8, 6.3, 1.57), (5.0, 4.0, 0.0), (6.8, 1.4, 3.14)


class Process:
    """A robot in a process of its own, which is gone when the test is over."""

    def __init__(self, *arguments: str) -> None:
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN), 'RCUTILS_COLORIZED_OUTPUT': '0'}
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'robot_agent_harness.ros.sim_robot_node', *arguments],
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if 'sim_robot ready' in line:
                return
        raise AssertionError('the robot ended before it was ready')

    def end(self, number: int = signal.SIGKILL) -> tuple[int, str]:
        """Send a signal; return the exit code and what was said since the line 'ready'."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        output, _ = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, output


@dataclass
class Goal:
    """What a client saw of one goal; times are steady ones of reception, in s."""

    goal_id: str
    sent: float
    handle: Any = None
    answered: float = math.inf
    statuses: list[tuple[float, int]] = field(default_factory=list)
    feedback: list[tuple[float, Any]] = field(default_factory=list)
    result: Any = None
    result_at: float = math.inf

    @property
    def accepted(self) -> bool:
        return self.handle is not None and self.handle.accepted

    def status_at(self, status: int) -> float:
        """Return when a status was first seen, or infinity."""
        return next((at for at, seen in self.statuses if seen == status), math.inf)


class Client:
    """Everything that a client of the robot can see, and its requests."""

    def __init__(self, namespace: str) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.node = rclpy.create_node('sim_robot_test', context=self.context, namespace=namespace)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.goals: dict[str, Goal] = {}
        self.seen: dict[str, list[tuple[float, Any]]] = {}
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.listen(Odometry, 'odom', qos_profile_sensor_data)
        self.listen(PoseWithCovarianceStamped, 'amcl_pose', latched)
        self.listen(BatteryState, 'battery_state', qos_profile_sensor_data)
        self.listen(Bool, 'emergency_stop', latched)
        self.node.create_subscription(
            GoalStatusArray,
            'navigate_to_pose/_action/status',
            self._on_status,
            qos_profile_action_status_default,
        )
        self.node.create_subscription(
            NavigateToPose.Impl.FeedbackMessage,
            'navigate_to_pose/_action/feedback',
            self._on_feedback,
            10,
        )
        self.navigate = ActionClient(self.node, NavigateToPose, 'navigate_to_pose')
        self.set_parameters = self.node.create_client(SetParameters, 'sim_robot/set_parameters')

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def listen(self, message_type: Any, topic: str, qos: QoSProfile) -> None:
        self.seen[topic] = []
        self.node.create_subscription(
            message_type,
            topic,
            lambda message: self.seen[topic].append((time.monotonic(), message)),
            qos,
        )

    def until(self, condition: Callable[[], Any], what: str, within_s: float = WAIT_S) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, f'not seen within {within_s} s: {what}'
            self.executor.spin_once(timeout_sec=0.05)

    def connect(self) -> None:
        self.until(self.navigate.server_is_ready, 'the action server')
        self.until(self.set_parameters.service_is_ready, 'the parameter service')
        self.until_met()
        self.until(lambda: self.seen['odom'], 'odometry')
        self.until(lambda: self.seen['amcl_pose'], 'a map pose')

    def until_met(self) -> None:
        """Wait until the robot has heard of all our clients, and so loses no answer to them."""
        harmless, name = ListParameters.Request(), 'sim_robot/list_parameters'
        ask(self.node, ListParameters, name, harmless, WAIT_S, self._spin)

    def _spin(self, seconds: float) -> None:
        self.executor.spin_once(timeout_sec=seconds)

    def next(self, topic: str, where: Callable[[Any], bool] = lambda _: True) -> Any:
        """Wait for a message that arrives from now on and satisfies a condition."""
        start = len(self.seen[topic])
        self.until(
            lambda: any(where(m) for _, m in self.seen[topic][start:]),
            f'such a message on {topic}',
        )
        return next(m for _, m in self.seen[topic][start:] if where(m))

    def set(self, **values: Any) -> list[Any]:
        """Set faults; return whether each was set, and why not."""
        request = SetParameters.Request(
            parameters=[
                Parameter(f'fault.{name}', value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        return self.call(self.set_parameters, request).results

    def call(self, client: Any, request: Any) -> Any:
        self.until(client.service_is_ready, client.srv_name)
        future = client.call_async(request)
        self.until(future.done, f'an answer of {client.srv_name}')
        return future.result()

    def send(self, x: float, y: float, yaw: float = 0.0, *, frame: str = 'map') -> Goal:
        goal_uuid = uuid.uuid4()
        message = NavigateToPose.Goal()
        message.pose.header.frame_id = frame
        message.pose.pose.position.x, message.pose.pose.position.y = x, y
        message.pose.pose.orientation.z = math.sin(yaw / 2)
        message.pose.pose.orientation.w = math.cos(yaw / 2)
        goal = self.goals[goal_uuid.hex] = Goal(goal_uuid.hex, time.monotonic())
        self.navigate.send_goal_async(
            message, goal_uuid=UUID(uuid=list(goal_uuid.bytes))
        ).add_done_callback(lambda future: self._on_answer(goal, future.result()))
        return goal

    def accepted(self, *arguments: Any, **keywords: Any) -> Goal:
        goal = self.send(*arguments, **keywords)
        self.until(lambda: goal.handle, 'an answer to the goal')
        assert goal.accepted
        return goal

    def finished(self, goal: Goal) -> Goal:
        self.until(lambda: goal.result, 'a result')
        self.until(
            lambda: goal.status_at(goal.result.status) < math.inf, 'the terminal status', 1.0
        )
        return goal

    def cancel(self, goal: Goal) -> Any:
        future = goal.handle.cancel_goal_async()
        self.until(future.done, 'an answer to the cancel request')
        return future.result()

    def pose(self) -> tuple[float, float]:
        """Return a map position measured from now on."""
        now = self.node.get_clock().now().nanoseconds
        message = self.next(
            'amcl_pose', lambda m: m.header.stamp.sec * 10**9 + m.header.stamp.nanosec > now
        )
        return message.pose.pose.position.x, message.pose.pose.position.y

    def _on_answer(self, goal: Goal, handle: Any) -> None:
        goal.handle, goal.answered = handle, time.monotonic()
        if handle.accepted:
            handle.get_result_async().add_done_callback(
                lambda future: self._on_result(goal, future.result())
            )

    def _on_result(self, goal: Goal, result: Any) -> None:
        goal.result, goal.result_at = result, time.monotonic()

    def _on_status(self, message: GoalStatusArray) -> None:
        now = time.monotonic()
        for status in message.status_list:
            goal = self.goals.get(bytes(status.goal_info.goal_id.uuid).hex())
            if goal is not None and status.status not in [seen for _, seen in goal.statuses]:
                goal.statuses.append((now, status.status))

    def _on_feedback(self, message: Any) -> None:
        goal = self.goals.get(bytes(message.goal_id.uuid).hex())
        if goal is not None:
            goal.feedback.append((time.monotonic(), message.feedback))


@pytest.fixture(scope='module')
def shared_robot() -> Iterator[Client]:
    process = Process(
        *('--ros-args', '-r', f'__ns:={NAMESPACE}', '-p', f'time_scale:={TIME_SCALE}')
    )
    try:
        process.wait_ready()
        client = Client(NAMESPACE)
        try:
            client.connect()
            yield client
        finally:
            client.close()
    finally:
        process.end()


@pytest.fixture
def robot(shared_robot: Client) -> Iterator[Client]:
    """Hand out the shared robot without faults, and end what the test left running."""
    client = shared_robot
    for messages in client.seen.values():
        del messages[:-1]
    yield client
    sound = {s.name.removeprefix('fault.'): s.default for s in SETTINGS if not s.read_only}
    assert all(result.successful for result in client.set(**sound))
    for goal in client.goals.values():
        if goal.accepted and goal.result is None:
            client.cancel(goal)
            client.finished(goal)
    client.next('odom', lambda m: m.twist.twist.linear.x == m.twist.twist.angular.z == 0.0)


def distance(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return math.dist(a[:2], b[:2])


def test_a_goal_runs_through_the_events_that_nav2_was_seen_to_send(robot: Client) -> None:
    goal = robot.finished(robot.accepted(*KITCHEN))
    assert goal.result.status == SUCCEEDED
    assert goal.result.result.error_code == 0
    assert [status for _, status in goal.statuses] == [EXECUTING, SUCCEEDED]
    # Either may come first; what is meant is that they come together.
    assert abs(goal.status_at(EXECUTING) - goal.answered) < LAG_S
    assert abs(goal.status_at(SUCCEEDED) - goal.result_at) < LAG_S

    assert goal.feedback[0][0] > goal.answered - 0.05, 'no feedback before the acceptance'
    assert goal.feedback[0][1].distance_remaining == 0.0
    after = len(robot.seen['odom']) + 5
    robot.until(lambda: len(robot.seen['odom']) >= after, 'more odometry')
    assert goal.feedback[-1][0] < goal.status_at(SUCCEEDED) + 0.05, 'none after the end'
    rate = len(goal.feedback) / (goal.feedback[-1][0] - goal.feedback[0][0])
    assert 20.0 < rate < 120.0
    message = goal.feedback[-1][1]
    assert message.current_pose.header.frame_id == 'map'
    assert message.navigation_time.sec + message.navigation_time.nanosec > 0
    assert distance(robot.pose(), KITCHEN) <= 0.27


def test_odometry_has_its_own_origin_and_its_twist_agrees_with_its_poses(robot: Client) -> None:
    robot.finished(robot.accepted(*HALL))
    goal = robot.accepted(*STORAGE)
    robot.finished(goal)
    run = [m for at, m in robot.seen['odom'] if goal.answered < at < goal.result_at]
    assert {(m.header.frame_id, m.child_frame_id) for m in run} == {('odom', 'base_link')}
    for before, after in itertools.pairwise(run):
        dt = stamp_s(after) - stamp_s(before)
        assert dt > 0.0
        moved = math.dist(xy(before), xy(after))
        mean = (before.twist.twist.linear.x + after.twist.twist.linear.x) / 2
        assert moved == pytest.approx(mean * dt, abs=0.03)
    fastest = max(m.twist.twist.linear.x for m in run)
    assert fastest == pytest.approx(0.5 * TIME_SCALE, rel=0.05)

    robot.next('odom', lambda m: m.twist.twist.linear.x == m.twist.twist.angular.z == 0.0)
    x, y = robot.pose()
    odom_x, odom_y = xy(robot.next('odom'))
    # The robot was started at (1.0, 1.2), heading along the map's y axis.
    assert (x, y) == pytest.approx((1.0 - odom_y, 1.2 + odom_x), abs=0.01)


def stamp_s(message: Any) -> float:
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)


def xy(odometry: Any) -> tuple[float, float]:
    return odometry.pose.pose.position.x, odometry.pose.pose.position.y


def test_a_newer_goal_preempts_in_the_recorded_order(robot: Client) -> None:
    robot.set(emergency_stop=True)  # so that the first goal cannot be over too soon
    old = robot.accepted(*HALL)
    new = robot.accepted(*KITCHEN)
    robot.finished(old)
    assert (old.result.status, old.result.result.error_code) == (ABORTED, 0)
    assert old.result.result.error_msg == ''
    assert new.answered < old.result_at
    assert new.status_at(EXECUTING) < old.status_at(ABORTED)
    assert old.status_at(ABORTED) - new.answered < LAG_S
    robot.until(lambda: new.feedback, 'feedback of the new goal')
    assert new.feedback[0][0] > old.status_at(ABORTED) - 0.05
    assert old.feedback[-1][0] < old.status_at(ABORTED) + 0.05
    robot.set(emergency_stop=False)
    assert robot.finished(new).result.status == SUCCEEDED


@pytest.mark.parametrize(
    ('goal', 'frame', 'error_code', 'seconds'),
    [
        ((20.0, 20.0, 0.0), 'map', 204, 0.02),
        ((9.2, 1.5, 0.0), 'map', 208, 3.0 / TIME_SCALE),
        ((2.0, 4.0, 0.0), 'nosuch', 9002, 0.1),
    ],
    ids=['outside the map', 'a closed room', 'an unknown frame'],
)
def test_an_unreachable_goal_is_accepted_and_aborted_with_nav2s_code(
    robot: Client,
    goal: tuple[float, float, float],
    frame: str,
    error_code: int,
    seconds: float,
) -> None:
    seen = robot.finished(robot.accepted(*goal, frame=frame))
    assert (seen.result.status, seen.result.result.error_code) == (ABORTED, error_code)
    assert seen.result.result.error_msg
    assert seen.result_at - seen.sent > seconds - 0.03
    assert seen.result_at - seen.answered < seconds + LAG_S


def test_a_goal_is_cancelled_and_cannot_be_cancelled_again(robot: Client) -> None:
    robot.set(emergency_stop=True)
    goal = robot.accepted(*STORAGE)
    asked = time.monotonic()
    assert [bytes(info.goal_id.uuid).hex() for info in robot.cancel(goal).goals_canceling] == [
        goal.goal_id
    ]
    robot.finished(goal)
    assert (goal.result.status, goal.result.result.error_code) == (CANCELED, 0)
    assert goal.result_at - asked < LAG_S
    assert [status for _, status in goal.statuses][-1] == CANCELED
    again = robot.cancel(goal)
    assert again.return_code == CancelGoal.Response.ERROR_GOAL_TERMINATED
    assert again.goals_canceling == []


@pytest.mark.long
def test_a_result_is_kept_for_ten_seconds(robot: Client) -> None:
    goal = robot.finished(robot.accepted(*HALL))

    def ask() -> int:
        future = goal.handle.get_result_async()
        robot.until(future.done, 'an answer')
        return int(future.result().status)

    assert ask() == SUCCEEDED
    robot.until(lambda: time.monotonic() > goal.result_at + 11.0, 'the time when it is dropped')
    assert ask() == GoalStatus.STATUS_UNKNOWN


def test_reject_goals(robot: Client) -> None:
    robot.set(reject_goals=True)
    goal = robot.send(*HALL)
    robot.until(lambda: goal.handle, 'an answer')
    assert not goal.accepted
    robot.set(reject_goals=False)
    assert robot.finished(robot.accepted(*HALL)).result.status == SUCCEEDED
    assert goal.statuses == []
    assert goal.feedback == []


def test_false_success(robot: Client) -> None:
    robot.finished(robot.accepted(*HALL))
    robot.set(false_success=True)
    goal = robot.finished(robot.accepted(*KITCHEN))
    assert (goal.result.status, goal.result.result.error_code) == (SUCCEEDED, 0)
    assert distance(robot.pose(), KITCHEN) > 0.8


def test_drop_result_never_ends_the_goal_until_it_is_cancelled(robot: Client) -> None:
    robot.finished(robot.accepted(*HALL))
    robot.set(drop_result=True)
    goal = robot.accepted(4.0, 4.0)
    robot.until(lambda: goal.feedback and time.monotonic() - goal.feedback[-1][0] > 0.3, 'silence')
    assert distance(robot.pose(), (4.0, 4.0)) <= 0.27
    assert robot.next('odom').twist.twist.linear.x == 0.0
    assert [status for _, status in goal.statuses] == [EXECUTING]
    assert goal.result is None
    robot.cancel(goal)
    assert robot.finished(goal).result.status == CANCELED


def test_abort_after(robot: Client) -> None:
    robot.set(abort_after_s=0.2, emergency_stop=True)
    goal = robot.finished(robot.accepted(*STORAGE))
    assert goal.result.status == ABORTED
    assert goal.result_at - goal.sent > 0.15
    assert goal.result_at - goal.answered < 0.2 + LAG_S


def test_an_emergency_stop_is_told_and_starves_a_goal_of_progress(robot: Client) -> None:
    robot.set(emergency_stop=True)
    robot.until(lambda: robot.seen['emergency_stop'][-1][1].data, 'the emergency stop')
    before = robot.pose()
    goal = robot.finished(robot.accepted(*STORAGE))
    assert (goal.result.status, goal.result.result.error_code) == (ABORTED, 105)
    no_progress_s = 10.0 / TIME_SCALE
    assert goal.result_at - goal.sent > 0.9 * no_progress_s
    assert goal.result_at - goal.answered < no_progress_s + LAG_S
    assert distance(robot.pose(), before) < 0.01


def test_a_late_answer_holds_up_nothing_else(robot: Client) -> None:
    robot.set(accept_delay_s=0.8)
    goal = robot.send(*HALL)
    odometry = len(robot.seen['odom'])
    assert robot.set(accept_delay_s=0.0)[0].successful, 'parameters are answered meanwhile'
    prompt = robot.accepted(*KITCHEN)
    assert goal.handle is None, 'other goals are answered meanwhile'
    assert prompt.answered < math.inf
    robot.until(lambda: goal.handle, 'the late answer')
    assert 0.8 < goal.answered - goal.sent < 0.8 + LAG_S
    assert len(robot.seen['odom']) - odometry > 0.5 * 0.8 * 50, 'odometry goes on meanwhile'
    assert goal.status_at(EXECUTING) > goal.sent + 0.8
    assert robot.finished(goal).result.status == SUCCEEDED


def test_a_goal_in_the_odometry_frame_is_taken_through_its_origin(robot: Client) -> None:
    assert robot.finished(robot.accepted(2.8, -4.0, frame='odom')).result.status == SUCCEEDED
    assert distance(robot.pose(), (5.0, 4.0)) <= 0.27


def test_frozen_topics_fall_silent_and_come_back(robot: Client) -> None:
    robot.set(freeze_odom=True, freeze_localization=True)
    odometry, poses = len(robot.seen['odom']), len(robot.seen['amcl_pose'])
    robot.next('battery_state')
    robot.next('battery_state')
    assert len(robot.seen['odom']) <= odometry + 2
    assert len(robot.seen['amcl_pose']) <= poses + 1
    robot.set(freeze_odom=False, freeze_localization=False)
    robot.next('odom')
    robot.next('amcl_pose')


def test_feedback_can_be_dropped(robot: Client) -> None:
    robot.set(drop_feedback=True)
    goal = robot.finished(robot.accepted(*STORAGE))
    assert goal.result.status == SUCCEEDED
    assert goal.feedback == []


def test_a_localisation_jump_shows_in_the_map_pose_alone(robot: Client) -> None:
    x, y = robot.pose()
    odometry = xy(robot.next('odom'))
    robot.set(localization_jump_m=2.0)
    assert robot.pose() == pytest.approx((x + 2.0, y), abs=0.01)
    assert xy(robot.next('odom')) == pytest.approx(odometry, abs=0.01)


def test_a_push_moves_the_robot_once_each_time(robot: Client) -> None:
    robot.finished(robot.accepted(*HALL))
    robot.next('odom', lambda m: m.twist.twist.linear.x == m.twist.twist.angular.z == 0.0)
    x, y = robot.pose()
    for pushes in (1, 2):
        there = x + 0.6 * pushes
        robot.set(push_x_m=0.6)
        robot.next('amcl_pose', lambda m, at=there: abs(m.pose.pose.position.x - at) < 0.01)
        robot.next('odom', lambda m: m.twist.twist.linear.y == m.twist.twist.linear.x == 0.0)
        assert robot.pose() == pytest.approx((there, y), abs=0.01)


def test_battery_and_emergency_stop_are_told_as_soon_as_they_are_set(robot: Client) -> None:
    assert 0.0 < robot.next('battery_state').percentage <= 1.0
    robot.set(battery_fraction=0.11)
    robot.until(
        lambda: robot.seen['battery_state'][-1][1].percentage == pytest.approx(0.11),
        'the charge that was set',
        LAG_S,
    )
    assert robot.next('battery_state').percentage == pytest.approx(0.11)
    robot.set(battery_fraction=-1.0)
    robot.next('battery_state', lambda m: m.percentage > 0.5)


def test_faults_out_of_range_or_of_another_type_are_refused_and_change_nothing(
    robot: Client,
) -> None:
    for values in ({'abort_after_s': -1.0}, {'battery_fraction': math.nan}, {'drop_result': 1.0}):
        (result,) = robot.set(**values)
        assert not result.successful
        assert result.reason
    assert not robot.set(nosuch=True)[0].successful
    assert robot.finished(robot.accepted(*HALL)).result.status == SUCCEEDED


def test_every_parameter_is_described_and_all_but_the_faults_are_fixed(robot: Client) -> None:
    describe = robot.node.create_client(DescribeParameters, 'sim_robot/describe_parameters')
    names = [setting.name for setting in SETTINGS]
    for descriptor in robot.call(describe, DescribeParameters.Request(names=names)).descriptors:
        assert descriptor.description
        assert descriptor.read_only is not descriptor.name.startswith('fault.')
    request = SetParameters.Request(
        parameters=[Parameter('time_scale', value=2.0).to_parameter_msg()]
    )
    (result,) = robot.call(robot.set_parameters, request).results
    assert (result.successful, result.reason) == (
        False,
        "parameter 'time_scale': it is fixed at the start",
    )


def test_a_fault_is_set_as_people_write_it_and_refused_by_name(robot: Client) -> None:
    assert robot.set(accept_delay_s=0)[0].successful, 'a whole number is taken for a number'
    for given, reason in (
        ({'xyzzy': True}, "unknown parameter 'fault.xyzzy'"),
        (
            {'flase_success': True},
            "unknown parameter 'fault.flase_success'; did you mean fault.false_success?",
        ),
        ({'push_x_m': 9}, "parameter 'fault.push_x_m': 9 is not between -5 and 5"),
        ({'false_success': 1}, "parameter 'fault.false_success': 1 is not a bool"),
    ):
        (result,) = robot.set(**given)
        assert (result.successful, result.reason) == (False, reason)


def test_topics_offer_what_robots_offer(robot: Client) -> None:
    for topic, durability in [
        ('odom', DurabilityPolicy.VOLATILE),
        ('battery_state', DurabilityPolicy.VOLATILE),
        ('amcl_pose', DurabilityPolicy.TRANSIENT_LOCAL),
        ('emergency_stop', DurabilityPolicy.TRANSIENT_LOCAL),
    ]:
        (endpoint,) = robot.node.get_publishers_info_by_topic(topic)
        assert endpoint.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        assert endpoint.qos_profile.durability == durability
    pose = robot.next('amcl_pose')
    assert pose.header.frame_id == 'map'
    assert 0.0 < pose.pose.covariance[0] < 0.25
    assert [m.data for _, m in robot.seen['emergency_stop']] == [False]


@pytest.fixture
def doomed() -> Iterator[tuple[Process, Client]]:
    """Hand out a robot in a namespace of its own, in real time, for the test to end."""
    process = Process('--ros-args', '-r', f'__ns:={NAMESPACE}/doomed')
    client = Client(f'{NAMESPACE}/doomed')
    try:
        process.wait_ready()
        client.connect()
        yield process, client
    finally:
        client.close()
        process.process.kill()
        process.process.communicate()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_in_the_middle_of_a_goal(
    doomed: tuple[Process, Client], number: signal.Signals
) -> None:
    process, client = doomed
    client.accepted(*KITCHEN)
    asked = time.monotonic()
    code, output = process.end(number)
    assert code == 0, output
    assert time.monotonic() - asked < 2.0
    assert 'Traceback' not in output


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_that_go_on_until_the_end_make_no_failure_of_it(
    doomed: tuple[Process, Client], number: signal.Signals
) -> None:
    process = doomed[0].process
    deadline = time.monotonic() + 5.0
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
    assert doomed[0].ended()[0] == 0


def test_it_dies_without_a_word_when_told_to(doomed: tuple[Process, Client]) -> None:
    process, client = doomed
    assert client.set(crash_after_s=0.3)[0].successful
    asked = time.monotonic()
    code, output = process.ended()
    assert (code, output) == (1, '')
    assert 0.2 < time.monotonic() - asked < 2.0


@pytest.mark.parametrize(
    ('named', 'arguments'),
    [
        ('time_scale', ['-p', 'time_scale:=21.0']),
        ('time_scale', ['-p', 'time_scale:=fast']),
        ('odom_rate_hz', ['-p', 'odom_rate_hz:=0.0']),
        ('start_x', ['-p', 'start_x:=3.5']),
        ('fault.drop_result', ['-p', 'fault.drop_result:=3']),
        ('fault.battery_fraction', ['-p', 'fault.battery_fraction:=.nan']),
        ('timescale', ['-p', 'timescale:=2.0']),
        ('use_sim_times', ['-p', 'use_sim_times:=true']),
        ('fault.dropresult', ['-p', 'fault.dropresult:=true']),
        ('base_frame', ['-p', 'base_frame:=odom']),
        ('global_frame', ['-p', "global_frame:=''"]),
        ('-p', ['-p']),
        ('/nosuch.yaml', ['--params-file', '/nosuch.yaml']),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line_that_names_it(
    named: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN))
    handler = signal.getsignal(signal.SIGTERM)
    assert main(['--ros-args', *arguments]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith('sim_robot: ')
    assert named in line
    assert signal.getsignal(signal.SIGTERM) is handler
    assert not rclpy.ok()


def test_a_wrong_command_line_ends_the_process_with_code_2() -> None:
    code, output = Process('--fast').ended()
    assert (code, len(output.splitlines())) == (2, 1), output
    assert '--fast' in output


def test_the_documents_name_every_parameter_with_its_default() -> None:
    shipped = yaml.safe_load(config_path('sim_robot.yaml').read_text())
    values = shipped['/**']['ros__parameters']
    flat = {key: value for key, value in values.items() if key != 'fault'}
    flat.update({f'fault.{key}': value for key, value in values['fault'].items()})
    assert flat == {setting.name: setting.default for setting in SETTINGS}
    page = (REPOSITORY / 'docs' / 'sim_robot.md').read_text()
    for setting in SETTINGS:
        assert f'`{setting.name}`' in page, setting.name
