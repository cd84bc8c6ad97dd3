# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotation while a harness runs: by size or age, at a moment at which nothing is open."""

from __future__ import annotations

from dataclasses import dataclass
import logging
import sqlite3
import threading

from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.errors import JournalError
from robot_agent_harness.journal.database import JournalDatabase
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.records import Row
from robot_agent_harness.journal.rotation import close_file, pack_closed
from robot_agent_harness.journal.selection import ENDS
from robot_agent_harness.journal.writer import Results

logger = logging.getLogger(__name__)

CHECK_S = 10.0
"""How often the size and the age are looked at, at most."""
MIB = 1024 * 1024
DAY_NS = 86_400 * NS_PER_S


@dataclass(frozen=True, slots=True)
class RotationLimits:
    """Beyond what a file is closed; 0: never."""

    mib: int = 0
    """Size, with its log."""
    days: float = 0.0
    """Age of its first record."""


class Rotator:
    """Closes the file that a harness writes when it is due; used where the journal is written.

    :param threaded: whether a thread of its own compresses what was closed.
    """

    def __init__(
        self, database: JournalDatabase, *, clock: Clock, limits: RotationLimits, threaded: bool
    ) -> None:
        self._database = database
        self._clock = clock
        self._limits = limits
        self._threaded = threaded
        self._open: set[str] | None = None
        """Ids of what has begun and not ended; None: not looked up yet."""
        self._next_check_ns = 0
        self._packing: threading.Thread | None = None

    def after_commit(self, written: Results) -> None:
        """Take note of what was written, and close the file if it is time and nothing is open."""
        if not (self._limits.mib or self._limits.days):
            return
        if self._open is not None:
            for submission, _ in written:
                for row in submission.rows:
                    self._note(self._open, row)
        if self._open or self._clock.monotonic_ns() < self._next_check_ns:
            return
        self._next_check_ns = self._clock.monotonic_ns() + int(CHECK_S * NS_PER_S)
        try:
            self._check()
        except (JournalError, OSError, sqlite3.Error) as error:
            logger.warning('the journal could not be rotated and goes on as it is: %s', error)

    def _check(self) -> None:
        if not self._due():
            return
        if self._open is None:
            with JournalReader(self._database.path) as reader:
                work = reader.open_work()
            begun = (*work.calls, *work.actions, *work.missions)
            self._open = {str(getattr(event, ENDS[event.type][1])) for event in begun}
        if self._open:
            return
        closed = close_file(self._database, clock=self._clock)
        if closed is None:
            return
        logger.info('closed %d records of the journal as %s', closed.records, closed.archive.name)
        if not self._threaded:
            self._pack()
        elif self._packing is None or not self._packing.is_alive():
            self._packing = threading.Thread(target=self._pack, name='journal-pack', daemon=True)
            self._packing.start()

    @staticmethod
    def _note(open_: set[str], row: Row) -> None:
        for begin, (end, column) in ENDS.items():
            if row.type == begin:
                open_.add(str(getattr(row, column)))
            elif row.type == end:
                open_.discard(str(getattr(row, column)))

    def _due(self) -> bool:
        limits = self._limits
        if limits.mib and self._database.size_bytes() > limits.mib * MIB:
            return True
        begun_ns = self._database.begun_wall_ns() if limits.days else None
        return begun_ns is not None and self._clock.wall_ns() - begun_ns > limits.days * DAY_NS

    def _pack(self) -> None:
        """Compress what was closed; a kill meanwhile leaves it to the next rotation."""
        try:
            pack_closed(self._database.path)
        except JournalError as error:
            logger.warning('%s', error)
