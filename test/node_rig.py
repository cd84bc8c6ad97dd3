# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness node as a process, and a robot in the test's own process, over real DDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any
import uuid

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from asking import ask, LOOK_S, until_there
from domains import own_domain
from forked import Forked, run_harness
from geometry_msgs.msg import PoseWithCovarianceStamped
from lifecycle_msgs.srv import ChangeState, GetState
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.qos import qos_profile_action_status_default, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.msg import WorldSnapshot
from robot_agent_harness.ros.spinner import Spinner

DOMAIN = own_domain()
NAMESPACE = f'/rig_{uuid.uuid4().hex[:8]}'
NODE = f'{NAMESPACE}/robot_agent_harness'
WAIT_S = 60.0
"""A busy machine takes long to start a process."""
PAUSE_S = 0.05
IMPL = NavigateToPose.Impl
PART = 'navigate_to_pose/_action/'
LATCHED = qos_profile_action_status_default
EXECUTING, SUCCEEDED, CANCELED = (
    GoalStatus.STATUS_EXECUTING,
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
)


class Probe:
    """A node of the test's, spun in a thread; every wait on it is bounded."""

    def __init__(self, name: str = 'probe') -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.node = rclpy.create_node(name, namespace=NAMESPACE, context=self.context)
        self.news = threading.Condition()
        self._spinner = Spinner(self.node, name=name)
        self.executor = self._spinner.executor

    def listen(self, message_type: Any, name: str, qos: QoSProfile | int = 50) -> list[Any]:
        """Return a list that grows with each message."""
        heard: list[Any] = []

        def take(message: Any) -> None:
            heard.append(message)
            self.notice()

        self.node.create_subscription(message_type, name, take, qos)
        return heard

    def notice(self) -> None:
        with self.news:
            self.news.notify_all()

    def until(self, holds: Callable[[], Any], what: Any = '') -> Any:
        """Wait until something holds, and return it: looked at after each callback, and in between
        for what none of them tells of. The callbacks go on meanwhile.
        """
        deadline = time.monotonic() + WAIT_S
        while not (found := holds()):
            assert time.monotonic() < deadline, f'not within {WAIT_S} s: {what}'
            with self.news:
                self.news.wait(PAUSE_S)
        return found

    def until_known(self, nav2: FakeNav2) -> None:
        """Wait until the node has heard all that it wants to know before it moves the robot, and
        the controller of the node.
        """
        heard = self.listen(WorldSnapshot, f'{NODE}/world_snapshot', QoSProfile(depth=1))

        def known() -> bool:
            told = heard[-1] if heard else WorldSnapshot()
            fields = (told.pose_availability, told.velocity_availability)
            return told.controller_reachable and set(fields) == {WorldSnapshot.AVAILABLE}

        self.until(known, heard)
        nav2.until_seen()

    def call(self, service_type: Any, name: str, request: Any) -> Any:
        """Make a request of the node's, once, and return the answer."""
        client = self.node.create_client(service_type, name)
        self.until_met()
        until_there(client, WAIT_S)
        future = client.call_async(request)
        future.add_done_callback(lambda _: self.notice())
        self.until(future.done, name)
        return future.result()

    def until_met(self) -> None:
        """Wait until the node has heard of all our clients, and so loses no answer to them."""
        self.state()

    def transition(self, transition_id: int) -> bool:
        request = ChangeState.Request()
        request.transition.id = transition_id
        return bool(self.call(ChangeState, f'{NODE}/change_state', request).success)

    def state(self) -> str:
        answer = ask(self.node, GetState, f'{NODE}/get_state', GetState.Request(), WAIT_S)
        return str(answer.current_state.label)

    def close(self) -> None:
        self._spinner.end(WAIT_S)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class FakeNav2:
    """A NavigateToPose server in its wire-level parts, so that a test decides each of them."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.accepts = True
        self.on_goal: Callable[[str], None] = lambda goal_id: self.report(goal_id, EXECUTING)
        self.cancels_at_once = True
        self.goals: list[tuple[str, Any]] = []
        self.cancel_requests: list[CancelGoal.Request] = []
        self.statuses: dict[str, int] = {}
        self._results: dict[str, Future] = {}
        part, node = PART, probe.node
        # In a group of its own: a request for a result waits, and the rest must go on.
        apart = ReentrantCallbackGroup()
        self._entities = [
            node.create_service(IMPL.SendGoalService, part + 'send_goal', self._on_send),
            node.create_service(
                IMPL.GetResultService,
                part + 'get_result',
                self._on_result,
                callback_group=apart,
            ),
            node.create_service(IMPL.CancelGoalService, part + 'cancel_goal', self._on_cancel),
        ]
        self._feedback = node.create_publisher(IMPL.FeedbackMessage, part + 'feedback', 10)
        self._status = node.create_publisher(GoalStatusArray, part + 'status', LATCHED)

    def until_seen(self) -> None:
        """Wait until a client has been heard of: an answer to one that has not been is lost."""
        deadline = time.monotonic() + WAIT_S
        count = self.probe.node.count_clients
        while not all(count(PART + name) for name in ('send_goal', 'get_result', 'cancel_goal')):
            assert time.monotonic() < deadline, f'not within {WAIT_S} s: a client'
            time.sleep(LOOK_S)

    def report(self, goal_id: str, status: int) -> None:
        """Publish a status; one that ends the goal answers requests for its result."""
        self.statuses[goal_id] = status
        message = GoalStatusArray()
        for known, value in self.statuses.items():
            info = GoalInfo(goal_id=uuid_of(known))
            message.status_list.append(GoalStatus(goal_info=info, status=value))
        self._status.publish(message)
        result = self._result(goal_id)
        if status >= SUCCEEDED and not result.done():
            result.set_result(status)
            self.probe.executor.wake()

    def feed(self, goal_id: str, distance_m: float) -> None:
        message = IMPL.FeedbackMessage(goal_id=uuid_of(goal_id))
        message.feedback.distance_remaining = distance_m
        message.feedback.current_pose.pose.orientation.w = 1.0
        self._feedback.publish(message)

    def goal(self, number: int = 0) -> str:
        """Wait for a goal and return its id."""
        self.probe.until(lambda: len(self.goals) > number, 'a goal')
        return self.goals[number][0]

    def withdraw(self) -> None:
        for service in self._entities:
            self.probe.node.destroy_service(service)

    def _on_send(self, request: Any, response: Any) -> Any:
        goal_id = hex_of(request.goal_id)
        response.accepted = self.accepts
        if self.accepts:
            self.on_goal(goal_id)
        self.goals.append((goal_id, request.goal))
        self.probe.notice()
        return response

    async def _on_result(self, request: Any, response: Any) -> Any:
        goal_id = hex_of(request.goal_id)
        if goal_id in self.statuses:
            response.status = await self._result(goal_id)
        return response

    def _on_cancel(self, request: Any, response: Any) -> Any:
        self.cancel_requests.append(request)
        goal_id = hex_of(request.goal_info.goal_id)
        if self.statuses.get(goal_id) != EXECUTING:
            response.return_code = CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
        elif self.cancels_at_once:
            self.report(goal_id, CANCELED)
        self.probe.notice()
        return response

    def _result(self, goal_id: str) -> Future:
        return self._results.setdefault(goal_id, Future(executor=self.probe.executor))


class FakeRobot:
    """A healthy robot at rest in (0, 0): what its topics say, 20 times a second."""

    def __init__(self, probe: Probe) -> None:
        self._node = probe.node
        self.x = self.y = 0.0
        self.odom = self._node.create_publisher(Odometry, 'odom', 5)
        self.pose = self._node.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', LATCHED)
        self.battery = self._node.create_publisher(BatteryState, 'battery_state', 5)
        self.stop = self._node.create_publisher(Bool, 'emergency_stop', LATCHED)
        self.stop.publish(Bool(data=False))
        self._timer = self._node.create_timer(0.05, self._publish)

    def halt(self) -> None:
        """Publish nothing any more."""
        self._node.destroy_timer(self._timer)

    def pose_message(self) -> PoseWithCovarianceStamped:
        message = PoseWithCovarianceStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = 'map'
        message.pose.pose.position.x, message.pose.pose.position.y = self.x, self.y
        message.pose.pose.orientation.w = 1.0
        return message

    def _publish(self) -> None:
        odom = Odometry()
        odom.header.stamp = self._node.get_clock().now().to_msg()
        odom.header.frame_id = 'odom'
        odom.pose.pose.position.x, odom.pose.pose.position.y = self.x, self.y
        odom.pose.pose.orientation.w = 1.0
        self.odom.publish(odom)
        self.pose.publish(self.pose_message())
        self.battery.publish(BatteryState(header=odom.header, percentage=0.8))


class HarnessProcess:
    """The harness node in its own process.

    :param fresh: start it as a user does, instead of forking it with its modules imported.
    """

    def __init__(
        self, *arguments: str, parameters: Mapping[str, Any], fresh: bool = False
    ) -> None:
        told = [*arguments, '--ros-args', '-r', f'__ns:={NAMESPACE}']
        for name, value in parameters.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            told += ['-p', f'{name}:={text}']
        self.process = _fresh(told) if fresh else Forked(run_harness, told, domain=DOMAIN)
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def says(self, pattern: str) -> re.Match[str]:
        """Wait for a line on stderr."""

        def found() -> re.Match[str] | None:
            return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

        with self._news:
            self._news.wait_for(lambda: found() or not self._reader.is_alive(), WAIT_S)
        match = found()
        assert match is not None, f'{pattern!r} in {self.lines}'
        return match

    def ends(self) -> int:
        """Wait for its end and return the exit code."""
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        return code

    def end(self, number: int = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.ends()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                with self._news:
                    self.lines.append(line.rstrip())
                    self._news.notify_all()


def _fresh(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, '-m', 'robot_agent_harness.cli', 'run', *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN), 'RCUTILS_COLORIZED_OUTPUT': '0'},
    )


@contextmanager
def harness(journal: Path, *, fresh: bool = False, **parameters: Any) -> Iterator[HarnessProcess]:
    """Run a harness; its end is part of every test: clean, and without a traceback."""
    given = {'journal.path': journal, 'mcp.port': 0}
    given.update({name.replace('__', '.'): value for name, value in parameters.items()})
    process = HarnessProcess(parameters=given, fresh=fresh)
    try:
        yield process
    finally:
        begun = time.monotonic()
        code = process.end()
        took_s = time.monotonic() - begun
    told = '\n'.join(process.lines)
    assert (code, 'Traceback' in told) == (0, False), told
    assert took_s < 5.0


def hex_of(goal_id: UUID) -> str:
    return bytes(goal_id.uuid).hex()


def uuid_of(goal_id: str) -> UUID:
    return UUID(uuid=list(bytes.fromhex(goal_id)))
