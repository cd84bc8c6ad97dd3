# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The scripted model: what it answers when, and what it refuses to read."""

from pathlib import Path
import re

import pytest
import yaml

from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.llm import ModelRequest, ScriptedClient
from robot_agent_harness.llm.scripted import Response, When
from robot_agent_harness.testing.scripted_model import call, response, scripted, text


@pytest.fixture
def anyio_backend():
    return 'asyncio'


def asked(**metadata):
    return ModelRequest(system='', messages=(), tools=(), metadata=metadata)


@pytest.mark.anyio
async def test_responses_come_in_their_order_and_then_the_script_is_exhausted():
    model = scripted(call('list_places', say='Where can I go?'), text('I am done.'))

    first = await model.decide(asked())
    assert first.rationale == 'Where can I go?'
    assert first.stop_reason == 'tool_use'
    assert [(c.name, c.arguments, c.malformed) for c in first.tool_calls] == [
        ('list_places', {}, None)
    ]

    second = await model.decide(asked())
    assert (second.rationale, second.stop_reason) == ('I am done.', 'end_turn')

    for _ in range(2):
        last = await model.decide(asked())
        assert (last.rationale, last.tool_calls) == ('script exhausted', ())
        assert last.stop_reason == 'end_turn'


@pytest.mark.anyio
async def test_the_first_unused_response_whose_condition_holds_is_taken_and_others_stay():
    model = scripted(
        response(when={'last_outcome': 'FAILED'}, say='It failed.'),
        response(when={'trigger': 'precondition_changed'}, say='The world changed.'),
        text('Onwards.'),
    )
    assert (await model.decide(asked())).rationale == 'Onwards.'
    assert (await model.decide(asked(trigger='precondition_changed'))).rationale == (
        'The world changed.'
    )
    assert (await model.decide(asked(last_outcome='FAILED'))).rationale == 'It failed.'
    assert (await model.decide(asked(last_outcome='FAILED'))).rationale == 'script exhausted'


@pytest.mark.anyio
async def test_every_key_of_a_condition_must_hold():
    model = scripted(
        response(
            when={'last_outcome': 'FAILED', 'reason': 'verification_disproved', 'step': 3},
            say='Not there.',
        )
    )
    seen = {'last_outcome': 'FAILED', 'last_reason': 'verification_disproved', 'step': 3}
    for key, other in [('last_outcome', 'UNKNOWN'), ('last_reason', 'aborted'), ('step', 2)]:
        decision = await model.decide(asked(**{**seen, key: other}))
        assert decision.rationale == 'script exhausted', key
    assert (await model.decide(asked(**seen))).rationale == 'Not there.'


@pytest.mark.anyio
async def test_a_null_last_outcome_means_that_no_action_has_ended_yet():
    model = scripted(
        {'when': {'last_outcome': None}, 'say': 'Nothing has happened.', 'repeat': True},
        text('Something has.'),
    )
    assert (await model.decide(asked(last_outcome=None))).rationale == 'Nothing has happened.'
    assert (await model.decide(asked(last_outcome='UNKNOWN'))).rationale == 'Something has.'
    assert (await model.decide(asked())).rationale == 'Nothing has happened.'


@pytest.mark.anyio
async def test_purpose_and_expected_outcome_are_arguments_of_the_call():
    model = scripted(
        response(
            call={'name': 'navigate_to_place', 'arguments': {'name': 'kitchen'}},
            purpose='look for the cup',
            expected_outcome='the robot stands in the kitchen',
        )
    )
    decision = await model.decide(asked())
    assert decision.tool_calls[0].arguments == {
        'name': 'kitchen',
        'purpose': 'look for the cup',
        'expected_outcome': 'the robot stands in the kitchen',
    }
    assert decision.raw_content[-1]['input'] == decision.tool_calls[0].arguments


@pytest.mark.anyio
async def test_several_calls_and_nonsense_arguments_go_out_as_they_stand():
    model = scripted(
        response(
            calls=[
                {'name': 'navigate_to_pose', 'arguments': {'x': 'left'}, 'id': 'tu1'},
                {'name': 'fly_to', 'arguments': 7},
            ]
        )
    )
    decision = await model.decide(asked())
    assert [(c.id, c.name, c.arguments) for c in decision.tool_calls] == [
        ('tu1', 'navigate_to_pose', {'x': 'left'}),
        ('call-2', 'fly_to', 7),
    ]


@pytest.mark.anyio
async def test_a_response_cut_at_its_limit_has_a_truncated_call():
    model = scripted(response(call={'name': 'navigate_to_pose'}, stop_reason='max_tokens'))
    decision = await model.decide(asked())
    assert decision.stop_reason == 'max_tokens'
    assert 'truncated' in decision.tool_calls[0].malformed


@pytest.mark.anyio
async def test_an_error_is_raised_as_the_script_says_and_counts_as_used():
    model = scripted(
        response(error={'message': 'overloaded', 'retryable': True, 'retry_after_s': 2}),
        text('Here I am.'),
    )
    with pytest.raises(ModelError, match='overloaded') as caught:
        await model.decide(asked())
    assert (caught.value.retryable, caught.value.retry_after_s) == (True, 2.0)
    assert (await model.decide(asked())).rationale == 'Here I am.'


@pytest.mark.anyio
async def test_it_thinks_as_long_as_the_script_says():
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    source = ScriptedClient.from_dict({'responses': [{'delay_s': 1.5, 'thinking': 'Hm.'}]})
    model = ScriptedClient(source.script, sleep=sleep)
    decision = await model.decide(asked())
    assert waited == [1.5]
    assert decision.thinking == 'Hm.'
    assert decision.rationale is None


@pytest.mark.anyio
async def test_a_file_is_read_and_names_the_model(tmp_path):
    path = tmp_path / 'patrol.yaml'
    path.write_text('responses:\n  - say: Grüße\n', encoding='utf-8')
    model = ScriptedClient.from_file(path)
    assert (model.provider, model.model) == ('scripted', 'patrol.yaml')
    decision = await model.decide(asked())
    assert (decision.rationale, decision.provider) == ('Grüße', 'scripted')
    assert decision.model == 'patrol.yaml'
    await model.close()


@pytest.mark.parametrize(
    ('script', 'said'),
    [
        ({'responses': [{'cal': {}}]}, ['responses[0].cal', 'unknown key', 'call, calls']),
        ({'response': []}, ['response: unknown key', 'allowed here: responses']),
        ({'responses': [{}, {'when': {'outcome': 'FAILED'}}]}, ['responses[1].when.outcome']),
        ({'responses': [{'when': {'last_outcome': 'FAILD'}}]}, ["'SUCCEEDED'", "found 'FAILD'"]),
        ({'responses': [{'when': {'reason': 'gone'}}]}, ['verification_disproved', "'gone'"]),
        ({'responses': [{'call': {'arguments': {}}}]}, ['responses[0].call.name']),
        ({'responses': [{'calls': [{'name': 'a', 'args': {}}]}]}, ['calls[0].args', 'arguments']),
        ({'responses': [{'say': True}]}, ['responses[0].say']),
        ({'responses': ['hello']}, ['responses[0]', 'mapping']),
        ({'responses': [{'delay_s': float('nan')}]}, ['responses[0].delay_s']),
        ({'responses': [{'delay_s': -1}]}, ['responses[0].delay_s']),
        ({'responses': [{'purpose': 'why'}]}, ['responses[0]', 'purpose']),
        ({'responses': [{'call': {'name': 'a'}, 'calls': []}]}, ['not both']),
        ({'responses': [{'error': {'message': 'x'}, 'say': 'y'}]}, ['`error`']),
        ({'responses': [{'repeat': True}, {}]}, ['responses[0] repeats']),
        ([], ['mapping', 'responses']),
        (None, ['mapping', 'responses']),
    ],
)
def test_a_wrong_script_is_refused_with_file_key_and_what_is_allowed(tmp_path, script, said):
    path = tmp_path / 'mission.yaml'
    path.write_text(yaml.safe_dump(script), encoding='utf-8')
    with pytest.raises(ConfigurationError) as caught:
        ScriptedClient.from_file(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)


def test_a_key_given_twice_is_refused(tmp_path):
    path = tmp_path / 'mission.yaml'
    path.write_text('responses:\n  - say: one\n    say: two\n', encoding='utf-8')
    with pytest.raises(ConfigurationError, match='say'):
        ScriptedClient.from_file(path)


@pytest.mark.parametrize(
    ('content', 'why'), [(b'responses: [', 'not YAML'), (b'\xff\xfe\x00', 'not UTF-8')]
)
def test_a_file_that_is_not_yaml_is_refused(tmp_path, content, why):
    path = tmp_path / 'mission.yaml'
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=why):
        ScriptedClient.from_file(path)


def test_a_missing_file_is_named():
    with pytest.raises(ConfigurationError, match=r'/nowhere/mission\.yaml'):
        ScriptedClient.from_file('/nowhere/mission.yaml')


def blocks_of(language):
    page = (Path(__file__).parents[1] / 'docs' / 'scripted_missions.md').read_text('utf-8')
    return re.findall(rf'^```{language}\n(.*?)^```', page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize('block', blocks_of('yaml'))
def test_every_script_in_the_documentation_is_accepted(block):
    assert ScriptedClient.from_dict(yaml.safe_load(block)).script.responses


def test_the_documented_python_runs():
    for block in blocks_of('python'):
        exec(compile(block, 'docs/scripted_missions.md', 'exec'), {})


@pytest.mark.parametrize('key', [*Response.model_fields, *When.model_fields])
def test_every_key_is_documented(key):
    page = (Path(__file__).parents[1] / 'docs' / 'scripted_missions.md').read_text('utf-8')
    assert f'| `{key}` |' in page
