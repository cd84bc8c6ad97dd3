# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Keeps results small: an image or a long text becomes an artifact, and the result refers to it.

A result is recorded in one row, replayed to a model in every further round of its turn and sent to
clients. One camera picture as base64 would fill all three.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
import json
import logging
import re
from typing import Any

from pydantic import BaseModel, ValidationError

from robot_agent_harness.jsonable import canonical_json, jsonable
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.world.artifacts import ArtifactStore

logger = logging.getLogger(__name__)

RESULT_MAX_BYTES = 60 * 1024
"""Of a structured result, as ASCII JSON: with what a provider's message puts around it, a model is
given less than 64 KiB."""
TEXT_MAX_CHARS = 16 * 1024
"""Longest text that stays in a result."""
MESSAGE_MAX_CHARS = 4 * 1024
"""Longest message; what is longer keeps its beginning."""
BEGINNING_CHARS = 400
"""How much of a text that became an artifact is still shown."""
REFERENCE_CHARS = 1500
"""What a reference takes at most; a smaller member gains nothing by becoming one."""
DEPTH_MAX = 64
"""Deepest nesting of a result."""

_KEPT = frozenset({'action_id', 'message', 'reason', 'snapshot_id', 'state', 'status'})
"""Keys that callers branch on: small, and never replaced."""
_TYPE_KEYS = ('media_type', 'mime_type', 'mimeType', 'mediaType', 'content_type')
_MAGIC = {
    b'\x89PNG\r\n': 'image/png',
    b'\xff\xd8\xff': 'image/jpeg',
    b'GIF8': 'image/gif',
    b'RIFF': 'image/webp',
    b'%PDF': 'application/pdf',
}
_DATA_URL = re.compile(r'data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,')
_BINARY_KINDS = ('image', 'audio', 'video', 'application')
Clean = Callable[[Any], Any]


@dataclass(slots=True)
class _Found:
    """What one result holds that does not belong into it."""

    references: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By top-level key."""


class ResultBounds:
    """Makes results small and plain JSON.

    :param store: where what is too large goes.
    :param redactor: takes secrets out of what is kept.
    """

    def __init__(self, store: ArtifactStore, redactor: Redactor) -> None:
        self._store = store
        self._redactor = redactor

    async def fit(
        self, result: ToolResult, *, output: type[BaseModel], scope: str | None
    ) -> ToolResult:
        """Return the result without secrets, JSON-ready and bounded; mostly it is so already.

        :param output: what the structured result must satisfy.
        :param scope: the id of the call.
        """
        clean = partial(self._redactor.value, scope=scope)
        text = _fitting(result)
        if text is not None:
            if not (self._redactor.suspects(text) or self._redactor.names_of(scope)):
                return result
            return ToolResult(result.status, clean(result.message), clean(result.data))
        if _weight(result) <= RESULT_MAX_BYTES:
            return self._fit(result, clean, output)
        # Hashing and syncing megabytes must not stop the loop.
        return await asyncio.to_thread(self._fit, result, clean, output)

    def _fit(self, result: ToolResult, clean: Clean, output: type[BaseModel]) -> ToolResult:
        found = _Found()
        data: dict[str, Any] = {}
        for key, item in result.data.items():
            name = _utf8(str(key))
            name = f'{name}_' if name in ('status', 'message') else name
            data[name] = self._slim(item, name, '', found, clean, 0)
        data = clean(jsonable(data, depth=DEPTH_MAX))
        message = _utf8(str(result.message))
        if len(message) > MESSAGE_MAX_CHARS:
            cut = clean(message)
            reference = self._put(cut.encode(), 'text/plain; charset=utf-8')
            found.references['message'] = [reference]
            data['artifacts'] = {'message': [reference]}
            message = f'{cut[:MESSAGE_MAX_CHARS]}... (cut; {len(cut)} characters in all)'
        else:
            message = clean(message)
        self._shrink(data, message, found)
        fitted = ToolResult(result.status, message, data)
        return self._satisfying(output, fitted, found) if found.references else fitted

    def _slim(
        self, value: Any, top: str, media_type: str, found: _Found, clean: Clean, depth: int
    ) -> Any:
        """Return the value with each large text and all bytes in it replaced by a reference."""
        if isinstance(value, str):
            if len(value) <= TEXT_MAX_CHARS:
                return _utf8(value)
            binary = _decoded(value, media_type)
            if binary is not None:
                data, kind = binary
                return self._refer(top, found, _without_secrets(data, clean), kind)
            text = clean(_utf8(value))
            return self._refer(top, found, text.encode(), 'text/plain; charset=utf-8', text)
        if isinstance(value, (bytes, bytearray, memoryview)):
            data = _without_secrets(bytes(value), clean)
            return self._refer(top, found, data, media_type or _sniffed(data))
        if isinstance(value, BaseModel):
            value = dict(value)
        if depth >= DEPTH_MAX:
            return jsonable(value, depth=0)
        if isinstance(value, Mapping):
            named = next((value[k] for k in _TYPE_KEYS if isinstance(value.get(k), str)), '')
            return {
                _utf8(str(key)): self._slim(item, top, named, found, clean, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._slim(item, top, media_type, found, clean, depth + 1) for item in value]
        plain = jsonable(value, depth=0)
        return plain if isinstance(plain, (bool, int, float, type(None))) else _utf8(str(plain))

    def _shrink(self, data: dict[str, Any], message: str, found: _Found) -> None:
        """Replace the largest members until the rest is small enough."""
        left = (
            RESULT_MAX_BYTES - len(canonical_json(message)) - len('{"status":"","message":}') - 40
        )
        sizes = {key: len(canonical_json(item)) + len(key) + 4 for key, item in data.items()}
        candidates = sorted(sizes.keys() - _KEPT, key=lambda key: -sizes[key])
        for key in candidates:
            if sum(sizes.values()) <= left or sizes[key] <= REFERENCE_CHARS:
                break
            text = canonical_json(data[key])
            data[key] = self._refer(key, found, text.encode(), 'application/json', text)
            sizes[key] = len(canonical_json(data[key])) + len(key) + 4
        if sum(sizes.values()) > left:
            # Thousands of small members: none is worth keeping more than another.
            rest = {key: data.pop(key) for key in data.keys() - _KEPT}
            text = canonical_json(rest)
            data['rest'] = self._refer('rest', found, text.encode(), 'application/json', text)

    def _satisfying(
        self, output: type[BaseModel], result: ToolResult, found: _Found
    ) -> ToolResult:
        """Move references beside the members that they do not fit into."""
        try:
            output.model_validate(result.structured)
        except ValidationError as error:
            data = dict(result.data)
            moved = dict(data.get('artifacts', {}))
            for key in {str(finding['loc'][0]) for finding in error.errors() if finding['loc']}:
                if key in found.references and data.pop(key, None) is not None:
                    moved[key] = found.references[key]
            return ToolResult(result.status, result.message, {**data, 'artifacts': moved})
        return result

    def _refer(
        self, top: str, found: _Found, data: bytes, media_type: str, text: str | None = None
    ) -> dict[str, Any]:
        reference = self._put(data, media_type)
        if text is not None:
            reference['beginning'] = text[:BEGINNING_CHARS]
        found.references.setdefault(top, []).append(reference)
        return reference

    def _put(self, data: bytes, media_type: str) -> dict[str, Any]:
        try:
            uri: str | None = self._store.put(data, media_type=media_type).uri
        except OSError as error:
            # The call was made: its result stands, without what the disk does not take.
            logger.error('an artifact of %d bytes could not be stored: %s', len(data), error)
            uri = None
        return {
            'uri': uri,
            'media_type': media_type,
            'size_bytes': len(data),
            'sha256': sha256(data).hexdigest(),
        }


def _fitting(result: ToolResult) -> str | None:
    """Return the structured result's JSON if it can stay as it is."""
    data = result.data
    if len(result.message) > MESSAGE_MAX_CHARS or 'status' in data or 'message' in data:
        return None
    try:
        # Not canonical: what a skill put into it may be a float that is not finite.
        text = json.dumps(result.structured, separators=(',', ':'), allow_nan=False)
        if len(text) > RESULT_MAX_BYTES or not all(type(key) is str for key in data):
            return None
        if '\\ud' in text:  # half of a pair, or a lone surrogate, which UTF-8 cannot encode
            json.dumps(result.structured, ensure_ascii=False).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return text


def _weight(result: ToolResult) -> int:
    try:
        return len(repr(result))
    except Exception:
        return RESULT_MAX_BYTES + 1  # anybody's object, or nested without end


def _without_secrets(data: bytes, clean: Clean) -> bytes:
    """Return bytes that are a text without the secrets in it, and others as they are."""
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError:
        return data
    return str(clean(text)).encode('utf-8')


def _utf8(text: str) -> str:
    """Return the text with what UTF-8 cannot encode written as an escape."""
    if text.isascii():
        return text
    return text.encode('utf-8', 'backslashreplace').decode('utf-8')


def _decoded(text: str, media_type: str) -> tuple[bytes, str] | None:
    """Return the bytes of a base64 text and their type, if it is certain to be one."""
    url = _DATA_URL.match(text[:200])
    body = text[url.end() :] if url else text
    try:
        data = base64.b64decode(''.join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    kind = (url and url[1]) or media_type or _sniffed(data)
    certain = bool(url) or kind.split('/')[0] in _BINARY_KINDS
    if not certain or (kind == _UNKNOWN_TYPE and not url and not media_type):
        return None
    return data, kind


_UNKNOWN_TYPE = 'application/octet-stream'


def _sniffed(data: bytes) -> str:
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), _UNKNOWN_TYPE)
