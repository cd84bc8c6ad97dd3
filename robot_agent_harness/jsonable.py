# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The one way from any value to canonical JSON text, and back to plain values.

Arguments come from models and clients and may hold anything; what is recorded must be valid JSON
(RFC 8259 has no NaN and SQLite no lone surrogates), and its text must be the same every time,
since the journal's chain is computed over it.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a JSON-ready value: sorted keys, no spaces, ASCII only.

    :raises ValueError: a float is not finite.
    """
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(',', ':'), ensure_ascii=True, allow_nan=False
)
"""Made once: a new one for each record costs more than many records do."""

DEPTH_MAX = 32
"""Deepest nesting that is kept; nothing that a tool takes comes near it."""


def jsonable(value: Any, *, depth: int = DEPTH_MAX) -> Any:
    """Return the value with everything that JSON lacks replaced by text.

    Non-finite floats become `NaN`, `Infinity` and `-Infinity` as text, keys become text, and
    foreign objects their `repr`; what is nested too deep becomes a note. JSON values come back
    unchanged.
    """
    if depth < 0:
        return '(nested too deep to keep)'
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return 'NaN' if math.isnan(value) else ('Infinity' if value > 0 else '-Infinity')
    if isinstance(value, Mapping):
        return {str(key): jsonable(item, depth=depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item, depth=depth - 1) for item in value]
    return repr(value)
