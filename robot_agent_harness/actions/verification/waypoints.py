# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot came by all its waypoints, in their order, and arrived at the last one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from robot_agent_harness.actions.verification.judgement import (
    believed,
    disproved,
    Judgement,
    rounded,
    Terminal,
    Verdict,
)
from robot_agent_harness.actions.verification.navigation import NavigationVerifier
from robot_agent_harness.world.journey import GAP_MAX_M, PASSED_WITHIN_M
from robot_agent_harness.world.snapshot import WorldSnapshot

COMPLETED = 1
"""Of nav2_msgs/WaypointStatus; PENDING is 0, SKIPPED 2, FAILED 3."""


@dataclass(frozen=True, slots=True)
class WaypointsVerifier:
    """Confirms an arrival at the last of `poses` by way of all others, in their order."""

    arrival: NavigationVerifier
    within_m: float = PASSED_WITHIN_M
    """So near to a pose counts as come by."""

    def waypoints(self, goal: dict[str, Any]) -> tuple[tuple[float, float], ...]:
        """Return all but the last pose, where the robot only has to come by."""
        return tuple((float(pose['x']), float(pose['y'])) for pose in goal['poses'][:-1])

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Judge a tour through `poses`."""
        last = goal['poses'][-1]
        arrived = self.arrival.judge(goal=last, before=before, terminal=terminal, now=now)
        between = len(goal['poses']) - 1
        journey = now.journey
        evidence = {
            **arrived.evidence,
            'waypoints_between': between,
            'waypoints_passed': journey.passed if journey else None,
            'next_waypoint_closest_m': rounded(journey.closest_m) if journey else None,
            'passed_within_m': self.within_m,
        }
        if arrived.verdict is not Verdict.CONFIRMED:
            return replace(arrived, evidence=evidence)
        untold = self._untold(terminal, evidence)
        if between and journey is None:
            why = 'arrived; whether by way of the waypoints was not seen'
            return Judgement(Verdict.INCONCLUSIVE, True, {**evidence, 'why': why})
        if journey is not None and journey.passed < between:
            if journey.gap_m > GAP_MAX_M:
                why = f'arrived, but the localisation was silent for {journey.gap_m:.1f} m'
                return Judgement(Verdict.INCONCLUSIVE, True, {**evidence, 'why': why})
            why = f'arrived, but waypoint {journey.passed + 1} of {between + 1} was missed'
            return disproved(evidence, why, terminal, now)
        return untold or believed(terminal, replace(arrived, evidence=evidence))

    def _untold(self, terminal: Terminal, evidence: dict[str, Any]) -> Judgement | None:
        """Return the judgement where the result tells of a waypoint that was not completed."""
        statuses = (terminal.payload or {}).get('waypoint_statuses') or []
        missed = [s['waypoint_index'] for s in statuses if s['waypoint_status'] != COMPLETED]
        if not missed:
            return None
        why = f'the controller reported success but did not complete waypoints {missed}'
        return Judgement(Verdict.INCONCLUSIVE, True, {**evidence, 'why': why})
