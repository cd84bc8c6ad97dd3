# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts on record what services answer and when they come and go: a replay gives it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import HarnessError
from robot_agent_harness.events import Correlation, ServiceEventReceived
from robot_agent_harness.jsonable import canonical_json, jsonable
from robot_agent_harness.redaction import RedactedJournal
from robot_agent_harness.skills.services import RosService, ServiceCaller

RESPONSE_MAX_BYTES = 64 * 1024
"""Of a response on record, as ASCII JSON: as much as a result may have. Of a larger one the size
is on record, and a call that got it cannot be replayed."""
CRASHED = 'crashed'
"""Stands for the code of an error that no service caller should raise."""


class ServiceLog:
    """Records the events of services, in the order in which they were heard."""

    def __init__(self, services: ServiceCaller, *, journal: RedactedJournal, clock: Clock) -> None:
        self._services = services
        self._journal = journal
        self._clock = clock

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Call `listener` with the name of each service whose server came (True) or went."""

        def heard(name: str, there: bool) -> None:
            self._record(name, 'presence', {'reachable': there}, Correlation())
            listener(name, there)

        self._services.on_presence(heard)

    def of(self, ids: Correlation) -> ServiceCaller:
        """Return a caller whose answers are recorded as those of a call."""
        return _CallsServices(self, ids)

    async def call(
        self, service: RosService, request: Mapping[str, Any], timeout_s: float, ids: Correlation
    ) -> dict[str, Any]:
        """Call a service for a call; see :class:`ServiceCaller`."""
        try:
            response = await self._services.call(service, request, timeout_s=timeout_s)
        except Exception as error:
            # Whatever it is, the call's result follows from it; the caller deals with it.
            code = error.code if isinstance(error, HarnessError) else CRASHED
            self._record(service.name, 'failed', {'code': code, 'message': str(error)}, ids)
            raise
        self._record(service.name, 'response', _said(response), ids)
        return response

    def _record(
        self,
        service: str,
        event: Literal['presence', 'response', 'failed'],
        said: dict[str, Any],
        ids: Correlation,
    ) -> None:
        record = ServiceEventReceived(
            service=service, event=event, said=said, monotonic_ns=self._clock.monotonic_ns()
        )
        self._journal.defer((record, ids))


@dataclass(frozen=True, slots=True)
class _CallsServices:
    """A `ServiceCaller` of one call."""

    log: ServiceLog
    ids: Correlation

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        self.log.on_presence(listener)

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        return await self.log.call(service, request, timeout_s, self.ids)


def _said(response: dict[str, Any]) -> dict[str, Any]:
    plain = jsonable(response)
    size = len(canonical_json(plain))
    return {'response': plain} if size <= RESPONSE_MAX_BYTES else {'size_bytes': size}
