# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may only look does not shut out who may act, however much of the server it takes.

Of what the server can do at once, the tokens without the scope to act have a part: each of them a
quarter and all of them half. Whoever may act, or needs no token, has all that is free.
"""

from __future__ import annotations

from collections import Counter

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_agent_harness.mcp_server.tokens import ACT

RETRY_AFTER_S = 5


def looks_only(scope: Scope) -> str | None:
    """Return the name of the token with which a request came in, if it may only look."""
    user = scope.get('user')
    if isinstance(user, AuthenticatedUser) and ACT not in user.scopes:
        return str(user.username)
    return None


class Shares:
    """Answers 429 to a request beyond the share of its token; streams count while they are open.

    :param most: how many requests are served at once.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._each, self._all = max(1, most // 4), max(1, most // 2)
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        name = looks_only(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        if self._open[name] >= self._each or self._open.total() >= self._all:
            why = f'{self._each} requests or streams at once for a token that may only look'
            refusal = JSONResponse(
                {'error': 'too_many_requests', 'error_description': f'more than {why}'},
                status_code=429,
                headers={'retry-after': str(RETRY_AFTER_S)},
            )
            await refusal(scope, receive, send)
            return
        self._open[name] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[name] -= 1


class LookersApart:
    """Serves who may only look by one app, and everybody else by another."""

    def __init__(self, lookers: ASGIApp, others: ASGIApp) -> None:
        self._lookers = lookers
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._others if looks_only(scope) is None else self._lookers
        await app(scope, receive, send)
