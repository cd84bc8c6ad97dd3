# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which values are known to be secret, and how they are found again."""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Iterable
import contextlib
from functools import lru_cache
import json
import re
from urllib.parse import quote, quote_plus

from robot_agent_harness.redaction.secrets import REDACTED

SUBSTRING_CHARS_MIN = 6
"""A known secret of this length is replaced inside any text. Shorter ones occur by chance in
numbers, words and hex ids, whose records would be damaged, and the damage would tell them."""
WORD_CHARS_MIN = 4
"""One of this length is replaced where it stands alone; a shorter one only under its own key."""
VALUES_MAX = 128
"""How many values of calls are remembered; the oldest is forgotten."""

_PLAIN_WORD = re.compile(r'[A-Za-z_]+')
_SCHEMES = re.compile(r'\s*(?:bearer|basic|digest|token)\s+(.+)', re.I | re.S)


class KnownValues:
    """The secret values of the process, and the newest of those that calls gave."""

    def __init__(self) -> None:
        self._kept: dict[str, None] = {}
        self._taught: OrderedDict[str, None] = OrderedDict()
        self._needles: tuple[str, ...] = ()
        """Every known value in each spelling, the longest first."""

    @property
    def taught(self) -> bool:
        """Whether any call has given one."""
        return bool(self._taught)

    def keep(self, value: str) -> None:
        """Take in a value that is never forgotten."""
        value = value.strip()
        if len(value) >= SUBSTRING_CHARS_MIN and value not in self._kept:
            self._kept[value] = None
            self._spell()

    def remember(self, texts: Iterable[str]) -> None:
        """Take in what a call gave; the oldest is forgotten in exchange."""
        news = {part for text in texts for part in _worth_knowing(text)}
        known = news <= self._taught.keys()
        for value in sorted(news):
            self._taught[value] = None
            self._taught.move_to_end(value)
        if known:
            return
        while len(self._taught) > VALUES_MAX:
            self._taught.popitem(last=False)
        self._spell()

    def occur_in(self, text: str) -> bool:
        """Whether a text holds one, perhaps by chance."""
        return any(needle in text for needle in self._needles)

    def replace(self, text: str, *, in_key: bool = False) -> str:
        """Return a text with each of them replaced."""
        for needle in self._needles:
            if needle not in text:
                continue
            if in_key and _PLAIN_WORD.fullmatch(needle):
                continue  # a record's fields are named by words; a password must not rename them
            if len(needle) >= SUBSTRING_CHARS_MIN:
                text = text.replace(needle, REDACTED)
            else:
                alone = rf'(?<![0-9A-Za-z_]){re.escape(needle)}(?![0-9A-Za-z_])'
                text = re.sub(alone, REDACTED, text)
        return text

    def has_number(self, number: int | float) -> bool:
        """Whether a number is, as a whole, one that a call gave."""
        return self.taught and str(number) in self._taught

    def _spell(self) -> None:
        forms = {form for value in (*self._kept, *self._taught) for form in _forms(value)}
        self._needles = tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _worth_knowing(text: str) -> Iterable[str]:
    """Yield the parts of a hidden text that may turn up elsewhere on their own."""
    parts = [text]
    scheme = _SCHEMES.fullmatch(text)
    if scheme:
        parts.append(scheme[1])
        with contextlib.suppress(binascii.Error, ValueError):
            _, colon, password = base64.b64decode(scheme[1], validate=True).partition(b':')
            if colon:
                parts.append(password.decode('utf-8'))
    if '=' in text and ';' in text:
        parts += [pair.partition('=')[2] for pair in text.split(';')]
    for part in parts:
        part = part.strip()
        if len(part) >= WORD_CHARS_MIN and part not in REDACTED:
            yield part


@lru_cache(maxsize=512)
def _forms(value: str) -> frozenset[str]:
    """Return a value as it stands in plain text, in JSON and in a URL."""
    in_json = json.dumps(value)[1:-1]
    return frozenset(
        {
            value,
            quote(value, safe='', errors='replace'),
            quote_plus(value, errors='replace'),
            in_json,
            json.dumps(in_json)[1:-1],  # JSON within JSON
            json.dumps(value, ensure_ascii=False)[1:-1],
        }
    )
