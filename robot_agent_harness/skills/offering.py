# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Offers a skill as long as what it drives is there.

A server that is only out of sight for a moment takes no tool away; a call meanwhile is answered
with `controller_unavailable`, as for any skill whose server is gone.
"""

from __future__ import annotations

import asyncio

from robot_agent_harness.actions.board import SERVER_LOSS_GRACE_S
from robot_agent_harness.skills.registry import SkillRegistry


class Offering:
    """Tells the registry which servers are there."""

    def __init__(self, registry: SkillRegistry) -> None:
        self._registry = registry
        self._leaving: dict[str, asyncio.TimerHandle] = {}

    def presence(self, server: str, reachable: bool) -> None:
        """Take in that the server of an action or a service came or went; on the loop."""
        leaving = self._leaving.pop(server, None)
        if leaving is not None:
            leaving.cancel()
        if reachable:
            self._registry.set_served(server, True)
        elif self._registry.served(server):
            self._leaving[server] = asyncio.get_running_loop().call_later(
                SERVER_LOSS_GRACE_S, self._gone, server
            )

    def close(self) -> None:
        """Change nothing any more."""
        for leaving in self._leaving.values():
            leaving.cancel()
        self._leaving.clear()

    def _gone(self, server: str) -> None:
        del self._leaving[server]
        self._registry.set_served(server, False)
