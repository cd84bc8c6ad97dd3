# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which profile a model's name gets."""

from pathlib import Path

import pytest

from robot_agent_harness.llm.profiles import FAMILIES, profile_for, UNKNOWN


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
    'model',
    ['', 'claude', 'claude-opus-5-7', 'claude-opus-50', 'claude-opus-6', 'llama3', 'claude-opus'],
)
def test_any_other_name_gets_the_safest_profile(model):
    assert profile_for(model) is UNKNOWN


def test_the_safest_profile_asks_for_nothing():
    assert (UNKNOWN.thinking, UNKNOWN.thinking_off, UNKNOWN.efforts) == ('none', 'omit', ())
    assert not UNKNOWN.forced_tool_choice
    assert UNKNOWN.binds_thinking


@pytest.mark.parametrize('name', FAMILIES)
def test_every_family_is_documented(name):
    assert f'`{name}`' in (Path(__file__).parents[1] / 'docs' / 'models.md').read_text('utf-8')
