# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What both the start and the end of an action are judged by.

The limits are wider than the harness's own, so that a dispute over a centimetre is no finding.
"""

from __future__ import annotations

from robot_agent_harness.testing.campaign.ledger import Ledger
from robot_agent_harness.testing.campaign.robot import Habits

MARGIN = 0.06
"""Metres and radians that the oracle's own estimate may be off."""
MOVING_M_S, TURNING_RAD_S = 0.08, 0.15
MAX_VARIANCE_M2 = 0.25
MAX_AGE_S = 1.0
AGE_MARGIN_S = 0.15
CARRY_MAX_M, CARRY_MAX_RAD = 0.8, 0.9
SILENT_S = 1.5
"""A localiser that speaks ten times a second, also at rest, is dead after this."""
HABIT_FIXES = 8
"""So many poses show the habit of a localiser that speaks at rest."""


def localizer_dead(ledger: Ledger, habits: Habits, at_s: float, *, strict: bool = False) -> bool:
    """Whether a localiser's silence shows that it has stopped."""
    estimate = ledger.estimate(at_s)
    if estimate is None:
        return False
    if habits.localizer != 'amcl' and ledger.fixes(at_s) >= HABIT_FIXES:
        limit = SILENT_S / 3 if strict else SILENT_S
        return at_s - estimate.fixed_s > limit
    share = 0.5 if strict else 1.0
    far = estimate.carried_m > share * CARRY_MAX_M
    return far or estimate.turned_rad > share * CARRY_MAX_RAD


def truly_moving(ledger: Ledger, at_s: float) -> bool:
    """Whether the robot moved, as nobody but the oracle knows."""
    return all(
        tick.speed_m_s > MOVING_M_S or tick.turn_rad_s > TURNING_RAD_S
        for tick in (ledger.truth_at(at_s - back) for back in (0.0, 0.15, 0.3))
    )
