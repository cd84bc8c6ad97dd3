# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated building and the robot's body in it; no ROS needed."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from robot_agent_harness.resources import config_path
from robot_agent_harness.ros.sim_world import (
    Battery,
    BUMPER_M,
    default_world,
    MAX_SPEED_MPS,
    MAX_TURN_RATE_RADPS,
    Path,
    Pose2D,
    pursue,
    Rect,
    Robot,
    World,
    wrap_angle,
)
from robot_agent_harness.skills.places import read_places

WORLD = default_world()
CLOSET = WORLD.rooms['closet']


def drive(robot: Robot, path: Path, *, until_m: float, dt: float = 0.02) -> float:
    """Follow a path until the robot is that near to its end; return the time it took, in s."""
    elapsed = 0.0
    while robot.pose.distance_to(*path.end) > until_m:
        robot.step(dt, *pursue(robot.pose, path))
        assert not WORLD.touches(robot.pose.x, robot.pose.y)
        elapsed += dt
        assert elapsed < 120.0, f'stuck at {robot.pose} on the way to {path.end}'
    return elapsed


def random_place(rng: random.Random) -> tuple[float, float]:
    while True:
        x, y = rng.uniform(0.0, 10.0), rng.uniform(0.0, 8.0)
        if WORLD.can_stand(x, y) and not CLOSET.contains(x, y):
            return x, y


@pytest.mark.parametrize(
    ('angle', 'wrapped'),
    [
        (0.0, 0.0),
        (math.pi, math.pi),
        (-math.pi, math.pi),
        (3.5, 3.5 - math.tau),
        (-7, math.tau - 7),
    ],
)
def test_angles_wrap_into_one_turn(angle: float, wrapped: float) -> None:
    assert wrap_angle(angle) == pytest.approx(wrapped)


def test_a_pose_taken_into_a_frame_and_back_is_itself() -> None:
    frame, pose = Pose2D(1.0, 1.2, 2.5), Pose2D(-3.0, 4.0, -2.0)
    back = frame.compose(pose.relative_to(frame))
    assert (back.x, back.y, back.yaw) == pytest.approx((pose.x, pose.y, pose.yaw))


def test_odometry_turned_by_a_quarter_sees_north_as_ahead() -> None:
    seen = Pose2D(1.0, 3.2, math.pi / 2).relative_to(Pose2D(1.0, 1.2, math.pi / 2))
    assert (seen.x, seen.y, seen.yaw) == pytest.approx((2.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ('start', 'end', 'cuts'),
    [
        ((0.0, 0.5), (2.0, 0.5), True),
        ((0.0, 0.0), (2.0, 0.0), False),  # along an edge
        ((0.5, 0.5), (0.6, 0.6), True),  # inside
        ((0.0, 2.5), (2.5, 0.0), False),  # past a corner
        ((0.5, 2.0), (0.5, 1.5), False),  # straight, ends before it
        ((0.5, 0.5), (0.5, 0.5), True),  # a point inside
    ],
)
def test_a_rectangle_knows_what_passes_through_it(
    start: tuple[float, float], end: tuple[float, float], cuts: bool
) -> None:
    assert Rect(0.0, 0.0, 1.0, 1.0).cuts(start, end) is cuts
    assert Rect(0.0, 0.0, 1.0, 1.0).cuts(end, start) is cuts


def test_the_shipped_places_lie_in_the_rooms_they_are_named_after() -> None:
    places = read_places(config_path('places.yaml'))
    assert set(places) == set(WORLD.rooms) - {'closet'}
    for name, place in places.items():
        assert place.frame_id == 'map'
        assert WORLD.can_stand(place.x, place.y), name
        assert WORLD.room_at(place.x, place.y) == name
        assert place.description, name
    assert (places['dock'].x, places['dock'].y) == WORLD.dock


def test_every_place_is_reached_from_every_other_without_touching_a_wall() -> None:
    places = read_places(config_path('places.yaml'))
    for a in places.values():
        for b in places.values():
            points = WORLD.plan((a.x, a.y), (b.x, b.y))
            assert points is not None
            robot = Robot(world=WORLD, pose=Pose2D(a.x, a.y, a.yaw))
            drive(robot, Path(points), until_m=0.25)


def test_a_path_through_two_doors_goes_round_the_jambs() -> None:
    points = WORLD.plan((1.0, 1.2), (8.0, 6.4))
    assert points is not None
    assert points[0] == (1.0, 1.2)
    assert points[-1] == (8.0, 6.4)
    assert len(points) == 4
    length = sum(math.dist(a, b) for a, b in itertools.pairwise(points))
    assert length == pytest.approx(Path(points).length)
    assert math.dist(points[0], points[-1]) < length < 12.0


@pytest.mark.parametrize(
    'goal',
    [(3.5, 6.5), (9.2, 1.5), (20.0, 20.0), (1.0, 7.6), (math.nan, 1.0)],
    ids=['in a wall', 'in the closet', 'off the map', 'in the counter', 'nowhere'],
)
def test_there_is_no_path_to(goal: tuple[float, float]) -> None:
    assert WORLD.plan((1.0, 1.2), goal) is None


def test_random_trips_arrive_within_speed_limits_and_touch_nothing() -> None:
    seed = random.randrange(2**32)
    print(f'seed {seed}')
    rng = random.Random(seed)
    robot = Robot(world=WORLD, pose=Pose2D(1.0, 1.2, 1.57))
    for _ in range(60):
        points = WORLD.plan((robot.pose.x, robot.pose.y), random_place(rng))
        assert points is not None
        path = Path(points)
        tolerance = rng.choice([0.05, 0.25])
        elapsed = drive(robot, path, until_m=tolerance, dt=rng.choice([0.005, 0.02]))
        assert elapsed >= (path.length - tolerance) / MAX_SPEED_MPS - 0.1
        assert abs(robot.v) <= MAX_SPEED_MPS + 1e-9
        assert abs(robot.w) <= MAX_TURN_RATE_RADPS + 1e-9


def test_reported_speeds_agree_with_the_poses() -> None:
    robot = Robot(world=WORLD, pose=Pose2D(1.0, 1.2, 0.3))
    path = Path([(1.0, 1.2), (1.7, 2.0), (1.5, 4.0)])
    for _ in range(300):
        before, v_before, w_before = robot.pose, robot.v, robot.w
        robot.step(0.01, *pursue(robot.pose, path))
        moved = before.distance_to(robot.pose.x, robot.pose.y)
        assert moved == pytest.approx(0.01 * (v_before + robot.v) / 2, abs=1e-6)
        turned = wrap_angle(robot.pose.yaw - before.yaw)
        assert turned == pytest.approx(0.01 * (w_before + robot.w) / 2, abs=1e-9)


def test_the_robot_brakes_to_rest_when_nothing_is_wanted() -> None:
    robot = Robot(world=WORLD, pose=Pose2D(1.0, 4.0, 0.0))
    for _ in range(100):
        robot.step(0.01, MAX_SPEED_MPS, 0.0)
    for _ in range(30):
        robot.step(0.01, 0.0, 0.0)
    assert not robot.moving


def test_the_bumper_stops_the_robot_at_a_wall() -> None:
    robot = Robot(world=WORLD, pose=Pose2D(9.0, 4.0, 0.0))
    for _ in range(500):
        robot.step(0.02, MAX_SPEED_MPS, 0.0)
    assert robot.pose.x == pytest.approx(10.0 - BUMPER_M, abs=0.02)
    assert robot.v == 0.0


@pytest.mark.parametrize('distance', [0.8, -1.3])
def test_a_push_moves_the_robot_along_the_map_x_axis_and_shows_as_speed(distance: float) -> None:
    robot = Robot(world=WORLD, pose=Pose2D(5.0, 4.0, 1.0))
    robot.push(distance)
    while robot.pushed:
        before = robot.pose.x
        robot.step(0.01, 0.0, 0.0)
        assert robot.slide[0] == pytest.approx((robot.pose.x - before) / 0.01)
    assert (robot.pose.x, robot.pose.y, robot.pose.yaw) == pytest.approx((5 + distance, 4.0, 1.0))
    robot.step(0.01, 0.0, 0.0)
    assert robot.slide == (0.0, 0.0)
    assert not robot.moving


def test_a_push_ends_at_a_wall() -> None:
    robot = Robot(world=WORLD, pose=Pose2D(9.0, 4.0, 0.0))
    robot.push(5.0)
    for _ in range(500):
        robot.step(0.01, 0.0, 0.0)
    assert not robot.pushed
    assert WORLD.can_stand(robot.pose.x, robot.pose.y)


@pytest.mark.parametrize(
    ('pose', 'driving', 'charging'),
    [
        (Pose2D(1.1, 1.3, 0.0), False, True),
        (Pose2D(1.1, 1.3, 0.0), True, False),
        (Pose2D(5.0, 4.0, 0.0), False, False),
    ],
)
def test_the_battery_fills_only_at_rest_at_the_dock(
    pose: Pose2D, driving: bool, charging: bool
) -> None:
    robot, battery = Robot(world=WORLD, pose=pose), Battery(world=WORLD, fraction=0.5)
    robot.step(0.01, 0.5 if driving else 0.0, 0.0)
    battery.step(10.0, robot)
    assert battery.charging is charging
    assert (battery.fraction > 0.5) is charging
    assert battery.fraction != 0.5


def test_the_battery_stays_between_empty_and_full() -> None:
    docked = Robot(world=WORLD, pose=Pose2D(1.0, 1.2, 0.0))
    away = Robot(world=WORLD, pose=Pose2D(5.0, 4.0, 0.0))
    battery = Battery(world=WORLD, fraction=0.5)
    battery.step(1e6, docked)
    assert battery.fraction == 1.0
    battery.step(1e6, away)
    assert battery.fraction == 0.0


def test_another_building_can_be_made() -> None:
    room = Rect(0.0, 0.0, 4.0, 4.0)
    world = World(
        bounds=room, rooms={'only': room}, obstacles=[Rect(1.9, 0.0, 2.1, 3.0)], dock=(1.0, 1.0)
    )
    points = world.plan((1.0, 1.0), (3.0, 1.0))
    assert points is not None
    assert max(y for _, y in points) > 3.0
