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
    at_rest,
    believed,
    confirmed,
    disproved,
    fresh,
    inconclusive,
    Judgement,
    MAX_AGE_S,
    motion_between,
    rounded,
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
        motion, why = fresh(now.motion, terminal, now, 'motion', max_age_s=MAX_AGE_S)
        if motion is None:
            return inconclusive(evidence, why)
        evidence |= at_rest(motion)
        if not motion.at_rest:
            return inconclusive(evidence, 'the robot is still moving')
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
    """Confirms that the battery does not charge any more and the robot has moved off."""

    battery_max_age_s: float = BATTERY_MAX_AGE_S
    moved_off_m: float = 0.1
    """A robot that has moved less has not come off its dock."""

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
        moved_m = _moved_m(before, terminal, now)
        evidence['moved_m'] = rounded(moved_m)
        if battery.charging:
            judgement = disproved(evidence, 'the battery still charges', terminal, now)
            return Judgement(judgement.verdict, False, judgement.evidence)
        if moved_m is None:
            return inconclusive(evidence, 'not charging; whether the robot moved was not seen')
        if moved_m < self.moved_off_m:
            return disproved(evidence, 'the robot has not moved off', terminal, now)
        why = 'moved off and not charging, observed after the controller had ended'
        return believed(terminal, confirmed(evidence, why))


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


def _moved_m(before: WorldSnapshot, terminal: Terminal, now: WorldSnapshot) -> float | None:
    for then, field in (
        (before.odometry.usable, now.odometry),
        (before.map_pose.usable, now.map_pose),
    ):
        since, _ = fresh(field, terminal, now, 'pose', max_age_s=MAX_AGE_S)
        if then is not None and since is not None:
            moved = motion_between(then, since)
            return math.hypot(moved.x, moved.y)
    return None
