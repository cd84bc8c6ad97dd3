# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A local stand-in for the Messages API: real HTTP, scripted answers, strict about requests.

    with MessagesApi(message(text('I go.'), tool_use('navigate_to_pose', {'x': 1.0}))) as api:
        client = AnthropicClient(model='claude-test', api_key='test', base_url=api.base_url)
        ...
        assert api.requests[0].body['tools']

A request that breaks a rule of the API gets 400 with the reason, as from the API, and uses no
answer up. Every request is kept with what was wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Any

from robot_agent_harness.testing.messages_api_rules import broken_rules, Sent

Block = dict[str, Any]
Headers = Mapping[str, str]

_ERROR_TYPES = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
}


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


def text(words: str) -> Block:
    """Return a text block."""
    return {'type': 'text', 'text': words}


def thinking(words: str, *, signature: str | None = None) -> Block:
    """Return a thinking block; without a signature it gets a fresh one when it is sent."""
    return {'type': 'thinking', 'thinking': words, 'signature': signature}


def tool_use(name: str, arguments: Any = None, *, id: str | None = None) -> Block:
    """Return a tool call; without an id it gets a fresh one when it is sent."""
    return {'type': 'tool_use', 'id': id, 'name': name, 'input': arguments or {}}


def message(*blocks: Block, stop_reason: str | None = None, **fields: Any) -> Reply:
    """Return a message with these blocks; `fields` sets others of it, for instance `usage`."""
    calls = any(block['type'] == 'tool_use' for block in blocks)
    body = {
        'type': 'message',
        'role': 'assistant',
        'content': list(blocks),
        'stop_reason': stop_reason or ('tool_use' if calls else 'end_turn'),
        'stop_sequence': None,
        'usage': {'input_tokens': 100, 'output_tokens': 20},
        **fields,
    }
    return Reply(body=body)


def failure(
    status: int, words: str = 'scripted', *, retry_after: str | None = None, **headers: str
) -> Reply:
    """Return an error as the API gives it, for instance 429, 500 or 529."""
    kind = _ERROR_TYPES.get(status, 'api_error')
    if retry_after is not None:
        headers['retry-after'] = retry_after
    body = {'type': 'error', 'error': {'type': kind, 'message': words}}
    return Reply(status, body, headers)


def hang() -> Reply:
    """Return an answer that never comes; it ends with the server or the client."""
    return Reply(ends='hang')


def cut() -> Reply:
    """Return the loss of the connection before any answer."""
    return Reply(ends='cut')


class MessagesApi:
    """The server, in threads of its own on a free loopback port; a context manager.

    :param replies: given in order; one may be a function from the request's body to a reply.
    :param api_key: the key to insist on; None takes any.
    """

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
        return f'http://127.0.0.1:{self._server.server_address[1]}'

    def __enter__(self) -> MessagesApi:
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
            broken = broken_rules(body, headers, self._sent)
            self.requests.append(Request(headers, body, broken))
            self._changed.notify_all()
            if path.partition('?')[0] != '/v1/messages':
                return failure(404, f'{path} is not here')
            if self._api_key is not None and self._api_key != _key_of(headers):
                return failure(401, 'invalid x-api-key')
            if broken:
                return failure(400, '; '.join(broken))
            if not self._replies:
                return failure(400, 'the script of the stub is exhausted')
            reply = self._replies.pop(0)
            if not isinstance(reply, Reply):
                reply = reply(body)
            return self._completed(reply, body)

    def wait_until_closed(self, timeout_s: float) -> bool:
        """Return whether the server was closed within so many seconds."""
        return self._closing.wait(timeout_s)

    def _completed(self, reply: Reply, request: Any) -> Reply:
        """Return the reply with the ids that the API would make, and remember its content."""
        if not isinstance(reply.body, dict) or reply.body.get('type') != 'message':
            return reply
        content = []
        for block in reply.body['content']:
            missing = {key for key in ('id', 'signature') if block.get(key, '') is None}
            self._ids += len(missing)
            content.append({**block, **{key: f'{key}_{self._ids:04d}' for key in missing}})
        self._sent.append(Sent(content, request))
        made = {'id': f'msg_{len(self._sent):04d}', 'model': request['model']}
        return Reply(reply.status, {**made, **reply.body, 'content': content}, reply.headers)


def _key_of(headers: Headers) -> str:
    return headers.get('x-api-key') or headers.get('authorization', '').removeprefix('Bearer ')


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], api: MessagesApi) -> None:
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
        self.send_header('request-id', f'req_{time.monotonic_ns()}')
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
