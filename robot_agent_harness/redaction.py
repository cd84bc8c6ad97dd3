# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Keeps secrets out of everything that is kept or shown, and in what the tool is given.

One :class:`Redactor` knows what a secret looks like (keys, `Bearer ...`, URLs with a password),
which values are secret (those of the environment's keys, and those that calls gave under a secret
name), and replaces both. It stands at the two places where things leave memory: before the
journal (:class:`RedactedJournal`) and before the log (:class:`RedactingFilter`); the dispatcher
puts each result through it as well, since a client shows and keeps results.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import OrderedDict
from collections.abc import Iterable, Mapping
import contextlib
from dataclasses import dataclass
from functools import cache, lru_cache
import json
import logging
import os
from pathlib import Path
import re
from typing import Any, get_args, TypeAlias
from urllib.parse import quote, quote_plus

from pydantic import BaseModel, SecretBytes, SecretStr

from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    ModelResponseRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.store import MissionJournal

REDACTED = '[redacted]'

SECRET_STEMS = (
    'accesskey', 'apikey', 'authorization', 'bearer', 'credential', 'encryptionkey', 'passcode',
    'passphrase', 'passwd', 'password', 'privatekey', 'secret', 'signingkey', 'sshkey',
)  # fmt: skip
"""What makes a key secret wherever it stands in it; case, `_`, `-`, `.` and spaces do not
count."""
SECRET_ENDINGS = ('auth', 'cookie', 'cookies', 'jwt', 'pwd', 'token', 'tokens')
"""What makes a key secret at its end: `access_token` is one, `token_count` is none."""
SECRET_PARAMETERS = ('key', 'sig', 'signature')
"""Query parameters of a URL that are secret beside those."""
ENVIRONMENT_KEYS = ('ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY')
"""Variables whose values must not appear anywhere."""

SUBSTRING_CHARS_MIN = 6
"""A known secret of this length is replaced inside any text. Shorter ones occur by chance in
numbers, words and hex ids, whose records would be damaged, and the damage would tell them."""
WORD_CHARS_MIN = 4
"""One of this length is replaced where it stands alone; a shorter one only under its own key."""
VALUES_MAX = 128
"""How many values of calls are remembered; the oldest is forgotten."""
SCOPES_MAX = 512
"""For how many calls and turns the names of declared secrets are remembered."""
DEPTH_MAX = 100
"""Levels that are walked through; what is below is replaced by a note."""

PACKAGE_LOGGER = 'robot_agent_harness'

_HINTS = (
    '://', 'auth', 'basic', 'bearer', 'cookie', 'credential', 'jwt', 'key', 'pass', 'pwd',
    'secret', 'sk-', 'token',
)  # fmt: skip
"""A text in lower case without any of these holds nothing that looks like a secret."""

_MEASURED = (WorldSnapshotCaptured, ActionPreconditionChecked)
"""What the harness saw or compared. Of what callers say it holds goals alone, whose secrets their
calls have taught; they are the largest records between a call and its dispatch."""

_ID_KEYS = frozenset(
    {
        'action_id', 'decision_snapshot_id', 'ended_missions', 'fresh_snapshot_id', 'goal_id',
        'interrupted_calls', 'mission_id', 'snapshot_id', 'tool_call_id', 'turn_id',
        'verification_snapshot_id',
    }
)  # fmt: skip
_ID = re.compile(r'[0-9a-f]{32}|(?:mission|turn|call|snapshot)-[0-9a-f]{1,16}')
"""Ids that the harness made, under its own keys: a secret that occurs in one must not break it."""

_VOCABULARY = frozenset(
    {
        'ABORTED', 'ACCEPTED', 'CANCELED', 'CANCELING', 'EXECUTING', 'FAILED', 'REQUESTED',
        'RUNNING', 'SUCCEEDED', 'UNKNOWN', 'VERIFYING', 'aborted', 'acceptance_timeout',
        'acceptance_unknown', 'accepted', 'achieved', 'action_outcome', 'available', 'canceled',
        'completed', 'controller_lost', 'controller_unavailable', 'execution_timeout',
        'finished', 'harness_inactive', 'interrupted', 'invalid', 'invalid_arguments',
        'journal_unavailable', 'mission_started', 'missing', 'model_error', 'not_achieved',
        'one_managed_action_per_step', 'precondition_changed', 'preempted', 'rejected',
        'result_lost', 'stale', 'tool_error', 'unknown', 'unknown_action', 'unknown_tool',
        'verification_disproved', 'verification_inconclusive', 'verified',
    }
)  # fmt: skip
"""Words that a record's meaning hangs on; one that stands alone is never taken for a secret."""

_PEM = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)', re.S
)
_SCHEME = re.compile(r'\b(bearer)(\s+|%20|\+)((?!\[redacted)[^\s"\',;&\\<>)\]}]+)', re.I)
_BASIC = re.compile(r'\b(basic\s+)([A-Za-z0-9+/_-]{6,}={0,2})', re.I)
_PROVIDER_KEY = re.compile(r'\bsk-[A-Za-z0-9_-]{16,}')
_USERINFO = re.compile(r'\b([a-z][a-z0-9+.-]{1,20}://)([^\s/?#"\'<>]*)@', re.I)
_HEADER = re.compile(
    r'\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)(\s*:\s*)([^\r\n"\']+)',
    re.I,
)
_QUOTED_KEY = re.compile(r'(?P<q>\\*["\'])(?P<key>[\w .-]{1,80})(?P=q)\s*(?::|=>|=)\s*')
_QUOTED_VALUE = re.compile(
    r'(?P<v>\\*["\'])(?P<text>.*?)(?:(?P=v)|\Z)|(?P<nested>[\[{][^\]}]*[\]}]?)'
    r'|(?P<bare>[^\s,"\'\\}\])]+)',
    re.S,
)
_ASSIGNED = re.compile(
    r'(?P<lead>[?&]|)(?P<key>[A-Za-z][\w.\[\]-]{0,80})='
    r'(?:"(?P<double>[^"]*)"?|\'(?P<single>[^\']*)\'?|(?P<bare>(?!\[redacted)[^\s&;,"\'<>)\]}]+))'
)
_OPTION = re.compile(r'(?P<key>--[A-Za-z][\w-]{0,60})\s+(?P<text>[^\s-]\S*)')
_LINE = re.compile(r'^(?P<key>[ \t-]*[\w.-]{1,80}):[ \t]+(?P<text>\S+)[ \t]*$', re.M)
_NOT_KEY = re.compile(r'[^a-z0-9]')
_NOTHING = ('null', 'none', 'true', 'false', '[', '{', '[]', '{}')
_PLAIN_WORD = re.compile(r'[A-Za-z_]+')
_SCHEMES = re.compile(r'\s*(?:bearer|basic|digest|token)\s+(.+)', re.I | re.S)

Entry: TypeAlias = tuple[Event, Correlation]


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a skill's parameter: `pin: Annotated[str, Secret()]`. Its value reaches the skill and
    nothing else.
    """


@lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Whether what stands under such a key is a secret."""
    plain = _NOT_KEY.sub('', key.lower())
    if plain.endswith(SECRET_ENDINGS):
        return True
    return 'secretar' not in plain and any(stem in plain for stem in SECRET_STEMS)


def declared_secrets(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of a model's fields that are marked secret, at any depth."""
    names: set[str] = set()
    seen: set[type[BaseModel]] = set()
    todo = [model]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for name, info in current.model_fields.items():
            parts = list(_parts(info.annotation))
            marks = [*info.metadata, *parts]
            if any(isinstance(m, Secret) or m in (Secret, SecretStr, SecretBytes) for m in marks):
                names |= {name, info.alias or name}
            todo += [p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)]
    return frozenset(names)


def _parts(annotation: Any) -> Iterable[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


class Redactor:
    """Replaces secrets in values and texts. Used from any thread; taught from one at a time."""

    def __init__(self) -> None:
        self._fixed: dict[str, None] = {}
        self._taught: OrderedDict[str, None] = OrderedDict()
        self._names: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._needles: tuple[str, ...] = ()
        """Every known value in each spelling, the longest first."""

    def know(self, value: str) -> None:
        """Take in a secret of this process; it is never forgotten."""
        if len(value.strip()) >= SUBSTRING_CHARS_MIN:
            self._fixed[value.strip()] = None
            self._spell()

    def know_environment(self, environ: Mapping[str, str]) -> None:
        """Take in the keys that the environment holds now."""
        for name in ENVIRONMENT_KEYS:
            value = environ.get(name, '').strip()
            if value and value not in self._fixed:
                self.know(value)

    def learn(
        self, scope: str | None, arguments: Any, names: frozenset[str] = frozenset()
    ) -> None:
        """Take in the secrets among a call's arguments.

        :param scope: the id of the call, or of the turn, whose records are about them.
        :param names: what the skill declares as secret.
        """
        if not names and not _hinted(_repr(arguments)):
            return
        found: list[str] = []
        _Walk(self, names, found).value(arguments, None, 0)
        if scope is not None and (names or found):
            # Also where all are too short to be known again: there the keys must tell.
            self._names[scope] = self._names.get(scope, frozenset()) | names
            while len(self._names) > SCOPES_MAX:
                self._names.popitem(last=False)
        news = {part for text in found for part in _worth_knowing(text)}
        if not news:
            return
        known = news <= self._taught.keys()
        for value in sorted(news):
            self._taught[value] = None
            self._taught.move_to_end(value)
        if known:
            return
        while len(self._taught) > VALUES_MAX:
            self._taught.popitem(last=False)
        self._spell()

    def names_of(self, scope: str | None) -> frozenset[str]:
        """Return which names are declared secret in that call or turn."""
        return frozenset() if scope is None else self._names.get(scope, frozenset())

    def suspects(self, text: str) -> bool:
        """Whether a text may hold a secret; cheap, and False for nearly all."""
        return any(needle in text for needle in self._needles) or _hinted(text)

    def value(self, value: Any, *, scope: str | None = None) -> Any:
        """Return a value, of any shape, without the secrets in it; the value is left alone."""
        return _Walk(self, self.names_of(scope), None).value(value, None, 0)

    def text(self, text: str) -> str:
        """Return a text without the secrets in it."""
        return _Walk(self, frozenset(), None).text(text, 0) if self.suspects(text) else text

    def event(self, event: Event, ids: Correlation) -> Event:
        """Return an event without the secrets in it; the same one where there are none."""
        scope = ids.turn_id if isinstance(event, ModelResponseRecorded) else ids.tool_call_id
        names = self.names_of(scope)
        if scope not in self._names:
            if isinstance(event, _MEASURED) and not self._taught:
                return event
            try:
                if not self.suspects(event.model_dump_json()):
                    return event
            except (ValueError, TypeError, RecursionError):
                pass  # not plain JSON: the walk copes with anything
        walk = _Walk(self, names, None)
        fields = {name: getattr(event, name) for name in type(event).model_fields}
        clean = {
            name: walk.value(value, name if name in _ID_KEYS else None, 1)
            for name, value in fields.items()
        }
        return type(event).model_construct(**clean)

    def replace_known(self, text: str, *, in_key: bool = False) -> str:
        """Return a text with the values that are known to be secret replaced."""
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

    def is_known(self, number: int | float) -> bool:
        """Whether a number is, as a whole, a value that is known to be secret."""
        return bool(self._needles) and str(number) in self._taught

    def _spell(self) -> None:
        forms = {form for value in (*self._fixed, *self._taught) for form in _forms(value)}
        self._needles = tuple(sorted(forms, key=lambda form: (-len(form), form)))


class _Walk:
    """One pass through a value; `found`, where given, collects what is hidden."""

    def __init__(self, redactor: Redactor, names: frozenset[str], found: list[str] | None) -> None:
        self._redactor = redactor
        self._names = names
        self._found = found

    def value(self, value: Any, key: str | None, depth: int) -> Any:
        """Return a clean copy of a value that stands under a key that is not secret."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            if key in _ID_KEYS and _ID.fullmatch(value):
                return value
            return self.text(value, depth)
        if isinstance(value, (int, float)):
            return REDACTED if self._redactor.is_known(value) else value
        if depth > DEPTH_MAX:
            return f'[nested deeper than {DEPTH_MAX} levels]'
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.value(item, key, depth + 1) for item in value]
        if isinstance(value, BaseModel):
            return self._mapping(dict(value), depth)
        if isinstance(value, (bytes, bytearray)):
            return self.text(bytes(value).decode('utf-8', 'backslashreplace'), depth)
        return self.text(_repr(value), depth)

    def text(self, text: str, depth: int) -> str:
        """Return a clean text."""
        if text in _VOCABULARY:
            return text
        clean = self._redactor.replace_known(text)
        if not self._names and not _hinted(clean):
            return clean
        if clean.lstrip()[:1] in ('{', '[', '"') and depth <= DEPTH_MAX:
            with contextlib.suppress(ValueError, RecursionError):
                parsed = json.loads(clean)
                redacted = self.value(parsed, None, depth + 1)
                return clean if redacted == parsed else json.dumps(redacted, ensure_ascii=False)
        return self._patterns(clean)

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, item in mapping.items():
            name = key if isinstance(key, str) else _repr(key)
            if name in self._names or is_secret_key(name):
                cleaned: Any = self._hidden(item, name)
            else:
                cleaned = self.value(item, name, depth + 1)
            if self._redactor.suspects(name):
                name = self._redactor.replace_known(name, in_key=True)
                name = name if is_secret_key(name) else self._patterns(name)
            while name in clean:
                name += ' '  # two keys that differed in a secret alone
            clean[name] = cleaned
        return clean

    def _hidden(self, item: Any, key: str) -> Any:
        """Hide what stands under a secret key, whole; that there is nothing stays visible."""
        if item is None or isinstance(item, bool) or item in ('', REDACTED):
            return item
        if isinstance(item, (list, tuple, dict)) and not item:
            return item
        counts = key.lower().endswith('tokens')  # of a model, not for a login
        if counts and not isinstance(item, str):
            return self.value(item, None, DEPTH_MAX - 8)
        self._collect(item)
        return REDACTED

    def _collect(self, item: Any, depth: int = 0) -> None:
        if self._found is None or depth > DEPTH_MAX:
            return
        if isinstance(item, Mapping):
            item = list(item.values())
        if isinstance(item, (list, tuple, set, frozenset)):
            for part in item:
                self._collect(part, depth + 1)
        elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
            self._found.append(str(item))
        elif isinstance(item, (SecretStr, SecretBytes)):
            self._collect(item.get_secret_value(), depth + 1)
        elif isinstance(item, (bytes, bytearray)):
            self._found.append(bytes(item).decode('utf-8', 'backslashreplace'))

    def _hide(self, text: str) -> str:
        if self._found is not None and text != REDACTED:
            self._found.append(text)
        return REDACTED

    def _patterns(self, text: str) -> str:
        text = _PEM.sub(lambda m: self._hide(m[0]), text)
        text = _USERINFO.sub(self._userinfo, text)
        text = self._quoted(text)
        text = _SCHEME.sub(lambda m: m[1] + m[2] + self._hide(m[3]), text)
        text = _BASIC.sub(self._basic, text)
        text = _HEADER.sub(
            lambda m: m[0] if REDACTED in m[3] else m[1] + m[2] + self._hide(m[3]), text
        )
        text = _ASSIGNED.sub(self._assigned, text)
        text = _OPTION.sub(self._after_key, text)
        text = _LINE.sub(self._after_key, text)
        return _PROVIDER_KEY.sub(lambda m: self._hide(m[0]), text)

    def _is_secret(self, key: str) -> bool:
        return key in self._names or is_secret_key(key)

    def _userinfo(self, match: re.Match[str]) -> str:
        user, colon, password = match[2].partition(':')
        if REDACTED in match[2]:
            return match[0]
        if colon:
            return f'{match[1]}{user}:{self._hide(password)}@' if password else match[0]
        web = match[1].lower() in ('http://', 'https://', 'ws://', 'wss://')
        return f'{match[1]}{self._hide(user)}@' if web and user else match[0]

    def _basic(self, match: re.Match[str]) -> str:
        padded = match[2].rstrip('=') + '=' * (-len(match[2].rstrip('=')) % 4)
        with contextlib.suppress(binascii.Error, ValueError):
            decoded = base64.b64decode(padded, altchars=b'-_' if '-' in padded else None)
            if b':' in decoded:
                return match[1] + self._hide(match[2])
        return match[0]

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
            mark = '"' if value['v'] is None else value['v']
            told += [text[done : match.end()], mark, self._hide(hidden), mark]
            done = value.end()
        return ''.join([*told, text[done:]])

    def _assigned(self, match: re.Match[str]) -> str:
        key = match['key']
        in_query = match['lead'] and key.lower() in SECRET_PARAMETERS
        text = match['double'] or match['single'] or match['bare']
        if not text or not (in_query or self._is_secret(key)) or REDACTED in text:
            return match[0]
        return f'{match["lead"]}{key}={self._hide(text)}'

    def _after_key(self, match: re.Match[str]) -> str:
        key = match['key'].strip(' \t-')
        if not self._is_secret(key) or REDACTED in match['text']:
            return match[0]
        start = match.start('text') - match.start()
        end = match.end('text') - match.start()
        return match[0][:start] + self._hide(match['text']) + match[0][end:]


class RedactedJournal:
    """The journal as those who write see it: what they hand in reaches it without secrets."""

    def __init__(self, journal: MissionJournal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    @property
    def path(self) -> Path:
        """Return the file's absolute path."""
        return self._journal.path

    @property
    def healthy(self) -> bool:
        """Return whether the last attempt to write worked."""
        return self._journal.healthy

    async def append(self, *entries: Entry) -> list[int]:
        """Write the records and return their numbers when they are on disk.

        :raises JournalUnavailableError: they could not be written in time, and never will be.
        """
        return await self._journal.append(*self._clean(entries))

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        """Queue the records of facts, and return a future of their numbers.

        :raises JournalUnavailableError: the journal is closed.
        """
        return self._journal.defer(*self._clean(entries))

    def _clean(self, entries: tuple[Entry, ...]) -> list[Entry]:
        return [(self._redactor.event(event, ids), ids) for event, ids in entries]


class RedactingFilter(logging.Filter):
    """Takes secrets out of a log record: its text, and the traceback that goes with it."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record where it has to be, and let it pass."""
        try:
            said = record.getMessage()
        except Exception:
            return True  # the handler reports a broken record; there is no text to look at
        clean = self._redactor.text(said)
        if clean != said:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = logging.Formatter().formatException(record.exc_info)
            cleaned = self._redactor.text(told)
            if cleaned != told:
                # The exception itself goes too: a handler may format it anew.
                record.exc_info, record.exc_text = None, cleaned
        if record.stack_info:
            record.stack_info = self._redactor.text(record.stack_info)
        return True


def shared_redactor() -> Redactor:
    """Return the one Redactor of this process, with the environment's keys as they are now.

    One, because the environment and the log are the process's too: what a call of one part
    taught must not be logged by another. Every logger of the package goes through it.
    """
    redactor, log_filter = _shared()
    redactor.know_environment(os.environ)
    for name in (PACKAGE_LOGGER, *logging.root.manager.loggerDict):
        if name == PACKAGE_LOGGER or name.startswith(PACKAGE_LOGGER + '.'):
            # On each: a filter of a logger does not see the records of its children.
            logging.getLogger(name).addFilter(log_filter)
    return redactor


@cache
def _shared() -> tuple[Redactor, RedactingFilter]:
    redactor = Redactor()
    return redactor, RedactingFilter(redactor)


def _hinted(text: str) -> bool:
    low = text.lower()
    return any(hint in low for hint in _HINTS)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f'[{type(value).__name__}]'  # anybody's object, or nested without end


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
    forms = {value, quote(value, safe='', errors='replace')}
    forms.add(quote_plus(value, errors='replace'))
    inner = value
    for _ in range(2):  # JSON, and JSON within JSON
        inner = json.dumps(inner)[1:-1]
        forms.add(inner)
    forms.add(json.dumps(value, ensure_ascii=False)[1:-1])
    return frozenset(form for form in forms if len(form) >= WORD_CHARS_MIN)
