# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands in the way of a mission, thing by thing, as `/diagnostics` tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.disk import free_bytes, LOW_BYTES
from robot_agent_harness.events import Correlation, Event, ModelResponseRecorded
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.ros.diagnostics import ERROR, Finding, OK, WARN
from robot_agent_harness.world.snapshot import Availability, Observed, WorldSnapshot


class Health:
    """Looks at all that a configured node works with; used on the loop.

    :param battery_low_fraction: charge, of 1, below which a battery is low.
    :param endpoint: where MCP clients connect; None where it is not served.
    :param mismatches: what is published or subscribed to by others so that nothing gets through.
    """

    def __init__(
        self,
        core: Core,
        *,
        clock: Clock,
        battery_low_fraction: float,
        model: ModelClient | None,
        endpoint: Callable[[], str | None],
        mismatches: Callable[[], tuple[str, ...]],
    ) -> None:
        self._core = core
        self._clock = clock
        self.battery_low_fraction = battery_low_fraction
        self._model = model
        self._endpoint = endpoint
        self._mismatches = mismatches
        self._model_error: str | None = None
        self._answered_ns: int | None = None
        core.journal.add_event_listener(self._on_event)

    def findings(self) -> Mapping[str, Finding]:
        """Return what is so now, by the name of the thing."""
        snapshot = self._core.observer.peek()
        return {
            'journal': self._journal(),
            'controller': self._controller(snapshot),
            'localization': self._localization(snapshot),
            'odometry': self._odometry(snapshot),
            'battery': self._battery(snapshot),
            'emergency stop': self._emergency_stop(snapshot),
            'topics': self._topics(),
            'model': self._model_state(),
            'mcp': self._mcp(),
        }

    def _journal(self) -> Finding:
        journal = self._core.journal
        free = free_bytes(journal.path.parent)
        values = {
            'path': journal.path,
            'last_seq': journal.last_seq,
            'pending': journal.pending,
            'free_mb': free // 1_000_000,
        }
        if not journal.healthy:
            return ERROR, journal.last_error or 'the journal cannot be written', values
        if free < LOW_BYTES:
            return WARN, 'every record is on disk, which is nearly full', values
        return OK, 'every record is on disk', values

    def _controller(self, snapshot: WorldSnapshot) -> Finding:
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

    def _localization(self, snapshot: WorldSnapshot) -> Finding:
        pose = snapshot.map_pose
        values = {
            'source': pose.source,
            'age_s': _short(pose.age_s),
            'position_variance_m2': _short(
                pose.value.position_variance_m2 if pose.value else None
            ),
        }
        return (*_judged(pose), values)

    def _odometry(self, snapshot: WorldSnapshot) -> Finding:
        odometry = snapshot.odometry
        values = {'source': odometry.source, 'age_s': _short(odometry.age_s)}
        return (*_judged(odometry), values)

    def _battery(self, snapshot: WorldSnapshot) -> Finding:
        battery = snapshot.battery
        values = {
            'fraction': _short(battery.value.fraction if battery.value else None),
            'age_s': _short(battery.age_s),
        }
        if battery.availability is Availability.MISSING:
            return OK, 'none is reported', values
        if battery.usable is None:
            return (*_judged(battery), values)
        if battery.usable.fraction < self.battery_low_fraction:
            return WARN, 'low', values
        return OK, 'charged', values

    def _emergency_stop(self, snapshot: WorldSnapshot) -> Finding:
        safety = snapshot.safety
        values = {'age_s': _short(safety.age_s)}
        if safety.availability is Availability.MISSING:
            return OK, 'none is reported', values
        if safety.usable is None:
            return (*_judged(safety), values)
        return (WARN, 'engaged', values) if safety.usable.emergency_stop else (OK, 'clear', values)

    def _topics(self) -> Finding:
        found = self._mismatches()
        if not found:
            return OK, 'QoS goes together wherever others publish or subscribe', {}
        return WARN, '; '.join(found), {}

    def _model_state(self) -> Finding:
        if self._model is None:
            return OK, 'none: MCP clients decide', {}
        answered = self._answered_ns
        age_s = None if answered is None else (self._clock.monotonic_ns() - answered) / NS_PER_S
        values = {
            'provider': self._model.provider,
            'model': self._model.model,
            'last_request_age_s': _short(age_s),
        }
        if self._model_error is not None:
            return WARN, f'the last request failed: {self._model_error}', values
        return OK, 'no failure', values

    def _mcp(self) -> Finding:
        url = self._endpoint()
        return (OK, 'not served', {}) if url is None else (OK, 'serving', {'endpoint': url})

    def _on_event(self, _seq: int, event: Event, _ids: Correlation) -> None:
        if isinstance(event, ModelResponseRecorded):
            self._model_error = event.error
            self._answered_ns = self._clock.monotonic_ns()


def _judged(field: Observed[Any]) -> tuple[bytes, str]:
    if field.availability is Availability.AVAILABLE:
        return OK, 'available'
    return WARN, f'{field.availability.value}: {field.reason}'


def _short(value: float | None) -> str | None:
    return None if value is None else f'{value:.3g}'
