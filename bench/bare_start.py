# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference for a start: a bare rclpy node that sends one goal, `X Y`, and tells of it."""

from __future__ import annotations

import sys
import time

from nav2_msgs.action import NavigateToPose
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

LOOK_S = 0.005


def main() -> None:
    rclpy.init(args=sys.argv)
    node = rclpy.create_node('bare_start')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    client = ActionClient(node, NavigateToPose, 'navigate_to_pose')
    while not client.server_is_ready():  # `wait_for_server` looks four times a second
        time.sleep(LOOK_S)
    goal = NavigateToPose.Goal()
    goal.pose.header.frame_id = 'map'
    goal.pose.pose.position.x, goal.pose.pose.position.y = map(float, sys.argv[1:3])
    goal.pose.pose.orientation.w = 1.0
    asked = client.send_goal_async(goal)
    executor.spin_until_future_complete(asked)
    handle = asked.result()
    if handle is None or not handle.accepted:
        sys.exit('the goal was refused')
    print('accepted')
    executor.spin_until_future_complete(handle.get_result_async())
    print('ended')


if __name__ == '__main__':
    main()
