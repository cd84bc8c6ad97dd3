# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The Messages API in process: raw answers in, and every request held against the API's rules.

On virtual time there are no sockets; the translation to and from the API's JSON is the real one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_agent_harness.errors import ModelError
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.messages_api import conversation_body, decision_from
from robot_agent_harness.testing.messages_api import Sent
from robot_agent_harness.testing.messages_api_rules import broken_rules

OVERLOADED = ModelError('529 overloaded_error: Overloaded', retryable=True)


def said(*content: dict[str, Any], stop_reason: str | None = None) -> dict[str, Any]:
    """Return a message of the API."""
    calls = any(block['type'] == 'tool_use' for block in content)
    return {
        'content': list(content),
        'stop_reason': stop_reason or ('tool_use' if calls else 'end_turn'),
        'usage': {'input_tokens': 100, 'output_tokens': 20},
    }


def used(name: str, arguments: Any = None, *, id: str) -> dict[str, Any]:
    """Return a tool call."""
    return {'type': 'tool_use', 'id': id, 'name': name, 'input': arguments or {}}


def words(text: str) -> dict[str, Any]:
    """Return a text block."""
    return {'type': 'text', 'text': text}


class RawModel:
    """Gives these answers in their order, raises those that are errors, and then only says so.

    What a request breaks of the API's rules is in `problems`, and the API would have refused.
    """

    provider = 'anthropic'
    model = 'claude-test'

    def __init__(self, answers: Iterable[Any] = ()) -> None:
        self.answers = list(answers)
        self.bodies: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self._sent: list[Sent] = []

    async def decide(self, request: ModelRequest) -> Decision:
        """Check the request and give the next answer."""
        body = {'model': self.model, 'max_tokens': 1000, **conversation_body(request)}
        self.problems += broken_rules(body, None, self._sent)
        self.bodies.append(body)
        answer = await self.next_answer()
        if isinstance(answer, Exception):
            raise answer
        self._sent.append(Sent(answer['content'], body))
        return decision_from(answer, provider=self.provider, model=self.model)

    async def next_answer(self) -> Any:
        """Return what comes next."""
        return self.answers.pop(0) if self.answers else said(words('That was all.'))

    async def close(self) -> None:
        """Do nothing."""
