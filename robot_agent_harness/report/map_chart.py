# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where everything was, in the coordinates of a drawing; the template draws it as SVG.

The map frame's x points right and its y up (REP 103); both axes have one scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from robot_agent_harness.report.story import Action, Point, Story

Pose = tuple[float, float, float]
"""Metres and radians, in the map frame."""

WIDTH = 720.0
"""Width of the drawing in its own units; the page scales it to the screen."""
HEIGHT_MIN, HEIGHT_MAX = 240.0, 640.0
MARGIN = 36.0
"""Room for the labels of the grid."""
EXTENT_MIN_M = 2.0
"""Less than this is shown with room around it: a robot that turned on the spot is no map."""
GRID_LINES = 8
TOLERANCE_SHOWN_M = 0.35
"""Room around points, so that their circles fit."""
LABEL_CORNERS = ((14.0, -16.0), (-14.0, -16.0), (14.0, 16.0), (-14.0, 16.0))
LABEL_DROP = 5.0
"""From the middle of a label down to its base line."""
GOAL_NUMBERS_MAX = 4
SAME_GOAL_M = 0.01
SEPARATE_UNITS = 1.5
"""Points of the path nearer together than this in the drawing are one."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Goal:
    """A place where one or more actions were to go."""

    x: float
    y: float
    radius: float | None
    """The tolerance circle, in drawing units."""
    label: str
    label_x: float
    label_y: float
    label_anchor: str


@dataclass(frozen=True, slots=True)
class Seen:
    """Where the robot was seen when an action had ended."""

    x: float
    y: float
    label: str
    state: str
    claim: tuple[float, float] | None
    """Where the controller claimed it to be, if that was disproved."""
    distance: str
    """How far apart the two are."""


@dataclass(frozen=True, slots=True)
class MapChart:
    """Everything that is drawn."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    paths: list[str]
    """Polylines, as SVG writes their points."""
    start: Point
    moved: list[tuple[Point, Point]]
    goals: list[Goal]
    seen: list[Seen]
    robot: tuple[float, float, float] | None
    """Where it is now, and by how many degrees it is turned clockwise."""


def draw_map(story: Story, *, here: Pose | None = None) -> MapChart | None:
    """Lay the mission out; None where no position is known.

    :param here: where the robot is now, while it is watched.
    """
    points = list(_points(story))
    driven = [path for path in story.paths if path]
    if here is not None:
        points.append(here[:2])
    if not driven and here is not None:
        driven = [[here[:2]]]
    if not driven:
        return None
    scale = _Scale(points)
    seen = [_seen(action, scale) for action in story.shown_actions if action.observed]
    start = scale.to(driven[0][0])
    return MapChart(
        width=WIDTH,
        height=scale.height,
        left=MARGIN,
        right=WIDTH - MARGIN / 2,
        top=MARGIN / 2,
        bottom=scale.height - MARGIN,
        x_ticks=[Tick(scale.to((at, 0.0))[0], label) for at, label in scale.ticks(0)],
        y_ticks=[Tick(scale.to((0.0, at))[1], label) for at, label in scale.ticks(1)],
        paths=[
            ' '.join(f'{x:.1f},{y:.1f}' for x, y in _thinned(map(scale.to, path)))
            for path in driven
        ],
        start=start,
        moved=[
            (scale.to(call.moved[0]), scale.to(call.moved[1]))
            for call in story.stopped
            if call.moved
        ],
        goals=list(_goals(story, scale, [start, *((mark.x, mark.y) for mark in seen)])),
        seen=seen,
        robot=None if here is None else (*scale.to(here[:2]), -math.degrees(here[2])),
    )


class _Scale:
    """From metres to drawing units."""

    def __init__(self, points: list[Point]) -> None:
        spreads = [_spread([point[axis] for point in points]) for axis in (0, 1)]
        self._low = [low for low, _ in spreads]
        self._high = [high for _, high in spreads]
        across = WIDTH - 1.5 * MARGIN
        upright = HEIGHT_MAX - 1.5 * MARGIN
        extent = [high - low for low, high in spreads]
        self._per_m = min(across / extent[0], upright / extent[1])
        self.height = max(HEIGHT_MIN, extent[1] * self._per_m + 1.5 * MARGIN)
        for axis, room in ((0, across), (1, self.height - 1.5 * MARGIN)):
            spare = room / self._per_m - extent[axis]
            self._low[axis] -= spare / 2
            self._high[axis] += spare / 2

    def to(self, where: Point) -> Point:
        return (
            MARGIN + (where[0] - self._low[0]) * self._per_m,
            MARGIN / 2 + (self._high[1] - where[1]) * self._per_m,
        )

    def length(self, metres: float) -> float:
        return metres * self._per_m

    def ticks(self, axis: int) -> Iterator[tuple[float, str]]:
        low, high = self._low[axis], self._high[axis]
        step = nice_step(max(h - lo for lo, h in zip(self._low, self._high, strict=True)))
        first = math.ceil(low / step)
        for index in range(first, math.floor(high / step) + 1):
            yield index * step, f'{index * step:g}'


def nice_step(extent: float, lines: int = GRID_LINES) -> float:
    """Return a step of 1, 2 or 5 times a power of ten that gives about so many lines."""
    rough = extent / lines
    power = float(10.0 ** math.floor(math.log10(rough)))
    steps = [power * factor for factor in (1, 2, 5, 10)]
    return next(step for step in steps if step >= rough * 0.999)


def _points(story: Story) -> Iterator[Point]:
    for path in story.paths:
        yield from path
    for action in story.shown_actions:
        for where in (action.target, action.observed):
            if where is not None:
                room = action.tolerance_m or TOLERANCE_SHOWN_M
                yield where[0] - room, where[1] - room
                yield where[0] + room, where[1] + room


def _spread(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    spare = max(0.0, EXTENT_MIN_M - (high - low)) / 2 + 0.02 * (high - low)
    return low - spare, high + spare


def _goals(story: Story, scale: _Scale, taken: list[Point]) -> Iterator[Goal]:
    """Yield each goal with its label in the corner that is farthest from what else is drawn."""
    groups: list[list[Action]] = []
    for action in story.shown_actions:
        if action.target is None:
            continue
        for group in groups:
            if math.dist(group[0].target or (math.inf, 0.0), action.target) < SAME_GOAL_M:
                group.append(action)
                break
        else:
            groups.append([action])
    for group in groups:
        assert group[0].target is not None
        x, y = scale.to(group[0].target)
        tolerance = next((a.tolerance_m for a in group if a.tolerance_m is not None), None)
        corners = [(x + dx, y + dy) for dx, dy in LABEL_CORNERS]
        label = max(corners, key=lambda corner: min(math.dist(corner, mark) for mark in taken))
        yield Goal(
            x=x,
            y=y,
            radius=None if tolerance is None else scale.length(tolerance),
            label=_numbers(group),
            label_x=label[0],
            label_y=label[1] + LABEL_DROP,
            label_anchor='start' if label[0] > x else 'end',
        )


def _numbers(group: list[Action]) -> str:
    """Return which actions went to one place; of many the first ones and the last."""
    numbers = [str(action.number) for action in group]
    if len(numbers) <= GOAL_NUMBERS_MAX:
        return ', '.join(numbers)
    return f'{", ".join(numbers[: GOAL_NUMBERS_MAX - 1])} … {numbers[-1]}'


def _seen(action: Action, scale: _Scale) -> Seen:
    assert action.observed is not None
    x, y = scale.to(action.observed)
    disproved = action.claimed and action.reason == 'verification_disproved'
    return Seen(
        x=x,
        y=y,
        label=str(action.number),
        state=action.state,
        claim=scale.to(action.target) if disproved and action.target else None,
        distance=f'{action.error_m:.2f} m' if action.error_m is not None else '',
    )


def _thinned(points: Iterator[Point]) -> Iterator[Point]:
    last: Point | None = None
    kept: Point | None = None
    for point in points:
        last = point
        if kept is None or math.dist(kept, point) >= SEPARATE_UNITS:
            kept = point
            yield point
    if last is not None and last != kept:
        yield last
