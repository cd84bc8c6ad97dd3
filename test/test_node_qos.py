# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""QoS as robots really have it: what is heard all the same, and what is reported, over DDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
from typing import Any

from action_msgs.msg import GoalStatusArray
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from node_rig import harness, HarnessProcess, LATCHED, NODE, Probe
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, String

from robot_agent_harness.msg import MissionEvent, WorldSnapshot
from robot_agent_harness.ros.qos_watch import lacking

BEST_EFFORT = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=5)
BEST_EFFORT_LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
OFFERS = {
    'best_effort': BEST_EFFORT,
    'reliable': RELIABLE,
    'latched': LATCHED,
    'best_effort_latched': BEST_EFFORT_LATCHED,
}


class Live:
    """One node without a robot, and what it diagnoses of its topics."""

    def __init__(self, probe: Probe, node: HarnessProcess) -> None:
        self.probe = probe
        self.node = node
        self.heard = probe.listen(DiagnosticArray, '/diagnostics')
        self.worlds = probe.listen(WorldSnapshot, f'{NODE}/world_snapshot', 1)

    def topics(self) -> DiagnosticStatus | None:
        """Return the newest that the node says of its topics."""
        for array in reversed(self.heard):
            for status in array.status:
                if status.name == f'{NODE[1:]}: topics':
                    return status
        return None

    def until_topics(self, level: bytes, text: str = '') -> str:
        def so() -> bool:
            told = self.topics()
            return told is not None and told.level == level and text in told.message

        self.probe.until(so, f'{text!r} in {self.topics()}')
        told = self.topics()
        assert told is not None
        return str(told.message)


@pytest.fixture(scope='module')
def live(tmp_path_factory) -> Iterator[Live]:
    probe = Probe()
    try:
        with harness(tmp_path_factory.mktemp('qos') / 'j.db', mcp__enabled=False) as node:
            node.says('ready: ')
            yield Live(probe, node)
    finally:
        probe.close()


def odometry(mark: int) -> Odometry:
    made = Odometry()
    made.header.frame_id = 'odom'
    made.pose.pose.orientation.w = 1.0
    made.pose.pose.position.x = float(mark)
    return made


def pose(mark: int) -> PoseWithCovarianceStamped:
    made = PoseWithCovarianceStamped()
    made.header.frame_id = 'map'
    made.pose.pose.orientation.w = 1.0
    made.pose.pose.position.x = float(mark)
    return made


def battery(mark: int) -> BatteryState:
    return BatteryState(percentage=mark / 8)


def emergency_stop(mark: int) -> Bool:
    return Bool(data=mark % 2 == 1)


FIELDS = {
    'odom': 'odometry',
    'amcl_pose': 'map_pose',
    'battery_state': 'battery',
    'emergency_stop': 'safety',
}
SOURCES: dict[str, tuple[Callable[[int], Any], Callable[[dict[str, Any]], Any]]] = {
    'odom': (odometry, lambda world: world['odometry']['value']['x']),
    'amcl_pose': (pose, lambda world: world['map_pose']['value']['x']),
    'battery_state': (battery, lambda world: world['battery']['value']['fraction'] * 8),
    'emergency_stop': (emergency_stop, lambda world: world['safety']['value']['emergency_stop']),
}
"""Each source's message for a number from 1 on, and how the number shows in a snapshot."""


@pytest.mark.parametrize('offer', OFFERS)
@pytest.mark.parametrize('topic', SOURCES)
def test_a_source_is_heard_whatever_qos_it_publishes_with(live, topic, offer):
    make, read = SOURCES[topic]
    mark = 1 + list(OFFERS).index(offer)
    node = live.probe.node
    publisher = node.create_publisher(type(make(mark)), topic, OFFERS[offer])

    def publish() -> None:
        message = make(mark)
        if hasattr(message, 'header'):
            message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    def told() -> Any:
        world = json.loads(live.worlds[-1].payload_json) if live.worlds else {}
        return read(world) if (world.get(FIELDS[topic]) or {}).get('value') else None

    timer = node.create_timer(0.1, publish)
    wanted = mark % 2 == 1 if topic == 'emergency_stop' else mark
    try:
        live.probe.until(lambda: told() == pytest.approx(wanted), f'{wanted}, not {told()}')
    finally:
        node.destroy_timer(timer)
        node.destroy_publisher(publisher)


def test_a_publisher_that_offers_too_little_is_named_with_the_policy_until_it_leaves(live):
    live.until_topics(DiagnosticStatus.OK)
    name = 'navigate_to_pose/_action/status'
    publisher = live.probe.node.create_publisher(GoalStatusArray, name, BEST_EFFORT)
    told = live.until_topics(DiagnosticStatus.WARN, name)
    assert '/probe publishes reliability best_effort where reliable is asked for' in told
    assert 'durability volatile where transient_local is asked for' in told
    live.node.says(r'\[WARN\].*navigate_to_pose/_action/status: node .*/probe publishes')
    live.probe.node.destroy_publisher(publisher)
    live.until_topics(DiagnosticStatus.OK)


def test_a_human_who_speaks_best_effort_is_told_that_nobody_hears(live):
    publisher = live.probe.node.create_publisher(String, f'{NODE}/human_message', BEST_EFFORT)
    told = live.until_topics(DiagnosticStatus.WARN, 'human_message')
    assert 'reliability best_effort where reliable is asked for' in told
    live.probe.node.destroy_publisher(publisher)
    live.until_topics(DiagnosticStatus.OK)


def test_a_subscriber_that_asks_for_too_much_is_named_and_no_other(live):
    heard = live.probe.node.create_subscription(
        MissionEvent, f'{NODE}/mission_event', lambda _: None, RELIABLE
    )
    subscription = live.probe.node.create_subscription(
        MissionEvent, f'{NODE}/mission_event', lambda _: None, LATCHED
    )
    told = live.until_topics(DiagnosticStatus.WARN, 'mission_event')
    assert told.count('/probe asks for more than is published') == 1
    assert '(durability volatile where transient_local is asked for)' in told
    live.probe.node.destroy_subscription(subscription)
    live.until_topics(DiagnosticStatus.OK)
    live.probe.node.destroy_subscription(heard)


def test_a_robot_that_is_not_there_is_missed_once_in_the_log(tmp_path):
    with harness(tmp_path / 'j.db', mcp__enabled=False, use_sim_time=True) as node:
        line = node.says(r'\[WARN\].*nothing heard within 10 s of (.*); `(.*)` with the same')
        assert [name.rpartition('/')[2] for name in line.group(1).split(', ')] == [
            'odom',
            'amcl_pose',
            'navigate_to_pose',
            'clock',
        ]
        assert line.group(2) == 'robot-agent-harness doctor'
        assert sum('nothing heard' in said for said in node.lines) == 1


@pytest.mark.parametrize(
    ('offered', 'asked', 'told'),
    [
        (BEST_EFFORT, RELIABLE, 'reliability best_effort where reliable is asked for'),
        (RELIABLE, LATCHED, 'durability volatile where transient_local is asked for'),
        (
            RELIABLE,
            QoSProfile(depth=1, deadline=Duration(seconds=2)),
            'deadline none where 2 s is asked for',
        ),
        (
            # As the graph tells of a subscription that said nothing of durations.
            RELIABLE,
            QoSProfile(
                depth=1,
                durability=DurabilityPolicy.TRANSIENT_LOCAL,
                deadline=Duration(nanoseconds=2**63 - 1),
                liveliness_lease_duration=Duration(nanoseconds=2**63 - 1),
            ),
            'durability volatile where transient_local is asked for',
        ),
        (
            BEST_EFFORT,
            LATCHED,
            'reliability best_effort where reliable is asked for and durability volatile where'
            ' transient_local is asked for',
        ),
    ],
)
def test_what_an_offer_lacks_is_said_policy_by_policy(offered, asked, told):
    assert lacking(offered, asked) == told
