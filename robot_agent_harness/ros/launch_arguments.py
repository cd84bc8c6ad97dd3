# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What our launch files share about their arguments."""

from __future__ import annotations

from collections.abc import Callable
import math
from pathlib import Path
from typing import Any, TypeAlias

from launch import LaunchContext
from launch.substitutions import LaunchConfiguration

BOOLEANS = ['true', 'false', 'True', 'False']
"""The choices of an argument that is on or off: as YAML has them, and as Nav2 does."""
Starter: TypeAlias = Callable[[LaunchContext], list[Any]]


def checking(start: Starter) -> Starter:
    """Return a function that stumbles where `start` would, and starts nothing.

    To be called before anything is started: launch leaves running what it has started when it
    stumbles over what comes later.
    """

    def check(context: LaunchContext) -> list[Any]:
        start(context)
        return []

    return check


def number(context: LaunchContext, argument: str) -> float:
    """Return the number that an argument is.

    :raises RuntimeError: it is none; names the argument.
    """
    given = str(LaunchConfiguration(argument).perform(context))
    try:
        found = float(given)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise RuntimeError(f'{argument} {given}: a number is needed')
    return found


def existing_file(context: LaunchContext, argument: str) -> str:
    """Return the file of parameters that an argument names.

    launch only warns of one that is not there, and starts the node with its defaults.

    :raises RuntimeError: there is no such file; names the argument.
    """
    path = Path(str(LaunchConfiguration(argument).perform(context))).expanduser()
    if not path.is_file():
        raise RuntimeError(f'{argument} {path}: there is no such file')
    return str(path)
