# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From the robot's topics into the world builder, from every kind of publisher there is."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseWithCovarianceStamped, Quaternion, TransformStamped
from nav_msgs.msg import Odometry
from node_rig import Probe
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.ros import conversions
from robot_agent_harness.ros.filling import plain
from robot_agent_harness.ros.world_sources import WorldSources


class Taken:
    """Stands for the builder: keeps what it is given."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self.odometry: list = []
        self.poses: list = []
        self.batteries: list = []
        self.stops: list = []

    def observe_odometry(self, sample):
        self._add(self.odometry, sample)

    def observe_map_pose(self, sample, *, source):
        self._add(self.poses, (source, sample))

    def observe_battery(self, sample):
        self._add(self.batteries, sample)

    def observe_emergency_stop(self, sample):
        self._add(self.stops, sample.value)

    def _add(self, kept, item):
        kept.append(item)
        self._probe.notice()


@pytest.fixture
def robot():
    probe = Probe('robot')
    yield probe
    probe.close()


@pytest.fixture
def taken():
    probe = Probe('listener')
    yield Taken(probe)
    probe.close()


def listen(taken: Taken) -> WorldSources:
    return WorldSources(
        taken._probe.node,
        taken,
        clock=SystemClock(),
        global_frame='map',
        base_frame='base_link',
    )


def qos(*, reliable: bool, latched: bool) -> QoSProfile:
    return QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def pose(x: float, stamp_s: int) -> PoseWithCovarianceStamped:
    message = PoseWithCovarianceStamped()
    message.header.stamp = Time(sec=stamp_s)
    message.header.frame_id = 'map'
    message.pose.pose.position.x = x
    message.pose.pose.orientation.w = 1.0
    message.pose.covariance[0], message.pose.covariance[7] = 0.01, 0.04
    return message


def keep_publishing(robot: Probe, publisher, message) -> None:
    robot.node.create_timer(0.02, lambda: publisher.publish(message))


def test_what_was_latched_before_the_start_is_received(robot, taken):
    latched = qos(reliable=True, latched=True)
    robot.node.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', latched).publish(
        pose(1.5, 100)
    )
    robot.node.create_publisher(Bool, 'emergency_stop', latched).publish(Bool(data=True))
    listen(taken)
    taken._probe.until(lambda: taken.poses and taken.stops)
    source, sample = taken.poses[0]
    assert (source, sample.value.x, sample.stamp_ns) == ('amcl_pose', 1.5, 100 * 10**9)
    assert sample.value.position_variance_m2 == 0.04
    assert taken.stops == [True]


@pytest.mark.parametrize('reliable', [True, False], ids=['reliable', 'best_effort'])
def test_publishers_that_latch_nothing_are_received_too(robot, taken, reliable):
    plain = qos(reliable=reliable, latched=False)
    listen(taken)
    for message_type, name, message in (
        (PoseWithCovarianceStamped, 'amcl_pose', pose(2.5, 100)),
        (Bool, 'emergency_stop', Bool(data=True)),
        (Odometry, 'odom', Odometry()),
        (BatteryState, 'battery_state', BatteryState(percentage=0.5)),
    ):
        publisher = robot.node.create_publisher(message_type, name, plain)
        keep_publishing(robot, publisher, message)
    taken._probe.until(
        lambda: taken.poses and taken.stops and taken.odometry and taken.batteries,
        vars(taken),
    )


def test_a_pose_that_two_subscriptions_hear_is_taken_once(robot, taken):
    latched = qos(reliable=True, latched=True)
    both = robot.node.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', latched)
    plain = qos(reliable=True, latched=False)
    other = robot.node.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', plain)
    listen(taken)
    keep_publishing(robot, other, pose(1.0, 1))
    taken._probe.until(lambda: taken.poses)
    for second in range(10, 20):
        both.publish(pose(3.0, second))
    taken._probe.until(lambda: any(s.stamp_ns == 19 * 10**9 for _, s in taken.poses))
    stamps = [s.stamp_ns for _, s in taken.poses if s.value.x == 3.0]
    assert len(stamps) == len(set(stamps))


def test_tf_is_looked_up_where_it_is_installed_and_told_once_for_each_transform(
    taken, monkeypatch
):
    looks: list = []
    transform = TransformStamped()
    transform.header.frame_id = 'map'
    transform.header.stamp = Time(sec=7)
    transform.transform.translation.x = 4.0
    transform.transform.rotation.w = 1.0

    class Buffer:
        def lookup_transform(self, target, source, _time):
            looks.append((target, source))
            taken._probe.notice()
            if len(looks) == 1:
                raise LookupError
            return transform

    class Listener:
        def __init__(self, buffer, node, *, spin_thread):
            assert spin_thread is False  # a second thread would spin our node

        def unregister(self):
            looks.append('unregistered')

    fake = SimpleNamespace(
        Buffer=Buffer, TransformListener=Listener, TransformException=LookupError
    )
    monkeypatch.setitem(sys.modules, 'tf2_ros', fake)
    sources = listen(taken)
    taken._probe.until(lambda: len(looks) >= 4)
    sources.close()
    ((source, sample),) = taken.poses
    assert looks[0] == ('map', 'base_link')
    assert (source, sample.value.x, sample.stamp_ns) == ('tf', 4.0, 7 * 10**9)
    assert sample.value.position_variance_m2 is None
    assert looks[-1] == 'unregistered'


@pytest.mark.parametrize(
    ('z', 'w', 'yaw'),
    [
        (0.0, 1.0, 0.0),
        (1.0, 0.0, math.pi),
        (math.sin(-0.6), math.cos(-0.6), -1.2),
        (0.0, 0.0, math.nan),
        (math.nan, 1.0, math.nan),
        (0.0, 2.0, math.nan),
    ],
)
def test_a_heading_is_read_from_rotations_only(z, w, yaw):
    assert conversions.yaw_of(Quaternion(x=0.0, y=0.0, z=z, w=w)) == pytest.approx(
        yaw, nan_ok=True
    )


@pytest.mark.parametrize('index', [0, 7])
def test_a_variance_that_is_no_number_stays_visible(index):
    message = pose(0.0, 1)
    message.pose.covariance[index] = math.nan
    assert math.isnan(conversions.map_pose(message).position_variance_m2)


def test_speed_is_that_over_ground():
    message = Odometry()
    message.twist.twist.linear.x, message.twist.twist.linear.y = -0.3, 0.4
    assert conversions.odometry(message).linear_m_s == pytest.approx(0.5)


def test_whether_a_battery_charges_is_unknown_unless_it_says_so():
    for status, charging in ((0, None), (1, True), (2, False), (3, False), (4, False)):
        reading = conversions.battery(BatteryState(power_supply_status=status))
        assert reading.charging is charging


def test_feedback_keeps_only_numbers_that_are_finite():
    from nav2_msgs.action import NavigateToPose

    message = NavigateToPose.Feedback(distance_remaining=math.inf, number_of_recoveries=2)
    message.navigation_time.sec = 3
    told = plain(message)
    assert 'distance_remaining' not in told
    assert (told['number_of_recoveries'], told['navigation_time_s']) == (2, 3.0)


def test_a_result_without_fields_has_no_payload():
    from std_srvs.srv import Empty

    assert plain(Empty.Response()) == {}
