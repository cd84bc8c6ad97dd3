# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From parameters and environment to a client."""

from dataclasses import fields
from pathlib import Path
import re

import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm import make_client, ModelSettings


def test_no_provider_gives_no_client():
    assert make_client(ModelSettings(), {}) is None


def test_a_scripted_client_reads_its_file(tmp_path):
    path = tmp_path / 'mission.yaml'
    path.write_text('responses: []\n', encoding='utf-8')
    client = make_client(ModelSettings(provider='scripted', script_file=str(path)), {})
    assert (client.provider, client.model) == ('scripted', 'mission.yaml')


def test_an_anthropic_client_takes_its_key_from_the_environment():
    settings = ModelSettings(provider='anthropic', name='claude-opus-4-8')
    client = make_client(settings, {'ANTHROPIC_API_KEY': 'sk-test\n'})
    assert (client.provider, client.model) == ('anthropic', 'claude-opus-4-8')


def test_anthropic_has_a_default_model():
    settings = ModelSettings(provider='anthropic')
    assert make_client(settings, {'ANTHROPIC_API_KEY': 'k'}).model.startswith('claude-')


def test_an_openai_client_takes_its_key_from_the_environment():
    settings = ModelSettings(provider='openai', name='gpt-4.1')
    client = make_client(settings, {'OPENAI_API_KEY': 'sk-test\n'})
    assert (client.provider, client.model) == ('openai', 'gpt-4.1')


def test_a_server_of_ones_own_needs_no_key():
    settings = ModelSettings(provider='openai', name='qwen3', base_url='http://localhost:8000/v1')
    assert make_client(settings, {}).model == 'qwen3'


VARIABLES = {'anthropic': 'ANTHROPIC_API_KEY', 'openai': 'OPENAI_API_KEY'}


@pytest.mark.parametrize(('provider', 'other'), [('anthropic', 'openai'), ('openai', 'anthropic')])
@pytest.mark.parametrize('key', [None, ' ', 'of the other'])
def test_a_missing_key_names_the_variable(provider, other, key):
    environ = {} if key is None else {VARIABLES[provider]: key}
    if key == 'of the other':
        environ = {VARIABLES[other]: 'k'}
    with pytest.raises(ConfigurationError, match=VARIABLES[provider]):
        make_client(ModelSettings(provider=provider, name='m'), environ)


@pytest.mark.parametrize('provider', VARIABLES)
@pytest.mark.parametrize('key', ['sk-sec\nret', 'sk-sécret', 'sk sec ret', 'sk-\x00secret'])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(provider, key):
    settings = ModelSettings(provider=provider, name='m', base_url='http://localhost:1')
    with pytest.raises(ConfigurationError, match=VARIABLES[provider]) as caught:
        make_client(settings, {VARIABLES[provider]: key})
    assert 'sk' not in str(caught.value)


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        (
            {'provider': 'gemini'},
            'model.provider must be one of none, scripted, anthropic',
        ),
        ({'provider': 'openai'}, 'model.name'),
        ({'provider': 'openai', 'name': 'm', 'base_url': 'localhost:1'}, 'model.base_url'),
        ({'provider': 'openai', 'name': 'm', 'max_tokens': 0}, 'model.max_tokens'),
        ({'provider': 'openai', 'name': 'm', 'effort': 'huge'}, 'model.effort'),
        (
            {'provider': 'openai', 'name': 'm', 'thinking_budget_tokens': 2000},
            'model.thinking_budget_tokens',
        ),
        ({'provider': 'scripted'}, 'model.script_file'),
        ({'provider': 'scripted', 'script_file': '/nowhere.yaml'}, '/nowhere.yaml'),
        ({'provider': 'anthropic', 'base_url': 'localhost:1'}, 'model.base_url'),
        ({'provider': 'anthropic', 'max_tokens': 0}, 'model.max_tokens'),
        ({'provider': 'anthropic', 'timeout_s': 0.0}, 'model.timeout_s'),
        ({'provider': 'anthropic', 'timeout_s': float('nan')}, 'model.timeout_s'),
        ({'provider': 'anthropic', 'effort': 'huge'}, 'model.effort'),
        ({'provider': 'anthropic', 'thinking_budget_tokens': -1}, 'model.thinking_budget_tokens'),
    ],
)
def test_a_wrong_parameter_is_named(settings, said):
    with pytest.raises(ConfigurationError, match=said):
        make_client(ModelSettings(**settings), {'ANTHROPIC_API_KEY': 'k', 'OPENAI_API_KEY': 'k'})


def test_settings_come_from_the_parameters():
    parameters = {f'model.{field.name}': field.default for field in fields(ModelSettings)}
    parameters |= {'model.provider': 'scripted', 'model.timeout_s': 5.0, 'robot_id': 'r1'}
    settings = ModelSettings.from_parameters(parameters)
    assert settings == ModelSettings(provider='scripted', timeout_s=5.0)


@pytest.mark.parametrize('field', fields(ModelSettings))
def test_every_parameter_is_documented(field):
    page = (Path(__file__).parents[1] / 'docs' / 'models.md').read_text('utf-8')
    assert f'`model.{field.name}`' in page


def test_the_documented_python_runs():
    page = (Path(__file__).parents[1] / 'docs' / 'models.md').read_text('utf-8')
    for block in re.findall(r'^```python\n(.*?)^```', page, re.MULTILINE | re.DOTALL):
        exec(compile(block, 'docs/models.md', 'exec'), {})
