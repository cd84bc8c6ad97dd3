# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a skill is: an ordinary typed function, and for physical ones how the act is tracked.

Skills stay ordinary tools. The metadata of a managed skill never changes the tool's name,
description or argument schema; it tells the dispatcher what to check before, the tracker what to
follow, and the verifier what to look at. A skill without it is an ordinary tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
import inspect
import re
from typing import Any, get_type_hints, Protocol

from pydantic import BaseModel, ConfigDict, create_model, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.plan import ActionTimeouts
from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE, RosAction
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.errors import ConfigurationError, HarnessError
from robot_agent_harness.guarded import in_own_thread
from robot_agent_harness.redaction import declared_secrets, is_secret_key, REDACTED
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.places import Place
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.services import RosService, ServiceCaller
from robot_agent_harness.validation import explain

NAME_PATTERN = re.compile(r'[A-Za-z0-9_.-]{1,128}')
"""Tool names that every MCP client takes (MCP 2026-07-28, server/tools)."""
SERVICE = 'service '
"""In front of a service's name in what a skill needs: an action may be called the same."""


class SkillError(HarnessError):
    """A skill's anticipated failure: its text goes to the caller.

    :param status: the error status that the call gets.
    """

    code = 'tool_error'

    def __init__(self, message: str, *, status: ResultStatus = ResultStatus.TOOL_ERROR) -> None:
        super().__init__(message)
        self.status = status


class ProgressSink(Protocol):
    """Tells a waiting client how far a call has come."""

    async def __call__(self, progress: float, total: float | None, message: str) -> None:
        """Report; `progress` only increases."""
        ...


@dataclass(frozen=True, slots=True)
class GoalContext:
    """What a managed skill may use to turn arguments into a goal; the same inputs give the same
    goal.
    """

    places: Mapping[str, Place]
    global_frame: str


@dataclass(frozen=True, slots=True)
class SkillContext:
    """What an ordinary skill may use."""

    observer: WorldObserver
    board: ActionBoard
    tracker: RobotActionTracker
    places: Mapping[str, Place]
    tool_call_id: str
    mission_id: str | None
    progress: ProgressSink | None
    interest: Interest
    """Whether somebody still waits; a skill that only waits may end early if not."""
    projection_max_bytes: int
    recorded: Callable[[str], Awaitable[RobotAction | None]]
    """Reads an action of which nothing is in memory any more; raises a JournalError."""
    services: ServiceCaller | None = None
    """Calls ROS services; None where nobody can."""


@dataclass(frozen=True, slots=True)
class ManagedAction:
    """How a physical skill is checked, followed and verified."""

    action: RosAction = NAVIGATE_TO_POSE
    """What is sent to whom; its events correlate by the ROS goal id."""
    verifier: str = 'navigation'
    """Who judges the outcome."""
    preconditions: PreconditionPolicy = field(default_factory=PreconditionPolicy)
    """Snapshot fields that it needs, with their tolerances."""
    timeouts: ActionTimeouts | None = None
    """Its bounds; None means those of the `navigation.*` parameters."""
    verify_s: float | None = None
    """How long its outcome may take to show, in seconds, where the parameters allow less."""


GoalFunction = Callable[..., dict[str, Any]]
ToolFunction = Callable[..., Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Skill:
    """A tool: its name, its schemas and what runs when it is called."""

    name: str
    title: str
    description: str
    function: GoalFunction | ToolFunction
    arguments: type[BaseModel]
    output: type[BaseModel]
    managed: ManagedAction | None
    read_only: bool
    idempotent: bool
    secrets: frozenset[str] = frozenset()
    """Names of arguments, at any depth, whose values the skill alone may see."""
    remember: Mapping[str, str] = field(default_factory=dict)
    """What the world model of a mission keeps of a result: variable by field of the structured
    result; a dot leads into a nested object. Empty: nothing."""

    service: RosService | None = None
    """The ROS service that an ordinary skill calls."""
    foreign: bool = False
    """Whether it is another package's: nobody knows how long its function takes."""

    @property
    def needs(self) -> str | None:
        """What without whose server it is not offered; None: always offered."""
        if self.service is not None:
            return SERVICE + self.service.name
        if self.managed is None or self.managed.action.expected:
            return None
        return self.managed.action.name

    @property
    def input_schema(self) -> dict[str, Any]:
        """The arguments' JSON Schema; nothing but the declared keys is allowed."""
        return _without_titles(self.arguments.model_json_schema())

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of the structured result."""
        return _output_schema(self.output)

    def parse(self, arguments: Any) -> dict[str, Any]:
        """Return the arguments as declared, defaults filled in.

        :raises SkillError: with `invalid_arguments`, naming each key at fault.
        """
        try:
            parsed = self.arguments.model_validate({} if arguments is None else arguments)
        except ValidationError as error:
            raise SkillError(
                f'{self.name}: {explain(_without_values(error, self.secrets))}',
                status=ResultStatus.INVALID_ARGUMENTS,
            ) from error
        return {name: getattr(parsed, name) for name in type(parsed).model_fields}


@cache
def _output_schema(output: type[BaseModel]) -> dict[str, Any]:
    """Return a schema that many skills share; it takes 5 ms to make."""
    return output.model_json_schema()


def skill(
    *,
    output: type[BaseModel],
    title: str | None = None,
    managed: ManagedAction | None = None,
    read_only: bool = False,
    idempotent: bool = False,
    remember: Mapping[str, str] | None = None,
) -> Callable[[Any], Skill]:
    """Make a skill of a function: its name, docstring and annotated parameters describe the tool.

    The first parameter is the context (:class:`GoalContext` for a managed skill, which returns the
    goal; :class:`SkillContext` for an ordinary one, which returns a ToolResult: a coroutine on the
    harness's loop, which it must not block, or a plain function in a thread of its own).

    :raises ConfigurationError: the function cannot be a tool.
    """

    def make(function: Any) -> Skill:
        name = function.__name__
        if not NAME_PATTERN.fullmatch(name):
            raise ConfigurationError(f'skill {name!r}: not a valid tool name')
        if not function.__doc__:
            raise ConfigurationError(f'skill {name}: a docstring is its description; it has none')
        if managed is not None and inspect.iscoroutinefunction(function):
            raise ConfigurationError(
                f'skill {name}: a managed skill returns its goal at once; it is no coroutine'
            )
        arguments = _arguments_of(function)
        run = function
        if managed is None and not inspect.iscoroutinefunction(function):
            run = _in_thread(function)
        return Skill(
            name=name,
            title=title or name.replace('_', ' ').capitalize(),
            description=inspect.cleandoc(function.__doc__),
            function=run,
            arguments=arguments,
            output=output,
            managed=managed,
            read_only=read_only,
            idempotent=idempotent,
            secrets=declared_secrets(arguments),
            remember=remember or {},
        )

    return make


def _in_thread(function: Callable[..., ToolResult]) -> ToolFunction:
    """Run a plain function where it may block."""

    async def run(context: SkillContext, **arguments: Any) -> ToolResult:
        return await in_own_thread(partial(function, context, **arguments))

    return run


def _arguments_of(function: Any) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields: dict[str, Any] = {
        p.name: (hints[p.name], ... if p.default is inspect.Parameter.empty else p.default)
        for p in parameters
    }
    config = ConfigDict(extra='forbid', strict=True, allow_inf_nan=False)
    return create_model(f'{function.__name__}_arguments', __config__=config, **fields)


def _without_values(error: ValidationError, secrets: frozenset[str]) -> ValidationError:
    """Return the findings with neither secret values nor texts that may quote them."""
    findings = error.errors(include_url=False, include_context=False)
    hidden = [
        any(
            isinstance(part, str) and (part in secrets or is_secret_key(part)) for part in f['loc']
        )
        for f in findings
    ]
    if not any(hidden):
        return error
    quoting = ('value_error', 'assertion_error')
    details = []
    for finding, hide in zip(findings, hidden, strict=True):
        kind: Any = finding['type']
        told: Any = 'not allowed' if hide and kind in quoting else finding['msg']
        shown = REDACTED if hide else finding['input']
        details.append(
            InitErrorDetails(type=PydanticCustomError(kind, told), loc=finding['loc'], input=shown)
        )
    return ValidationError.from_exception_data(error.title, details)


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the titles that pydantic derives from names: they only cost the model tokens."""
    plain = {key: value for key, value in schema.items() if key not in ('title', 'description')}
    plain['properties'] = {
        name: {key: value for key, value in field.items() if key != 'title'}
        for name, field in schema.get('properties', {}).items()
    }
    return plain
