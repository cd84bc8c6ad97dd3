# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts that a model reads: short, bounded in bytes, and always valid UTF-8."""

from __future__ import annotations

import json
import re
from typing import Any

from robot_agent_harness.jsonable import jsonable

QUOTED_CHARS = 80
_PLAIN = re.compile(r'[ !#-\[\]-~]*')
"""Characters that JSON writes as they are, one byte each."""
_ELLIPSIS_BYTES = len('…'.encode())


def compact(value: Any) -> str:
    """Return any value as short JSON text."""
    return json.dumps(jsonable(value), ensure_ascii=False, separators=(',', ':'))


def cut(text: str, max_bytes: int) -> str:
    """Return the text if its JSON takes at most so many bytes, else its beginning with `…`.

    It takes no more as plain UTF-8 either.
    """
    if len(text) <= max_bytes and _PLAIN.fullmatch(text):
        return text
    # A character takes a byte or more. A lone surrogate, which a model may write, has no UTF-8.
    clean = text[: max_bytes + 1].encode('utf-8', 'replace').decode()
    if _json_bytes(clean) <= max_bytes:
        return clean
    size = end = 0
    for position, character in enumerate(clean, start=1):
        size += _json_bytes(character)
        if size > max_bytes - _ELLIPSIS_BYTES:
            break
        end = position
    return clean[:end] + '…'


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def quoted(text: str) -> str:
    """Return what a caller said as it stands in an error: in quotes, and cut, so that what to do
    about it has its place.
    """
    return repr(text) if len(text) <= QUOTED_CHARS else f'{text[:QUOTED_CHARS]!r}...'


def one_line(text: str, max_bytes: int) -> str:
    """Return the text on one line, cut as :func:`cut` does."""
    # What is longer than this is cut whatever its white space: no need to look at all of it.
    return cut(' '.join(text[: 4 * max_bytes].split()), max_bytes)
