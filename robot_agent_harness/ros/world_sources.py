# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot's state topics, from the wire into the world builder.

Callbacks run on the rclpy thread; they convert and hand over, and wake nothing: the builder keeps
the newest value of each, and the loop looks when it needs to know.
"""

from __future__ import annotations

from collections.abc import Callable
import importlib
import logging
from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock as RclClock
from rclpy.clock import JumpThreshold
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.time import Time as RclTime
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

from robot_agent_harness.clock import Clock
from robot_agent_harness.ros import conversions
from robot_agent_harness.ros.quiet import QUIET_SUBSCRIPTION
from robot_agent_harness.world.builder import WorldSnapshotBuilder
from robot_agent_harness.world.samples import Sample

logger = logging.getLogger(__name__)

NEWEST = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE
)
"""Matches every publisher (a request for less than is offered is met), and keeps what is newest:
a backlog of old odometry is worth nothing."""
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""Gets what was published before we came, from publishers that offer it."""
TF_PERIOD_S = 0.1
"""How often tf is asked where the robot is."""
TF_SILENT_S = 10.0
"""How long tf may not know before that is said: localisation takes a while to come up."""


class WorldSources:
    """Subscriptions to `odom`, `amcl_pose`, `battery_state`, `emergency_stop`, and tf where there
    is any. All names are relative.
    """

    def __init__(
        self,
        node: Node,
        builder: WorldSnapshotBuilder,
        *,
        clock: Clock,
        global_frame: str,
        base_frame: str,
    ) -> None:
        self._node = node
        self._builder = builder
        self._clock = clock
        self._last_pose_ns = 0
        self._subscriptions = [
            node.create_subscription(*topic, NEWEST, event_callbacks=QUIET_SUBSCRIPTION)
            for topic in (
                (Odometry, 'odom', self._on_odometry),
                (BatteryState, 'battery_state', self._on_battery),
            )
        ]
        self._latched = (
            LatchedTopic(node, PoseWithCovarianceStamped, 'amcl_pose', self._on_map_pose),
            LatchedTopic(node, Bool, 'emergency_stop', self._on_emergency_stop),
        )
        self._transforms = Transforms.start(node, self._on_transform, global_frame, base_frame)

    def close(self) -> None:
        """Stop listening; on the rclpy thread, or once it has ended."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for topic in self._latched:
            topic.close()
        if self._transforms is not None:
            self._transforms.close()

    def _on_odometry(self, message: Odometry) -> None:
        self._builder.observe_odometry(
            self._sample(conversions.odometry(message), message.header.stamp)
        )

    def _on_battery(self, message: BatteryState) -> None:
        self._builder.observe_battery(
            self._sample(conversions.battery(message), message.header.stamp)
        )

    def _on_map_pose(self, message: PoseWithCovarianceStamped) -> None:
        stamp_ns = conversions.stamp_ns(message.header.stamp)
        if stamp_ns and stamp_ns == self._last_pose_ns:
            return  # the same message by the topic's other subscription
        self._last_pose_ns = stamp_ns
        sample = self._sample(conversions.map_pose(message), message.header.stamp)
        self._builder.observe_map_pose(sample, source='amcl_pose')

    def _on_emergency_stop(self, message: Bool) -> None:
        self._builder.observe_emergency_stop(Sample.now(bool(message.data), None, self._clock))

    def _on_transform(self, message: Any) -> None:
        sample = self._sample(conversions.transform_pose(message), message.header.stamp)
        self._builder.observe_map_pose(sample, source='tf')

    def _sample(self, value: Any, stamp: Any) -> Sample[Any]:
        return Sample.now(value, conversions.stamp_ns(stamp), self._clock)


class LatchedTopic:
    """A topic whose last message must be had although it was published before we came.

    A latching subscription does not match a publisher that latches nothing, or sends best effort;
    the middleware reports such a publisher, and only then a second, undemanding subscription is
    made. With publishers of both kinds the latching ones are heard twice: the callback must not
    mind.
    """

    def __init__(
        self, node: Node, message_type: Any, name: str, callback: Callable[[Any], None]
    ) -> None:
        self._node = node
        self._make: Callable[..., Subscription] = lambda qos, **events: node.create_subscription(
            message_type, name, callback, qos, **events
        )
        self._name = name
        events = SubscriptionEventCallbacks(
            incompatible_qos=self._on_incompatible, use_default_callbacks=False
        )
        self._subscriptions = [self._make(LATCHED, event_callbacks=events)]

    def close(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _on_incompatible(self, _event: Any) -> None:
        if len(self._subscriptions) == 1:
            logger.info('%s has a publisher that does not latch; listening to it too', self._name)
            self._subscriptions.append(self._make(NEWEST, event_callbacks=QUIET_SUBSCRIPTION))


class Transforms:
    """Asks tf2 for the base in the global frame, and hands over what is new.

    Frames may have a prefix (`robot1/base_link`); tf2 itself knows no leading slash.
    """

    def __init__(
        self,
        node: Node,
        tf2_ros: Any,
        callback: Callable[[Any], None],
        global_frame: str,
        base_frame: str,
    ) -> None:
        self._node = node
        self._callback = callback
        self._frames = (global_frame.lstrip('/'), base_frame.lstrip('/'))
        self._errors = tf2_ros.TransformException
        self._last_ns: int | None = None
        self._failed_looks = 0
        self._buffer = tf2_ros.Buffer()
        self._listener = tf2_ros.TransformListener(self._buffer, node, spin_thread=False)
        # Steady: simulated time may stand still, and the robot may not.
        steady = RclClock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(TF_PERIOD_S, self._look, clock=steady)
        # The buffer itself would watch a clock that is not this node's: after a simulation starts
        # over, it would prefer what it has until the new time has passed the old one.
        back = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        self._jumps = node.get_clock().create_jump_callback(
            back, post_callback=lambda _jump: self._buffer.clear()
        )

    @classmethod
    def start(
        cls, node: Node, callback: Callable[[Any], None], global_frame: str, base_frame: str
    ) -> Transforms | None:
        """Begin to ask; None where tf2_ros is not installed."""
        try:
            tf2_ros = importlib.import_module('tf2_ros')
        except ImportError:
            logger.debug('tf2_ros is not installed: the map pose is amcl_pose carried by odom')
            return None
        return cls(node, tf2_ros, callback, global_frame, base_frame)

    def close(self) -> None:
        """Stop asking."""
        self._jumps.unregister()
        self._node.destroy_timer(self._timer)
        self._listener.unregister()

    def _look(self) -> None:
        try:
            transform = self._buffer.lookup_transform(*self._frames, RclTime())
        except self._errors as error:
            self._failed_looks += 1  # the snapshot says by itself that there is no pose
            if self._failed_looks == round(TF_SILENT_S / TF_PERIOD_S):
                logger.info(
                    'tf knows no way from %s to %s, so the pose is from amcl_pose if at all: %s',
                    *self._frames,
                    error,
                )
            return
        self._failed_looks = 0
        stamp_ns = conversions.stamp_ns(transform.header.stamp)
        if stamp_ns == self._last_ns:
            return  # nothing new: the pose ages, and must be seen to
        self._last_ns = stamp_ns
        self._callback(transform)
