# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether skills fit the actions and services that they name, before anybody calls them.

A field that is not there would otherwise show at the first call, and one that is read as nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from robot_agent_harness.actions.ros_action import render
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.filling import fill, interface, KEEP, told_fields
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.skill import Skill

_SHIPPED = frozenset(skill.name for skill in BUILT_IN)


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
        _check_fields(made.Request(), entry.service.request)
        for path in entry.service.reads:
            _check_path(made.Response(), path)
    elif entry.managed is not None:
        action = entry.managed.action
        _check_fields(interface(action.type).Goal(), action.message)


def _check_fields(message: Any, template: Mapping[str, Any]) -> None:
    """Fill a message by its template, with what comes with the call left out."""
    unknown: Mapping[str, Any] = defaultdict(lambda: KEEP)
    fill(message, render(template, unknown), now_ns=0)


def _check_path(message: Any, path: str) -> None:
    known = told_fields(message)
    for part in path.split('.'):
        if part not in known:
            there = ', '.join(known) or 'nothing below it'
            raise ValueError(f'response: {path!r} leads nowhere at {part!r}; there is {there}')
        known = known[part]
