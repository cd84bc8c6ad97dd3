# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Claude, through the official SDK and the Messages API.

The answer is read from the response's own JSON, so that fields newer than the SDK survive the way
back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
import logging
from typing import Any

import anyio

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.endpoint import bounded_client, CONNECT_TIMEOUT_S, Endpoint
from robot_agent_harness.llm.messages_api import (
    began_without_thinking,
    conversation_body,
    decision_from,
)
from robot_agent_harness.llm.profiles import ModelProfile, profile_for

_log = logging.getLogger(__name__)

KEY_VARIABLE = 'ANTHROPIC_API_KEY'
URL_VARIABLE, ANTHROPIC_URL = 'ANTHROPIC_BASE_URL', 'https://api.anthropic.com'
"""Where the SDK asks, if it is not told otherwise."""
INSTALL_COMMAND = "pip install 'anthropic>=2,<3'"
SMALLEST_BUDGET_TOKENS = 1024  # the API refuses less
ANSWER_TOKENS = 1024  # room for the answer when the thinking budget takes all of max_tokens


class AnthropicClient:
    """A `ModelClient` that asks Claude.

    :param model: the model's name, for instance `claude-sonnet-5-5`.
    :param api_key: sent to the API and nowhere else.
    :param base_url: another endpoint that speaks the Messages API; by default the vendor's, or
        what the SDK finds in `ANTHROPIC_BASE_URL`.
    :param max_tokens: the most tokens of an answer, thinking included; raised above the thinking
        budget where that is larger.
    :param timeout_s: the longest that a decision may take, in seconds, retries and waits included.
    :param profile: what the model takes; by default chosen by its name.
    :param thinking_budget_tokens: 0 = off as far as the model allows; a model that decides itself
        how much to think ignores the number.
    :param effort: `low` to `max`, where the model takes it; by default the model's own.
    :param max_attempts: how often one decision is asked for when the API fails in passing.
    :param http_client: an `httpx2.AsyncClient` to use instead of the SDK's own.
    :param sleep: waits between attempts; a test may pass its own.
    :raises ConfigurationError: no SDK is installed, or the model does not take these settings.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
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
        self._profile = profile or profile_for(model)
        self._settings = _settings(
            self._profile, model, max_tokens, thinking_budget_tokens, effort
        )
        self._without_thinking = _without_thinking(self._profile, self._settings)
        self._client = sdk.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            # Our deadline holds. A total of the SDK's own would make it refuse large max_tokens.
            timeout=sdk.Timeout(None, connect=CONNECT_TIMEOUT_S),
            http_client=http_client or bounded_client(sdk),
        )
        self._endpoint = Endpoint(
            sdk=sdk,
            sdk_error=sdk.AnthropicError,
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
        """Return `anthropic`."""
        return 'anthropic'

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
        body = self._body(request)
        response = await self._client.messages.with_raw_response.create(**body)
        answer: bytes = await response.read()
        return answer

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        profile = self._profile
        forced = request.force_tool and profile.forced_tool_choice and bool(request.tools)
        calm = forced or (
            profile.thinking == 'budget' and began_without_thinking(request.messages)
        )
        settings = self._without_thinking if calm else self._settings
        return {**settings, **conversation_body(request, force_tool=forced)}

    def _read(self, data: Mapping[str, Any]) -> Decision:
        decision = decision_from(data, provider=self.provider, model=self._model)
        if decision.stop_reason == 'refusal':
            details = self._endpoint.safe(str(data.get('stop_details')))
            _log.warning('the model refused: %s', details)
        return decision


def _import_sdk() -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise ConfigurationError(
            f"model.provider 'anthropic' needs the Anthropic SDK: {INSTALL_COMMAND}"
        ) from error
    return anthropic


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
