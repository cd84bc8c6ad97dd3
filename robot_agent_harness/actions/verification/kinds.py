# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of verification that ship, and what each reads of a goal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

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


def defect(kind: str, goal: Mapping[str, Any]) -> str | None:
    """Return why a kind cannot read a goal, beginning with the key; None if it can."""
    for key in sorted(GOAL_KEYS.get(kind, ())):
        value = goal.get(key)
        if key == 'poses':
            poses = value if isinstance(value, (list, tuple)) else ()
            if not poses or not all(isinstance(pose, Mapping) for pose in poses):
                return f'poses: a list of poses is read, not {value!r}'
            for pose in poses:
                if (why := defect('navigation', pose)) is not None:
                    return f'poses: {why}'
        elif key == 'frame_id':
            if not isinstance(value, str):
                return f'{key}: a text is read, not {value!r}'
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            return f'{key}: a number is read, not {value!r}'
    return None
