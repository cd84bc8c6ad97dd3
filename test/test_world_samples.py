# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest
from world_rig import WorldRig

from robot_agent_harness.world import Availability, Odometry, Sample
from robot_agent_harness.world.samples import all_finite, FieldRules

RULES = FieldRules(field='odometry', source='odom', stale_after_s=1.0)
S = 1_000_000_000


def judge(sample, *, now_s, rules=RULES):
    return rules.observed(sample, now_ns=round(now_s * S), jump=None)


def test_what_was_never_received_is_missing_and_has_no_value():
    seen = judge(None, now_s=5)
    assert seen.availability is Availability.MISSING
    assert (seen.value, seen.age_s) == (None, None)
    assert seen.reason == 'never received on odom'


def test_age_is_the_delay_at_reception_plus_steady_time_since():
    sample = Sample(
        1.0, stamp_ns=99_800_000_000, received_monotonic_ns=5 * S, received_ros_ns=100 * S
    )
    assert judge(sample, now_s=5.3).age_s == pytest.approx(0.5)
    assert judge(sample, now_s=5.3).usable == 1.0
    late = judge(sample, now_s=5.9)
    assert late.availability is Availability.STALE
    assert late.reason == '1.1 s old, limit 1 s'
    assert late.value == 1.0


def test_a_source_that_is_late_on_arrival_is_told_apart_from_one_that_is_silent():
    sample = Sample(1.0, 90 * S, 5 * S, 100 * S)
    assert judge(sample, now_s=5.1).reason.endswith('it was 10.0 s old on arrival')


def test_a_type_without_a_stamp_ages_from_reception():
    sample = Sample(True, None, 5 * S, 100 * S)
    seen = judge(sample, now_s=5.25)
    assert (seen.availability, seen.age_s) == (Availability.AVAILABLE, 0.25)
    assert seen.source_stamp_ns is None


def test_a_stamp_of_zero_is_invalid_and_says_what_to_do():
    seen = judge(Sample(1.0, 0, 5 * S, 100 * S), now_s=5.25)
    assert seen.availability is Availability.INVALID
    assert seen.age_s == 0.25
    assert seen.source_stamp_ns is None
    assert 'does not stamp its messages' in seen.reason
    assert 'snapshot.accept_unstamped' in seen.reason


def test_a_stamp_of_zero_counts_from_reception_where_that_is_configured():
    rules = FieldRules('odometry', 'odom', 1.0, accept_unstamped=True)
    seen = judge(Sample(1.0, 0, 5 * S, 100 * S), now_s=5.25, rules=rules)
    assert (seen.availability, seen.age_s) == (Availability.AVAILABLE, 0.25)


@pytest.mark.parametrize('stamp_ns', [0, 7 * S])
def test_a_clock_that_has_not_begun_is_told_before_any_stamp_is_blamed(stamp_ns):
    seen = judge(Sample(1.0, stamp_ns, 5 * S, 0), now_s=5.25)
    assert seen.availability is Availability.INVALID
    assert 'use_sim_time is set, and no /clock' in seen.reason


def test_a_stamp_slightly_ahead_is_new_and_one_far_ahead_is_invalid():
    near = Sample(1.0, 100 * S + 90_000_000, 5 * S, 100 * S)
    assert judge(near, now_s=5.0).age_s == 0.0
    far = judge(Sample(1.0, 103 * S, 5 * S, 100 * S), now_s=5.0)
    assert far.availability is Availability.INVALID
    assert far.reason.startswith('stamped 3.0 s in the future')
    assert judge(Sample(1.0, 103 * S, 5 * S, 100 * S), now_s=9.0).availability is (
        Availability.INVALID
    )


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('field', ['x', 'y', 'yaw', 'linear_m_s', 'angular_rad_s'])
def test_a_number_that_is_not_finite_never_reaches_a_snapshot(bad, field):
    numbers = dict.fromkeys(['x', 'y', 'yaw', 'linear_m_s', 'angular_rad_s'], 0.0)
    value = Odometry(frame_id='odom', **{**numbers, field: bad})
    rig = WorldRig()
    rig.stand()
    rig.builder.observe_odometry(rig.sample(value))
    seen = rig.capture().odometry
    assert (seen.availability, seen.value) == (Availability.INVALID, None)
    assert 'not finite' in seen.reason


@given(
    stamp=st.none() | st.integers(-(2**62), 2**62),
    ros=st.integers(0, 2**62),
    received=st.integers(0, 2**62),
    later=st.integers(-(10**9), 2**62),
)
def test_an_age_is_never_negative_and_never_shrinks(stamp, ros, received, later):
    sample = Sample(1.0, stamp, received, ros)
    age = sample.age_ns(received + later)
    assert age >= 0
    assert sample.age_ns(received + later + 1) >= age


def test_whether_a_value_is_finite_is_asked_of_every_float_in_it():
    assert all_finite(Odometry(1.0, 2.0, 3.0, 'odom', 0.0, 0.0))
    assert all_finite(None)
    assert all_finite(True)
    assert not all_finite(math.nan)
