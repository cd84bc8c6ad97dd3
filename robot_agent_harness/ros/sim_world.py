# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot's world: named rooms with walls, shortest paths, a differential-drive body.

No ROS here. Metres, radians, seconds of *world time*; every pose is in the map frame, whose origin
is the lower left corner of the building. The robot is a disc that keeps clear of walls. Paths are
shortest ones over the visibility graph of the corners (rectangles only, so it is exact and quick),
and the body follows them by pure pursuit within its speed and acceleration limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import heapq
import math

BUMPER_M = 0.12
"""No centre of the robot is ever closer than this to a wall."""
PATH_CLEARANCE_M = 0.2
"""How near to a wall a path may begin or end; the bumper's slack is for following it inexactly."""
STAND_CLEARANCE_M = 0.23
"""Where the robot may be sent, started or pushed to."""
CORNER_CLEARANCE_M = 0.35
"""How wide a path goes round a corner, so that cutting it a little touches nothing."""

MAX_SPEED_MPS = 0.5
MIN_APPROACH_SPEED_MPS = 0.1
APPROACH_TIME_S = 1.0
"""The speed near the end is the distance left over this time, as Nav2's was recorded to be."""
MAX_TURN_RATE_RADPS = 1.2
ACCELERATION_MPS2 = 1.0
BRAKING_MPS2 = 2.0
TURN_ACCELERATION_RADPS2 = 6.0
PUSH_SPEED_MPS = 2.0
DOCK_RADIUS_M = 0.4
LOOKAHEAD_M = 0.3
TURN_IN_PLACE_RAD = 0.785
"""A larger heading error than this is turned away on the spot (Nav2's own default)."""

Point = tuple[float, float]


def wrap_angle(angle: float) -> float:
    """Return the same direction in (-pi, pi]."""
    wrapped = math.remainder(angle, math.tau)
    return math.pi if wrapped == -math.pi else wrapped


@dataclass(frozen=True, slots=True)
class Pose2D:
    """A place and a heading: `x`, `y` in m, `yaw` in rad, counter-clockwise from the x axis."""

    x: float
    y: float
    yaw: float

    def compose(self, relative: Pose2D) -> Pose2D:
        """Return `relative`, which is given in this pose's frame, in this pose's parent frame."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2D(
            self.x + cos * relative.x - sin * relative.y,
            self.y + sin * relative.x + cos * relative.y,
            wrap_angle(self.yaw + relative.yaw),
        )

    def relative_to(self, frame: Pose2D) -> Pose2D:
        """Return this pose as seen from `frame`; both are given in one parent frame."""
        cos, sin = math.cos(frame.yaw), math.sin(frame.yaw)
        dx, dy = self.x - frame.x, self.y - frame.y
        return Pose2D(cos * dx + sin * dy, cos * dy - sin * dx, wrap_angle(self.yaw - frame.yaw))

    def distance_to(self, x: float, y: float) -> float:
        """Return the straight distance to a point, in m."""
        return math.hypot(x - self.x, y - self.y)


@dataclass(frozen=True, slots=True)
class Rect:
    """An axis-aligned rectangle, in m: a room, a wall or a piece of furniture."""

    x0: float
    y0: float
    x1: float
    y1: float

    def grown(self, by: float) -> Rect:
        """Return the rectangle with every side moved outwards by `by` m."""
        return Rect(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def contains(self, x: float, y: float) -> bool:
        """Return whether the point lies strictly inside."""
        return self.x0 < x < self.x1 and self.y0 < y < self.y1

    def cuts(self, start: Point, end: Point) -> bool:
        """Return whether the segment passes through the inside (Liang-Barsky clipping)."""
        low, high = 0.0, 1.0
        for origin, delta, lower, upper in (
            (start[0], end[0] - start[0], self.x0, self.x1),
            (start[1], end[1] - start[1], self.y0, self.y1),
        ):
            if delta == 0.0:
                if not lower < origin < upper:
                    return False
                continue
            enter, leave = (lower - origin) / delta, (upper - origin) / delta
            if enter > leave:
                enter, leave = leave, enter
            low, high = max(low, enter), min(high, leave)
            if low >= high:
                return False
        return True


class World:
    """Rooms and obstacles, and the shortest way between two points that keeps clear of them."""

    def __init__(
        self, *, bounds: Rect, rooms: dict[str, Rect], obstacles: Sequence[Rect], dock: Point
    ) -> None:
        self.bounds = bounds
        self.rooms = rooms
        self.dock = dock
        """Where the battery charges, x and y in m."""
        self._solid = [obstacle.grown(BUMPER_M) for obstacle in obstacles]
        self._blocking = [obstacle.grown(PATH_CLEARANCE_M) for obstacle in obstacles]
        self._standing = [obstacle.grown(STAND_CLEARANCE_M) for obstacle in obstacles]
        wide = [obstacle.grown(CORNER_CLEARANCE_M) for obstacle in obstacles]
        inside = bounds.grown(-CORNER_CLEARANCE_M)
        self._corners = [
            (x, y)
            for rect in wide
            for x in (rect.x0, rect.x1)
            for y in (rect.y0, rect.y1)
            if inside.contains(x, y) and not any(other.contains(x, y) for other in wide)
        ]
        self._links: list[list[tuple[float, int]]] = [[] for _ in self._corners]
        for i, a in enumerate(self._corners):
            for j in range(i):
                b = self._corners[j]
                if not any(rect.cuts(a, b) for rect in wide):
                    self._links[i].append((math.dist(a, b), j))
                    self._links[j].append((math.dist(a, b), i))

    def inside_map(self, x: float, y: float) -> bool:
        """Return whether the point lies on the map; never for a NaN."""
        return self.bounds.contains(x, y)

    def can_stand(self, x: float, y: float) -> bool:
        """Return whether the robot may be sent or put here."""
        return self.bounds.grown(-STAND_CLEARANCE_M).contains(x, y) and not any(
            rect.contains(x, y) for rect in self._standing
        )

    def touches(self, x: float, y: float) -> bool:
        """Return whether a robot centred here would be in a wall."""
        return not self.bounds.grown(-BUMPER_M).contains(x, y) or any(
            rect.contains(x, y) for rect in self._solid
        )

    def room_at(self, x: float, y: float) -> str | None:
        """Return the name of the room that the point lies in."""
        return next((name for name, area in self.rooms.items() if area.contains(x, y)), None)

    def plan(self, start: Point, goal: Point) -> list[Point] | None:
        """Return the corners of the shortest free path, both ends included; None without one."""
        if not self.can_stand(*goal):
            return None
        if self._sees(start, goal):
            return [start, goal]
        to_goal = dict(self._visible_corners(goal))
        best: dict[int, float] = {}
        heap = [(distance, i, -1) for i, distance in self._visible_corners(start)]
        heapq.heapify(heap)
        came_from: dict[int, int] = {}
        goal_node = len(self._corners)
        while heap:
            distance, node, previous = heapq.heappop(heap)
            if node in best:
                continue
            best[node] = distance
            came_from[node] = previous
            if node == goal_node:
                return [start, *self._trace(came_from, previous), goal]
            for length, neighbour in self._links[node]:
                if neighbour not in best:
                    heapq.heappush(heap, (distance + length, neighbour, node))
            if node in to_goal:
                heapq.heappush(heap, (distance + to_goal[node], goal_node, node))
        return None

    def _trace(self, came_from: dict[int, int], node: int) -> list[Point]:
        points: list[Point] = []
        while node != -1:
            points.append(self._corners[node])
            node = came_from[node]
        return points[::-1]

    def _sees(self, a: Point, b: Point) -> bool:
        # A robot that came too near to a wall must be able to leave it again.
        return not any(
            (solid if wide.contains(*a) else wide).cuts(a, b)
            for wide, solid in zip(self._blocking, self._solid, strict=True)
        )

    def _visible_corners(self, point: Point) -> Iterable[tuple[int, float]]:
        for i, corner in enumerate(self._corners):
            if self._sees(point, corner):
                yield i, math.dist(point, corner)


class Path:
    """A polyline that is being followed: where to aim, and how far it still is."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = list(points)
        self._segment = 0
        self._left = [0.0]
        for a, b in zip(reversed(self._points[:-1]), reversed(self._points[1:]), strict=True):
            self._left.append(self._left[-1] + math.dist(a, b))
        self._left.reverse()

    @property
    def length(self) -> float:
        """The whole path's length in m."""
        return self._left[0]

    @property
    def end(self) -> Point:
        """Its last point."""
        return self._points[-1]

    def remaining(self, pose: Pose2D) -> float:
        """Return how far the end is along the path, in m, never less than straight ahead."""
        return max(self._progress(pose), pose.distance_to(*self.end))

    def aim(self, pose: Pose2D) -> Point:
        """Return the point of the path that lies `LOOKAHEAD_M` ahead of `pose`."""
        wanted = self._progress(pose) - LOOKAHEAD_M
        for i in range(self._segment, len(self._points) - 1):
            if wanted >= self._left[i + 1]:
                span = self._left[i] - self._left[i + 1]
                share = (self._left[i] - wanted) / span if span > 0.0 else 1.0
                return _between(self._points[i], self._points[i + 1], share)
        return self.end

    def _progress(self, pose: Pose2D) -> float:
        """Return the path's length from the point nearest to `pose` on, in m; never goes back."""
        share, distance = self._nearest(self._segment, pose)
        while self._segment < len(self._points) - 2:
            # Corners are cut, so a segment is often left before its end.
            next_share, next_distance = self._nearest(self._segment + 1, pose)
            if next_distance > distance:
                break
            self._segment += 1
            share, distance = next_share, next_distance
        here, there = self._left[self._segment], self._left[self._segment + 1]
        return here + share * (there - here)

    def _nearest(self, segment: int, pose: Pose2D) -> tuple[float, float]:
        a, b = self._points[segment], self._points[segment + 1]
        dx, dy = b[0] - a[0], b[1] - a[1]
        square = dx * dx + dy * dy
        along = ((pose.x - a[0]) * dx + (pose.y - a[1]) * dy) / square if square > 0.0 else 1.0
        share = min(max(along, 0.0), 1.0)
        return share, pose.distance_to(*_between(a, b, share))


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


class Robot:
    """The body: a disc on two wheels, with speed and acceleration limits and a bumper."""

    def __init__(self, *, world: World, pose: Pose2D) -> None:
        self._world = world
        self.pose = pose
        self.v = 0.0
        """Forward speed of the wheels in m/s of world time."""
        self.w = 0.0
        """Turn rate in rad/s of world time, counter-clockwise."""
        self.slide: tuple[float, float] = (0.0, 0.0)
        """Velocity in the map frame, in m/s, that a push gave the robot in the last step."""
        self._push_left = 0.0

    @property
    def moving(self) -> bool:
        """Whether wheels or a push move the robot now."""
        return self.v != 0.0 or self.w != 0.0 or self._push_left != 0.0

    @property
    def pushed(self) -> bool:
        """Whether a push is moving the robot now."""
        return self._push_left != 0.0

    def push(self, distance: float) -> None:
        """Have the robot shoved along the map's x axis by `distance` m, or up to a wall."""
        self._push_left += distance

    def step(self, dt: float, v_wanted: float, w_wanted: float) -> None:
        """Move for `dt` s of world time towards the wanted speeds, within the limits."""
        slowing = abs(v_wanted) < abs(self.v)
        v_next = _approach(self.v, v_wanted, (BRAKING_MPS2 if slowing else ACCELERATION_MPS2) * dt)
        w_next = _approach(self.w, w_wanted, TURN_ACCELERATION_RADPS2 * dt)
        v, w = (self.v + v_next) / 2.0, (self.w + w_next) / 2.0
        heading = self.pose.yaw + w * dt / 2.0
        x = self.pose.x + v * math.cos(heading) * dt
        y = self.pose.y + v * math.sin(heading) * dt
        if self._world.touches(x, y):
            x, y, v_next = self.pose.x, self.pose.y, 0.0
        self.v, self.w = v_next, w_next
        self.pose = Pose2D(x, y, wrap_angle(self.pose.yaw + w * dt))
        self._slide_on(dt)

    def _slide_on(self, dt: float) -> None:
        self.slide = (0.0, 0.0)
        if self._push_left == 0.0:
            return
        step = math.copysign(min(PUSH_SPEED_MPS * dt, abs(self._push_left)), self._push_left)
        x = self.pose.x + step
        if not self._world.can_stand(x, self.pose.y):
            self._push_left = 0.0
            return
        self._push_left -= step
        self.slide = (step / dt, 0.0)
        self.pose = Pose2D(x, self.pose.y, self.pose.yaw)


class Battery:
    """Charge as a fraction: drains with time, faster while driving, fills at rest at the dock."""

    IDLE_PER_S = 1.0 / (8 * 3600)
    DRIVING_PER_S = 1.0 / 3600
    CHARGING_PER_S = 1.0 / 600

    def __init__(self, *, world: World, fraction: float) -> None:
        self._dock = world.dock
        self.fraction = fraction
        self.charging = False

    def step(self, dt: float, robot: Robot, *, current: bool = True) -> None:
        """Account for `dt` s of world time.

        :param current: whether the dock gives any.
        """
        docked = robot.pose.distance_to(*self._dock) < DOCK_RADIUS_M
        self.charging = current and docked and not robot.moving
        if self.charging:
            rate = self.CHARGING_PER_S
        else:
            rate = -(self.DRIVING_PER_S if robot.moving else self.IDLE_PER_S)
        self.fraction = min(max(self.fraction + rate * dt, 0.0), 1.0)


def pursue(pose: Pose2D, path: Path) -> tuple[float, float]:
    """Return the speed (m/s) and turn rate (rad/s) that follow `path` from `pose`."""
    aim_x, aim_y = path.aim(pose)
    left = path.remaining(pose)
    error = wrap_angle(math.atan2(aim_y - pose.y, aim_x - pose.x) - pose.yaw)
    if abs(error) > TURN_IN_PLACE_RAD:
        return 0.0, turn_towards(error)
    speed = min(MAX_SPEED_MPS, max(MIN_APPROACH_SPEED_MPS, left / APPROACH_TIME_S))
    speed *= math.cos(error)
    reach = max(pose.distance_to(aim_x, aim_y), LOOKAHEAD_M / 2.0)
    return speed, _limit(2.0 * speed * math.sin(error) / reach, MAX_TURN_RATE_RADPS)


def turn_towards(error: float) -> float:
    """Return the turn rate (rad/s) that takes away a heading error on the spot."""
    return _limit(3.0 * error, MAX_TURN_RATE_RADPS)


def _approach(value: float, wanted: float, step: float) -> float:
    return value + _limit(wanted - value, step)


def _limit(value: float, bound: float) -> float:
    return min(max(value, -bound), bound)


_HALF_WALL_M = 0.05


def _wall_along_x(y: float, x0: float, x1: float, doors: Sequence[Point] = ()) -> list[Rect]:
    edges = [x0, *(edge for door in doors for edge in door), x1]
    return [
        Rect(a, y - _HALF_WALL_M, b, y + _HALF_WALL_M)
        for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]


def _wall_along_y(x: float, y0: float, y1: float) -> Rect:
    return Rect(x - _HALF_WALL_M, y0, x + _HALF_WALL_M, y1)


def default_world() -> World:
    """Return the built-in building, 10 m by 8 m: three rooms on each side of a hall.

    The closet has no door: a goal in it is on the map, free, and out of reach.
    """
    return World(
        bounds=Rect(0.0, 0.0, 10.0, 8.0),
        rooms={
            'kitchen': Rect(0.0, 5.0, 3.5, 8.0),
            'office': Rect(3.5, 5.0, 6.5, 8.0),
            'workshop': Rect(6.5, 5.0, 10.0, 8.0),
            'hall': Rect(0.0, 3.0, 10.0, 5.0),
            'dock': Rect(0.0, 0.0, 3.5, 3.0),
            'storage': Rect(3.5, 0.0, 8.5, 3.0),
            'closet': Rect(8.5, 0.0, 10.0, 3.0),
        },
        obstacles=[
            *_wall_along_x(5.0, 0.0, 10.0, [(1.5, 2.5), (4.5, 5.5), (7.75, 8.75)]),
            *_wall_along_x(3.0, 0.0, 10.0, [(1.0, 2.0), (5.5, 6.5)]),
            _wall_along_y(3.5, 5.0, 8.0),
            _wall_along_y(6.5, 5.0, 8.0),
            _wall_along_y(3.5, 0.0, 3.0),
            _wall_along_y(8.5, 0.0, 3.0),
            Rect(0.0, 7.3, 2.5, 8.0),  # counter in the kitchen
            Rect(5.0, 7.2, 6.5, 8.0),  # desk in the office
            Rect(9.2, 6.0, 10.0, 8.0),  # workbench
            Rect(4.6, 1.2, 5.6, 1.6),  # shelf in the storage room
        ],
        dock=(1.0, 1.2),
    )
