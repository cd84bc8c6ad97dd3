# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How large a model's answer may be, and how much of it is worked with and recorded.

Everything runs in one event loop, and what a robot says of an emergency stop waits while a text
is checked, freed of secrets and written down. No answer that is of use comes near these bounds.
They hold here, where the answers of all clients pass, those of a user's own client included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from robot_agent_harness.errors import ModelError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import Decision, ToolCall
from robot_agent_harness.llm.endpoint import ANSWER_MAX_BYTES
from robot_agent_harness.texts import cut

ANSWER_MAX_CHARS = ANSWER_MAX_BYTES
"""Most of an answer's texts, of its calls and of its raw content, each; no answer that a shipped
client reads to its end has more."""
NAME_MAX_CHARS = 64 * 1024
"""Most of a name or an id. Some gateways keep the signature of a thought in a call's id."""
ERROR_MAX_BYTES = 2000
"""Most of the text of a client's error."""
CALLS_MAX = 100
"""Most calls of one answer; each gets its result and its records."""
ARGUMENTS_MAX_CHARS = 64 * 1024
"""Most of all calls' arguments together. A call beyond it is not carried out."""
TEXT_MAX_CHARS = 128 * 1024
"""Most of the rationale, and of the thinking; what is longer keeps its beginning."""
RAW_MAX_CHARS = 384 * 1024
"""Most of the raw content that is recorded. Back to the model it goes whole."""
VALUE_CHARS = 50
"""What each value counts for beside its characters, since it costs time as well."""


def bounded(answer: object) -> Decision:
    """Return what a client answered, with texts and arguments that can be worked with.

    The raw content stays as it is: within a turn it goes back unchanged.

    :raises ModelError: the client answered with something else, with more than can be kept, or
        with more calls than anybody could answer.
    """
    if not isinstance(answer, Decision):
        kind = type(answer).__name__
        raise ModelError(f'the model client answered with {kind}, which is no Decision')
    decision, calls = answer, answer.tool_calls
    if len(calls) > CALLS_MAX:
        text = f'the answer holds {len(calls)} calls; the most is {CALLS_MAX}'
        raise ModelError(text, retryable=True)
    for part, values in {
        'texts': (decision.rationale, decision.thinking),
        'calls': [(call.id, call.name, call.arguments) for call in calls],
        'reasons against calls': [call.malformed for call in calls],
        'raw content': decision.raw_content,
        'usage': decision.usage,
    }.items():
        if _exceeds(values, ANSWER_MAX_CHARS):
            raise ModelError(f"the answer's {part} exceed {ANSWER_MAX_CHARS} characters")
    if any(_exceeds(name, NAME_MAX_CHARS) for name in _names(decision)):
        text = f'a name or an id in the answer exceeds {NAME_MAX_CHARS} characters'
        raise ModelError(text, retryable=True)
    room = _Room(ARGUMENTS_MAX_CHARS)
    return replace(
        decision,
        rationale=_text(decision.rationale),
        thinking=_text(decision.thinking),
        tool_calls=tuple(_call(call, room) for call in decision.tool_calls),
    )


def recorded_raw(decision: Decision) -> list[dict[str, Any]]:
    """Return the raw content as it is recorded: JSON, whole or with notes of what is missing."""
    room = _Room(RAW_MAX_CHARS)
    return [room.kept(jsonable(block)) for block in decision.raw_content if room.left > 0]


def bounded_error(error: ModelError) -> ModelError:
    """Return the error, with a text that can be recorded and told."""
    text = str(error)
    short = cut(text, ERROR_MAX_BYTES)
    if short == text:
        return error
    return ModelError(short, retryable=error.retryable, retry_after_s=error.retry_after_s)


def _names(decision: Decision) -> Iterator[str | None]:
    yield from (decision.stop_reason, decision.provider, decision.model, decision.response_id)
    for call in decision.tool_calls:
        yield from (call.id, call.name)


def _exceeds(value: Any, most: int) -> bool:
    """Return whether a value has more characters; each that is inside counts for one more.

    It is looked at no further than that, so that it may be nested without end or hold itself.
    """
    rest = [value]
    while rest and most >= 0:
        item = rest.pop()
        if isinstance(item, str):
            most -= len(item)
        elif item is None or isinstance(item, (int, float)):
            continue  # counted where it is inside; asked before what takes longer to tell
        elif isinstance(item, Mapping):
            most -= len(item)
            rest += [*item, *item.values()] if most >= 0 else []
        elif isinstance(item, (list, tuple, set, frozenset)):
            most -= len(item)
            rest += item if most >= 0 else []
    return most < 0


def _text(text: str | None) -> str | None:
    return text and str(_Room(TEXT_MAX_CHARS + VALUE_CHARS).kept(text))


def _call(call: ToolCall, room: _Room) -> ToolCall:
    kept = room.kept(jsonable(call.arguments))
    if room.left >= 0:
        return call
    too_long = f'the arguments of all calls together exceed {ARGUMENTS_MAX_CHARS} characters'
    return replace(call, arguments=[kept], malformed=call.malformed or too_long)


@dataclass(slots=True)
class _Room:
    """How many characters there is room for yet."""

    left: int

    def kept(self, value: Any) -> Any:
        """Return a JSON value, or of one that is too large the beginning."""
        self.left -= VALUE_CHARS
        if isinstance(value, str):
            beginning = value[: max(0, self.left)]
            self.left -= len(value)
            missing = len(value) - len(beginning)
            return f'{beginning}[{missing} characters left out]' if missing else value
        if isinstance(value, Mapping):
            told: dict[str, Any] = {}
            for number, (key, item) in enumerate(value.items()):
                if self.left <= 0:
                    return {**told, 'left_out': f'[{len(value) - number} members left out]'}
                self.left -= len(key)
                told[key] = self.kept(item)
            return told
        if isinstance(value, list):
            items: list[Any] = []
            for item in value:
                if self.left <= 0:
                    return [*items, f'[{len(value) - len(items)} items left out]']
                items.append(self.kept(item))
            return items
        return value
