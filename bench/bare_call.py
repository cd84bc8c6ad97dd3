# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference for a managed call in one process: what any program has to do for it, written
barely.

`python bench/bare_call.py DATABASE --ros-args ...`. A tool on the SDK's own server over streamable
HTTP that commits a row, sends a goal with rclpy's action client, waits for its acceptance, commits
another row, and answers. The node hears the robot's topics, as whoever wants to know where it is.
"""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
import socket
import sys
import threading
from typing import Any

from bench_journal import OwnThread, RawWriter
from geometry_msgs.msg import PoseWithCovarianceStamped
from mcp.server import MCPServer
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_action_status_default, qos_profile_sensor_data
from rclpy.utilities import remove_ros_args
import uvicorn

ANSWER_S = 20.0
"""A busy machine takes long to discover everybody."""


class Robot:
    """A rclpy node in a thread of its own.

    :raises RuntimeError: the robot is not found.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._node = rclpy.create_node('bare_call')
        for kind, name, qos in (
            (Odometry, 'odom', qos_profile_sensor_data),
            (PoseWithCovarianceStamped, 'amcl_pose', qos_profile_action_status_default),
        ):
            self._node.create_subscription(kind, name, lambda _: None, qos)
        self._client = ActionClient(self._node, NavigateToPose, 'navigate_to_pose')
        if not self._client.wait_for_server(timeout_sec=ANSWER_S):
            raise RuntimeError('the action server was not found')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        threading.Thread(target=self._executor.spin, daemon=True).start()

    async def go(self, x: float, y: float, yaw: float) -> bool:
        """Send a goal and return whether it was accepted.

        :raises asyncio.TimeoutError: no answer came.
        """
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = 'map'
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        goal.pose.pose.orientation.z = math.sin(yaw / 2.0)
        goal.pose.pose.orientation.w = math.cos(yaw / 2.0)
        answered: asyncio.Future[Any] = self._loop.create_future()
        sent = self._client.send_goal_async(goal)
        sent.add_done_callback(
            lambda done: self._loop.call_soon_threadsafe(answered.set_result, done.result())
        )
        handle = await asyncio.wait_for(answered, ANSWER_S)
        handle.get_result_async()
        return bool(handle.accepted)


async def serve(database: Path) -> None:
    loop = asyncio.get_running_loop()
    robot, disk = Robot(loop), OwnThread(RawWriter(database, 'full').write)
    server = MCPServer('bare call', log_level='ERROR')

    @server.tool()
    async def navigate_to_pose(x: float, y: float, yaw: float) -> bool:
        """Have the robot drive there; return whether it was accepted."""
        await disk.do()
        accepted = await robot.go(x, y, yaw)
        await disk.do()
        return accepted

    listener = socket.create_server(('127.0.0.1', 0))
    print(f'ready: MCP at http://127.0.0.1:{listener.getsockname()[1]}/mcp')
    config = uvicorn.Config(server.streamable_http_app(), log_level='error')
    await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    rclpy.init(args=sys.argv)
    asyncio.run(serve(Path(remove_ros_args(sys.argv)[1])))


if __name__ == '__main__':
    main()
