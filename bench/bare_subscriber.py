# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference for an idle harness: a bare rclpy node on the same topics, which does nothing.

At its end, after SIGTERM, it prints at what rate odometry and feedback came.
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


def main() -> None:
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: ending.append(number))
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('bare_subscriber')
    odometry: list[float] = []
    feedback: list[float] = []
    node.create_subscription(
        Odometry, 'odom', lambda _: odometry.append(time.monotonic()), qos_profile_sensor_data
    )
    node.create_subscription(
        NavigateToPose.Impl.FeedbackMessage,
        'navigate_to_pose/_action/feedback',
        lambda _: feedback.append(time.monotonic()),
        10,
    )
    for message_type, name, qos in TOPICS:
        node.create_subscription(message_type, name, lambda _: None, qos)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    print('ready')
    while not ending:
        executor.spin_once()
    for name, heard in (('odometry', odometry), ('feedback', feedback)):
        if len(heard) > 1:
            print(f'{name}: {(len(heard) - 1) / (heard[-1] - heard[0]):.1f} Hz')
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
