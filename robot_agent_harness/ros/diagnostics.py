# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness's health on `/diagnostics`, for rqt_robot_monitor and diagnostic aggregators.

OK means that nothing stands in the way of a mission; WARN that a mission may be refused or go on
with less; ERROR that nothing physical can start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.events import Correlation, Event, ModelResponseRecorded
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.messages import ros_text
from robot_agent_harness.ros.conversions import time_msg
from robot_agent_harness.ros.quiet import QUIET_PUBLISHER
from robot_agent_harness.world.snapshot import Availability, WorldSnapshot

PERIOD_S = 1.0
"""The rate that REP 107 asks for."""
DEPTH = 10
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

_Finding = tuple[bytes, str, dict[str, Any]]


class Diagnostics:
    """Publishes one status for each thing that can be wrong; used on the loop.

    :param readiness: why managed calls are refused; None while they are taken.
    :param endpoint: where MCP clients connect; None where it is not served.
    """

    def __init__(
        self,
        node: Node,
        core: Core,
        *,
        clock: Clock,
        robot_id: str,
        battery_low_fraction: float,
        model: ModelClient | None,
        readiness: Callable[[], str | None],
        endpoint: Callable[[], str | None],
    ) -> None:
        self._node = node
        self._core = core
        self._clock = clock
        self._robot_id = robot_id
        self._battery_low = battery_low_fraction
        self._model = model
        self._readiness = readiness
        self._endpoint = endpoint
        self._model_error: str | None = None
        self._open = True
        # A diagnostics topic is one for the whole robot, hence the absolute name (REP 107).
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', DEPTH, event_callbacks=QUIET_PUBLISHER
        )
        core.journal.add_event_listener(self._on_event)

    def publish(self) -> None:
        """Look at everything and publish what was found."""
        if not self._open:
            return
        snapshot = self._core.observer.peek()
        findings = {
            'lifecycle': self._lifecycle(),
            'journal': self._journal(),
            'controller': self._controller(snapshot),
            'localization': self._localization(snapshot),
            'battery': self._battery(snapshot),
            'emergency stop': self._emergency_stop(snapshot),
            'model': self._model_state(),
            'mcp': self._mcp(),
        }
        message = DiagnosticArray()
        message.header.stamp = time_msg(self._clock.ros_ns())
        message.status = [self._status(name, *found) for name, found in findings.items()]
        self._publisher.publish(message)

    def close(self) -> None:
        """Publish nothing any more; on the rclpy thread, or once it has ended."""
        self._open = False
        self._node.destroy_publisher(self._publisher)

    def _status(
        self, name: str, level: bytes, text: str, values: dict[str, Any]
    ) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=level,
            name=ros_text(f'{self._node.get_name()}: {name}'),
            message=ros_text(text),
            hardware_id=ros_text(self._robot_id),
            values=[
                KeyValue(key=ros_text(key), value=ros_text(str(value)))
                for key, value in values.items()
                if value is not None
            ],
        )

    def _lifecycle(self) -> _Finding:
        why = self._readiness()
        mission = {'mission': self._core.harness.mission_id}
        return (OK, 'active', mission) if why is None else (WARN, why, mission)

    def _journal(self) -> _Finding:
        journal = self._core.journal
        values = {
            'path': journal.path,
            'last_seq': journal.last_seq,
            'pending': journal.pending,
        }
        if journal.healthy:
            return OK, 'every record is on disk', values
        return ERROR, journal.last_error or 'the journal cannot be written', values

    def _controller(self, snapshot: WorldSnapshot) -> _Finding:
        navigation, action = snapshot.navigation.value, snapshot.active_action
        values = {
            'active_goals': ' '.join(
                f'{goal.goal_id}:{goal.owner}' for goal in navigation.active_goals
            )
            if navigation
            else '',
            'action': action.action_id if action else None,
            'action_state': action.state if action else None,
        }
        if navigation is None or not navigation.controller_reachable:
            return ERROR, f'no action server answers ({snapshot.navigation.source})', values
        return OK, 'reachable', values

    def _localization(self, snapshot: WorldSnapshot) -> _Finding:
        pose = snapshot.map_pose
        values = {
            'source': pose.source,
            'age_s': _short(pose.age_s),
            'position_variance_m2': _short(
                pose.value.position_variance_m2 if pose.value else None
            ),
        }
        if pose.availability is Availability.AVAILABLE:
            return OK, 'available', values
        return WARN, f'{pose.availability.value}: {pose.reason}', values

    def _battery(self, snapshot: WorldSnapshot) -> _Finding:
        battery = snapshot.battery
        values = {
            'fraction': _short(battery.value.fraction if battery.value else None),
            'age_s': _short(battery.age_s),
        }
        if battery.availability is Availability.MISSING:
            return OK, 'none is reported', values
        if battery.usable is None:
            return WARN, f'{battery.availability.value}: {battery.reason}', values
        if battery.usable.fraction < self._battery_low:
            return WARN, 'low', values
        return OK, 'charged', values

    def _emergency_stop(self, snapshot: WorldSnapshot) -> _Finding:
        safety = snapshot.safety
        if safety.availability is Availability.MISSING:
            return OK, 'none is reported', {}
        if safety.usable is None:
            return WARN, f'{safety.availability.value}: {safety.reason}', {}
        return (WARN, 'engaged', {}) if safety.usable.emergency_stop else (OK, 'clear', {})

    def _model_state(self) -> _Finding:
        if self._model is None:
            return OK, 'none: MCP clients decide', {}
        values = {'provider': self._model.provider, 'model': self._model.model}
        if self._model_error is not None:
            return WARN, f'the last request failed: {self._model_error}', values
        return OK, 'no failure', values

    def _mcp(self) -> _Finding:
        url = self._endpoint()
        return (OK, 'not served', {}) if url is None else (OK, 'serving', {'endpoint': url})

    def _on_event(self, _seq: int, event: Event, _ids: Correlation) -> None:
        if isinstance(event, ModelResponseRecorded):
            self._model_error = event.error


def _short(value: float | None) -> str | None:
    return None if value is None else f'{value:.3g}'
