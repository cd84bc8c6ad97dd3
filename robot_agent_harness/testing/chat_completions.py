# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A local stand-in for the Chat Completions API, on :class:`StubServer`.

    with ChatCompletionsApi(completion('I go.', tool_call('navigate_to_pose', {'x': 1.0}))) as api:
        client = OpenAIClient(model='test', base_url=api.base_url)
        ...
        assert api.requests[0].body['tools']

A message that it sent must come back as it was; see `chat_completions_rules` for all that it
demands.
"""

from __future__ import annotations

import json
from typing import Any

from robot_agent_harness.testing.chat_completions_rules import broken_rules
from robot_agent_harness.testing.stub_server import cut as cut
from robot_agent_harness.testing.stub_server import hang as hang
from robot_agent_harness.testing.stub_server import Headers, Reply, Sent, StubServer

_ERROR_TYPES = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    404: 'not_found_error',
    429: 'rate_limit_error',
}


def tool_call(name: str, arguments: Any = None, *, id: str | None = None) -> dict[str, Any]:
    """Return a tool call; without an id it gets a fresh one when it is sent.

    :param arguments: an object, or the text that goes out in its place.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {'id': id, 'type': 'function', 'function': {'name': name, 'arguments': text}}


def completion(
    content: Any = None,
    *calls: dict[str, Any],
    finish_reason: str | None = None,
    message: dict[str, Any] | None = None,
    **fields: Any,
) -> Reply:
    """Return an answer with this text and these calls.

    :param message: sets other fields of the message, for instance `reasoning_content`.
    :param fields: others of the answer, for instance `usage`.
    """
    said = {'role': 'assistant', 'content': content, 'refusal': None, **(message or {})}
    if calls:
        said['tool_calls'] = list(calls)
    reason = finish_reason or ('tool_calls' if calls else 'stop')
    body = {
        'object': 'chat.completion',
        'created': 1_780_000_000,
        'choices': [{'index': 0, 'message': said, 'finish_reason': reason, 'logprobs': None}],
        'usage': {'prompt_tokens': 100, 'completion_tokens': 20, 'total_tokens': 120},
        **fields,
    }
    return Reply(body=body)


def failure(
    status: int,
    words: str = 'scripted',
    *,
    code: str | None = None,
    retry_after: str | None = None,
    **headers: str,
) -> Reply:
    """Return an error as the API gives it, for instance 429 or 500."""
    if retry_after is not None:
        headers['retry-after'] = retry_after
    kind = _ERROR_TYPES.get(status, 'server_error')
    body = {'error': {'message': words, 'type': kind, 'param': None, 'code': code}}
    return Reply(status, body, headers)


class ChatCompletionsApi(StubServer):
    """The server, in threads of its own on a free loopback port; a context manager.

    :param replies: given in order; one may be a function from the request's body to a reply.
    :param api_key: the key to insist on; None takes any.
    """

    base_path = '/v1'
    path = '/chat/completions'

    def _broken_rules(self, body: Any, headers: Headers) -> list[str]:
        return broken_rules(body, headers, self._sent)

    def _failure(self, status: int, words: str) -> Reply:
        return failure(status, words)

    def _completed(self, reply: Reply, request: Any) -> Reply:
        if not isinstance(reply.body, dict) or reply.body.get('object') != 'chat.completion':
            return reply
        choices = []
        for choice in reply.body['choices']:
            message = dict(choice['message'])
            if isinstance(message.get('tool_calls'), list):
                message['tool_calls'] = [self._with_id(call) for call in message['tool_calls']]
            self._sent.append(Sent(message, request))
            choices.append({**choice, 'message': message})
        made = {'id': f'chatcmpl-{len(self._sent):04d}', 'model': request['model']}
        return Reply(reply.status, {**made, **reply.body, 'choices': choices}, reply.headers)

    def _with_id(self, call: Any) -> Any:
        if not isinstance(call, dict) or call.get('id', '') is not None:
            return call
        self._ids += 1
        return {**call, 'id': f'call_{self._ids:04d}'}
