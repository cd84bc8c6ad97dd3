# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which values are known to be secret, and how they are found again."""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Iterable
import contextlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
import re

from robot_agent_harness.redaction.secrets import REDACTED, text_of

SUBSTRING_CHARS_MIN = 6
"""A known secret of this length is replaced inside any text. Shorter ones occur by chance in
numbers, words and hex ids, whose records would be damaged, and the damage would tell them."""
WORD_CHARS_MIN = 4
"""One of this length is replaced where it stands alone; a shorter one only under its own key."""
VALUES_MAX = 128
"""How many values of calls are remembered; the oldest is forgotten."""

VALUE_CHARS_MAX = 16384
"""Of a longer value only the beginning is looked for: no key file is longer."""
_PIECE_CHARS = 256
"""A longer value, a whole key file for instance, is looked for in pieces of about this length."""
_WEAK = re.compile(r'[A-Za-z_]{1,15}|[-+0-9.eE]+')
"""What else robots, places and goals are called and measured by, though somebody used it as a
password: it is looked for in the records of its own call alone."""
_PLAIN_WORD = re.compile(r'[A-Za-z_]+')
_SCHEMES = re.compile(r'\s*(?:bearer|basic|digest|token)\s+(.+)', re.I | re.S)


class KnownValues:
    """The secret values of the process, and the newest of those that calls gave.

    :param others: what is known beside them. With it, these are the values of one call, which are
        looked for in its own records alone, and so the weak ones among them as well.
    """

    def __init__(self, others: KnownValues | None = None) -> None:
        self._others = others
        self._kept: dict[str, None] = {}
        self._taught: OrderedDict[str, None] = OrderedDict()
        self._needles: tuple[_Needle, ...] = ()
        """The longest first."""

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
        news = {part for text in texts for part in _worth_knowing(text[:VALUE_CHARS_MAX])}
        if self._others is None:
            news = {part for part in news if not _WEAK.fullmatch(part)}
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
        """Whether a text holds one, perhaps by chance.

        Of JSON as well, where a word may stand behind the letter of an escape.
        """
        return any(
            needle.anchor in text and _spellings(needle.value, alone=False).search(text)
            for needle in self._needles
        ) or (self._others is not None and self._others.occur_in(text))

    def replace(self, text: str, *, in_key: bool = False) -> str:
        """Return a text with each of them replaced."""
        for needle in self._needles:
            if needle.anchor not in text:
                continue
            if in_key and _PLAIN_WORD.fullmatch(needle.value):
                continue  # a record's fields are named by words; a password must not rename them
            text = _spellings(needle.value, alone=True).sub(REDACTED, text)
        return text if self._others is None else self._others.replace(text, in_key=in_key)

    def has_number(self, number: int | float) -> bool:
        """Whether a number is, as a whole, one that this call gave."""
        return self.taught and text_of(number) in self._taught

    def _spell(self) -> None:
        values = {piece for value in (*self._kept, *self._taught) for piece in _pieces(value)}
        needles = [_Needle(value, _anchor(value)) for value in values]
        self._needles = tuple(sorted(needles, key=lambda it: (-len(it.value), it.value)))


@dataclass(frozen=True, slots=True)
class _Needle:
    """A value, or a piece of a long one."""

    value: str
    anchor: str
    """A part that is the same in every spelling: a text without it needs no closer look."""


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


def _pieces(value: str) -> Iterable[str]:
    count = max(1, len(value) // _PIECE_CHARS)
    ends = [len(value) * number // count for number in range(count + 1)]
    return (value[start:end] for start, end in pairwise(ends))


@lru_cache(maxsize=128)
def _anchor(value: str) -> str:
    return max(re.findall('[0-9A-Za-z]+', value), key=len, default='')


@lru_cache(maxsize=256)
def _spellings(value: str, *, alone: bool) -> re.Pattern[str]:
    """Return what matches a value in plain text, in a URL, in JSON and in a Python repr.

    Encoders differ in which characters they leave alone and in the case of their digits, and
    each layer encodes anew what the one below wrote: so each character may be in any form.

    :param alone: whether a short one has to stand alone.
    """
    spelt = ''.join(_spelt(character, len(list(run))) for character, run in groupby(value))
    if alone and len(value) < SUBSTRING_CHARS_MIN:
        spelt = rf'(?<![0-9A-Za-z_]){spelt}(?![0-9A-Za-z_])'
    return re.compile(spelt)


_ESCAPES = {'\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}
_BACKSLASHES = r'\\{1,8}'
_PERCENT = '%(?:25){0,3}'  # itself encoded again, up to three times


def _spelt(character: str, times: int) -> str:
    """Return a pattern of a character that stands there so many times."""
    if character.isascii() and (character.isalnum() or character == '_'):
        return character * times
    number, code = ord(character), character.encode('utf-8', 'surrogatepass')
    forms = [re.escape(character), ''.join(_PERCENT + _hex(f'{byte:02x}') for byte in code)]
    if character == '\\':
        return f'(?:{"|".join(forms)}){{{times},{8 * times}}}'
    if character == ' ':
        forms.append(r'\+')
    if character in '"\'/':
        forms.append(_BACKSLASHES + re.escape(character))
    if character in _ESCAPES:
        forms.append(_BACKSLASHES + _ESCAPES[character])
    units = character.encode('utf-16-be', 'surrogatepass').hex()
    marked = [units[start : start + 4] for start in range(0, len(units), 4)]
    forms.append(''.join(f'{_BACKSLASHES}u{_hex(unit)}' for unit in marked))
    if number <= 0xFF:
        forms.append(f'{_BACKSLASHES}x{_hex(f"{number:02x}")}')
    elif number > 0xFFFF:
        forms.append(f'{_BACKSLASHES}U{_hex(f"{number:08x}")}')
    return f'(?:{"|".join(forms)})' + (f'{{{times}}}' if times > 1 else '')


def _hex(digits: str) -> str:
    return ''.join(digit if digit.isdigit() else f'[{digit}{digit.upper()}]' for digit in digits)
