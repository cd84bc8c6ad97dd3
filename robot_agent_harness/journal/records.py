# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From an event to the values of its row: serialised once, and never refused for what it holds.

A fact that happened must be recordable whatever a model or client put into it. What JSON, UTF-8
or SQLite cannot hold (NaN, lone surrogates, foreign objects, endless nesting) is replaced by text;
what is longer than a journal should carry is shortened and says so, with a digest of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from robot_agent_harness.clock import Clock
from robot_agent_harness.events import Correlation, Event, SCHEMA_VERSION
from robot_agent_harness.jsonable import canonical_json, jsonable, quick_json

MAX_PAYLOAD_CHARS = 4 * 1024 * 1024
"""Above this many characters of JSON, long texts in the payload are shortened."""

MAX_TEXT_CHARS = 32 * 1024
"""What a shortened text keeps of its beginning, in characters."""

MAX_DEPTH = 100
"""Levels of nesting that are kept when a payload is too deep to serialise as it is."""

MAX_INT_BITS = 4096
"""Integers beyond this become text: Python refuses to print some of them."""

_INT64 = range(-(2**63), 2**63)


class Row(NamedTuple):
    """The values of a row but for `seq` and `chain`, which only the writer knows."""

    schema_version: int
    type: str
    wall_time_ns: int
    ros_time_ns: int | None
    mission_id: str | None
    turn_id: str | None
    tool_call_id: str | None
    action_id: str | None
    snapshot_id: str | None
    payload: str


def prepare(event: Event, ids: Correlation, clock: Clock) -> Row:
    """Return the row of an event that happens now."""
    return row_of(event, ids, exact_text(event), clock)


def row_of(event: Event, ids: Correlation, text: str | None, clock: Clock) -> Row:
    """Return the row of an event that happens now.

    :param text: what :func:`exact_text` makes of it.
    """
    wall_ns, ros_ns = clock.wall_ns(), clock.ros_ns()
    return Row(
        SCHEMA_VERSION,
        event.type.value,
        wall_ns if wall_ns in _INT64 else _INT64[0] if wall_ns < 0 else _INT64[-1],
        ros_ns if ros_ns in _INT64 else None,
        storable(ids.mission_id),
        storable(ids.turn_id),
        storable(ids.tool_call_id),
        storable(ids.action_id),
        storable(ids.snapshot_id),
        _kept(event, text),
    )


def payload_text(event: Event) -> str:
    """Return the canonical JSON of an event's payload, whatever the event holds."""
    return _kept(event, exact_text(event))


def exact_text(event: Event) -> str | None:
    """Return the canonical JSON of an event's payload, however long; None where JSON cannot hold
    it.
    """
    try:
        return quick_json(vars(event))
    except TypeError:
        return _other_text(event)


def _kept(event: Event, text: str | None) -> str:
    """Return what is kept of a payload: its exact text, or that of the nearest one that can be."""
    if text is not None and len(text) <= MAX_PAYLOAD_CHARS:
        return text
    fields = {name: getattr(event, name) for name in type(event).model_fields}
    text = canonical_json(_reduced(fields, MAX_PAYLOAD_CHARS))
    if len(text) > MAX_PAYLOAD_CHARS:
        text = canonical_json(_reduced(fields, MAX_TEXT_CHARS))
    return text


def _other_text(event: Event) -> str | None:
    """Return the same of what is less plain; None where JSON cannot hold it."""
    try:
        text = canonical_json(to_jsonable_python(event, inf_nan_mode='null'))
    except (ValueError, TypeError, RecursionError):
        return None
    # What starts the escape of a surrogate: half of a valid pair, or a lone one that SQLite's JSON
    # functions would turn into invalid UTF-8.
    return None if '\\ud' in text else text


def storable(text: str | None) -> str | None:
    """Return the text with what UTF-8 cannot encode written as an escape."""
    if text is None or text.isascii():
        return text
    return text.encode('utf-8', 'backslashreplace').decode('utf-8')


def _reduced(value: Any, max_text: int, depth: int = 0) -> Any:
    """Return the nearest value that JSON can hold."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _shortened(str(storable(str(value))), max_text)
    if isinstance(value, int):
        bits = value.bit_length()
        return int(value) if bits <= MAX_INT_BITS else f'[an integer of {bits} bits]'
    if isinstance(value, float):
        return jsonable(float(value))
    if depth >= MAX_DEPTH:
        return f'[nested deeper than {MAX_DEPTH} levels]'
    if isinstance(value, Mapping):
        return {
            _reduced(str(key), max_text): _reduced(item, max_text, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_reduced(item, max_text, depth + 1) for item in value]
    return _shortened(str(storable(repr(value))), max_text)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode('utf-8')).hexdigest()
    return f'{text[:limit]}[shortened: {len(text)} characters, sha256 {digest}]'
