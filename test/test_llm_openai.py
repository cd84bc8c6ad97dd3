# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenAI-compatible servers through the official SDK, against a local stub over HTTP."""

from contextlib import asynccontextmanager
import json
import logging
import socket
import traceback

import anyio
import httpx2
import pytest

from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.llm import (
    AssistantMessage,
    ModelRequest,
    ToolResultBlock,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from robot_agent_harness.llm.openai import OpenAIClient
from robot_agent_harness.llm.profiles import CHAT_FAMILIES
from robot_agent_harness.testing.chat_completions import (
    ChatCompletionsApi,
    completion,
    cut,
    failure,
    hang,
    tool_call,
)
from robot_agent_harness.testing.stub_server import Reply

KEY = 'sk-proj-very-secret-0123456789'
NAVIGATE = ToolSpec(
    name='navigate_to_pose',
    description='Drive to a pose.',
    input_schema={
        'type': 'object',
        'properties': {'x': {'type': 'number'}, 'y': {'type': 'number'}},
        'required': ['x', 'y'],
        'additionalProperties': False,
    },
)
GO = {'x': 1.0, 'y': 2.0}


@pytest.fixture
def anyio_backend():
    return 'asyncio'


class Waits:
    """Takes the place of sleeping: keeps how long was asked for and returns at once."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def client_of(api, **settings):
    # Reading the certificates of the world takes longer than a test against loopback.
    plain = httpx2.AsyncClient(verify=False)
    settings = {'model': 'some-model', 'api_key': KEY, 'base_url': api.base_url, **settings}
    client = OpenAIClient(**settings, http_client=plain)
    try:
        yield client
    finally:
        await client.close()


def ask(*messages, system='You drive a robot.', tools=(NAVIGATE,), force_tool=False):
    return ModelRequest(
        system=system, messages=messages, tools=tuple(tools), force_tool=force_tool
    )


def result_of(decision, words='ok', *, then=None):
    return ToolResults(
        tuple(ToolResultBlock(call.id, words, False) for call in decision.tool_calls), then
    )


async def decided(reply, **settings):
    """Return what the client makes of one reply."""
    with ChatCompletionsApi(reply) as api:
        async with client_of(api, **settings) as client:
            return await client.decide(ask(UserMessage('Go.')))


async def answered(reply, **settings):
    """Return the decision of a reply, and the request that answers its calls."""
    with ChatCompletionsApi(reply, completion('Well.')) as api:
        async with client_of(api, **settings) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = (result_of(first),) if first.tool_calls else (UserMessage('And?'),)
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), *results))
    assert [request.broken_rules for request in api.requests] == [[], []]
    return first, api.requests[1].body['messages']


@pytest.mark.anyio
async def test_one_decision_with_text_and_a_tool_call():
    reply = completion(
        'The way is free.',
        tool_call('navigate_to_pose', GO, id='call_a'),
        id='chatcmpl-7',
        usage={
            'prompt_tokens': 812,
            'completion_tokens': 61,
            'total_tokens': 873,
            'prompt_tokens_details': {'cached_tokens': 500, 'audio_tokens': None},
            'completion_tokens_details': {'reasoning_tokens': 9},
            'cost': 0.01,
        },
    )
    with ChatCompletionsApi(reply, api_key=KEY) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go to the shelf.')))

    assert [(c.id, c.name, c.arguments, c.malformed) for c in decision.tool_calls] == [
        ('call_a', 'navigate_to_pose', GO, None)
    ]
    assert (decision.rationale, decision.thinking) == ('The way is free.', None)
    assert decision.stop_reason == 'tool_calls'
    assert decision.usage == {
        'input_tokens': 812,
        'output_tokens': 61,
        'total_tokens': 873,
        'prompt_tokens_details.cached_tokens': 500,
        'completion_tokens_details.reasoning_tokens': 9,
    }
    assert (decision.provider, decision.model) == ('openai', 'some-model')
    assert decision.response_id == 'chatcmpl-7'
    assert decision.raw_content == (reply.body['choices'][0]['message'],)
    [request] = api.requests
    assert request.broken_rules == []
    assert request.body == {
        'model': 'some-model',
        'max_tokens': 4096,
        'messages': [
            {'role': 'system', 'content': 'You drive a robot.'},
            {'role': 'user', 'content': 'Go to the shelf.'},
        ],
        'tools': [
            {
                'type': 'function',
                'function': {
                    'name': 'navigate_to_pose',
                    'description': 'Drive to a pose.',
                    'parameters': NAVIGATE.input_schema,
                },
            }
        ],
        'tool_choice': 'auto',
        'parallel_tool_calls': False,
    }


@pytest.mark.anyio
async def test_without_tools_nothing_is_said_about_calling_them():
    with ChatCompletionsApi(completion('Hi.')) as api:
        async with client_of(api) as client:
            await client.decide(ask(UserMessage('Go.'), tools=(), system=' '))
    assert set(api.requests[0].body) == {'model', 'max_tokens', 'messages'}
    assert [m['role'] for m in api.requests[0].body['messages']] == ['user']


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('fields', 'thinking'),
    [
        ({'reasoning_content': 'Hm.'}, 'Hm.'),
        ({'reasoning': 'Hm.'}, 'Hm.'),
        ({'reasoning': 'Hm.', 'reasoning_details': [{'type': 'x', 'data': 'b3Bh'}]}, 'Hm.'),
        ({'reasoning_content': '', 'reasoning': None}, None),
        ({'annotations': [], 'audio': None, 'newer_field': {'a': [1.0]}}, None),
    ],
)
async def test_the_assistant_message_is_replayed_with_its_reasoning(fields, thinking):
    reply = completion(
        'Let me look.',
        {**tool_call('look', id='call_a'), 'extra_content': {'google': {'signature': 'c2ln'}}},
        message=fields,
    )
    first, messages = await answered(reply)
    assert first.thinking == thinking
    _, _, assistant, result = messages
    sent = reply.body['choices'][0]['message']
    assert assistant == {
        key: value
        for key, value in sent.items()
        if value is not None or key in ('reasoning', 'reasoning_content')
    }
    assert result == {'role': 'tool', 'tool_call_id': 'call_a', 'content': 'ok'}


@pytest.mark.anyio
async def test_a_call_without_words_goes_back_without_words():
    for content in (None, '', ' \n'):
        first, messages = await answered(completion(content, tool_call('look', id='call_a')))
        assert first.rationale is None
        assert messages[2]['content'] is None


@pytest.mark.anyio
async def test_content_in_parts_is_read_and_goes_back_in_parts():
    parts = [
        {'type': 'thinking', 'thinking': [{'type': 'text', 'text': 'Hm.'}]},
        {'type': 'text', 'text': 'I look.'},
    ]
    first, messages = await answered(completion(parts, tool_call('look', id='call_a')))
    assert first.rationale == 'I look.'
    assert messages[2]['content'] == parts
    first, messages = await answered(completion(parts[:1], tool_call('look', id='call_a')))
    assert first.rationale is None
    assert messages[2]['content'] == parts[:1]


@pytest.mark.anyio
async def test_each_call_gets_a_result_of_its_own_in_their_order():
    reply = completion(None, tool_call('navigate_to_pose', GO), tool_call('fly_to', {'z': 3}))
    first, messages = await answered(reply)
    assert [call.malformed for call in first.tool_calls] == [None, None]
    assert [m['role'] for m in messages[2:]] == ['assistant', 'tool', 'tool']
    assert [m['tool_call_id'] for m in messages[3:]] == [c.id for c in first.tool_calls]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('ids', 'said'),
    [(['call_a', 'call_a'], 'has its id'), (['', 'call_2'], 'no id'), ([7, 'call_a'], 'no id')],
)
async def test_calls_without_an_id_of_their_own_move_nothing_and_are_answered(ids, said):
    calls = [tool_call('navigate_to_pose', GO, id=id) for id in ids]
    first, messages = await answered(completion(None, *calls))
    assert said in first.tool_calls[0].malformed
    answers = [m['tool_call_id'] for m in messages if m['role'] == 'tool']
    assert answers == [call['id'] for call in messages[2]['tool_calls']]
    assert len(set(answers)) == 2
    assert first.raw_content[0]['tool_calls'] == calls


@pytest.mark.anyio
@pytest.mark.parametrize(
    'function',
    [
        {'name': 'navigate_to_pose', 'arguments': '{"x": 1.0, "y"'},
        {'name': 'navigate_to_pose', 'arguments': '{"x": NaN, "y": 0}'},
        {'name': 'navigate_to_pose', 'arguments': '[1.0, 2.0]'},
        {'name': 'navigate_to_pose', 'arguments': '"x"'},
        {'name': 'navigate_to_pose', 'arguments': '[' * 100_000},
        {'name': 'navigate_to_pose', 'arguments': None},
        {'name': 'navigate_to_pose', 'arguments': [1.0, 2.0]},
        {'name': 'navigate_to_pose', 'arguments': 7},
        {'name': 'navigate_to_pose'},
        {'name': None, 'arguments': '{"x": 1, "y": 2}'},
        {'name': '', 'arguments': '{"x": 1, "y": 2}'},
        {'name': {'a': 1}, 'arguments': '{"x": 1, "y": 2}'},
        {'arguments': '{"x": 1, "y": 2}'},
        'navigate_to_pose',
        None,
    ],
)
async def test_an_unsound_call_is_marked_and_the_next_request_is_sound(function):
    call = {'id': 'call_a', 'type': 'function', 'function': function}
    first, _ = await answered(completion('I go.', call))
    [found] = first.tool_calls
    assert found.malformed
    if isinstance(function, dict):
        assert found.arguments in (function.get('arguments'), {'x': 1, 'y': 2})


@pytest.mark.anyio
async def test_a_made_up_name_goes_back_in_a_form_that_the_api_takes():
    first, messages = await answered(completion(None, tool_call('fly to!', {'z': 1}, id='call_a')))
    assert (first.tool_calls[0].name, first.tool_calls[0].malformed) == ('fly to!', None)
    assert messages[2]['tool_calls'][0]['function']['name'] == 'fly_to_'


@pytest.mark.anyio
async def test_arguments_as_an_object_are_taken_and_go_back_as_text():
    call = {'id': 'call_a', 'function': {'name': 'navigate_to_pose', 'arguments': GO}}
    first, messages = await answered(completion(None, call))
    assert (first.tool_calls[0].arguments, first.tool_calls[0].malformed) == (GO, None)
    assert json.loads(messages[2]['tool_calls'][0]['function']['arguments']) == GO


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('calls', 'names'),
    [
        ([], []),
        (None, []),
        ({'id': 'a', 'function': {'name': 'look', 'arguments': '{}'}}, ['None']),
        ('look', ['None']),
        (['look', None], ['None', 'None']),
        ([{'id': 'a', 'type': 'custom', 'custom': {'name': 'look', 'input': 'x'}}], ['None']),
    ],
)
async def test_tool_calls_of_another_shape_are_never_usable(calls, names):
    first, _ = await answered(completion('Hm.', message={'tool_calls': calls}))
    assert [call.name for call in first.tool_calls] == names
    assert all(call.malformed for call in first.tool_calls)


@pytest.mark.anyio
async def test_a_legacy_function_call_moves_nothing_and_is_answered():
    legacy = {'name': 'navigate_to_pose', 'arguments': json.dumps(GO)}
    reply = completion(None, message={'function_call': legacy}, finish_reason='function_call')
    first, messages = await answered(reply)
    [call] = first.tool_calls
    assert (call.name, call.arguments) == ('navigate_to_pose', GO)
    assert 'no id' in call.malformed
    assert 'function_call' not in messages[2]


@pytest.mark.anyio
@pytest.mark.parametrize('arguments', ['{}', '{"x": 2.0', '{"x": 1.0, "y": 2.0}'])
async def test_a_truncated_tool_call_is_marked_and_answered(arguments):
    call = tool_call('navigate_to_pose', arguments, id='call_a')
    first, _ = await answered(completion('I', call, finish_reason='length'))
    assert first.stop_reason == 'length'
    assert 'truncated' in first.tool_calls[0].malformed


@pytest.mark.anyio
@pytest.mark.parametrize('arguments', ['', ' '])
async def test_a_call_without_any_arguments_is_one_with_none(arguments):
    call = tool_call('list_places', arguments)
    first, _ = await answered(completion(None, call))
    assert (first.tool_calls[0].arguments, first.tool_calls[0].malformed) == ({}, None)
    cut = await decided(completion(None, call, finish_reason='length'))
    assert 'truncated' in cut.tool_calls[0].malformed


@pytest.mark.anyio
@pytest.mark.parametrize('reason', ['content_filter', 'error', 'something_new', None, 7, ['stop']])
async def test_a_call_in_an_incomplete_response_is_never_usable(reason):
    reply = completion(None, tool_call('navigate_to_pose', GO))
    reply.body['choices'][0]['finish_reason'] = reason
    decision = await decided(reply)
    assert decision.stop_reason == (reason if isinstance(reason, str) else None)
    assert 'not a complete response' in decision.tool_calls[0].malformed


@pytest.mark.anyio
@pytest.mark.parametrize('reason', ['tool_calls', 'stop', 'function_call'])
async def test_a_call_in_a_complete_response_is_usable(reason):
    # `stop` comes from several servers, and from OpenAI after a forced choice.
    reply = completion(None, tool_call('navigate_to_pose', GO), finish_reason=reason)
    decision = await decided(reply)
    assert decision.tool_calls[0].malformed is None


@pytest.mark.anyio
async def test_a_refusal_is_recorded_and_its_calls_move_nothing(caplog):
    reply = completion(None, tool_call('navigate_to_pose', GO), message={'refusal': 'I will not.'})
    first, messages = await answered(reply)
    assert (first.stop_reason, first.rationale) == ('refusal', 'I will not.')
    assert first.tool_calls[0].malformed
    assert messages[2]['content'] == 'I will not.'
    assert 'I will not.' in caplog.text


@pytest.mark.anyio
async def test_an_answer_that_says_nothing_is_a_decision_and_is_not_sent_back():
    for reply in (completion(), completion('', message={'reasoning': 'H'}), completion([])):
        first, messages = await answered(reply)
        assert (first.tool_calls, first.rationale) == ((), None)
        assert messages[1:] == [{'role': 'user', 'content': 'Go.\n\nAnd?'}]


@pytest.mark.anyio
async def test_what_the_harness_adds_follows_the_results():
    with ChatCompletionsApi(completion(None, tool_call('look')), completion('Well.')) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = result_of(first, ' ', then='Time passes.')
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), results))
    assert api.requests[1].broken_rules == []
    assert [m['content'] for m in api.requests[1].body['messages'][3:]] == [
        '(no output)',
        'Time passes.',
    ]


@pytest.mark.anyio
async def test_a_call_without_its_one_result_is_found_before_anything_is_sent():
    with ChatCompletionsApi(completion(None, tool_call('a'), tool_call('b'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            whole = result_of(first).results
            for results in [(), whole[:1], (*whole, whole[0])]:
                with pytest.raises(ModelError, match='one result'):
                    await client.decide(
                        ask(UserMessage('Go.'), AssistantMessage(first), ToolResults(results))
                    )
            with pytest.raises(ModelError, match='without a result'):
                await client.decide(ask(UserMessage('Go.'), AssistantMessage(first)))
    assert len(api.requests) == 1


@pytest.mark.anyio
async def test_text_that_has_no_utf8_form_does_not_stop_a_turn():
    reply = completion('I \ud800 look.', tool_call('look'))
    with ChatCompletionsApi(reply, completion('Well.')) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = result_of(first, 'broken \ud800 text')
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), results))
    assert [m['content'] for m in api.requests[1].body['messages'][2:]] == [
        'I ? look.',
        'broken ? text',
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    'usage',
    [None, 7, [], {'prompt_tokens': 'many', 'completion_tokens': -5}, {'prompt_tokens': True}],
)
async def test_a_usage_that_cannot_be_read_counts_nothing(usage):
    decision = await decided(completion('Hi.', usage=usage))
    assert decision.usage == {'input_tokens': 0, 'output_tokens': 0}


@pytest.mark.anyio
async def test_names_of_another_type_are_not_taken():
    decision = await decided(completion(7, id=7, model=['m'], message={'reasoning': {'a': 1}}))
    assert (decision.rationale, decision.thinking) == (None, None)
    assert (decision.response_id, decision.model) == (None, 'some-model')


@pytest.mark.anyio
@pytest.mark.parametrize(
    'body',
    [
        b'<html>Log in to the hotel</html>',
        b'',
        b'[]',
        b'{}',
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": ["text"]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "Hi."}]}',
        b'{"choices": [{"message": {"content": NaN}}]}',
        b'[' * 100_000,
    ],
)
async def test_an_answer_that_is_no_message_is_a_model_error(body):
    with pytest.raises(ModelError) as caught:
        await decided(Reply(body=body), max_attempts=1)
    assert caught.value.retryable == ('no usable JSON' in str(caught.value))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('error', 'said', 'retryable'),
    [
        ({'message': f'busy, {KEY}', 'code': 502}, r'busy, \[key\]', True),
        ({'message': 'too long', 'code': 400}, 'too long', False),
        ({'code': True}, 'no reason given', False),
        ('model not loaded', 'model not loaded', False),
    ],
)
async def test_an_error_that_comes_as_an_answer_is_told(error, said, retryable):
    with pytest.raises(ModelError, match=said) as caught:
        await decided(Reply(body={'error': error}), max_attempts=1)
    assert caught.value.retryable is retryable


@pytest.mark.anyio
async def test_a_busy_server_is_asked_again():
    waits = Waits()
    with ChatCompletionsApi(
        failure(429, retry_after='7'), failure(503), completion('Here.')
    ) as api:
        async with client_of(api, sleep=waits) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert decision.rationale == 'Here.'
    assert waits.seconds[0] == 7.0
    assert 0 < waits.seconds[1] <= 1.0
    assert len(api.requests) == 3


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('reply', 'retryable'),
    [
        (failure(400), False),
        (failure(403), False),
        (failure(404), False),
        (failure(422), False),
        (failure(408), True),
        (failure(409), True),
        (failure(429), True),
        (failure(429, code='insufficient_quota'), False),
        (failure(500), True),
        (failure(503), True),
        (failure(503, x_should_retry='false'), False),
        (Reply(502, b'<html>Bad gateway</html>'), True),
        (Reply(400, {'object': 'error', 'message': 'scripted', 'code': 400}), False),
        (Reply(500, {'error': 'scripted'}), True),
        (Reply(500, [1]), True),
        (cut(), True),
    ],
)
async def test_a_failure_says_whether_asking_again_may_help(reply, retryable):
    with pytest.raises(ModelError) as caught:
        await decided(reply, max_attempts=1)
    assert caught.value.retryable is retryable
    if isinstance(reply.body, dict):
        assert 'scripted' in str(caught.value)
        assert str(reply.status) in str(caught.value)


@pytest.mark.anyio
async def test_how_long_the_server_wants_to_be_left_alone_is_told():
    with pytest.raises(ModelError) as caught:
        await decided(failure(429, retry_after='600'), timeout_s=30.0)
    assert (caught.value.retryable, caught.value.retry_after_s) == (True, 600.0)


@pytest.mark.anyio
async def test_a_hanging_server_ends_at_the_deadline():
    with ChatCompletionsApi(hang()) as api:
        async with client_of(api, timeout_s=1.0) as client:
            with pytest.raises(ModelError, match='no answer from some-model within 1 s') as e:
                await client.decide(ask(UserMessage('Go.')))
    assert e.value.retryable
    assert len(api.requests) == 1


@pytest.mark.anyio
async def test_a_refused_connection_names_the_endpoint():
    with socket.socket() as silent:  # bound, so that nobody else listens on its port
        silent.bind(('127.0.0.1', 0))
        url = f'http://user:pass@127.0.0.1:{silent.getsockname()[1]}/v1'
        client = OpenAIClient(model='m', base_url=url, max_attempts=1)
        with pytest.raises(ModelError, match=r'cannot reach http://127\.0\.0\.1') as caught:
            await client.decide(ask(UserMessage('Go.')))
        await client.close()
    assert caught.value.retryable


@pytest.mark.anyio
async def test_an_unknown_model_is_named():
    with pytest.raises(ModelError, match=r'model\.name some-model'):
        await decided(failure(404, 'no such model'))


@pytest.mark.anyio
async def test_a_wrong_key_is_reported_without_the_key(caplog):
    caplog.set_level(logging.DEBUG)
    with ChatCompletionsApi(failure(401, f'Incorrect API key provided: {KEY}')) as api:
        async with client_of(api) as client:
            with pytest.raises(ModelError, match='OPENAI_API_KEY was not accepted') as caught:
                await client.decide(ask(UserMessage('Go.')))
            seen = [repr(client), str(client), str(caught.value), repr(caught.value), caplog.text]
    seen.append(''.join(traceback.format_exception(caught.value)))
    assert not caught.value.retryable
    assert not [shown for shown in seen if KEY in shown]
    assert '[key]' in str(caught.value)


@pytest.mark.anyio
async def test_the_key_is_in_no_log_of_a_good_or_a_failing_decision(caplog):
    caplog.set_level(logging.DEBUG)
    with ChatCompletionsApi(completion('Hi.'), failure(503), cut(), api_key=KEY) as api:
        async with client_of(api, sleep=Waits()) as client:
            await client.decide(ask(UserMessage('Go.')))
            with pytest.raises(ModelError):
                await client.decide(ask(UserMessage('Go.')))
    assert caplog.records
    for record in caplog.records:
        assert KEY not in record.getMessage()
        assert KEY not in (record.exc_text or '')


@pytest.mark.anyio
async def test_a_local_server_is_asked_without_a_key_even_if_the_environment_has_one(monkeypatch):
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with ChatCompletionsApi(completion('Hi.'), failure(401, 'who are you?')) as api:
        async with client_of(api, api_key=None) as client:
            await client.decide(ask(UserMessage('Go.')))
            with pytest.raises(ModelError, match='OPENAI_API_KEY is not set'):
                await client.decide(ask(UserMessage('Go.')))
    assert KEY not in str(api.requests)
    assert api.requests[0].headers['authorization'] == 'Bearer no-key-is-set'


@pytest.mark.anyio
@pytest.mark.parametrize('variable', ['OPENAI_BASE_URL', 'OPENAI_API_BASE'])
async def test_only_the_configuration_says_where_the_key_goes(monkeypatch, variable):
    with ChatCompletionsApi(completion('Hi.')) as api:
        monkeypatch.setenv(variable, api.base_url)
        client = OpenAIClient(model='gpt-4.1', api_key=KEY)
        assert client._client.base_url.host == 'api.openai.com'
        await client.close()


@pytest.mark.anyio
@pytest.mark.parametrize('model', [*CHAT_FAMILIES, 'some-model'])
async def test_every_family_is_asked_as_it_takes_it(model):
    replies = [completion('Hm.'), completion(None, tool_call('look')), completion('Well.')]
    with ChatCompletionsApi(*replies) as api:
        async with client_of(api, model=model) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            so_far = [UserMessage('Go.'), AssistantMessage(first), UserMessage('Now?')]
            second = await client.decide(ask(*so_far, force_tool=True))
            so_far += [AssistantMessage(second), result_of(second)]
            await client.decide(ask(*so_far))
    assert [request.broken_rules for request in api.requests] == [[], [], []]
    forced = CHAT_FAMILIES[model].forced_tool_choice if model in CHAT_FAMILIES else False
    choices = [request.body['tool_choice'] for request in api.requests]
    assert choices == ['auto', 'required' if forced else 'auto', 'auto']


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('model', 'settings', 'sent'),
    [
        ('some-model', {}, {'max_tokens': 4096}),
        ('gpt-4.1', {'max_tokens': 800}, {'max_completion_tokens': 800}),
        ('gpt-5', {'effort': 'low'}, {'max_completion_tokens': 4096, 'reasoning_effort': 'low'}),
        ('gpt-5.6-sol', {}, {'max_completion_tokens': 4096, 'reasoning_effort': 'none'}),
        ('o3', {'effort': 'high'}, {'max_completion_tokens': 4096, 'reasoning_effort': 'high'}),
        ('gpt-oss:20b', {'effort': 'low'}, {'max_tokens': 4096, 'reasoning_effort': 'low'}),
        ('deepseek-v4-pro', {'effort': 'max'}, {'max_tokens': 4096, 'reasoning_effort': 'max'}),
    ],
)
async def test_limit_and_effort_are_asked_for_as_the_model_takes_them(model, settings, sent):
    with ChatCompletionsApi(completion('Hi.')) as api:
        async with client_of(api, model=model, **settings) as client:
            await client.decide(ask(UserMessage('Go.')))
    keys = ('max_tokens', 'max_completion_tokens', 'reasoning_effort')
    assert {key: api.requests[0].body[key] for key in keys if key in api.requests[0].body} == sent


@pytest.mark.parametrize(
    ('model', 'settings', 'said'),
    [
        ('some-model', {'thinking_budget_tokens': 2000}, 'model.thinking_budget_tokens must be 0'),
        ('some-model', {'effort': 'low'}, 'model.effort'),
        ('gpt-4.1', {'effort': 'low'}, 'model.effort'),
        ('gpt-5', {'effort': 'xhigh'}, 'allowed: low, medium, high'),
        ('gpt-6-sol', {'effort': 'high'}, 'beside tools; allowed: none'),
        ('gpt-4o', {'max_tokens': 100_000}, 'model.max_tokens must be at most 16384'),
    ],
)
def test_settings_that_the_model_refuses_are_found_at_the_start(model, settings, said):
    with pytest.raises(ConfigurationError, match=said):
        OpenAIClient(model=model, api_key=KEY, **settings)


def test_a_missing_sdk_is_reported_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'openai', None)
    with pytest.raises(ConfigurationError, match='pip install'):
        OpenAIClient(model='some-model', api_key=KEY)
