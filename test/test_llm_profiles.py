# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which profile a model's name gets."""

from pathlib import Path

import pytest

from robot_agent_harness.llm.profiles import CHAT_FAMILIES, FAMILIES, profile_for, UNKNOWN


@pytest.mark.parametrize(
    ('model', 'family'),
    [
        ('claude-opus-5', 'opus 5'),
        ('claude-opus-5-20260724', 'opus 5'),
        ('claude-opus-5@20260724', 'opus 5'),
        ('claude-opus-5-5', 'adaptive only'),
        ('claude-haiku-4-5-20251001', 'haiku 4.5'),
        ('claude-haiku-4-5-latest', 'haiku 4.5'),
        ('claude-sonnet-5-5', 'sonnet 5.5'),
    ],
)
def test_the_longest_family_name_decides(model, family):
    assert profile_for(model).family == family


@pytest.mark.parametrize(
    ('model', 'family'),
    [
        ('gpt-5', 'gpt 5'),
        ('gpt-5-mini', 'gpt 5'),
        ('gpt-5.1-2025-11-13', 'gpt 5'),
        ('gpt-5.4-mini-2026-03-17', 'reasons not with tools'),
        ('gpt-6.2-sol', 'reasons not with tools'),
        ('o3-mini-2025-01-31', 'o series'),
        ('gpt-4o-mini', 'gpt 4o'),
        ('gpt-oss:20b', 'gpt oss'),
        ('deepseek-v4-flash', 'deepseek 4'),
        ('gpt-5.7', 'unknown'),
        ('gpt-7', 'unknown'),
        ('deepseek-r1:8b', 'unknown'),
        ('claude-opus-5', 'unknown'),
        ('Qwen/Qwen3-8B', 'unknown'),
    ],
)
def test_chat_completions_have_families_of_their_own(model, family):
    assert profile_for(model, CHAT_FAMILIES).family == family


@pytest.mark.parametrize(
    'model',
    ['', 'claude', 'claude-opus-5-7', 'claude-opus-50', 'claude-opus-6', 'llama3', 'claude-opus'],
)
def test_any_other_name_gets_the_safest_profile(model):
    assert profile_for(model) is UNKNOWN


def test_the_safest_profile_asks_for_nothing():
    assert (UNKNOWN.thinking, UNKNOWN.thinking_off, UNKNOWN.efforts) == ('none', 'omit', ())
    assert not UNKNOWN.forced_tool_choice
    assert UNKNOWN.binds_thinking
    assert (UNKNOWN.limit_name, UNKNOWN.fixed_effort) == ('max_tokens', None)


@pytest.mark.parametrize('name', [*FAMILIES, *CHAT_FAMILIES])
def test_every_family_is_documented(name):
    assert f'`{name}`' in (Path(__file__).parents[1] / 'docs' / 'models.md').read_text('utf-8')
