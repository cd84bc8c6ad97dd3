# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a server sends, it is a decision that can be answered, or a `ModelError`."""

import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from robot_agent_harness.errors import ModelError
from robot_agent_harness.llm import (
    AssistantMessage,
    chat_completions,
    messages_api,
    ModelRequest,
    ToolResultBlock,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from robot_agent_harness.testing import chat_completions_rules, messages_api_rules

LOOK = ToolSpec('look', 'Look.', {'type': 'object'})
SETTINGS = {'model': 'some-model', 'max_tokens': 100}

texts = st.text(max_size=8) | st.sampled_from(['a', ' ', 'look', 'fly to', '\ud800'])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def rarely(usual, *odd):
    """Return what is usual, and one time in ten something odd."""
    return st.integers(0, 9).flatmap(lambda n: st.one_of(*odd) if n == 9 else usual)


def mostly(*values):
    """Return one of these, now and then anything."""
    return rarely(st.sampled_from(values), junk)


def objects(**fields):
    """Return an object with these fields, now and then without some, or anything."""
    whole, part = st.fixed_dictionaries(fields), st.fixed_dictionaries({}, optional=fields)
    return rarely(whole, part, junk)


def lists(items):
    """Return a list of these, now and then an empty one or anything."""
    return rarely(st.lists(items, min_size=1, max_size=3), st.just([]), junk)


arguments = mostly('{}', '{"x": 1}', '{"x": 2}', '{"x": NaN}', '{"x"', '[]', '', 'null')
chat_call = objects(
    id=mostly('c1', 'c2', 'c3', 'c4', 'c5', '', None),
    type=mostly('function', 'custom'),
    function=objects(name=mostly('look', 'fly to', ''), arguments=arguments),
    extra_content=junk,
)
chat_answer = objects(
    id=mostly('r1'),
    model=mostly('m'),
    usage=objects(prompt_tokens=mostly(5), prompt_tokens_details=junk),
    choices=lists(
        objects(
            finish_reason=mostly('stop', 'tool_calls', 'length', 'content_filter', None),
            message=objects(
                role=mostly('assistant'),
                content=mostly('Hm.', '', None, [{'type': 'text', 'text': 'Hm.'}]),
                reasoning_content=mostly('r', '', None),
                reasoning=mostly('r', None),
                refusal=mostly(None, 'No.'),
                tool_calls=lists(chat_call),
                function_call=mostly(None, {'name': 'look', 'arguments': '{}'}),
                audio=junk,
            ),
        )
    ),
)
claude_block = objects(
    type=mostly('text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_use', 'tool_use'),
    text=mostly('Hm.', '', ' '),
    thinking=mostly('t'),
    id=mostly('c1', 'c2', 'c3', 'c4', 'c5', '', None),
    name=mostly('look', 'fly to', ''),
    input=mostly({}, {'x': 1}, 'x=1', None),
)
claude_answer = objects(
    id=mostly('r1'),
    model=mostly('m'),
    usage=objects(input_tokens=mostly(5), cache_creation=junk),
    stop_reason=mostly('tool_use', 'end_turn', 'max_tokens', 'refusal', None),
    content=lists(claude_block),
)


def _sent(body):
    """Return the bytes that an SDK makes of a body; it refuses what is no JSON."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def check(wire, rules, data, complete):
    """Check that an answer can be read and answered, and which of its calls may be carried out."""
    if not isinstance(data, dict):
        return
    try:
        decision = wire.decision_from(data, provider='p', model='some-model')
    except ModelError:
        return
    for call in decision.tool_calls:
        if call.malformed is None:
            assert isinstance(call.arguments, dict)
            assert call.name.strip()
            assert decision.stop_reason in complete
    results = tuple(ToolResultBlock(call.id, 'ok', False) for call in decision.tool_calls)
    after = ToolResults(results) if results else UserMessage('And?')
    conversation = (UserMessage('Go.'), AssistantMessage(decision), after)
    body = wire.conversation_body(ModelRequest('You drive a robot.', conversation, (LOOK,)))
    body = json.loads(_sent({**SETTINGS, **body}))
    assert rules.broken_rules(body) == []


@given(chat_answer)
def test_any_answer_of_chat_completions_can_be_answered_or_is_a_model_error(data):
    check(chat_completions, chat_completions_rules, data, ('stop', 'tool_calls', 'function_call'))


@given(claude_answer)
def test_any_answer_of_the_messages_api_can_be_answered_or_is_a_model_error(data):
    check(messages_api, messages_api_rules, data, ('tool_use', 'end_turn', 'stop_sequence'))


@pytest.mark.parametrize('where', ['message', 'call', 'function'])
def test_a_number_beyond_all_limits_beside_a_call_of_chat_completions_is_asked_for_again(where):
    function = {'name': 'look', 'arguments': '{}'}
    call = {'id': 'c1', 'type': 'function', 'function': function}
    message = {'role': 'assistant', 'tool_calls': [call]}
    {'message': message, 'call': call, 'function': function}[where]['score'] = float('inf')
    data = {'choices': [{'message': message, 'finish_reason': 'tool_calls'}]}
    with pytest.raises(ModelError, match='beyond all limits') as caught:
        chat_completions.decision_from(data, provider='p', model='some-model')
    assert caught.value.retryable


def test_a_number_beyond_all_limits_beside_a_call_of_the_messages_api_is_asked_for_again():
    call = {'type': 'tool_use', 'id': 'c1', 'name': 'look', 'input': {}, 'score': float('inf')}
    data = {'content': [call], 'stop_reason': 'tool_use'}
    with pytest.raises(ModelError, match='beyond all limits') as caught:
        messages_api.decision_from(data, provider='p', model='some-model')
    assert caught.value.retryable
