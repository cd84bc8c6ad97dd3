# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What was seen and heard of a robot for a few seconds, before anybody judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_agent_harness.world.snapshot import WorldSnapshot


@dataclass(frozen=True, slots=True)
class PublisherFacts:
    """One publisher on a topic."""

    node: str
    type: str
    """As `package/msg/Name`."""
    qos: str
    """Reliability and durability, in words."""


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """One topic that the harness listens to."""

    role: str
    """The name before remapping: `odom`."""
    name: str
    """The name as it is on the graph."""
    type: str
    """The type that the harness takes."""
    publishers: tuple[PublisherFacts, ...]
    elsewhere: tuple[str, ...]
    """Other topics with publishers of that type."""
    heard: int = 0
    """Messages that arrived."""
    rate_hz: float | None = None
    """None with fewer than two messages."""
    longest_gap_s: float | None = None
    """The same."""
    delay_s: float | None = None
    """Median of the reception's ROS time less the stamp; None where nothing is stamped."""
    frames: tuple[str, ...] = ()
    """Frames that were seen in the headers."""
    child_frame: str | None = None
    """The robot's own frame, where the message has it."""


@dataclass(frozen=True, slots=True)
class ActionFacts:
    """One action server that the harness sends goals to."""

    role: str
    """The name before remapping."""
    name: str
    expected: bool
    """Whether a mission cannot do without it; the skills of others appear with their server."""
    servers: int
    """How many serve it; two share goals by chance."""
    missing: tuple[str, ...]
    """Parts of it (services, topics) that nobody has."""
    elsewhere: tuple[str, ...]
    """Other actions of that type that are served."""
    type: str
    """The type that the harness takes, as `package/action/Name`."""
    served_as: tuple[str, ...]
    """The types under which somebody serves the name."""


@dataclass(frozen=True, slots=True)
class TfFacts:
    """The topic of the transforms."""

    name: str
    publishers: int
    elsewhere: tuple[str, ...]
    """Other topics with transforms."""


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """All that was found on the graph."""

    listened_s: float
    domain_id: int
    discovery: str
    """How far this machine looks for others, as the environment says."""
    namespace: str
    others: int
    """How many other nodes the graph has."""
    harness: str | None
    """Lifecycle state of the harness node with our name; None: there is none."""
    use_sim_time: bool
    clock_publishers: int
    clock_heard: bool
    tf: TfFacts | None
    """None: tf2_ros is not installed, so that the map pose never comes from it."""
    topics: tuple[TopicFacts, ...]
    actions: tuple[ActionFacts, ...]
    lifecycle: Mapping[str, str]
    """State of each lifecycle node of Nav2's; `no answer` where it gave none."""
    mismatches: tuple[str, ...]
    """Publishers and subscriptions that the middleware says do not go together."""
    world: WorldSnapshot
    """What a harness would make of it."""
