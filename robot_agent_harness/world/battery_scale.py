# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a battery's percentages are on the scale that they are read on.

On a scale of 1, what a driver that speaks per cent says of the last hundredth looks like a battery
that is full. So percentages far beyond the scale are remembered: what comes down from there bit by
bit is of their scale too. What comes down in a way that no battery does was not a battery's.
"""

from __future__ import annotations

import math

from robot_agent_harness.clock import NS_PER_S

OTHER_SCALE = 1.5
"""A percentage this many times the whole scale is of another one, not of a battery overfull."""
MENDED = 5.0
"""A fall to a fifth, and by five whole scales, is a driver's that was mended. Down there a battery
of the other scale has no five points left to lose at once."""
GLITCH_S = 10.0
"""Longest spell of nonsense after which a battery is believed as before. None empties so fast."""
GLITCH_CHANGE = 0.1
"""How far from what it was before, of the whole scale, a battery may be after such a spell."""


class BatteryScale:
    """Follows the percentages of one battery.

    :param full: what a full battery reads on the configured scale.
    """

    def __init__(self, full: float) -> None:
        self._full = full
        self._last = math.nan
        self._left: tuple[float, int] | None = None
        """What was believed when the readings left the scale at a bound, and when they did."""
        self.is_other = False
        """Whether percentages are of another scale, also those that would fit this one."""

    def take(self, percentage: float, at_ns: int) -> None:
        """Take the newest percentage in, at a steady time."""
        before, self._last = self._last, percentage
        if percentage > OTHER_SCALE * self._full:
            if not self.is_other:
                fits = 0.0 <= before <= self._full
                self._left = (before, at_ns) if fits else None
            self.is_other = True
        elif self._is_mended(before, percentage) or self._is_back(percentage, at_ns):
            self.is_other = False

    def _is_mended(self, before: float, now: float) -> bool:
        # Nothing at all is what a driver says that knows nothing, on any scale.
        return now > 0.0 and before > MENDED * now and before - now > MENDED * self._full

    def _is_back(self, now: float, at_ns: int) -> bool:
        """Whether the battery is where it was before it said a few things that none does."""
        if self._left is None:
            return False
        believed, left_ns = self._left
        soon = at_ns - left_ns <= GLITCH_S * NS_PER_S
        return soon and abs(now - believed) <= GLITCH_CHANGE * self._full
