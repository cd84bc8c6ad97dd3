# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs launch files without `launch`: its actions become records of what they were made with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import importlib.util
from pathlib import Path
import sys
from types import ModuleType
from typing import Any

import pytest


@dataclass
class Made:
    """One action, substitution or source."""

    args: tuple[Any, ...]
    options: dict[str, Any]

    def __init__(self, *args: Any, **options: Any) -> None:
        self.args, self.options = args, options


class LaunchDescription(Made):
    pass


class DeclareLaunchArgument(Made):
    @property
    def name(self) -> str:
        return str(self.args[0])


class OpaqueFunction(Made):
    pass


class ExecuteProcess(Made):
    pass


class GroupAction(Made):
    pass


class ResetLaunchConfigurations(Made):
    pass


class IncludeLaunchDescription(Made):
    @property
    def path(self) -> Path:
        return Path(self.args[0].args[0])

    @property
    def launch_arguments(self) -> dict[str, str]:
        return dict(self.options.get('launch_arguments', ()))


class PythonLaunchDescriptionSource(Made):
    pass


class LaunchConfiguration(Made):
    def perform(self, context: Mapping[str, str]) -> str:
        return context[self.args[0]]


class Node(Made):
    pass


class LifecycleNode(Node):
    pass


MODULES: dict[str, dict[str, Any]] = {
    'launch': {
        'LaunchContext': dict,
        'LaunchDescription': LaunchDescription,
        'LaunchDescriptionEntity': Made,
    },
    'launch.actions': {
        'DeclareLaunchArgument': DeclareLaunchArgument,
        'ExecuteProcess': ExecuteProcess,
        'GroupAction': GroupAction,
        'IncludeLaunchDescription': IncludeLaunchDescription,
        'OpaqueFunction': OpaqueFunction,
        'ResetLaunchConfigurations': ResetLaunchConfigurations,
    },
    'launch.launch_description_sources': {
        'PythonLaunchDescriptionSource': PythonLaunchDescriptionSource
    },
    'launch.substitutions': {'LaunchConfiguration': LaunchConfiguration},
    'launch_ros': {},
    'launch_ros.actions': {'LifecycleNode': LifecycleNode, 'Node': Node},
}


@dataclass
class Started:
    """What one launch file starts, with those of ours that it includes."""

    arguments: dict[str, DeclareLaunchArgument] = field(default_factory=dict)
    """By name; a second declaration of one changes nothing, as in launch."""
    values: dict[str, str] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    processes: list[list[str]] = field(default_factory=list)
    included: list[IncludeLaunchDescription] = field(default_factory=list)
    """Launch files of other packages."""
    configurations: set[str] = field(default_factory=set)
    """The launch configurations that anything refers to."""

    @property
    def starts_nothing(self) -> bool:
        return not (self.nodes or self.processes or self.included)


class Launcher:
    """Runs launch files.

    :param shares: the share folder of each package that is installed.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shares: Mapping[str, Path]) -> None:
        self._shares = dict(shares)
        self.started = Started()
        """What the last one has started, also where it stumbled."""

        class PackageNotFoundError(KeyError):
            pass

        def get_package_share_directory(package: str) -> str:
            if package not in self._shares:
                raise PackageNotFoundError(package)
            return str(self._shares[package])

        packages = {
            'get_package_share_directory': get_package_share_directory,
            'PackageNotFoundError': PackageNotFoundError,
        }
        for name, content in {**MODULES, 'ament_index_python.packages': packages}.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)
        # Imported anew, on the modules above, and not kept.
        for name in ('launch_arguments', 'nav2_launch'):
            monkeypatch.delitem(sys.modules, f'robot_agent_harness.ros.{name}', raising=False)

    def run(self, path: Path, **given: str) -> Started:
        """Return what a launch file starts, given these arguments."""
        self.started = Started(values=dict(given))
        self._run(path, self.started)
        return self.started

    def _run(self, path: Path, started: Started) -> None:
        spec = importlib.util.spec_from_file_location('a_launch_file', path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for action in module.generate_launch_description().args[0]:
            self._take(action, started)

    def _take(self, action: Any, started: Started) -> None:
        started.configurations |= set(_configurations(action))
        if isinstance(action, DeclareLaunchArgument):
            started.arguments.setdefault(action.name, action)
            started.values.setdefault(action.name, action.options.get('default_value', ''))
        elif isinstance(action, OpaqueFunction):
            for made in action.options['function'](started.values):
                self._take(made, started)
        elif isinstance(action, GroupAction):
            assert not action.options  # scoped, the environment handed on
            reset, included = action.args[0]
            assert isinstance(reset, ResetLaunchConfigurations)
            assert isinstance(included, IncludeLaunchDescription)
            started.included.append(included)
        elif isinstance(action, IncludeLaunchDescription):
            assert not action.launch_arguments
            self._run(action.path, started)
        elif isinstance(action, ExecuteProcess):
            started.processes.append(action.options['cmd'])
        else:
            assert isinstance(action, Node), action
            started.nodes.append(action)


def _configurations(thing: Any) -> Iterator[str]:
    if isinstance(thing, LaunchConfiguration):
        yield thing.args[0]
    elif isinstance(thing, Made):
        yield from _configurations([thing.args, thing.options])
    elif isinstance(thing, Mapping):
        yield from _configurations(list(thing.values()))
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            yield from _configurations(item)
