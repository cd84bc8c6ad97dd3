# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Take one message of a fast topic now and then, and let the others cost nothing.

A message that wakes rclpy's executor costs about half a millisecond, whatever the callback does.
A subscription of this group is not waited for at all until it is asked for a message; until then
the middleware replaces the one that it keeps (history depth 1) by each newer one.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class Sampled(CallbackGroup):
    """The callback group of one subscription with a history of depth 1."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = False

    def want(self) -> None:
        """Have the newest message taken, or the next one.

        From another thread than the executor's, wake the executor then: it has to wait anew.
        """
        self._wanted = True

    def can_execute(self, entity: Any) -> bool:
        """Whether a message is wanted."""
        return self._wanted

    def beginning_execution(self, entity: Any) -> bool:
        """Let one message through."""
        wanted, self._wanted = self._wanted, False
        return wanted

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: one thread executes all callbacks."""
