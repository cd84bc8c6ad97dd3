# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether skills fit the actions and services that they name, before anybody calls them.

A field that is not there would otherwise show at the first call, and one that is read as nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, cast

from robot_agent_harness.actions.ros_action import render
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.filling import fill, interface, KEEP, told_fields
from robot_agent_harness.skills.mapped import examples
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.skill import GoalContext, GoalFunction, Skill

_SHIPPED = frozenset(skill.name for skill in BUILT_IN)
_NOWHERE = GoalContext(places={}, global_frame='map')
"""A mapped skill's goal rests on its arguments alone."""


def check_interfaces(skills: Iterable[Skill]) -> None:
    """Refuse skills that cannot fill what they send, or read what they get.

    The shipped ones are left out: where their type is not installed, they are not offered.

    :raises ConfigurationError: a type is not installed, or it does not fit; names the skill.
    """
    for entry in skills:
        if entry.name in _SHIPPED:
            continue
        try:
            _check(entry)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f'skills.{entry.name}: {error}') from error


def _check(entry: Skill) -> None:
    if entry.service is not None:
        made = interface(entry.service.type)
        for values in examples(entry.arguments):
            fill(made.Request(), render(entry.service.request, values), now_ns=0)
        for path in entry.service.reads:
            _check_path(made.Response(), path)
        if entry.service.success is not None:
            _check_path(made.Response(), entry.service.success)
            _check_truth(made.Response(), entry.service.success)
    elif entry.managed is not None:
        action = entry.managed.action
        made = interface(action.type)
        goals: Iterable[Mapping[str, Any]] = (defaultdict(lambda: KEEP),)
        if not entry.foreign:
            function = cast('GoalFunction', entry.function)
            goals = (function(_NOWHERE, **values) for values in examples(entry.arguments))
        for goal in goals:
            fill(made.Goal(), action.fields(goal), now_ns=0)


def _check_path(message: Any, path: str) -> None:
    known = told_fields(message)
    for part in path.split('.'):
        if part not in known:
            there = ', '.join(known) or 'nothing below it'
            raise ValueError(f'response: {path!r} leads nowhere at {part!r}; there is {there}')
        known = known[part]


def _check_truth(message: Any, path: str) -> None:
    *above, last = path.split('.')
    for part in above:
        message = getattr(message, part, None)
    if not isinstance(getattr(message, last, None), bool):
        raise ValueError(f'success: {path!r} is no boolean, so it would never be true')
