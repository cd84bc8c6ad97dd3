# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills made of a few lines of YAML: an existing ROS action or service as a tool, without Python.

`docs/writing_a_skill.md` walks through both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import math
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model, Field

from robot_agent_harness.actions.ros_action import references, render, RosAction, TYPE_PATTERN
from robot_agent_harness.actions.verification.kinds import defect, GOAL_KEYS
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills.outputs import CallOutput, ManagedOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.services import (
    RosService,
    ServiceTimeoutError,
    ServiceUnavailableError,
)
from robot_agent_harness.skills.skill import (
    GoalContext,
    ManagedAction,
    NAME_PATTERN,
    Skill,
    SkillContext,
    SkillError,
)

TEXT_MAX = 512
"""Characters of a text argument, unless its entry says otherwise."""
RESERVED = frozenset(CallOutput.model_fields) | frozenset(ManagedOutput.model_fields)
"""Keys of results that mean something to the harness."""

_STRICT = ConfigDict(extra='forbid', allow_inf_nan=False)
_Name = Annotated[str, Field(pattern=r'^[a-z][a-z0-9_]{0,47}$')]
RosName = Annotated[str, Field(pattern=r'^/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*$')]
_Scalar: TypeAlias = bool | int | float | str
_KINDS: Mapping[str, tuple[type, ...]] = {
    'number': (float, int),
    'integer': (int,),
    'boolean': (bool,),
    'string': (str,),
}
"""The Python types of an argument's values, the one that it is declared with first."""


class Argument(BaseModel):
    """One argument of the tool."""

    model_config = _STRICT

    type: Literal['number', 'integer', 'boolean', 'string']
    description: str = Field(min_length=1)
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = Field(default=None, ge=1)
    choices: list[_Scalar] | None = Field(default=None, min_length=1)
    default: _Scalar | None = None


class MappedAction(BaseModel):
    """The ROS action behind a tool."""

    model_config = _STRICT

    type: str
    name: RosName
    goal: dict[str, Any] = Field(default_factory=dict)
    expect: dict[_Name, Any] = Field(default_factory=dict)


class MappedService(BaseModel):
    """The ROS service behind a tool."""

    model_config = _STRICT

    type: str
    name: RosName
    request: dict[str, Any] = Field(default_factory=dict)
    response: dict[_Name, str] = Field(default_factory=dict)
    success: str | None = None
    timeout_s: float = Field(default=5.0, gt=0, le=600.0)


class MappedTool(BaseModel):
    """What an entry says about a tool that it makes."""

    model_config = _STRICT

    title: str | None = None
    description: str | None = None
    arguments: dict[_Name, Argument] = Field(default_factory=dict)
    action: MappedAction | None = None
    service: MappedService | None = None
    read_only: bool = False
    idempotent: bool = False

    @property
    def makes(self) -> str | None:
        """Name the key, if there is one, that only an entry with a tool of its own may have."""
        given = self.model_fields_set & set(MappedTool.model_fields)
        return next(iter(sorted(given)), None)


def action_skill(
    name: str, entry: MappedTool, action: MappedAction, verifier: str | None
) -> Skill:
    """Return the tool that drives a ROS action.

    :param verifier: who judges its outcome.
    :raises ConfigurationError: the entry does not fit together.
    """
    _check_name(name, entry)
    _check_type(name, action.type, 'action')
    if verifier is None:
        raise ConfigurationError(
            f'skills.{name}.managed.verifier: missing; say what judges the outcome. none leaves'
            ' every success that the controller claims UNKNOWN'
        )
    if entry.read_only or entry.idempotent:
        raise ConfigurationError(f'skills.{name}: an action is neither read_only nor idempotent')
    arguments = frozenset(entry.arguments)
    _check_references(f'skills.{name}.action.expect', action.expect, arguments)
    keys = arguments | frozenset(action.expect)
    _check_references(f'skills.{name}.action.goal', action.goal, keys)
    missing = sorted(GOAL_KEYS.get(verifier, frozenset()) - keys)
    if missing:
        raise ConfigurationError(
            f'skills.{name}.action.expect: the verifier {verifier} needs {", ".join(missing)}'
        )
    model = _model(name, entry.arguments)
    for given in examples(model):
        why = defect(verifier, {**given, **render(action.expect, given)})
        if why is not None:
            raise ConfigurationError(f'skills.{name}.action.expect.{why} (verifier {verifier})')

    def goal(context: GoalContext, /, **given: Any) -> dict[str, Any]:
        return {**given, **render(action.expect, given)}

    return Skill(
        name=name,
        title=entry.title or name.replace('_', ' ').capitalize(),
        description=entry.description or '',
        function=goal,
        arguments=model,
        output=ManagedOutput,
        managed=ManagedAction(
            action=RosAction(action.name, action.type, action.goal), verifier=verifier
        ),
        read_only=False,
        idempotent=False,
    )


def service_skill(name: str, entry: MappedTool, service: MappedService) -> Skill:
    """Return the tool that calls a ROS service.

    :raises ConfigurationError: the entry does not fit together.
    """
    _check_name(name, entry)
    _check_type(name, service.type, 'srv')
    _check_references(
        f'skills.{name}.service.request', service.request, frozenset(entry.arguments)
    )
    reserved = sorted(service.response.keys() & RESERVED)
    if reserved:
        raise ConfigurationError(
            f'skills.{name}.service.response: {", ".join(reserved)} has a meaning of its own in'
            ' results; choose another key'
        )
    ros_service = RosService(
        service.name,
        service.type,
        service.request,
        reads=tuple(service.response.values()),
        success=service.success,
    )

    async def call(context: SkillContext, /, **given: Any) -> ToolResult:
        if context.services is None or context.interest.gone():
            raise SkillError(f'{name}: nothing was sent', status=ResultStatus.INTERRUPTED)
        request = render(service.request, given)
        try:
            response = await context.services.call(
                ros_service, request, timeout_s=service.timeout_s
            )
        except ServiceUnavailableError as error:
            raise SkillError(str(error), status=ResultStatus.CONTROLLER_UNAVAILABLE) from error
        except ServiceTimeoutError as error:
            raise SkillError(str(error)) from error
        data = {key: _at(response, path) for key, path in service.response.items()}
        if service.success is not None and _at(response, service.success) is not True:
            told = ', '.join(f'{key}: {value}' for key, value in data.items())
            raise SkillError(f'{name}: service {service.name} refused ({told or "no reason"})')
        return ToolResult(ResultStatus.COMPLETED, f'service {service.name} answered', data)

    fields: dict[str, Any] = {
        key: (Any, Field(default=None, description=f'Of the response: {path}.'))
        for key, path in service.response.items()
    }
    return Skill(
        name=name,
        title=entry.title or name.replace('_', ' ').capitalize(),
        description=entry.description or '',
        function=call,
        arguments=_model(name, entry.arguments),
        output=create_model(f'{name}_output', __base__=CallOutput, **fields),
        managed=None,
        read_only=entry.read_only,
        idempotent=entry.idempotent,
        service=ros_service,
    )


def _model(name: str, arguments: Mapping[str, Argument]) -> type[BaseModel]:
    config = ConfigDict(extra='forbid', strict=True, allow_inf_nan=False)
    fields: dict[str, Any] = {key: _field(name, key, said) for key, said in arguments.items()}
    return create_model(f'{name}_arguments', __config__=config, **fields)


def examples(arguments: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """Yield two sets of arguments, from the lower and the upper end of what is allowed."""
    fields = arguments.model_json_schema().get('properties', {})
    for end in (0, -1):
        yield {key: _example(said, end) for key, said in fields.items()}


def _example(said: Mapping[str, Any], end: int) -> Any:
    choices = said.get('enum', [said['const']] if 'const' in said else None)
    if choices is not None:
        return choices[end]
    if said['type'] in ('string', 'boolean'):
        return 'text' if said['type'] == 'string' else True
    low, high = said.get('minimum'), said.get('maximum')
    limit = [high if low is None else low, low if high is None else high][end] or 0
    if said['type'] == 'integer':
        return math.floor(limit) if limit == high else math.ceil(limit)
    return float(limit)


def _field(name: str, key: str, said: Argument) -> tuple[Any, Any]:
    _check_argument(f'skills.{name}.arguments.{key}', said)
    kind: Any = _KINDS[said.type][0]
    limits: dict[str, Any] = {}
    if said.choices is not None:
        # By themselves, choices are compared: true would be the 1 among them.
        kind = Annotated[Literal[tuple(said.choices)], BeforeValidator(_typed(said.type))]
    elif kind is str:
        limits = {'max_length': said.max_length or TEXT_MAX}
    elif kind is not bool:
        ends = {'ge': said.minimum, 'le': said.maximum}
        limits = {key: kind(end) for key, end in ends.items() if end is not None}
    unit = f' In {said.unit}.' if said.unit else ''
    info = Field(description=f'{said.description.rstrip(".")}.{unit}', **limits)
    if said.default is None:
        return Annotated[kind, info], ...
    default = float(said.default) if kind is float else said.default
    try:
        create_model('check', value=(Annotated[kind, info], ...)).model_validate(
            {'value': default}, strict=True
        )
    except ValueError as error:
        raise ConfigurationError(
            f'skills.{name}.arguments.{key}.default: {said.default!r} is not allowed itself'
        ) from error
    return Annotated[kind, info], default


def _typed(type_: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if type(value) not in _KINDS[type_]:
            raise ValueError(f'a {type_} is meant')
        return value

    return check


def _check_argument(where: str, said: Argument) -> None:
    """Refuse what says nothing about a value of its type, or what no value could be."""
    if hasattr(BaseModel, where.rpartition('.')[2]):
        raise ConfigurationError(f'{where}: an argument cannot have this name')
    numeric = said.type in ('number', 'integer')
    for limit, limits_it in (
        ('minimum', numeric),
        ('maximum', numeric),
        ('max_length', said.type == 'string'),
    ):
        if getattr(said, limit) is not None and not (limits_it and said.choices is None):
            what = 'the choices are' if said.choices is not None else f'type {said.type} is'
            raise ConfigurationError(f'{where}.{limit}: {what} not limited by it')
    low, high = said.minimum, said.maximum
    for end in (low, high):
        if said.type == 'integer' and end is not None and not end.is_integer():
            raise ConfigurationError(f'{where}: {end:g} limits no integer')
    if low is not None and high is not None and low > high:
        raise ConfigurationError(f'{where}.minimum: {low:g} is more than the maximum, {high:g}')
    default = () if said.default is None else (said.default,)
    for key, values in (('choices', said.choices or ()), ('default', default)):
        for value in values:
            if type(value) not in _KINDS[said.type]:
                raise ConfigurationError(f'{where}.{key}: {value!r} is not of type {said.type}')


def _check_name(name: str, entry: MappedTool) -> None:
    if not NAME_PATTERN.fullmatch(name):
        raise ConfigurationError(f'skills.{name}: not a valid tool name')
    if not entry.description:
        raise ConfigurationError(f'skills.{name}.description: missing; it tells when to use it')


def _check_type(name: str, type_: str, kind: str) -> None:
    found = TYPE_PATTERN.fullmatch(type_)
    if found is None or found[2] != kind:
        raise ConfigurationError(
            f'skills.{name}: type {type_!r} is not of the form package/{kind}/Name'
        )


def _check_references(where: str, template: Any, known: frozenset[str]) -> None:
    unknown = sorted(references(template) - known)
    if unknown:
        raise ConfigurationError(f'{where}: {{{unknown[0]}}} is neither an argument nor expected')


def _at(response: Any, path: str) -> Any:
    """Return the field that a dotted path leads to; None where there is none."""
    for part in path.split('.'):
        response = response.get(part) if isinstance(response, dict) else None
    return response
