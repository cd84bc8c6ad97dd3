# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain values fill messages by the types of their fields, and come back as JSON-ready values."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from geometry_msgs.msg import PoseWithCovariance
from nav2_msgs.action import BackUp, DockRobot, NavigateThroughPoses, NavigateToPose, Spin
from nav_msgs.msg import Path
from sensor_msgs.msg import BatteryState
from std_srvs.srv import SetBool

from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE, RosAction
from robot_agent_harness.ros.filling import fill, interface, plain
from robot_agent_harness.skills import docking, motion, navigation

NOW_NS = 7_000_000_005
POSE = {'x': 1.0, 'y': -2.0, 'yaw': 0.5, 'frame_id': 'map'}


def _goal(action: RosAction, goal: dict[str, Any]) -> Any:
    message = interface(action.type).Goal()
    return fill(message, action.fields(goal), now_ns=NOW_NS)


def test_a_navigation_goal_is_stamped_with_the_time_of_sending() -> None:
    message = _goal(NAVIGATE_TO_POSE, POSE)
    assert isinstance(message, NavigateToPose.Goal)
    stamp = message.pose.header.stamp
    assert (stamp.sec, stamp.nanosec, message.pose.header.frame_id) == (7, 5, 'map')
    assert plain(message)['pose'] == POSE


def test_poses_of_a_tour_fill_the_message_of_kilted_and_the_list_of_jazzy() -> None:
    message = _goal(navigation.NAVIGATE_THROUGH_POSES, {'poses': [POSE, {**POSE, 'x': 4.0}]})
    assert isinstance(message, NavigateThroughPoses.Goal)
    told = plain(message)['poses']
    goals = told['goals'] if isinstance(told, dict) else told
    assert [pose['x'] for pose in goals] == [1.0, 4.0]
    # The same values into a plain list of poses, which the action took before Kilted.
    path = fill(Path(), {'poses': [POSE, POSE]}, now_ns=NOW_NS)
    assert plain(path)['poses'] == [POSE, POSE]


def test_seconds_fill_a_duration() -> None:
    message = _goal(motion.SPIN, {'angle_rad': -1, 'time_allowance_s': 12.25})
    assert isinstance(message, Spin.Goal)
    assert (message.target_yaw, message.time_allowance.sec) == (-1.0, 12)
    assert message.time_allowance.nanosec == 250_000_000


def test_backing_up_goes_backwards_along_x_only() -> None:
    goal = {'forward_m': -0.3, 'speed_m_s': -0.1, 'time_allowance_s': 10.0}
    message = _goal(motion.BACK_UP, goal)
    assert isinstance(message, BackUp.Goal)
    assert (message.target.x, message.target.y, message.target.z) == (-0.3, 0.0, 0.0)
    assert message.speed == pytest.approx(-0.1)


def test_what_a_template_leaves_out_keeps_the_messages_own_default() -> None:
    message = _goal(docking.DOCK, {'dock_id': 'home', 'dock_type': ''})
    assert isinstance(message, DockRobot.Goal)
    assert (message.dock_id, message.use_dock_id, message.max_staging_time) == (
        'home',
        True,
        1000.0,
    )


@pytest.mark.parametrize(
    ('message', 'fields', 'told'),
    [
        (SetBool.Request(), {'date': True}, "no field 'date'; it has data"),
        (SetBool.Request(), {'data': 1}, 'does not take 1'),
        (SetBool.Request(), {'data': 'yes'}, 'does not take'),
        (Spin.Goal(), {'target_yaw': 'far'}, 'far'),
        (Spin.Goal(), {'time_allowance': {'secs': 1}}, "no field 'secs'"),
        (NavigateToPose.Goal(), {'pose': 3.0}, 'does not take 3.0'),
        (NavigateToPose.Goal(), {'pose': {'x': 1.0}}, 'does not take'),
        (BatteryState(), {'power_supply_status': 2.5}, 'does not take 2.5'),
        (BatteryState(), {'power_supply_status': 900}, 'does not take 900'),
        (BatteryState(), {'power_supply_status': -1}, 'does not take -1'),
        (PoseWithCovariance(), {'covariance': [0.0] * 35}, 'does not take'),
        (NavigateToPose.Goal(), {'pose': {'x': 1.0, 'y': math.nan}}, 'does not take'),
        (NavigateToPose.Goal(), {'pose': {'x': 1.0, 'y': '2'}}, 'does not take'),
        (NavigateToPose.Goal(), {'behavior_tree': None}, 'does not take None'),
        (Spin.Goal(), {'target_yaw': 1e39}, 'does not take 1e'),
        (Spin.Goal(), {'time_allowance': 3e9}, 'does not take 3'),
        (Spin.Goal(), {'time_allowance': math.inf}, 'does not take inf'),
    ],
)
def test_a_value_that_a_field_does_not_take_is_refused_by_name(
    message: Any, fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        fill(message, fields, now_ns=NOW_NS)


@given(st.floats(allow_nan=True, allow_infinity=True), st.text(max_size=600))
def test_whatever_a_message_holds_comes_back_as_json(number: float, text: str) -> None:
    message = BatteryState(percentage=0.5, location=text.replace('\0', ''))
    message.cell_voltage = [1.0] * 100
    message.voltage = number if math.isnan(number) or abs(number) < 3e38 else math.inf
    told = plain(message)
    json.dumps(told, allow_nan=False)
    assert ('voltage' in told) == math.isfinite(message.voltage)
    assert len(told['cell_voltage']) == 64
    assert len(told.get('location', '')) <= 512


def test_a_fixed_array_of_numbers_is_told_as_a_list() -> None:
    told = plain(PoseWithCovariance())
    assert told['covariance'] == [0.0] * 36


def test_a_type_that_this_machine_lacks_is_an_import_error() -> None:
    for name in ('no_msgs/action/Fly', 'nav2_msgs/action/Fly'):
        with pytest.raises(ImportError):
            interface(name)
