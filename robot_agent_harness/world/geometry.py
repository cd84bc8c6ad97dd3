# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Rigid motions of the plane, as far as a mobile base needs them."""

from __future__ import annotations

from dataclasses import dataclass
import math


@dataclass(frozen=True, slots=True)
class Transform2D:
    """A planar rigid transform: the pose of a child frame in its parent frame."""

    x: float
    """Metres along the parent's x axis."""
    y: float
    """Metres along the parent's y axis."""
    yaw: float
    """Radians, counter-clockwise from the parent's x axis."""


def wrap_angle(angle: float) -> float:
    """Return the same direction in (-pi, pi], in radians; NaN for what is no direction."""
    if -math.pi < angle <= math.pi:
        return angle
    if not math.isfinite(angle):
        return math.nan
    wrapped = math.remainder(angle, math.tau)
    return math.pi if wrapped <= -math.pi else wrapped


def compose(parent: Transform2D, child: Transform2D) -> Transform2D:
    """Return `child`, a pose in the frame `parent`, in the frame that `parent` is given in."""
    cos, sin = math.cos(parent.yaw), math.sin(parent.yaw)
    return Transform2D(
        parent.x + cos * child.x - sin * child.y,
        parent.y + sin * child.x + cos * child.y,
        wrap_angle(parent.yaw + child.yaw),
    )


def inverse(transform: Transform2D) -> Transform2D:
    """Return the pose of the parent frame in the child frame."""
    cos, sin = math.cos(transform.yaw), math.sin(transform.yaw)
    return Transform2D(
        -cos * transform.x - sin * transform.y,
        sin * transform.x - cos * transform.y,
        wrap_angle(-transform.yaw),
    )


def distance(a: Transform2D, b: Transform2D) -> float:
    """Return the metres between two positions given in one frame."""
    return math.hypot(a.x - b.x, a.y - b.y)


def turn(a: Transform2D, b: Transform2D) -> float:
    """Return the smallest angle between two headings, in radians, not negative."""
    return abs(wrap_angle(a.yaw - b.yaw))


def interpolate(a: Transform2D, b: Transform2D, ratio: float) -> Transform2D:
    """Return the pose at `ratio` of the way from `a` (0) to `b` (1), turning the short way."""
    return Transform2D(
        a.x + ratio * (b.x - a.x),
        a.y + ratio * (b.y - a.y),
        wrap_angle(a.yaw + ratio * wrap_angle(b.yaw - a.yaw)),
    )
