# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot at rest with topics at any rate and a goal that ends when it is told to.

`python bench/streams.py [--ros-args ...]`, and then lines on standard input:

    odom 200        Hz of `odom` (0: silent); likewise feedback, pose, battery
    succeed         end the goal that is under way

It says `ended <goal id> <steady time in ns>`: the moment before the terminal status leaves. Topics
are sent from a thread of its own, since an executor would spend more on them than their reader.
With `pose 0` the localiser speaks once, as AMCL does of a robot that stands still.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import sys
import threading
import time

from geometry_msgs.msg import PoseWithCovarianceStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

FORGOTTEN_AFTER_S = 1
VARIANCE = 0.01
RATES_HZ = {'odom': 50.0, 'feedback': 100.0, 'pose': 0.0, 'battery': 1.0}
"""To begin with; odometry and feedback as Nav2's robots send them."""


class StreamingRobot(Node):
    """Stands at the map's origin."""

    def __init__(self) -> None:
        super().__init__('streaming_robot')
        self._rates = dict(RATES_HZ)
        self._goal: ServerGoalHandle | None = None
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._odom = self.create_publisher(Odometry, 'odom', 10)
        self._pose = self.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', latched)
        self._battery = self.create_publisher(BatteryState, 'battery_state', 10)
        self._stop = self.create_publisher(Bool, 'emergency_stop', latched)
        self._odom_message = Odometry(child_frame_id='base_link')
        self._odom_message.header.frame_id = 'odom'
        self._pose_message = PoseWithCovarianceStamped()
        self._pose_message.header.frame_id = 'map'
        for index in (0, 7, 35):
            self._pose_message.pose.covariance[index] = VARIANCE
        self._battery_message = BatteryState(percentage=0.8, voltage=24.0, present=True)
        self._feedback_message = NavigateToPose.Feedback(distance_remaining=1.0)
        self._feedback_message.current_pose.header.frame_id = 'map'
        self._server = ActionServer(
            self,
            NavigateToPose,
            'navigate_to_pose',
            self._end,
            handle_accepted_callback=self._begin,
            result_timeout=FORGOTTEN_AFTER_S,
        )
        self._told_to_end = self.create_guard_condition(self._execute)
        self._stop.publish(Bool(data=False))
        self._send_pose()

    def obey(self) -> None:
        """Do what standard input says, until it ends."""
        for line in sys.stdin:
            match line.split():
                case ['succeed']:
                    self._told_to_end.trigger()
                case [topic, rate] if topic in self._rates:
                    self._rates[topic] = float(rate)
                case other:
                    print(f'not understood: {other}')

    def stream(self) -> None:
        """Send every topic when it is due, until ROS ends."""
        senders: dict[str, Callable[[], None]] = {
            'odom': self._send_odom,
            'feedback': self._send_feedback,
            'pose': self._send_pose,
            'battery': self._send_battery,
        }
        due = dict.fromkeys(senders, time.monotonic())
        with contextlib.suppress(rclpy.exceptions.InvalidHandle):
            while rclpy.ok():
                now = time.monotonic()
                for topic, send in senders.items():
                    rate = self._rates[topic]
                    if rate and now >= due[topic]:
                        due[topic] = max(due[topic] + 1.0 / rate, now - 1.0 / rate)
                        send()
                coming = [due[topic] for topic, rate in self._rates.items() if rate]
                time.sleep(max(0.0, min(coming, default=now + 0.1) - time.monotonic()))

    def _begin(self, handle: ServerGoalHandle) -> None:
        self._goal = handle

    def _execute(self) -> None:
        (handle, self._goal) = (self._goal, None)
        if handle is None:
            print('there is no goal')
        else:
            handle.execute()

    def _end(self, handle: ServerGoalHandle) -> NavigateToPose.Result:
        moment = time.monotonic_ns()
        handle.succeed()
        print(f'ended {bytes(handle.goal_id.uuid).hex()} {moment}')
        return NavigateToPose.Result()

    def _send_odom(self) -> None:
        self._odom_message.header.stamp = self.get_clock().now().to_msg()
        self._odom.publish(self._odom_message)

    def _send_pose(self) -> None:
        self._pose_message.header.stamp = self.get_clock().now().to_msg()
        self._pose.publish(self._pose_message)

    def _send_battery(self) -> None:
        self._battery_message.header.stamp = self.get_clock().now().to_msg()
        self._battery.publish(self._battery_message)

    def _send_feedback(self) -> None:
        if (goal := self._goal) is not None:
            goal.publish_feedback(self._feedback_message)


def main() -> None:
    rclpy.init(args=sys.argv)
    node = StreamingRobot()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threading.Thread(target=node.obey, daemon=True).start()
    streaming = threading.Thread(target=node.stream, daemon=True)
    streaming.start()
    print('streaming robot ready')
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
    streaming.join(1.0)


if __name__ == '__main__':
    main()
