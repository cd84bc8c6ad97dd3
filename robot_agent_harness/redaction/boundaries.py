# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where things leave memory: the journal, the log, and the one Redactor that stands at both."""

from __future__ import annotations

import asyncio
from functools import cache
import logging
import os
from pathlib import Path

from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.journal.writer import Entry
from robot_agent_harness.redaction.redactor import Redactor

PACKAGE_LOGGER = 'robot_agent_harness'


class RedactedJournal:
    """The journal as those who write see it: what they hand in reaches it without secrets."""

    def __init__(self, journal: MissionJournal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    @property
    def path(self) -> Path:
        """Return the file's absolute path."""
        return self._journal.path

    @property
    def healthy(self) -> bool:
        """Return whether the last attempt to write worked."""
        return self._journal.healthy

    async def append(self, *entries: Entry) -> list[int]:
        """Write the records and return their numbers when they are on disk.

        :raises JournalUnavailableError: they could not be written in time, and never will be.
        """
        return await self._journal.append(*self._clean(entries))

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        """Queue the records of facts, and return a future of their numbers.

        :raises JournalUnavailableError: the journal is closed.
        """
        return self._journal.defer(*self._clean(entries))

    def _clean(self, entries: tuple[Entry, ...]) -> list[Entry]:
        return [(self._redactor.event(event, ids), ids) for event, ids in entries]


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
