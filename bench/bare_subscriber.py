# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference for an idle harness: a bare rclpy node on the same topics, which does nothing.

After SIGUSR1 it prints at what rates odometry and feedback came since it began or was asked last.
"""

from __future__ import annotations

import signal
import sys
import time

from action_msgs.msg import GoalStatusArray
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_action_status_default, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

LATCHED = qos_profile_action_status_default
TOPICS = (
    (PoseWithCovarianceStamped, 'amcl_pose', LATCHED),
    (BatteryState, 'battery_state', qos_profile_sensor_data),
    (Bool, 'emergency_stop', LATCHED),
    (GoalStatusArray, 'navigate_to_pose/_action/status', LATCHED),
)


class Heard:
    """How often a topic came."""

    def __init__(self) -> None:
        self._count = 0
        self._since = time.monotonic()

    def one(self, _message: object) -> None:
        """Count a message."""
        self._count += 1

    def rate(self) -> float:
        """Return the rate since the last time, in Hz."""
        now = time.monotonic()
        rate = self._count / (now - self._since)
        self._count, self._since = 0, now
        return rate


def main() -> None:
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda number, _frame: asked.append(number))
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('bare_subscriber')
    odometry, feedback = Heard(), Heard()
    node.create_subscription(Odometry, 'odom', odometry.one, qos_profile_sensor_data)
    node.create_subscription(
        NavigateToPose.Impl.FeedbackMessage,
        'navigate_to_pose/_action/feedback',
        feedback.one,
        10,
    )
    for message_type, name, qos in TOPICS:
        node.create_subscription(message_type, name, lambda _: None, qos)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    print('ready')
    while signal.SIGTERM not in asked:
        executor.spin_once()
        if asked and asked.pop(0) == signal.SIGUSR1:
            print(f'odometry {odometry.rate():.1f} Hz, feedback {feedback.rate():.1f} Hz')
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
