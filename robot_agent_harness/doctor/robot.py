# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges what was seen of a robot. Whether a field is fresh, invalid or missing is decided by the
harness's own builder, so that the doctor never thinks otherwise than the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.doctor.facts import ActionFacts, RobotFacts, TopicFacts
from robot_agent_harness.doctor.finding import Finding, Level, ok, problem, warning
from robot_agent_harness.parameters import Value
from robot_agent_harness.world.snapshot import Availability, Observed

DELAY_S = 0.3
"""From this on a delay is no network's: clocks differ, or somebody holds messages back."""
OTHER_CLOCK_S = 86_400.0
"""Stamps that are further off come from another clock altogether, for instance a simulation's."""
ACTIVE = 'active'
SHOWN_MAX = 4
"""Other names that are told of one topic or action."""
STALE_PARAMETER = {
    'odom': 'snapshot.stale_after_s.odometry',
    'battery_state': 'snapshot.stale_after_s.battery',
}


@dataclass(frozen=True, slots=True)
class Needs:
    """What the skills that move the robot ask of it before they do."""

    pose: bool = True
    """Whether one of them wants a fresh map pose."""
    odometry: bool = True
    """Whether one of them wants fresh odometry; a robot may be silent at rest."""
    variance_m2: float | None = None
    """The largest position variance that all of them allow; None: any."""
    battery_fraction: float | None = None
    """The least charge that all of them take, where one is reported; None: any."""
    stop_clear: bool = True
    """Whether one of them wants the emergency stop clear, where one is reported."""

    @classmethod
    def of(cls, policies: Iterable[PreconditionPolicy]) -> Needs:
        """Return what any of the skills needs."""
        policies = tuple(policies)
        variances = [p.max_position_variance_m2 for p in policies]
        charges = [p.min_battery_fraction for p in policies]
        return cls(
            pose=any(p.pose_max_age_s is not None for p in policies),
            odometry=any(p.odometry_max_age_s is not None for p in policies),
            variance_m2=min((v for v in variances if v is not None), default=None),
            battery_fraction=max((c for c in charges if c is not None), default=None),
            stop_clear=any(p.emergency_stop_clear for p in policies),
        )


def check_robot(facts: RobotFacts, parameters: Mapping[str, Value], needs: Needs) -> list[Finding]:
    """Judge a robot by what the skills need of it."""
    found = [_graph(facts), *_clock(facts), _tf(facts, parameters)]
    battery, safety = facts.world.battery, facts.world.safety
    fields: dict[str, tuple[Observed[Any], bool]] = {
        'odom': (facts.world.odometry, needs.odometry),
        'amcl_pose': (facts.world.map_pose, needs.pose),
        # Needed where they are reported: what cannot be believed of them refuses every call.
        'battery_state': (battery, needs.battery_fraction is not None and _reported(battery)),
        'emergency_stop': (safety, needs.stop_clear and _reported(safety)),
    }
    for topic in facts.topics:
        field, needed = fields[topic.role]
        found.append(_topic(topic, field, needed, facts))
        found += _closer(topic, field, parameters)
    found += _state(facts, parameters, needs)
    found += [_action(action, facts.namespace) for action in facts.actions]
    found += [_lifecycle(name, state) for name, state in sorted(facts.lifecycle.items())]
    found += [
        warning('qos', sentence, 'change the QoS of that node, or remap the topic')
        for sentence in facts.mismatches
    ]
    return found


def _reported(field: Observed[Any]) -> bool:
    return field.availability is not Availability.MISSING


def _graph(facts: RobotFacts) -> Finding:
    where = f'domain {facts.domain_id}, discovery {facts.discovery}, namespace {facts.namespace}'
    details = {'domain_id': facts.domain_id, 'others': facts.others, 'harness': facts.harness}
    if facts.others == 0:
        return problem(
            'graph',
            f'no other node is there ({where})',
            'start the robot; ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE (SUBNET for a robot on'
            ' another computer) and the RMW must be the same on both sides',
            **details,
        )
    nodes = '1 other node' if facts.others == 1 else f'{facts.others} other nodes'
    harness = 'no harness' if facts.harness is None else f'the harness is {facts.harness}'
    return ok('graph', f'{nodes}, {harness} ({where})', **details)


def _clock(facts: RobotFacts) -> Iterator[Finding]:
    details = {'use_sim_time': facts.use_sim_time, 'publishers': facts.clock_publishers}
    if facts.use_sim_time and not facts.clock_heard:
        yield problem(
            'clock',
            'use_sim_time is set, and nothing is heard on /clock: ROS time stands at 0',
            'start the simulation, or leave use_sim_time off on a real robot',
            **details,
        )
    elif not facts.use_sim_time and facts.clock_publishers:
        yield warning(
            'clock',
            '/clock is published, and use_sim_time is not set',
            'set use_sim_time:=true if the robot is simulated',
            **details,
        )
    else:
        yield ok(
            'clock',
            'simulated, /clock is heard' if facts.use_sim_time else 'the system clock',
            **details,
        )


def _tf(facts: RobotFacts, parameters: Mapping[str, Value]) -> Finding:
    way = f'{parameters["global_frame"]} to {parameters["base_frame"]}'
    instead = 'the map pose is amcl_pose, carried forward by odom'
    if facts.tf is None:
        return ok('tf', f'tf2_ros is not installed: {instead}')
    if facts.world.map_pose.source == 'tf':
        return ok('tf', f'{way} is known')
    if not facts.tf.publishers:
        told = f'nobody publishes {facts.tf.name}'
        own = f'{facts.namespace.rstrip("/")}/tf'
        if own in facts.tf.elsewhere:
            return warning(
                'tf',
                f'{told}; {own} would fit',
                'remap, as harness.launch.py does: -r /tf:=tf -r /tf_static:=tf_static',
            )
        return ok('tf', f'{told}: {instead}')
    return warning(
        'tf',
        f'nothing leads from {way}: {instead}',
        'set global_frame and base_frame to the frames of the robot (ros2 run tf2_tools'
        ' view_frames), or remap /tf',
    )


def _topic(topic: TopicFacts, field: Observed[Any], needed: bool, facts: RobotFacts) -> Finding:
    details = _details(topic, field)
    bad = problem if needed else warning
    if topic.heard:
        return _heard(topic, field, bad, details)
    if field.availability is not Availability.MISSING:  # amcl_pose is silent, and tf is there
        told = f'{topic.name} is silent, and {field.source} gives the pose'
        if field.availability is Availability.AVAILABLE:
            return ok(topic.role, told, **details)
        return bad(
            topic.role,
            f'{told}; {field.availability.value}: {field.reason}',
            'see what publishes the transforms (ros2 run tf2_tools view_frames)',
            **details,
        )
    fitting = [p for p in topic.publishers if p.type == topic.type]
    if fitting:
        return bad(
            topic.role,
            f'{fitting[0].node} publishes {topic.name} ({fitting[0].qos}), but in'
            f' {facts.listened_s:.2g} s nothing was heard',
            'see whether it publishes (ros2 topic hz); between machines, whether multicast or the'
            ' discovery server works; if a process was killed, start the publisher again (Fast'
            " DDS's shared memory); raise --timeout for a slow topic",
            **details,
        )
    if topic.publishers:
        return bad(
            topic.role,
            f'{topic.name} is published as {topic.publishers[0].type} by'
            f' {topic.publishers[0].node}; {topic.type} is needed',
            'publish that type, or remap to another topic',
            **details,
        )
    there, hint = _elsewhere(topic.role, topic.name, topic.elsewhere, facts.namespace)
    if not needed and not hint:
        return ok(topic.role, f'nobody publishes {topic.name}; a robot may lack it', **details)
    return bad(
        topic.role,
        f'nobody publishes {topic.name}{there}',
        hint or 'start what publishes it, or set -r __ns:= as the robot has',
        **details,
    )


def _heard(
    topic: TopicFacts,
    field: Observed[Any],
    bad: Callable[..., Finding],
    details: dict[str, Any],
) -> Finding:
    rate = f'{topic.rate_hz:.3g} Hz' if topic.rate_hz else 'once'
    age = '' if field.age_s is None else f', {field.age_s:.2g} s old'
    who = topic.publishers[0] if topic.publishers else None
    by = f', {who.qos}' if who else ''
    told = f'{topic.name}: {rate}{age}{by}'
    if field.availability is Availability.AVAILABLE:
        return ok(topic.role, told, **details)
    advice = 'see the reason; docs/parameters.md lists what differs between robots'
    if topic.delay_s is not None and not 0 <= topic.delay_s <= DELAY_S:
        advice = _clocks(topic.delay_s)
    elif field.availability is Availability.STALE:
        advice = 'let it be published more often, or raise snapshot.stale_after_s of the field'
    elif topic.frames and 'frame' in (field.reason or ''):
        advice = f'set global_frame to {topic.frames[0]}, or mend the source'
    return bad(
        topic.role, f'{told}; {field.availability.value}: {field.reason}', advice, **details
    )


def _closer(
    topic: TopicFacts, field: Observed[Any], parameters: Mapping[str, Value]
) -> Iterator[Finding]:
    """Yield what is wrong with a topic that is heard and believed."""
    if topic.heard and len(topic.publishers) > 1:
        nodes = ', '.join(publisher.node for publisher in topic.publishers)
        yield warning(
            topic.role,
            f'{topic.name} has {len(topic.publishers)} publishers: {nodes}',
            'let one of them publish it: two robots in one namespace look like one that jumps',
        )
    if field.availability is not Availability.AVAILABLE:
        return
    limit = parameters.get(STALE_PARAMETER.get(topic.role, ''))
    if isinstance(limit, float) and topic.longest_gap_s and topic.longest_gap_s > limit / 2:
        yield warning(
            topic.role,
            f'{topic.name} paused for {topic.longest_gap_s:.2g} s; it is stale after {limit:g} s',
            f'let it be published more often, or raise {STALE_PARAMETER[topic.role]}',
        )
    if topic.delay_s is not None and topic.delay_s > DELAY_S:
        yield warning(
            topic.role,
            f'{topic.name} arrives {topic.delay_s:.2g} s after its stamp',
            _clocks(topic.delay_s),
            delay_s=topic.delay_s,
        )


def _state(facts: RobotFacts, parameters: Mapping[str, Value], needs: Needs) -> Iterator[Finding]:
    """Yield what the robot's own state says."""
    pose, battery, safety = facts.world.map_pose, facts.world.battery, facts.world.safety
    variance = pose.value.position_variance_m2 if pose.value else None
    if variance is not None and needs.variance_m2 is not None and variance > needs.variance_m2:
        yield problem(
            'localization',
            f'the position variance is {variance:.3g} m^2, and at most {needs.variance_m2:g} is'
            ' allowed: calls will be refused',
            'set the initial pose, or drive a little, until the localiser is sure',
            variance_m2=variance,
        )
    if battery.usable is not None:
        yield from _charge(battery.usable.fraction, parameters, needs.battery_fraction)
    if safety.usable is not None and safety.usable.emergency_stop:
        yield (problem if needs.stop_clear else warning)(
            'emergency_stop', 'the emergency stop is engaged', 'release it when it is safe'
        )
    for topic in facts.topics:
        base = str(parameters['base_frame']).lstrip('/')
        if topic.child_frame and topic.child_frame.lstrip('/') != base:
            yield warning(
                'base_frame',
                f'{topic.name} is about {topic.child_frame}, and base_frame is {base}',
                f'set base_frame to {topic.child_frame} if tf is to find the robot',
            )


def _charge(
    fraction: float, parameters: Mapping[str, Value], least: float | None
) -> Iterator[Finding]:
    told = f'the battery is at {fraction:.0%}'
    advice = 'charge it; if it is charged, correct battery.percentage_scale'
    if least is not None and fraction < least:
        told += f', and at least {least:.0%} is asked for: calls will be refused'
        yield problem('battery_state', told, advice)
    elif fraction < float(parameters['battery.low_fraction']):
        yield warning('battery_state', told, advice)


def _elsewhere(role: str, name: str, others: tuple[str, ...], namespace: str) -> tuple[str, str]:
    """Return what else would fit and how to reach the likeliest, both empty where nothing does.

    What is in our namespace is likelier than what may be another robot's.
    """
    if not others:
        return '', ''
    ours = f'{namespace.rstrip("/")}/'
    found = sorted(others, key=lambda other: (not other.startswith(ours), other))
    more = f' and {len(found) - SHOWN_MAX} more' if len(found) > SHOWN_MAX else ''
    relative = name.removeprefix(ours)
    if found[0].endswith(f'/{relative}'):
        space = found[0].removesuffix(f'/{relative}') or '/'
        hint = f'set the namespace, if it is this robot: -r __ns:={space}'
    else:
        hint = f'remap: -r {role}:={found[0]}'
    return f'; {", ".join(found[:SHOWN_MAX])}{more} would fit', hint


def _action(action: ActionFacts, namespace: str) -> Finding:
    details = {'name': action.name, 'servers': action.servers, 'missing': list(action.missing)}
    bad = problem if action.expected else warning
    if action.served_as and action.type not in action.served_as:
        return bad(
            action.role,
            f'{action.name} is served as {action.served_as[0]}; {action.type} is needed',
            'serve that type, or remap to another action',
            **details,
        )
    if action.missing:
        there, hint = _elsewhere(action.role, action.name, action.elsewhere, namespace)
        if not action.expected and not action.servers and not hint:
            told = f'{action.name} is not served: its skills are not offered'
            return ok(action.role, told, **details)
        part = '' if len(action.missing) == 5 else f' (without {", ".join(action.missing)})'
        return bad(
            action.role,
            f'no action server {action.name}{part}{there}',
            hint or 'start Nav2, or set -r __ns:= as the robot has',
            **details,
        )
    if action.servers > 1:
        return warning(
            action.role,
            f'{action.servers} servers serve {action.name}: a goal goes to any of them',
            'let one robot have one namespace',
            **details,
        )
    return ok(action.role, f'{action.name} is served', **details)


def _lifecycle(name: str, state: str) -> Finding:
    if state == ACTIVE:
        return Finding('nav2', Level.OK, f'{name} is active')
    return problem(
        'nav2',
        f'{name} is {state}' if state != 'no answer' else f'{name} does not answer',
        "see its log; ros2 lifecycle set, or Nav2's lifecycle_manager, activates it",
        node=name,
        state=state,
    )


def _clocks(delay_s: float) -> str:
    if abs(delay_s) > OTHER_CLOCK_S:
        return 'the stamps are of another clock: set use_sim_time the same here and on the robot'
    return 'synchronise the clocks of both machines (chrony); else see what holds messages back'


def _details(topic: TopicFacts, field: Observed[Any]) -> dict[str, Any]:
    return {
        'topic': topic.name,
        'type': topic.type,
        'publishers': [{'node': p.node, 'type': p.type, 'qos': p.qos} for p in topic.publishers],
        'heard': topic.heard,
        'rate_hz': topic.rate_hz,
        'age_s': field.age_s,
        'delay_s': topic.delay_s,
        'availability': field.availability.value,
        'frames': list(topic.frames),
    }
