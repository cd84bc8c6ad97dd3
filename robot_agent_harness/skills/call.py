# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a caller says about a call, beside its name and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.skill import ProgressSink, Skill


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """What makes two requests one call: a key that the client chose, and whose key it is."""

    owner: str
    """Who chose it: the same text of another client is another key."""
    key: str
    holder: str | None = None
    """With whose access token; None without one."""

    def marks(self, name: str, asked: Any, *, acts: bool) -> dict[str, str]:
        """Return digests of the key and of what is asked under it, as they are recorded.

        :param asked: the arguments, JSON-ready.
        :param acts: whether the tool may move the robot.
        """
        return {
            'key': _digest(self.owner, self.key),
            # With the key in it, so that nobody can guess a secret argument from the digest.
            'request': _digest(self.owner, self.key, name, asked),
            # What is remembered is bounded for each of these.
            'share': _digest(self.holder, acts),
        }


def _digest(*parts: Any) -> str:
    return sha256(canonical_json(list(parts)).encode()).hexdigest()


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
    not_now: str | None = None
    """Why this decision step starts no managed action (any more), in words for the caller."""
    malformed: str | None = None
    """Why the arguments cannot be used, where the model's response was cut or broken."""
    idempotency: IdempotencyKey | None = None
    """A call with the key of an earlier one is answered with that one's result."""
    progress: ProgressSink | None = None
    interest: Interest = field(default_factory=Interest)
    """Whether the caller still wants the call; one that does not leaves, or is cancelled."""
    loop_skills: tuple[Skill, ...] = ()
    """Tools that only this caller has: the model loop's `finish_mission`."""
