# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The seam between the loop and what the model is told: one situation, one prompt.

The loop knows what happened; a planner decides how it is put. `MissionPlanner` in `prompting.py`
is the one that is used where no other is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from robot_agent_harness.world.world_model import WorldState


@dataclass(frozen=True, slots=True)
class Situation:
    """What a decision is asked for; secrets are taken out already."""

    mission_id: str
    instruction: str
    step: int
    """This decision's number, counted from 1."""
    max_steps: int
    trigger: str
    """Why the model is asked now: `mission_started`, `action_outcome`, ..."""
    evidence: tuple[str, ...]
    """What has happened since it was asked last, one line each, the oldest first; outcomes before
    the rest."""
    projection: str
    """The world now: JSON, at most `snapshot.max_bytes` bytes."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What one turn begins with."""

    system: str
    user: str


class Planner(Protocol):
    """Puts a situation into words; keeps nothing from one turn to the next."""

    def prompt(self, situation: Situation, *, world: WorldState | None) -> Prompt:
        """Return the prompt of one turn.

        :param world: what the mission remembers, to read and not to change; None where it is
            switched off. A planner may ignore it.
        """
        ...
