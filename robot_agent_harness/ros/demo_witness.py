# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's own eyes on the wire, and its hand: a node that shares nothing with the harness.

It sees the action's status topic and the robot's odometry, and keeps them for the comparison with
the journal. The mission goes to the harness as any ROS program would send it.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import threading
import time
from typing import Any

from action_msgs.msg import GoalStatusArray
from geometry_msgs.msg import Pose, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.action import ActionClient
from rclpy.qos import (
    DurabilityPolicy,
    qos_profile_action_status_default,
    qos_profile_sensor_data,
    QoSProfile,
)
from rclpy.signals import SignalHandlerOptions

from robot_agent_harness.action import RunMission
from robot_agent_harness.demo.observation import Observation, Sighting
from robot_agent_harness.msg import WorldSnapshot
from robot_agent_harness.ros.conversions import yaw_of
from robot_agent_harness.ros.demo_faults import SimFaults
from robot_agent_harness.ros.spinner import Spinner

HARNESS = '/robot_agent_harness'
JOIN_S = 1.0


@dataclass(frozen=True, slots=True)
class MissionResult:
    """What the action's result said."""

    outcome: str
    summary: str


class Witness:
    """A node on a thread of its own. Use it as a context, in a domain that was chosen before."""

    def __init__(self, domain: int) -> None:
        self._context = rclpy.Context()
        rclpy.init(
            context=self._context,
            domain_id=domain,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = rclpy.create_node('demo_witness', context=self._context)
        self._lock = threading.Lock()
        self._origin: tuple[float, float, float] | None = None
        self._first_map: tuple[float, float, float] | None = None
        self._track: list[Sighting] = []
        self._first_seen_ns: dict[str, int] = {}
        self._last_status: dict[str, int] = {}
        self._harness_sees_robot = False
        self._answer: bool | None = None
        self._result: MissionResult | None = None
        self._handle: Any = None
        self.faults = SimFaults(self._node)
        self._missions = ActionClient(self._node, RunMission, f'{HARNESS}/run_mission')
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for message, topic, callback, qos in (
            (Odometry, '/odom', self._on_odometry, qos_profile_sensor_data),
            (PoseWithCovarianceStamped, '/amcl_pose', self._on_map_pose, latched),
            (
                GoalStatusArray,
                '/navigate_to_pose/_action/status',
                self._on_status,
                qos_profile_action_status_default,
            ),
            (WorldSnapshot, f'{HARNESS}/world_snapshot', self._on_snapshot, QoSProfile(depth=1)),
        ):
            self._node.create_subscription(message, topic, callback, qos)
        self._spinner = Spinner(self._node, name='witness')

    def __enter__(self) -> Witness:
        """Return the witness itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the graph."""
        self._spinner.end(JOIN_S)
        self._node.destroy_node()
        self._context.try_shutdown()

    @property
    def sees_robot(self) -> bool:
        """Whether the robot's state arrives and its navigation action is served."""
        with self._lock:
            return bool(self._track)

    @property
    def harness_sees_robot(self) -> bool:
        """Whether the harness has said that it knows where the robot is and reaches its action."""
        return self._harness_sees_robot

    def send_mission(self, instruction: str, mission_id: str) -> bool:
        """Ask for a mission, and return whether the harness was there to be asked; see
        `mission_taken`.
        """
        if not self._missions.server_is_ready():
            return False
        self._answer = None
        goal = RunMission.Goal(instruction=instruction, mission_id=mission_id)
        self._missions.send_goal_async(goal).add_done_callback(self._on_answer)
        return True

    @property
    def mission_taken(self) -> bool | None:
        """Whether the harness took the mission; None while it has not answered."""
        return self._answer

    @property
    def mission_result(self) -> MissionResult | None:
        """How the mission ended; None while it runs."""
        return self._result

    def observation(self) -> Observation:
        """Return everything seen so far."""
        with self._lock:
            return Observation(
                dict(self._first_seen_ns), dict(self._last_status), tuple(self._track)
            )

    # -- the rclpy thread's side -----------------------------------------------------------------

    def _on_odometry(self, message: Odometry) -> None:
        x, y, yaw = _pose2d(message.pose.pose)
        with self._lock:
            if self._origin is None:
                if self._first_map is None:
                    return
                # At rest at the start, where both describe one place.
                self._origin = _origin(self._first_map, (x, y, yaw))
            ox, oy, turned = self._origin
            cos, sin = math.cos(turned), math.sin(turned)
            sighting = Sighting(time.time_ns(), ox + cos * x - sin * y, oy + sin * x + cos * y)
            self._track.append(sighting)

    def _on_map_pose(self, message: PoseWithCovarianceStamped) -> None:
        with self._lock:
            if self._first_map is None:
                self._first_map = _pose2d(message.pose.pose)

    def _on_status(self, message: GoalStatusArray) -> None:
        now = time.time_ns()
        with self._lock:
            for status in message.status_list:
                goal_id = bytes(status.goal_info.goal_id.uuid).hex()
                self._first_seen_ns.setdefault(goal_id, now)
                self._last_status[goal_id] = status.status

    def _on_snapshot(self, message: WorldSnapshot) -> None:
        self._harness_sees_robot = (
            message.pose_availability == WorldSnapshot.AVAILABLE
            and message.velocity_availability == WorldSnapshot.AVAILABLE
            and message.controller_reachable
        )

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        # Offered twice, a mission is taken once and refused once, in whichever order.
        self._answer = self._answer is True or bool(handle.accepted)
        if handle.accepted:
            self._handle = handle
            handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        result = future.result().result
        self._result = MissionResult(result.outcome, result.summary)


def _pose2d(pose: Pose) -> tuple[float, float, float]:
    return pose.position.x, pose.position.y, yaw_of(pose.orientation)


def _origin(
    on_map: tuple[float, float, float], by_odometry: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return where the odometry frame lies on the map."""
    turned = on_map[2] - by_odometry[2]
    cos, sin = math.cos(turned), math.sin(turned)
    x, y, _ = by_odometry
    return on_map[0] - (cos * x - sin * y), on_map[1] - (sin * x + cos * y), turned
