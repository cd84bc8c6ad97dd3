# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How large the arguments of a call may be, before anything walks, checks or records them.

A body within its bound can still hold what costs out of proportion: each unknown key becomes
an error, each level a call, each value a step of the redaction. No tool comes near these bounds.
"""

from __future__ import annotations

from typing import Any

DEPTH_MAX = 32
"""Deepest nesting; code that walks deeper values would overflow."""
KEYS_MAX = 1000
"""Most keys, of all objects together."""
VALUES_MAX = 10_000
"""Most values, of all objects and lists together."""
TEXT_MAX = 256 * 1024
"""Most characters, of all keys and texts together."""


def excess(arguments: Any) -> str | None:
    """Return what there is too much of, or None; walks without recursion."""
    level, keys, values, characters = [arguments], 0, 0, 0
    for _ in range(DEPTH_MAX + 1):
        values += len(level)
        nested: list[Any] = []
        for item in level:
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, dict):
                keys += len(item)
                characters += sum(map(len, item))
                nested += item.values()
            elif isinstance(item, list):
                nested += item
        if keys > KEYS_MAX:
            return f'hold more than {KEYS_MAX} keys'
        if values > VALUES_MAX:
            return f'hold more than {VALUES_MAX} values'
        if characters > TEXT_MAX:
            return f'hold more than {TEXT_MAX} characters'
        if not nested:
            return None
        level = nested
    return f'are nested too deeply, more than {DEPTH_MAX} levels'
