# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Asking a provider's API through its SDK: one deadline, and every failure as a `ModelError`.

The official SDKs are generated alike, so that what they raise can be told apart by the same names.
Retries happen here, within the deadline: an SDK would obey a Retry-After of minutes, while the
robot waits and the world that the decision is about moves on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
import json
import logging
import math
import random
import time
from typing import Any

import anyio

from robot_agent_harness.errors import ModelError
from robot_agent_harness.llm.client import Decision

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 5.0  # a robot that is offline should know it soon
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 8.0
ANSWER_MAX_BYTES = 2 * 1024 * 1024  # decoded; the longest answers of today's models take half
LONGEST_ERROR_TEXT = 500  # characters; a gateway may answer with a whole page

_RETRYABLE_STATUS = frozenset({408, 409, 429})
_RETRYABLE_TYPES = ('overloaded_error', 'rate_limit_error', 'api_error', 'timeout_error')
_OUT_OF_CREDIT = 'insufficient_quota'  # comes as 429, and waiting does not help


class Endpoint:
    """One model behind one API.

    :param sdk: the SDK's module.
    :param sdk_error: what all errors of the SDK derive from.
    :param url: the base URL as the SDK parsed it.
    :param model: the model's name, for error texts.
    :param key: taken out of every error text; None if none is sent.
    :param key_variable: the environment variable that the key comes from.
    :param timeout_s: the longest that a decision may take, in seconds, retries and waits included.
    :param max_attempts: how often one decision is asked for when the API fails in passing.
    :param sleep: waits between attempts.
    """

    def __init__(
        self,
        *,
        sdk: Any,
        sdk_error: type[Exception],
        url: Any,
        model: str,
        key: str | None,
        key_variable: str,
        timeout_s: float,
        max_attempts: int,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._sdk = sdk
        self._sdk_error = sdk_error
        self._url = f'{url.scheme}://{url.netloc.decode()}'  # without a password in the URL
        self._model = model
        self._key = key
        self._key_variable = key_variable
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._sleep = sleep

    async def decide(
        self,
        send: Callable[[], Awaitable[bytes]],
        read: Callable[[Mapping[str, Any]], Decision],
    ) -> Decision:
        """Ask for one decision; wait and ask again while that can help and time remains.

        :param send: makes one request and returns the body of the answer.
        :param read: makes a decision of the answer's JSON.
        :raises ModelError: no usable answer came; it says whether asking again may help.
        """
        deadline = anyio.current_time() + self._timeout_s
        last: ModelError | None = None
        try:
            with anyio.fail_after(self._timeout_s):
                for attempt in range(1, self._max_attempts + 1):
                    try:
                        return read(await self._answer(send))
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

    def safe(self, text: str) -> str:
        """Return a text from the provider without the key, and no longer than an error may be."""
        return (text.replace(self._key, '[key]') if self._key else text)[:LONGEST_ERROR_TEXT]

    async def _answer(self, send: Callable[[], Awaitable[bytes]]) -> Mapping[str, Any]:
        # `from None` throughout: the SDK's errors hold the request, and with it the key.
        try:
            answer = await send()
        except self._sdk.APIStatusError as error:
            raise self._status_error(error) from None
        except self._sdk.APITimeoutError:
            raise ModelError(f'cannot reach {self._url} in time', retryable=True) from None
        except self._sdk.APIConnectionError as error:
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None  # said while the answer was read
            cause = self.safe(f'{error.__cause__ or error}')
            raise ModelError(f'cannot reach {self._url}: {cause}', retryable=True) from None
        except self._sdk_error as error:
            raise ModelError(self.safe(str(error))) from None
        except (ValueError, TypeError, RecursionError) as error:
            raise ModelError(f'no JSON can be made of it: {self.safe(str(error))}') from None
        try:
            data = json.loads(answer, parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            # Cut on the way, a stream that nobody asked for, a gateway's page: all may pass.
            text = f'no usable JSON: {self.safe(str(error))}'
            raise ModelError(text, retryable=True) from None
        if not isinstance(data, dict):
            raise ModelError(f'{self._url} answered with something else than a message')
        if data.get('error'):  # a gateway may say so with status 200
            text = self.safe(_told(data) or 'no reason given')
            status, kind = _detail(data).get('code'), _detail(data).get('type')
            retryable = kind in _RETRYABLE_TYPES or (type(status) is int and _may_pass(status))
            raise ModelError(f'{self._url} answered with an error: {text}', retryable=retryable)
        return data

    def _status_error(self, error: Any) -> ModelError:
        status, detail = error.status_code, _detail(error.body)
        kind = detail.get('type') or 'error'
        text = f'{status} {self.safe(str(kind))}: {self.safe(_told(error.body) or error.message)}'
        if error.request_id:
            text += f' (request {self.safe(error.request_id)})'
        if status == 401:
            told = 'was not accepted' if self._key else 'is not set, and a key is wanted'
            text = f'the key in {self._key_variable} {told}: {text}'
        elif status == 404:
            text = f'model.name {self._model} or model.base_url does not exist: {text}'
        headers = error.response.headers
        asked = headers.get('x-should-retry')
        retryable = _may_pass(status) and detail.get('code') != _OUT_OF_CREDIT
        return ModelError(
            text,
            retryable=asked == 'true' or (retryable and asked != 'false'),
            retry_after_s=_retry_after_s(headers),
        )


def bounded_client(sdk: Any) -> Any:
    """Return the SDK's own HTTP client, which follows no redirect and reads no endless answer.

    No redirects: the key goes where the configuration says, and nowhere else.
    """

    class BoundedClient(sdk.DefaultAsyncHttpxClient):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            # Read here whatever is asked for: an error's page can be as long as an answer.
            response = await super().send(request, stream=True, **options)
            try:
                return await _read_whole(response)
            finally:
                await response.aclose()

    return BoundedClient(follow_redirects=False)


async def _read_whole(response: Any) -> Any:
    """Return the response with its body in memory.

    :raises ModelError: it has more than `ANSWER_MAX_BYTES`.
    """
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > ANSWER_MAX_BYTES:
            raise ModelError(f'the answer has more than {ANSWER_MAX_BYTES} bytes')
    coded = ('content-encoding', 'content-length', 'transfer-encoding')
    return type(response)(
        response.status_code,
        headers=[item for item in response.headers.multi_items() if item[0] not in coded],
        content=bytes(body),
        request=response.request,
        extensions=response.extensions,
    )


def refuse_constant(name: str) -> Any:
    """Refuse what Python's JSON reader takes beyond JSON: NaN and the infinities.

    :raises ValueError: always.
    """
    raise ValueError(f'{name} is not JSON')


def _detail(body: Any) -> Mapping[str, Any]:
    """Return the object that describes an error: the whole body, or what is under `error`."""
    inner = body.get('error', body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _told(body: Any) -> str | None:
    """Return what the provider said of an error, if it is in one of the places known."""
    inner = body.get('error', body) if isinstance(body, dict) else body
    text = inner.get('message') if isinstance(inner, dict) else inner
    return text if isinstance(text, str) and text else None


def _may_pass(status: int) -> bool:
    return status in _RETRYABLE_STATUS or status >= 500


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
