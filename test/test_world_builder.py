# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
import json
import math
import threading
import time

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest
from world_rig import NAVIGATION, WorldRig

from robot_agent_harness.clock import RandomIds, SystemClock
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.world import (
    ActionSummary,
    ArtifactRef,
    Availability,
    BatteryReading,
    MapPose,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Sample,
    SnapshotConfig,
    StaleAfter,
    WorldSnapshotBuilder,
)
from robot_agent_harness.world.projection import project

A, ST, M, INV = (
    Availability.AVAILABLE,
    Availability.STALE,
    Availability.MISSING,
    Availability.INVALID,
)


def test_before_any_message_every_field_is_missing_and_names_its_source():
    snapshot = WorldRig().capture()
    assert snapshot.snapshot_id == 'snapshot-1'
    assert snapshot.robot_id == 'robot1'
    for field, source in [
        (snapshot.map_pose, 'amcl_pose'),
        (snapshot.odometry, 'odom'),
        (snapshot.battery, 'battery_state'),
        (snapshot.safety, 'emergency_stop'),
    ]:
        assert (field.value, field.availability) == (None, M)
        assert field.reason == f'never received on {source}'


def test_a_snapshot_carries_what_the_caller_knows():
    action = ActionSummary('a' * 32, 'navigate_to_pose', 'RUNNING', {'x': 1.0}, 2.0)
    outcome = OutcomeSummary('b' * 32, 'navigate_to_pose', 'SUCCEEDED', 'verified', {'x': 1.0})
    image = ArtifactRef('file:///a', 'image/png', 3, 'c' * 64)
    rig = WorldRig()
    snapshot = rig.capture(active_action=action, recent_outcome=outcome, artifacts=(image,))
    assert snapshot.navigation is NAVIGATION
    assert (snapshot.active_action, snapshot.recent_outcome) == (action, outcome)
    assert snapshot.artifacts == (image,)
    assert snapshot.captured_wall_ns == rig.clock.wall_ns()


@pytest.mark.parametrize(
    'distance', [math.nan, math.inf, 'near', [1.0], {'m': 1.0}, True, 10**400]
)
def test_feedback_without_a_number_leaves_the_distance_out(distance):
    navigation = Observed(Navigation(True, (), distance, 2), 'n', None, 0.0, A)
    seen = WorldRig().capture(navigation=navigation).navigation
    assert (seen.value.distance_remaining_m, seen.value.recoveries) == (None, 2)
    navigation = Observed(Navigation(True, (), 1.5, distance), 'n', None, 0.0, A)
    seen = WorldRig().capture(navigation=navigation).navigation
    assert (seen.value.distance_remaining_m, seen.value.recoveries) == (1.5, None)


@pytest.mark.parametrize(
    ('percentage', 'scale', 'fraction'),
    [(0.85, 1.0, 0.85), (85.0, 100.0, 0.85), (0.0, 1.0, 0.0), (1.0, 1.0, 1.0), (100, 100.0, 1.0)],
)
def test_the_battery_is_read_on_the_configured_scale(percentage, scale, fraction):
    rig = WorldRig(battery_percentage_scale=scale)
    rig.battery(percentage)
    assert rig.capture().battery.usable.fraction == pytest.approx(fraction)


@pytest.mark.parametrize('percentage', [85.0, -0.01, math.inf, -math.inf, 1.01])
def test_a_percentage_off_the_scale_is_invalid_and_names_the_parameter(percentage):
    """K19: never 8500 %, never divided without being told to."""
    rig = WorldRig()
    rig.battery(percentage)
    battery = rig.capture().battery
    assert (battery.availability, battery.value) == (INV, None)
    assert 'battery.percentage_scale' in battery.reason


def believed(rig: WorldRig, percentages: Iterable[float], *, every_s: float = 60.0) -> list[float]:
    """Publish percentages, one after the other, and return those that are believed."""
    taken = []
    for percentage in percentages:
        rig.clock.advance(every_s)
        rig.battery(percentage)
        if rig.capture().battery.usable is not None:
            taken.append(percentage)
    return taken


def test_a_battery_that_has_shown_another_scale_is_not_read_on_ours_when_it_runs_low():
    """Full is 1, and the driver speaks per cent; at its end it sags, and recovers at rest."""
    per_cent = [3.0, 2.0, 1.0, 0.9, 3.0, 0.5, 0.9, 1.0, 0.0, 1.0]
    assert believed(WorldRig(), [1.02, 0.98, *per_cent]) == [0.98]
    assert believed(WorldRig(), per_cent, every_s=1.0) == []
    assert believed(WorldRig(), [*range(100, -1, -1), 1.0], every_s=1.0) == []
    assert believed(WorldRig(), [9.0, 0.0, 1.0, 9.0, -math.inf, 0.9], every_s=1.0) == []


@pytest.mark.parametrize(('said', 'scale'), [((85.0, 0.85), 1.0), ((850.0, 85.0), 100.0)])
def test_a_battery_is_believed_again_when_its_driver_is_mended(said, scale):
    rig = WorldRig(battery_percentage_scale=scale)
    assert believed(rig, [*said, said[1]]) == [said[1]] * 2


@pytest.mark.parametrize('nonsense', [[1.6], [3.0], [3.0, 2.5, 1.2], [255.0], [math.inf], [3, 9]])
@pytest.mark.parametrize('healthy', [0.3, 0.8, 1.0])
def test_a_few_absurd_percentages_do_not_make_a_battery_unusable(nonsense, healthy):
    said = [healthy, *nonsense, healthy - 0.01, healthy - 0.02]
    assert believed(WorldRig(), said, every_s=1.0) == [healthy, *said[-2:]]


@pytest.mark.parametrize(
    ('said', 'every_s'),
    [
        ([0.8, 3.0, 0.8], 11.0),  # much may have happened meanwhile
        ([0.8, 3.0, 0.6], 1.0),  # another battery, or another scale
        ([1.2, 3.0, 0.9], 1.0),  # it did not fit before either
        ([3.0, 0.8], 1.0),  # nothing is known of before
    ],
)
def test_a_battery_is_not_believed_where_its_absurd_percentages_may_be_of_another_scale(
    said, every_s
):
    rig = WorldRig()
    taken = believed(rig, said, every_s=every_s)
    assert taken == [percentage for percentage in said[:-1] if percentage <= 1.0]
    battery = rig.capture().battery
    assert 'is of another scale' in battery.reason
    assert 'battery.percentage_scale' in battery.reason


def test_an_unmeasured_percentage_is_invalid_and_an_unmeasured_voltage_is_absent():
    rig = WorldRig()
    rig.battery(math.nan)
    battery = rig.capture().battery
    assert (battery.availability, battery.value) == (INV, None)
    assert 'NaN' in battery.reason
    rig.builder.observe_battery(rig.sample(BatteryReading(0.5, math.nan, True)))
    battery = rig.capture().battery.usable
    assert (battery.fraction, battery.voltage_v, battery.charging) == (0.5, None, True)


def test_a_latched_emergency_stop_does_not_go_stale():
    rig = WorldRig()
    rig.emergency_stop(True)
    rig.run(3600.0, step_s=600.0)
    safety = rig.capture().safety
    assert safety.usable.emergency_stop is True
    assert safety.age_s == pytest.approx(3600.0)


def test_an_emergency_stop_that_is_a_heartbeat_goes_stale_where_configured():
    rig = WorldRig(stale_after_s=StaleAfter(safety=2.0))
    rig.emergency_stop(False)
    rig.run(3.0)
    assert rig.capture().safety.availability is ST


def test_messages_without_a_stamp_are_not_fresh():
    """K17."""
    rig = WorldRig()
    rig.run(1.0, odom=lambda _: rig.odom(stamp=0), pose=lambda _: rig.pose(stamp=0))
    snapshot = rig.capture()
    for field in (snapshot.odometry, snapshot.map_pose, snapshot.motion):
        assert field.availability is INV
        assert field.age_s == pytest.approx(0.0)
        assert 'does not stamp' in field.reason


def test_a_source_accepted_without_stamps_is_taken_at_reception():
    rig = WorldRig(accept_unstamped=frozenset({'odometry', 'map_pose'}))
    rig.run(1.0, odom=lambda _: rig.odom(stamp=0), pose=lambda _: rig.pose(stamp=0))
    snapshot = rig.capture()
    assert snapshot.odometry.availability is A
    assert snapshot.map_pose.availability is A


@pytest.mark.parametrize(
    ('config', 'name'),
    [
        ({'battery_percentage_scale': 50.0}, 'battery.percentage_scale'),
        ({'stale_after_s': StaleAfter(odometry=0.0)}, 'snapshot.stale_after_s.odometry'),
        ({'stale_after_s': StaleAfter(battery=math.nan)}, 'snapshot.stale_after_s.battery'),
        ({'accept_unstamped': frozenset({'odometri'})}, 'accept_unstamped'),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(config, name):
    with pytest.raises(ConfigurationError, match=name):
        SnapshotConfig(**config)


def test_anomalies_are_taken_once_and_bounded():
    rig = WorldRig()
    for _ in range(100):
        rig.clock.step_ros(-10.0)
        rig.odom()
    assert len(rig.builder.take_anomalies()) == 32
    assert rig.builder.take_anomalies() == ()


floats = st.floats() | st.floats(-3, 3)
stamps = st.sampled_from([-1, 0, None]) | st.integers(-(2**62), 2**62)
late = st.floats(-5, 5)
frames = st.sampled_from(['map', '/map', 'odom', ''])
steps = st.one_of(
    st.tuples(st.just('advance'), st.floats(0, 3)),
    st.tuples(st.just('step_ros'), st.floats(-10, 10)),
    st.tuples(st.just('odom'), st.tuples(*[floats] * 5), frames, stamps, late),
    st.tuples(st.just('pose'), st.tuples(*[floats] * 5), frames, stamps, late, st.booleans()),
    st.tuples(st.just('battery'), floats, floats),
    st.tuples(st.just('stop'), st.booleans()),
    st.tuples(st.just('capture')),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=60), st.booleans(), st.booleans())
def test_whatever_the_topics_say_a_snapshot_is_taken_and_is_valid_json(
    steps, simulated, unstamped
):
    accepted = frozenset({'map_pose', 'odometry'}) if unstamped else frozenset()
    rig = WorldRig(use_sim_time=simulated, accept_unstamped=accepted)
    for kind, *rest in [*steps, ('capture',)]:
        if kind == 'advance':
            rig.clock.advance(rest[0])
        elif kind == 'step_ros':
            rig.clock.step_ros(rest[0])
        elif kind == 'odom':
            (x, y, yaw, v, w), frame, stamp, late_s = rest
            sample = rig.sample(Odometry(x, y, yaw, frame, v, w), late_s=late_s, stamp=stamp)
            rig.builder.observe_odometry(sample)
        elif kind == 'pose':
            (x, y, yaw, c, d), frame, stamp, late_s, tf = rest
            sample = rig.sample(MapPose(x, y, yaw, frame, c, d), late_s=late_s, stamp=stamp)
            rig.builder.observe_map_pose(sample, source='tf' if tf else 'amcl_pose')
        elif kind == 'battery':
            rig.builder.observe_battery(rig.sample(BatteryReading(rest[0], rest[1])))
        elif kind == 'stop':
            rig.emergency_stop(rest[0])
        else:
            snapshot = rig.capture()
            json.dumps(snapshot.to_dict(), allow_nan=False)
            json.loads(project(snapshot, max_bytes=512).text)
            for field in (
                snapshot.map_pose,
                snapshot.odometry,
                snapshot.motion,
                snapshot.battery,
                snapshot.safety,
            ):
                assert (field.reason is None) == (field.availability is A)
                assert (field.availability is M) == (field.age_s is None)
                assert field.availability is not A or field.value is not None
    for anomaly in rig.builder.take_anomalies():
        json.dumps(anomaly.details, allow_nan=False)


def test_one_thread_may_observe_while_the_loop_captures():
    clock = SystemClock()
    builder = WorldSnapshotBuilder(
        clock=clock, ids=RandomIds(), robot_id='robot1', config=SnapshotConfig()
    )
    stop = threading.Event()
    failures = []

    def observe():
        step = 0
        try:
            while not stop.is_set():
                step += 1
                now = clock.ros_ns()
                x = step * 1e-6
                builder.observe_odometry(
                    Sample.now(Odometry(x, 0.0, 0.0, 'odom', 0.1, 0.0), now, clock)
                )
                if step % 20 == 0:
                    pose = MapPose(x + 7.0, 0.0, 0.0, 'map', 0.01, 0.01)
                    builder.observe_map_pose(Sample.now(pose, now, clock), source='amcl_pose')
        except Exception as error:  # shown below: a thread's exception would be lost
            failures.append(error)

    thread = threading.Thread(target=observe)
    thread.start()
    try:
        deadline = time.monotonic() + 1.0
        captured = 0
        while time.monotonic() < deadline:
            snapshot = builder.capture(navigation=NAVIGATION)
            pose, odometry = snapshot.map_pose.usable, snapshot.odometry.usable
            if pose is not None and odometry is not None:
                captured += 1
                assert 6.9 < pose.x - odometry.x < 7.1, 'a pose of one moment, odometry of another'
    finally:
        stop.set()
        thread.join(timeout=5)
    assert failures == []
    assert captured > 100
    assert builder.take_anomalies() == ()
