# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The SDK's streamable HTTP transport on a socket of our own, inside the loop that runs already.

The socket is bound before anything else starts, so that a port in use is an error with a name.
Signals stay the program's. Stopping ends open streams and sessions at once: the calls behind them
go on in the dispatcher, which records their results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
import contextlib
import logging
import socket
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server import Server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
import uvicorn

from robot_agent_harness.mcp_server.access import (
    bracketed,
    guarded_app,
    Holders,
    HostGuard,
    HostRules,
)
from robot_agent_harness.mcp_server.connection import (
    ConnectionBounds,
    guarded_connection,
    SECURITY_HEADERS,
)
from robot_agent_harness.mcp_server.json_text import read_strictly
from robot_agent_harness.mcp_server.listener import BACKLOG, listening
from robot_agent_harness.mcp_server.resumption import without_resumption
from robot_agent_harness.mcp_server.settings import McpSettings
from robot_agent_harness.mcp_server.shares import LookersApart
from robot_agent_harness.mcp_server.tokens import Token
from robot_agent_harness.mcp_server.unique_ids import UniqueIds
from robot_agent_harness.redaction import Redactor

logger = logging.getLogger(__name__)

PATH = '/mcp'
ANSWERS_S = 0.25
"""How long stopping lets answers that are on their way get out."""
TICK_S = 1.0
"""How often the Date header is renewed."""
DRAIN_S, ABORT_S, LOOK_S = 1.0, 0.2, 0.01
"""How long stopping waits for connections to close, and then for what was served on those that it
aborts, and how often it looks."""
STOP_S = 1.8
"""When stopping is forced."""


class HttpEndpoint:
    """One MCP server at `http://<host>:<port>/mcp`."""

    def __init__(
        self,
        server: Server[Any],
        settings: McpSettings,
        *,
        redactor: Redactor,
        pages: Mapping[str, ASGIApp],
        shell: Mapping[str, ASGIApp],
    ) -> None:
        self._server = server
        self._settings = settings
        self._redactor = redactor
        self._pages = pages
        self._shell = shell
        self._ids = UniqueIds()
        server.middleware.append(self._ids.handle)
        self._port = settings.port
        self._uvicorn: _Uvicorn | None = None
        self._exchanges: _Exchanges | None = None
        self._holders = Holders(())
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port; once started, the one that was found where the settings say 0."""
        return self._port

    @property
    def url(self) -> str:
        """Where a client on this machine connects to."""
        host = {'0.0.0.0': '127.0.0.1', '::': '::1'}.get(self._settings.host, self._settings.host)
        return f'http://{bracketed(host)}:{self._port}{PATH}'

    async def start(self) -> None:
        """Listen, and return once requests are served.

        :raises ConfigurationError: the address cannot be used, or the token not be read.
        """
        settings = self._settings
        self._holders = Holders(self._read_tokens())
        listener = await listening(settings.host, settings.port)
        self._port = listener.getsockname()[1]
        rules = HostRules(settings.host, self._port, loopback=settings.loopback_only)
        # What may only look has sessions of its own, so that it takes nobody else's.
        lookers = self._sessions(max(1, settings.max_sessions // 2))
        others = self._sessions(settings.max_sessions)
        endpoint = LookersApart(StreamableHTTPASGIApp(lookers), StreamableHTTPASGIApp(others))
        reader = read_strictly(self._ids.guard(without_resumption(endpoint)))
        app = guarded_app(
            RequestBodyLimitMiddleware(reader, settings.max_body_bytes),
            path=PATH,
            holders=self._holders,
            per_s=settings.max_requests_per_s,
            at_once=settings.max_connections,
            pages=self._pages,
            shell=self._shell,
        )
        self._exchanges = _Exchanges(HostGuard(app, rules), rules)
        self._uvicorn = _Uvicorn(self._exchanges, settings)
        serving = _serve((lookers, others), self._uvicorn, listener)
        self._task = asyncio.create_task(serving, name='mcp http')
        self._task.add_done_callback(_report_failure)
        ready = asyncio.create_task(self._uvicorn.ready.wait())
        try:
            await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self._task.done():
            self._task.result()
        needed = 'token required' if self._holders.known else 'no token'
        logger.info('MCP server at %s (%s)', self.url, needed)
        if '/' in self._shell:
            logger.info('dashboard at %s/', self.url.removesuffix(PATH))

    def _sessions(self, most: int) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=self._settings.max_body_bytes,
            max_sessions=most,
            session_idle_timeout=self._settings.session_idle_s,
        )

    def renew_tokens(self) -> None:
        """Read the tokens again while serving; what is under way with one that is gone, ends.

        :raises ConfigurationError: they cannot be read; those that were read before stay good.
        """
        self._holders.renew(self._read_tokens())
        if self._exchanges is not None:
            self._exchanges.close_unless(self._holders.hold)

    def _read_tokens(self) -> tuple[Token, ...]:
        tokens = self._settings.read_tokens()
        for token in tokens:
            self._redactor.know(token.secret)  # a client may say it where it is recorded
        return tokens

    async def stop(self) -> None:
        """End every stream and session and close the socket, within 2 s; once is enough."""
        task, self._task = self._task, None
        if task is None or self._uvicorn is None or self._exchanges is None:
            return
        await self._exchanges.close()
        self._uvicorn.exit_now()
        _, late = await asyncio.wait({task}, timeout=STOP_S)
        if late:
            logger.warning('the MCP server did not stop in time; closing it')
            task.cancel()
            await asyncio.wait({task}, timeout=0.2)


def _report_failure(task: asyncio.Task[None]) -> None:
    """Say so in the log if serving ended with an error: nobody may be waiting for it."""
    if not task.cancelled() and task.exception() is not None:
        logger.error('the MCP server failed', exc_info=task.exception())


async def _serve(
    managers: Iterable[StreamableHTTPSessionManager], http: _Uvicorn, listener: socket.socket
) -> None:
    with contextlib.closing(listener):
        async with contextlib.AsyncExitStack() as stack:
            for manager in managers:
                await stack.enter_async_context(manager.run())
            await http.serve(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    """uvicorn that says when it is ready and leaves signals to the program."""

    def __init__(self, app: ASGIApp, settings: McpSettings) -> None:
        bounds = ConnectionBounds(
            settings.receive_s, settings.send_s, connections=settings.max_connections
        )
        super().__init__(
            uvicorn.Config(
                app,
                http=guarded_connection(bounds),
                ws='none',
                lifespan='off',
                interface='asgi3',
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                backlog=BACKLOG,
                # From that many on uvicorn refuses, the one that asks included.
                limit_concurrency=settings.max_connections + 1,
                timeout_keep_alive=settings.keep_alive_s,
                headers=list(SECURITY_HEADERS),
            )
        )
        self.ready = asyncio.Event()
        self._leave = asyncio.Event()

    def exit_now(self) -> None:
        """Begin to shut down."""
        self.should_exit = True
        self._leave.set()

    async def main_loop(self) -> None:
        """Serve until it is time to leave; uvicorn's own loop wakes up ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._leave.wait(), TICK_S)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        await super().startup(sockets=sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what listens and what is open, and after a while abort it: a client may not read
        what it is sent. uvicorn's own pauses for 0.1 s also where nothing is open.
        """
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        state = self.server_state
        for connection in tuple(state.connections):
            connection.shutdown()
        await _gone(lambda: not (state.connections or state.tasks), within_s=DRAIN_S)
        for connection in tuple(state.connections):
            connection.transport.abort()
        await _gone(lambda: not state.tasks, within_s=ABORT_S)
        for task in tuple(state.tasks):
            task.cancel()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


async def _gone(gone: Callable[[], bool], *, within_s: float) -> None:
    """Wait until something is gone, or the time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while not gone() and loop.time() < deadline:
        await asyncio.sleep(LOOK_S)


class _Exchanges:
    """The app, with every open exchange at hand so that all can be ended properly."""

    def __init__(self, app: ASGIApp, rules: HostRules) -> None:
        self._app = app
        self._rules = rules
        self._open: dict[anyio.CancelScope, Scope] = {}
        self._closed = False

    async def close(self) -> None:
        """Refuse further exchanges, and end the open ones: requests a moment later, since calls
        that the end of the harness interrupts have just been answered.
        """
        self._closed = True
        self.close_unless(lambda scope: scope['method'] == 'POST')
        await _gone(lambda: not self._open, within_s=ANSWERS_S)
        self.close_unless(lambda _: False)

    def close_unless(self, may_stay: Callable[[Scope], bool]) -> None:
        """End the open exchanges whose requests may not stay."""
        for cancel, scope in tuple(self._open.items()):
            if not may_stay(scope):
                cancel.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._rules.admit_own_address(scope)
        response = _Response(send)
        with anyio.CancelScope() as cancel:
            if self._closed:
                cancel.cancel()
            self._open[cancel] = scope
            try:
                await self._app(scope, _Request(receive, cancel).receive, response.send)
            finally:
                del self._open[cancel]
        if cancel.cancelled_caught:
            await response.finish()


class _Request:
    """One request, whose exchange ends if it breaks off: the SDK would log an error of its own."""

    def __init__(self, receive: Receive, exchange: anyio.CancelScope) -> None:
        self._receive = receive
        self._exchange = exchange
        self._whole = False

    async def receive(self) -> Message:
        """Pass a message on."""
        message = await self._receive()
        if message['type'] == 'http.disconnect' and not self._whole:
            self._exchange.cancel()
            await anyio.lowlevel.checkpoint()
        self._whole = self._whole or not message.get('more_body', False)
        return message


class _Response:
    """One response, which is completed even if the app is cut off."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = self._complete = False

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        if message['type'] == 'http.response.start':
            self._started = True
        elif message['type'] == 'http.response.body':
            self._complete = not message.get('more_body', False)
        await self._send(message)

    async def finish(self) -> None:
        """Complete what was begun, or say that the service is gone."""
        if not self._started:
            headers = [(b'content-length', b'0'), (b'connection', b'close')]
            await self._send({'type': 'http.response.start', 'status': 503, 'headers': headers})
        if not self._complete:
            await self._send({'type': 'http.response.body', 'body': b'', 'more_body': False})
