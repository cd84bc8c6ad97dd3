# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills and verifiers from other packages, found by their entry points.

A package that is installed beside this one names them in its metadata::

    [project.entry-points."robot_agent_harness.skills"]
    announce = "my_robot_skills:announce"

An entry leads to one skill, or to several in a list or tuple. One of the group
`robot_agent_harness.verifiers` leads to a verifier; its name is what a skill's `verifier` says.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points, EntryPoint
import sys
from typing import Any

from robot_agent_harness.actions.verification import Verifier
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills.skill import Skill

SKILLS = 'robot_agent_harness.skills'
VERIFIERS = 'robot_agent_harness.verifiers'


def plugin_skills(switched_off: Container[str]) -> Iterator[Skill]:
    """Load the skills of other packages, ordered by the names of their entries.

    :param switched_off: names of entries that are not even loaded.
    :raises ConfigurationError: one cannot be loaded, or is no skill.
    """
    for name, loaded in _loaded(SKILLS, switched_off):
        for entry in loaded if isinstance(loaded, (list, tuple)) else (loaded,):
            if not isinstance(entry, Skill):
                raise ConfigurationError(
                    f'entry point {SKILLS}: {name}: {type(entry).__name__} is no skill; decorate'
                    ' the function with @skill'
                )
            yield replace(entry, foreign=True)


def plugin_names() -> frozenset[str]:
    """Return the names of the entries that lead to skills of other packages."""
    return frozenset(entry.name for entry in _installed(SKILLS, tuple(sys.path)))


def plugin_verifiers() -> dict[str, Verifier]:
    """Load the verifiers of other packages, by name.

    :raises ConfigurationError: one cannot be loaded, or does not judge.
    """
    found: dict[str, Verifier] = {}
    for name, loaded in _loaded(VERIFIERS, ()):
        if not callable(getattr(loaded, 'judge', None)):
            raise ConfigurationError(f'entry point {VERIFIERS}: {name}: it has no judge()')
        found[name] = loaded
    return found


@cache
def _installed(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Look through all installed packages, which takes a while, once."""
    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))


def _loaded(group: str, switched_off: Container[str]) -> Iterator[tuple[str, Any]]:
    for entry in _installed(group, tuple(sys.path)):
        if entry.name in switched_off:
            continue
        try:
            yield entry.name, entry.load()
        except Exception as error:
            # Anybody's code: it is named, and can be switched off.
            raise ConfigurationError(
                f'entry point {group}: {entry.name} ({entry.value}) cannot be loaded: {error!r};'
                f' mend the package, or set enabled: false for {entry.name} in skills_file'
            ) from error
