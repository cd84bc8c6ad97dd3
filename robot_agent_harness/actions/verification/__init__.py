# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the world confirms what a controller claims: one verifier per kind of managed skill.

A verifier only looks. It gets the goal, the world before the start, the controller's last word and
a snapshot from after it, and answers confirmed, disproved or inconclusive, with what it measured.
The tracker asks again while the answer may still change, up to the verification timeout.
"""

from robot_agent_harness.actions.verification.charging import ChargingVerifier, UndockedVerifier
from robot_agent_harness.actions.verification.judgement import (
    Judgement,
    LooksOnTheWay,
    Terminal,
    Verdict,
    Verifier,
)
from robot_agent_harness.actions.verification.moves import DisplacementVerifier, TurnVerifier
from robot_agent_harness.actions.verification.navigation import NavigationVerifier
from robot_agent_harness.actions.verification.unverified import NobodyVerifies
from robot_agent_harness.actions.verification.waypoints import WaypointsVerifier

SHIPPED = frozenset(
    {
        ChargingVerifier,
        DisplacementVerifier,
        NavigationVerifier,
        NobodyVerifies,
        TurnVerifier,
        UndockedVerifier,
        WaypointsVerifier,
    }
)
"""Those that answer at once; of any other one nobody knows how long it takes."""

__all__ = [
    'SHIPPED',
    'ChargingVerifier',
    'DisplacementVerifier',
    'Judgement',
    'LooksOnTheWay',
    'NavigationVerifier',
    'NobodyVerifies',
    'Terminal',
    'TurnVerifier',
    'UndockedVerifier',
    'Verdict',
    'Verifier',
    'WaypointsVerifier',
]
