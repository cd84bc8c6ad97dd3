# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of the journal that those need who follow actions."""

from __future__ import annotations

import asyncio
from typing import Protocol

from robot_agent_harness.events import Correlation, Event


class Recorder(Protocol):
    """Takes records of what has happened already."""

    def defer(self, *entries: tuple[Event, Correlation]) -> asyncio.Future[list[int]]:
        """Queue records of facts; the future completes when they are on disk."""
        ...
