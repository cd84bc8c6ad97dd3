# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How often one client may ask: a bucket of tokens each, refilled at a steady rate.

A client is the holder of an access token; without one, its address. Whoever guesses tokens is
counted by address, so that the holders are not held up by it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
import math

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

BURST_S = 2.0
"""How many seconds' worth of requests may come at once."""
CLIENTS_KEPT = 1024
"""For how many clients is counted; one that is forgotten starts anew."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class RateLimit:
    """Answers 429 to a client that asks too often."""

    def __init__(self, app: ASGIApp, per_s: float, now_s: Callable[[], float]) -> None:
        self._app = app
        self._per_s = per_s
        self._now_s = now_s
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        wait_s = self.take(_client(scope))
        if not wait_s:
            await self._app(scope, receive, send)
            return
        why = f'more than {self._per_s:g} requests a second'
        refusal = JSONResponse(
            {'error': 'too_many_requests', 'error_description': why},
            status_code=429,
            headers={'retry-after': str(math.ceil(wait_s))},  # RFC 9110 section 10.2.3
        )
        await refusal(scope, receive, send)

    def take(self, client: Hashable) -> float:
        """Count one request; return 0, or the seconds to wait where there were too many."""
        now_s, most = self._now_s(), max(1.0, self._per_s * BURST_S)
        bucket = self._buckets.setdefault(client, _Bucket(most, now_s))
        self._buckets.move_to_end(client)
        while len(self._buckets) > CLIENTS_KEPT:
            self._buckets.popitem(last=False)
        bucket.left = min(most, bucket.left + (now_s - bucket.at_s) * self._per_s)
        bucket.at_s = now_s
        if bucket.left < 1.0:
            return (1.0 - bucket.left) / self._per_s
        bucket.left -= 1.0
        return 0.0


def _client(scope: Scope) -> Hashable:
    user = scope.get('user')
    if isinstance(user, AuthenticatedUser):
        return ('token', user.username)
    return ('address', scope['client'][0] if scope.get('client') else None)
