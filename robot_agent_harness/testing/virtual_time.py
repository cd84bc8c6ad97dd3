# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a test on virtual time: waiting costs nothing, and every run is the same.

It is the event loop of replays. A clock made from it
(:class:`robot_agent_harness.testing.FakeClock`) reads the same time.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from robot_agent_harness.virtual_time import run_on, VirtualTimeLoop

__all__ = ['VirtualTimeLoop', 'run_virtual']

T = TypeVar('T')


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a fresh loop with virtual time."""
    return run_on(VirtualTimeLoop(), main)
