# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A model that answers from a YAML file: demos, tests and rehearsals without a key or a network.

A script is an ordered list of responses. Each decision takes the first response that has not been
used and whose `when` holds; responses before it that did not match are passed over and stay
available. `docs/scripted_missions.md` describes the file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator, ValidationError
from typing_extensions import Self

from robot_agent_harness.actions.lifecycle import OutcomeReason
from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.llm.client import Decision, ModelRequest, ToolCall
from robot_agent_harness.llm.profiles import CUT_STOP_REASONS
from robot_agent_harness.paths import expanded
from robot_agent_harness.yaml_files import read_yaml

EXHAUSTED_TEXT = 'script exhausted'

_Text = Annotated[str, Field(min_length=1)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_LastOutcome = Literal['SUCCEEDED', 'FAILED', 'UNKNOWN'] | None
_Reason = Annotated[OutcomeReason, Field(strict=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', strict=True)


class When(_Strict):
    """What must be true of the request; a key left out does not matter."""

    last_outcome: _LastOutcome = None
    """State of the last action to end; `null` written out means that none has ended yet."""
    reason: _Reason | None = None
    """Why the last action ended, as in CONTRACT (`verification_disproved`, ...)."""
    trigger: _Text | None = None
    """Why the model is asked, as the loop names it (`mission_started`, `action_outcome`, ...)."""
    step: Annotated[int, Field(ge=1)] | None = None
    """The number of the decision step in its mission, from 1."""

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether every key that was written equals what the request carries."""
        seen = {
            'last_outcome': metadata.get('last_outcome'),
            'reason': metadata.get('last_reason'),
            'trigger': metadata.get('trigger'),
            'step': metadata.get('step'),
        }
        return all(seen[key] == getattr(self, key) for key in self.model_fields_set)


class Call(_Strict):
    """One tool call."""

    name: _Text
    arguments: Any = Field(default_factory=dict)
    """Goes out as it stands, so that a script can also say nonsense."""
    id: _Text | None = None
    """Tool-use id; by default one that is unique in the run."""


class ScriptedError(_Strict):
    """A decision that fails instead of answering."""

    message: _Text
    retryable: bool = False
    retry_after_s: _Seconds | None = None


class Response(_Strict):
    """One answer of the scripted model."""

    when: When | None = None
    repeat: bool = False
    """Whether it can be used again; else once."""
    say: str | None = None
    """The rationale."""
    thinking: str | None = None
    call: Call | None = None
    calls: list[Call] | None = None
    purpose: _Text | None = None
    """Merged into the arguments of `call`, where a real model's tool schema puts it."""
    expected_outcome: _Text | None = None
    """Merged likewise."""
    stop_reason: _Text | None = None
    """By default `tool_use` with a call and `end_turn` without; `max_tokens` cuts the calls."""
    delay_s: _Seconds = 0.0
    """How long the model thinks, in seconds."""
    error: ScriptedError | None = None

    @model_validator(mode='after')
    def _check_combination(self) -> Response:
        if self.call is not None and self.calls is not None:
            raise ValueError('give `call` or `calls`, not both')
        extra = {key for key in ('purpose', 'expected_outcome') if getattr(self, key)}
        if extra and self.call is None:
            raise ValueError('`purpose` and `expected_outcome` need a `call` to go with')
        if extra and not isinstance(self.call and self.call.arguments, dict):
            raise ValueError('`purpose` and `expected_outcome` need `call.arguments` as a mapping')
        if self.error is not None and self.model_fields_set - {
            'when',
            'repeat',
            'delay_s',
            'error',
        }:
            raise ValueError('`error` goes only with `when`, `repeat` and `delay_s`')
        return self

    def tool_calls(self) -> list[Call]:
        """Return the calls with purpose and expected outcome among their arguments."""
        if self.call is None:
            return list(self.calls or ())
        merged = {
            key: value
            for key, value in (
                ('purpose', self.purpose),
                ('expected_outcome', self.expected_outcome),
            )
            if value is not None
        }
        if not merged:
            return [self.call]
        return [self.call.model_copy(update={'arguments': {**self.call.arguments, **merged}})]


class Script(_Strict):
    """The whole file."""

    responses: list[Response]

    @model_validator(mode='after')
    def _check_reachable(self) -> Script:
        for index, response in enumerate(self.responses[:-1]):
            if response.repeat and response.when is None:
                raise ValueError(
                    f'responses[{index}] repeats without a `when`, so none after it is ever used'
                )
        return self


class ScriptedClient:
    """A `ModelClient` that follows a script.

    :param script: what to answer; `from_file` and `from_dict` make and check one.
    :param name: what the journal shows as the model's name.
    :param sleep: waits for `delay_s`; a test may pass its own.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.script = script
        """What it follows."""
        self._unused = set(range(len(script.responses)))
        self._name = name
        self._sleep = sleep
        self._decisions = 0
        self._calls = 0

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read and check a script.

        :raises ConfigurationError: the file is missing, is not YAML or breaks the format; the text
            names the file, the key and what is allowed there.
        """
        try:
            path = expanded(path)
        except OSError as error:
            raise ConfigurationError(f'model.script_file {path}: {error.strerror}') from error
        _, data = read_yaml(path, called='model.script_file')
        return cls.from_dict(data, source=str(path))

    @classmethod
    def from_dict(cls, data: Any, *, source: str = 'script') -> Self:
        """Check a script given as plain data; `source` names it in errors and in the journal.

        :raises ConfigurationError: it breaks the format.
        """
        try:
            script = Script.model_validate(data)
        except ValidationError as error:
            lines = [_explain(detail, data) for detail in error.errors()]
            raise ConfigurationError('\n'.join(f'{source}: {line}' for line in lines)) from error
        return cls(script, name=Path(source).name)

    @property
    def provider(self) -> str:
        """Return `scripted`."""
        return 'scripted'

    @property
    def model(self) -> str | None:
        """Return the script's file name."""
        return self._name

    async def decide(self, request: ModelRequest) -> Decision:
        """Return the next response that applies; it counts as used even if the wait is cancelled.

        :raises ModelError: the script says so.
        """
        response = self._take(request.metadata)
        self._decisions += 1
        response_id = f'script-{self._decisions}'
        if response.delay_s:
            await self._sleep(response.delay_s)
        if response.error is not None:
            raise ModelError(
                response.error.message,
                retryable=response.error.retryable,
                retry_after_s=response.error.retry_after_s,
            )
        return self._decision(response, response_id)

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _take(self, metadata: Mapping[str, Any]) -> Response:
        for index, response in enumerate(self.script.responses):
            if index in self._unused and (response.when is None or response.when.holds(metadata)):
                if not response.repeat:
                    self._unused.remove(index)
                return response
        return Response(say=EXHAUSTED_TEXT)

    def _decision(self, response: Response, response_id: str) -> Decision:
        calls = [self._with_id(call) for call in response.tool_calls()]
        stop_reason = response.stop_reason or ('tool_use' if calls else 'end_turn')
        malformed = f'truncated: {stop_reason}' if stop_reason in CUT_STOP_REASONS else None
        content: list[dict[str, Any]] = []
        if response.thinking:
            content.append({'type': 'thinking', 'thinking': response.thinking, 'signature': ''})
        if response.say:
            content.append({'type': 'text', 'text': response.say})
        content.extend(
            {'type': 'tool_use', 'id': call.id, 'name': call.name, 'input': call.arguments}
            for call in calls
        )
        return Decision(
            tool_calls=tuple(
                ToolCall(call.id or '', call.name, call.arguments, malformed) for call in calls
            ),
            rationale=response.say or None,
            thinking=response.thinking or None,
            stop_reason=stop_reason,
            usage={'input_tokens': 0, 'output_tokens': 0},
            provider=self.provider,
            model=self.model,
            response_id=response_id,
            raw_content=tuple(content),
        )

    def _with_id(self, call: Call) -> Call:
        self._calls += 1
        return call if call.id else call.model_copy(update={'id': f'call-{self._calls}'})


_MODEL_AT: dict[str, type[BaseModel]] = {
    'responses': Response,
    'when': When,
    'call': Call,
    'calls': Call,
    'error': ScriptedError,
}


def _explain(detail: Any, data: Any) -> str:
    """Say where a check failed and, for an unknown key, what the file may hold there."""
    where = ''
    for part in detail['loc']:
        where += f'[{part}]' if isinstance(part, int) else f'.{part}' if where else str(part)
    if detail['type'] == 'extra_forbidden':
        names = [part for part in detail['loc'][:-1] if isinstance(part, str)]
        model = _MODEL_AT[names[-1]] if names else Script
        return f'{where}: unknown key; allowed here: {", ".join(model.model_fields)}'
    message = str(detail['msg']).removeprefix('Value error, ')
    if detail['type'] in ('missing', 'value_error'):
        return f'{where}: {message}' if where else message
    if detail['type'] in ('model_type', 'model_attributes_type'):
        model = _MODEL_AT.get(
            next((p for p in reversed(detail['loc']) if isinstance(p, str)), ''), Script
        )
        message = f'must be a mapping with the keys {", ".join(model.model_fields)}'
    return f'{where or "the file"}: {message}; found {_short(detail["input"])}'


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:57]}...'
