# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""K18: ROS time restarts with a simulation, and steps with the system's time."""

import pytest
from world_rig import WorldRig

from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.world import Availability
from robot_agent_harness.world.clock_watch import ClockWatch

INV, A = Availability.INVALID, Availability.AVAILABLE
S = 1_000_000_000


def heard_everything(**config):
    rig = WorldRig(**config)
    rig.stand()
    rig.pose()
    rig.odom()
    rig.battery(0.8)
    rig.emergency_stop(False)
    return rig


@pytest.mark.parametrize('step_s', [-120.0, -0.5, 3600.0])
def test_after_a_jump_nothing_stamped_before_it_is_believed(step_s):
    rig = heard_everything()
    rig.clock.step_ros(step_s)
    snapshot = rig.capture()
    for field in (snapshot.map_pose, snapshot.odometry, snapshot.motion, snapshot.battery):
        assert field.availability is INV
        assert 'clock jump' in field.reason
    assert snapshot.safety.availability is A, 'its age never rested on the ROS clock'
    rig.capture()
    assert rig.anomalies() == ['clock_jump']


def test_fresh_data_is_believed_again_and_the_pose_only_with_a_fresh_pose():
    rig = heard_everything()
    rig.clock.step_ros(-3600.0)
    rig.stand()
    snapshot = rig.capture()
    assert snapshot.odometry.availability is A
    assert snapshot.motion.availability is A
    assert snapshot.map_pose.availability is INV, 'not carried across the jump'
    rig.pose(7.0)
    rig.stand()
    pose = rig.capture().map_pose
    assert (pose.availability, pose.value.x) == (A, 7.0)
    assert rig.anomalies() == ['clock_jump', 'localization_jump'], 'the wheels stood still'


def test_a_message_stamped_before_the_jump_that_arrives_after_it_is_invalid():
    rig = heard_everything()
    before = rig.clock.ros_ns()
    rig.clock.step_ros(-120.0)
    rig.odom(stamp=before)
    assert rig.capture().odometry.availability is INV
    rig.clock.advance(0.05)
    rig.odom()
    assert rig.capture().odometry.availability is A


def test_the_wall_clock_alone_may_step():
    rig = heard_everything()
    rig.clock.step_wall(-3600.0)
    assert rig.capture().map_pose.availability is A
    assert rig.anomalies() == []


def test_simulated_time_may_run_at_any_speed_but_not_back():
    rig = heard_everything(use_sim_time=True)
    rig.clock.step_ros(30.0)
    rig.odom()
    assert rig.capture().odometry.availability is A
    assert rig.anomalies() == []
    rig.clock.set_ros(0.0)
    assert rig.capture().odometry.availability is INV
    assert rig.anomalies() == ['clock_jump']


def test_a_backward_step_shows_even_after_a_long_silence():
    watch = ClockWatch(use_sim_time=False)
    assert watch.check(0, 100 * S) is None
    jump = watch.check(60 * S, 130 * S)
    assert jump.step_s == pytest.approx(-30.0)


def test_a_reading_of_the_other_thread_that_comes_late_is_no_jump():
    watch = ClockWatch(use_sim_time=False)
    watch.check(10 * S, 110 * S)
    assert watch.check(9 * S, 109 * S) is None
    assert watch.check(10 * S + 1, 110 * S + 1) is None


def test_a_clock_that_drifts_slowly_does_not_jump():
    watch = ClockWatch(use_sim_time=False)
    assert all(
        watch.check(second * S, round(second * S * 1.0005)) is None for second in range(10_000)
    )


def test_the_fake_clocks_step_apart_and_steady_time_never_goes_back():
    clock = FakeClock(start_s=10.0)
    wall, ros = clock.wall_ns(), clock.ros_ns()
    clock.advance(1.5)
    clock.step_wall(-3600.0)
    assert clock.monotonic_ns() == round(11.5 * S)
    assert clock.wall_ns() - wall == round(-3598.5 * S)
    assert clock.ros_ns() - ros == round(1.5 * S)
    clock.set_ros(3.0)
    clock.advance(1.0)
    assert clock.ros_ns() == 4 * S
    with pytest.raises(ValueError, match='never goes back'):
        clock.set_monotonic(1.0)


def test_a_fake_clock_may_follow_a_loop():
    now = 5.0
    clock = FakeClock(monotonic=lambda: now)
    assert clock.monotonic_ns() == 5 * S
    now = 6.0
    assert clock.monotonic_ns() == 6 * S
    with pytest.raises(ValueError, match='callable'):
        clock.advance(1.0)


def test_sequential_ids_count_each_kind():
    ids = SequentialIds()
    assert [ids.new_id('mission'), ids.new_id('call'), ids.new_id('mission')] == [
        'mission-1',
        'call-1',
        'mission-2',
    ]
    assert ids.new_goal_id() == '0' * 31 + '1'
    assert ids.new_goal_id() == '0' * 31 + '2'
