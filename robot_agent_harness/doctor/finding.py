# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One line of what the doctor found, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Level(str, Enum):
    """How much something stands in the way."""

    OK = 'ok'
    WARNING = 'warning'
    """It works, or may; somebody should look at it."""
    PROBLEM = 'problem'
    """The harness would not start, or would refuse to move the robot."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is so."""

    area: str
    """The topic, parameter or part that it is about."""
    level: Level
    message: str
    advice: str = ''
    """What to do; empty where nothing is to be done."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Numbers and names behind the message, JSON-ready."""

    def to_dict(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return {
            'area': self.area,
            'level': self.level.value,
            'message': self.message,
            'advice': self.advice,
            'details': dict(self.details),
        }


def ok(area: str, message: str, **details: Any) -> Finding:
    """Return that all is well."""
    return Finding(area, Level.OK, message, '', details)


def warning(area: str, message: str, advice: str, **details: Any) -> Finding:
    """Return what somebody should look at."""
    return Finding(area, Level.WARNING, message, advice, details)


def problem(area: str, message: str, advice: str, **details: Any) -> Finding:
    """Return what stands in the way."""
    return Finding(area, Level.PROBLEM, message, advice, details)
