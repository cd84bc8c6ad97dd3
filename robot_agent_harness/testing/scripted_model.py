# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A scripted model written where it is used, that keeps what it was asked.

model = scripted(
    call('navigate_to_pose', x=1.0, y=2.0, purpose='look', expected_outcome='at the shelf'),
    response(when={'last_outcome': 'FAILED'}, say='It is not there.'),
)
"""

from __future__ import annotations

from typing import Any

from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.scripted import ScriptedClient


class RecordingScriptedClient(ScriptedClient):
    """A `ScriptedClient` that keeps every request, for a test to look at."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.requests: list[ModelRequest] = []
        """Every request so far, the oldest first."""

    async def decide(self, request: ModelRequest) -> Decision:
        """Keep the request and answer as the script says."""
        self.requests.append(request)
        return await super().decide(request)


def scripted(*responses: dict[str, Any]) -> RecordingScriptedClient:
    """Return a client that gives these responses, each as a script file would hold it.

    :raises ConfigurationError: a response breaks the format.
    """
    return RecordingScriptedClient.from_dict({'responses': list(responses)})


def call(name: str, /, *, say: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Return a response that calls one tool; `say` is its rationale, the rest are arguments."""
    return response(say=say, call={'name': name, 'arguments': arguments})


def text(say: str, /) -> dict[str, Any]:
    """Return a response that only talks."""
    return response(say=say)


def response(**fields: Any) -> dict[str, Any]:
    """Return a response with any fields of a script (`when`, `calls`, `error`, ...)."""
    return {key: value for key, value in fields.items() if value is not None}
