# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plays the accidents of the story at the right moments, as the journal shows them coming."""

from __future__ import annotations

from typing import Protocol

from robot_agent_harness.demo.screen import Screen
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.report.values import text

PUSH_M = 0.8
"""Well above the drift that navigation accepts, 0.5 m; the kitchen has room for it."""
HONEST_TRIPS, LIE_AFTER = 1, 2
"""The push comes after the first trip, the lie after the second."""
LAST_TRIP_AFTER = 4


class Faults(Protocol):
    """What makes the simulated robot go wrong."""

    def set(self, fault: str, value: bool | float) -> None:
        """Set one fault and wait until it is in force."""
        ...


class Director:
    """Hears every record once, in order."""

    def __init__(self, screen: Screen, faults: Faults) -> None:
        self._screen = screen
        self._faults = faults
        self._outcomes = 0
        self._lying = False

    def before(self, event: RecordedEvent) -> None:
        """Announce what is about to be shown."""
        trigger = text(event.payload, 'trigger')
        if event.type != EventType.MODEL_TURN_STARTED or trigger == 'precondition_changed':
            return
        heading = {
            0: '1. A trip that goes well',
            HONEST_TRIPS: '2. The world changes while the model thinks',
            LIE_AFTER: '3. A controller that says it arrived, and did not',
            LAST_TRIP_AFTER: '4. Back to the dock',
        }.get(self._outcomes)
        if heading is not None:
            self._screen.chapter(heading)

    def after(self, event: RecordedEvent) -> None:
        """Bring about what the record just shown calls for."""
        if event.type == EventType.ROBOT_ACTION_OUTCOME:
            self._outcomes += 1
            self._tell_truth()
        elif event.type == EventType.MODEL_TURN_STARTED:
            if text(event.payload, 'trigger') != 'action_outcome':
                return
            if self._outcomes == HONEST_TRIPS:
                self._faults.set('push_x_m', PUSH_M)
                self._screen.say(
                    'demo', f'pushes the robot {PUSH_M} m aside while the model thinks', 'magenta'
                )
            elif self._outcomes == LIE_AFTER:
                self._faults.set('false_success', True)
                self._lying = True
                self._screen.say(
                    'demo',
                    'breaks the controller: it will stop half way and report success',
                    'magenta',
                )

    def _tell_truth(self) -> None:
        if self._lying:
            self._faults.set('false_success', False)
            self._lying = False
            self._screen.say('demo', 'repairs the controller', 'magenta')
