# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What secrets look like in free text: headers, URLs, options, and JSON that may be cut off."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
import contextlib
import re

from robot_agent_harness.redaction.secrets import REDACTED, SECRET_PARAMETERS

_PEM = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)', re.S
)
_SCHEME = re.compile(r'\b[a-z][a-z0-9+.-]{1,20}\Z', re.I)
_USERINFO = re.compile(
    r'://(?P<user>[^\s/?#"\'<>:@]*)(?::(?P<password>[^\s/?#"\'<>]*))?@',
)
_WEB = ('http', 'https', 'ws', 'wss')
"""Schemes whose user part may be a token; elsewhere it is a name, as in `ssh://git@host`."""
_QUOTED = re.compile(
    r'(?P<q>["\'])(?P<key>[\w .-]{1,80})(?P<slashes>\\*)(?P=q)\s{0,80}(?::|=>|=)\s{0,80}'
)
_QUOTED_VALUE = re.compile(
    r'(?P<v>\\*["\'])(?P<text>.*?)(?:(?P=v)|\Z)|(?P<nested>[\[{][^\]}]*[\]}]?)'
    r'|(?P<bare>[^\s,"\'\\}\])]+)',
    re.S,
)
_NOTHING = ('null', 'none', 'true', 'false', '[', '{', '[]', '{}')
_BEARER = re.compile(r'\bbearer(?:\s+|%20|\+)(?P<text>(?!\[redacted)[^\s"\',;&\\<>)\]}]+)', re.I)
_BASIC = re.compile(r'\bbasic\s+(?P<text>[A-Za-z0-9+/_-]{6,}={0,2})', re.I)
_HEADERS = ('authorization', 'cookie', 'x-api-key', 'x-auth-token')
_HEADER = re.compile(rf'\b(?:{"|".join(_HEADERS)})\s*:\s*(?P<text>[^\r\n"\']+)', re.I)
_ASSIGNED = re.compile(r'=(?<=[\w.\[\] \t-]=)(?!=)[ \t]{0,3}')
_ASSIGNED_VALUE = re.compile(
    r'"(?P<double>[^"]*)"?|\'(?P<single>[^\']*)\'?|(?P<bare>(?!\[redacted)[^\s&;,"\'<>)\]}]+)'
)
_GAP = re.compile(r'\A[ \t]{1,3}')
_ASSIGNED_KEY = re.compile(r'[\w.\[\]-]+')
_OPTION = re.compile(r'--(?P<key>[A-Za-z][\w-]{0,60})\s+(?P<text>[^\s-]\S*)')
_LINE = re.compile(r'^[ \t-]*(?P<key>[\w.-]{1,80}):[ \t]+(?P<text>\S+)[ \t]*$', re.M)
_ELEMENT = re.compile(r'<(?P<key>[\w:.-]{1,80})>(?P<text>[^<]+)')
_CURL = re.compile(
    r'\bcurl\b(?:(?!\s-u|\s--user\b|\bcurl\b)[^\n;|&]){0,400}\s(?:-u|--user)[ =]?["\']?'
    r'[^\s:"\']*:(?P<text>[^\s"\']+)'
)
_PROVIDER_KEY = re.compile(
    r'\b(?P<text>sk-(?:[A-Za-z0-9_-]{16,}'
    # Shorter ones show by a run with both digits and letters, which few words and no dates have.
    r'|(?!learn\b)(?:[a-z]{1,8}-){0,2}(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{6,}))'
)
_KEY_CHARS = 100
"""How far before its end a key is looked for."""
ANY = '****'
"""Stands for a value that is not known yet."""


class TextPatterns:
    """Replaces what looks like a secret in a text.

    Each kind is looked for only where a literal part of it stands: to try every pattern at every
    character would cost a thousand times as much, and the event loop waits meanwhile.

    :param is_secret: whether a value that stands under such a key is one.
    :param hide: is given each secret and returns what takes its place.
    """

    def __init__(
        self, *, is_secret: Callable[[str, str], bool], hide: Callable[[str], str]
    ) -> None:
        self._is_secret = is_secret
        self._hide = hide

    def clean(self, text: str) -> str:
        """Return the text without them."""
        text = _PEM.sub(lambda match: self._hide(match[0]), text)
        text = _USERINFO.sub(self._userinfo, text)
        text = self._quoted(text)
        text = _each(text, _BEARER, self._text, 'bearer')
        text = _each(text, _BASIC, self._basic, 'basic')
        text = _each(text, _HEADER, self._text, *_HEADERS)
        text = self._assigned(text)
        text = _OPTION.sub(self._keyed, text)
        text = _LINE.sub(self._keyed, text)
        text = _ELEMENT.sub(self._keyed, text)
        text = _each(text, _CURL, self._text, 'curl')
        return _each(text, _PROVIDER_KEY, self._text, 'sk-')

    def _text(self, match: re.Match[str], group: str = 'text') -> str:
        """Return the match with that group hidden, unless it was before."""
        if REDACTED in match[group]:
            return match[0]
        before, after = match.start(group) - match.start(), match.end(group) - match.start()
        return match[0][:before] + self._hide(match[group]) + match[0][after:]

    def _userinfo(self, match: re.Match[str]) -> str:
        scheme = _SCHEME.search(match.string[max(0, match.start() - 21) : match.start()])
        if scheme is None:
            return match[0]
        if match['password']:
            return self._text(match, 'password')
        is_token = match['password'] is None and scheme[0].lower() in _WEB
        return self._text(match, 'user') if is_token and match['user'] else match[0]

    def _quoted(self, text: str) -> str:
        """Hide the values of secret keys in what looks like JSON or a repr, also where it was
        cut.
        """
        told: list[str] = []
        done = looked = 0
        for match in _QUOTED.finditer(text):
            if match.start() < looked or not self._is_secret(match['key'], ANY):
                continue
            if not text.endswith(match['slashes'], 0, match.start()):
                continue
            value = _QUOTED_VALUE.match(text, match.end())
            if value is None:
                continue
            looked = value.end()
            hidden = value['text'] or value['nested'] or value['bare']
            if not hidden or REDACTED in hidden or hidden.lower() in _NOTHING:
                continue
            if not self._is_secret(match['key'], hidden):
                continue
            mark = value['v'] or '"'
            told += [text[done : match.end()], mark, self._hide(hidden), mark]
            done = looked
        return ''.join([*told, text[done:]])

    def _basic(self, match: re.Match[str]) -> str:
        code = match['text'].rstrip('=')
        code += '=' * (-len(code) % 4)
        with contextlib.suppress(binascii.Error, ValueError):
            if b':' in base64.b64decode(code, altchars=b'-_' if '-' in code else None):
                return self._text(match)
        return match[0]

    def _assigned(self, text: str) -> str:
        told: list[str] = []
        done = looked = 0
        for match in _ASSIGNED.finditer(text):
            if match.start() < looked:
                continue
            backwards = text[max(done, match.start() - _KEY_CHARS) : match.start()][::-1]
            backwards = _GAP.sub('', backwards, count=1)
            run = _ASSIGNED_KEY.match(backwards)
            key = run[0][::-1] if run else ''
            lead = backwards[len(key) : len(key) + 1]
            in_query = lead in ('?', '&') and key.lower() in SECRET_PARAMETERS
            if not in_query and not self._is_secret(key, ANY):
                continue
            value = _ASSIGNED_VALUE.match(text, match.end())
            if value is None:
                continue
            looked = value.end()
            hidden = value['double'] or value['single'] or value['bare']
            if not hidden or REDACTED in hidden:
                continue
            if in_query or self._is_secret(key, hidden):
                told += [text[done : match.end()], self._hide(hidden)]
                done = looked
        return ''.join([*told, text[done:]])

    def _keyed(self, match: re.Match[str]) -> str:
        return self._text(match) if self._is_secret(match['key'], match['text']) else match[0]


def _each(
    text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], *words: str
) -> str:
    """Return the text with a pattern's matches changed; each begins with one of the words."""
    # As long as the text itself: of all characters this one alone has two in lower case.
    low = text.replace('\u0130', 'I').lower()
    told: list[str] = []
    done = 0
    for start in sorted(start for word in words for start in _places(low, word)):
        match = pattern.match(text, start) if start >= done else None
        if match is not None:
            told += [text[done:start], change(match)]
            done = match.end()
    return ''.join([*told, text[done:]])


def _places(low: str, word: str) -> Iterator[int]:
    start = low.find(word)
    while start >= 0:
        yield start
        start = low.find(word, start + 1)
