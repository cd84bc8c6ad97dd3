# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Take what a fast topic has said now and then, and let it cost nothing in between.

A message that wakes rclpy's executor costs about half a millisecond, whatever the callback does;
one that is taken without waiting for it costs a twentieth of that. A subscription of this group is
never waited for: the middleware keeps its newest messages, as many as its history is deep, until
they are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription


class Untended(CallbackGroup):
    """The callback group of a subscription for which the executor does not wait."""

    def can_execute(self, entity: Any) -> bool:
        """Never: its messages are taken with `taken`."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: nothing began."""


def taken(subscription: Subscription[Any]) -> Iterator[Any]:
    """Take the messages that wait, oldest first, at most as many as there can be.

    To be used on the executor's thread.
    """
    for _ in range(subscription.qos_profile.depth):
        with subscription.handle:
            message = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if message is None:
            return
        yield message[0]
