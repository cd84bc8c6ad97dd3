# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The stub of the Messages API refuses what the API refuses, or the tests would prove nothing."""

import copy
import json
import urllib.error
import urllib.request

import pytest

from robot_agent_harness.testing.messages_api import (
    failure,
    message,
    MessagesApi,
    text,
    thinking,
    tool_use,
)
from robot_agent_harness.testing.messages_api_rules import broken_rules
from robot_agent_harness.testing.stub_server import Sent

ANSWER = [
    {'type': 'thinking', 'thinking': 'Hm.', 'signature': 'c2ln'},
    {'type': 'text', 'text': ''},
    {'type': 'tool_use', 'id': 'tu1', 'name': 'look', 'input': {}},
]
RESULT = {'type': 'tool_result', 'tool_use_id': 'tu1', 'content': 'ok'}
FIRST = {
    'model': 'claude-test',
    'max_tokens': 100,
    'system': 'You drive a robot.',
    'tools': [{'name': 'look', 'description': 'Look.', 'input_schema': {'type': 'object'}}],
    'messages': [{'role': 'user', 'content': 'Go.'}],
}
SECOND = {
    **FIRST,
    'messages': [
        {'role': 'user', 'content': 'Go.'},
        {'role': 'assistant', 'content': [ANSWER[0], ANSWER[2]]},
        {'role': 'user', 'content': [RESULT, {'type': 'text', 'text': 'Then?'}]},
    ],
}
HEADERS = {'anthropic-version': '2023-06-01'}


def test_sound_requests_break_no_rule():
    assert broken_rules(FIRST, HEADERS) == []
    assert broken_rules(SECOND, HEADERS, [Sent(ANSWER, FIRST)]) == []


def without(key):
    return lambda body: body.pop(key)


def at(*path, to):
    def change(body):
        for part in path[:-1]:
            body = body[part]
        body[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        (without('model'), 'model: required'),
        (without('max_tokens'), 'max_tokens'),
        (without('messages'), 'messages: at least one'),
        (at('messages', to=[]), 'messages: at least one'),
        (at('temprature', to=1), 'temprature: unknown'),
        (at('messages', 0, 'role', to='assistant'), 'messages.0.role: roles must alternate'),
        (at('messages', 1, 'role', to='user'), 'messages.1.role: roles must alternate'),
        (at('messages', 0, 'content', to=''), 'text blocks must not be empty'),
        (at('messages', 0, 'content', to=[]), 'must not be empty'),
        (at('messages', 2, 'content', 1, 'text', to=' '), 'text blocks must not be empty'),
        (at('system', to=[{'type': 'text', 'text': ''}]), 'system: text blocks'),
        (at('messages', 2, 'content', to=[{'type': 'text', 'text': 'x'}]), 'one tool_result'),
        (at('messages', 2, 'content', to=[RESULT, RESULT]), 'one tool_result'),
        (at('messages', 2, 'content', 0, 'tool_use_id', to='tu9'), 'one tool_result'),
        (
            at('messages', 2, 'content', to=[{'type': 'text', 'text': 'x'}, RESULT]),
            'tool_result blocks must come first',
        ),
        (lambda body: body['messages'].pop(), 'tool_use without tool_result'),
        (at('messages', 1, 'content', 0, 'thinking', to='Hm'), 'must come back as they were'),
        (at('messages', 1, 'content', 0, 'signature', to='x'), 'must come back as they were'),
        (lambda body: body['messages'][1]['content'].pop(0), 'must come back as they were'),
        (lambda body: body['messages'][1]['content'].reverse(), 'last block cannot be thinking'),
        (at('system', to='You drive a car.'), 'system before it changed'),
        (at('tools', 0, 'description', to='Peep.'), 'tools before it changed'),
        (at('messages', 0, 'content', to='Stop.'), 'messages before it changed'),
        (at('tools', 0, 'name', to='look around'), 'tools.0.name: must match'),
        (lambda body: body['tools'].append(body['tools'][0]), 'must be unique'),
        (at('tools', 0, 'input_schema', to={}), "input_schema.type: must be 'object'"),
        (
            at('tools', 0, 'input_schema', to={'type': 'object', 'required': ['x']}),
            'names a property that is not there',
        ),
        (at('thinking', to={'type': 'enabled', 'budget_tokens': 2000}), 'below max_tokens'),
        (
            lambda body: body.update(thinking={'type': 'adaptive'}, tool_choice={'type': 'any'}),
            'cannot be on when tool_choice forces',
        ),
    ],
)
def test_a_broken_rule_is_found(change, said):
    body = copy.deepcopy(SECOND)
    change(body)
    assert any(said in problem for problem in broken_rules(body, HEADERS, [Sent(ANSWER, FIRST)]))


def test_a_budget_for_a_tool_loop_that_began_without_thinking_is_found():
    thinking = {'type': 'enabled', 'budget_tokens': 1024}
    body = {**copy.deepcopy(SECOND), 'max_tokens': 4000, 'thinking': thinking}
    body['messages'][2]['content'].pop()
    assert broken_rules(body) == []
    body['messages'][1]['content'].pop(0)
    assert broken_rules(body) == [
        'messages: with thinking enabled, the assistant turn must start with thinking'
    ]


def test_a_call_that_was_unsound_may_come_back_mended():
    calls = [{**ANSWER[2], 'id': 'tu1'}, {**ANSWER[2], 'id': 'tu1'}, {**ANSWER[2], 'id': 'tu2'}]
    sent = [Sent([ANSWER[0], *calls], FIRST)]
    body = copy.deepcopy(SECOND)
    body['messages'][1]['content'] = [ANSWER[0], calls[0], {**calls[1], 'id': 'tu1_2'}, calls[2]]
    body['messages'][2]['content'] = [
        {**RESULT, 'tool_use_id': id} for id in ('tu1', 'tu1_2', 'tu2')
    ]
    assert broken_rules(body, None, sent) == []
    body['messages'][1]['content'][3] = {**calls[2], 'input': {'a': 1}}
    assert 'must come back as they were' in broken_rules(body, None, sent)[0]


def test_a_missing_version_header_is_found():
    assert broken_rules(FIRST, {}) == ['header anthropic-version: required, a date']


def post(api, body, **headers):
    request = urllib.request.Request(
        f'{api.base_url}/v1/messages',
        json.dumps(body).encode(),
        {'content-type': 'application/json', **HEADERS, **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, json.load(error)


def test_a_bad_request_gets_400_and_uses_no_answer_up():
    with MessagesApi(message(text('Hi.'))) as api:
        status, _, body = post(api, {**FIRST, 'max_tokens': 0})
        assert (status, body['error']['type']) == (400, 'invalid_request_error')
        assert 'max_tokens' in body['error']['message']
        status, _, body = post(api, FIRST)
        assert (status, body['content']) == (200, [text('Hi.')])
        assert post(api, FIRST)[0] == 400  # no answer is left
    assert [bool(request.broken_rules) for request in api.requests] == [True, False, False]


def test_an_answer_is_whole_even_where_the_script_is_short():
    with MessagesApi(message(thinking('Hm.'), tool_use('look'))) as api:
        _, headers, body = post(api, FIRST)
    assert body['id']
    assert body['model'] == 'claude-test'
    assert body['stop_reason'] == 'tool_use'
    assert body['content'][0]['signature']
    assert body['content'][1]['id']
    assert headers['request-id']


def test_a_failure_carries_its_type_and_its_wait():
    with MessagesApi(failure(529, retry_after='3')) as api:
        status, headers, body = post(api, FIRST)
    assert (status, headers['retry-after']) == (529, '3')
    assert body['error']['type'] == 'overloaded_error'


def test_a_wrong_key_is_refused():
    with MessagesApi(message(text('Hi.')), api_key='right') as api:
        assert post(api, FIRST, **{'x-api-key': 'wrong'})[0] == 401
        assert post(api, FIRST, authorization='Bearer right')[0] == 200


def test_an_answer_may_depend_on_the_request():
    with MessagesApi(lambda body: message(text(body['messages'][0]['content']))) as api:
        assert post(api, FIRST)[2]['content'] == [text('Go.')]
