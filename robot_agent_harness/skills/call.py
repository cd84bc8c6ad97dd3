# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a caller says about a call, beside its name and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.skills.skill import ProgressSink, Skill


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a caller says about a call, beside its name and arguments."""

    client: Mapping[str, Any] = field(default_factory=dict)
    """Who calls: `kind` (model, mcp) and the ids that the client used; recorded, never a key."""
    mission_id: str | None = None
    turn_id: str | None = None
    decision_snapshot_id: str | None = None
    """The snapshot that the decision was made from; None binds the call to the moment it
    arrived."""
    purpose: str | None = None
    expected_outcome: str | None = None
    managed_allowed: bool = True
    """Whether this decision step may still start a managed action."""
    malformed: str | None = None
    """Why the arguments cannot be used, where the model's response was cut or broken."""
    progress: ProgressSink | None = None
    loop_skills: tuple[Skill, ...] = ()
    """Tools that only this caller has: the model loop's `finish_mission`."""
