# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is served beside MCP under the same address, by the same rules: Host, Origin, token, rate.

The SDK checks Host and Origin for its own endpoint; here they are checked for the others.
"""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

METRICS = '/metrics'


class HostGuard:
    """Refuses requests that name another host (421) or come from another site's page (403)."""

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        self._app = app
        self._rules = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        refusal = await self._rules.validate_request(Request(scope, receive))
        await (refusal or self._app)(scope, receive, send)


class MetricsPage:
    """Answers GET with what is rendered for its Accept header."""

    def __init__(self, render: Callable[[str], tuple[bytes, str]]) -> None:
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        if request.method not in ('GET', 'HEAD'):
            response: Response = PlainTextResponse(
                'Method Not Allowed', status_code=405, headers={'allow': 'GET, HEAD'}
            )
        else:
            body, media_type = self._render(request.headers.get('accept', ''))
            response = Response(body, headers={'content-type': media_type})
        await response(scope, receive, send)
