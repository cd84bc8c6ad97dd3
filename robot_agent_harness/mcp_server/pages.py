# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is served beside MCP under the same address and by the same rules."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

METRICS = '/metrics'


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
