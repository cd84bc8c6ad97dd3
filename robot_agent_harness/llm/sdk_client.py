# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the clients behind all vendors' SDKs have in common: how one is made, asked and closed.

The official SDKs are generated alike. What a vendor has of its own, its SDK included, is in the
file of that vendor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

import anyio

from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.endpoint import bounded_client, CONNECT_TIMEOUT_S, Endpoint
from robot_agent_harness.llm.profiles import ModelProfile


class SdkClient(ABC):
    """A `ModelClient` that asks one model through its vendor's SDK.

    :param model: the model's name as the API knows it.
    :param api_key: sent to the API and nowhere else; None where a server wants none.
    :param base_url: another endpoint that speaks the vendor's API; by default the vendor's own.
    :param max_tokens: the most tokens of an answer, thinking included.
    :param timeout_s: the longest that a decision may take, in seconds, retries and waits included.
    :param profile: what the model takes; by default chosen by its name.
    :param thinking_budget_tokens: how much the model may think, in tokens; 0 = off.
    :param effort: `low` to `max`, where the model takes it; by default the model's own.
    :param max_attempts: how often one decision is asked for when the API fails in passing.
    :param http_client: an `httpx2.AsyncClient` to use instead of the SDK's own.
    :param sleep: waits between attempts; a test may pass its own.
    :raises ConfigurationError: no SDK is installed, or the model does not take these settings.
    """

    provider: ClassVar[str]
    """As `model.provider` names it."""
    key_variable: ClassVar[str]
    """The environment variable that the key comes from, for error texts."""

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
        sdk = self._sdk()
        self._model = model
        self._profile = profile or self._known_profile(model, base_url)
        self._settings = self._fixed_settings(max_tokens, thinking_budget_tokens, effort)
        self._client, sdk_error = self._connected(
            sdk,
            api_key,
            base_url,
            max_retries=0,
            # Our deadline holds. A total of the SDK's own would make it refuse large max_tokens.
            timeout=sdk.Timeout(None, connect=CONNECT_TIMEOUT_S),
            http_client=http_client or bounded_client(sdk),
        )
        self._endpoint = Endpoint(
            sdk=sdk,
            sdk_error=sdk_error,
            url=self._client.base_url,
            model=model,
            key=api_key,
            key_variable=self.key_variable,
            timeout_s=timeout_s,
            max_attempts=max_attempts,
            sleep=sleep,
        )

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

    @abstractmethod
    def _sdk(self) -> Any:
        """Return the SDK's module.

        :raises ConfigurationError: it is not installed.
        """

    @abstractmethod
    def _known_profile(self, model: str, base_url: str | None) -> ModelProfile:
        """Return what a model of this name takes."""

    @abstractmethod
    def _fixed_settings(
        self, max_tokens: int, thinking_budget_tokens: int, effort: str | None
    ) -> dict[str, Any]:
        """Return the part of the request that is the same every time.

        :raises ConfigurationError: the model does not take these settings.
        """

    @abstractmethod
    def _connected(
        self, sdk: Any, api_key: str | None, base_url: str | None, **options: Any
    ) -> tuple[Any, type[Exception]]:
        """Return the SDK's client, and what all errors of the SDK derive from.

        :param options: what every SDK takes, as it takes it.
        """

    @abstractmethod
    async def _send(self, request: ModelRequest) -> bytes:
        """Make one request and return the body of the answer."""

    @abstractmethod
    def _read(self, data: Mapping[str, Any]) -> Decision:
        """Make a decision of the answer's JSON.

        :raises ModelError: that cannot be done.
        """
