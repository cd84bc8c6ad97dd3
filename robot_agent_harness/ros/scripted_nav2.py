# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot over DDS that says exactly what a test tells it to: NavigateToPose and state topics.

The action server is made of its five wire endpoints (the services send_goal, get_result and
cancel_goal, the topics feedback and status), not of rclpy's ActionServer, which would keep a test
from lying: every message can be withheld, delayed, reordered, repeated or falsified. It shares its
vocabulary with :class:`~robot_agent_harness.testing.ScriptableNav2`, and what the robot says with
:class:`~robot_agent_harness.testing.BenchRobot`, so that a test on virtual time can be repeated on
the wire::

    with scripted_robot('/robot1', domain_id=42) as wire:
        ...                                    # the harness is told to drive to (2, 0)
        wire.nav2.wait_for(lambda: wire.nav2.sent)
        wire.robot.says.place(2.0, 0.0)
        wire.nav2.result(GoalStatus.SUCCEEDED, {})

Methods may be called from any thread; the node's executor runs in one of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
import hashlib
import math
import threading
import time
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.msg import GoalStatus as GoalStatusMsg
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, qos_profile_action_status_default, QoSProfile
from rclpy.service import Service
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.ros.conversions import stamp_ns, time_msg, yaw_of
from robot_agent_harness.ros.quiet import QUIET_PUBLISHER
from robot_agent_harness.testing.bench import BenchRobot, RATES_HZ

Impl = NavigateToPose.Impl

WAIT_S = 20.0
"""The longest of all waits by default, in seconds."""
FEEDBACK_DEPTH = 10
"""As rclpy's own action server."""
STATE_DEPTH = 5
TOPICS: dict[str, tuple[str, Any]] = {
    'pose': ('amcl_pose', PoseWithCovarianceStamped),
    'odom': ('odom', Odometry),
    'battery': ('battery_state', BatteryState),
    'emergency_stop': ('emergency_stop', Bool),
}
"""What a test calls the state topics, and their names (relative) and types on the wire."""
_GOAL_ID_HEX = 32
_POSITION_VARIANCES, _YAW_VARIANCE = (0, 7), 35  # on the diagonal of a 6 x 6 covariance


@dataclass(slots=True)
class _Asked:
    """One request that has not necessarily been answered; its header says whom to answer."""

    header: Any
    request: Any


@dataclass(slots=True)
class Flood:
    """A stream of one message, published as fast as it is told."""

    published: int = 0
    """Messages so far."""
    started_s: float = field(default_factory=time.monotonic)

    @property
    def rate_hz(self) -> float:
        """The rate that was really reached so far, in messages a second."""
        return self.published / max(time.monotonic() - self.started_s, 1e-9)


class ScriptedNav2:
    """A NavigateToPose server that records what it is asked and answers as it is told.

    Left alone it accepts each goal after :attr:`accept_after_s` and then stays silent, as a server
    does whose result never comes. Quality of service: services and feedback reliable and volatile,
    status reliable and transient local, as rcl_action has them.

    :param node: spun by somebody else, in another thread than the test's.
    :param action_name: relative to the node's namespace, or absolute.
    """

    def __init__(
        self,
        node: Node,
        action_name: str = 'navigate_to_pose',
        *,
        accept_after_s: float | None = 0.05,
    ) -> None:
        self.accept_after_s = accept_after_s
        """Seconds until a goal is accepted by itself; None: the test answers."""
        self.sent: list[tuple[str, dict[str, Any]]] = []
        """Every goal that came in, by any client: its id and its x, y (m), yaw (rad), frame_id."""
        self.stamps_ns: list[int] = []
        """The stamp of each of them, in ns of ROS time."""
        self.result_requests: list[str] = []
        self.cancel_requests: list[str] = []
        self.cancel_code: int | None = None
        """Return code for cancel requests (CancelGoal.srv); None: they are not answered."""
        self.on_goal: Callable[[str], None] = lambda goal_id: None
        """Called with each goal's id before anything is answered, on the executor's thread."""
        self.on_cancel: Callable[[str], None] = lambda goal_id: None
        """Called with the id that each cancel request names, before it is answered."""
        self.news = threading.Condition()
        """Notified after everything that comes in."""
        self._node = node
        self._part = f'{action_name}/_action/'
        self._goals: dict[str, _Asked] = {}
        self._results: dict[str, tuple[int, dict[str, Any]]] = {}
        self._askers: defaultdict[str, list[_Asked]] = defaultdict(list)
        self._cancels: dict[str, _Asked] = {}
        self._services: dict[str, Service] = {}
        self._publishers: dict[str, Publisher] = {}
        self._open()

    @property
    def reachable(self) -> bool:
        """Whether the server is there."""
        return bool(self._services)

    @property
    def own_goal(self) -> str:
        """The id of the newest goal that came in."""
        return self.sent[-1][0]

    def wait_for(
        self, holds: Callable[[], Any], what: str = '', *, within_s: float = WAIT_S
    ) -> Any:
        """Wait until something that requests bring about holds, and return it.

        :raises TimeoutError: it does not hold in time.
        """
        with self.news:
            found = self.news.wait_for(holds, within_s)
        if not found:
            raise TimeoutError(f'not within {within_s} s: {what or holds}')
        return found

    def say(self, event: ControllerEvent) -> None:
        """Put any event on the wire, as the in-process server does.

        :raises TypeError: it is one that no server can send.
        """
        if isinstance(event, GoalResponse):
            self.respond(event.accepted, event.goal_id)
        elif isinstance(event, GoalFeedback):
            self.feedback(event.goal_id, **event.feedback)
        elif isinstance(event, StatusReport):
            self.status(*event.goals)
        elif isinstance(event, GoalResult):
            self.result(event.status, event.payload, event.goal_id)
        elif isinstance(event, CancelResponse):
            self.respond_cancel(event.return_code, event.goal_id)
        elif isinstance(event, ServerPresence):
            self.set_reachable(event.reachable)
        else:
            raise TypeError(f'no server sends {event!r}')

    def respond(self, accepted: bool, goal_id: str | None = None) -> None:
        """Answer a goal request (the newest one by default); again, if it is said again."""
        asked = self._goals[goal_id or self.own_goal]
        stamp = self._node.get_clock().now().to_msg()
        self._answer('send_goal', asked, accepted=accepted, stamp=stamp)

    def feedback(self, goal_id: str | None = None, **numbers: Any) -> None:
        """Send feedback about a goal; numbers are the message's fields, `current_pose` a mapping
        of x, y, yaw, frame_id.
        """
        self._publish('feedback', self.feedback_message(goal_id or self.own_goal, **numbers))

    def feedback_message(self, goal_id: str, **numbers: Any) -> Any:
        """Return a feedback message."""
        message = Impl.FeedbackMessage(goal_id=_uuid(goal_id))
        message.feedback.current_pose.pose.orientation.w = 1.0
        for name, value in numbers.items():
            if name == 'current_pose':
                stamped = message.feedback.current_pose
                stamped.header.frame_id = value.get('frame_id', 'map')
                _place(stamped.pose, value['x'], value['y'], value.get('yaw', 0.0))
            else:
                setattr(message.feedback, name, value)
        return message

    @contextmanager
    def feedback_flood(self, rate_hz: float, goal_id: str, **numbers: Any) -> Iterator[Flood]:
        """Send feedback at this rate while the context lasts; yields what really went out."""
        message, stop, flood = (
            self.feedback_message(goal_id, **numbers),
            threading.Event(),
            Flood(),
        )

        def run() -> None:
            while not stop.is_set():
                # As many as are due, since a pause of less than a millisecond lasts longer.
                due = math.ceil((time.monotonic() - flood.started_s) * rate_hz)
                for _ in range(due - flood.published):
                    self._publish('feedback', message)
                    flood.published += 1
                stop.wait(1.0 / rate_hz)

        thread = threading.Thread(target=run, name='feedback flood', daemon=True)
        thread.start()
        try:
            yield flood
        finally:
            stop.set()
            thread.join(WAIT_S)

    def status(self, *goals: tuple[str, GoalStatus | int]) -> None:
        """Publish the list of goals, as it is given."""
        message = GoalStatusArray()
        for goal_id, status in goals:
            info = GoalInfo(goal_id=_uuid(goal_id))
            message.status_list.append(GoalStatusMsg(goal_info=info, status=int(status)))
        self._publish('status', message)

    def result(
        self, status: GoalStatus | int, payload: dict[str, Any], goal_id: str | None = None
    ) -> None:
        """Answer every request for a goal's result: those that came in, also if they have been
        answered already, and those that will.
        """
        goal_id = goal_id or self.own_goal
        self._results[goal_id] = int(status), payload
        for asked in tuple(self._askers[goal_id]):
            self._answer_result(asked, goal_id)

    def respond_cancel(self, return_code: int, goal_id: str | None = None) -> None:
        """Answer a cancel request (the newest one by default)."""
        goal_id = goal_id or self.cancel_requests[-1]
        asked, canceling = self._cancels[goal_id], []
        if return_code == 0:
            canceling = [GoalInfo(goal_id=_uuid(goal_id))]
        self._answer('cancel_goal', asked, return_code=return_code, goals_canceling=canceling)

    def set_reachable(self, reachable: bool) -> None:
        """Take all endpoints away, or bring them back with nothing known of earlier requests."""
        if reachable == self.reachable:
            return
        if reachable:
            self._open()
            return
        services, publishers = self._services, self._publishers
        self._services, self._publishers = {}, {}
        for service in services.values():
            self._node.destroy_service(service)
        for publisher in publishers.values():
            self._node.destroy_publisher(publisher)
        for known in (self._goals, self._results, self._askers, self._cancels):
            known.clear()

    def goals_named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return goal ids: `own` stands for the newest goal that came in, and a name that is none
        for a goal of somebody else, always the same one.
        """
        return tuple(self.own_goal if name == 'own' else _goal_id(name) for name in names)

    # -- the executor's side ---------------------------------------------------------------------

    def _open(self) -> None:
        node, part = self._node, self._part
        self._publishers = {
            name: node.create_publisher(kind, part + name, qos, event_callbacks=QUIET_PUBLISHER)
            for name, kind, qos in (
                ('feedback', Impl.FeedbackMessage, QoSProfile(depth=FEEDBACK_DEPTH)),
                ('status', GoalStatusArray, qos_profile_action_status_default),
            )
        }
        self._services = {
            name: _deferred_service(node, kind, part + name, heard)
            for name, kind, heard in (
                ('send_goal', Impl.SendGoalService, self._on_goal),
                ('get_result', Impl.GetResultService, self._on_result),
                ('cancel_goal', Impl.CancelGoalService, self._on_cancel),
            )
        }

    def _on_goal(self, asked: _Asked) -> None:
        goal_id, pose = _hex(asked.request.goal_id), asked.request.goal.pose
        goal = {
            'x': pose.pose.position.x,
            'y': pose.pose.position.y,
            'yaw': yaw_of(pose.pose.orientation),
            'frame_id': pose.header.frame_id,
        }
        self._goals[goal_id] = asked
        self.stamps_ns.append(stamp_ns(pose.header.stamp))
        self._note(self.sent, (goal_id, goal))
        self.on_goal(goal_id)
        if self.accept_after_s is not None:
            timer = threading.Timer(self.accept_after_s, self._accept, (goal_id,))
            timer.daemon = True
            timer.start()

    def _accept(self, goal_id: str) -> None:
        if goal_id in self._goals:  # the server may have been restarted meanwhile
            self.respond(True, goal_id)

    def _on_result(self, asked: _Asked) -> None:
        goal_id = _hex(asked.request.goal_id)
        self._askers[goal_id].append(asked)
        self._note(self.result_requests, goal_id)
        if goal_id in self._results:
            self._answer_result(asked, goal_id)

    def _on_cancel(self, asked: _Asked) -> None:
        goal_id = _hex(asked.request.goal_info.goal_id)
        self._cancels[goal_id] = asked
        self._note(self.cancel_requests, goal_id)
        self.on_cancel(goal_id)
        if self.cancel_code is not None:
            self.respond_cancel(self.cancel_code, goal_id)

    def _answer_result(self, asked: _Asked, goal_id: str) -> None:
        status, payload = self._results[goal_id]
        result = NavigateToPose.Result()
        for name, value in payload.items():
            setattr(result, name, value)
        self._answer('get_result', asked, status=status, result=result)

    def _answer(self, endpoint: str, asked: _Asked, **fields: Any) -> None:
        service = self._services.get(endpoint)
        if service is not None:  # a server that is away says nothing
            # The class's own: the instance's is replaced, see below.
            Service.send_response(service, service.srv_type.Response(**fields), asked.header)

    def _publish(self, endpoint: str, message: Any) -> None:
        publisher = self._publishers.get(endpoint)
        if publisher is not None:
            publisher.publish(message)

    def _note(self, heard: list[Any], what: Any) -> None:
        with self.news:
            heard.append(what)
            self.news.notify_all()


class ScriptedRobot:
    """The robot's state topics, at the rates of a real one; every message can be falsified.

    By default `odom` and `battery_state` are reliable and volatile, `amcl_pose` and
    `emergency_stop` reliable and transient local. Frames are `map` and `odom`; stamps are the
    node's ROS time.
    """

    def __init__(self, node: Node, *, says: BenchRobot | None = None) -> None:
        self.says = says or BenchRobot()
        """What the topics say: poses, velocities, stamps, and which are silent."""
        self.edits: dict[str, Callable[[Any], None]] = {}
        """Per topic, what is done to each message before it leaves: any field of it, to NaN, say.
        """
        self.now_ns: Callable[[], int] = lambda: int(node.get_clock().now().nanoseconds)
        """The time that stamps are made of, in ns; to be replaced for simulated time."""
        self._node = node
        self._publishers: dict[str, Publisher] = {}
        self._timers: dict[str, Any] = {}
        for topic in TOPICS:
            self.set_qos(topic, _default_qos(topic))
            self.set_rate(topic, RATES_HZ.get(topic, RATES_HZ['battery']))

    def set_qos(self, topic: str, qos: QoSProfile | None = None) -> None:
        """Publish a topic with another quality of service from now on; None: the default one."""
        name, kind = TOPICS[topic]
        old = self._publishers.get(topic)
        self._publishers[topic] = self._node.create_publisher(
            kind, name, qos or _default_qos(topic), event_callbacks=QUIET_PUBLISHER
        )
        if old is not None:
            self._node.destroy_publisher(old)

    def set_rate(self, topic: str, rate_hz: float) -> None:
        """Publish a topic at another rate from now on, messages a second."""
        old = self._timers.get(topic)
        self._timers[topic] = self._node.create_timer(1.0 / rate_hz, lambda: self.publish(topic))
        if old is not None:
            self._node.destroy_timer(old)

    def publish(self, topic: str) -> None:
        """Publish one message now, unless the topic is silent."""
        message = None if topic in self.says.stopped else self.message(topic)
        if message is None:
            return
        edit = self.edits.get(topic)
        if edit is not None:
            edit(message)
        self._publishers[topic].publish(message)

    def message(self, topic: str) -> Any:
        """Return what the topic would say now; None where there is nothing to say."""
        says = self.says
        if topic == 'emergency_stop':
            return None if says.emergency_stop is None else Bool(data=says.emergency_stop)
        if topic == 'battery' and says.battery is None:
            return None
        message = TOPICS[topic][1]()
        offset = says.stamp_offset_ns.get(topic, 0)
        message.header.stamp = time_msg(0 if offset is None else max(0, self.now_ns() + offset))
        if topic == 'battery':
            message.percentage, message.voltage = float(says.battery or 0.0), math.nan
            return message
        message.header.frame_id = 'map' if topic == 'pose' else 'odom'
        _place(message.pose.pose, *(says.pose if topic == 'pose' else says.odom))
        if topic == 'odom':
            message.twist.twist.linear.x, message.twist.twist.angular.z = says.velocity
        else:
            for index in (*_POSITION_VARIANCES, _YAW_VARIANCE):
                message.pose.covariance[index] = says.variance or 0.0
        return message

    def publish_all(self) -> None:
        """Publish every topic once, now."""
        for topic in TOPICS:
            self.publish(topic)


class ScriptedNode(Node):
    """Controller and state topics of one robot, on one node that somebody spins."""

    def __init__(self, *, accept_after_s: float | None = 0.05, **node_arguments: Any) -> None:
        super().__init__('scripted_robot', **node_arguments)
        self.nav2 = ScriptedNav2(self, accept_after_s=accept_after_s)
        self.robot = ScriptedRobot(self)


@contextmanager
def scripted_robot(
    namespace: str = '/', *, domain_id: int | None = None, accept_after_s: float | None = 0.05
) -> Iterator[ScriptedNode]:
    """Run a scripted robot in a context and a thread of its own; it is gone in the end.

    :param domain_id: None = what the environment says.
    """
    context = Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = ScriptedNode(namespace=namespace, context=context, accept_after_s=accept_after_s)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        try:
            executor.spin()
        except (ShutdownException, ExternalShutdownException):
            return

    thread = threading.Thread(target=spin, name='scripted robot', daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(WAIT_S)
        node.destroy_node()
        rclpy.shutdown(context=context)


def _deferred_service(
    node: Node, kind: Any, name: str, heard: Callable[[_Asked], None]
) -> Service:
    """Return a service whose requests are handed over and answered by nobody but the test.

    rclpy sends what a callback returns, at once and exactly once, and keeps the header for itself.
    So the callback returns the request, and what should send it hands both over instead.
    """
    service = node.create_service(kind, name, lambda request, response: request)
    service.send_response = lambda request, header: heard(_Asked(header, request))
    return service


def _default_qos(topic: str) -> QoSProfile:
    if topic in ('pose', 'emergency_stop'):
        return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    return QoSProfile(depth=STATE_DEPTH)


def _place(pose: Any, x: float, y: float, yaw: float) -> None:
    pose.position.x, pose.position.y = float(x), float(y)
    pose.orientation.z, pose.orientation.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)


def _goal_id(name: str) -> str:
    is_id = len(name) == _GOAL_ID_HEX and all(digit in '0123456789abcdef' for digit in name)
    return name if is_id else hashlib.sha256(name.encode()).hexdigest()[:_GOAL_ID_HEX]


def _hex(goal_id: UUID) -> str:
    return bytes(goal_id.uuid).hex()


def _uuid(goal_id: str) -> UUID:
    return UUID(uuid=list(bytes.fromhex(goal_id)))


__all__ = ['Flood', 'ScriptedNav2', 'ScriptedNode', 'ScriptedRobot', 'scripted_robot']
