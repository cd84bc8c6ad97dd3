# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading payloads that may be of any shape, and showing text that may be anything.

A journal holds what models, clients and robots said. A key may be absent or of another type than
this release writes; then there is nothing to show, which is no reason to show nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
import json
from typing import Any
import unicodedata

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.jsonable import finite_number
from robot_agent_harness.texts import one_line

TEXT_MAX_CHARS = 4000
"""What is shown of one text; the journal has the whole."""
NAME_MAX_BYTES = 120
"""What is shown of a name, a code or a title where there is little room."""
COORDINATE_MAX_M = 1e7
"""Farther than this from the map's origin is an error in the record, and would hide the rest."""
_KEPT_CONTROLS = '\n\t'
_INVISIBLE = {'Cc', 'Cf', 'Cs', 'Co', 'Zl', 'Zp'}
"""Categories that may hide, reorder or break text: controls, format characters, surrogates."""
_JOINERS = '\u200c\u200d'
"""Format characters that scripts and emoji need."""


def text(payload: Mapping[str, Any], key: str) -> str | None:
    """Return a text that says something, or None."""
    value = payload.get(key)
    return value if isinstance(value, str) and value else None


def number(payload: Mapping[str, Any], key: str) -> float | None:
    """Return a finite number, or None."""
    return finite_number(payload.get(key))


def mapping(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object, or an empty one."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def items(payload: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list, or an empty one."""
    value = payload.get(key)
    return value if isinstance(value, list) else []


def point(payload: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return x and y in metres, or None if they are no place that a robot could be at."""
    x, y = number(payload, 'x'), number(payload, 'y')
    if x is None or y is None or max(abs(x), abs(y)) > COORDINATE_MAX_M:
        return None
    return x, y


def printable(value: str) -> str:
    """Return a text with what cannot be seen made visible, cut where it is too long."""
    cut = value[:TEXT_MAX_CHARS]
    if not cut.isascii() or not cut.isprintable():
        cut = ''.join(map(_visible, cut))
    more = len(value) - TEXT_MAX_CHARS
    return f'{cut} … ({counted(more, "more character")} in the journal)' if more > 0 else cut


def brief(value: str) -> str:
    """Return a name, a code or a title on one line, cut where it would fill the page."""
    return one_line(value, NAME_MAX_BYTES)


def worded(code: str) -> str:
    """Return a code of the journal in words, for instance `verification disproved`."""
    return brief(code).replace('_', ' ')


def counted(number_: int, noun: str) -> str:
    """Return how many there are of something that takes an s."""
    return f'{number_:,} {noun}' if number_ == 1 else f'{number_:,} {noun}s'


def _visible(char: str) -> str:
    hidden = unicodedata.category(char) in _INVISIBLE
    if not hidden or char in _KEPT_CONTROLS or char in _JOINERS:
        return char
    return f'\\x{ord(char):02x}' if ord(char) < 256 else f'\\u{ord(char):04x}'


def plain(value: Any) -> str:
    """Return any value as short text: numbers rounded, JSON for what has parts."""
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if value is None or value == [] or value == {}:
        return 'none'
    if isinstance(value, float):
        return f'{value:.4g}'
    if isinstance(value, str):
        return value
    return compact(value)


def compact(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(', ', ': '))


def pretty(value: Any) -> str:
    """Return JSON on many lines."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def metres(value: float) -> str:
    """Return a length with its unit."""
    return f'{value:.2f} m'


def seconds(value: float) -> str:
    """Return a duration with its unit, short ones finer."""
    if value >= 3600.0:
        return f'{int(value // 3600)} h {int(value % 3600 // 60)} min'
    if value >= 60.0:
        return f'{int(value // 60)} min {int(value % 60)} s'
    return f'{value:.2f} s' if value < 1.0 else f'{value:.1f} s'


def moment(wall_ns: int) -> str:
    """Return a date and time in UTC: the reader's time zone is not the robot's."""
    try:
        then = datetime.fromtimestamp(wall_ns / NS_PER_S, timezone.utc)
    except (OverflowError, OSError, ValueError):
        return 'at an impossible time'
    return f'{then:%Y-%m-%d %H:%M:%S} UTC'
