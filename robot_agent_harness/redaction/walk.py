# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One pass through a value of any shape, which copies it without the secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import contextlib
import json
import re
from typing import Any

from pydantic import BaseModel, SecretBytes, SecretStr

from robot_agent_harness.redaction.known import KnownValues
from robot_agent_harness.redaction.patterns import ANY, TextPatterns
from robot_agent_harness.redaction.secrets import (
    hinted,
    is_secret_key,
    is_secret_under,
    REDACTED,
    text_of,
)

DEPTH_MAX = 100
"""Levels that are walked through; what is below is replaced by a note."""

_ID_KEYS = frozenset(
    {
        'action_id', 'decision_snapshot_id', 'ended_missions', 'fresh_snapshot_id', 'goal_id',
        'interrupted_calls', 'mission_id', 'snapshot_id', 'tool_call_id', 'turn_id',
        'verification_snapshot_id',
    }
)  # fmt: skip
_ID = re.compile(r'[0-9a-f]{32}|(?:mission|turn|call|snapshot)-[0-9a-f]{1,16}')
"""Ids that the harness made, under its own keys: a secret that occurs in one must not break it."""

_NAMES = (
    'name', 'key', 'header', 'option', 'variable', 'field', 'id', 'label', 'param', 'parameter',
    'property',
)  # fmt: skip
_VALUES = ('value', 'content', 'text', 'val')
"""Keys of an object that is a pair, as headers and variables are often given."""
_NAME = re.compile(r'-{0,2}[A-Za-z][\w.-]{0,60}')
_LISTS_OF_NAMES = frozenset({'columns', 'enum', 'fields', 'keys', 'names', 'required'})
"""Keys of lists whose items are names alone, so that two of them are no pair."""

VOCABULARY = frozenset(
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


class Walk:
    """One pass.

    :param names: keys that are secret beside those that read so.
    """

    def __init__(self, known: KnownValues, names: frozenset[str]) -> None:
        self._known = known
        self._names = names
        self._patterns = TextPatterns(is_secret=self._is_secret, hide=self._hide)
        self.hidden: list[Any] = []
        """What was hidden, as it was."""

    def value(self, value: Any, key: str | None = None, depth: int = 0) -> Any:
        """Return a clean copy of a value that stands under a key that is not secret."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            if key in _ID_KEYS and _ID.fullmatch(value):
                return value
            return self.text(value, depth)
        if isinstance(value, (int, float)):
            return REDACTED if self._known.has_number(value) else value
        if depth > DEPTH_MAX:
            return f'[nested deeper than {DEPTH_MAX} levels]'
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, key, depth)
        if isinstance(value, (set, frozenset)):
            return [self.value(item, key, depth + 1) for item in value]
        if isinstance(value, BaseModel):
            return self._mapping(dict(value), depth)
        if isinstance(value, (bytes, bytearray)):
            return self.text(_decoded(value), depth)
        return self.text(any_repr(value), depth)

    def text(self, text: str, depth: int = 0) -> str:
        """Return a clean text."""
        if text in VOCABULARY:
            return text
        clean = self._known.replace(text)
        if not self._names and not hinted(clean):
            return clean
        if clean.lstrip()[:1] in ('{', '[', '"') and depth <= DEPTH_MAX:
            with contextlib.suppress(ValueError, RecursionError):
                parsed = json.loads(clean)
                redacted = self.value(parsed, None, depth + 1)
                return clean if redacted == parsed else json.dumps(redacted, ensure_ascii=False)
        return self._patterns.clean(clean)

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        named = self._secret_name(mapping)
        for key, item in mapping.items():
            name = key if isinstance(key, str) else any_repr(key)
            if named and name.lower() in _VALUES and self._is_secret(named, item):
                cleaned = self._under_secret_key(item, named, depth)
            elif self._is_secret(name, item):
                cleaned = self._under_secret_key(item, name, depth)
            else:
                cleaned = self.value(item, name, depth + 1)
            name = self._known.replace(name, in_key=True)
            if hinted(name) and not is_secret_key(name):
                name = self._patterns.clean(name)
            while name in clean:
                name += ' '  # two keys that differed in a secret alone
            clean[name] = cleaned
        return clean

    def _secret_name(self, mapping: Mapping[Any, Any]) -> str | None:
        """Return the secret's name that an object like `{"name": ..., "value": ...}` gives its
        value.
        """
        for key, item in mapping.items():
            named = isinstance(key, str) and key.lower() in _NAMES and isinstance(item, str)
            if named and self._is_secret(item, ANY):
                return str(item)
        return None

    def _sequence(self, items: Sequence[Any], key: str | None, depth: int) -> list[Any]:
        """Clean a list, which may be a pair of a name and a value, or a command with options."""
        is_pair = len(items) == 2 and key not in _LISTS_OF_NAMES
        is_curl = 'curl' in items
        clean: list[Any] = []
        before: Any = None
        for item in items:
            option = isinstance(before, str) and _NAME.fullmatch(before) is not None
            if option and (is_pair or before.startswith('-')) and self._follows(before, item):
                clean.append(self._under_secret_key(item, before, depth))
            elif is_curl and before in ('-u', '--user') and isinstance(item, str) and ':' in item:
                user, _, password = item.partition(':')
                hidden = self._under_secret_key(password, before, depth)
                clean.append(f'{self.text(user, depth)}:{hidden}')
            else:
                clean.append(self.value(item, key, depth + 1))
            before = item
        return clean

    def _follows(self, name: str, item: Any) -> bool:
        is_option = isinstance(item, str) and item.startswith('--')
        return not is_option and self._is_secret(name.lstrip('-'), item)

    def _under_secret_key(self, item: Any, key: str, depth: int) -> Any:
        """Hide an item whole; that there is nothing stays visible."""
        if item is None or isinstance(item, bool) or item in ('', REDACTED, [], (), {}):
            return item
        if key.lower().endswith('tokens') and not isinstance(item, str):
            return self.value(item, None, depth + 1)  # counts of a model, not for a login
        if isinstance(item, str):
            self.text(item, depth)  # the password in a DSN may turn up without the rest of it
        return self._hide(item)

    def _is_secret(self, key: str, value: Any) -> bool:
        return key in self._names or is_secret_under(key, value)

    def _hide(self, item: Any) -> str:
        self.hidden.append(item)
        return REDACTED


def texts_in(item: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers, as texts, that a hidden item consists of."""
    if isinstance(item, (SecretStr, SecretBytes)):
        item = item.get_secret_value()
    if isinstance(item, (bytes, bytearray)):
        item = _decoded(item)
    if isinstance(item, Mapping):
        item = list(item.values())
    if isinstance(item, (list, tuple, set, frozenset)):
        for part in item if depth < DEPTH_MAX else ():
            yield from texts_in(part, depth + 1)
    elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
        yield text_of(item)


def any_repr(value: Any) -> str:
    """Return the repr of anybody's object, which may be broken or nested without end."""
    try:
        return repr(value)
    except Exception:
        return f'[{type(value).__name__}]'


def _decoded(value: bytes | bytearray) -> str:
    return value.decode('utf-8', 'backslashreplace')
