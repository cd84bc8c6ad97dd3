# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How one managed action is carried out: who drives, who judges, and how long each may take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from robot_agent_harness.actions.ros_action import RosAction


@dataclass(frozen=True, slots=True)
class ActionTimeouts:
    """Bounds of one action, in seconds."""

    accept_s: float = 5.0
    execution_s: float = 300.0
    verify_s: float = 5.0
    cancel_on_timeout: bool = True
    """Whether an own goal that nobody can vouch for any more is cancelled."""


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """How one managed action is carried out and judged."""

    action: RosAction
    verifier: str
    timeouts: ActionTimeouts

    @property
    def controller(self) -> str:
        """The name under which its controller is known."""
        return self.action.name


class Acceptance(Enum):
    """What became of the request for a goal."""

    ACCEPTED = 'accepted'
    REJECTED = 'rejected'
    UNKNOWN = 'unknown'
    """Nobody answered in time."""
    LOST = 'lost'
    """The server went away before it answered."""
    CONTRADICTED = 'contradicted'
    """It was refused by a controller that tells of it as of one that it took."""
    NOT_SENT = 'not_sent'
    INTERRUPTED = 'interrupted'
    """The harness stops, and nobody waits for the answer any more."""
