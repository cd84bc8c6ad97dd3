# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
import math
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from world_rig import WorldRig

from robot_agent_harness.world import Availability
from robot_agent_harness.world.geometry import compose, distance, Transform2D, turn

A, ST, M, INV = (
    Availability.AVAILABLE,
    Availability.STALE,
    Availability.MISSING,
    Availability.INVALID,
)


def test_a_pose_without_odometry_stands_alone_with_its_own_age():
    rig = WorldRig()
    rig.pose(3.0, 1.0)
    rig.run(0.4)
    pose = rig.capture().map_pose
    assert (pose.availability, pose.value.x, pose.source) == (A, 3.0, 'amcl_pose')
    assert pose.age_s == pytest.approx(0.4)
    rig.run(0.7)
    assert rig.capture().map_pose.availability is ST


def test_a_localiser_that_speaks_only_in_motion_is_believed_at_rest_while_odometry_is_fresh():
    rig = WorldRig()
    rig.stand()
    rig.pose(5.0, 2.0)
    rig.stand(600.0)
    pose = rig.capture().map_pose
    assert (pose.availability, pose.value.x, pose.value.y) == (A, 5.0, 2.0)
    assert pose.source == 'amcl_pose carried by odom'
    assert pose.age_s == pytest.approx(0.0)
    rig.run(1.5)
    pose = rig.capture().map_pose
    assert pose.availability is ST
    assert pose.age_s == pytest.approx(1.5)


def test_the_pose_is_carried_by_what_odometry_moved_since_the_poses_own_stamp():
    rig = WorldRig()
    rig.stand()
    rig.drive(0.4)  # 0.5 m/s: at 0.2 m when the laser scan was taken, 0.4 s before now
    rig.pose(10.0, 0.0, math.pi / 2, late_s=0.4)
    rig.odom(0.4, v=0.5)
    pose = rig.capture().map_pose.value
    assert (pose.x, pose.y) == (pytest.approx(10.0), pytest.approx(0.2))


@settings(deadline=None, max_examples=50)
@given(
    truth=st.builds(Transform2D, *[st.floats(-20, 20)] * 2, st.floats(-3, 3)),
    turn_rate=st.floats(-0.3, 0.3),
    late_s=st.floats(0.0, 0.5),
)
def test_a_carried_pose_is_where_the_robot_is(truth, turn_rate, late_s):
    """The localiser is exact and late; odometry is exact in a frame of its own."""
    rig = WorldRig()
    path: dict[float, Transform2D] = {}
    pose = Transform2D(0.0, 0.0, 0.0)
    for step in range(40):
        path[round(step * 0.02, 2)] = pose
        pose = compose(pose, Transform2D(0.3 * 0.02, 0.0, turn_rate * 0.02))
    late_s = round(late_s / 0.02) * 0.02
    for pose in path.values():
        rig.clock.advance(0.02)
        rig.odom(pose.x, pose.y, pose.yaw, v=0.3, w=turn_rate)
    then = compose(truth, path[round(0.78 - late_s, 2)])
    rig.pose(then.x, then.y, then.yaw, late_s=late_s)
    seen = rig.capture().map_pose.value
    here = compose(truth, pose)
    assert distance(Transform2D(seen.x, seen.y, seen.yaw), here) < 1e-6
    assert turn(Transform2D(seen.x, seen.y, seen.yaw), here) < 1e-6


def test_a_pose_from_before_odometry_was_heard_is_carried_from_the_first_odometry():
    rig = WorldRig()
    rig.pose(5.0, 0.0, late_s=300.0)
    rig.stand()
    pose = rig.capture().map_pose
    assert (pose.availability, pose.value.x) == (A, 5.0)
    rig.drive(0.3)
    assert rig.capture().map_pose.value.x == pytest.approx(5.3)


@pytest.mark.parametrize('back', [0.0, 0.6], ids=['away', 'away and back'])
def test_a_localiser_that_stays_silent_while_the_robot_moves_far_is_dead(back):
    rig = WorldRig()
    rig.stand()
    rig.pose(5.0)
    rig.drive(0.45)
    assert rig.capture().map_pose.availability is A
    rig.drive(0.15, start_m=0.45)
    rig.run(back / 0.5, odom=lambda t: rig.odom(0.6 - 0.5 * t, v=0.5))
    pose = rig.capture().map_pose
    assert pose.availability is ST
    assert 'silent while odometry moved' in pose.reason
    assert pose.age_s == pytest.approx(1.2 + back / 0.5)
    rig.pose(5.6 - back)
    rig.odom(0.6 - back)
    assert rig.capture().map_pose.availability is A


def test_turning_on_the_spot_far_without_a_word_from_the_localiser_shows_it_dead_too():
    rig = WorldRig()
    rig.stand()
    rig.pose(5.0, 0.0, 3.0)
    rig.run(1.0, odom=lambda t: rig.odom(0.0, 0.0, 0.5 * t, w=0.5))
    assert rig.capture().map_pose.availability is A
    rig.run(0.3, odom=lambda t: rig.odom(0.0, 0.0, 0.5 + 0.5 * t, w=0.5))
    assert rig.capture().map_pose.availability is ST


class Amcl:
    """Speaks as AMCL does: when odometry has moved 0.25 m or 0.2 rad, and late."""

    LATE_S = 0.15

    def __init__(self, rig):
        self.rig = rig
        self.alive = True
        self.spoke_at = Transform2D(99.0, 0.0, 0.0)
        self.pending = []

    def step(self, odom, truth):
        """Take a laser scan at the robot's true pose."""
        moved = distance(odom, self.spoke_at) > 0.25 or turn(odom, self.spoke_at) > 0.2
        if moved and self.alive:
            self.spoke_at = odom
            self.pending.append((self.rig.clock.ros_ns(), truth))
        while self.pending:
            stamp, pose = self.pending[0]
            if self.rig.clock.ros_ns() - stamp < self.LATE_S * 1e9:
                break
            self.pending.pop(0)
            self.rig.pose(pose.x, pose.y, pose.yaw, stamp=stamp)


@pytest.mark.parametrize('seed', range(8))
@pytest.mark.parametrize('dies', [False, True])
def test_a_live_amcl_is_believed_through_a_drive_and_a_dead_one_is_found_out(seed, dies):
    random = Random(seed)
    rig = WorldRig()
    amcl = Amcl(rig)
    truth, odom = Transform2D(4.0, -2.0, 2.0), Transform2D(0.0, 0.0, 0.0)
    since_death = 0.0
    for step in range(1200):
        if step % 100 == 0:
            v, w = random.choice([0.0, 0.3, 0.7]), random.choice([0.0, 0.5, -1.2])
        if dies and step == 300:
            amcl.alive, died_at = False, odom
        rig.clock.advance(0.02)
        truth = compose(truth, Transform2D(v * 0.02, 0.0, w * 0.02))
        slip = random.uniform(0.97, 1.03)  # what odometry gets wrong, and AMCL corrects
        odom = compose(odom, Transform2D(v * 0.02 * slip, 0.0, w * 0.02 * slip))
        rig.odom(odom.x, odom.y, odom.yaw, v=v, w=w)
        if step % 5 == 0:
            amcl.step(odom, truth)
        if step % 7 or step < 10:
            continue
        seen = rig.capture().map_pose
        if amcl.alive:
            assert seen.availability is A
            here = Transform2D(seen.value.x, seen.value.y, seen.value.yaw)
            assert distance(here, truth) < 0.1
        else:
            since_death = max(since_death, distance(odom, died_at))
            if since_death > 0.25 + 0.15 + 0.1 + 0.5:
                assert seen.availability is ST
    assert rig.anomalies() == []


def test_a_localiser_that_spoke_at_rest_and_falls_silent_is_not_believed():
    """K13: odometry goes on, and says that the robot stands."""
    rig = WorldRig()
    rig.stand(1.0, periodic_pose=True)
    rig.stand(0.5)
    pose = rig.capture().map_pose
    assert pose.availability is A
    assert pose.age_s == pytest.approx(0.5), 'its own age, not that of the odometry'
    rig.stand(1.5)
    pose = rig.capture().map_pose
    assert pose.availability is ST
    assert pose.age_s == pytest.approx(2.0)
    assert 'the localiser spoke every 0.05 s and is silent' in pose.reason


def test_the_same_pose_sent_again_with_its_old_stamp_is_no_sign_of_life():
    rig = WorldRig()
    rig.stand(1.0, periodic_pose=True)
    stamp = rig.clock.ros_ns()
    rig.run(2.0, odom=lambda _: rig.odom(), pose=lambda _: rig.pose(stamp=stamp))
    assert rig.capture().map_pose.availability is ST


def test_a_localiser_that_was_asked_to_speak_at_rest_is_known_again_by_its_habit_in_motion():
    rig = WorldRig()
    rig.stand(1.0, periodic_pose=True)
    rig.stand(5.0)
    assert rig.capture().map_pose.availability is ST
    rig.drive(0.3)
    rig.pose(0.3)
    rig.run(60.0, odom=lambda _: rig.odom(0.3))
    assert rig.capture().map_pose.availability is A


def test_poses_while_driving_do_not_make_a_localiser_periodic():
    rig = WorldRig()
    rig.stand()
    rig.run(
        10.0,
        odom=lambda t: rig.odom(0.5 * t, v=0.5),
        pose=lambda t: rig.pose(0.5 * t),
    )
    rig.run(60.0, odom=lambda _: rig.odom(5.0))
    assert rig.capture().map_pose.availability is A


def test_a_localiser_that_speaks_at_rest_stays_known_through_a_gap_in_motion():
    rig = WorldRig()
    rig.stand(1.0, periodic_pose=True)
    rig.drive(1.0)  # two seconds without a pose, and none of them at rest
    rig.pose(1.0)
    rig.run(5.0, odom=lambda _: rig.odom(1.0))
    assert rig.capture().map_pose.availability is ST


@pytest.mark.parametrize('source', ['amcl_pose', 'tf'])
@pytest.mark.parametrize(('metres', 'jumps'), [(1.0, True), (0.1, False)])
def test_a_jump_of_the_localisation_shows_across_a_jump_of_the_clock(source, metres, jumps):
    rig = WorldRig()
    rig.run(1.0, odom=lambda _: rig.odom(), pose=lambda _: rig.pose(source=source))
    rig.clock.step_ros(3600.0)
    rig.stand(0.2)
    rig.pose(metres, source=source)
    rig.stand(0.2)
    assert rig.anomalies() == ['clock_jump', *['localization_jump'][: int(jumps)]]


def test_a_pose_that_contradicts_odometry_is_reported_once_as_a_jump():
    """K11: the localiser teleports the estimate while the wheels hardly move."""
    rig = WorldRig()
    rig.stand()
    rig.pose(0.1)
    rig.stand()
    rig.drive(0.02)
    rig.pose(3.02, 0.01)
    rig.odom(0.02)
    (jump,) = rig.builder.take_anomalies()
    assert jump.kind == 'localization_jump'
    assert jump.details['metres'] == pytest.approx(2.9, abs=0.05)
    assert jump.details['from'] == pytest.approx({'x': 0.125, 'y': 0.0, 'yaw': 0.0})
    assert jump.details['to'] == {'x': 3.02, 'y': 0.01, 'yaw': 0.0}
    rig.stand()
    rig.pose(3.02, 0.01)
    rig.odom(0.02)
    assert rig.anomalies() == []


def test_a_turn_of_the_estimate_is_a_jump_and_one_across_the_seam_is_not():
    rig = WorldRig()
    rig.stand()
    rig.pose(0.0, 0.0, 3.1)
    rig.stand()
    rig.pose(0.0, 0.0, -3.1)
    rig.stand()
    assert rig.anomalies() == []
    rig.pose(0.0, 0.0, -2.0)
    rig.stand()
    assert rig.anomalies() == ['localization_jump']


def test_small_corrections_and_long_trips_are_no_jumps():
    rig = WorldRig()
    rig.stand()
    rig.pose()
    for leg in range(20):
        rig.drive(0.3, start_m=0.3 * leg)
        rig.pose(0.3 * (leg + 1) * 1.05, 0.1 * (leg % 2))
    assert rig.anomalies() == []


def test_a_transform_is_used_as_it_is_with_the_covariance_of_the_localiser():
    rig = WorldRig()
    rig.stand()
    rig.pose(9.0, 9.0, variance=0.04)
    rig.pose(1.0, 2.0, source='tf', variance=None, late_s=0.1)
    pose = rig.capture().map_pose
    assert (pose.source, pose.value.x, pose.value.y) == ('tf', 1.0, 2.0)
    assert pose.value.position_variance_m2 == 0.04
    assert pose.age_s == pytest.approx(0.1)
    rig.stand(2.0)
    assert rig.capture().map_pose.availability is ST, 'odometry carries no transform'


def test_a_transform_without_a_localisers_message_has_no_covariance():
    rig = WorldRig()
    rig.pose(1.0, 2.0, source='tf', variance=None)
    assert rig.capture().map_pose.value.position_variance_m2 is None


def test_a_transform_that_jumps_is_reported_as_well():
    rig = WorldRig()
    rig.run(1.0, odom=lambda t: rig.odom(t, v=1.0), pose=lambda t: rig.pose(t, source='tf'))
    assert rig.anomalies() == []
    rig.odom(1.0)
    rig.pose(4.0, source='tf')
    assert rig.anomalies() == ['localization_jump']


@pytest.mark.parametrize('source', ['tf', 'amcl_pose'])
def test_a_pose_in_another_frame_is_invalid(source):
    rig = WorldRig(global_frame='/map')
    rig.stand()
    rig.pose(frame='robot2/map', source=source)
    pose = rig.capture().map_pose
    assert pose.availability is INV
    assert "'robot2/map'" in pose.reason
    assert 'global_frame' in pose.reason
    rig.clock.advance(0.1)
    rig.odom()
    rig.pose(frame='/map', source=source)
    assert rig.capture().map_pose.availability is A


def test_odometry_that_starts_anew_carries_no_old_pose():
    rig = WorldRig()
    rig.run(0.5, odom=lambda _: rig.odom(0.45))
    rig.pose(5.0)
    rig.run(1.5, odom=lambda _: rig.odom(0.45))
    rig.run(1.5, odom=lambda _: rig.odom(0.0))
    pose = rig.capture().map_pose
    assert (pose.availability, pose.value.x) == (ST, 5.0)
    rig.pose(5.0)
    rig.run(1.5, odom=lambda _: rig.odom(0.0))
    assert rig.capture().map_pose.availability is A
    assert rig.anomalies() == []


def test_odometry_of_two_robots_on_one_topic_carries_nothing():
    """K22: a missing namespace."""
    rig = WorldRig()
    rig.stand()
    rig.pose(5.0)
    for _ in range(40):
        rig.clock.advance(0.05)
        rig.odom(frame='robot1/odom')
        rig.odom(0.05, frame='robot2/odom')
    assert rig.capture().map_pose.availability is ST


def test_one_odometry_stamp_from_the_future_does_not_stop_the_carrying():
    rig = WorldRig()
    rig.stand()
    rig.pose(5.0)
    rig.odom(late_s=-1000.0)
    rig.stand()
    rig.drive(0.3)
    assert rig.capture().map_pose.value.x == pytest.approx(5.3)


def test_odometry_that_cannot_be_believed_carries_nothing():
    rig = WorldRig()
    rig.pose(5.0)
    rig.run(1.5, odom=lambda _: rig.odom(stamp=0))
    assert rig.capture().map_pose.availability is ST


def test_unstamped_odometry_carries_where_that_is_configured():
    rig = WorldRig(accept_unstamped=frozenset({'odometry'}))
    rig.pose(5.0)
    rig.run(1.5, odom=lambda _: rig.odom(stamp=0))
    assert rig.capture().map_pose.availability is A


@pytest.mark.parametrize('source', ['amcl_pose', 'tf'])
def test_what_the_wheels_have_done_is_told_in_the_directions_of_the_map(source):
    rig = WorldRig()
    for step in range(101):  # 2 m along the map's y axis, which odometry takes for its x axis
        rig.odom(0.02 * step, v=0.2)
        rig.pose(0.0, 0.02 * step, math.pi / 2, source=source)
        rig.clock.advance(0.1)
    driven = rig.capture().map_pose.value.driven
    assert (driven.x, driven.y) == (pytest.approx(0.0, abs=0.01), pytest.approx(2.0, abs=0.06))
    assert (driven.length_m, driven.gaps) == (pytest.approx(2.0, abs=0.06), 0)
    rig.odom(50.0)
    rig.clock.advance(0.1)
    rig.pose(0.0, 2.0, math.pi / 2, source=source)
    again = rig.capture().map_pose.value.driven
    assert (again.length_m, again.gaps) == (driven.length_m, 1), 'odometry started anew'


def test_nothing_heard_is_missing():
    assert WorldRig().capture().map_pose.availability is M


def test_frozen_odometry_teaches_nobody_that_a_localiser_speaks_at_rest():
    rig = WorldRig()
    for step in range(8):  # it drives, and AMCL speaks for that
        rig.stand(0.2)
        rig.pose(0.25 * step, 0.0)
    rig.stand(5.0)
    pose = rig.capture().map_pose
    assert (pose.availability, pose.reason) == (A, None)
