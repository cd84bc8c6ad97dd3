# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages to the core's values and back.

What a message leaves out, or holds as no number, stays visible as NaN or None: the core decides
what may be believed. Units are SI on both sides (REP 103), angles radians, times nanoseconds.
"""

from __future__ import annotations

from dataclasses import asdict
import json
import math
from typing import Any, TypeVar

from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Point,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3,
)
from nav_msgs.msg import Odometry as OdometryMsg
from sensor_msgs.msg import BatteryState

from robot_agent_harness.action import RunMission
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import Correlation, Event
from robot_agent_harness.journal.records import payload_text
from robot_agent_harness.messages import (
    action_fields,
    event_fields,
    ros_text,
    snapshot_fields,
)
from robot_agent_harness.msg import MissionEvent, RobotActionState
from robot_agent_harness.msg import WorldSnapshot as WorldSnapshotMsg
from robot_agent_harness.world.builder import BatteryReading
from robot_agent_harness.world.snapshot import (
    MapPose,
    Odometry,
    WorldSnapshot,
)

T = TypeVar('T')

UNIT_TOLERANCE = 0.1
"""How far a quaternion's norm may be from 1. A driver that never filled it sends zeros, which
must not pass for a heading of 0."""
_X, _Y, _YAW = 0, 7, 35  # on the diagonal of a 6 x 6 covariance, row by row
_CHARGING = {
    BatteryState.POWER_SUPPLY_STATUS_CHARGING: True,
    BatteryState.POWER_SUPPLY_STATUS_DISCHARGING: False,
    BatteryState.POWER_SUPPLY_STATUS_NOT_CHARGING: False,
    BatteryState.POWER_SUPPLY_STATUS_FULL: False,
}


def mission_result(outcome: str, reason: str, summary: str, mission_id: str) -> RunMission.Result:
    """Return how a mission ended as the action's result."""
    return RunMission.Result(
        outcome=ros_text(outcome),
        reason=ros_text(reason),
        summary=ros_text(summary),
        mission_id=ros_text(mission_id),
    )


def mission_feedback(step: int, state: str, last_event: str) -> RunMission.Feedback:
    """Return how far a mission has come as the action's feedback."""
    return RunMission.Feedback(step=step, state=ros_text(state), last_event=ros_text(last_event))


def yaw_of(q: Quaternion) -> float:
    """Return the heading in (-pi, pi]; NaN where the quaternion is no rotation."""
    norm = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        return math.nan
    return math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))


def stamp_ns(stamp: Time) -> int:
    """Return a stamp in nanoseconds; 0 means that the source wrote none."""
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def time_msg(ns: int) -> Time:
    """Return a time stamp."""
    return Time(sec=ns // NS_PER_S, nanosec=ns % NS_PER_S)


def odometry(message: OdometryMsg) -> Odometry:
    """Return odometry; the speed is that over ground, so a holonomic base counts too."""
    pose, twist = message.pose.pose, message.twist.twist
    return Odometry(
        x=pose.position.x,
        y=pose.position.y,
        yaw=yaw_of(pose.orientation),
        frame_id=message.header.frame_id,
        linear_m_s=math.hypot(twist.linear.x, twist.linear.y),
        angular_rad_s=twist.angular.z,
    )


def map_pose(message: PoseWithCovarianceStamped) -> MapPose:
    """Return a localiser's pose with the variances that it reports."""
    pose, covariance = message.pose.pose, message.pose.covariance
    return _pose(
        pose.position,
        pose.orientation,
        message.header.frame_id,
        _larger(float(covariance[_X]), float(covariance[_Y])),
        float(covariance[_YAW]),
    )


def transform_pose(transform: TransformStamped) -> MapPose:
    """Return the pose that a transform from the global frame to the base stands for."""
    body = transform.transform
    return _pose(body.translation, body.rotation, transform.header.frame_id, None, None)


def battery(message: BatteryState) -> BatteryReading:
    """Return a battery reading; the percentage as published, of whatever scale."""
    return BatteryReading(
        percentage=message.percentage,
        voltage=message.voltage,
        charging=_CHARGING.get(message.power_supply_status),
    )


def pose_stamped(goal: dict[str, Any], now_ns: int) -> PoseStamped:
    """Return a navigation goal (x, y in m, yaw in rad, frame_id) as Nav2 takes it.

    It carries the time: Nav2's GoalUpdater prefers any goal with a later stamp to ours.
    """
    message = PoseStamped()
    message.header.frame_id = ros_text(goal['frame_id'])
    message.header.stamp = time_msg(now_ns)
    message.pose.position.x, message.pose.position.y = float(goal['x']), float(goal['y'])
    message.pose.orientation.z = math.sin(float(goal['yaw']) / 2.0)
    message.pose.orientation.w = math.cos(float(goal['yaw']) / 2.0)
    return message


def snapshot_msg(
    snapshot: WorldSnapshot, mission_id: str | None, reason: str, payload: dict[str, Any]
) -> WorldSnapshotMsg:
    """Return a snapshot as a message; a number that is not there or not valid is NaN.

    :param payload: the whole snapshot, JSON-ready and fit to be shown.
    """
    fields = snapshot_fields(snapshot.to_dict(), mission_id, reason, _json(payload))
    header = fields.pop('header')
    message = WorldSnapshotMsg(**fields)
    message.header.stamp = Time(**header['stamp'])
    message.header.frame_id = header['frame_id']
    return message


def action_payload(action: RobotAction) -> dict[str, Any]:
    """Return what is told of an action beside its typed fields, JSON-ready."""
    payload: dict[str, Any] = {'goal': action.goal, 'feedback': action.feedback}
    if action.outcome is not None:
        payload['evidence'] = action.outcome.evidence
    return payload


def action_msg(action: RobotAction, now_ns: int, payload: dict[str, Any]) -> RobotActionState:
    """Return an action's newest value as a message.

    :param payload: as :func:`action_payload` returns it, fit to be shown.
    """
    fields = action_fields(
        {
            'mission_id': action.mission_id,
            'turn_id': action.turn_id,
            'tool_call_id': action.tool_call_id,
            'action_id': action.action_id,
        },
        skill=action.skill,
        state=action.state.value,
        reason=action.outcome.reason.value if action.outcome else '',
        stamp_ns=now_ns,
        payload_json=_json(payload),
    )
    return RobotActionState(**{**fields, 'stamp': Time(**fields['stamp'])})


def event_msg(seq: int, event: Event, ids: Correlation, now_ns: int) -> MissionEvent:
    """Return a journal record as a message."""
    fields = event_fields(
        asdict(ids),
        seq=seq,
        type=event.type.value,
        stamp_ns=now_ns,
        payload_json=payload_text(event),
    )
    return MissionEvent(**{**fields, 'stamp': Time(**fields['stamp'])})


def _pose(
    position: Point | Vector3,
    orientation: Quaternion,
    frame_id: str,
    position_variance_m2: float | None,
    yaw_variance_rad2: float | None,
) -> MapPose:
    return MapPose(
        x=position.x,
        y=position.y,
        yaw=yaw_of(orientation),
        frame_id=frame_id,
        position_variance_m2=position_variance_m2,
        yaw_variance_rad2=yaw_variance_rad2,
    )


def _larger(a: float, b: float) -> float:
    # max() may return the other one where one is NaN.
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(',', ':'))
