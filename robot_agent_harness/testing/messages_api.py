# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A local stand-in for the Messages API, on :class:`StubServer`.

    with MessagesApi(message(text('I go.'), tool_use('navigate_to_pose', {'x': 1.0}))) as api:
        client = AnthropicClient(model='claude-test', api_key='test', base_url=api.base_url)
        ...
        assert api.requests[0].body['tools']

Content that it sent must come back as it was; see `messages_api_rules` for all that it demands.
"""

from __future__ import annotations

from typing import Any

from robot_agent_harness.testing.messages_api_rules import broken_rules
from robot_agent_harness.testing.stub_server import cut as cut
from robot_agent_harness.testing.stub_server import hang as hang
from robot_agent_harness.testing.stub_server import Headers, Reply, Sent, StubServer

Block = dict[str, Any]

_ERROR_TYPES = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
}


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


class MessagesApi(StubServer):
    """The server, in threads of its own on a free loopback port; a context manager.

    :param replies: given in order; one may be a function from the request's body to a reply.
    :param api_key: the key to insist on; None takes any.
    """

    base_path = ''
    path = '/v1/messages'

    def _broken_rules(self, body: Any, headers: Headers) -> list[str]:
        return broken_rules(body, headers, self._sent)

    def _failure(self, status: int, words: str) -> Reply:
        return failure(status, words)

    def _key_of(self, headers: Headers) -> str:
        return headers.get('x-api-key') or super()._key_of(headers)

    def _completed(self, reply: Reply, request: Any) -> Reply:
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
