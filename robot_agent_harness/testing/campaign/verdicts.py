# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the oracle says, and what it measures an arrival by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    'false_success', 'deceived', 'unsupported', 'missed', 'undecidable', 'broken', 'running'
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the configuration on trial calls an arrival."""

    xy_m: float
    yaw_rad: float
    verify_s: float
    """How long a robot may take to settle."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the oracle has to say about a mission."""

    kind: Kind
    what: str


@dataclass(frozen=True, slots=True)
class ActionVerdict:
    """One action, with what the oracle makes of its outcome."""

    action_id: str
    state: str
    reason: str
    why: str
    truly_there: bool
    off_m: float
    off_rad: float
    speed_m_s: float
