# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of verification that ship, and what each reads of a goal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GOAL_KEYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        'navigation': frozenset({'x', 'y', 'yaw', 'frame_id'}),
        'waypoints': frozenset({'poses'}),
        'turn': frozenset({'angle_rad'}),
        'displacement': frozenset({'forward_m'}),
        'charging': frozenset(),
        'undocked': frozenset(),
        'none': frozenset(),
    }
)
"""By the name that a skill's `verifier` gives."""
