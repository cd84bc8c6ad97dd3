# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Claude, through the official SDK and the Messages API.

The answer is read from the response's own JSON, so that fields newer than the SDK survive the way
back.
"""

from __future__ import annotations

from collections.abc import Mapping
import logging
from typing import Any

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.messages_api import (
    began_without_thinking,
    conversation_body,
    decision_from,
)
from robot_agent_harness.llm.profiles import ModelProfile, profile_for
from robot_agent_harness.llm.sdk_client import SdkClient

_log = logging.getLogger(__name__)

KEY_VARIABLE = 'ANTHROPIC_API_KEY'
URL_VARIABLE, ANTHROPIC_URL = 'ANTHROPIC_BASE_URL', 'https://api.anthropic.com'
"""Where the SDK asks, if it is not told otherwise."""
INSTALL_COMMAND = "pip install 'anthropic>=2,<3'"
SMALLEST_BUDGET_TOKENS = 1024  # the API refuses less
ANSWER_TOKENS = 1024  # room for the answer when the thinking budget takes all of max_tokens


class AnthropicClient(SdkClient):
    """A `ModelClient` that asks Claude.

    The parameters are those of :class:`SdkClient`, and of these:

    :param api_key: it cannot do without one.
    :param base_url: by default the vendor's, or what the SDK finds in `ANTHROPIC_BASE_URL`.
    :param max_tokens: raised above the thinking budget where that is larger.
    :param thinking_budget_tokens: 0 = off as far as the model allows; a model that decides itself
        how much to think ignores the number.
    """

    provider = 'anthropic'
    key_variable = KEY_VARIABLE

    def _sdk(self) -> Any:
        try:
            import anthropic
        except ImportError as error:
            raise ConfigurationError(
                f"model.provider 'anthropic' needs the Anthropic SDK: {INSTALL_COMMAND}"
            ) from error
        return anthropic

    def _known_profile(self, model: str, base_url: str | None) -> ModelProfile:
        return profile_for(model)

    def _fixed_settings(
        self, max_tokens: int, thinking_budget_tokens: int, effort: str | None
    ) -> dict[str, Any]:
        return _settings(self._profile, self._model, max_tokens, thinking_budget_tokens, effort)

    def _connected(
        self, sdk: Any, api_key: str | None, base_url: str | None, **options: Any
    ) -> tuple[Any, type[Exception]]:
        if not api_key:
            # The SDK would look for one of its own, which no error text would then be freed of.
            raise ConfigurationError('AnthropicClient needs api_key')
        client = sdk.AsyncAnthropic(api_key=api_key, base_url=base_url, **options)
        return client, sdk.AnthropicError

    async def _send(self, request: ModelRequest) -> bytes:
        body = self._body(request)
        response = await self._client.messages.with_raw_response.create(**body)
        answer: bytes = await response.read()
        return answer

    def _read(self, data: Mapping[str, Any]) -> Decision:
        decision = decision_from(data, provider=self.provider, model=self._model)
        if decision.stop_reason == 'refusal':
            details = self._endpoint.safe(str(data.get('stop_details')))
            _log.warning('the model refused: %s', details)
        return decision

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        profile = self._profile
        forced = request.force_tool and profile.forced_tool_choice and bool(request.tools)
        calm = forced or (
            profile.thinking == 'budget' and began_without_thinking(request.messages)
        )
        settings = _without_thinking(profile, self._settings) if calm else self._settings
        return {**settings, **conversation_body(request, force_tool=forced)}


def _settings(
    profile: ModelProfile, model: str, max_tokens: int, budget: int, effort: str | None
) -> dict[str, Any]:
    """Return the part of the request that is the same every time.

    One thinking configuration wherever it can be: changing it also loses the prompt cache.
    """
    settings: dict[str, Any] = {'model': model, 'max_tokens': max_tokens}
    if budget and profile.thinking == 'none':
        raise ConfigurationError(
            f'model.thinking_budget_tokens must be 0: {model} is not known to think'
        )
    if budget and max_tokens <= budget:
        settings['max_tokens'] = budget + ANSWER_TOKENS
    if profile.max_output_tokens and settings['max_tokens'] > profile.max_output_tokens:
        raise ConfigurationError(
            f'model.max_tokens (with the thinking budget) must be at most '
            f'{profile.max_output_tokens} for {model}, is {settings["max_tokens"]}'
        )
    if profile.thinking == 'adaptive' and (budget or profile.thinking_off == 'never'):
        # Newer models leave the text of thinking out unless it is asked for, and their words
        # between tool calls with it.
        settings['thinking'] = {'type': 'adaptive', 'display': 'summarized'}
    elif budget:
        if budget < SMALLEST_BUDGET_TOKENS:
            raise ConfigurationError(
                f'model.thinking_budget_tokens must be 0 or at least {SMALLEST_BUDGET_TOKENS}, '
                f'is {budget}'
            )
        settings['thinking'] = {'type': 'enabled', 'budget_tokens': budget}
    elif profile.thinking_off in ('disabled', 'between_tools'):
        settings['thinking'] = {'type': profile.thinking_off}
    if effort:
        allowed = profile.efforts if budget else profile.efforts_with_thinking_off
        if effort not in allowed:
            listed = ', '.join(allowed) or 'none'
            raise ConfigurationError(
                f'model.effort {effort!r} is not taken by {model}'
                f'{"" if budget else " with model.thinking_budget_tokens 0"}; allowed: {listed}'
            )
        settings['output_config'] = {'effort': effort}
    return settings


def _without_thinking(profile: ModelProfile, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a request that is to be answered without thinking."""
    off = {key: value for key, value in settings.items() if key != 'thinking'}
    if profile.thinking_off in ('disabled', 'between_tools'):
        off['thinking'] = {'type': profile.thinking_off}
    allowed = profile.efforts_with_thinking_off
    if 'output_config' in settings and settings['output_config']['effort'] not in allowed:
        off['output_config'] = {'effort': allowed[-1]}
    return off
