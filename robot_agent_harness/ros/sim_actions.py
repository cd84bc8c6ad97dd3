# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The actions that the simulated robot serves, and what each makes of a goal.

What a distribution's nav2_msgs does not have is not served, and fields that it does not have are
not filled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

from geometry_msgs.msg import Pose, PoseStamped
from nav2_msgs import action as nav2_actions
from rclpy.duration import Duration

from robot_agent_harness.ros.sim_behaviors import Behavior
from robot_agent_harness.ros.sim_nav2 import (
    DOCK_NOT_IN_DB,
    Ending,
    Frames,
    NavGoal,
    Outcome,
    Progress,
)
from robot_agent_harness.ros.sim_topics import fill_pose
from robot_agent_harness.ros.sim_world import Pose2D, Robot, World

DOCK_ID = 'dock'
"""The one dock that there is."""
UNDOCK_M, UNDOCK_SPEED_MPS = 0.6, 0.2
WAYPOINT_COMPLETED, WAYPOINT_FAILED = 1, 3


@dataclass(frozen=True, slots=True)
class Served:
    """One action: how its server is called, and what its goals mean."""

    name: str
    type: Any
    """The generated class."""
    goal: Callable[[Any], NavGoal | Behavior]
    """Takes the request's goal."""


def served(*, world: World, robot: Robot, frames: Frames) -> dict[str, Served]:
    """Return the actions that this machine's nav2_msgs has, by name."""

    def to_map(stamped: PoseStamped) -> Pose2D | None:
        return frames.to_map(stamped.header.frame_id, pose2d(stamped.pose), robot.pose)

    def to_pose(goal: Any) -> NavGoal:
        return NavGoal(to_map(goal.pose), goal.pose.header.frame_id, goal.behavior_tree)

    def through_poses(goal: Any) -> NavGoal:
        # A list in Jazzy and before, a message with one since Kilted.
        poses = list(getattr(goal.poses, 'goals', goal.poses))
        stops = [to_map(pose) for pose in poses]
        known = [stop for stop in stops if stop is not None]
        target = known[-1] if known and len(known) == len(stops) else None
        frame = poses[-1].header.frame_id if poses else ''
        return NavGoal(target, frame, goal.behavior_tree, via=tuple(known[:-1]))

    def dock(goal: Any) -> NavGoal:
        x, y = world.dock
        known = goal.use_dock_id and goal.dock_id == DOCK_ID
        error = (0, '') if known else (DOCK_NOT_IN_DB, f'{goal.dock_id} is not in the database')
        return NavGoal(Pose2D(x, y, robot.pose.yaw), frames.global_frame, '', (), True, *error)

    def undock(goal: Any) -> Behavior:
        pose = robot.pose
        way = -UNDOCK_M
        x, y = pose.x + way * math.cos(pose.yaw), pose.y + way * math.sin(pose.yaw)
        forward = way if world.can_stand(x, y) else UNDOCK_M
        allowance = float(goal.max_undocking_time)
        return Behavior(
            forward=forward,
            speed=UNDOCK_SPEED_MPS,
            allowance=allowance,
            lies_after=0.0,
            timeout_code=907,
            collision_code=905,
        )

    def spin(goal: Any) -> Behavior:
        return Behavior(
            turn=float(goal.target_yaw),
            allowance=_seconds(goal.time_allowance),
            timeout_code=701,
            collision_code=703,
        )

    def back_up(goal: Any) -> Behavior:
        return _straight(goal, -abs(goal.target.x), timeout_code=711, collision_code=714)

    def drive_on_heading(goal: Any) -> Behavior:
        return _straight(goal, goal.target.x, timeout_code=721, collision_code=723)

    table: tuple[tuple[str, str, Callable[[Any], NavGoal | Behavior]], ...] = (
        ('navigate_to_pose', 'NavigateToPose', to_pose),
        ('navigate_through_poses', 'NavigateThroughPoses', through_poses),
        ('spin', 'Spin', spin),
        ('backup', 'BackUp', back_up),
        ('drive_on_heading', 'DriveOnHeading', drive_on_heading),
        ('dock_robot', 'DockRobot', dock),
        ('undock_robot', 'UndockRobot', undock),
    )
    return {
        name: Served(name, getattr(nav2_actions, kind), goal)
        for name, kind, goal in table
        if hasattr(nav2_actions, kind)
    }


def result(action: Served, outcome: Outcome, request: Any) -> Any:
    """Return the result message of a goal that has ended."""
    message = action.type.Result()
    succeeded = outcome.ending is Ending.SUCCEEDED
    values = {
        'error_code': outcome.error_code,
        'error_msg': outcome.error_msg,
        'success': succeeded,
    }
    for name, value in values.items():
        if hasattr(message, name):
            setattr(message, name, value)
    if hasattr(message, 'waypoint_statuses'):
        message.waypoint_statuses = [
            _waypoint(index, pose, succeeded) for index, pose in enumerate(request.poses.goals)
        ]
    return message


def navigation_feedback(message: Any, progress: Progress, pose: Pose2D) -> None:
    """Write how a drive gets on into the feedback of either navigation action."""
    fill_pose(message.current_pose.pose, pose)
    message.navigation_time = Duration(seconds=progress.navigation_time).to_msg()
    remaining = progress.estimated_time_remaining
    message.estimated_time_remaining = Duration(seconds=remaining).to_msg()
    message.number_of_recoveries = progress.recoveries
    message.distance_remaining = progress.distance_remaining
    if hasattr(message, 'number_of_poses_remaining'):
        message.number_of_poses_remaining = progress.poses_remaining


def behavior_feedback(action: Served, done: float) -> Any:
    """Return the feedback of a behaviour of which so much has been done."""
    message = action.type.Feedback()
    for name in ('angular_distance_traveled', 'distance_traveled'):
        if hasattr(message, name):
            setattr(message, name, done)
    return message


def pose2d(pose: Pose) -> Pose2D:
    """Return a pose in the plane."""
    q = pose.orientation
    yaw = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
    return Pose2D(pose.position.x, pose.position.y, yaw)


def _straight(goal: Any, forward: float, *, timeout_code: int, collision_code: int) -> Behavior:
    return Behavior(
        forward=float(forward),
        speed=abs(float(goal.speed)),
        allowance=_seconds(goal.time_allowance),
        timeout_code=timeout_code,
        collision_code=collision_code,
    )


def _waypoint(index: int, pose: PoseStamped, completed: bool) -> Any:
    from nav2_msgs.msg import WaypointStatus  # since Kilted

    return WaypointStatus(
        waypoint_status=WAYPOINT_COMPLETED if completed else WAYPOINT_FAILED,
        waypoint_index=index,
        waypoint_pose=pose,
    )


def _seconds(duration: Any) -> float:
    return float(duration.sec) + float(duration.nanosec) * 1e-9
