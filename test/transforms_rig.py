# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot that tells where it is by tf alone, and a harness that listens, over DDS.

With tf2_ros installed both use it; without, both use `tf2_stand_in`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import importlib.util
import math
import os
from pathlib import Path
import sys
from typing import Any

from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from node_rig import DOMAIN, HarnessProcess
import rclpy
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.context import Context
from rclpy.time import Time
from rosgraph_msgs.msg import Clock as ClockMessage

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.ros.scripted_nav2 import ScriptedNav2
from robot_agent_harness.ros.spinner import Spinner

STAND_IN = str(Path(__file__).parent / 'tf2_stand_in')
if importlib.util.find_spec('tf2_ros') is None:
    sys.path.append(STAND_IN)
    os.environ['PYTHONPATH'] = f'{os.environ.get("PYTHONPATH", "")}:{STAND_IN}'

PERIOD_S = 0.02
"""As Nav2's loopback simulator with its shipped parameters."""
SILENT_AFTER_S = 1.0
"""How long after the last velocity command that simulator goes on publishing odometry."""
SPEED_M_S = 1.0


class TfRobot:
    """A robot whose pose is known from tf; its odometry is silent at rest, as that of Nav2's
    loopback simulator. It drives straight to each goal and reports success.

    :param prefix: in front of the names of its frames.
    :param remap: rules of the node, as on a command line.
    :param simulated_time: it publishes `/clock` from here on and stamps by it; None: system time.
    """

    def __init__(
        self,
        namespace: str,
        *,
        prefix: str = '',
        remap: Mapping[str, str] | None = None,
        simulated_time_s: float | None = None,
    ) -> None:
        import tf2_ros

        rules = [part for rule in (remap or {}).items() for part in ('-r', ':='.join(rule))]
        self.context = Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.node = rclpy.create_node(
            'tf_robot',
            namespace=namespace,
            context=self.context,
            cli_args=['--ros-args', *rules] if rules else None,
        )
        self.prefix = prefix
        self.x, self.y, self.yaw = 0.0, 0.0, 0.0
        """In its odometry's frame; m, rad."""
        self.map_to_odom = (0.0, 0.0, 0.0)
        self.time_s = simulated_time_s
        self.odometry_sent = 0
        self._goal: tuple[str, float, float] | None = None
        self._odometry_left_s = 0.0
        self._tf = tf2_ros.TransformBroadcaster(self.node)
        self._static = tf2_ros.StaticTransformBroadcaster(self.node)
        self._static.sendTransform([self._link('base_footprint', 'base_link', (0.0, 0.0, 0.0))])
        self._odom = self.node.create_publisher(Odometry, 'odom', 10)
        if simulated_time_s is not None:
            self._clock = self.node.create_publisher(ClockMessage, '/clock', 10)
        self.nav2 = ScriptedNav2(self.node)
        self.nav2.on_goal = self._on_goal
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(PERIOD_S, self._step, clock=steady)
        self._spinner = Spinner(self.node, name='tf_robot')

    def close(self) -> None:
        self._spinner.end(20.0)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def _on_goal(self, goal_id: str) -> None:
        goal = next(told for known, told in self.nav2.sent if known == goal_id)
        self._goal = (goal_id, goal['x'], goal['y'])

    def _step(self) -> None:
        if self.time_s is not None:
            self.time_s += PERIOD_S
            self._clock.publish(ClockMessage(clock=self._now()))
        self._drive()
        x, y, yaw = self.map_to_odom
        self._tf.sendTransform(
            [
                self._link('map', 'odom', (x, y, yaw)),
                self._link('odom', 'base_footprint', (self.x, self.y, self.yaw)),
            ]
        )
        if self._odometry_left_s > 0.0:
            self._odometry_left_s -= PERIOD_S
            self._publish_odometry()

    def _drive(self) -> None:
        if self._goal is None:
            return
        goal_id, goal_x, goal_y = self._goal
        self._odometry_left_s = SILENT_AFTER_S
        left_x, left_y = goal_x - self.map_to_odom[0] - self.x, goal_y - self.y
        left = math.hypot(left_x, left_y)
        if left > SPEED_M_S * PERIOD_S:
            self.x += left_x / left * SPEED_M_S * PERIOD_S
            self.y += left_y / left * SPEED_M_S * PERIOD_S
            return
        self._goal = None
        self.nav2.status((goal_id, GoalStatus.SUCCEEDED))
        self.nav2.result(GoalStatus.SUCCEEDED, {}, goal_id)

    def _publish_odometry(self) -> None:
        message = Odometry(child_frame_id=f'{self.prefix}base_link')
        message.header.stamp = self._now()
        message.header.frame_id = f'{self.prefix}odom'
        message.pose.pose.position.x, message.pose.pose.position.y = self.x, self.y
        message.pose.pose.orientation.w = 1.0
        if self._goal is not None:
            message.twist.twist.linear.x = SPEED_M_S
        self._odom.publish(message)
        self.odometry_sent += 1

    def _link(
        self, parent: str, child: str, place: tuple[float, float, float]
    ) -> TransformStamped:
        message = TransformStamped(child_frame_id=f'{self.prefix}{child}')
        message.header.frame_id = parent if parent == 'map' else f'{self.prefix}{parent}'
        message.header.stamp = self._now()
        message.transform.translation.x, message.transform.translation.y = place[:2]
        message.transform.rotation.z = math.sin(place[2] / 2.0)
        message.transform.rotation.w = math.cos(place[2] / 2.0)
        return message

    def _now(self) -> Any:
        if self.time_s is None:
            return self.node.get_clock().now().to_msg()
        return Time(nanoseconds=round(self.time_s * 1e9)).to_msg()


@contextmanager
def tf_robot(namespace: str, **settings: Any) -> Iterator[TfRobot]:
    robot = TfRobot(namespace, **settings)
    try:
        yield robot
    finally:
        robot.close()


@contextmanager
def listening(
    namespace: str, journal: Path, *, remap: Mapping[str, str] | None = None, **parameters: Any
) -> Iterator[HarnessProcess]:
    """Run a harness in a namespace; its end is part of every test."""
    rules = {'__ns': namespace, **(remap or {})}
    arguments = [part for rule in rules.items() for part in ('-r', ':='.join(rule))]
    given = {'journal.path': journal, 'mcp.port': 0}
    given.update({name.replace('__', '.'): value for name, value in parameters.items()})
    process = HarnessProcess('--ros-args', *arguments, '--', parameters=given)
    try:
        yield process
    finally:
        code = process.end()
    assert (code, 'Traceback' in '\n'.join(process.lines)) == (0, False), process.lines


def url_of(process: HarnessProcess) -> str:
    return str(process.says(r'ready: MCP at (http://\S+/mcp), journal').group(1))
