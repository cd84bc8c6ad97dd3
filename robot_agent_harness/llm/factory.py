# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From the `model.*` parameters and the environment to a model client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
import math
from typing import Any, get_args, Literal

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm import anthropic, openai
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.profiles import EFFORTS
from robot_agent_harness.llm.replay import ReplayClient
from robot_agent_harness.llm.scripted import ScriptedClient
from robot_agent_harness.paths import resolved

Provider = Literal['none', 'scripted', 'anthropic', 'openai', 'replay']
DEFAULT_ANTHROPIC_MODEL = 'claude-sonnet-5-5'


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The parameters `model.*`; an empty text means that a parameter is not set."""

    provider: str = 'none'
    """`none` (only MCP clients decide), `scripted`, `anthropic`, `openai` or `replay`."""
    name: str = ''
    """The model's name; `openai` needs one, `anthropic` has a default."""
    base_url: str = ''
    """Another endpoint of the provider's API."""
    script_file: str = ''
    """The file of a scripted model."""
    replay_journal: str = ''
    """The journal whose answers are given again."""
    replay_mission: str = ''
    """The mission of it; by default the last one."""
    thinking_budget_tokens: int = 0
    """How much the model may think, in tokens; 0 = off, and all that `openai` takes."""
    effort: str = ''
    """`low` to `max`; by default the model's own."""
    max_tokens: int = 4096
    """The most tokens of one answer."""
    timeout_s: float = 60.0
    """The longest that one attempt at a decision may take, in seconds."""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> ModelSettings:
        """Take the settings out of the whole set of parameters, `model.<field>` each."""
        return cls(**{field.name: parameters[f'model.{field.name}'] for field in fields(cls)})


def make_client(
    settings: ModelSettings, environ: Mapping[str, str], *, own_journal: str = ''
) -> ModelClient | None:
    """Return the client that the settings ask for; None for `none`.

    :param environ: where the key is looked up, and nowhere else.
    :param own_journal: the journal that the harness writes, which cannot be replayed meanwhile.
    :raises ConfigurationError: the text names the parameter or variable at fault, never a secret.
    """
    if settings.provider not in get_args(Provider):
        raise ConfigurationError(
            f'model.provider must be one of {", ".join(get_args(Provider))}, '
            f'is {settings.provider!r}'
        )
    if settings.provider == 'scripted':
        if not settings.script_file:
            raise ConfigurationError("model.provider 'scripted' needs model.script_file")
        return ScriptedClient.from_file(settings.script_file)
    if settings.provider == 'replay':
        return _replay(settings, own_journal)
    if settings.provider == 'anthropic':
        return _anthropic(settings, environ)
    if settings.provider == 'openai':
        return _openai(settings, environ)
    return None


def _replay(settings: ModelSettings, own_journal: str) -> ModelClient:
    if not settings.replay_journal:
        raise ConfigurationError("model.provider 'replay' needs model.replay_journal")
    try:
        path = resolved(settings.replay_journal)
        is_own = bool(own_journal) and path == resolved(own_journal)
    except OSError as error:
        raise ConfigurationError(
            f'model.replay_journal {settings.replay_journal}: {error.strerror}'
        ) from error
    if is_own:
        raise ConfigurationError(
            f'model.replay_journal {path} is journal.path, which the harness itself writes: '
            'copy it, or let journal.path be another file'
        )
    try:
        return ReplayClient.from_journal(path, mission_id=settings.replay_mission or None)
    except ConfigurationError as error:
        raise ConfigurationError(f'model.replay_journal: {error}') from error


def api_url(settings: ModelSettings, environ: Mapping[str, str]) -> str | None:
    """Return where a provider's API is asked, once all that it needs is there; None for one that
    is not asked over a network.

    Unlike making the client, this is quick: it loads no SDK.

    :raises ConfigurationError: as for :func:`make_client`.
    """
    if settings.provider == 'anthropic':
        _anthropic_key(settings, environ)
        return settings.base_url or environ.get(anthropic.URL_VARIABLE) or anthropic.ANTHROPIC_URL
    if settings.provider == 'openai':
        _openai_key(settings, environ)
        return settings.base_url or openai.OPENAI_URL
    return None


def _anthropic_key(settings: ModelSettings, environ: Mapping[str, str]) -> str:
    _check(settings)
    key = _key(environ, anthropic.KEY_VARIABLE)
    if not key:
        raise ConfigurationError(
            "model.provider 'anthropic' needs a key in the environment variable "
            f'{anthropic.KEY_VARIABLE}'
        )
    return key


def _anthropic(settings: ModelSettings, environ: Mapping[str, str]) -> ModelClient:
    key = _anthropic_key(settings, environ)
    return anthropic.AnthropicClient(
        model=settings.name or DEFAULT_ANTHROPIC_MODEL, api_key=key, **_common(settings)
    )


def _openai_key(settings: ModelSettings, environ: Mapping[str, str]) -> str | None:
    _check(settings)
    if not settings.name:
        raise ConfigurationError("model.provider 'openai' needs model.name")
    key = _key(environ, openai.KEY_VARIABLE)
    if not key and not settings.base_url:
        raise ConfigurationError(
            "model.provider 'openai' needs a key in the environment variable "
            f'{openai.KEY_VARIABLE}, or model.base_url of a server that wants none'
        )
    return key


def _openai(settings: ModelSettings, environ: Mapping[str, str]) -> ModelClient:
    key = _openai_key(settings, environ)
    return openai.OpenAIClient(model=settings.name, api_key=key, **_common(settings))


def _key(environ: Mapping[str, str], variable: str) -> str | None:
    key = environ.get(variable, '').strip()
    if not (key.isascii() and key.isprintable() and ' ' not in key):
        # As an HTTP header it would fail later, in an error that quotes it.
        raise ConfigurationError(f'{variable} holds characters that no key has')
    return key or None


def _common(settings: ModelSettings) -> dict[str, Any]:
    return {
        'base_url': settings.base_url or None,
        'max_tokens': settings.max_tokens,
        'timeout_s': settings.timeout_s,
        'thinking_budget_tokens': settings.thinking_budget_tokens,
        'effort': settings.effort or None,
        # The loop asks again itself: it journals each failed attempt and hears a cancel meanwhile.
        'max_attempts': 1,
    }


def _check(settings: ModelSettings) -> None:
    if settings.base_url and not settings.base_url.startswith(('http://', 'https://')):
        raise ConfigurationError(
            f'model.base_url must start with http:// or https://, is {settings.base_url!r}'
        )
    if settings.thinking_budget_tokens < 0:
        raise ConfigurationError(
            'model.thinking_budget_tokens must be at least 0, '
            f'is {settings.thinking_budget_tokens}'
        )
    if settings.effort and settings.effort not in EFFORTS:
        raise ConfigurationError(
            f'model.effort must be one of {", ".join(EFFORTS)}, is {settings.effort!r}'
        )
    if settings.max_tokens < 1:
        raise ConfigurationError(f'model.max_tokens must be at least 1, is {settings.max_tokens}')
    if not (math.isfinite(settings.timeout_s) and settings.timeout_s > 0):
        raise ConfigurationError(f'model.timeout_s must be above 0, is {settings.timeout_s}')
