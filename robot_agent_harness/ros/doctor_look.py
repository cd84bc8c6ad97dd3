# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""RobotLook: sees and hears of a robot what a harness with the same parameters would.

It bears the harness's name, so that parameters, remappings and namespace apply as they do there,
but serves nothing, and publishes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
import importlib.util
import os
from statistics import median
import time
from typing import Any

from action_msgs.msg import GoalStatusArray
from lifecycle_msgs.srv import GetState
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_action_status_default, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from rosgraph_msgs.msg import Clock as ClockMessage

from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE, RosAction
from robot_agent_harness.assembly import snapshot_config
from robot_agent_harness.clock import NS_PER_S, RandomIds
from robot_agent_harness.doctor.facts import (
    ActionFacts,
    PublisherFacts,
    RobotFacts,
    TfFacts,
    TopicFacts,
)
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.ros.node_parameters import given_to, NODE_NAME
from robot_agent_harness.ros.qos_watch import QosWatch
from robot_agent_harness.ros.quiet import QUIET_SUBSCRIPTION
from robot_agent_harness.ros.ros_clock import RosClock
from robot_agent_harness.ros.world_sources import WorldSources
from robot_agent_harness.world.builder import WorldSnapshotBuilder
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import Availability, Observed

TOPICS = {
    'odom': 'nav_msgs/msg/Odometry',
    'amcl_pose': 'geometry_msgs/msg/PoseWithCovarianceStamped',
    'battery_state': 'sensor_msgs/msg/BatteryState',
    'emergency_stop': 'std_msgs/msg/Bool',
}
"""What the harness listens to, and the type that it takes."""
TF_TYPE = 'tf2_msgs/msg/TFMessage'
OPTIONAL = ('battery_state', 'emergency_stop')
"""What a robot may lack."""
LATCHED = ('amcl_pose', 'emergency_stop')
"""Whose first message may be from long ago."""
SERVICES, STATUSES = ('send_goal', 'get_result', 'cancel_goal'), ('feedback', 'status')
FEEDBACK_TYPE = '_FeedbackMessage'
GET_STATE, GET_STATE_TYPE = '/get_state', 'lifecycle_msgs/srv/GetState'
NAV2_NODES = frozenset(
    {
        'amcl',
        'behavior_server',
        'bt_navigator',
        'collision_monitor',
        'controller_server',
        'docking_server',
        'map_server',
        'planner_server',
        'route_server',
        'smoother_server',
        'velocity_smoother',
        'waypoint_follower',
    }
)
"""Those that must be active for Nav2 to drive, where they are there."""
SAMPLES_KEPT = 10_000
LOOK_S = 0.25
"""How often the graph is asked for lifecycle services, and the middleware for QoS events."""
LONGER_S = 1.0
"""How much longer to listen for what is needed or published and has not been heard: discovery
takes long on a slow network, and some topics are slow."""
HARNESS_S = 7.0
"""The same for a harness that is at work: DDS tells of a process every 3 s, and once may be
missed."""
NO_ANSWER = 'no answer'


class RobotLook:
    """A node that only listens; a context manager.

    :param ros_arguments: `--ros-args ...`, as for the harness node.
    :raises ConfigurationError: they cannot be read, or a parameter is unknown or not allowed.
    """

    def __init__(self, ros_arguments: Sequence[str]) -> None:
        argv = ['robot-agent-harness', *ros_arguments]
        self._context = Context()
        self._node: Node | None = None
        try:
            unknown = remove_ros_args(argv)[1:]
            if unknown:
                raise ConfigurationError(f'unknown argument {unknown[0]!r} outside of --ros-args')
            rclpy.init(
                args=argv, context=self._context, signal_handler_options=SignalHandlerOptions.NO
            )
            self._node = Node(
                NODE_NAME,
                context=self._context,
                enable_rosout=False,
                start_parameter_services=False,
                automatically_declare_parameters_from_overrides=True,
                # Its service would answer for the harness's.
                parameter_overrides=[Parameter('start_type_description_service', value=False)],
            )
            self.values = check_parameters(given_to(self._node))
        except (RuntimeError, ValueError) as error:
            self.close()
            raise ConfigurationError(str(error)) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RobotLook:
        """Begin nothing; `listen` does."""
        return self

    def __exit__(self, *_: object) -> None:
        """Withdraw."""
        self.close()

    def close(self) -> None:
        """Withdraw from the graph; a second time does nothing."""
        if self._node is not None:
            self._node.destroy_node()
            self._node = None
        if self._context.ok():
            rclpy.shutdown(context=self._context)

    def listen(
        self, seconds: float, actions: Iterable[RosAction], *, harness_works: bool
    ) -> RobotFacts:
        """Listen for a while and return what was seen and heard.

        :param actions: those that skills drive.
        :param harness_works: whether somebody writes the journal, so that a harness is to be seen.
        """
        assert self._node is not None
        node, values = self._node, self.values
        use_sim_time = bool(node.get_parameter('use_sim_time').value)
        clock = RosClock(node.get_clock())
        builder = _Witness(
            clock=clock,
            ids=RandomIds(),
            robot_id=str(values['robot_id']),
            config=snapshot_config(values, use_sim_time),
        )
        sources = WorldSources(
            node,
            builder,
            clock=clock,
            global_frame=str(values['global_frame']),
            base_frame=str(values['base_frame']),
        )
        extra = _Extra(node)
        lifecycle = _Lifecycle(node)
        watch = QosWatch(node)
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(node)
        mismatches: tuple[str, ...] = ()

        def longer_s() -> float:
            if harness_works and lifecycle.harness in (None, NO_ANSWER):
                return HARNESS_S
            return 0.0 if _complete(node, builder) else LONGER_S

        try:
            begun = time.monotonic()
            due = begun
            while (passed := time.monotonic() - begun) < seconds + longer_s():
                executor.spin_once(timeout_sec=LOOK_S)
                if time.monotonic() >= due:
                    due = time.monotonic() + LOOK_S
                    lifecycle.ask()
                    mismatches = watch.look()
            return RobotFacts(
                listened_s=passed,
                domain_id=self._context.get_domain_id(),
                discovery=_discovery(os.environ),
                namespace=node.get_namespace(),
                others=len(_others(node)),
                harness=lifecycle.harness,
                use_sim_time=use_sim_time,
                clock_publishers=node.count_publishers('/clock'),
                clock_heard=extra.clock_heard,
                tf=_tf(node) if importlib.util.find_spec('tf2_ros') is not None else None,
                topics=tuple(
                    _topic(node, role, kind, builder.heard[role], extra.child_frame)
                    for role, kind in TOPICS.items()
                ),
                actions=tuple(_action(node, action) for action in actions),
                lifecycle={
                    name: state
                    for name, state in lifecycle.states.items()
                    if name.rpartition('/')[2] in NAV2_NODES
                },
                mismatches=mismatches,
                world=builder.capture(
                    navigation=Observed(
                        value=None,
                        source=NAVIGATE_TO_POSE.name,
                        source_stamp_ns=None,
                        age_s=None,
                        availability=Availability.MISSING,
                    )
                ),
            )
        finally:
            executor.shutdown()
            sources.close()


class _Witness(WorldSnapshotBuilder):
    """The harness's own builder, with every message counted on its way."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.heard: dict[str, deque[Sample[Any]]] = {
            role: deque(maxlen=SAMPLES_KEPT) for role in TOPICS
        }

    def observe_odometry(self, sample: Sample[Any]) -> None:
        self.heard['odom'].append(sample)
        super().observe_odometry(sample)

    def observe_map_pose(self, sample: Sample[Any], *, source: str) -> None:
        if source == 'amcl_pose':
            self.heard['amcl_pose'].append(sample)
        super().observe_map_pose(sample, source=source)

    def observe_battery(self, sample: Sample[Any]) -> None:
        self.heard['battery_state'].append(sample)
        super().observe_battery(sample)

    def observe_emergency_stop(self, sample: Sample[bool]) -> None:
        self.heard['emergency_stop'].append(sample)
        super().observe_emergency_stop(sample)


class _Extra:
    """What the harness's sources do not read: the robot's frame in `odom`, and /clock. The
    action's topics are subscribed to with the harness's QoS only to see whether that fits.
    """

    def __init__(self, node: Node) -> None:
        self.child_frame: str | None = None
        self.clock_heard = False
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        part = f'{node.resolve_service_name(NAVIGATE_TO_POSE.name)}/_action'
        feedback = NavigateToPose.Impl.FeedbackMessage
        for kind, name, take, qos in (
            (Odometry, 'odom', self._on_odometry, newest),
            (ClockMessage, '/clock', self._on_clock, newest),
            (GoalStatusArray, f'{part}/status', _ignore, qos_profile_action_status_default),
            (feedback, f'{part}/feedback', _ignore, QoSProfile(depth=1)),
        ):
            node.create_subscription(kind, name, take, qos, event_callbacks=QUIET_SUBSCRIPTION)

    def _on_odometry(self, message: Odometry) -> None:
        self.child_frame = message.child_frame_id

    def _on_clock(self, _message: ClockMessage) -> None:
        self.clock_heard = True


def _ignore(_message: Any) -> None:
    """Take a message whose QoS alone is of interest."""


class _Lifecycle:
    """Asks the lifecycle nodes of our namespace for their state, each once they are seen."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._asked: dict[str, Any] = {}
        self.states: dict[str, str] = {}

    @property
    def harness(self) -> str | None:
        """State of the node with our own name; None: there is none."""
        return self.states.get(self._node.get_fully_qualified_name())

    def ask(self) -> None:
        """Ask those that have come into sight."""
        space = self._node.get_namespace()
        for service, types in self._node.get_service_names_and_types():
            name = service.removesuffix(GET_STATE)
            relevant = name.rpartition('/')[2] in NAV2_NODES | {NODE_NAME}
            near = name.rpartition('/')[0] == space.rstrip('/')
            if not (service.endswith(GET_STATE) and GET_STATE_TYPE in types and relevant and near):
                continue
            if name not in self._asked:
                self._asked[name] = self._node.create_client(GetState, service)
                self.states[name] = NO_ANSWER
            client = self._asked[name]
            if client is not None and client.service_is_ready():
                self._asked[name] = None
                future = client.call_async(GetState.Request())
                future.add_done_callback(lambda done, name=name: self._take(name, done))

    def _take(self, name: str, done: Any) -> None:
        self.states[name] = str(done.result().current_state.label)


def _complete(node: Node, builder: _Witness) -> bool:
    """Whether everything that is needed or published has been heard, and some node been seen: the
    names of nodes come in messages of their own.
    """
    return bool(_others(node)) and all(
        heard or (role in OPTIONAL and not node.count_publishers(role))
        for role, heard in builder.heard.items()
    )


def _others(node: Node) -> list[str]:
    """Return all nodes but this one; one of the same name is another."""
    ours = (node.get_name(), node.get_namespace())
    all_of_them = list(node.get_node_names_and_namespaces())
    if ours in all_of_them:
        all_of_them.remove(ours)
    return [name for name, _ in all_of_them]


def _topic(
    node: Node, role: str, kind: str, samples: deque[Sample[Any]], child_frame: str | None
) -> TopicFacts:
    name = node.resolve_topic_name(role)
    times = [sample.received_monotonic_ns for sample in samples]
    gaps = [later - earlier for earlier, later in zip(times, list(times)[1:], strict=False)]
    frames = dict.fromkeys(
        frame for sample in samples if (frame := getattr(sample.value, 'frame_id', None))
    )
    return TopicFacts(
        role=role,
        name=name,
        type=kind,
        publishers=tuple(
            PublisherFacts(
                f'{info.node_namespace.rstrip("/")}/{info.node_name}',
                info.topic_type,
                f'{info.qos_profile.reliability.name.lower()},'
                f' {info.qos_profile.durability.name.lower()}'.replace('_', ' '),
            )
            for info in node.get_publishers_info_by_topic(name)
        ),
        elsewhere=tuple(
            other
            for other, types in node.get_topic_names_and_types()
            if kind in types and other != name and node.count_publishers(other)
        )
        if kind != TOPICS['emergency_stop']  # any switch is a Bool
        else (),
        heard=len(samples),
        rate_hz=len(gaps) * NS_PER_S / sum(gaps) if sum(gaps) else None,
        longest_gap_s=max(gaps) / NS_PER_S if gaps else None,
        delay_s=_delay_s(samples, latched=role in LATCHED),
        frames=tuple(frames),
        child_frame=child_frame if role == 'odom' else None,
    )


def _tf(node: Node) -> TfFacts:
    name = node.resolve_topic_name('/tf')
    elsewhere = tuple(
        other
        for other, types in node.get_topic_names_and_types()
        if TF_TYPE in types and other != name and not other.endswith('_static')
    )
    return TfFacts(name, node.count_publishers(name), elsewhere)


def _delay_s(samples: deque[Sample[Any]], *, latched: bool) -> float | None:
    delays = [
        (sample.received_ros_ns - sample.stamp_ns) / NS_PER_S
        for sample in samples
        if sample.stamp_ns
    ]
    if latched and delays and delays[0] > 0:
        del delays[0]  # how long ago it was published, not how long it took
    return median(delays) if delays else None


def _action(node: Node, action: RosAction) -> ActionFacts:
    name = node.resolve_service_name(action.name)
    served = {service for service, _ in node.get_service_names_and_types()}
    parts = [f'{name}/_action/{part}' for part in SERVICES]
    topics = [f'{name}/_action/{part}' for part in STATUSES]
    wanted = f'{action.type}_SendGoal'
    return ActionFacts(
        role=action.name,
        name=name,
        expected=action.expected,
        servers=node.count_publishers(topics[-1]),
        missing=tuple(
            part.rpartition('/')[2]
            for part in (
                *(service for service in parts if service not in served),
                *(topic for topic in topics if not node.count_publishers(topic)),
            )
        ),
        elsewhere=tuple(
            other
            for service, types in node.get_service_names_and_types()
            if wanted in types and (other := service.removesuffix('/_action/send_goal')) != name
        ),
        type=action.type,
        served_as=_served_as(node, topics[0]),
    )


def _served_as(node: Node, feedback: str) -> tuple[str, ...]:
    """Return the types under which servers serve an action: its services are also on the graph
    where only a client is, and the names of nodes say nothing where two nodes bear one.
    """
    told = (info.topic_type for info in node.get_publishers_info_by_topic(feedback))
    return tuple(dict.fromkeys(kind.removesuffix(FEEDBACK_TYPE) for kind in told))


def _discovery(environ: Mapping[str, str]) -> str:
    if environ.get('ROS_LOCALHOST_ONLY') == '1':
        return 'localhost'
    return environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET').lower()
