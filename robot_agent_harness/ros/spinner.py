# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that a thread of its own spins, and that comes to its end without an accident.

rclpy 9 lets an executor be shut down by another thread than the one that spins it, and then takes
away under that one what it is just using: once in some thousand ends the thread dies of an
AttributeError. So the spinning thread is asked to stop, and the executor goes when it has.
"""

from __future__ import annotations

from collections.abc import Callable
import threading

from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rclpy.node import Node


class Spinner:
    """Spins a node from its making until `end`, in a daemon thread.

    :param name: of the thread.
    :param on_error: told what a callback raised, in that thread, which then goes on; without, the
        exception ends the thread.
    """

    def __init__(
        self, node: Node, *, name: str, on_error: Callable[[Exception], None] | None = None
    ) -> None:
        self.executor = SingleThreadedExecutor(context=node.context)
        self.executor.add_node(node)
        self._on_error = on_error
        self._ending = False
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()

    def end(self, within_s: float) -> None:
        """End the thread, or leave it to itself if a callback holds it up for longer than that."""
        self._ending = True
        self.executor.create_task(_nothing)  # which ends its wait
        self._thread.join(within_s)
        self.executor.shutdown(timeout_sec=0.0)

    def _spin(self) -> None:
        while not self._ending:
            try:
                self.executor.spin_once()
            except (ShutdownException, ExternalShutdownException):
                return
            except Exception as error:
                if self._on_error is None:
                    raise
                self._on_error(error)


def _nothing() -> None:
    """Be the task that wakes an executor."""
