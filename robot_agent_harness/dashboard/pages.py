# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The dashboard over HTTP: the one file of it that knows the web framework.

Its shell (a page, style sheets, scripts) holds nothing of the robot and is given to whoever
reaches the address; the page then asks for all else with the access token in a header, which is
checked where MCP's is. A cookie would be sent by the browser to every port of the host, and by
itself; a token in an address would end up in histories and logs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
import json
import logging
from pathlib import Path
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.dashboard.earlier import NotThereError, TooLongError
from robot_agent_harness.dashboard.history import History
from robot_agent_harness.dashboard.stream import Live, TooManyViewersError
from robot_agent_harness.errors import HarnessError
from robot_agent_harness.events import EventType
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.redaction import Redactor

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / 'static'
REPORT_STYLE = Path(__file__).parents[1] / 'report' / 'templates' / 'report.css'
FOLDER = '/dashboard'
PING_S = 15
LINE_END = '\n'
NUMBER_MAX = 2**63 - 1
"""What SQLite takes."""
DIGITS_MAX = 100
TOO_MANY_RETRY_S = 10
OUTCOMES = ('achieved', 'not_achieved', 'unknown')
_MEDIA_TYPES = {
    '.css': 'text/css',
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.svg': 'image/svg+xml',
}

Answer = Callable[[Request], Awaitable[Response]]


class _BadQueryError(HarnessError):
    """A query that cannot be understood."""

    code = 'bad_query'


class Dashboard:
    """Everything that is served for it; nothing happens until somebody asks."""

    def __init__(self, core: Core, *, clock: Clock, redactor: Redactor) -> None:
        self._history = History(core.journal.path)
        self.live = Live(core, self._history, clock=clock, redactor=redactor)

    @property
    def shell(self) -> Mapping[str, ASGIApp]:
        """What anybody may load, by path: files of this package."""
        files = {f'{FOLDER}/{file.name}': file for file in STATIC.iterdir()}
        files |= {'/': STATIC / 'index.html', f'{FOLDER}/report.css': REPORT_STYLE}
        return {at: _Page(_file(file)) for at, file in files.items()}

    @property
    def pages(self) -> Mapping[str, ASGIApp]:
        """What the holder of a token may ask for, by path."""
        answers: dict[str, Answer] = {
            'live': self._live,
            'missions': self._missions,
            'mission': self._mission,
            'report': self._report,
            'records': self._records,
            'record': self._record,
        }
        return {f'{FOLDER}/{name}': _Page(answer) for name, answer in answers.items()}

    async def _live(self, request: Request) -> Response:
        bell = self.live.admit()
        events = self._events(bell, request.headers.get('last-event-id'))
        return _Stream(events, release=lambda: self.live.release(bell))

    async def _events(
        self, bell: asyncio.Event, last_id: str | None
    ) -> AsyncIterator[ServerSentEvent]:
        async for message in self.live.messages(bell, last_id):
            yield ServerSentEvent(
                json.dumps(message.data, separators=(',', ':')),
                event=message.event,
                id=message.place,
                sep=LINE_END,
            )

    async def _missions(self, request: Request) -> Response:
        outcome = request.query_params.get('outcome', '')
        if outcome not in ('', 'open', *OUTCOMES):
            raise _BadQueryError(f'outcome must be one of open, {", ".join(OUTCOMES)}')
        selection = Selection(
            types=(EventType.MISSION_STARTED.value,),
            before_seq=_number(request, 'before'),
            since_ns=_number(request, 'since_ns'),
            until_ns=_number(request, 'until_ns'),
            end={'outcome': outcome} if outcome in OUTCOMES else {},
            open=outcome == 'open',
        )
        return JSONResponse(await self._history.missions(selection, file=_earlier(request)))

    async def _mission(self, request: Request) -> Response:
        mission_id = request.query_params.get('id')
        html = await self._history.mission(mission_id, file=_earlier(request))
        return JSONResponse({'html': html})

    async def _report(self, request: Request) -> Response:
        mission_id = request.query_params.get('id', '')
        html = await self._history.report(mission_id, file=_earlier(request))
        attached = {'content-disposition': 'attachment; filename="report.html"'}
        return Response(html, media_type='text/html', headers=attached)

    async def _records(self, request: Request) -> Response:
        asked = request.query_params
        types = tuple(name for name in asked.getlist('type') if name)
        if any(name not in EventType._value2member_map_ for name in types):
            raise _BadQueryError('type must be a type of the journal, for instance SALIENT_EVENT')
        reason = asked.get('reason')
        if reason and not types:
            types = (EventType.ROBOT_ACTION_OUTCOME.value, EventType.MISSION_ENDED.value)
        selection = Selection(
            mission_id=asked.get('mission'),
            outside_missions='outside' in asked,
            types=types,
            before_seq=_number(request, 'before'),
            payload={'reason': reason} if reason else {},
        )
        return JSONResponse(await self._history.records(selection, file=_earlier(request)))

    async def _record(self, request: Request) -> Response:
        seq = _number(request, 'seq') or 0
        return JSONResponse(await self._history.record(seq, file=_earlier(request)))


class _Page:
    """Answers GET; what goes wrong with the journal or the query is said as JSON."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        await (await self._response(request))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        if request.method not in ('GET', 'HEAD'):
            return _refusal(405, 'method_not_allowed', 'only GET', {'allow': 'GET, HEAD'})
        try:
            return await self._answer(request)
        except TooManyViewersError as error:
            retry = {'retry-after': str(TOO_MANY_RETRY_S)}
            return _refusal(503, error.code, str(error), retry)
        except NotThereError as error:
            return _refusal(404, error.code, str(error))
        except TooLongError as error:
            return _refusal(413, error.code, str(error))
        except _BadQueryError as error:
            return _refusal(400, error.code, str(error))
        except HarnessError as error:
            logger.warning('the dashboard cannot read: %s', error)
            return _refusal(503, error.code, str(error))


class _Stream(EventSourceResponse):
    """A stream that gives its place back, also where it never began."""

    def __init__(
        self, events: AsyncIterator[ServerSentEvent], *, release: Callable[[], None]
    ) -> None:
        super().__init__(events, ping=PING_S, sep=LINE_END)
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the viewer goes."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


def _refusal(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> Response:
    return JSONResponse({'error': code, 'message': message}, status, headers=headers)


def _file(file: Path) -> Answer:
    async def answer(request: Request) -> Response:
        return FileResponse(file, media_type=_MEDIA_TYPES[file.suffix])

    return answer


def _earlier(request: Request) -> str | None:
    """Return which earlier file is asked about; None: the journal itself."""
    return request.query_params.get('file') or None


def _number(request: Request, name: str) -> int | None:
    text: Any = request.query_params.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX):
        raise _BadQueryError(f'{name} must be a number')
    return min(int(text), NUMBER_MAX)
