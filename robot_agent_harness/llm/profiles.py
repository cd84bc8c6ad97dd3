# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model family takes and refuses, so that a request is right the first time.

Families differ in how thinking is configured, in whether it can be turned off, and in what they
answer 400 to. The tables follow the vendors' documentation of November 2026; a name that they do
not cover gets `UNKNOWN`, which sends nothing that a model might refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import re
from typing import Literal

EFFORTS = ('low', 'medium', 'high', 'xhigh', 'max')
"""Every effort level, in rising order."""

CUT_STOP_REASONS = frozenset({'max_tokens', 'model_context_window_exceeded', 'length'})
"""After these the answer ends in the middle: a tool call in it may lack arguments."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """One model family."""

    family: str
    thinking: Literal['none', 'adaptive', 'budget']
    """How it is asked to think: `adaptive` (it decides how much), `budget` (tokens) or never."""
    thinking_off: Literal['omit', 'disabled', 'between_tools', 'never']
    """How it is kept off: by saying nothing, by that `thinking.type`, or it cannot be."""
    efforts: tuple[str, ...]
    """The effort levels taken; empty where the setting is refused."""
    forced_tool_choice: bool
    """Whether a forced tool choice is taken while thinking is off; with it on, never force one."""
    binds_thinking: bool
    """Whether thinking blocks are refused once anything before them has changed."""
    max_output_tokens: int | None
    """The most that `max_tokens` may be; None if not known."""
    limit_name: Literal['max_tokens', 'max_completion_tokens'] = 'max_tokens'
    """What the limit of an answer is called in Chat Completions."""
    parallel_switch: bool = True
    """Whether Chat Completions take `parallel_tool_calls` for it."""
    fixed_effort: str | None = None
    """The only effort that Chat Completions take beside tools, sent by name; None: not so."""

    @property
    def efforts_with_thinking_off(self) -> tuple[str, ...]:
        """Return the levels that remain when thinking is turned off by name."""
        if self.thinking_off in ('disabled', 'between_tools'):
            return tuple(effort for effort in self.efforts if effort not in ('xhigh', 'max'))
        return self.efforts


UNKNOWN = ModelProfile(
    family='unknown',
    thinking='none',
    thinking_off='omit',
    efforts=(),
    forced_tool_choice=False,
    binds_thinking=True,
    max_output_tokens=None,
)
"""The safest: what every model takes."""

_ADAPTIVE_ONLY = ModelProfile('adaptive only', 'adaptive', 'never', EFFORTS, False, True, 128_000)
_NO_MAX = ('low', 'medium', 'high')
FAMILIES = {
    'claude-fable-5': _ADAPTIVE_ONLY,
    'claude-fable-5-1': _ADAPTIVE_ONLY,
    'claude-fable-5-2': _ADAPTIVE_ONLY,
    'claude-mythos-5': _ADAPTIVE_ONLY,
    'claude-mythos-5-1': _ADAPTIVE_ONLY,
    'claude-mythos-5-2': _ADAPTIVE_ONLY,
    'claude-opus-5-5': _ADAPTIVE_ONLY,
    'claude-sonnet-5-5': ModelProfile(
        'sonnet 5.5', 'adaptive', 'between_tools', EFFORTS, False, True, 128_000
    ),
    'claude-haiku-5-5': ModelProfile(
        'haiku 5.5', 'adaptive', 'disabled', EFFORTS, False, True, 128_000
    ),
    'claude-opus-5': ModelProfile('opus 5', 'adaptive', 'disabled', EFFORTS, True, False, 128_000),
    'claude-sonnet-5': ModelProfile(
        'sonnet 5', 'adaptive', 'disabled', EFFORTS, True, False, 128_000
    ),
    'claude-opus-4-8': ModelProfile('opus 4.8', 'adaptive', 'omit', EFFORTS, True, False, 128_000),
    'claude-opus-4-7': ModelProfile('opus 4.7', 'adaptive', 'omit', EFFORTS, True, False, 128_000),
    'claude-opus-4-6': ModelProfile(
        'opus 4.6', 'adaptive', 'omit', (*_NO_MAX, 'max'), True, False, 128_000
    ),
    'claude-sonnet-4-6': ModelProfile(
        'sonnet 4.6', 'adaptive', 'omit', (*_NO_MAX, 'max'), True, False, 64_000
    ),
    'claude-opus-4-5': ModelProfile('opus 4.5', 'budget', 'omit', _NO_MAX, True, False, 64_000),
    'claude-sonnet-4-5': ModelProfile('sonnet 4.5', 'budget', 'omit', (), True, False, 64_000),
    'claude-haiku-4-5': ModelProfile('haiku 4.5', 'budget', 'omit', (), True, False, 64_000),
}
"""Of the Messages API, by the beginning of the model's name."""

# Reasons by default, and Chat Completions refuse that together with tools.
_REASONS_NOT_WITH_TOOLS = ModelProfile(
    'reasons not with tools',
    'none',
    'omit',
    (),
    True,
    False,
    128_000,
    limit_name='max_completion_tokens',
    fixed_effort='none',
)
_GPT_5 = replace(_REASONS_NOT_WITH_TOOLS, family='gpt 5', efforts=_NO_MAX, fixed_effort=None)
_O_SERIES = replace(_GPT_5, family='o series', parallel_switch=False, max_output_tokens=100_000)
_GPT_4_1 = replace(_GPT_5, family='gpt 4.1', efforts=(), max_output_tokens=32_768)
_GPT_4O = replace(_GPT_4_1, family='gpt 4o', max_output_tokens=16_384)
_GPT_OSS = ModelProfile('gpt oss', 'none', 'omit', _NO_MAX, False, False, None)
# Thinks by default, and then refuses a forced tool choice.
_DEEPSEEK = ModelProfile(
    'deepseek 4', 'none', 'never', EFFORTS, False, False, None, parallel_switch=False
)
CHAT_FAMILIES = {
    'gpt-6': _REASONS_NOT_WITH_TOOLS,
    'gpt-6.1': _REASONS_NOT_WITH_TOOLS,
    'gpt-6.2': _REASONS_NOT_WITH_TOOLS,
    'gpt-5.6': _REASONS_NOT_WITH_TOOLS,
    'gpt-5.5': _REASONS_NOT_WITH_TOOLS,
    'gpt-5.4': _REASONS_NOT_WITH_TOOLS,
    'gpt-5.2': _REASONS_NOT_WITH_TOOLS,
    'gpt-5.1': _GPT_5,
    'gpt-5': _GPT_5,
    'o4-mini': _O_SERIES,
    'o3': _O_SERIES,
    'o3-mini': _O_SERIES,
    'o1': _O_SERIES,
    'gpt-4.1': _GPT_4_1,
    'gpt-4o': _GPT_4O,
    'gpt-oss-120b': _GPT_OSS,
    'gpt-oss-20b': _GPT_OSS,
    'gpt-oss:120b': _GPT_OSS,
    'gpt-oss:20b': _GPT_OSS,
    'openai/gpt-oss-120b': _GPT_OSS,
    'openai/gpt-oss-20b': _GPT_OSS,
    'deepseek-flash': _DEEPSEEK,
    'deepseek-v4-flash': _DEEPSEEK,
    'deepseek-v4-pro': _DEEPSEEK,
}
"""Of Chat Completions, by the beginning of the model's name."""

UNKNOWN_AT_OPENAI = replace(UNKNOWN, limit_name='max_completion_tokens')
"""A name that OpenAI's own API is asked for: all its models take the newer name of the limit."""

# A longer version number is another model: `claude-opus-5` must not claim `claude-opus-5-7`, but a
# date or an alias after the name is the same one.
_SAME_MODEL = re.compile(r'$|[-@:](?!\d{1,2}(?:\D|$))')


def profile_for(
    model: str,
    families: Mapping[str, ModelProfile] = FAMILIES,
    unknown: ModelProfile = UNKNOWN,
) -> ModelProfile:
    """Return the profile of the longest family name that the model's name begins with."""
    for name in sorted(families, key=len, reverse=True):
        if model.startswith(name) and _SAME_MODEL.match(model, len(name)):
            return families[name]
    return unknown
