# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The seam between the loop and a language model: one request, one decision.

Within a turn the conversation is append-only: the assistant's content goes back exactly as it came
(providers sign their reasoning blocks and refuse a rebuilt history). Between turns nothing is
carried over but what the harness itself puts into the next prompt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of the arguments, with `purpose` and `expected_outcome` where the loop adds
    them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call in a decision."""

    id: str
    """The provider's id: pairs a result with its call inside one turn, and nothing else."""
    name: str
    arguments: Any
    """As received: a dict when the provider delivered a JSON object."""
    malformed: str | None = None
    """Why the arguments cannot be used, for instance because the response was cut; else None."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of the model."""

    tool_calls: tuple[ToolCall, ...]
    rationale: str | None
    """All text blocks joined; None when there was no text."""
    thinking: str | None
    stop_reason: str | None
    """`tool_use`, `end_turn`, `max_tokens`, `refusal`, ... in the provider's own word."""
    usage: dict[str, int]
    """`input_tokens` and `output_tokens`, and what else the provider counts."""
    provider: str
    model: str | None
    response_id: str | None
    raw_content: tuple[dict[str, Any], ...]
    """The content blocks exactly as received."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Text from the harness."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An earlier decision of the same turn, replayed verbatim."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolResultBlock:
    """The one result of one call, as the model reads it."""

    tool_call_id: str
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The results of every call of the decision before, in its order."""

    results: tuple[ToolResultBlock, ...]
    text: str | None = None
    """What the harness adds after the results, if anything."""


Message = UserMessage | AssistantMessage | ToolResults


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What the model is asked."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    metadata: dict[str, Any] = field(default_factory=dict)
    """What a scripted model may branch on: `step`, `trigger`, `last_outcome` (its state or
    None)."""
    force_tool: bool = False
    """Whether the answer must call a tool: its last one called none. A client forces that where
    its model takes it, without thinking where the two exclude each other, and else asks as ever.
    """


class ModelClient(Protocol):
    """Asks one model; holds no conversation of its own."""

    @property
    def provider(self) -> str:
        """`scripted`, `anthropic`, ... (OpenTelemetry `gen_ai.provider.name`)."""
        ...

    @property
    def model(self) -> str | None:
        """The model's name, where there is one."""
        ...

    async def decide(self, request: ModelRequest) -> Decision:
        """Return the model's answer.

        :raises ModelError: it could not be asked or answered nothing usable; says whether asking
            again may help.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
