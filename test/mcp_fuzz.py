# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody should send, from a seed, and the well-formed calls between them.

Each is bytes on a wire: what is wrong with it may be the JSON, the JSON-RPC, the MCP, the HTTP, or
the order. The same JSON goes over HTTP and over stdio.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import json
import random
from typing import Any

DEEP = 100_000
"""Levels of the deepest nesting: any parser or walker that recurses overflows."""
BIG = 1_500_000
"""Bytes of an oversized body; the bound is 1 MiB."""
INFO = {'name': 'fuzz', 'version': '1'}
HEX = '0123456789abcdef'


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to send."""

    kind: str
    body: bytes
    expects: int | None = None
    """The id under which exactly one result must come; None where nothing well-formed is asked."""
    calls: bool = False
    """Whether it is a call that must be recorded."""
    method: str = 'POST'
    target: str = '/mcp'
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """The whole request, where HTTP itself is what is wrong."""
    cut: bool = False
    """Whether the connection is closed without waiting for an answer."""
    streams: bool = False
    """Whether an answer may be a stream without end: only its head is read."""


class Fuzz:
    """Makes cases of one protocol era.

    :param session: the headers of a session where the era has one.
    """

    def __init__(self, rng: random.Random, era: str, session: Mapping[str, str]) -> None:
        self.rng = rng
        self.era = era
        self.session = dict(session)
        self.host = '127.0.0.1'
        self._next_id = 1000

    # -- well-formed -----------------------------------------------------------------------------

    def call(self) -> Case:
        """Return a well-formed call: its arguments may be nonsense, it is a call all the same."""
        rng, number = self.rng, self.new_id()
        name, arguments = rng.choice(
            (
                ('list_places', {}),
                ('get_world_snapshot', {}),
                ('get_action', {'action_id': ''.join(rng.choices(HEX, k=32))}),
                ('get_action', {'action_id': self.value()}),
                ('wait_for_action', {'action_id': 'f' * 32, 'timeout_s': self.value()}),
                ('cancel_action', {'action_id': ''.join(rng.choices(HEX, k=32))}),
                ('navigate_to_pose', {'x': self.value(), 'y': self.value()}),
                ('navigate_to_pose', self.value()),
                ('navigate_to_place', {'name': self.value(), 'speed': 9}),
                (rng.choice(('no_such_tool', 'finish_mission', 'r\u00fcm\u00e4', 'x' * 3)), {}),
            )
        )
        message = self.request('tools/call', {'name': name, 'arguments': arguments}, number)
        return self.posted('call', message, expects=number, calls=True)

    def question(self) -> Case:
        """Return another well-formed request, which is answered with a result or an error."""
        number = self.new_id()
        method, params = self.rng.choice(
            (
                ('tools/list', {}),
                ('resources/list', {}),
                ('resources/templates/list', {}),
                ('resources/read', {'uri': 'robot://world/latest'}),
                ('resources/read', {'uri': f'robot://actions/{"0" * 32}'}),
                ('no/such/method', {}),
                ('tools/list', {'cursor': 'nowhere'}),
                ('completion/complete', {'ref': {}, 'argument': {}}),
                ('prompts/list', {}),
                ('prompts/get', {'name': 'mission_briefing'}),
                ('prompts/get', {'name': 'incident_review', 'arguments': {'mission_id': 'x'}}),
                ('prompts/get', {'name': 'no such prompt'}),
                ('resources/subscribe', {'uri': 'robot://world/latest'}),
                ('resources/unsubscribe', {'uri': f'robot://actions/{"0" * 32}'}),
                ('resources/subscribe', {'uri': 'file:///etc/passwd'}),
                ('tasks/get', {'taskId': '0' * 32}),
                ('tasks/cancel', {'taskId': 'x' * 200}),
            )
        )
        return self.posted('question', self.request(method, params, number), expects=number)

    def request(self, method: str, params: dict[str, Any], number: Any) -> dict[str, Any]:
        """Return a request of the era."""
        if self.era != 'legacy':
            meta = {
                'io.modelcontextprotocol/protocolVersion': self.era,
                'io.modelcontextprotocol/clientInfo': INFO,
                'io.modelcontextprotocol/clientCapabilities': {},
            }
            params = {**params, '_meta': meta}
        return {'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params}

    def posted(self, kind: str, message: dict[str, Any], **more: Any) -> Case:
        """Return a message with the headers that the era asks for."""
        # As it would be written by a client: escapes for what is no UTF-8.
        return Case(kind, json.dumps(message).encode(), headers=self.headers(message), **more)

    def headers(self, message: Any) -> dict[str, str]:
        """Return the headers of a good request that carries the message."""
        found = {
            'content-type': 'application/json',
            'accept': 'application/json, text/event-stream',
            **self.session,
        }
        if self.era != 'legacy':
            found['mcp-protocol-version'] = self.era
            if isinstance(message, dict) and isinstance(message.get('method'), str):
                found['mcp-method'] = message['method']
                params = message.get('params') if isinstance(message.get('params'), dict) else {}
                names = [params.get(key) for key in ('name', 'uri', 'taskId')]
                name = next((text for text in names if isinstance(text, str)), None)
                if isinstance(name, str) and name.isascii() and name.isprintable():
                    found['mcp-name'] = name
                elif isinstance(name, str) and name.isprintable():
                    # MCP 2026-07-28, "Value Encoding"
                    import base64

                    coded = base64.b64encode(name.encode()).decode()
                    found['mcp-name'] = f'=?base64?{coded}?='
        return found

    def new_id(self) -> int:
        """Return an id that was not used."""
        self._next_id += 1
        return self._next_id

    def value(self) -> Any:
        """Return a value that JSON can carry."""
        rng = self.rng
        return rng.choice(
            (
                lambda: rng.uniform(-1e9, 1e9),
                lambda: rng.choice((0, -1, 2**31, 2**63, -(2**64), 10**400)),
                lambda: rng.choice((True, False, None)),
                lambda: ''.join(chr(rng.randrange(0x20, 0x2FF)) for _ in range(rng.randrange(40))),
                lambda: '\x00\u202e\uffff' + 'x' * rng.randrange(2000),
                lambda: [self.value() for _ in range(rng.randrange(3))],
                lambda: {str(rng.random()): self.value() for _ in range(rng.randrange(3))},
                lambda: {str(n): n for n in range(rng.randrange(400))},
            )
        )()

    # -- what is wrong in the JSON, for both transports ------------------------------------------

    def json_case(self) -> Case:
        """Return a body that is wrong in itself."""
        kind, make = self.rng.choice(_BODIES)
        message = self.request('tools/call', {'name': 'list_places', 'arguments': {}}, 1)
        body = make(self, message)
        return Case(kind, body, headers=self.headers(message))

    # -- what is wrong in the HTTP ---------------------------------------------------------------

    def http_case(self) -> Case:
        """Return a request whose HTTP is wrong, or is not what it should be."""
        kind, make = self.rng.choice(_REQUESTS)
        return make(self, kind)

    def good(self) -> tuple[dict[str, str], bytes]:
        """Return headers and body of a good request."""
        message = self.request('tools/list', {}, self.new_id())
        return self.headers(message), json.dumps(message).encode()

    def head(self, method: str, target: str, headers: Mapping[str, str], version: str) -> bytes:
        """Return the head of a request."""
        lines = [f'{method} {target} HTTP/{version}', f'host: {self.host}']
        lines += [f'{name}: {value}' for name, value in headers.items()]
        return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace')

    def wire(self, case: Case) -> bytes:
        """Return the bytes of a request."""
        if case.raw is not None:
            return case.raw
        headers = {**case.headers, 'content-length': str(len(case.body))}
        return self.head(case.method, case.target, headers, '1.1') + case.body


_Body = Callable[[Fuzz, dict[str, Any]], bytes]


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def _with(message: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {**message, **changed}


def _params(message: dict[str, Any], **changed: Any) -> bytes:
    return _text(_with(message, params={**message['params'], **changed}))


def _spliced(message: dict[str, Any], arguments: bytes) -> bytes:
    """Return the message with these bytes in the place of its arguments."""
    return _params(message, arguments='HERE').replace(b'"HERE"', arguments)


def _mutated(fuzz: Fuzz, message: dict[str, Any]) -> bytes:
    """Return good JSON with a few bytes changed, taken out, or put in."""
    body, rng = bytearray(_text(message)), fuzz.rng
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(body))
        what = rng.randrange(3)
        if what == 0:
            body[at] = rng.randrange(256)
        elif what == 1:
            del body[at]
        else:
            body.insert(at, rng.choice(b'{}[]",:\\\x00\xff'))
    return bytes(body)


_BODIES: tuple[tuple[str, _Body], ...] = (
    ('empty', lambda f, m: b''),
    ('white space', lambda f, m: b' \t\r '),
    ('no JSON', lambda f, m: b'POST me'),
    ('random bytes', lambda f, m: f.rng.randbytes(f.rng.randrange(1, 3000))),
    ('mutated', _mutated),
    ('mutated', _mutated),
    ('mutated', _mutated),
    ('truncated', lambda f, m: _text(m)[: f.rng.randrange(1, len(_text(m)))]),
    ('trailing garbage', lambda f, m: _text(m) + b'}'),
    ('two values', lambda f, m: _text(m) + _text(m)),
    ('byte order mark', lambda f, m: b'\xef\xbb\xbf' + _text(m)),
    ('UTF-16', lambda f, m: json.dumps(m).encode('utf-16')),
    ('UTF-32', lambda f, m: json.dumps(m).encode('utf-32-be')),
    ('invalid UTF-8', lambda f, m: _spliced(m, b'{"a":"\xff\xfe\xc0\x80"}')),
    ('overlong UTF-8', lambda f, m: _spliced(m, b'{"a":"\xed\xa0\x80"}')),
    ('lone surrogates', lambda f, m: _spliced(m, rb'{"\ud800":"\udfff\ud800"}')),
    ('surrogate method', lambda f, m: _text(_with(m, method='\ud800'))),
    ('surrogate name', lambda f, m: _params(m, name='\udfff')),
    ('surrogate id', lambda f, m: _text(_with(m, id='\ud800'))),
    ('NaN', lambda f, m: _spliced(m, b'{"x":NaN,"y":Infinity}')),
    ('minus Infinity', lambda f, m: _spliced(m, b'-Infinity')),
    ('overflowing number', lambda f, m: _spliced(m, b'{"x":1e999,"y":-1e999}')),
    ('huge integer', lambda f, m: _spliced(m, b'{"x":' + b'9' * 5000 + b'}')),
    ('huge id', lambda f, m: _text(m).replace(b'"id": 1', b'"id": ' + b'9' * 5000)),
    ('deep arrays', lambda f, m: _spliced(m, b'[' * DEEP + b']' * DEEP)),
    ('deep objects', lambda f, m: _spliced(m, b'{"a":' * DEEP + b'1' + b'}' * DEEP)),
    ('deep and open', lambda f, m: b'[' * DEEP),
    ('deep enough', lambda f, m: _spliced(m, b'[' * 150 + b']' * 150)),
    ('deep params', lambda f, m: _text(_with(m, params=0)).replace(b'0', b'[' * 9999)),
    ('deep meta', lambda f, m: _params(m, _meta='HERE').replace(b'"HERE"', b'[' * 99 + b']' * 99)),
    ('many keys', lambda f, m: _params(m, arguments={str(n): 0 for n in range(20_000)})),
    ('duplicate keys', lambda f, m: _text(m).replace(b'{', b'{"method":"x","id":[],', 1)),
    ('duplicate arguments', lambda f, m: _spliced(m, b'{"x":1,"x":[1],"x":"no"}')),
    ('batch', lambda f, m: _text([m, _with(m, id=2)])),
    ('empty batch', lambda f, m: b'[]'),
    ('scalar', lambda f, m: f.rng.choice((b'1', b'null', b'"tools/list"', b'true', b'1e5'))),
    ('empty object', lambda f, m: b'{}'),
    ('wrong jsonrpc', lambda f, m: _text(_with(m, jsonrpc=f.value()))),
    ('wrong id', lambda f, m: _text(_with(m, id=f.rng.choice(
        (None, 1.5, True, [], {}, -1, '', 'x' * 9000, -(10**30)))))),
    ('wrong method', lambda f, m: _text(_with(m, method=f.value()))),
    ('no method', lambda f, m: _text({k: v for k, v in m.items() if k != 'method'})),
    ('wrong params', lambda f, m: _text(_with(m, params=f.value()))),
    ('wrong name', lambda f, m: _params(m, name=f.value())),
    ('long name', lambda f, m: _params(m, name='n' * 50_000)),
    ('wrong meta', lambda f, m: _params(m, _meta=f.value())),
    ('wrong progress token', lambda f, m: _params(m, _meta={'progressToken': f.value()})),
    ('a result nobody asked for', lambda f, m: _text(
        {'jsonrpc': '2.0', 'id': f.rng.randrange(9), 'result': f.value()})),
    ('an error nobody asked for', lambda f, m: _text(
        {'jsonrpc': '2.0', 'id': 1, 'error': {'code': f.value(), 'message': f.value()}})),
    ('cancelled, unknown', lambda f, m: _text(
        {'jsonrpc': '2.0', 'method': 'notifications/cancelled',
         'params': {'requestId': f.rng.choice((0, -5, 'x', None, [], 2**70, 1.5))}})),
    ('progress of nothing', lambda f, m: _text(
        {'jsonrpc': '2.0', 'method': 'notifications/progress', 'params': f.value()})),
    ('unknown notification', lambda f, m: _text({'jsonrpc': '2.0', 'method': 'x', 'params': {}})),
    ('initialized again', lambda f, m: _text(
        {'jsonrpc': '2.0', 'method': 'notifications/initialized'})),
    ('initialize again', lambda f, m: _text(
        {'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': f.value()})),
    ('unknown resource', lambda f, m: _text(_with(
        m, method='resources/read', params={**m['params'], 'uri': f.value()}))),
    ('listening to what is not', lambda f, m: _text(_with(
        m, method='subscriptions/listen', params={
            **m['params'], 'notifications': {'resourceSubscriptions': f.value()}}))),
    ('arguments of a prompt', lambda f, m: _text(_with(m, method='prompts/get', params={
        **m['params'], 'name': 'incident_review', 'arguments': f.value()}))),
    ('a task', lambda f, m: _text(_with(
        m, method='tasks/cancel', params={**m['params'], 'taskId': f.value()}))),
    ('idempotency key', lambda f, m: _params(m, _meta={
        **m['params'].get('_meta', {}), 'robot-agent-harness/idempotency_key': f.value()})),
    ('log level', lambda f, m: _text(_with(m, method='logging/setLevel', params=f.value()))),
    ('oversized', lambda f, m: _params(m, arguments={'x': 'y' * BIG})),
)  # fmt: skip
"""What a body can be, by what is wrong with it."""


def _changed(change: Callable[[Fuzz], Mapping[str, str]]) -> Callable[[Fuzz, str], Case]:
    """Return what makes a good request with these headers in the place of its own."""

    def make(fuzz: Fuzz, kind: str) -> Case:
        headers, body = fuzz.good()
        return Case(kind, body, headers={**headers, **change(fuzz)})

    return make


def _raw(make_bytes: Callable[[Fuzz], bytes], **more: Any) -> Callable[[Fuzz, str], Case]:
    def make(fuzz: Fuzz, kind: str) -> Case:
        return Case(kind, b'', raw=make_bytes(fuzz), **more)

    return make


def _other_method(fuzz: Fuzz, kind: str) -> Case:
    headers, body = fuzz.good()
    method = fuzz.rng.choice(('GET', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'BREW', 'post'))
    return Case(kind, body, method=method, headers=headers, streams=True)


def _framed(fuzz: Fuzz, framing: Mapping[str, str], tail: bytes) -> bytes:
    headers, _ = fuzz.good()
    return fuzz.head('POST', '/mcp', {**headers, **framing}, '1.1') + tail


def _pipelined(fuzz: Fuzz) -> bytes:
    headers, body = fuzz.good()
    one = fuzz.head('POST', '/mcp', {**headers, 'content-length': str(len(body))}, '1.1') + body
    return one * 5 + b'garbage\r\n\r\n'


def _get(fuzz: Fuzz, target: str, version: str = '1.1', **headers: str) -> bytes:
    return fuzz.head('GET', target, headers, version)


_CHUNKED = {'transfer-encoding': 'chunked'}
_REQUESTS: tuple[tuple[str, Callable[[Fuzz, str], Case]], ...] = (
    ('content type', _changed(lambda f: {'content-type': f.rng.choice(
        ('', 'text/plain', 'application/xml', 'application/json; charset=utf-16', 'a' * 999))})),
    ('accept', _changed(lambda f: {'accept': f.rng.choice(('', 'text/html', '*/*', ',;q=x'))})),
    ('session id', _changed(lambda f: {'mcp-session-id': f.rng.choice(
        ('x', '0' * 32, '../..', 'a' * 5000, '\xff\xfe', ' '))})),
    ('protocol version', _changed(lambda f: {'mcp-protocol-version': f.rng.choice(
        ('', '1999-01-01', '2026-07-28', '2025-11-25', 'x' * 500, '\xff'))})),
    ('routing headers', _changed(lambda f: {'mcp-method': 'x', 'mcp-name': '=?base64?x'})),
    ('host', _changed(lambda f: {'host': f.rng.choice(('evil', '', '127.0.0.1:1', '[::1'))})),
    ('origin', _changed(lambda f: {'origin': f.rng.choice(('null', 'http://evil', '\xff'))})),
    ('authorization', _changed(lambda f: {'authorization': f.rng.choice(
        ('Bearer', 'Bearer x', 'Basic eDp5', 'Bearer \xff', 'x' * 4000))})),
    ('content encoding', _changed(lambda f: {'content-encoding': 'gzip'})),
    ('upgrade', _changed(lambda f: {'connection': 'upgrade', 'upgrade': 'websocket'})),
    ('expect', _changed(lambda f: {'expect': '100-continue'})),
    ('delete', lambda f, kind: Case(kind, b'', method='DELETE', headers={
        'mcp-session-id': f.rng.choice(('x', '', '0' * 32))})),
    ('method', _other_method),
    ('method', _other_method),
    ('replay', _raw(lambda f: _get(f, '/mcp', accept='text/event-stream', **{
        'last-event-id': 'x'}), streams=True)),
    ('target', _raw(lambda f: _get(f, f.rng.choice(
        ('/', '*', '/mcp/', '/mcp/../mcp', '/%00', '/mcp?x=%ff', '//evil/mcp', '/' + 'a' * 9000,
         'http://evil/mcp', '/.well-known/oauth-protected-resource'))))),
    ('HTTP/1.0', _raw(lambda f: _get(f, '/mcp', '1.0'))),
    ('HTTP/9', _raw(lambda f: _get(f, '/mcp', '9.9'))),
    ('HTTP/0.9', _raw(lambda f: b'GET /mcp\r\n\r\n')),
    ('HTTP/2', _raw(lambda f: b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + bytes(9))),
    ('TLS', _raw(lambda f: b'\x16\x03\x01\x02\x00\x01' + f.rng.randbytes(500))),
    ('noise', _raw(lambda f: f.rng.randbytes(f.rng.randrange(1, 500)) + b'\r\n\r\n')),
    ('no host', _raw(lambda f: b'GET /mcp HTTP/1.1\r\n\r\n')),
    ('two hosts', _raw(lambda f: _get(f, '/mcp', Host='evil'))),
    ('header flood', _raw(lambda f: _get(f, '/mcp', **{f'x-{n}': 'y' for n in range(5000)}))),
    ('long header', _raw(lambda f: _get(f, '/mcp', x='y' * 100_000))),
    ('NUL in a header', _raw(lambda f: _get(f, '/mcp', x='a\x00b'))),
    ('folded header', _raw(lambda f: _get(f, '/mcp', x='a\r\n b'))),
    ('connect', _raw(lambda f: f.head('CONNECT', 'evil:443', {}, '1.1'))),
    ('no length', _raw(lambda f: _framed(f, {}, b'{}'))),
    ('wrong length', _raw(lambda f: _framed(f, {'content-length': f.rng.choice(
        ('-1', 'x', '1, 2', '1e3', '9' * 30, ''))}, b'{}'))),
    ('too short', _raw(lambda f: _framed(f, {'content-length': '500'}, b'{"id":'), cut=True)),
    ('too long', _raw(lambda f: _framed(f, {'content-length': '2'}, b'{}{}{}'))),
    ('chunked', _raw(lambda f: _framed(f, _CHUNKED, b'2\r\n{}\r\n0\r\n\r\n'))),
    ('chunk cut', _raw(lambda f: _framed(f, _CHUNKED, b'fff\r\n{"id":'), cut=True)),
    ('bad chunk', _raw(lambda f: _framed(f, _CHUNKED, b'zz\r\n{}\r\n0\r\n\r\n'))),
    ('bad chunk later', _raw(lambda f: _framed(f, _CHUNKED, b'2\r\n{}\r\nzz\r\n\r\n'))),
    ('huge chunk', _raw(lambda f: _framed(f, _CHUNKED, b'f' * 17 + b'\r\n{}'))),
    ('chunked and oversized', _raw(lambda f: _framed(
        f, _CHUNKED, b'fffff\r\n' + b'x' * 0xFFFFF + b'\r\n' + b'fffff\r\n' + b'x' * 0xFFFFF
        + b'\r\n0\r\n\r\n'))),
    ('both lengths', _raw(lambda f: _framed(
        f, {**_CHUNKED, 'content-length': '2'}, b'2\r\n{}\r\n0\r\n\r\n'))),
    ('head cut', _raw(lambda f: b'POST /mcp HTTP/1.1\r\nhost: x', cut=True)),
    ('pipelined', _raw(_pipelined)),
    ('nothing', _raw(lambda f: b'', cut=True)),
)  # fmt: skip
"""What a request can be, by what is wrong with it."""
