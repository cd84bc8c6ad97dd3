# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model family takes and refuses, so that a request is right the first time.

Families differ in how thinking is configured, in whether it can be turned off, and in what they
answer 400 to. The table follows the vendor's documentation of November 2026; a name that it does
not cover gets `UNKNOWN`, which sends nothing that a model might refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Literal

EFFORTS = ('low', 'medium', 'high', 'xhigh', 'max')
"""Every effort level, in rising order."""

CUT_STOP_REASONS = frozenset({'max_tokens', 'model_context_window_exceeded'})
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
"""By the beginning of the model's name."""

# A longer version number is another model: `claude-opus-5` must not claim `claude-opus-5-7`, but a
# date or an alias after the name is the same one.
_SAME_MODEL = re.compile(r'$|[-@:](?!\d{1,2}(?:\D|$))')


def profile_for(model: str) -> ModelProfile:
    """Return the profile of the longest family name that the model's name begins with."""
    for name in sorted(FAMILIES, key=len, reverse=True):
        if model.startswith(name) and _SAME_MODEL.match(model, len(name)):
            return FAMILIES[name]
    return UNKNOWN
