# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Notices what the model should hear of before it decides again.

Edges only: a stop that engages, a battery that falls below its limit, a source that became
unbelievable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.world.snapshot import WorldSnapshot

BATTERY_HYSTERESIS = 0.05
"""How far above its limit a battery must be before a new fall below is news."""


@dataclass(frozen=True, slots=True)
class Salient:
    """Something worth a new decision."""

    kind: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


class SalientWatch:
    """Compares each snapshot with what was known before."""

    def __init__(self, *, battery_low_fraction: float) -> None:
        self.battery_low_fraction = battery_low_fraction
        """Charge, of 1, below which a battery is low."""
        self._stopped = False
        self._battery_low = False

    def look(self, snapshot: WorldSnapshot) -> tuple[Salient, ...]:
        """Return what has newly become so."""
        return (*self._emergency_stop(snapshot), *self._battery(snapshot))

    def _emergency_stop(self, snapshot: WorldSnapshot) -> tuple[Salient, ...]:
        safety = snapshot.safety.usable
        if safety is None or safety.emergency_stop == self._stopped:
            return ()
        self._stopped = safety.emergency_stop
        if self._stopped:
            return (Salient('emergency_stop', 'the emergency stop has been engaged'),)
        return (Salient('emergency_stop_released', 'the emergency stop has been released'),)

    def _battery(self, snapshot: WorldSnapshot) -> tuple[Salient, ...]:
        battery, low = snapshot.battery.usable, self.battery_low_fraction
        if battery is None:
            return ()
        if self._battery_low:
            self._battery_low = battery.fraction < low + BATTERY_HYSTERESIS
            return ()
        if battery.fraction >= low:
            return ()
        self._battery_low = True
        details = {'fraction': round(battery.fraction, 3), 'limit': low}
        return (Salient('battery_low', f'the battery is at {battery.fraction:.0%}', details),)
