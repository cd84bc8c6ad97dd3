# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which skills this robot has, and what its YAML file says about them.

The file (`skills_file`, by default config/skills.yaml) can switch a skill off and set or override
its managed-action metadata and what of its results is remembered; where file and decorator differ,
the file wins.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
import yaml

from robot_agent_harness.actions.plan import ActionTimeouts
from robot_agent_harness.actions.ros_action import by_name, NAVIGATE_TO_POSE
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills import docking, motion, navigation, observation
from robot_agent_harness.skills.skill import ManagedAction, Skill
from robot_agent_harness.validation import explain

BUILT_IN = (
    navigation.navigate_to_pose,
    navigation.navigate_to_place,
    navigation.navigate_through_poses,
    motion.spin,
    motion.back_up,
    motion.drive_on_heading,
    docking.dock,
    docking.undock,
    navigation.cancel_action,
    observation.wait_for_action,
    observation.get_action,
    observation.get_world_snapshot,
    observation.list_places,
)
"""The shipped skills, in the order in which they are listed."""

_STRICT = ConfigDict(extra='forbid', allow_inf_nan=False)


_Field = Annotated[str, Field(pattern=r'^[^.]+(\.[^.]+)*$')]
_Variable = Annotated[str, Field(pattern=r'^[A-Za-z0-9_]{1,48}$')]


class _Preconditions(BaseModel):
    model_config = _STRICT

    pose_max_age_s: float | None = Field(default=None, gt=0)
    odometry_max_age_s: float | None = Field(default=None, gt=0)
    max_drift_m: float | None = Field(default=None, ge=0)
    max_position_variance_m2: float | None = Field(default=None, gt=0)
    min_battery_fraction: float | None = Field(default=None, ge=0, le=1)
    emergency_stop_clear: bool = True
    controller_idle: bool = True


class _Timeouts(BaseModel):
    model_config = _STRICT

    accept_s: float = Field(default=5.0, gt=0)
    execution_s: float = Field(default=300.0, gt=0)
    verify_s: float = Field(default=5.0, gt=0)
    cancel_on_timeout: bool = True


class _Managed(BaseModel):
    model_config = _STRICT

    controller: str | None = None
    verifier: str | None = None
    preconditions: _Preconditions | None = None
    timeouts: _Timeouts | None = None


class _Entry(BaseModel):
    model_config = _STRICT

    enabled: bool = True
    managed: _Managed | None = None
    remember: dict[_Field, _Variable] | None = None


class _SkillsFile(BaseModel):
    model_config = _STRICT

    skills: dict[str, _Entry] = Field(default_factory=dict)


class SkillRegistry:
    """The skills of this robot, in a fixed order; each offered while what it needs is there."""

    def __init__(self, skills: Iterable[Skill]) -> None:
        """Take the skills.

        :raises ConfigurationError: two have the same name, or one action has two types.
        """
        self._skills: dict[str, Skill] = {}
        for entry in skills:
            if entry.name in self._skills:
                raise ConfigurationError(f'skill {entry.name}: there are two of that name')
            self._skills[entry.name] = entry
        driven = by_name(s.managed.action for s in self.all if s.managed is not None)
        if not any(action.expected for action in driven.values()):
            driven = {NAVIGATE_TO_POSE.name: NAVIGATE_TO_POSE, **driven}
        self.actions = driven
        """The actions to follow, by name: those that skills drive, and navigation always."""
        self._served: set[str] = set()
        self._listeners: list[Callable[[], None]] = []

    @property
    def all(self) -> tuple[Skill, ...]:
        """Every skill, in listing order, also those that are not offered now."""
        return tuple(self._skills.values())

    @property
    def navigation(self) -> str:
        """The name of the action whose server snapshots tell of."""
        return next(name for name, action in self.actions.items() if action.expected)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every skill that is offered now, in listing order."""
        return tuple(entry.name for entry in self.skills)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill that is offered now, in listing order."""
        return tuple(s for s in self.all if s.needs is None or s.needs in self._served)

    def get(self, name: str) -> Skill | None:
        """Return the skill, offered or not, or None."""
        return self._skills.get(name)

    def driving(self, actions: Container[str]) -> SkillRegistry:
        """Return a registry without the skills whose action nobody can drive."""
        return SkillRegistry(
            s for s in self.all if s.managed is None or s.managed.action.name in actions
        )

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` when other skills are offered than before."""
        self._listeners.append(listener)

    def served(self, server: str) -> bool:
        """Whether an action or a service is there, as far as it matters to what is offered."""
        return server in self._served

    def set_served(self, server: str, there: bool) -> None:
        """Note that an action or a service is there, or is not."""
        before = self.names
        (self._served.add if there else self._served.discard)(server)
        if self.names != before:
            for listener in self._listeners:
                listener()


def load_registry(path: Path | None, *, skills: Iterable[Skill] = BUILT_IN) -> SkillRegistry:
    """Apply a skills file to the skills at hand.

    :raises ConfigurationError: the file is missing, malformed or names a skill that does not
        exist.
    """
    skills = tuple(skills)
    file = _read(path) if path else _SkillsFile()
    unknown = sorted(set(file.skills) - {entry.name for entry in skills})
    if unknown:
        raise ConfigurationError(f'skills_file {path}: there is no skill {", ".join(unknown)}')
    chosen = []
    for entry in skills:
        said = file.skills.get(entry.name, _Entry())
        if said.enabled:
            remember = entry.remember if said.remember is None else said.remember
            managed = _merge(entry.managed, said.managed)
            chosen.append(replace(entry, managed=managed, remember=remember))
    return SkillRegistry(chosen)


def _read(path: Path) -> _SkillsFile:
    try:
        raw = yaml.safe_load(path.read_text(encoding='utf-8')) or {}
    except OSError as error:
        raise ConfigurationError(f'skills_file {path}: {error.strerror}') from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f'skills_file {path}: not YAML: {error}') from error
    try:
        return _SkillsFile.model_validate(raw)
    except ValidationError as error:
        raise ConfigurationError(f'skills_file {path}: {explain(error)}') from error


def _merge(ours: ManagedAction | None, theirs: _Managed | None) -> ManagedAction | None:
    """Override what the file names; what it does not name stays as the decorator has it."""
    if theirs is None:
        return ours
    base = ours or ManagedAction()
    return replace(
        base,
        action=replace(base.action, name=theirs.controller or base.action.name),
        verifier=theirs.verifier or base.verifier,
        preconditions=replace(base.preconditions, **_named(theirs.preconditions)),
        timeouts=replace(base.timeouts or ActionTimeouts(), **_named(theirs.timeouts))
        if theirs.timeouts
        else base.timeouts,
    )


def _named(model: BaseModel | None) -> dict[str, Any]:
    return {} if model is None else model.model_dump(include=model.model_fields_set)
