# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from world_rig import WorldRig

from robot_agent_harness.world import Availability


@pytest.mark.parametrize(
    ('v', 'w', 'at_rest'),
    [(0.0, 0.0, True), (0.04, 0.09, True), (0.06, 0.0, False), (0.0, -0.2, False)],
)
def test_fresh_odometry_says_whether_the_robot_rests(v, w, at_rest):
    rig = WorldRig()
    rig.odom(v=v, w=w)
    rig.run(0.2)
    motion = rig.capture().motion
    assert motion.usable.at_rest is at_rest
    assert motion.value.evidence == 'odometry'
    assert motion.age_s == pytest.approx(0.2)


def test_no_velocity_is_invented_for_a_topic_that_never_spoke():
    """K20."""
    motion = WorldRig().capture().motion
    assert (motion.value, motion.availability) == (None, Availability.MISSING)
    assert 'never received on odom' in motion.reason


def test_old_odometry_is_stale_evidence():
    rig = WorldRig()
    rig.odom()
    rig.run(2.0)
    motion = rig.capture().motion
    assert motion.availability is Availability.STALE
    assert 'no fresh poses' in motion.reason


def test_where_odometry_is_silent_the_pose_over_a_window_says_so():
    rig = WorldRig()
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(1.0, 1.0, source='tf', late_s=0.02))
    motion = rig.capture().motion
    assert motion.usable.at_rest
    assert (motion.value.evidence, motion.source) == ('pose_window', 'tf')
    assert motion.age_s == pytest.approx(0.52), 'the age of the oldest sample that it needed'


def test_the_window_sees_creeping_turning_and_coming_back():
    for path in (
        lambda t: (0.06 * t, 0.0, 0.0),
        lambda t: (0.0, 0.0, 0.12 * t),
        lambda t: (0.1 if 0.65 < t < 0.85 else 0.0, 0.0, 0.0),
    ):
        rig = WorldRig()
        rig.run(1.0, step_s=0.1, pose=lambda t, r=rig, p=path: r.pose(*p(t), source='tf'))
        motion = rig.capture().motion
        assert motion.value.evidence == 'pose_window'
        assert not motion.value.at_rest


def test_a_window_needs_three_measurements_over_half_a_second_and_all_fresh():
    rig = WorldRig()
    rig.run(0.4, step_s=0.1, pose=lambda _: rig.pose(source='tf'))
    assert rig.capture().motion.availability is Availability.MISSING, 'too short'
    rig = WorldRig()
    rig.run(1.2, step_s=0.6, pose=lambda _: rig.pose(source='tf'))
    assert rig.capture().motion.availability is Availability.MISSING, 'too few'
    rig = WorldRig()
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(source='tf'))
    rig.run(0.8)
    assert rig.capture().motion.availability is Availability.MISSING, 'too old'


def test_the_same_transform_looked_up_again_is_one_measurement():
    """A transform that stopped is no evidence that the robot stands."""
    rig = WorldRig()
    stamp = rig.clock.ros_ns()
    rig.run(0.9, pose=lambda _: rig.pose(source='tf', stamp=stamp))
    assert rig.capture().motion.availability is Availability.MISSING


def test_poses_that_odometry_carried_forward_never_feed_the_window():
    rig = WorldRig()
    rig.stand()
    rig.pose()
    rig.stand(2.0)
    assert rig.capture().map_pose.value is not None
    rig.run(1.5)
    assert rig.capture().motion.availability is Availability.STALE


def test_poses_in_another_frame_never_feed_the_window():
    rig = WorldRig()
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(source='tf', frame='odom'))
    assert rig.capture().motion.availability is Availability.MISSING


def test_a_source_whose_own_clock_was_set_back_is_measured_anew():
    rig = WorldRig(accept_unstamped=frozenset())
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(source='tf', late_s=-0.09))
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(source='tf', late_s=0.6))
    motion = rig.capture().motion
    assert motion.availability is Availability.MISSING, 'no window of fresh ones'
    rig.run(1.0, step_s=0.1, pose=lambda _: rig.pose(source='tf', late_s=0.2))
    assert rig.capture().motion.usable.at_rest


def test_a_twist_that_is_never_filled_does_not_hide_that_the_robot_drives():
    rig = WorldRig()
    for step in range(20):
        rig.odom(0.05 * step)
        rig.clock.advance(0.1)
    assert rig.capture().motion.value.at_rest is False
    for _ in range(6):
        rig.odom(0.95)
        rig.clock.advance(0.1)
    assert rig.capture().motion.value.at_rest is True


@pytest.mark.parametrize(
    ('swing', 'seconds'),
    [
        (lambda t: (0.28 * math.sin(0.94 * t), 0.0, 0.263 * math.cos(0.94 * t), 0.0), 12.0),
        (lambda t: (0.0, 0.3 * math.sin(1.26 * t), 0.0, 0.378 * math.cos(1.26 * t)), 12.0),
        (lambda t: (0.5 * t - 0.25 * t * t, 0.0, 0.5 - 0.5 * t, 0.0), 4.0),
    ],
    ids=['to and fro', 'left and right', 'turns back and runs away'],
)
def test_a_robot_that_is_slow_for_a_moment_as_it_turns_back_is_not_at_rest(swing, seconds):
    rig = WorldRig()
    rests = []

    def publish(t):
        x, yaw, v, w = swing(t)
        rig.odom(x, 0.0, yaw, v=abs(v), w=w)
        rests.append(rig.capture().motion.value.at_rest)

    rig.run(seconds, odom=publish)
    assert not any(rests)


@pytest.mark.parametrize('rate_hz', [10.0, 50.0])
def test_a_robot_that_stopped_is_at_rest_half_a_second_later(rate_hz):
    rig = WorldRig()
    rig.run(1.0, step_s=1 / rate_hz, odom=lambda t: rig.odom(0.3 * t, v=0.3))
    rig.run(0.5 - 1 / rate_hz, step_s=1 / rate_hz, odom=lambda _: rig.odom(0.3))
    assert not rig.capture().motion.value.at_rest
    rig.run(0.1, step_s=1 / rate_hz, odom=lambda _: rig.odom(0.3))
    assert rig.capture().motion.value.at_rest


def test_a_motion_that_odometry_stamped_far_ahead_is_over_when_its_stamps_are_right_again():
    rig = WorldRig()
    rig.odom(v=0.3, late_s=-3600.0)
    rig.run(0.2, odom=lambda _: rig.odom())
    assert rig.capture().motion.value.at_rest


def test_odometry_that_starts_anew_somewhere_else_is_no_motion():
    rig = WorldRig()
    for x in (0.0, 0.0, 0.0, 4.0, 4.0, 4.0):
        rig.odom(x)
        rig.clock.advance(0.1)
        assert rig.capture().motion.value.at_rest


def test_a_pose_that_has_just_moved_belies_wheels_at_rest_until_it_stays():
    rig = WorldRig()
    rests = []
    for step in range(24):
        rig.odom()
        rig.pose(0.0 if step < 8 else 0.9, 0.0, source='tf')
        rig.clock.advance(0.1)
        rests.append(rig.capture().motion.value.at_rest)
    assert rests[:8] == [True] * 8
    assert not any(rests[8:12]), 'it slid, or its localisation changed its mind'
    assert all(rests[14:])


def test_the_small_corrections_of_a_localisation_do_not_move_a_robot_at_rest():
    rig = WorldRig()
    for step in range(20):
        rig.odom()
        rig.pose(0.1 * (step // 10), 0.0, source='tf')
        rig.clock.advance(0.1)
        assert rig.capture().motion.value.at_rest
