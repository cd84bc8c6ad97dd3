# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What secrets look like in free text: headers, URLs, options, and JSON that may be cut off."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
import contextlib
import re

from robot_agent_harness.redaction.secrets import REDACTED, SECRET_PARAMETERS

_PEM = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)', re.S
)
_USERINFO = re.compile(
    r'\b(?P<scheme>[a-z][a-z0-9+.-]{1,20})://'
    r'(?P<user>[^\s/?#"\'<>:]*)(?::(?P<password>[^\s/?#"\'<>]*))?@',
    re.I,
)
_WEB = ('http', 'https', 'ws', 'wss')
"""Schemes whose user part may be a token; elsewhere it is a name, as in `ssh://git@host`."""
_QUOTED_KEY = re.compile(r'(?P<q>\\*["\'])(?P<key>[\w .-]{1,80})(?P=q)\s*(?::|=>|=)\s*')
_QUOTED_VALUE = re.compile(
    r'(?P<v>\\*["\'])(?P<text>.*?)(?:(?P=v)|\Z)|(?P<nested>[\[{][^\]}]*[\]}]?)'
    r'|(?P<bare>[^\s,"\'\\}\])]+)',
    re.S,
)
_NOTHING = ('null', 'none', 'true', 'false', '[', '{', '[]', '{}')
_BEARER = re.compile(r'\bbearer(?:\s+|%20|\+)(?P<text>(?!\[redacted)[^\s"\',;&\\<>)\]}]+)', re.I)
_BASIC = re.compile(r'\bbasic\s+(?P<text>[A-Za-z0-9+/_-]{6,}={0,2})', re.I)
_HEADER = re.compile(
    r'\b(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)\s*:\s*'
    r'(?P<text>[^\r\n"\']+)',
    re.I,
)
_ASSIGNED = re.compile(
    r'(?P<lead>[?&]|)(?P<key>[A-Za-z][\w.\[\]-]{0,80})='
    r'(?:"(?P<double>[^"]*)"?|\'(?P<single>[^\']*)\'?|(?P<bare>(?!\[redacted)[^\s&;,"\'<>)\]}]+))'
)
_OPTION = re.compile(r'--(?P<key>[A-Za-z][\w-]{0,60})\s+(?P<text>[^\s-]\S*)')
_LINE = re.compile(r'^[ \t-]*(?P<key>[\w.-]{1,80}):[ \t]+(?P<text>\S+)[ \t]*$', re.M)
_PROVIDER_KEY = re.compile(r'\b(?P<text>sk-[A-Za-z0-9_-]{16,})')


class TextPatterns:
    """Replaces what looks like a secret in a text.

    :param is_secret: whether what stands under such a key is one.
    :param hide: is given each secret and returns what takes its place.
    """

    def __init__(self, *, is_secret: Callable[[str], bool], hide: Callable[[str], str]) -> None:
        self._is_secret = is_secret
        self._hide = hide

    def clean(self, text: str) -> str:
        """Return the text without them."""
        text = _PEM.sub(lambda match: self._hide(match[0]), text)
        text = _USERINFO.sub(self._userinfo, text)
        text = self._quoted(text)
        text = _BEARER.sub(self._text, text)
        text = _BASIC.sub(self._basic, text)
        text = _HEADER.sub(self._text, text)
        text = _ASSIGNED.sub(self._assigned, text)
        text = _OPTION.sub(self._keyed, text)
        text = _LINE.sub(self._keyed, text)
        return _PROVIDER_KEY.sub(self._text, text)

    def _text(self, match: re.Match[str], group: str = 'text') -> str:
        """Return the match with that group hidden, unless it was before."""
        if REDACTED in match[group]:
            return match[0]
        before, after = match.start(group) - match.start(), match.end(group) - match.start()
        return match[0][:before] + self._hide(match[group]) + match[0][after:]

    def _userinfo(self, match: re.Match[str]) -> str:
        if match['password']:
            return self._text(match, 'password')
        is_token = match['password'] is None and match['scheme'].lower() in _WEB
        return self._text(match, 'user') if is_token and match['user'] else match[0]

    def _quoted(self, text: str) -> str:
        """Hide the values of secret keys in what looks like JSON or a repr, also where it was
        cut.
        """
        told: list[str] = []
        done = 0
        for match in _QUOTED_KEY.finditer(text):
            if match.start() < done or not self._is_secret(match['key']):
                continue
            value = _QUOTED_VALUE.match(text, match.end())
            if value is None:
                continue
            hidden = value['text'] or value['nested'] or value['bare']
            if not hidden or REDACTED in hidden or hidden.lower() in _NOTHING:
                continue
            mark = value['v'] or '"'
            told += [text[done : match.end()], mark, self._hide(hidden), mark]
            done = value.end()
        return ''.join([*told, text[done:]])

    def _basic(self, match: re.Match[str]) -> str:
        code = match['text'].rstrip('=')
        code += '=' * (-len(code) % 4)
        with contextlib.suppress(binascii.Error, ValueError):
            if b':' in base64.b64decode(code, altchars=b'-_' if '-' in code else None):
                return self._text(match)
        return match[0]

    def _assigned(self, match: re.Match[str]) -> str:
        key = match['key']
        in_query = match['lead'] and key.lower() in SECRET_PARAMETERS
        text = match['double'] or match['single'] or match['bare']
        if not text or not (in_query or self._is_secret(key)) or REDACTED in text:
            return match[0]
        return f'{match["lead"]}{key}={self._hide(text)}'

    def _keyed(self, match: re.Match[str]) -> str:
        return self._text(match) if self._is_secret(match['key']) else match[0]
