# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a scripted robot says of itself: pose, odometry, battery and emergency stop."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading
from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

from robot_agent_harness.ros.conversions import time_msg
from robot_agent_harness.ros.quiet import QUIET_PUBLISHER
from robot_agent_harness.testing.bench import BenchRobot, RATES_HZ

STATE_DEPTH = 5
TOPICS: dict[str, tuple[str, Any]] = {
    'pose': ('amcl_pose', PoseWithCovarianceStamped),
    'odom': ('odom', Odometry),
    'battery': ('battery_state', BatteryState),
    'emergency_stop': ('emergency_stop', Bool),
}
"""What a test calls the state topics, and their names (relative) and types on the wire."""
_POSITION_VARIANCES, _YAW_VARIANCE = (0, 7), 35  # on the diagonal of a 6 x 6 covariance


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
        # A publisher that one thread takes away while another publishes ends the latter.
        self._lock = threading.Lock()
        for topic in TOPICS:
            self.set_qos(topic, _default_qos(topic))
            self.set_rate(topic, RATES_HZ.get(topic, RATES_HZ['battery']))

    def set_qos(self, topic: str, qos: QoSProfile | None = None) -> None:
        """Publish a topic with another quality of service from now on; None: the default one."""
        name, kind = TOPICS[topic]
        made = self._node.create_publisher(
            kind, name, qos or _default_qos(topic), event_callbacks=QUIET_PUBLISHER
        )
        with self._lock:
            old, self._publishers[topic] = self._publishers.get(topic), made
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
        with self._lock:
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
        put_pose(message.pose.pose, *(says.pose if topic == 'pose' else says.odom))
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


def put_pose(pose: Any, x: float, y: float, yaw: float) -> None:
    """Write a position, m, and a heading, rad, into a `geometry_msgs/Pose`."""
    pose.position.x, pose.position.y = float(x), float(y)
    pose.orientation.z, pose.orientation.w = math.sin(yaw / 2.0), math.cos(yaw / 2.0)


def _default_qos(topic: str) -> QoSProfile:
    if topic in ('pose', 'emergency_stop'):
        return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    return QoSProfile(depth=STATE_DEPTH)
