# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts the core together from parameters and collaborators: the one place that knows all the
parts.

The ROS node, the tests' benches and the demo all build the same core here; they differ in the
clock, the controllers and the model that they bring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.controller import ActionController
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.plan import ActionTimeouts
from robot_agent_harness.actions.recorded import read_action
from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.actions.verification import (
    ChargingVerifier,
    DisplacementVerifier,
    NavigationVerifier,
    NobodyVerifies,
    TurnVerifier,
    UndockedVerifier,
    Verifier,
    WaypointsVerifier,
)
from robot_agent_harness.clock import Clock, IdSource
from robot_agent_harness.errors import UnreadableFileError
from robot_agent_harness.harness import RobotAgentHarness
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.planner import Planner
from robot_agent_harness.llm.prompting import MissionPlanner
from robot_agent_harness.mission import LoopSettings
from robot_agent_harness.parameters import Value
from robot_agent_harness.paths import expanded
from robot_agent_harness.redaction import RedactedJournal, shared_redactor
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.offering import Offering
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.plugins import plugin_verifiers
from robot_agent_harness.skills.registry import load_registry, SkillRegistry
from robot_agent_harness.skills.repeats import Repeats
from robot_agent_harness.skills.service_log import ServiceLog
from robot_agent_harness.skills.services import ServiceCaller
from robot_agent_harness.skills.skill import SERVICE
from robot_agent_harness.skills.starter import ActionStarter
from robot_agent_harness.states import StateRecorder
from robot_agent_harness.world.artifacts import ArtifactStore
from robot_agent_harness.world.builder import WorldSnapshotBuilder
from robot_agent_harness.world.snapshot_config import SnapshotConfig, StaleAfter
from robot_agent_harness.world.store import SnapshotStore

CONTROLLER = NAVIGATE_TO_POSE.name
"""The controller of the shipped navigation skills."""


@dataclass(frozen=True, slots=True)
class Core:
    """The assembled parts; none of them knows ROS or MCP."""

    builder: WorldSnapshotBuilder
    board: ActionBoard
    observer: WorldObserver
    verifiers: dict[str, Verifier]
    offering: Offering
    """Who judges the actions that start from now on; the tracker looks here."""
    tracker: RobotActionTracker
    registry: SkillRegistry
    places: PlaceBook
    starter: ActionStarter
    dispatcher: RecordedToolDispatcher
    harness: RobotAgentHarness
    journal: MissionJournal
    states: StateRecorder

    async def close(self, *, cancel_running: bool) -> None:
        """End everything in order, each step bounded: calls, actions, the loop, the journal."""
        self.states.closing(cancel_running=cancel_running)
        self.offering.close()
        await self.dispatcher.close()
        await self.tracker.close(cancel_running=cancel_running)
        await self.harness.close()
        await self.journal.close()


def assemble(
    parameters: Mapping[str, Value],
    *,
    clock: Clock,
    ids: IdSource,
    journal: MissionJournal,
    controllers: Mapping[str, ActionController],
    model: ModelClient | None,
    registry: SkillRegistry | None = None,
    services: ServiceCaller | None = None,
    planner: Planner | None = None,
    use_sim_time: bool = False,
    make_observer: Callable[..., WorldObserver] = WorldObserver,
) -> Core:
    """Build the core, and put on record what it is built from.

    :param parameters: checked values, see :func:`robot_agent_harness.parameters.check_parameters`.
    :param controllers: of actions, by name; skills that drive another one are left out.
    :param registry: what :func:`skills_of` made of the same parameters; None: made here.
    :param services: calls services; None: skills that need one are left out.
    :param planner: puts what the model is told into words; None: the shipped one.
    :param make_observer: makes what takes snapshots; takes what `WorldObserver` takes.
    :raises ConfigurationError: a file that they name is missing or wrong.
    """
    p = parameters
    skills_file = configured_file(p, 'skills_file', 'skills.yaml')
    places_file = configured_file(p, 'places_file', 'places.yaml')
    registry = (registry or skills_of(p)).driving(controllers, services=services is not None)
    places = PlaceBook(clock=clock, path=places_file)
    builder = WorldSnapshotBuilder(
        clock=clock,
        ids=ids,
        robot_id=str(p['robot_id']),
        config=snapshot_config(p, use_sim_time),
    )
    navigation = registry.navigation
    board = ActionBoard(clock=clock, controllers=tuple({**controllers, navigation: None}))
    observer = make_observer(
        builder=builder, board=board, store=SnapshotStore(), controller=navigation
    )
    redactor = shared_redactor()
    recorder = RedactedJournal(journal, redactor, clock)
    states = StateRecorder(journal=recorder, clock=clock)
    places.on_edition(
        lambda known: states.changed(
            'reconfigured', places={name: place.model_dump() for name, place in known.items()}
        )
    )
    verifiers = _verifiers(p)
    tracker = RobotActionTracker(
        clock=clock,
        journal=recorder,
        board=board,
        observer=observer,
        controllers=controllers,
        verifiers=verifiers,
    )
    offering = Offering(registry)
    for name, controller in controllers.items():
        if controller.reachable:
            offering.presence(name, True)
    tracker.on_presence(offering.presence)
    service_log = None
    if services is not None:
        service_log = ServiceLog(services, journal=recorder, clock=clock)
        service_log.on_presence(lambda name, there: offering.presence(SERVICE + name, there))
    starter = ActionStarter(
        clock=clock,
        ids=ids,
        journal=recorder,
        board=board,
        observer=observer,
        tracker=tracker,
        places=places,
        # As tf2 has frames: without a leading slash.
        global_frame=str(p['global_frame']).lstrip('/'),
        timeouts=_timeouts(p),
        projection_max_bytes=int(p['snapshot.max_bytes']),
    )
    dispatcher = RecordedToolDispatcher(
        ids=ids,
        journal=recorder,
        registry=registry,
        board=board,
        observer=observer,
        tracker=tracker,
        places=places,
        starter=starter,
        repeats=Repeats(journal.path),
        projection_max_bytes=int(p['snapshot.max_bytes']),
        redactor=redactor,
        artifacts=ArtifactStore(journal.path.with_name(f'{journal.path.name}.artifacts')),
        states=states,
        clock=clock,
        recorded=partial(read_action, journal.path),
        services=service_log,
    )
    harness = RobotAgentHarness(
        clock=clock,
        ids=ids,
        journal=recorder,
        registry=registry,
        dispatcher=dispatcher,
        observer=observer,
        tracker=tracker,
        places=places,
        model=model,
        planner=planner or MissionPlanner(),
        settings=_loop_settings(p),
        redactor=redactor,
    )
    states.configured(
        parameters=p,
        skills=skills_file,
        places=places_file,
        reachable={name: controller.reachable for name, controller in controllers.items()},
        services=services is not None,
        use_sim_time=use_sim_time,
    )
    return Core(
        builder,
        board,
        observer,
        verifiers,
        offering,
        tracker,
        registry,
        places,
        starter,
        dispatcher,
        harness,
        journal,
        states,
    )


def skills_of(parameters: Mapping[str, Value]) -> SkillRegistry:
    """Return the skills that the parameters name, among them those whose action is not there.

    :raises ConfigurationError: the skills file is missing or wrong, or another package's skill.
    """
    path = configured_file(parameters, 'skills_file', 'skills.yaml')
    return load_registry(path, verifiers=plugin_verifiers())


def retune(core: Core, parameters: Mapping[str, Value], changed: Mapping[str, Value]) -> None:
    """Have a change of parameters that may change while the node runs count, and record it.

    What is under way keeps to what it began with: a mission to its bounds, an action to its
    timeouts and its verifier.

    :param parameters: all of them, checked.
    :param changed: those that are new.
    """
    p = parameters
    core.states.changed('reconfigured', parameters=dict(changed))
    core.verifiers.update(_verifiers(p))
    core.starter.timeouts = _timeouts(p)
    core.starter.projection_max_bytes = int(p['snapshot.max_bytes'])
    core.dispatcher.projection_max_bytes = int(p['snapshot.max_bytes'])
    core.harness.retune(_loop_settings(p))


def _verifiers(p: Mapping[str, Value]) -> dict[str, Verifier]:
    variance_m2 = float(p['verification.max_position_variance_m2'])
    battery_age_s = float(p['verification.battery_max_age_s'])
    navigation = NavigationVerifier(
        xy_tolerance_m=float(p['navigation.xy_tolerance_m']),
        yaw_tolerance_rad=float(p['navigation.yaw_tolerance_rad']),
        max_position_variance_m2=variance_m2,
    )
    return {
        'navigation': navigation,
        'waypoints': WaypointsVerifier(
            navigation, within_m=float(p['verification.waypoint_radius_m'])
        ),
        'turn': TurnVerifier(
            tolerance_rad=float(p['verification.turn_tolerance_rad']),
            max_position_variance_m2=variance_m2,
        ),
        'displacement': DisplacementVerifier(
            tolerance_m=float(p['verification.distance_tolerance_m']),
            tolerance_rad=float(p['verification.heading_tolerance_rad']),
            max_position_variance_m2=variance_m2,
        ),
        'charging': ChargingVerifier(
            battery_max_age_s=battery_age_s,
            full_fraction=float(p['verification.full_battery_fraction']),
        ),
        'undocked': UndockedVerifier(
            battery_max_age_s=battery_age_s,
            moved_off_m=float(p['verification.undocked_distance_m']),
            max_position_variance_m2=variance_m2,
        ),
        'none': NobodyVerifies(),
        **plugin_verifiers(),
    }


def _timeouts(p: Mapping[str, Value]) -> ActionTimeouts:
    return ActionTimeouts(
        accept_s=float(p['navigation.accept_timeout_s']),
        execution_s=float(p['navigation.execution_timeout_s']),
        verify_s=float(p['navigation.verify_timeout_s']),
        cancel_on_timeout=bool(p['navigation.cancel_on_timeout']),
    )


def configured_file(parameters: Mapping[str, Value], name: str, shipped: str) -> Path:
    """Return the file that a parameter names, or the shipped one where it is empty.

    :raises UnreadableFileError: nobody knows where that is.
    """
    chosen = str(parameters[name])
    try:
        return expanded(chosen) if chosen else config_path(shipped)
    except OSError as error:
        raise UnreadableFileError(f'{name} {chosen}: {error.strerror}') from error


def snapshot_config(p: Mapping[str, Value], use_sim_time: bool) -> SnapshotConfig:
    """Return how the robot's topics are read.

    :param p: all parameters, checked.
    :raises ConfigurationError: names a parameter that cannot be meant.
    """
    unstamped = str(p['snapshot.accept_unstamped']).split(',')
    return SnapshotConfig(
        global_frame=str(p['global_frame']),
        stale_after_s=StaleAfter(
            map_pose=float(p['snapshot.stale_after_s.map_pose']),
            odometry=float(p['snapshot.stale_after_s.odometry']),
            battery=float(p['snapshot.stale_after_s.battery']),
        ),
        battery_percentage_scale=float(p['battery.percentage_scale']),
        accept_unstamped=frozenset(name.strip() for name in unstamped if name.strip()),
        use_sim_time=use_sim_time,
    )


def _loop_settings(p: Mapping[str, Value]) -> LoopSettings:
    return LoopSettings(
        robot_id=str(p['robot_id']),
        max_steps=int(p['mission.max_steps']),
        max_tokens=int(p['mission.max_tokens']),
        max_wall_time_s=float(p['mission.max_wall_time_s']),
        world_model=bool(p['world_model.enabled']),
        history_size=int(p['world_model.history_size']),
        projection_max_bytes=int(p['snapshot.max_bytes']),
        battery_low_fraction=float(p['battery.low_fraction']),
    )
