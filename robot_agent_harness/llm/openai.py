# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenAI and every server that speaks Chat Completions, through the official SDK.

Chat Completions and not OpenAI's newer Responses API, because vLLM, Ollama, llama.cpp and DeepSeek
speak it too. The answer is read from the response's own JSON: what those servers add to it, such
as the text of reasoning, is unknown to the SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
from typing import Any

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.chat_completions import conversation_body, decision_from, REFUSAL
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.profiles import (
    CHAT_FAMILIES,
    ModelProfile,
    profile_for,
    UNKNOWN,
    UNKNOWN_AT_OPENAI,
)
from robot_agent_harness.llm.sdk_client import SdkClient

_log = logging.getLogger(__name__)

KEY_VARIABLE = 'OPENAI_API_KEY'
OPENAI_URL = 'https://api.openai.com/v1'
INSTALL_COMMAND = "pip install 'openai>=3,<4'"
NO_KEY = 'no-key-is-set'  # the SDK wants one; a local server does not look at it


class OpenAIClient(SdkClient):
    """A `ModelClient` that asks a model through Chat Completions.

    The parameters are those of :class:`SdkClient`, and of these:

    :param base_url: where the server is, with `/v1`; by default OpenAI's own. Unlike the SDK,
        this does not look into `OPENAI_BASE_URL`: a key goes where the configuration says.
    :param thinking_budget_tokens: must be 0: the API knows no budget.
    :param effort: taken beside tools, or not at all.
    """

    provider = 'openai'
    key_variable = KEY_VARIABLE

    def _sdk(self) -> Any:
        try:
            import openai
        except ImportError as error:
            raise ConfigurationError(
                f"model.provider 'openai' needs the OpenAI SDK: {INSTALL_COMMAND}"
            ) from error
        return openai

    def _known_profile(self, model: str, base_url: str | None) -> ModelProfile:
        return profile_for(model, CHAT_FAMILIES, UNKNOWN if base_url else UNKNOWN_AT_OPENAI)

    def _fixed_settings(
        self, max_tokens: int, thinking_budget_tokens: int, effort: str | None
    ) -> dict[str, Any]:
        return _settings(self._profile, self._model, max_tokens, thinking_budget_tokens, effort)

    def _connected(
        self, sdk: Any, api_key: str | None, base_url: str | None, **options: Any
    ) -> tuple[Any, type[Exception]]:
        client = sdk.AsyncOpenAI(
            api_key=api_key or NO_KEY, base_url=base_url or OPENAI_URL, **options
        )
        return client, sdk.OpenAIError

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
