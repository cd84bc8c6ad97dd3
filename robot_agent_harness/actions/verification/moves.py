# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot turned, or moved along its heading, as far as it was told to.

Odometry judges, being exact over short ways, as long as the localisation saw much the same; where
they saw different things the answer is inconclusive, unless neither saw what was asked for. Where
one of them is silent the other one decides, as far as it can: a heading on the map does not tell
how often the robot went round.
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
from robot_agent_harness.world.geometry import distance, Transform2D, turn, wrap_angle
from robot_agent_harness.world.snapshot import WorldSnapshot

APART_RAD = 0.5
"""By how much map and odometry may differ over a turn: a usual correction of the localisation."""
APART_M = 0.25
"""The same for positions, over a short stretch."""
SHORTFALL_MAX = 0.5
"""Share of what was asked for that may be missing at most, whatever the tolerances: a robot that
stood still has not turned or moved a little."""
NOISE_RAD, NOISE_M = 0.02, 0.01
"""Below this odometry tells nothing."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """How far the robot was to turn or to go, and what counts as that."""

    wanted: float
    tolerance: float
    noise: float

    @property
    def shortfall_max(self) -> float:
        """Return how much may be missing."""
        return max(min(self.tolerance, SHORTFALL_MAX * abs(self.wanted)), self.noise)

    def is_done_by(self, done: float) -> bool:
        """Whether that is as far."""
        beyond = math.copysign(1.0, self.wanted) * done - abs(self.wanted)
        return -self.shortfall_max <= beyond <= self.tolerance


@dataclass(frozen=True, slots=True)
class TurnVerifier:
    """Confirms a turn by `angle_rad` (counter-clockwise, of any size) that ended at rest."""

    tolerance_rad: float = 0.3
    """Nav2 stops a spin within a degree or two and coasts a little further."""
    tolerance_ratio: float = 0.05
    """Further tolerance as a share of the turn: wheels slip most where a robot turns."""
    max_position_variance_m2: float = MAX_POSITION_VARIANCE_M2

    def waypoints(self, goal: dict[str, Any]) -> tuple[tuple[float, float], ...]:
        """Have the turn measured on the way; no place matters."""
        return ()

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge a turn by `angle_rad`."""
        wanted = float(goal['angle_rad'])
        tolerance = self.tolerance_rad + self.tolerance_ratio * abs(wanted)
        asked = _Asked(wanted, tolerance, NOISE_RAD)
        evidence: dict[str, Any] = {
            'angle_rad': wanted,
            'tolerance_rad': rounded(tolerance),
            'shortfall_max_rad': rounded(asked.shortfall_max),
        }
        still = stopped(terminal, now, evidence)
        if isinstance(still, Judgement):
            return still
        by_odometry = by_map = None
        alike = True
        odometry, _ = fresh(now.odometry, terminal, now, 'odometry', max_age_s=MAX_AGE_S)
        turned = now.journey.turned_rad if now.journey is not None else None
        if odometry is not None and turned is not None:
            evidence['turned_rad'] = rounded(turned)
            by_odometry = asked.is_done_by(turned)
        moved = map_motion(before, terminal, now, evidence, self.max_position_variance_m2)
        if moved is not None:
            evidence['map_turned_rad'] = rounded(moved.yaw)
            by_map = asked.is_done_by(wanted + wrap_angle(moved.yaw - wanted))
            if turned is not None:
                apart_max = APART_RAD + self.tolerance_ratio * abs(wanted)
                alike = abs(wrap_angle(moved.yaw - turned)) <= apart_max
                if by_odometry is None and alike and asked.is_done_by(turned):
                    # Silent by now, as some are at rest, after it had counted the whole turn.
                    evidence['turned_rad'] = rounded(turned)
                    by_odometry = True
            ambiguous = abs(wanted) + tolerance >= math.pi
            if by_map and by_odometry is None and ambiguous:
                return inconclusive(
                    evidence, 'the heading fits, but only odometry tells how far round it went'
                )
        judgement = _agreed(by_odometry, by_map, alike, evidence, terminal, now, 'turned as told')
        return believed(terminal, judgement)


@dataclass(frozen=True, slots=True)
class DisplacementVerifier:
    """Confirms a straight move by `forward_m` along the heading (negative: backwards), at rest."""

    tolerance_m: float = 0.1
    tolerance_ratio: float = 0.15
    """Further tolerance, along and across, as a share of the way."""
    tolerance_rad: float = 0.35
    """How far the heading may have changed on the way."""
    max_position_variance_m2: float = MAX_POSITION_VARIANCE_M2

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge a move by `forward_m`."""
        wanted = float(goal['forward_m'])
        tolerance = self.tolerance_m + self.tolerance_ratio * abs(wanted)
        asked = _Asked(wanted, tolerance, NOISE_M)
        evidence: dict[str, Any] = {
            'forward_m': wanted,
            'tolerance_m': rounded(tolerance),
            'shortfall_max_m': rounded(asked.shortfall_max),
        }
        still = stopped(terminal, now, evidence)
        if isinstance(still, Judgement):
            return still
        by_odometry = by_map = moved = None
        alike = True
        odometry, _ = fresh(now.odometry, terminal, now, 'odometry', max_age_s=MAX_AGE_S)
        if odometry is not None and before.odometry.usable is not None:
            moved = motion_between(before.odometry.usable, odometry)
            evidence |= _told('odometry', moved)
            by_odometry = self._fits(moved, asked)
        variance_m2 = self.max_position_variance_m2
        moved_on_map = map_motion(before, terminal, now, evidence, variance_m2)
        if moved_on_map is not None:
            evidence |= _told('map', moved_on_map)
            by_map = self._fits(moved_on_map, asked)
            if moved is not None:
                alike = (
                    distance(moved, moved_on_map) <= APART_M
                    and turn(moved, moved_on_map) <= APART_RAD
                )
        judgement = _agreed(by_odometry, by_map, alike, evidence, terminal, now, 'moved as told')
        return believed(terminal, judgement)

    def _fits(self, moved: Transform2D, asked: _Asked) -> bool:
        return (
            asked.is_done_by(moved.x)
            and abs(moved.y) <= asked.tolerance
            and abs(moved.yaw) <= self.tolerance_rad
        )


def _told(source: str, moved: Transform2D) -> dict[str, Any]:
    return {
        f'{source}_forward_m': rounded(moved.x),
        f'{source}_sideways_m': rounded(moved.y),
        f'{source}_turned_rad': rounded(moved.yaw),
    }


def _agreed(
    by_odometry: bool | None,
    by_map: bool | None,
    alike: bool,
    evidence: dict[str, Any],
    terminal: Terminal,
    now: WorldSnapshot,
    done: str,
) -> Judgement:
    said = by_odometry if by_odometry is not None else by_map
    if said is None:
        return inconclusive(evidence, 'neither odometry nor the localisation can be judged by')
    if by_odometry is not None and by_map is not None and not alike:
        if by_odometry or by_map:
            return inconclusive(evidence, 'odometry and the localisation saw different things')
    elif said:
        return confirmed(evidence, f'{done}, observed at rest after the controller had ended')
    return disproved(evidence, f'at rest, and not {done}', terminal, now)
