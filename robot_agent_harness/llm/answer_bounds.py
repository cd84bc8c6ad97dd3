# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How much of a model's answer is worked with and recorded.

Everything runs in one event loop, and what a robot says of an emergency stop waits while a text
is checked, freed of secrets and written down. No answer that is of use comes near these bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from robot_agent_harness.errors import ModelError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import Decision, ToolCall

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


def bounded(decision: Decision) -> Decision:
    """Return the decision with texts and arguments that can be worked with.

    The raw content stays as it is: within a turn it goes back unchanged.

    :raises ModelError: there are more calls than anybody could answer.
    """
    if len(decision.tool_calls) > CALLS_MAX:
        text = f'the answer holds {len(decision.tool_calls)} calls; the most is {CALLS_MAX}'
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
