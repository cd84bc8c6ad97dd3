# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot charges after it docked, and has come away after it undocked.

Only a battery that says whether it charges can tell. One that is full does not charge: at a dock
that is no evidence against it.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

from robot_agent_harness.actions.verification.judgement import (
    believed,
    confirmed,
    disproved,
    fresh,
    inconclusive,
    Judgement,
    map_motion,
    MAX_AGE_S,
    MAX_POSITION_VARIANCE_M2,
    motion_between,
    rounded,
    stopped,
    Terminal,
)
from robot_agent_harness.world.snapshot import Battery, WorldSnapshot

BATTERY_MAX_AGE_S = 10.0
"""Oldest reading to judge by: batteries are published slowly. It must be from after the end."""


@dataclass(frozen=True, slots=True)
class ChargingVerifier:
    """Confirms that the battery charges, at rest."""

    battery_max_age_s: float = BATTERY_MAX_AGE_S
    full_fraction: float = 0.95
    """From here on a battery may rightly take no charge."""

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge a docking."""
        evidence: dict[str, Any] = {}
        battery = _battery(terminal, now, evidence, self.battery_max_age_s)
        if isinstance(battery, Judgement):
            return battery
        still = stopped(terminal, now, evidence)
        if isinstance(still, Judgement):
            return still
        if battery.charging:
            judgement = confirmed(evidence, 'charging, observed after the controller had ended')
            return believed(terminal, judgement)
        if battery.fraction >= self.full_fraction:
            return inconclusive(evidence, 'not charging, which a full battery does not at a dock')
        judgement = disproved(evidence, 'at rest, and not charging', terminal, now)
        # A charger may take a moment: only the end of the wait makes it final.
        return Judgement(judgement.verdict, False, judgement.evidence)


@dataclass(frozen=True, slots=True)
class UndockedVerifier:
    """Confirms that the battery does not charge any more and the robot has moved off, at rest."""

    battery_max_age_s: float = BATTERY_MAX_AGE_S
    moved_off_m: float = 0.1
    """A robot that has moved less has not come off its dock."""
    max_position_variance_m2: float = MAX_POSITION_VARIANCE_M2

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge an undocking."""
        evidence: dict[str, Any] = {}
        battery = _battery(terminal, now, evidence, self.battery_max_age_s)
        if isinstance(battery, Judgement):
            return battery
        still = stopped(terminal, now, evidence)
        if isinstance(still, Judgement):
            return still
        by_odometry, by_map = self._moved_m(before, terminal, now, evidence)
        evidence |= {
            'moved_m': rounded(by_map if by_odometry is None else by_odometry),
            'map_moved_m': rounded(by_map),
            'moved_off_m': self.moved_off_m,
        }
        if battery.charging:
            judgement = disproved(evidence, 'the battery still charges', terminal, now)
            return Judgement(judgement.verdict, False, judgement.evidence)
        moved = {m >= self.moved_off_m for m in (by_odometry, by_map) if m is not None}
        if not moved:
            return inconclusive(evidence, 'not charging; whether the robot moved was not seen')
        if len(moved) > 1:
            return inconclusive(evidence, 'odometry and the localisation saw different things')
        if False in moved:
            return disproved(evidence, 'the robot has not moved off', terminal, now)
        why = 'moved off and not charging, observed at rest after the controller had ended'
        return believed(terminal, confirmed(evidence, why))

    def _moved_m(
        self,
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
        evidence: dict[str, Any],
    ) -> tuple[float | None, float | None]:
        """Return how far odometry and the localisation have seen the robot move, as known."""
        by_odometry = by_map = None
        then = before.odometry.usable
        since, _ = fresh(now.odometry, terminal, now, 'odometry', max_age_s=MAX_AGE_S)
        if then is not None and since is not None:
            moved = motion_between(then, since)
            by_odometry = math.hypot(moved.x, moved.y)
        on_map = map_motion(before, terminal, now, evidence, self.max_position_variance_m2)
        if on_map is not None:
            by_map = math.hypot(on_map.x, on_map.y)
        return by_odometry, by_map


def _battery(
    terminal: Terminal, now: WorldSnapshot, evidence: dict[str, Any], max_age_s: float
) -> Battery | Judgement:
    """Return a battery reading from after the end that says whether it charges."""
    battery, why = fresh(now.battery, terminal, now, 'battery', max_age_s=max_age_s)
    if battery is None:
        return inconclusive(evidence, why)
    evidence |= {
        'charging': battery.charging,
        'battery_fraction': rounded(battery.fraction),
        'battery_age_s': rounded(now.battery.age_s),
    }
    if battery.charging is None:
        return inconclusive(evidence, 'the battery does not say whether it charges')
    found: Battery = battery
    return found
