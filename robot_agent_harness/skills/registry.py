# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which skills this robot has, and what its YAML file says about them.

The file (`skills_file`, by default config/skills.yaml) can switch a skill off and set or override
its managed-action metadata and what of its results is remembered; where file and decorator differ,
the file wins. It can make further skills of the robot's actions and services, and other packages
bring theirs by entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Set
from dataclasses import replace
from functools import partial
import logging
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
import yaml

from robot_agent_harness.actions.plan import ActionTimeouts
from robot_agent_harness.actions.ros_action import by_name, NAVIGATE_TO_POSE
from robot_agent_harness.actions.verification.kinds import GOAL_KEYS
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills import docking, motion, navigation, observation
from robot_agent_harness.skills.mapped import action_skill, MappedTool, RosName, service_skill
from robot_agent_harness.skills.plugins import plugin_names, plugin_skills
from robot_agent_harness.skills.skill import ManagedAction, Skill
from robot_agent_harness.validation import explain
from robot_agent_harness.yaml_files import read_yaml

logger = logging.getLogger(__name__)

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

FINISH_MISSION = 'finish_mission'
"""The tool that the harness's own model has beside all others."""
INTENT = frozenset({'purpose', 'expected_outcome'})
"""What the harness's own model gives with each managed call; the skill never sees it."""

_STRICT = ConfigDict(extra='forbid', allow_inf_nan=False)


_Field = Annotated[str, Field(pattern=r'^[^.]+(\.[^.]+)*$')]
_Variable = Annotated[str, Field(pattern=r'^[A-Za-z0-9_]{1,48}$')]


class _Preconditions(BaseModel):
    model_config = _STRICT

    pose_max_age_s: float | None = Field(default=None, gt=0)
    odometry_max_age_s: float | None = Field(default=None, gt=0)
    max_drift_m: float | None = Field(default=None, ge=0)
    max_turn_rad: float | None = Field(default=None, ge=0)
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

    controller: RosName | None = None
    verifier: str | None = None
    preconditions: _Preconditions | None = None
    timeouts: _Timeouts | None = None


class _Entry(MappedTool):
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

        :raises ConfigurationError: two have the same name, or one action or service has two
            types; a name is the harness's own.
        """
        self._skills: dict[str, Skill] = {}
        for entry in skills:
            if entry.name in self._skills:
                raise ConfigurationError(f'skill {entry.name}: there are two of that name')
            if entry.name == FINISH_MISSION:
                raise ConfigurationError(f'skill {entry.name}: the name of a tool of missions')
            taken = sorted(INTENT & entry.arguments.model_fields.keys())
            if taken and entry.managed is not None:
                raise ConfigurationError(
                    f'skill {entry.name}: argument {taken[0]}: what a model says of its decision'
                    ' has that name'
                )
            self._skills[entry.name] = entry
        driven = by_name(s.managed.action for s in self.all if s.managed is not None)
        if not any(action.expected for action in driven.values()):
            driven = {NAVIGATE_TO_POSE.name: NAVIGATE_TO_POSE, **driven}
        self.actions = driven
        """The actions to follow, by name: those that skills drive, and navigation always."""
        self.services = by_name(s.service for s in self.all if s.service is not None)
        """The services that skills call, by name."""
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

    def driving(self, actions: Container[str], *, services: bool) -> SkillRegistry:
        """Return a registry without the skills that nobody can carry out.

        :param actions: those that somebody can drive.
        :param services: whether anybody can call services.
        """
        return SkillRegistry(
            s
            for s in self.all
            if (s.managed is None or s.managed.action.name in actions)
            and (s.service is None or services)
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


def load_registry(
    path: Path | None,
    *,
    skills: Iterable[Skill] | None = None,
    verifiers: Iterable[str] = (),
) -> SkillRegistry:
    """Apply a skills file to the skills at hand, and add those that it makes of ROS interfaces.

    :param skills: None: the shipped ones and those of other packages.
    :param verifiers: the names that `verifier` may give beside the shipped ones.
    :raises ConfigurationError: the file is missing, malformed or names a skill that does not
        exist; a skill does not fit together.
    """
    file = _read(path) if path else _SkillsFile()
    off = {name for name, said in file.skills.items() if not said.enabled}
    at_hand = (*BUILT_IN, *plugin_skills(off)) if skills is None else tuple(skills)
    called = {entry.name for entry in at_hand} | plugin_names()
    for name in sorted(off - called):
        if not file.skills[name].makes:
            # Not refused: one file may serve robots of which some lack the package. A slip of the
            # pen would leave a skill on that somebody wanted off.
            logger.warning('skills_file %s: %s: nothing of that name is to switch off', path, name)
    try:
        return SkillRegistry(_chosen(file, at_hand, GOAL_KEYS.keys() | set(verifiers), off))
    except ConfigurationError as error:
        raise error if path is None else ConfigurationError(f'skills_file {path}: {error}') from (
            error
        )


def _chosen(
    file: _SkillsFile, skills: tuple[Skill, ...], verifiers: Set[str], off: set[str]
) -> Iterator[Skill]:
    known = {entry.name for entry in skills}
    made = []
    for name, said in file.skills.items():
        if name in known and said.makes:
            raise ConfigurationError(
                f'skills.{name}: there is such a skill; {said.makes} makes a new one'
            )
        if name not in known and said.enabled:
            made.append(_made(name, said))
    for entry in (*skills, *made):
        if entry.name in off:
            continue
        said = file.skills.get(entry.name, _Entry())
        remember = entry.remember if said.remember is None else said.remember
        managed = _merge(entry.managed, said.managed)
        if managed is not None and managed.verifier not in verifiers:
            there = ', '.join(sorted(verifiers))
            raise ConfigurationError(
                f'skills.{entry.name}: no verifier {managed.verifier!r}; there are: {there}'
            )
        yield replace(entry, managed=managed, remember=remember)


def _made(name: str, said: _Entry) -> Skill:
    if said.action is not None and said.service is not None:
        raise ConfigurationError(f'skills.{name}: either an action or a service, not both')
    if said.action is not None:
        verifier = said.managed.verifier if said.managed else None
        return action_skill(name, said, said.action, verifier)
    if said.service is not None:
        if said.managed is not None:
            raise ConfigurationError(f'skills.{name}.managed: a service is no managed action')
        return service_skill(name, said, said.service)
    raise ConfigurationError(f'there is no skill {name}')


def _read(path: Path) -> _SkillsFile:
    text, raw = read_yaml(path, called='skills_file')
    try:
        return _SkillsFile.model_validate({} if raw is None else raw)
    except ValidationError as error:
        told = explain(error, where=partial(_line, yaml.compose(text, yaml.SafeLoader)))
        raise ConfigurationError(f'skills_file {path}: {told}') from error


def _line(tree: yaml.Node | None, keys: tuple[int | str, ...]) -> str:
    """Return where in the file a key stands, or the last of those above it that is there."""
    line = 1
    for key in keys:
        entries = tree.value if isinstance(tree, yaml.MappingNode) else ()
        found = next(((k, v) for k, v in entries if k.value == str(key)), None)
        if found is None:
            break
        line, tree = found[0].start_mark.line + 1, found[1]
    return f'line {line}: '


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
