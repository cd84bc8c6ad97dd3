# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Claude through the official SDK, against a local stub of the Messages API over HTTP."""

from contextlib import asynccontextmanager
import json
import logging
import socket
import traceback
from typing import get_args

from anthropic.types import StopReason
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
from robot_agent_harness.llm.anthropic import AnthropicClient
from robot_agent_harness.testing.messages_api import (
    cut,
    failure,
    hang,
    message,
    MessagesApi,
    Reply,
    text,
    thinking,
    tool_use,
)

KEY = 'sk-ant-very-secret-0123456789'
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
    settings = {'model': 'claude-test', 'api_key': KEY, 'base_url': api.base_url, **settings}
    client = AnthropicClient(**settings, http_client=plain)
    try:
        yield client
    finally:
        await client.close()


def ask(*messages, system='You drive a robot.', tools=(NAVIGATE,), force_tool=False):
    return ModelRequest(
        system=system, messages=messages, tools=tuple(tools), force_tool=force_tool
    )


def result_of(decision, words='ok', *, is_error=False, then=None):
    return ToolResults(
        tuple(ToolResultBlock(call.id, words, is_error) for call in decision.tool_calls), then
    )


@pytest.mark.anyio
async def test_one_decision_with_text_and_a_tool_call():
    reply = message(
        text('The way is free.'),
        tool_use('navigate_to_pose', {'x': 1.0, 'y': 2.0}, id='tu1'),
        id='msg_7',
        usage={
            'input_tokens': 812,
            'output_tokens': 61,
            'cache_read_input_tokens': 500,
            'service_tier': 'standard',
            'output_tokens_details': {'thinking_tokens': 9},
        },
    )
    with MessagesApi(reply, api_key=KEY) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go to the shelf.')))

    assert [(c.id, c.name, c.arguments, c.malformed) for c in decision.tool_calls] == [
        ('tu1', 'navigate_to_pose', {'x': 1.0, 'y': 2.0}, None)
    ]
    assert decision.rationale == 'The way is free.'
    assert decision.thinking is None
    assert decision.stop_reason == 'tool_use'
    assert decision.usage == {
        'input_tokens': 812,
        'output_tokens': 61,
        'cache_read_input_tokens': 500,
        'output_tokens_details.thinking_tokens': 9,
    }
    assert (decision.provider, decision.model) == ('anthropic', 'claude-test')
    assert decision.response_id == 'msg_7'
    [request] = api.requests
    assert request.broken_rules == []
    assert request.body['tool_choice'] == {'type': 'auto', 'disable_parallel_tool_use': True}
    assert request.body['tools'] == [
        {
            'name': 'navigate_to_pose',
            'description': 'Drive to a pose.',
            'input_schema': NAVIGATE.input_schema,
        }
    ]
    assert request.body['system'][0]['cache_control'] == {'type': 'ephemeral'}
    assert 'thinking' not in request.body


@pytest.mark.anyio
async def test_the_assistant_turn_is_replayed_unchanged_in_the_tool_loop():
    blocks = [
        thinking('t', signature='c2ln'),
        {'type': 'redacted_thinking', 'data': 'b3BhcXVl'},
        {'type': 'text', 'text': 'Let me look.', 'citations': None, 'newer_field': {'a': [1.0]}},
        tool_use('get_world_snapshot', {}, id='tu1'),
    ]
    with MessagesApi(message(*blocks), message(text('Done.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Look around.')))
            assert first.thinking == 't'
            second = await client.decide(
                ask(
                    UserMessage('Look around.'),
                    AssistantMessage(first),
                    result_of(first, '{"ok": true}', then='Time passes.'),
                )
            )
    assert second.rationale == 'Done.'
    assert all(request.broken_rules == [] for request in api.requests)
    _, assistant, results = api.requests[1].body['messages']
    assert assistant == {'role': 'assistant', 'content': blocks}
    assert results['content'] == [
        {
            'type': 'tool_result',
            'tool_use_id': 'tu1',
            'is_error': False,
            'content': [{'type': 'text', 'text': '{"ok": true}'}],
        },
        {'type': 'text', 'text': 'Time passes.'},
    ]


@pytest.mark.anyio
async def test_two_calls_are_answered_together_in_their_order():
    reply = message(tool_use('navigate_to_pose', {'x': 1, 'y': 0}), tool_use('fly_to', {'z': 3}))
    with MessagesApi(reply, message(text('I see.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = result_of(first, 'no', is_error=True)
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), results))
    content = api.requests[1].body['messages'][2]['content']
    assert [block['tool_use_id'] for block in content] == [c.id for c in first.tool_calls]
    assert all(block['is_error'] for block in content)


@pytest.mark.anyio
async def test_an_overloaded_api_is_asked_again():
    waits = Waits()
    with MessagesApi(failure(529), failure(500), message(text('Here.'))) as api:
        async with client_of(api, sleep=waits) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert decision.rationale == 'Here.'
    assert len(api.requests) == 3
    assert 0 < waits.seconds[0] < waits.seconds[1] <= 1.0


@pytest.mark.anyio
async def test_a_short_retry_after_is_respected():
    waits = Waits()
    replies = [failure(429, retry_after='7'), failure(429, retry_after_ms='250')]
    with MessagesApi(*replies, message(text('Here.'))) as api:
        async with client_of(api, sleep=waits, timeout_s=30.0) as client:
            await client.decide(ask(UserMessage('Go.')))
    assert waits.seconds == [7.0, 0.25]


@pytest.mark.anyio
async def test_a_retry_after_beyond_the_deadline_ends_the_decision_at_once():
    waits = Waits()
    with MessagesApi(failure(429, 'slow down', retry_after='600'), message(text('x'))) as api:
        async with client_of(api, sleep=waits, timeout_s=30.0) as client:
            with pytest.raises(ModelError, match='slow down') as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert (caught.value.retryable, caught.value.retry_after_s) == (True, 600.0)
    assert waits.seconds == []
    assert len(api.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    'retry_after', ['soon', 'nan', '-3', 'inf', 'Thu, 01 Jan 1970 00:00:00 GMT']
)
async def test_a_senseless_retry_after_is_ignored(retry_after):
    waits = Waits()
    with MessagesApi(failure(503, retry_after=retry_after), message(text('Here.'))) as api:
        async with client_of(api, sleep=waits) as client:
            await client.decide(ask(UserMessage('Go.')))
    assert 0 < waits.seconds[0] <= 0.5


@pytest.mark.anyio
async def test_attempts_are_limited():
    with MessagesApi(*[failure(529, 'overloaded')] * 5) as api:
        async with client_of(api, sleep=Waits()) as client:
            with pytest.raises(ModelError, match='529 overloaded_error: overloaded') as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert caught.value.retryable
    assert len(api.requests) == 3


@pytest.mark.anyio
async def test_an_api_that_says_not_to_retry_is_not_asked_again():
    reply = failure(529, x_should_retry='false')
    with MessagesApi(reply, message(text('x'))) as api:
        async with client_of(api, sleep=Waits()) as client:
            with pytest.raises(ModelError) as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert not caught.value.retryable
    assert len(api.requests) == 1


@pytest.mark.anyio
async def test_a_hanging_api_ends_at_the_deadline():
    with MessagesApi(hang()) as api:
        async with client_of(api, timeout_s=1.0) as client:
            with pytest.raises(ModelError, match='no answer from claude-test within 1 s') as e:
                await client.decide(ask(UserMessage('Go.')))
    assert e.value.retryable
    assert len(api.requests) == 1


@pytest.mark.anyio
async def test_the_deadline_spans_all_attempts():
    with MessagesApi(failure(529, 'busy'), hang()) as api:
        async with client_of(api, timeout_s=1.0, sleep=Waits()) as client:
            with pytest.raises(ModelError, match='within 1 s; before that: 529'):
                await client.decide(ask(UserMessage('Go.')))


@pytest.mark.anyio
async def test_a_decision_can_be_cancelled_and_the_next_one_works():
    with MessagesApi(hang(), message(text('Here.'))) as api:
        async with client_of(api) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.decide, ask(UserMessage('Go.')))
                await anyio.to_thread.run_sync(api.wait_for_requests, 1)
                tasks.cancel_scope.cancel()
            assert (await client.decide(ask(UserMessage('Go.')))).rationale == 'Here.'


@pytest.mark.anyio
async def test_a_lost_connection_is_made_again():
    with MessagesApi(cut(), message(text('Here.'))) as api:
        async with client_of(api, sleep=Waits()) as client:
            assert (await client.decide(ask(UserMessage('Go.')))).rationale == 'Here.'
    assert len(api.requests) == 2


@pytest.mark.anyio
async def test_a_refused_connection_names_the_endpoint():
    with socket.socket() as silent:  # bound, so that nobody else listens on its port
        silent.bind(('127.0.0.1', 0))
        url = f'http://user:pass@127.0.0.1:{silent.getsockname()[1]}'
        client = AnthropicClient(model='m', api_key=KEY, base_url=url, max_attempts=1)
        with pytest.raises(ModelError, match=r'cannot reach http://127\.0\.0\.1') as caught:
            await client.decide(ask(UserMessage('Go.')))
        await client.close()
    assert caught.value.retryable


@pytest.mark.anyio
@pytest.mark.parametrize('arguments', [{}, {'x': 2.0}])
async def test_a_truncated_tool_call_is_marked_and_answered(arguments):
    reply = message(tool_use('navigate_to_pose', arguments, id='tu1'), stop_reason='max_tokens')
    with MessagesApi(reply, message(text('Again.'))) as api:
        async with client_of(api) as client:
            cut_off = await client.decide(ask(UserMessage('Go.')))
            assert cut_off.stop_reason == 'max_tokens'
            assert 'truncated' in cut_off.tool_calls[0].malformed
            assert cut_off.tool_calls[0].arguments == arguments
            results = result_of(cut_off, 'truncated', is_error=True)
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(cut_off), results))
    assert api.requests[1].broken_rules == []


@pytest.mark.anyio
@pytest.mark.parametrize('stop_reason', ['refusal', 'pause_turn', 'something_new', None])
async def test_a_call_in_an_incomplete_response_is_never_usable(stop_reason):
    reply = message(tool_use('navigate_to_pose', {'x': 1, 'y': 2}))
    reply.body['stop_reason'] = stop_reason
    with MessagesApi(reply) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert decision.stop_reason == stop_reason
    assert decision.tool_calls[0].malformed


@pytest.mark.anyio
@pytest.mark.parametrize('stop_reason', get_args(StopReason))
async def test_only_after_a_normal_end_a_call_is_usable(stop_reason):
    reply = message(tool_use('navigate_to_pose', {'x': 1, 'y': 2}), stop_reason=stop_reason)
    with MessagesApi(reply) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    usable = decision.tool_calls[0].malformed is None
    assert usable == (stop_reason in ('tool_use', 'end_turn', 'stop_sequence'))


@pytest.mark.anyio
async def test_a_refusal_is_a_decision_without_calls(caplog):
    details = {'type': 'refusal', 'category': 'cyber', 'explanation': 'No.'}
    with MessagesApi(message(stop_reason='refusal', stop_details=details)) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert (decision.stop_reason, decision.tool_calls) == ('refusal', ())
    assert decision.rationale is None
    assert 'cyber' in caplog.text
    assert len(api.requests) == 1


@pytest.mark.anyio
async def test_an_empty_end_of_turn_is_a_decision_and_is_not_sent_back():
    call = message(tool_use('get_world_snapshot', {}))
    with MessagesApi(call, message(), message(text('Well.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            so_far = [UserMessage('Go.'), AssistantMessage(first), result_of(first)]
            empty = await client.decide(ask(*so_far))
            assert (empty.tool_calls, empty.rationale, empty.stop_reason) == ((), None, 'end_turn')
            await client.decide(ask(*so_far, AssistantMessage(empty), UserMessage('And?')))
    messages = api.requests[2].body['messages']
    assert [m['role'] for m in messages] == ['user', 'assistant', 'user']
    assert [block['type'] for block in messages[2]['content']] == ['tool_result', 'text']


@pytest.mark.anyio
async def test_blank_text_and_an_unfinished_thought_are_not_sent_back():
    blank = message(text(''), tool_use('get_world_snapshot', {}), text('  '))
    unfinished = message(text('So'), thinking('Hm'), stop_reason='max_tokens')
    with MessagesApi(blank, unfinished, message(text('Well.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.'), system=' '))
            assert first.rationale is None
            so_far = [UserMessage('Go.'), AssistantMessage(first), result_of(first, '')]
            second = await client.decide(ask(*so_far, system=' '))
            asked = [*so_far, AssistantMessage(second), UserMessage('Go on.'), UserMessage(' ')]
            await client.decide(ask(*asked, system=' '))
    assert all(request.broken_rules == [] for request in api.requests)
    assert 'system' not in api.requests[0].body
    kinds = [[block['type'] for block in m['content']] for m in api.requests[2].body['messages']]
    assert kinds == [['text'], ['tool_use'], ['tool_result'], ['text'], ['text']]


@pytest.mark.anyio
async def test_a_call_without_its_one_result_is_found_before_anything_is_sent():
    with MessagesApi(message(tool_use('a'), tool_use('b'))) as api:
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
    with MessagesApi(message(tool_use('a')), message(text('Well.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = result_of(first, 'broken \ud800 text')
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), results))
    assert 'broken ? text' in json.dumps(api.requests[1].body)


@pytest.mark.anyio
@pytest.mark.parametrize(
    'body',
    [
        b'<html>Log in to the hotel</html>',
        b'',
        b'[]',
        b'{"type": "message"}',
        b'{"content": ["text"]}',
        b'{"content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"x": NaN}}]}',
        b'[' * 100_000,
    ],
)
async def test_an_answer_that_is_no_message_is_a_model_error(body):
    with MessagesApi(Reply(body=body)) as api:
        async with client_of(api, max_attempts=1) as client:
            with pytest.raises(ModelError) as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert caught.value.retryable == ('no usable JSON' in str(caught.value))


@pytest.mark.anyio
async def test_arguments_that_are_no_object_are_marked():
    reply = message({'type': 'tool_use', 'id': 'tu1', 'name': 'a', 'input': 'x=1'})
    with MessagesApi(reply) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert decision.tool_calls[0].arguments == 'x=1'
    assert 'not a JSON object' in decision.tool_calls[0].malformed


@pytest.mark.anyio
@pytest.mark.parametrize(
    'calls',
    [
        [{'type': 'tool_use', 'id': 'tu1', 'name': 'a', 'input': 'x=1'}],
        [{'type': 'tool_use', 'id': 'tu1', 'name': 'a', 'input': None}],
        [{'type': 'tool_use', 'id': 'tu1', 'name': None, 'input': {}}],
        [{'type': 'tool_use', 'id': 'tu1', 'name': {'a': 1}, 'input': {}}],
        [{'type': 'tool_use', 'id': '', 'name': 'a', 'input': {}}],
        [{'type': 'tool_use', 'id': ['x'], 'name': 'a', 'input': {}}],
        [tool_use('a', id='tu1'), tool_use('a', id='tu1')],
    ],
)
async def test_an_unsound_call_is_marked_and_the_next_request_is_sound(calls):
    with MessagesApi(message(text('I go.'), *calls), message(text('Well.'))) as api:
        async with client_of(api) as client:
            first = await client.decide(ask(UserMessage('Go.')))
            results = result_of(first, 'no', is_error=True)
            await client.decide(ask(UserMessage('Go.'), AssistantMessage(first), results))
    assert all(call.malformed for call in first.tool_calls)
    assert first.raw_content[1:] == tuple(calls)
    assert [request.broken_rules for request in api.requests] == [[], []]
    _, assistant, answers = api.requests[1].body['messages']
    ids = [block['id'] for block in assistant['content'][1:]]
    assert [block['tool_use_id'] for block in answers['content']] == ids


@pytest.mark.anyio
async def test_what_is_of_another_type_is_not_taken():
    odd = message({'type': ['text'], 'text': 'x'}, {'type': 'text', 'text': 7}, id=7, model=['m'])
    odd.body['stop_reason'] = ['end_turn']
    odd.body['usage'] = {'input_tokens': -1, 'output_tokens': '2', 'cache_creation': {'x': 3}}
    with MessagesApi(odd) as api:
        async with client_of(api) as client:
            decision = await client.decide(ask(UserMessage('Go.')))
    assert (decision.rationale, decision.stop_reason) == (None, None)
    assert (decision.response_id, decision.model) == (None, 'claude-test')
    assert decision.usage == {'input_tokens': 0, 'output_tokens': 0, 'cache_creation.x': 3}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('model', 'settings', 'choice', 'thinking', 'effort'),
    [
        ('claude-test', {}, 'auto', None, None),
        ('claude-sonnet-5-5', {'thinking_budget_tokens': 2000}, 'auto', 'adaptive', None),
        ('claude-opus-5-5', {}, 'auto', 'adaptive', None),
        ('claude-opus-5', {'thinking_budget_tokens': 2000}, 'any', 'disabled', None),
        (
            'claude-opus-5',
            {'thinking_budget_tokens': 2000, 'effort': 'max'},
            'any',
            'disabled',
            'high',
        ),
        (
            'claude-opus-4-8',
            {'thinking_budget_tokens': 2000, 'effort': 'max'},
            'any',
            None,
            'max',
        ),
        ('claude-opus-4-5', {'thinking_budget_tokens': 2000, 'effort': 'low'}, 'any', None, 'low'),
    ],
)
async def test_a_call_is_forced_without_thinking_where_the_model_takes_that(
    model, settings, choice, thinking, effort
):
    first = (
        message(text('Hm.'))
        if model == 'claude-test'
        else message({'type': 'thinking', 'thinking': 't', 'signature': 'c2ln'}, text('Hm.'))
    )
    replies = [first, message(tool_use('look')), message(text('Well.'))]
    with MessagesApi(*replies) as api:
        async with client_of(api, model=model, **settings) as client:
            idle = await client.decide(ask(UserMessage('Go.')))
            so_far = [UserMessage('Go.'), AssistantMessage(idle), UserMessage('Now?')]
            forced = await client.decide(ask(*so_far, force_tool=True))
            await client.decide(ask(*so_far, AssistantMessage(forced), result_of(forced)))
    assert [request.broken_rules for request in api.requests] == [[], [], []]
    before, body, after = [request.body for request in api.requests]
    assert body['tool_choice'] == {'type': choice, 'disable_parallel_tool_use': True}
    assert body.get('thinking', {}).get('type') == thinking
    assert body.get('output_config', {}).get('effort') == effort
    # A tool loop with a budget must begin with thinking, so that this one goes on without.
    budget = before.get('thinking', {}).get('type') == 'enabled'
    assert after.get('thinking') == (None if budget else before.get('thinking'))


@pytest.mark.anyio
async def test_no_call_is_forced_where_no_tool_is_offered():
    with MessagesApi(message(text('Hm.'))) as api:
        async with client_of(api, model='claude-opus-4-8') as client:
            await client.decide(ask(UserMessage('Go.'), tools=(), force_tool=True))
    assert 'tool_choice' not in api.requests[0].body


@pytest.mark.anyio
async def test_the_longest_answer_of_a_model_can_be_asked_for():
    # The SDK wants streaming for more than some 21,000 tokens, unless it is given a timeout.
    with MessagesApi(message(text('Hi.'))) as api:
        async with client_of(api, model='claude-opus-4-8', max_tokens=128_000) as client:
            assert (await client.decide(ask(UserMessage('Go.')))).rationale == 'Hi.'
    assert api.requests[0].body['max_tokens'] == 128_000


@pytest.mark.anyio
async def test_a_wrong_key_is_reported_without_the_key(caplog):
    caplog.set_level(logging.DEBUG)
    echo = failure(401, f'bad key {KEY}')
    with MessagesApi(echo) as api:
        async with client_of(api) as client:
            with pytest.raises(ModelError, match='ANTHROPIC_API_KEY was not accepted') as caught:
                await client.decide(ask(UserMessage('Go.')))
            seen = [repr(client), str(client), str(caught.value), repr(caught.value), caplog.text]
    seen.append(''.join(traceback.format_exception(caught.value)))
    assert not caught.value.retryable
    assert not [shown for shown in seen if KEY in shown]
    assert '[key]' in str(caught.value)


@pytest.mark.anyio
async def test_the_key_is_in_no_log_of_a_good_or_a_failing_decision(caplog):
    caplog.set_level(logging.DEBUG)
    with MessagesApi(message(text('Hi.')), failure(529), cut(), api_key=KEY) as api:
        async with client_of(api, sleep=Waits()) as client:
            await client.decide(ask(UserMessage('Go.')))
            with pytest.raises(ModelError):
                await client.decide(ask(UserMessage('Go.')))
    assert caplog.records
    for record in caplog.records:
        assert KEY not in record.getMessage()
        assert KEY not in (record.exc_text or '')


@pytest.mark.anyio
async def test_an_unknown_model_is_named():
    with MessagesApi(failure(404, 'model: claude-test')) as api:
        async with client_of(api) as client:
            with pytest.raises(ModelError, match=r'model\.name claude-test') as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert not caught.value.retryable


@pytest.mark.anyio
async def test_a_long_error_page_is_shortened():
    with MessagesApi(Reply(status=502, body=b'<p>' + b'x' * 100_000)) as api:
        async with client_of(api, max_attempts=1) as client:
            with pytest.raises(ModelError) as caught:
                await client.decide(ask(UserMessage('Go.')))
    assert len(str(caught.value)) < 700


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('model', 'settings', 'sent'),
    [
        ('claude-test', {}, {}),
        ('claude-sonnet-4-5', {}, {}),
        (
            'claude-sonnet-4-5',
            {'thinking_budget_tokens': 2000},
            {'thinking': {'type': 'enabled', 'budget_tokens': 2000}},
        ),
        (
            'claude-sonnet-4-5',
            {'thinking_budget_tokens': 9000, 'max_tokens': 4000},
            {'thinking': {'type': 'enabled', 'budget_tokens': 9000}, 'max_tokens': 10_024},
        ),
        (
            'claude-opus-4-8',
            {'thinking_budget_tokens': 2000, 'effort': 'xhigh'},
            {
                'thinking': {'type': 'adaptive', 'display': 'summarized'},
                'output_config': {'effort': 'xhigh'},
            },
        ),
        ('claude-opus-4-8', {'effort': 'low'}, {'output_config': {'effort': 'low'}}),
        ('claude-opus-5', {}, {'thinking': {'type': 'disabled'}}),
        ('claude-sonnet-5-5', {}, {'thinking': {'type': 'between_tools'}}),
        ('claude-opus-5-5', {}, {'thinking': {'type': 'adaptive', 'display': 'summarized'}}),
    ],
)
async def test_thinking_and_effort_are_asked_for_as_the_model_takes_them(model, settings, sent):
    with MessagesApi(message(text('Hi.'))) as api:
        async with client_of(api, model=model, **settings) as client:
            await client.decide(ask(UserMessage('Go.')))
    [request] = api.requests
    assert request.broken_rules == []
    found = {key: request.body.get(key) for key in ('thinking', 'output_config', 'max_tokens')}
    limit = settings.get('max_tokens', 4096)
    assert found == {'thinking': None, 'output_config': None, 'max_tokens': limit, **sent}


@pytest.mark.parametrize(
    ('model', 'settings', 'said'),
    [
        ('claude-test', {'thinking_budget_tokens': 2000}, 'model.thinking_budget_tokens'),
        ('claude-test', {'effort': 'low'}, 'model.effort'),
        ('claude-sonnet-4-5', {'thinking_budget_tokens': 100}, 'at least 1024'),
        ('claude-sonnet-4-5', {'max_tokens': 100_000}, 'model.max_tokens'),
        ('claude-opus-4-6', {'effort': 'xhigh'}, 'allowed: low, medium, high, max'),
        ('claude-opus-5', {'effort': 'max'}, 'with model.thinking_budget_tokens 0'),
    ],
)
def test_settings_that_the_model_refuses_are_found_at_the_start(model, settings, said):
    with pytest.raises(ConfigurationError, match=said):
        AnthropicClient(model=model, api_key=KEY, **settings)


def test_a_missing_sdk_is_reported_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'anthropic', None)
    with pytest.raises(ConfigurationError, match='pip install'):
        AnthropicClient(model='claude-test', api_key=KEY)


def test_a_client_without_a_key_is_refused_and_takes_none_that_it_was_not_given(monkeypatch):
    monkeypatch.setenv('ANTHROPIC_API_KEY', 'somebody-elses')
    with pytest.raises(ConfigurationError, match='needs api_key'):
        AnthropicClient(model='claude-sonnet-5-5')
