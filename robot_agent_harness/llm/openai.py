# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenAI and every server that speaks Chat Completions, through the official SDK.

Chat Completions and not OpenAI's newer Responses API, because vLLM, Ollama, llama.cpp and DeepSeek
speak it too. The answer is read from the response's own JSON: what those servers add to it, such
as the text of reasoning, is unknown to the SDK.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
import logging
from typing import Any

import anyio

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.chat_completions import conversation_body, decision_from, REFUSAL
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.endpoint import bounded_client, CONNECT_TIMEOUT_S, Endpoint
from robot_agent_harness.llm.profiles import (
    CHAT_FAMILIES,
    ModelProfile,
    profile_for,
    UNKNOWN,
    UNKNOWN_AT_OPENAI,
)

_log = logging.getLogger(__name__)

KEY_VARIABLE = 'OPENAI_API_KEY'
OPENAI_URL = 'https://api.openai.com/v1'
INSTALL_COMMAND = "pip install 'openai>=3,<4'"
NO_KEY = 'no-key-is-set'  # the SDK wants one; a local server does not look at it


class OpenAIClient:
    """A `ModelClient` that asks a model through Chat Completions.

    :param model: the model's name as the server knows it.
    :param api_key: sent to the server and nowhere else; None where the server wants none.
    :param base_url: where the server is, with `/v1`; by default OpenAI's own. Unlike the SDK,
        this does not look into `OPENAI_BASE_URL`: a key goes where the configuration says.
    :param max_tokens: the most tokens of an answer, reasoning included.
    :param timeout_s: the longest that a decision may take, in seconds, retries and waits included.
    :param profile: what the model takes; by default chosen by its name.
    :param thinking_budget_tokens: must be 0: the API knows no budget.
    :param effort: `low` to `max`, where the model takes it beside tools; by default its own.
    :param max_attempts: how often one decision is asked for when the API fails in passing.
    :param http_client: an `httpx2.AsyncClient` to use instead of the SDK's own.
    :param sleep: waits between attempts; a test may pass its own.
    :raises ConfigurationError: no SDK is installed, or the model does not take these settings.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        max_tokens: int = 4096,
        timeout_s: float = 60.0,
        profile: ModelProfile | None = None,
        thinking_budget_tokens: int = 0,
        effort: str | None = None,
        max_attempts: int = 3,
        http_client: Any = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        sdk = _import_sdk()
        self._model = model
        self._profile = profile or profile_for(
            model, CHAT_FAMILIES, UNKNOWN if base_url else UNKNOWN_AT_OPENAI
        )
        self._settings = _settings(
            self._profile, model, max_tokens, thinking_budget_tokens, effort
        )
        self._client = sdk.AsyncOpenAI(
            api_key=api_key or NO_KEY,
            base_url=base_url or OPENAI_URL,
            max_retries=0,
            timeout=sdk.Timeout(None, connect=CONNECT_TIMEOUT_S),
            http_client=http_client or bounded_client(sdk),
        )
        self._endpoint = Endpoint(
            sdk=sdk,
            sdk_error=sdk.OpenAIError,
            url=self._client.base_url,
            model=model,
            key=api_key,
            key_variable=KEY_VARIABLE,
            timeout_s=timeout_s,
            max_attempts=max_attempts,
            sleep=sleep,
        )

    @property
    def provider(self) -> str:
        """Return `openai`."""
        return 'openai'

    @property
    def model(self) -> str | None:
        """Return the model's name as it is asked for."""
        return self._model

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def decide(self, request: ModelRequest) -> Decision:
        """Ask for one decision; wait and ask again while that can help and time remains.

        :raises ModelError: no usable answer came; it says whether asking again may help.
        """
        return await self._endpoint.decide(lambda: self._send(request), self._read)

    async def _send(self, request: ModelRequest) -> bytes:
        conversation = conversation_body(
            request,
            force_tool=request.force_tool and self._profile.forced_tool_choice,
            parallel_switch=self._profile.parallel_switch,
        )
        create = self._client.chat.completions.with_raw_response.create
        response = await create(**self._settings, **conversation)
        answer: bytes = response.content
        return answer

    def _read(self, data: Mapping[str, Any]) -> Decision:
        decision = decision_from(data, provider=self.provider, model=self._model)
        if decision.stop_reason == REFUSAL:
            _log.warning('the model refused: %s', self._endpoint.safe(str(decision.rationale)))
        return decision


def _import_sdk() -> Any:
    try:
        import openai
    except ImportError as error:
        raise ConfigurationError(
            f"model.provider 'openai' needs the OpenAI SDK: {INSTALL_COMMAND}"
        ) from error
    return openai


def _settings(
    profile: ModelProfile, model: str, max_tokens: int, budget: int, effort: str | None
) -> dict[str, Any]:
    """Return the part of the request that is the same every time."""
    if budget:
        raise ConfigurationError(
            "model.thinking_budget_tokens must be 0 with model.provider 'openai', which knows no "
            'budget; where the model takes it, model.effort says how much it reasons'
        )
    if profile.max_output_tokens and max_tokens > profile.max_output_tokens:
        raise ConfigurationError(
            f'model.max_tokens must be at most {profile.max_output_tokens} for {model}, '
            f'is {max_tokens}'
        )
    settings: dict[str, Any] = {'model': model, profile.limit_name: max_tokens}
    if effort and effort not in profile.efforts:
        listed = ', '.join(profile.efforts) or 'none'
        raise ConfigurationError(
            f'model.effort {effort!r} is not taken by {model} beside tools; allowed: {listed}'
        )
    if effort or profile.fixed_effort:
        settings['reasoning_effort'] = effort or profile.fixed_effort
    return settings
