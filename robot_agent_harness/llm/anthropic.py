# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Claude, through the official SDK and the Messages API.

The answer is read from the response's own JSON, so that fields newer than the SDK survive the way
back. Retries happen here, within one deadline: the SDK would obey a Retry-After of minutes, while
the robot waits and the world that the decision is about moves on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
import json
import logging
import math
import random
import time
from typing import Any, TYPE_CHECKING

import anyio

from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.messages_api import conversation_body, decision_from
from robot_agent_harness.llm.profiles import ModelProfile, profile_for

if TYPE_CHECKING:
    import anthropic

_log = logging.getLogger(__name__)

INSTALL_COMMAND = "pip install 'anthropic>=2,<3'"
CONNECT_TIMEOUT_S = 5.0  # a robot that is offline should know it soon
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 8.0
SMALLEST_BUDGET_TOKENS = 1024  # the API refuses less
ANSWER_TOKENS = 1024  # room for the answer when the thinking budget takes all of max_tokens
LONGEST_ERROR_TEXT = 500  # characters; a gateway may answer with a whole page

_RETRYABLE_STATUS = frozenset({408, 409, 429})


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
        self._sdk = _import_sdk()
        self._model = model
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._settings = _settings(
            profile or profile_for(model), model, max_tokens, thinking_budget_tokens, effort
        )
        self._client = self._sdk.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=self._sdk.Timeout(None, connect=CONNECT_TIMEOUT_S),
            http_client=http_client,
        )
        url = self._client.base_url
        self._endpoint = f'{url.scheme}://{url.netloc.decode()}'  # without a password in the URL

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
        body = {**self._settings, **conversation_body(request)}
        deadline = anyio.current_time() + self._timeout_s
        last: ModelError | None = None
        try:
            with anyio.fail_after(self._timeout_s):
                for attempt in range(1, self._max_attempts + 1):
                    try:
                        return await self._ask(body)
                    except ModelError as error:
                        last = error
                    _log.warning('model request failed (attempt %d): %s', attempt, last)
                    wait_s = last.retry_after_s or _backoff_s(attempt)
                    if (
                        not last.retryable
                        or attempt == self._max_attempts
                        or anyio.current_time() + wait_s >= deadline
                    ):
                        raise last
                    await self._sleep(wait_s)
        except TimeoutError:
            before = f'; before that: {last}' if last else ''
            raise ModelError(
                f'no answer from {self._model} within {self._timeout_s:g} s{before}',
                retryable=True,
                retry_after_s=last.retry_after_s if last else None,
            ) from None
        raise AssertionError('unreachable: the last attempt returns or raises')

    async def _ask(self, body: Mapping[str, Any]) -> Decision:
        # `from None` throughout: the SDK's errors hold the request, and with it the key.
        try:
            response = await self._client.messages.with_raw_response.create(**body)
            data = json.loads(await response.read(), parse_constant=_refuse_constant)
        except self._sdk.APIStatusError as error:
            raise self._status_error(error) from None
        except self._sdk.APITimeoutError:
            raise ModelError(f'cannot reach {self._endpoint} in time', retryable=True) from None
        except self._sdk.APIConnectionError as error:
            cause = self._safe(f'{error.__cause__ or error}')
            raise ModelError(f'cannot reach {self._endpoint}: {cause}', retryable=True) from None
        except self._sdk.AnthropicError as error:
            raise ModelError(self._safe(str(error))) from None
        except (ValueError, TypeError, RecursionError) as error:
            # Not JSON in the answer (a gateway's page), or something in the request that is not.
            raise ModelError(f'no usable JSON: {self._safe(str(error))}') from None
        if not isinstance(data, dict):
            raise ModelError(f'{self._endpoint} answered with something else than a message')
        decision = decision_from(data, provider=self.provider, model=self._model)
        if decision.stop_reason == 'refusal':
            _log.warning('the model refused: %s', self._safe(str(data.get('stop_details'))))
        return decision

    def _status_error(self, error: anthropic.APIStatusError) -> ModelError:
        status, kind = error.status_code, error.type or 'error'
        text = f'{status} {kind}: {self._safe(error.api_message or error.message)}'
        if error.request_id:
            text += f' (request {self._safe(error.request_id)})'
        if status == 401:
            text = f'the key in ANTHROPIC_API_KEY was not accepted: {text}'
        elif status == 404:
            text = f'model.name {self._model} or model.base_url does not exist: {text}'
        headers = error.response.headers
        asked = headers.get('x-should-retry')
        retryable = status in _RETRYABLE_STATUS or status >= 500
        return ModelError(
            text,
            retryable=asked == 'true' or (retryable and asked != 'false'),
            retry_after_s=_retry_after_s(headers),
        )

    def _safe(self, text: str) -> str:
        return text.replace(self._api_key, '[key]')[:LONGEST_ERROR_TEXT]


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

    One thinking configuration for the whole run: changing it would also lose the prompt cache.
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


def _backoff_s(attempt: int) -> float:
    longest = min(FIRST_BACKOFF_S * 2.0 ** (attempt - 1), LONGEST_BACKOFF_S)
    return longest * random.uniform(0.75, 1.0)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return what the provider asks to wait, in seconds: milliseconds, seconds or a date."""
    try:
        if 'retry-after-ms' in headers:
            seconds = float(headers['retry-after-ms']) / 1000.0
        else:
            seconds = float(headers['retry-after'])
    except KeyError:
        return None
    except ValueError:
        try:
            date = parsedate_to_datetime(headers.get('retry-after', ''))
        except ValueError:
            return None
        seconds = date.timestamp() - time.time()
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f'{name} is not JSON')
