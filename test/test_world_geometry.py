# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from robot_agent_harness.world.geometry import (
    compose,
    distance,
    interpolate,
    inverse,
    Transform2D,
    turn,
    wrap_angle,
)

metres = st.floats(-1e3, 1e3)
angles = st.floats(-100.0, 100.0)
transforms = st.builds(Transform2D, metres, metres, angles)


def same(a: Transform2D, b: Transform2D) -> bool:
    return distance(a, b) < 1e-6 and turn(a, b) < 1e-6


@given(angles)
def test_a_wrapped_angle_is_the_same_direction_within_half_a_turn(angle):
    wrapped = wrap_angle(angle)
    assert -math.pi < wrapped <= math.pi
    assert math.cos(wrapped - angle) == pytest.approx(1.0)


def test_half_a_turn_either_way_is_plus_pi():
    assert wrap_angle(math.pi) == math.pi
    assert wrap_angle(-math.pi) == math.pi
    assert wrap_angle(3 * math.pi) == math.pi


@pytest.mark.parametrize('angle', [math.inf, -math.inf, math.nan])
def test_what_is_no_direction_wraps_to_nan(angle):
    assert math.isnan(wrap_angle(angle))


@given(transforms)
def test_a_transform_and_its_inverse_cancel(transform):
    assert same(compose(transform, inverse(transform)), Transform2D(0, 0, 0))
    assert same(compose(inverse(transform), transform), Transform2D(0, 0, 0))


@given(transforms, transforms, transforms)
def test_composition_is_associative(a, b, c):
    assert same(compose(compose(a, b), c), compose(a, compose(b, c)))


def test_a_child_ahead_of_a_parent_that_looks_left_lies_to_the_left():
    assert same(
        compose(Transform2D(1, 2, math.pi / 2), Transform2D(3, 0, 0)),
        Transform2D(1, 5, math.pi / 2),
    )


def test_turning_across_the_seam_takes_the_short_way():
    a, b = Transform2D(0, 0, 3.1), Transform2D(2, 0, -3.1)
    assert turn(a, b) == pytest.approx(2 * math.pi - 6.2)
    assert turn(interpolate(a, b, 0.5), Transform2D(1, 0, math.pi)) < 1e-9
