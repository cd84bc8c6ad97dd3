# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What every wire format has in common: which calls of an answer are usable, and what may go back.

A provider may send anything. What is not understood is marked, never guessed: a call that is cut,
has no name or shares its id is recorded, gets its one result, and is not carried out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import re
from typing import Any

from robot_agent_harness.errors import ModelError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import AssistantMessage, Message, ToolCall, ToolResults
from robot_agent_harness.llm.profiles import CUT_STOP_REASONS

_NAME_MAX = 64  # characters; the shortest limit of the providers
_NOT_IN_A_NAME = re.compile(r'[^a-zA-Z0-9_-]')


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A tool call as the provider sent it, of whatever types."""

    id: Any
    name: Any
    arguments: Any
    """A dict if a JSON object was delivered, else what came."""


def checked_calls(
    found: Sequence[FoundCall], stop_reason: str | None, complete: frozenset[str]
) -> tuple[ToolCall, ...]:
    """Return the calls, each under an id of its own and marked where it cannot be used.

    :param complete: the stop reasons after which an answer is whole.
    """
    times = Counter(call.id for call in found if isinstance(call.id, str))
    used: set[str] = set()
    calls = []
    for number, call in enumerate(found, 1):
        malformed = None
        if stop_reason in CUT_STOP_REASONS:
            malformed = f'truncated: the response was cut ({stop_reason})'
        elif stop_reason not in complete:
            malformed = f'not a complete response (stop reason {stop_reason})'
        elif not isinstance(call.arguments, dict):
            malformed = 'the arguments are not a JSON object'
        elif not is_plain(call.arguments):
            malformed = 'the arguments hold a number beyond all limits, or are nested too deep'
        elif not (_is_text(call.name) and _is_text(call.id)):
            malformed = 'the call has no name or no id'
        elif times[call.id] > 1:
            malformed = 'another call of the same response has its id'
        call_id = sendable(call.id) if _is_text(call.id) else f'call_{number}'
        while call_id in used:
            call_id = f'{call_id}_{number}'
        used.add(call_id)
        calls.append(ToolCall(call_id, str(call.name), call.arguments, malformed))
    return tuple(calls)


def is_plain(value: Any) -> bool:
    """Return whether a value is JSON that can be sent on and recorded as it is."""
    return bool(jsonable(value) == value)


def check_plain(parts: Iterable[Any]) -> None:
    """Check that parts of an answer can be sent back as they came.

    :raises ModelError: one cannot.
    """
    if not all(map(is_plain, parts)):
        text = 'the answer holds a number beyond all limits, or is nested too deep'
        raise ModelError(text, retryable=True)


def check_results(conversation: Sequence[Message]) -> None:
    """Check that each tool call of an earlier decision has its one result, directly after it.

    :raises ModelError: one has none or several.
    """
    open_calls: list[str] = []
    for message in conversation:
        results = message.results if isinstance(message, ToolResults) else ()
        if sorted(result.tool_call_id for result in results) != sorted(open_calls):
            raise ModelError(
                f'each tool call needs one result: calls {open_calls}, '
                f'results {[result.tool_call_id for result in results]}'
            )
        open_calls = (
            [call.id for call in message.decision.tool_calls]
            if isinstance(message, AssistantMessage)
            else []
        )
    if open_calls:
        raise ModelError(f'tool calls without a result: {open_calls}')


def counts(usage: Any) -> dict[str, int]:
    """Return every count of a usage object, with the names of nested ones joined by a dot."""
    found: dict[str, int] = {}
    for name, value in usage.items() if isinstance(usage, dict) else ():
        nested = value.items() if isinstance(value, dict) else ()
        for key, count in [(name, value), *((f'{name}.{part}', item) for part, item in nested)]:
            if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                found[key] = count
    return found


def joined(texts: Sequence[Any]) -> str | None:
    """Return what is text and not blank, a line each; None if nothing is."""
    return '\n'.join(text for text in texts if isinstance(text, str) and text.strip()) or None


def text_or_none(value: Any) -> str | None:
    """Return a text, or None for anything else and for an empty one."""
    return value if _is_text(value) else None


def callable_name(name: str) -> str:
    """Return a tool's name as every API takes one back, also if the model made it up."""
    return _NOT_IN_A_NAME.sub('_', name)[:_NAME_MAX] or 'unnamed'


def sendable(value: Any) -> Any:
    """Return JSON-ready data that has a UTF-8 form; all but a lone surrogate stays as it is.

    A tool or a model may return one, and it would make every attempt to send it fail.
    """
    if isinstance(value, str):
        return value.encode('utf-8', 'replace').decode()
    if isinstance(value, Mapping):
        return {sendable(key): sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sendable(item) for item in value]
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
