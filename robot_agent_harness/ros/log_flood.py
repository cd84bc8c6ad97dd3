# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A bound on what libraries log: whoever sends nonsense must not fill the robot's disk with it.

uvicorn and the MCP SDK write a line for each request that they refuse, with the client's own words
in it. What the package itself has to say always gets through.
"""

from __future__ import annotations

from collections.abc import Callable
import logging
import time

OURS = 'robot_agent_harness'
PERIOD_S, LINES_MAX = 10.0, 20
"""How many lines of libraries are let through in how long."""
CHARACTERS_MAX = 500
"""Longest line of a library."""


class LibraryFlood(logging.Filter):
    """Lets the first lines of each period through, shortened, and counts the others."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now_s = now_s
        self._begun_s = now_s()
        self._lines = 0
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        if record.name.partition('.')[0] == OURS:
            return True
        now_s = self._now_s()
        if now_s - self._begun_s >= PERIOD_S:
            self._begun_s, self._lines = now_s, 0
        self._lines += 1
        if self._lines > LINES_MAX:
            self._left_out += 1
            return False
        text = record.getMessage()
        if len(text) > CHARACTERS_MAX:
            text = f'{text[:CHARACTERS_MAX]}... ({len(text)} characters)'
        if self._left_out:
            text = f'{text} ({self._left_out} lines of libraries were left out before)'
            self._left_out = 0
        record.msg, record.args = text, ()
        return True
