# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where things leave memory: the journal, the log, and the one Redactor that stands at both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
import logging
import os
from pathlib import Path

from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.events import CommitWasSlow, Correlation
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.journal.writer import Entry
from robot_agent_harness.redaction.redactor import Redactor

PACKAGE_LOGGER = 'robot_agent_harness'


SLOW_S = 0.04
"""From when on a commit is told of, in seconds: what is quicker a replay can do without."""
SAME_COMMIT_S = 0.001
"""Records that are on disk at times this close came there together."""


@dataclass(frozen=True, slots=True)
class _Slow:
    """Records that came to the disk late, in one commit."""

    first_seq: int
    last_seq: int
    begun_ns: int
    durable_ns: int

    def with_others(self, other: _Slow) -> _Slow:
        """Return both as one."""
        return _Slow(
            min(self.first_seq, other.first_seq),
            max(self.last_seq, other.last_seq),
            min(self.begun_ns, other.begun_ns),
            other.durable_ns,
        )


class RedactedJournal:
    """The journal as those who write see it: what they hand in reaches it without secrets, and
    what the disk took long for is noted.
    """

    def __init__(self, journal: MissionJournal, redactor: Redactor, clock: Clock) -> None:
        journal.clean_with(redactor.event)
        self._journal = journal
        self._clock = clock
        self._slow: list[_Slow] = []
        """To be recorded in front of the next record."""

    @property
    def path(self) -> Path:
        """Return the file's absolute path."""
        return self._journal.path

    @property
    def healthy(self) -> bool:
        """Return whether the last attempt to write worked."""
        return self._journal.healthy

    def append(
        self, *entries: Entry, meanwhile: Callable[[], object] | None = None
    ) -> asyncio.Future[list[int]]:
        """Write the records, and return a future of their numbers, as they are on disk.

        :param meanwhile: see :meth:`MissionJournal.append`.
        :raises JournalUnavailableError: the journal is closed; of the future: they could not be
            written in time, and never will be.
        """
        begun_ns = self._hand_in()
        return self._timed(self._journal.append(*entries, meanwhile=meanwhile), begun_ns)

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        """Queue the records of facts, and return a future of their numbers.

        :raises JournalUnavailableError: the journal is closed.
        """
        begun_ns = self._hand_in()
        return self._timed(self._journal.defer(*entries), begun_ns)

    def _timed(
        self, durable: asyncio.Future[list[int]], begun_ns: int
    ) -> asyncio.Future[list[int]]:
        if not durable.done():
            durable.add_done_callback(partial(self._on_durable, begun_ns))
        return durable

    def _hand_in(self) -> int:
        """Record what was slow before, and return the time."""
        now_ns = self._clock.monotonic_ns()
        for slow in self._slow:
            note = CommitWasSlow(
                first_seq=slow.first_seq,
                last_seq=slow.last_seq,
                durable_ns=slow.durable_ns,
                waited_s=round((slow.durable_ns - slow.begun_ns) / NS_PER_S, 4),
                monotonic_ns=now_ns,
            )
            self._journal.defer((note, Correlation()))
        self._slow.clear()
        return now_ns

    def _on_durable(self, begun_ns: int, durable: asyncio.Future[list[int]]) -> None:
        if durable.cancelled() or durable.exception() is not None:
            return
        numbers, now_ns = durable.result(), self._clock.monotonic_ns()
        if not numbers or now_ns - begun_ns < SLOW_S * NS_PER_S:
            return
        slow = _Slow(numbers[0], numbers[-1], begun_ns, now_ns)
        if self._slow and now_ns - self._slow[-1].durable_ns < SAME_COMMIT_S * NS_PER_S:
            slow = slow.with_others(self._slow.pop())
        self._slow.append(slow)


class RedactingFilter(logging.Filter):
    """Takes secrets out of a log record: its text, and the traceback that goes with it."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record where it has to be, and let it pass."""
        try:
            said = record.getMessage()
        except Exception:
            return True  # the handler reports a broken record; there is no text to look at
        clean = self._redactor.line(said)
        if clean != said:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = logging.Formatter().formatException(record.exc_info)
            cleaned = self._redactor.line(told)
            if cleaned != told:
                # The exception itself goes too: a handler may format it anew.
                record.exc_info, record.exc_text = None, cleaned
        if record.stack_info:
            record.stack_info = self._redactor.line(record.stack_info)
        return True


def shared_redactor() -> Redactor:
    """Return the one Redactor of this process, with the environment's keys as they are now.

    One, because the environment and the log are the process's too: what a call of one part
    taught must not be logged by another. Every logger of the package goes through it.
    """
    redactor, log_filter = _shared()
    redactor.know_environment(os.environ)
    for name in (PACKAGE_LOGGER, *logging.root.manager.loggerDict):
        if name == PACKAGE_LOGGER or name.startswith(PACKAGE_LOGGER + '.'):
            # On each: a filter of a logger does not see the records of its children.
            logging.getLogger(name).addFilter(log_filter)
    return redactor


@cache
def _shared() -> tuple[Redactor, RedactingFilter]:
    redactor = Redactor()
    return redactor, RedactingFilter(redactor)
