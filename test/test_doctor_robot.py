# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the doctor advises where a name is not the robot's: no ROS is needed to judge facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from robot_agent_harness.doctor.facts import ActionFacts, RobotFacts, TfFacts, TopicFacts
from robot_agent_harness.doctor.finding import Finding, Level
from robot_agent_harness.doctor.robot import check_robot, Needs
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.world.recorded import unseen_world

WORLD = unseen_world('seen', monotonic_ns=0, wall_ns=0, ros_ns=0, reason='nothing heard')
LACKING = RobotFacts(
    listened_s=2.5,
    domain_id=0,
    discovery='localhost',
    namespace='/',
    others=3,
    harness=None,
    use_sim_time=False,
    clock_publishers=0,
    clock_heard=False,
    tf=None,
    topics=(),
    actions=(),
    lifecycle={},
    mismatches=(),
    world=WORLD,
)


def _odom(name: str, *elsewhere: str) -> TopicFacts:
    return TopicFacts('odom', name, 'nav_msgs/msg/Odometry', (), elsewhere)


def _found(area: str, **facts: Any) -> Finding:
    robot = replace(LACKING, **facts)
    found = check_robot(robot, check_parameters({}), Needs())
    (one,) = [finding for finding in found if finding.area == area]
    return one


def test_a_robot_in_another_namespace_is_reached_by_its_namespace() -> None:
    found = _found('odom', topics=(_odom('/odom', '/tb3/odom'),))
    assert found.level is Level.PROBLEM
    assert found.message == 'nobody publishes /odom; /tb3/odom would fit'
    assert found.advice == 'set the namespace, if it is this robot: -r __ns:=/tb3'
    found = _found('odom', namespace='/tb3', topics=(_odom('/tb3/odom', '/odom'),))
    assert found.advice == 'set the namespace, if it is this robot: -r __ns:=/'


def test_a_topic_of_another_name_is_reached_by_a_remapping() -> None:
    found = _found('odom', topics=(_odom('/odom', '/wheel/odometry'),))
    assert found.advice == 'remap: -r odom:=/wheel/odometry'


def test_what_is_in_the_robots_own_namespace_comes_before_another_robots() -> None:
    others = ('/robot0/odom', '/robot2/odom', '/robot1/wheel/odometry')
    found = _found('odom', namespace='/robot1', topics=(_odom('/robot1/odom', *others),))
    assert found.advice == 'remap: -r odom:=/robot1/wheel/odometry'
    action = ActionFacts(
        'navigate_to_pose',
        '/robot1/navigate_to_pose',
        expected=True,
        servers=0,
        missing=('send_goal',),
        elsewhere=('/robot0/navigate_to_pose', '/robot1/nav/go'),
        type='nav2_msgs/action/NavigateToPose',
        served_as=(),
    )
    found = _found('navigate_to_pose', namespace='/robot1', actions=(action,))
    assert found.advice == 'remap: -r navigate_to_pose:=/robot1/nav/go'


def test_a_name_that_is_alike_in_its_last_part_alone_is_reached_by_a_remapping() -> None:
    odom = _odom('/nav/odom', '/wheels/odom')
    assert _found('odom', topics=(odom,)).advice == 'remap: -r odom:=/wheels/odom'
    odom = _odom('/tb1/nav/odom', '/tb2/nav/odom')
    found = _found('odom', namespace='/tb1', topics=(odom,))
    assert found.advice == 'set the namespace, if it is this robot: -r __ns:=/tb2'


def test_of_a_whole_fleet_a_few_names_are_told() -> None:
    fleet = [f'/robot{number}/odom' for number in range(50)]
    found = _found('odom', topics=(_odom('/odom', *fleet),))
    assert found.message.endswith(
        '/robot0/odom, /robot1/odom, /robot10/odom, /robot11/odom and 46 more would fit'
    )


@pytest.mark.parametrize(
    ('tf', 'namespace', 'level', 'told'),
    [
        (None, '/', Level.OK, 'tf2_ros is not installed: the map pose is amcl_pose'),
        (TfFacts('/tf', 0, ()), '/', Level.OK, 'nobody publishes /tf: the map pose is amcl_pose'),
        (TfFacts('/tf', 0, ('/other/tf',)), '/robot1', Level.OK, 'nobody publishes /tf: the map'),
        (TfFacts('/tf', 0, ('/robot1/tf',)), '/robot1', Level.WARNING, '/robot1/tf would fit'),
        (TfFacts('/tf', 2, ()), '/', Level.WARNING, 'nothing leads from map to base_link'),
    ],
)
def test_transforms_are_missed_only_where_somebody_publishes_them(
    tf: TfFacts | None, namespace: str, level: Level, told: str
) -> None:
    found = _found('tf', namespace=namespace, tf=tf)
    assert (found.level, told in found.message) == (level, True), found
