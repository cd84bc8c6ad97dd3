# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the simulated robot says about itself: odometry, map pose, battery, emergency stop.

All names are relative. The messages are made once and only updated: sending them is most of the
node's work.
"""

from __future__ import annotations

import math
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

from robot_agent_harness.ros.sim_faults import Faults
from robot_agent_harness.ros.sim_nav2 import Frames
from robot_agent_harness.ros.sim_world import Battery, Pose2D, Robot

BATTERY_PERIOD_S = 1.0
_BATTERY_EMPTY_V, _BATTERY_FULL_V = 21.0, 25.2
_POSE_VARIANCE = 0.01
"""Of x and y in m^2, and of yaw in rad^2: a localisation that can be believed."""


def fill_pose(message: Pose, pose: Pose2D) -> None:
    """Write a plane pose into a message whose other coordinates are zero."""
    message.position.x = pose.x
    message.position.y = pose.y
    message.orientation.z = math.sin(pose.yaw / 2.0)
    message.orientation.w = math.cos(pose.yaw / 2.0)


class Every:
    """Says when a periodic message is due, on a grid, so that late ticks do not add up."""

    def __init__(self, period_s: float) -> None:
        self._period = period_s
        self._next = -math.inf

    def due(self, now: float) -> bool:
        """Return whether it is time, at steady time `now` in s; a tick may come a little early."""
        if now < self._next - 0.1 * self._period:
            return False
        self._next = max(self._next + self._period, now)
        return True


class StateTopics:
    """The publishers of the robot's state, each at its own rate, and silent as the faults say.

    :param rates_hz: of `odom` and `amcl_pose`.
    """

    def __init__(
        self,
        *,
        node: Node,
        robot: Robot,
        battery: Battery,
        faults: Faults,
        frames: Frames,
        time_scale: float,
        rates_hz: tuple[float, float],
    ) -> None:
        self._node = node
        self._robot = robot
        self._battery = battery
        self._faults = faults
        self._frames = frames
        self._scale = time_scale
        self._odom_due, self._map_pose_due = (Every(1.0 / rate) for rate in rates_hz)
        self._battery_due = Every(BATTERY_PERIOD_S)

        stream = QoSProfile(depth=10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._odom_publisher = self._publisher(Odometry, 'odom', stream)
        self._map_pose_publisher = self._publisher(PoseWithCovarianceStamped, 'amcl_pose', latched)
        self._battery_publisher = self._publisher(BatteryState, 'battery_state', stream)
        self._emergency_stop_publisher = self._publisher(Bool, 'emergency_stop', latched)

        self._odom = Odometry()
        self._odom.header.frame_id = frames.odom_frame
        self._odom.child_frame_id = frames.base_frame
        self._map_pose = PoseWithCovarianceStamped()
        self._map_pose.header.frame_id = frames.global_frame
        for covariance in (
            self._odom.pose.covariance,
            self._odom.twist.covariance,
            self._map_pose.pose.covariance,
        ):
            for x_y_yaw in (0, 7, 35):
                covariance[x_y_yaw] = _POSE_VARIANCE

    def publish_due(self, now: float, stamp: Time) -> None:
        """Send what is due at steady time `now` in s, stamped with the robot's time `stamp`."""
        if self._odom_due.due(now) and not self._faults.freeze_odom:
            self._publish_odom(stamp)
        if self._map_pose_due.due(now) and not self._faults.freeze_localization:
            self._publish_map_pose(stamp)
        if self._battery_due.due(now):
            self.publish_battery()

    def publish_emergency_stop(self) -> None:
        """Send whether the emergency stop is on; late joiners get the last one."""
        self._emergency_stop_publisher.publish(Bool(data=self._faults.emergency_stop))

    def publish_battery(self) -> None:
        """Send the charge, or what the fault wants it to be."""
        fraction = self._battery.fraction
        if self._faults.battery_fraction >= 0.0:
            fraction = self._faults.battery_fraction
        message = BatteryState()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = self._frames.base_frame
        message.percentage = fraction
        message.voltage = _BATTERY_EMPTY_V + fraction * (_BATTERY_FULL_V - _BATTERY_EMPTY_V)
        # The message's own rule: what is not measured is NaN.
        message.current = message.charge = message.capacity = message.design_capacity = math.nan
        message.temperature = math.nan
        message.present = True
        message.power_supply_technology = BatteryState.POWER_SUPPLY_TECHNOLOGY_LION
        message.power_supply_status = (
            BatteryState.POWER_SUPPLY_STATUS_CHARGING
            if self._battery.charging
            else BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
        )
        if self._faults.battery_mute:
            message.power_supply_status = BatteryState.POWER_SUPPLY_STATUS_UNKNOWN
        self._battery_publisher.publish(message)

    def _publisher(self, message_type: Any, topic: str, qos: QoSProfile) -> Any:
        return self._node.create_publisher(
            message_type,
            topic,
            qos,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    def _publish_odom(self, stamp: Time) -> None:
        robot, message = self._robot, self._odom
        message.header.stamp = stamp
        fill_pose(message.pose.pose, robot.pose.relative_to(self._frames.odom_origin))
        slide_x, slide_y = robot.slide
        cos, sin = math.cos(robot.pose.yaw), math.sin(robot.pose.yaw)
        twist = message.twist.twist
        twist.linear.x = (robot.v + cos * slide_x + sin * slide_y) * self._scale
        twist.linear.y = (cos * slide_y - sin * slide_x) * self._scale
        twist.angular.z = robot.w * self._scale
        self._odom_publisher.publish(message)

    def _publish_map_pose(self, stamp: Time) -> None:
        pose = self._robot.pose
        self._map_pose.header.stamp = stamp
        fill_pose(self._map_pose.pose.pose, pose)
        self._map_pose.pose.pose.position.x = pose.x + self._faults.localization_jump_m
        self._map_pose_publisher.publish(self._map_pose)
