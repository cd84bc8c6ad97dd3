# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What each shipped verifier makes of what was observed; nothing here moves."""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.verification import (
    ChargingVerifier,
    DisplacementVerifier,
    NavigationVerifier,
    NobodyVerifies,
    Terminal,
    TurnVerifier,
    UndockedVerifier,
    Verdict,
    Verifier,
    WaypointsVerifier,
)
from robot_agent_harness.testing.fake_clock import FakeClock
from robot_agent_harness.world.geometry import compose, Transform2D, wrap_angle
from robot_agent_harness.world.journey import JourneyTrack, PASSED_WITHIN_M, Way
from robot_agent_harness.world.recorded import unseen_world
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import (
    Availability,
    Battery,
    Journey,
    MapPose,
    Motion,
    Observed,
    Odometry,
    WorldSnapshot,
)

SECOND = 1_000_000_000
ENDED_NS = 10 * SECOND
SUCCESS: dict[str, Any] = {'error_code': 0}
START = Transform2D(0.0, 0.0, 0.0)
angles = st.floats(-4 * math.pi, 4 * math.pi)
headings = st.floats(-math.pi, math.pi)
small = st.floats(-1.0, 1.0)


def _observed(value: Any, age_s: float = 0.05) -> Observed[Any]:
    return Observed(value, 'test', None, age_s, Availability.AVAILABLE)


def _world(
    at_s: float,
    *,
    odometry: Transform2D | None = START,
    on_map: Transform2D | None = START,
    turned: float | None = None,
    journey: Journey | None = None,
    at_rest: bool = True,
    battery: Battery | None = None,
    age_s: float = 0.05,
) -> WorldSnapshot:
    """Return what is known at that many seconds; a controller ends at 10 s."""
    world = unseen_world(
        'snapshot', monotonic_ns=round(at_s * SECOND), wall_ns=0, ros_ns=0, reason='unseen'
    )
    world = replace(world, motion=_observed(Motion(at_rest, 0.0, 0.0, 'odometry'), age_s))
    if odometry is not None:
        o = odometry
        seen = Odometry(o.x, o.y, wrap_angle(o.yaw), 'odom', 0.0, 0.0)
        world = replace(world, odometry=_observed(seen, age_s))
    if on_map is not None:
        pose = MapPose(on_map.x, on_map.y, wrap_angle(on_map.yaw), 'map', 0.01, 0.01)
        world = replace(world, map_pose=_observed(pose, age_s))
    if battery is not None:
        world = replace(world, battery=_observed(battery, age_s))
    if turned is not None:
        journey = Journey(turned, 0, None, 0.0)
    return replace(world, journey=journey)


def _judge(
    verifier: Verifier,
    goal: dict[str, Any],
    before: WorldSnapshot,
    now: WorldSnapshot,
    payload: dict[str, Any] | None = None,
) -> Verdict:
    terminal = Terminal(GoalStatus.SUCCEEDED, ENDED_NS, 'result', payload or SUCCESS)
    return verifier.judge(goal=goal, before=before, terminal=terminal, now=now).verdict


def _turn(angle: float, turned: float | None, on_map: float | None, **rest: Any) -> Verdict:
    now = _world(
        11.0,
        odometry=None if turned is None else Transform2D(0.0, 0.0, turned),
        on_map=None if on_map is None else Transform2D(0.0, 0.0, on_map),
        turned=turned,
    )
    return _judge(TurnVerifier(), {'angle_rad': angle}, _world(0.0), now, **rest)


@given(angles, st.floats(-0.25, 0.25))
def test_a_turn_of_any_size_and_sign_is_confirmed_by_what_odometry_counted(
    angle: float, off: float
) -> None:
    assume(abs(off) < 0.5 * abs(angle))
    assert _turn(angle, angle + off, angle + off) is Verdict.CONFIRMED


@given(angles, angles)
def test_a_turn_by_another_angle_is_never_confirmed(angle: float, turned: float) -> None:
    assume(abs(turned - angle) > 0.3 + 0.05 * abs(angle) + 1e-6)
    assert _turn(angle, turned, turned) is Verdict.DISPROVED


@given(st.floats(0.5, 4 * math.pi))
def test_a_turn_the_other_way_is_disproved(angle: float) -> None:
    assert _turn(angle, -angle, -angle) is Verdict.DISPROVED
    assert _turn(-angle, angle, angle) is Verdict.DISPROVED


@given(st.floats(math.pi, 4 * math.pi))
def test_a_heading_on_the_map_alone_never_confirms_more_than_half_a_turn(angle: float) -> None:
    assert _turn(angle, None, angle) is Verdict.INCONCLUSIVE


@given(st.floats(-2.0, 2.0))
def test_a_heading_on_the_map_alone_confirms_a_smaller_turn(angle: float) -> None:
    assert _turn(angle, None, angle) is Verdict.CONFIRMED


@pytest.mark.parametrize('angle', [4 * math.pi, -4 * math.pi, 9.0, math.pi, -1.0])
@pytest.mark.parametrize('counted', [0.955, 1.045])
def test_wheels_that_slip_a_little_do_not_make_a_turn_of_any_size_doubtful(
    angle: float, counted: float
) -> None:
    assert _turn(angle, counted * angle, wrap_angle(angle)) is Verdict.CONFIRMED


def test_a_turn_of_which_odometry_and_the_map_tell_different_things_is_inconclusive() -> None:
    assert _turn(1.5, 1.5, 0.0) is Verdict.INCONCLUSIVE
    assert _turn(1.5, 0.0, 1.5) is Verdict.INCONCLUSIVE
    assert _turn(3.0, 1.0, 0.0) is Verdict.DISPROVED  # neither saw it


def _silent_since(angle: float, counted: float) -> Verdict:
    """Judge a turn after which odometry fell silent, where the map has the right heading."""
    on_map = Transform2D(0.0, 0.0, angle)
    now = _world(11.0, odometry=None, on_map=on_map, turned=counted)
    return _judge(TurnVerifier(), {'angle_rad': angle}, _world(0.0), now)


@given(angles)
def test_odometry_that_is_silent_at_rest_has_counted_the_turn_before(angle: float) -> None:
    assert _silent_since(angle, angle) is Verdict.CONFIRMED


@given(st.floats(3.3, 4 * math.pi))
def test_odometry_that_fell_silent_a_turn_too_early_proves_nothing(angle: float) -> None:
    assert _silent_since(angle, angle - math.tau) is Verdict.INCONCLUSIVE
    assert _silent_since(-angle, -angle + math.tau) is Verdict.INCONCLUSIVE


def test_nothing_heard_of_the_world_since_leaves_a_turn_inconclusive() -> None:
    assert _turn(1.5, None, None) is Verdict.INCONCLUSIVE


def _moved(
    wanted: float, moved: Transform2D | None, on_map: Transform2D | None, yaw: float = 0.0
) -> Verdict:
    start = Transform2D(3.0, -2.0, yaw)
    before = _world(0.0, odometry=start, on_map=start)
    now = _world(
        11.0,
        odometry=None if moved is None else compose(start, moved),
        on_map=None if on_map is None else compose(start, on_map),
    )
    return _judge(DisplacementVerifier(), {'forward_m': wanted}, before, now)


@given(st.floats(0.05, 2.0), st.sampled_from([1.0, -1.0]), headings, st.floats(-0.09, 0.09))
def test_a_stretch_along_any_heading_is_confirmed(
    length: float, sign: float, yaw: float, off: float
) -> None:
    assume(abs(off) < 0.5 * length)
    moved = Transform2D(sign * length + off, off, 0.1)
    assert _moved(sign * length, moved, moved, yaw) is Verdict.CONFIRMED


@given(st.floats(0.3, 2.0), headings, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_a_robot_that_ended_elsewhere_has_not_gone_the_stretch(
    length: float, yaw: float, x: float, y: float
) -> None:
    limit = 0.1 + 0.15 * length + 1e-6
    assume(abs(x - length) > limit or abs(y) > limit)
    moved = Transform2D(x, y, 0.0)
    assert _moved(length, moved, moved, yaw) is Verdict.DISPROVED


@given(st.floats(0.05, 2.0), st.sampled_from([1.0, -1.0]), st.floats(0.0, 0.49))
def test_less_than_half_of_what_was_asked_for_is_none_of_it_however_short(
    length: float, sign: float, share: float
) -> None:
    moved = Transform2D(sign * share * length, 0.0, 0.0)
    assert _moved(sign * length, moved, moved) is Verdict.DISPROVED
    assert _moved(sign * length, moved, None) is Verdict.DISPROVED
    turned = sign * share * length
    assert _turn(sign * length, turned, turned) is Verdict.DISPROVED
    assert _turn(sign * length, None, turned) is Verdict.DISPROVED


def test_a_stretch_backwards_is_none_forwards_and_a_drift_to_the_side_is_neither() -> None:
    back = Transform2D(-0.5, 0.0, 0.0)
    assert _moved(-0.5, back, back) is Verdict.CONFIRMED
    assert _moved(0.5, back, back) is Verdict.DISPROVED
    aside = Transform2D(0.5, 0.4, 0.0)
    assert _moved(0.5, aside, aside) is Verdict.DISPROVED
    assert _moved(0.5, Transform2D(0.5, 0.0, 1.0), None) is Verdict.DISPROVED


def test_wheels_that_turned_under_a_robot_that_did_not_move_prove_nothing() -> None:
    went, stayed = Transform2D(1.0, 0.0, 0.0), Transform2D(0.0, 0.0, 0.0)
    assert _moved(1.0, went, stayed) is Verdict.INCONCLUSIVE


def test_one_source_decides_where_the_other_is_silent() -> None:
    went, stayed = Transform2D(1.0, 0.0, 0.0), Transform2D(0.0, 0.0, 0.0)
    assert _moved(1.0, went, None) is Verdict.CONFIRMED
    assert _moved(1.0, None, went) is Verdict.CONFIRMED
    assert _moved(1.0, stayed, None) is Verdict.DISPROVED
    assert _moved(1.0, None, None) is Verdict.INCONCLUSIVE


FULL, CHARGING, DRAINING, MUTE = (
    Battery(0.99, False, None),
    Battery(0.5, True, None),
    Battery(0.5, False, None),
    Battery(0.5, None, None),
)


@pytest.mark.parametrize(
    ('battery', 'verdict'),
    [
        (CHARGING, Verdict.CONFIRMED),
        (DRAINING, Verdict.DISPROVED),
        (FULL, Verdict.INCONCLUSIVE),
        (MUTE, Verdict.INCONCLUSIVE),
        (None, Verdict.INCONCLUSIVE),
    ],
)
def test_a_docking_is_judged_by_whether_the_battery_charges(
    battery: Battery | None, verdict: Verdict
) -> None:
    now = _world(11.0, battery=battery)
    assert _judge(ChargingVerifier(), {}, _world(0.0), now) is verdict


@pytest.mark.parametrize(
    ('battery', 'moved_m', 'verdict'),
    [
        (DRAINING, 0.5, Verdict.CONFIRMED),
        (DRAINING, 0.02, Verdict.DISPROVED),
        (CHARGING, 0.5, Verdict.DISPROVED),
        (MUTE, 0.5, Verdict.INCONCLUSIVE),
    ],
)
def test_an_undocking_is_judged_by_battery_and_motion(
    battery: Battery, moved_m: float, verdict: Verdict
) -> None:
    at = Transform2D(moved_m, 0.0, 0.0)
    now = _world(11.0, odometry=at, on_map=at, battery=battery)
    assert _judge(UndockedVerifier(), {}, _world(0.0), now) is verdict


@pytest.mark.parametrize(
    ('wheels_m', 'map_m', 'verdict'),
    [
        (0.3, 0.0, Verdict.INCONCLUSIVE),
        (0.0, 0.3, Verdict.INCONCLUSIVE),
        (0.5, None, Verdict.CONFIRMED),
        (None, 0.5, Verdict.CONFIRMED),
        (None, None, Verdict.INCONCLUSIVE),
    ],
)
def test_a_robot_that_only_its_wheels_or_its_map_moved_has_not_come_off_its_dock(
    wheels_m: float | None, map_m: float | None, verdict: Verdict
) -> None:
    at = [None if m is None else Transform2D(-m, 0.0, 0.0) for m in (wheels_m, map_m)]
    now = _world(11.0, odometry=at[0], on_map=at[1], battery=DRAINING)
    assert _judge(UndockedVerifier(), {}, _world(0.0), now) is verdict


CASES: list[tuple[Verifier, dict[str, Any], Transform2D, dict[str, Any]]] = [
    (TurnVerifier(), {'angle_rad': 1.0}, Transform2D(0.0, 0.0, 1.0), {'turned': 1.0}),
    (DisplacementVerifier(), {'forward_m': 1.0}, Transform2D(1.0, 0.0, 0.0), {}),
    (ChargingVerifier(), {}, START, {'battery': CHARGING}),
    (UndockedVerifier(), {}, Transform2D(0.5, 0.0, 0.0), {'battery': DRAINING}),
    (
        WaypointsVerifier(NavigationVerifier()),
        {'poses': [{'x': 1.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}]},
        Transform2D(1.0, 0.0, 0.0),
        {'journey': Journey(0.0, 0, None, 0.1)},
    ),
]
NAMES = ['turn', 'displacement', 'charging', 'undocked', 'waypoints']


@pytest.mark.parametrize(('verifier', 'goal', 'at', 'seen'), CASES, ids=NAMES)
def test_no_verifier_confirms_on_what_was_seen_before_the_end_or_while_it_moves(
    verifier: Verifier, goal: dict[str, Any], at: Transform2D, seen: dict[str, Any]
) -> None:
    before = _world(0.0)
    now = _world(10.5, odometry=at, on_map=at, **seen)
    assert _judge(verifier, goal, before, now) is Verdict.CONFIRMED
    earlier = _world(10.5, odometry=at, on_map=at, age_s=0.6, **seen)
    assert _judge(verifier, goal, before, earlier) is Verdict.INCONCLUSIVE
    moving = _world(10.5, odometry=at, on_map=at, at_rest=False, **seen)
    assert _judge(verifier, goal, before, moving) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(('verifier', 'goal', 'at', 'seen'), CASES, ids=NAMES)
@pytest.mark.parametrize('payload', [{'error_code': 704}, {'success': False}])
def test_no_verifier_confirms_what_the_controllers_own_result_speaks_against(
    verifier: Verifier,
    goal: dict[str, Any],
    at: Transform2D,
    seen: dict[str, Any],
    payload: dict[str, Any],
) -> None:
    now = _world(10.5, odometry=at, on_map=at, **seen)
    assert _judge(verifier, goal, _world(0.0), now, payload) is Verdict.INCONCLUSIVE


def test_nobody_who_verifies_leaves_every_success_inconclusive() -> None:
    assert _judge(NobodyVerifies(), {}, _world(0.0), _world(11.0)) is Verdict.INCONCLUSIVE


def _tour(passed: int, *, gap_m: float = 0.2, statuses: list[int] | None = None) -> Verdict:
    poses = [{'x': float(x), 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'} for x in (3.0, 6.0, 9.0)]
    at = Transform2D(9.0, 0.0, 0.0)
    journey = Journey(0.0, passed, 1.4 if passed < 2 else None, gap_m)
    now = _world(11.0, odometry=at, on_map=at, journey=journey)
    told = [
        {'waypoint_index': i, 'waypoint_status': s} for i, s in enumerate(statuses or [1, 1, 1])
    ]
    payload = {'error_code': 0, 'waypoint_statuses': told}
    verifier = WaypointsVerifier(NavigationVerifier())
    return _judge(verifier, {'poses': poses}, _world(0.0), now, payload)


def test_a_tour_is_done_where_all_poses_were_passed_and_the_last_one_reached() -> None:
    assert _tour(2) is Verdict.CONFIRMED
    assert _tour(1) is Verdict.DISPROVED
    assert _tour(0) is Verdict.DISPROVED
    assert _tour(1, gap_m=2.0) is Verdict.INCONCLUSIVE  # nobody saw the way
    assert _tour(2, statuses=[1, 2, 1]) is Verdict.INCONCLUSIVE  # the controller skipped one


def _samples(yaws: list[float], period_s: float = 0.02) -> list[Sample[Odometry]]:
    clock = FakeClock()
    samples = []
    for yaw in yaws:
        clock.advance(period_s)
        odometry = Odometry(0.0, 0.0, wrap_angle(yaw), 'odom', 0.0, 0.0)
        samples.append(Sample.now(odometry, clock.ros_ns(), clock))
    return samples


@given(headings, st.lists(small, max_size=60))
def test_full_turns_are_counted_however_the_heading_wraps(
    start: float, steps: list[float]
) -> None:
    yaws = [start]
    for step in steps:
        yaws.append(yaws[-1] + step)
    first, *rest = _samples(yaws)
    track = JourneyTrack(Way(), start=first)
    for sample in rest:
        track.odometry(sample)
    assert track.value.turned_rad == pytest.approx(sum(steps), abs=1e-6)


def test_a_turn_while_odometry_was_silent_is_not_known() -> None:
    first, second = _samples([0.0, 1.0], period_s=2.0)
    track = JourneyTrack(Way(), start=first)
    track.odometry(second)
    assert track.value.turned_rad is None


def test_odometry_that_was_silent_at_rest_is_known_to_have_stood_still() -> None:
    first, second = _samples([0.0, 0.0], period_s=2.0)
    track = JourneyTrack(Way(), start=first)
    track.odometry(second)
    assert track.value.turned_rad == 0.0


def _walk(waypoints: list[tuple[float, float]], way: list[tuple[float, float]]) -> Journey:
    track = JourneyTrack(Way(tuple(waypoints)), start=None)
    for x, y in way:
        track.pose(MapPose(x, y, 0.0, 'map', 0.01, 0.01))
    return track.value


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=6))
def test_a_way_through_all_places_passes_them_in_order(places: list[tuple[int, int]]) -> None:
    stops = [(float(x), float(y)) for x, y in places]
    way = [stops[0]]
    for stop in stops[1:]:
        a = way[-1]
        steps = max(1, math.ceil(math.dist(a, stop) / 0.25))
        way += [
            (a[0] + (stop[0] - a[0]) * k / steps, a[1] + (stop[1] - a[1]) * k / steps)
            for k in range(1, steps + 1)
        ]
    assert _walk(stops, way).passed == len(stops)


def test_places_in_the_wrong_order_are_not_passed() -> None:
    way = [(0.25 * k, 0.0) for k in range(41)]
    assert _walk([(2.0, 0.0), (8.0, 0.0)], way).passed == 2
    assert _walk([(8.0, 0.0), (2.0, 0.0)], way).passed == 1
    missed = _walk([(5.0, 2.0)], way)
    assert (missed.passed, missed.closest_m) == (0, pytest.approx(2.0))
    assert PASSED_WITHIN_M < 2.0


def test_a_localisation_that_jumps_passes_nothing_on_the_way() -> None:
    journey = _walk([(5.0, 0.0)], [(0.0, 0.0), (10.0, 0.0)])
    assert (journey.passed, journey.gap_m) == (0, 10.0)
