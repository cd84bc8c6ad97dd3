# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the stand-ins for model APIs share: real HTTP, scripted answers, strict about requests.

A request that breaks a rule of the API gets 400 with the reason, as from the API, and uses no
answer up. Every request is kept with what was wrong with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Any, ClassVar

from typing_extensions import Self

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: an HTTP response, or the lack of one."""

    status: int = 200
    body: Any = None
    """JSON-ready, or bytes that go out as they are."""
    headers: Headers = field(default_factory=dict)
    ends: str | None = None
    """`hang`: never answers. `cut`: resets the connection. None: answers."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    headers: Headers
    """Lower-case names."""
    body: Any
    broken_rules: list[str]
    """What the API would refuse; empty when it is sound."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An assistant message that went out, and the request that it answered."""

    content: Any
    """As the API has it: a list of blocks, or the message itself."""
    request: Mapping[str, Any]


def hang() -> Reply:
    """Return an answer that never comes; it ends with the server or the client."""
    return Reply(ends='hang')


def cut() -> Reply:
    """Return the loss of the connection before any answer."""
    return Reply(ends='cut')


class StubServer(ABC):
    """The server, in threads of its own on a free loopback port; a context manager.

    :param replies: given in order; one may be a function from the request's body to a reply.
    :param api_key: the key to insist on; None takes any.
    """

    base_path: ClassVar[str]
    """What follows the host in a client's base URL."""
    path: ClassVar[str]
    """What a client appends to it."""

    def __init__(
        self, *replies: Reply | Callable[[Any], Reply], api_key: str | None = None
    ) -> None:
        self.requests: list[Request] = []
        self._replies = list(replies)
        self._api_key = api_key
        self._sent: list[Sent] = []
        self._ids = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._server = _Server(('127.0.0.1', 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def base_url(self) -> str:
        """Return what a client takes as its base URL."""
        return f'http://127.0.0.1:{self._server.server_address[1]}{self.base_path}'

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def add(self, *replies: Reply | Callable[[Any], Reply]) -> None:
        """Append replies to the script."""
        with self._changed:
            self._replies.extend(replies)

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> None:
        """Block until so many requests have come.

        :raises TimeoutError: they have not, in that many seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise TimeoutError(f'{len(self.requests)} requests came, {count} expected')

    def answer(self, path: str, headers: Headers, raw: bytes) -> Reply:
        """Return the reply to one request, and keep the request."""
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        with self._changed:
            broken = self._broken_rules(body, headers)
            self.requests.append(Request(headers, body, broken))
            self._changed.notify_all()
            if path.partition('?')[0] != self.base_path + self.path:
                return self._failure(404, f'{path} is not here')
            if self._api_key is not None and self._api_key != self._key_of(headers):
                return self._failure(401, 'invalid key')
            if broken:
                return self._failure(400, '; '.join(broken))
            if not self._replies:
                return self._failure(400, 'the script of the stub is exhausted')
            reply = self._replies.pop(0)
            if not isinstance(reply, Reply):
                reply = reply(body)
            return self._completed(reply, body)

    def wait_until_closed(self, timeout_s: float) -> bool:
        """Return whether the server was closed within so many seconds."""
        return self._closing.wait(timeout_s)

    @abstractmethod
    def _broken_rules(self, body: Any, headers: Headers) -> list[str]:
        """Return what the API would refuse in a request."""

    @abstractmethod
    def _failure(self, status: int, words: str) -> Reply:
        """Return an error as the API gives it."""

    def _key_of(self, headers: Headers) -> str:
        return headers.get('authorization', '').removeprefix('Bearer ')

    @abstractmethod
    def _completed(self, reply: Reply, request: Any) -> Reply:
        """Return the reply with the ids that the API would make, and remember its content."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], api: StubServer) -> None:
        super().__init__(address, _Handler)
        self.api = api

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get('content-length', '0'))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.api.answer(self.path, headers, self.rfile.read(length))
        if reply.ends is not None:
            self._end(reply.ends)
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(body)))
        for name in ('request-id', 'x-request-id'):
            self.send_header(name, f'req_{time.monotonic_ns()}')
        for name, value in reply.headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body)

    def _end(self, how: str) -> None:
        self.close_connection = True
        if how == 'hang':
            self.server.api.wait_until_closed(timeout_s=60.0)
        # Lingering for 0 s sends a reset instead of an orderly end.
        linger = struct.pack('ii', 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept."""
