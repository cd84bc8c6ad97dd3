# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the harness tells the robot's other programs: world, actions and journal as topics.

Everything here runs on the asyncio loop; rclpy's publishers may be used from any thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import logging

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.events import Correlation, Event
from robot_agent_harness.msg import MissionEvent, RobotActionState, WorldSnapshot
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.ros import conversions
from robot_agent_harness.ros.quiet import QUIET_PUBLISHER

logger = logging.getLogger(__name__)

SNAPSHOT_PERIOD_S = 0.5
"""A view for people and dashboards; decisions take their own snapshot."""
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Only the newest snapshot is worth sending."""
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""A late subscriber gets the newest state."""
EVENTS = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
"""Deep enough for the records of one decision to wait for a slow subscriber."""
PERIODIC = 'periodic'
"""The reason of a snapshot that nobody asked for; the journal does not hold it."""


class Publications:
    """Publishes `~/world_snapshot`, `~/action_state` and `~/mission_event`."""

    def __init__(self, node: Node, core: Core, *, clock: Clock) -> None:
        self._node = node
        self._core = core
        self._clock = clock
        self._redactor = shared_redactor()
        self._open = True
        self._snapshots, self._actions, self._events = (
            node.create_publisher(*topic, event_callbacks=QUIET_PUBLISHER)
            for topic in (
                (WorldSnapshot, '~/world_snapshot', NEWEST),
                (RobotActionState, '~/action_state', LATCHED),
                (MissionEvent, '~/mission_event', EVENTS),
            )
        )
        core.tracker.on_change(self._on_change)
        core.journal.add_event_listener(self._on_event)

    def publish_snapshot(self) -> None:
        """Publish the world as it is now, if anybody listens."""
        if self._open and self._snapshots.get_subscription_count():
            mission_id = self._core.harness.mission_id
            snapshot = self._core.observer.peek()
            payload = self._redactor.value(snapshot.to_dict())
            self._snapshots.publish(
                conversions.snapshot_msg(snapshot, mission_id, PERIODIC, payload)
            )

    def close(self) -> None:
        """Publish nothing any more; on the rclpy thread, or once it has ended."""
        self._open = False
        for publisher in (self._snapshots, self._actions, self._events):
            self._node.destroy_publisher(publisher)

    def _on_change(self, action: RobotAction) -> None:
        if self._open:
            payload = self._redactor.value(
                conversions.action_payload(action), scope=action.tool_call_id
            )
            self._actions.publish(conversions.action_msg(action, self._clock.ros_ns(), payload))

    def _on_event(self, seq: int, event: Event, ids: Correlation) -> None:
        if self._open and self._events.get_subscription_count():
            self._events.publish(conversions.event_msg(seq, event, ids, self._clock.ros_ns()))


async def every(period_s: float, act: Callable[[], None]) -> None:
    """Call a function periodically until cancelled; a failure is logged, and the next call
    follows.
    """
    while True:
        await asyncio.sleep(period_s)
        try:
            act()
        except Exception:
            # One bad message must not end what operators watch.
            logger.exception('%s failed', act.__qualname__)
