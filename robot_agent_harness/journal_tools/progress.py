# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What somebody who waits for a long journal to be read is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
import sys
import time

PROGRESS_S = 2.0
"""How often somebody who waits is told how far it is, in seconds."""
PROGRESS_RECORDS = 1000
"""After how many records the clock is looked at."""


class Progress:
    """Says on stderr, now and then, how far a long reading is.

    :param done: what is done with each record.
    :param now_s: returns steady seconds.
    """

    def __init__(self, done: str, now_s: Callable[[], float] = time.monotonic) -> None:
        self._done = done
        self._now_s = now_s
        self._due_s = now_s() + PROGRESS_S

    def __call__(self, seq: int, last_seq: int) -> None:
        """Take the number of a record that is done, and that of the last one."""
        if seq % PROGRESS_RECORDS or self._now_s() < self._due_s:
            return
        self._due_s = self._now_s() + PROGRESS_S
        print(f'{seq:,} of {last_seq:,} records are {self._done}', file=sys.stderr)
