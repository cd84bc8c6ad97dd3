# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The one way from any value to canonical JSON text, and back to plain values.

Arguments come from models and clients and may hold anything; what is recorded must be valid JSON
(RFC 8259 has no NaN and SQLite no lone surrogates), and its text must be the same every time,
since the journal's chain is computed over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import copy
import json
import math
import re
from typing import Any

import orjson


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a JSON-ready value: sorted keys, no spaces, ASCII only, and
    numbers as short as they read back.

    Its floats have to be finite: of another it makes null, or raises ValueError.

    :raises TypeError: a value is not JSON-ready.
    :raises ValueError: it is nested in itself.
    :raises RecursionError: it is nested too deep.
    """
    try:
        return quick_json(value)
    except TypeError:
        return json.dumps(value, sort_keys=True, separators=(',', ':'), allow_nan=False)


def quick_json(value: Any) -> str:
    """Return the canonical JSON of a plain value; a float that is not finite becomes null.

    :raises TypeError: it is not as plain as that: there are integers beyond 64 bits, half
        characters, keys that are no texts, or 254 levels of nesting.
    """
    text = orjson.dumps(value, option=_SORTED).decode()
    return text if text.isascii() and _DELETE not in text else _ESCAPED.sub(_escape, text)


_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_DELETE = '\x7f'
_ESCAPED = re.compile(r'[^\x00-\x7e]+')
"""What the standard library's encoder writes as an escape, beside what JSON asks for."""


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


DEPTH_MAX = 32
"""Deepest nesting that is kept; nothing that a tool takes comes near it."""

INT_BITS_MAX = 1000
"""Largest integer that is kept; Python refuses to print what has many more."""


def jsonable(value: Any, *, depth: int = DEPTH_MAX) -> Any:
    """Return the value with everything that JSON lacks replaced by text.

    Non-finite floats become `NaN`, `Infinity` and `-Infinity` as text, keys become text, and
    foreign objects their `repr`; integers that are too large and what is nested too deep become
    a note. JSON values come back unchanged.
    """
    if depth < 0:
        return '(nested too deep to keep)'
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= INT_BITS_MAX else _too_large(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return 'NaN' if math.isnan(value) else ('Infinity' if value > 0 else '-Infinity')
    if isinstance(value, Mapping):
        return {_key(key): jsonable(item, depth=depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item, depth=depth - 1) for item in value]
    return _repr(value)


def _too_large(value: int) -> str:
    return f'(an integer of {value.bit_length()} bits)'


def _key(key: Any) -> str:
    if isinstance(key, int) and key.bit_length() > INT_BITS_MAX:
        return _too_large(key)
    try:
        return str(key)
    except Exception:
        return _repr(key)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:
        # What has a huge integer inside, or a broken __repr__, must not stop the record of it.
        return f'({type(value).__name__} without a text: {type(error).__name__})'


def finite_number(value: Any) -> float | None:
    """Return the value if it is a finite number that a float holds, else None; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def non_finite(value: Any) -> list[str]:
    """Return where :func:`jsonable` makes text of a number that JSON lacks (RFC 6901)."""
    found: list[str] = []
    level = [('', value)]
    for _ in range(DEPTH_MAX):
        nested: list[tuple[str, Any]] = []
        for path, item in level:
            if isinstance(item, float) and not math.isfinite(item):
                found.append(path)
            elif isinstance(item, Mapping):
                nested += [(f'{path}/{_pointer(_key(key))}', part) for key, part in item.items()]
            elif isinstance(item, (list, tuple)):
                nested += [(f'{path}/{number}', part) for number, part in enumerate(item)]
        if not nested:
            break
        level = nested
    return found


def _pointer(key: str) -> str:
    return key.replace('~', '~0').replace('/', '~1')


def put_non_finite(value: Any, where: Iterable[str]) -> Any:
    """Return a JSON value with numbers again where :func:`non_finite` found them."""
    value = copy.deepcopy(value)
    root = [value]
    for pointer in where:
        holder: Any = root
        key: Any = 0
        for part in pointer.split('/')[1:]:
            holder = holder[key]
            name = part.replace('~1', '/').replace('~0', '~')
            key = int(name) if isinstance(holder, list) else name
        holder[key] = _NON_FINITE[holder[key]]
    return root[0]


_NON_FINITE = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}
