# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishers and subscriptions that do not get together, because one asks for more than the other
offers.

The middleware tells of them by events. An executor that waits for the events of every endpoint
costs as much as all the odometry of an idle robot (see `quiet.py`); here they are taken once a
second instead, without waiting for them. Whom one concerns is then read from the graph, so that
nothing is told of a publisher that has left.
"""

from __future__ import annotations

from collections.abc import Iterable
import logging
from typing import Any

from rclpy.event_handler import QoSPublisherEventType, QoSSubscriptionEventType
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import qos_check_compatible, QoSCompatibility, QoSProfile
from rclpy.subscription import Subscription

logger = logging.getLogger(__name__)

_REQUESTED = QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS
_OFFERED = QoSPublisherEventType.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS
POLICIES = ('reliability', 'durability', 'deadline', 'liveliness', 'liveliness_lease_duration')
"""What is negotiated between a publisher and a subscription."""
_WITHOUT_END_NS = 2**63 - 1
"""What the middlewares make of a duration of which nothing was said."""


class QosWatch:
    """Tells of others on a node's topics with whom nothing is exchanged; used on one thread."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._events: dict[Any, Any] = {}
        self._suspects: set[str] = set()
        self._told: tuple[str, ...] = ()

    def look(self) -> tuple[str, ...]:
        """Return what does not go together now, a sentence each; it is logged when it is new."""
        subscriptions, publishers = list(self._node.subscriptions), list(self._node.publishers)
        for endpoint, kind in (
            *((subscription, _REQUESTED) for subscription in subscriptions),
            *((publisher, _OFFERED) for publisher in publishers),
        ):
            if self._happened(endpoint, kind):
                self._suspects.add(endpoint.topic_name)
        for gone in self._events.keys() - {*subscriptions, *publishers}:
            del self._events[gone]
        found: list[str] = []
        for topic in sorted(self._suspects):
            told = [*self._unheard(topic, subscriptions), *self._unheard_of(topic, publishers)]
            if not told:
                self._suspects.discard(topic)
            found += told
        for sentence in found:
            if sentence not in self._told:
                logger.warning('%s', sentence)
        self._told = tuple(found)
        return self._told

    def _happened(self, endpoint: Any, kind: Any) -> bool:
        """Whether the endpoint met one that does not fit since it was asked last."""
        try:
            if endpoint not in self._events:
                with endpoint.handle:
                    self._events[endpoint] = _rclpy.EventHandle(endpoint.handle, kind)
            event = self._events[endpoint]
            with event:
                return bool(event.take_event().total_count_change)
        except InvalidHandle:
            return False  # it was destroyed this very moment

    def _unheard(self, topic: str, own: Iterable[Subscription]) -> list[str]:
        asked = [mine.qos_profile for mine in own if mine.topic_name == topic]
        return [
            f'{topic}: node {_name(info)} publishes {lacking(info.qos_profile, asked[0])}, so that'
            ' nothing of it is heard; publish with that QoS'
            for info in self._node.get_publishers_info_by_topic(topic)
            if asked and not any(_fits(info.qos_profile, profile) for profile in asked)
        ]

    def _unheard_of(self, topic: str, own: Iterable[Publisher]) -> list[str]:
        offered = [mine.qos_profile for mine in own if mine.topic_name == topic]
        return [
            f'{topic}: node {_name(info)} asks for more than is published'
            f' ({lacking(offered[0], info.qos_profile)}), and hears nothing; subscribe with less'
            for info in self._node.get_subscriptions_info_by_topic(topic)
            if offered and not any(_fits(profile, info.qos_profile) for profile in offered)
        ]


def lacking(offered: QoSProfile, asked: QoSProfile) -> str:
    """Return in which policies an offer falls short, for instance `durability volatile where
    transient_local is asked for`.
    """
    parts = []
    offered, asked = _said(offered), _said(asked)
    for policy in POLICIES:
        alone = QoSProfile(depth=1)
        setattr(alone, policy, getattr(offered, policy))
        wanted = QoSProfile(depth=1)
        setattr(wanted, policy, getattr(asked, policy))
        for other in ('reliability', 'durability'):
            if other != policy:
                setattr(wanted, other, getattr(alone, other))
        if not _fits(alone, wanted):
            offer, request = _value(offered, policy), _value(asked, policy)
            parts.append(f'{policy} {offer} where {request} is asked for')
    return ' and '.join(parts) or 'with other QoS than is asked for'


def _fits(offered: QoSProfile, asked: QoSProfile) -> bool:
    told = qos_check_compatible(_said(offered), _said(asked))[0]
    return bool(told != QoSCompatibility.ERROR)


def _said(profile: QoSProfile) -> QoSProfile:
    """Return what is negotiated of a profile, as one is written: a duration of which nothing was
    said is without end in what the graph tells of others, and rclpy takes that for a demand.
    """
    said = QoSProfile(depth=1)
    for policy in POLICIES:
        value = getattr(profile, policy)
        if getattr(value, 'nanoseconds', 0) < _WITHOUT_END_NS:
            setattr(said, policy, value)
    return said


def _value(profile: QoSProfile, policy: str) -> str:
    value = getattr(profile, policy)
    return (
        value.name.lower()
        if hasattr(value, 'name')
        else (f'{value.nanoseconds / 1e9:g} s' if value.nanoseconds else 'none')
    )


def _name(info: Any) -> str:
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'
