# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of tf2_ros that the harness uses, for machines without it: same names, same habits.

What it does as tf2 does, since tests rest on it: a lookup of what is newest answers with the
newest time that all links have in common; what is older than a link's newest by more than the
cache is not taken in; frames do not begin with a slash; static links hold for ever, also when the
buffer is cleared. On the wire it has one TransformStamped a message, since tf2_msgs is absent as
well.
"""

from __future__ import annotations

import bisect
import math
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile

CACHE_NS = 10 * 10**9
DEPTH = 100
STATIC = QoSProfile(depth=DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
Planar = tuple[float, float, float]


class TransformException(Exception):
    """As tf2's: there is no such transform."""


class LookupException(TransformException):
    """A frame is not known."""


class InvalidArgumentException(TransformException):
    """A name that is no frame's."""


class Buffer:
    """Frames that are known, each with its parent and the times at which it was told."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._told: dict[str, list[tuple[int, Planar]]] = {}
        self._static: dict[str, Planar] = {}

    def clear(self) -> None:
        """Forget all that is not static."""
        self._told.clear()

    def set_transform(self, transform: TransformStamped) -> None:
        """Take in one that holds for its time."""
        stamp = transform.header.stamp
        at_ns = stamp.sec * 10**9 + stamp.nanosec
        told = self._told.setdefault(transform.child_frame_id, [])
        if told and at_ns < told[-1][0] - CACHE_NS:
            return
        bisect.insort(told, (at_ns, _planar(transform)))
        while told[-1][0] - told[0][0] > CACHE_NS:
            del told[0]
        self._parents[transform.child_frame_id] = transform.header.frame_id

    def set_transform_static(self, transform: TransformStamped) -> None:
        """Take in one that holds for ever."""
        self._static[transform.child_frame_id] = _planar(transform)
        self._parents[transform.child_frame_id] = transform.header.frame_id

    def lookup_transform(self, target: str, source: str, _newest: Any) -> TransformStamped:
        """Return where the source frame is in the target frame, an ancestor of it.

        :raises TransformException: that is not known.
        """
        if target.startswith('/') or source.startswith('/'):
            raise InvalidArgumentException('frame_ids cannot start with a "/"')
        links = []
        frame = source
        while frame != target:
            known = frame in self._static or self._told.get(frame)
            if frame not in self._parents or not known:
                raise LookupException(f'"{frame}" has no way to "{target}"')
            links.append(frame)
            frame = self._parents[frame]
        moving = [self._told[link] for link in links if link not in self._static]
        at_ns = min((told[-1][0] for told in moving), default=0)
        pose: Planar = (0.0, 0.0, 0.0)
        for link in reversed(links):
            pose = _compose(pose, self._static.get(link) or _at(self._told[link], at_ns))
        return _transform(target, source, at_ns, pose)


class TransformListener:
    """Fills a buffer from the topics."""

    def __init__(self, buffer: Buffer, node: Any, *, spin_thread: bool = False) -> None:
        if spin_thread:
            raise NotImplementedError
        self._node = node
        self._subscriptions = [
            node.create_subscription(TransformStamped, '/tf', buffer.set_transform, DEPTH),
            node.create_subscription(
                TransformStamped, '/tf_static', buffer.set_transform_static, STATIC
            ),
        ]

    def unregister(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


class TransformBroadcaster:
    """Tells of links for a time."""

    def __init__(self, node: Any) -> None:
        self._publisher = node.create_publisher(TransformStamped, '/tf', DEPTH)

    def sendTransform(self, transforms: list[TransformStamped]) -> None:
        """Publish them."""
        for transform in transforms:
            self._publisher.publish(transform)


class StaticTransformBroadcaster(TransformBroadcaster):
    """Tells of links that hold for ever."""

    def __init__(self, node: Any) -> None:
        self._publisher = node.create_publisher(TransformStamped, '/tf_static', STATIC)


def _planar(transform: TransformStamped) -> Planar:
    body = transform.transform
    yaw = 2.0 * math.atan2(body.rotation.z, body.rotation.w)
    return (body.translation.x, body.translation.y, yaw)


def _at(told: list[tuple[int, Planar]], at_ns: int) -> Planar:
    """Return what was told last before a time; tf2 interpolates."""
    index = bisect.bisect_right(told, at_ns, key=lambda entry: entry[0])
    return told[max(0, index - 1)][1]


def _compose(first: Planar, second: Planar) -> Planar:
    x, y, yaw = first
    cos, sin = math.cos(yaw), math.sin(yaw)
    return (
        x + cos * second[0] - sin * second[1],
        y + sin * second[0] + cos * second[1],
        yaw + second[2],
    )


def _transform(target: str, source: str, at_ns: int, pose: Planar) -> TransformStamped:
    message = TransformStamped(child_frame_id=source)
    message.header.frame_id = target
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(at_ns, 10**9)
    message.transform.translation.x, message.transform.translation.y = pose[:2]
    message.transform.rotation.z = math.sin(pose[2] / 2.0)
    message.transform.rotation.w = math.cos(pose[2] / 2.0)
    return message
