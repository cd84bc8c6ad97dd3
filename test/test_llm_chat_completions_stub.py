# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The stub of Chat Completions refuses what servers refuse, or the tests would prove nothing."""

import copy
import json
import urllib.error
import urllib.request

import pytest

from robot_agent_harness.testing.chat_completions import (
    ChatCompletionsApi,
    completion,
    failure,
    tool_call,
)
from robot_agent_harness.testing.chat_completions_rules import broken_rules
from robot_agent_harness.testing.stub_server import Sent

CALL = {'id': 'c1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{}'}}
ANSWER = {
    'role': 'assistant',
    'content': 'I look.',
    'reasoning_content': 'Hm.',
    'refusal': None,
    'tool_calls': [CALL],
}
TOOL = {
    'type': 'function',
    'function': {'name': 'look', 'description': 'Look.', 'parameters': {'type': 'object'}},
}
FIRST = {
    'model': 'some-model',
    'max_tokens': 100,
    'tools': [TOOL],
    'tool_choice': 'auto',
    'messages': [
        {'role': 'system', 'content': 'You drive a robot.'},
        {'role': 'user', 'content': 'Go.'},
    ],
}
SECOND = {
    **FIRST,
    'messages': [
        *FIRST['messages'],
        {key: value for key, value in ANSWER.items() if value is not None},
        {'role': 'tool', 'tool_call_id': 'c1', 'content': 'ok'},
        {'role': 'user', 'content': 'Then?'},
    ],
}
HEADERS = {'authorization': 'Bearer k'}


def test_sound_requests_break_no_rule():
    assert broken_rules(FIRST, HEADERS) == []
    assert broken_rules(SECOND, HEADERS, [Sent(ANSWER, FIRST)]) == []


def without(*path):
    def change(body):
        for part in path[:-1]:
            body = body[part]
        body.pop(path[-1])

    return change


def at(*path, to):
    def change(body):
        for part in path[:-1]:
            body = body[part]
        body[path[-1]] = to

    return change


FUNCTION = ('messages', 2, 'tool_calls', 0, 'function')


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        (without('model'), 'model: required'),
        (at('max_tokens', to=0), 'max_tokens: must be an integer'),
        (at('max_completion_tokens', to=9), 'not together with max_completion_tokens'),
        (at('model', to='gpt-5'), 'use max_completion_tokens'),
        (at('temprature', to=1), 'temprature: unknown'),
        (without('messages'), 'messages: at least one'),
        (at('messages', to=[]), 'messages: at least one'),
        (at('messages', 1, 'role', to='human'), 'role: unknown'),
        (at('messages', 1, 'content', to=' '), 'messages.1.content: must not be empty'),
        (at('messages', 1, 'content', to=None), 'messages.1.content: must not be empty'),
        (at('messages', 3, 'content', to=''), 'messages.3.content: must not be empty'),
        (at('messages', 1, 'content', to=[{'type': 'text', 'text': ''}]), 'must not be empty'),
        (without('messages', 2, 'tool_calls'), 'answers no call'),
        (at('messages', 2, 'tool_calls', to=[]), 'tool_calls: must not be empty'),
        (at('messages', 2, 'tool_calls', to=[CALL, CALL]), 'an id of its own'),
        (at('messages', 2, 'tool_calls', 0, 'id', to=''), 'an id of its own'),
        (at(*FUNCTION, 'name', to='look around'), 'name: must match'),
        (at(*FUNCTION, 'arguments', to='{"x": '), 'an object as JSON text'),
        (at(*FUNCTION, 'arguments', to='[]'), 'an object as JSON text'),
        (at(*FUNCTION, 'arguments', to={}), 'an object as JSON text'),
        (lambda body: body['messages'].pop(3), 'tool_calls without a tool message'),
        (lambda body: body['messages'].insert(3, body['messages'][3]), 'answers no call'),
        (at('messages', 3, 'tool_call_id', to='c9'), 'answers no call'),
        (lambda body: body['messages'].insert(1, body['messages'][1]), 'twice user'),
        (lambda body: body['messages'].append(body['messages'][0]), 'must come first'),
        (lambda body: body['messages'].pop(1), "must be the user's"),
        (at('messages', 2, 'content', to='I see.'), 'must come back as it was'),
        (at('messages', 2, 'reasoning_content', to='Hm'), 'must come back as it was'),
        (without('messages', 2, 'reasoning_content'), 'must be passed back'),
        (at(*FUNCTION, 'arguments', to='{ }'), 'must come back as it was'),
        (at('messages', 0, 'content', to='You drive a car.'), 'messages before it changed'),
        (at('tools', 0, 'function', 'description', to='Peep.'), 'tools before it changed'),
        (at('tools', 0, 'type', to='tool'), "tools.0.type: must be 'function'"),
        (at('tools', 0, 'function', 'name', to='x' * 65), 'tools.0.function.name: must match'),
        (lambda body: body['tools'].append(body['tools'][0]), 'must be unique'),
        (at('tools', 0, 'function', 'parameters', to={}), "type: must be 'object'"),
        (
            at('tools', 0, 'function', 'parameters', to={'type': 'object', 'required': ['x']}),
            'names a property that is not there',
        ),
        (without('tools'), 'tool_choice: needs tools'),
        (at('tool_choice', to='any'), 'tool_choice: must be'),
        (at('reasoning_effort', to='huge'), 'reasoning_effort: must be one of'),
        (
            lambda body: body.update(model='o3', parallel_tool_calls=False),
            'parallel_tool_calls: not supported',
        ),
        (at('model', to='gpt-5.6-sol'), "must be 'none' beside tools"),
        (
            lambda body: body.update(model='deepseek-v4-pro', tool_choice='required'),
            'thinking mode does not support',
        ),
    ],
)
def test_a_broken_rule_is_found(change, said):
    body = copy.deepcopy(SECOND)
    change(body)
    assert any(said in problem for problem in broken_rules(body, HEADERS, [Sent(ANSWER, FIRST)]))


def test_an_answer_must_not_be_the_last_word():
    body = {**FIRST, 'messages': [*FIRST['messages'], {'role': 'assistant', 'content': 'Hm.'}]}
    assert broken_rules(body) == ["messages: the last one must not be the assistant's"]


def test_a_missing_key_is_found():
    assert broken_rules(FIRST, {}) == ['header authorization: required, Bearer and a key']


def post(api, body, **headers):
    request = urllib.request.Request(
        f'{api.base_url}/chat/completions',
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
    with ChatCompletionsApi(completion('Hi.')) as api:
        status, _, body = post(api, {**FIRST, 'max_tokens': 0})
        assert (status, body['error']['type']) == (400, 'invalid_request_error')
        assert 'max_tokens' in body['error']['message']
        status, _, body = post(api, FIRST)
        assert (status, body['choices'][0]['message']['content']) == (200, 'Hi.')
        assert post(api, FIRST)[0] == 400  # no answer is left
    assert [bool(request.broken_rules) for request in api.requests] == [True, False, False]


def test_answers_get_ids_and_failures_get_headers():
    replies = [
        failure(429, 'slow down', code='rate_limit_exceeded', retry_after='3'),
        completion(None, tool_call('look'), tool_call('look', {'at': 'x'})),
        lambda body: completion(body['messages'][-1]['content'].upper()),
    ]
    with ChatCompletionsApi(api_key='k') as api:
        api.add(*replies)
        status, headers, body = post(api, FIRST)
        assert (status, headers['retry-after']) == (429, '3')
        assert body['error']['code'] == 'rate_limit_exceeded'
        _, _, body = post(api, FIRST)
        calls = body['choices'][0]['message']['tool_calls']
        assert len({call['id'] for call in calls}) == 2
        assert body['choices'][0]['finish_reason'] == 'tool_calls'
        assert body['id'].startswith('chatcmpl-')
        _, _, body = post(api, FIRST)
        assert body['choices'][0]['message']['content'] == 'GO.'
        assert post(api, FIRST, authorization='Bearer other')[0] == 401
        api.wait_for_requests(4)
