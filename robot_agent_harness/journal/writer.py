# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The queue of what is to be written, and the thread that writes it with group commit.

Everything that is queued when the writer gets round to it goes into one transaction, in the order
of submission; nobody is kept waiting for company. A submission is in one of three places: in the
queue, from where it can still be withdrawn; in a commit, whose end decides; or done.
"""

from __future__ import annotations

from asyncio import Future
from collections import deque
from collections.abc import Callable, Sequence
import contextlib
from dataclasses import dataclass
from itertools import groupby, islice
import logging
import queue
import sqlite3
import threading
import time
from typing import TypeAlias

from robot_agent_harness.errors import JournalError, JournalUnavailableError
from robot_agent_harness.events import Correlation, Event
from robot_agent_harness.journal.database import JournalDatabase
from robot_agent_harness.journal.records import Row
from robot_agent_harness.journal.sqlite_errors import Trouble, trouble_of

logger = logging.getLogger(__name__)

MAX_GROUP = 1000
"""Submissions in one transaction: bounds what one failure makes us repeat."""

FIRST_RETRY_S = 0.02
LAST_RETRY_S = 0.5
"""Pauses between attempts while the journal cannot be written, doubling from first to last."""

BUSY_ATTEMPTS = 5
"""Attempts that another program's lock may spoil before the journal counts as unavailable: who
looks into it with the sqlite3 shell may hold the lock for a moment."""

Entry: TypeAlias = tuple[Event, Correlation]
Result: TypeAlias = list[int] | JournalUnavailableError
Results: TypeAlias = 'list[tuple[Submission, Result]]'


@dataclass(slots=True, eq=False)
class Submission:
    """Records that are written together, or not at all."""

    entries: Sequence[Entry]
    rows: list[Row]
    future: Future[list[int]]
    meanwhile: Callable[[], object] | None = None
    """Called on the loop while the disk takes them."""
    deadline: float | None = None
    """Loop time at which it is taken back if it is not on disk; None: it waits for ever."""
    withdrawn: bool = False
    """It must not be written any more."""
    committing: bool = False
    """A commit with it is under way: only the end of that decides."""
    overdue: bool = False
    """Its caller's time ran out while it was committing."""
    written: bool = False
    """It is on disk."""


class JournalWriter:
    """Writes submissions in order, retries what fails, and tells how it goes.

    :param on_done: given the submissions that are done, in order, with their numbers or errors; on
        their loop if `threaded`, else within :meth:`pump`.
    :param on_health: called after every change of `healthy`, on any thread.
    :param after_commit: given the submissions of each transaction when they are on disk, where
        they were written; nothing else is written before it returns. It must not raise.
    :param threaded: whether a thread writes; otherwise each call of :meth:`pump` does.
    """

    def __init__(
        self,
        database: JournalDatabase,
        *,
        on_done: Callable[[Results], None],
        on_health: Callable[[], None],
        threaded: bool,
        after_commit: Callable[[Results], None],
    ) -> None:
        self.healthy = True
        self.last_error: str | None = None
        self.pending = 0
        self.commits = 0
        self.queue: deque[Submission] = deque()
        self.mutex = threading.Lock()
        """Guards the queue, `pending`, and the marks of its submissions."""
        self._database = database
        self._on_done = on_done
        self._on_health = on_health
        self._threaded = threaded
        self._after_commit = after_commit
        self._failures = 0
        self._signalled = False
        self._signal: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._stop_by: float | None = None
        self._on_stopped: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, name='journal-writer', daemon=True)
        if threaded:
            self._thread.start()

    def submit(self, submission: Submission) -> None:
        """Queue a submission, to be written when the thread is woken next."""
        with self.mutex:
            self.queue.append(submission)
            self.pending += len(submission.rows)

    def wake(self) -> None:
        """Have the thread write what is queued; called on the loop."""
        if self._signalled:
            return  # the thread has not taken its group yet, and takes what is queued until then
        with self.mutex:
            wake = self._threaded and bool(self.queue) and not self._signalled
            self._signalled = self._signalled or wake
        if wake:
            self._signal.put(None)

    def expire(self, now: float) -> float | None:
        """Take back what is overdue at a loop time, and return the next deadline, if any.

        What is being committed just then is left to the commit: only its end can tell whether the
        records are in the file.
        """
        late: Results = []
        following = None
        changed = False
        with self.mutex:
            text = self.last_error or (
                f'journal {self._database.path}: the disk did not confirm a write in time; '
                'look at the system log'
            )
            for submission in list(self.queue):
                if submission.deadline is None or submission.overdue:
                    continue
                if submission.future.cancelled():
                    continue  # nobody waits any more: it is written all the same
                if submission.deadline > now:
                    following = submission.deadline
                    break  # all are given the same time: those behind it are later
                if submission.committing:
                    submission.overdue = True
                elif self.withdraw(submission):
                    late.append((submission, JournalUnavailableError(text)))
                changed = self._set_health(False, text) or changed
        if changed:
            self._on_health()
        if late:
            self._signal.put(None)  # to find out when it works again, though nothing is queued
            self._resolve(late)
        return following

    def withdraw(self, submission: Submission) -> bool:
        """Remove a submission from the queue; the mutex is held. False if it is done already."""
        if submission.committing or submission.withdrawn or submission not in self.queue:
            return False
        submission.withdrawn = True
        self.queue.remove(submission)
        self.pending -= len(submission.rows)
        return True

    def insert(self, place: int, submission: Submission) -> None:
        """Queue a submission out of turn; the mutex is held."""
        self.queue.insert(place, submission)
        self.pending += len(submission.rows)

    def pump(self) -> float | None:
        """Write all that is queued; return seconds until the next attempt, None if all is well."""
        while True:
            with self.mutex:
                self._signalled = False
                group = list(islice(self.queue, MAX_GROUP))
            if not group and self.healthy:
                return None
            try:
                results = self._write(group) if group else self._probe()
            except Exception as error:  # the writer must outlive every failure of the disk
                return self._failed(error)
            if self._failures or not self.healthy:
                self._recovered()
            # Last, since the loop then competes with this thread for the interpreter.
            self._resolve(results)
            if results:
                self._after_commit(results)
            if not self.queue:
                return None  # who has queued anything since has signalled

    def stop(self, timeout_s: float, on_stopped: Callable[[], None]) -> None:
        """Let the thread write what is queued, for at most the timeout, and end."""
        self._on_stopped = on_stopped
        self._stop_by = time.monotonic() + timeout_s
        self._signal.put(None)

    def finish(self) -> None:
        """Fail what could not be written, and close the file."""
        with self.mutex:
            left = list(self.queue)
            self.queue.clear()
            self.pending = 0
        if left:
            logger.error(
                '%d records could not be written before the journal was closed: %s',
                sum(len(submission.rows) for submission in left),
                self.last_error,
            )
            error = self.last_error or 'the journal was closed before it could be written'
            self._resolve([(submission, JournalUnavailableError(error)) for submission in left])
        self._database.close()

    def _run(self) -> None:
        while True:
            delay = self.pump()
            if self._stop_by is not None:
                left = self._stop_by - time.monotonic()
                if left <= 0 or (delay is None and not self.queue):
                    break
                delay = min(left, delay or 0.0)
            try:
                self._signal.get(timeout=delay)
            except queue.Empty:
                pass
        self.finish()
        self._on_stopped()

    def _write(self, group: list[Submission]) -> Results:
        """Commit a group, without those that are withdrawn meanwhile, and return their numbers."""
        database = self._database
        while True:
            database.begin()
            seq = database.insert([row for submission in group for row in submission.rows])
            with self.mutex:
                alive = [submission for submission in group if not submission.withdrawn]
                if len(alive) == len(group):
                    for submission in group:
                        submission.committing = True
                    break
            database.rollback()
            if not alive:
                return []
            group = alive
        if self._threaded:
            self._use_the_wait(group)
        database.commit()
        self.commits += 1
        results: Results = []
        with self.mutex:
            for submission in group:
                self.queue.popleft()
                submission.committing = False
                submission.written = True
                count = len(submission.rows)
                self.pending -= count
                results.append((submission, list(range(seq, seq + count))))
                seq += count
        return results

    def _use_the_wait(self, group: list[Submission]) -> None:
        """Have the loop do what there is to do while the disk is busy, and this thread waits.

        Not a moment sooner: what runs on the loop keeps the interpreter from this thread.
        """
        for submission in group:
            if submission.meanwhile is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                    submission.future.get_loop().call_soon_threadsafe(submission.meanwhile)
                submission.meanwhile = None

    def _probe(self) -> Results:
        self._database.probe()
        return []

    def _recovered(self) -> None:
        self._failures = 0
        with self.mutex:
            changed = self._set_health(True, None)
        if changed:
            self._on_health()

    def _failed(self, error: Exception) -> float:
        text = self._database.failed(error)
        self._failures += 1
        busy = isinstance(error, sqlite3.Error) and trouble_of(error) is Trouble.BUSY
        with self.mutex:
            self.last_error = text
            lasting = not busy or self._failures >= BUSY_ATTEMPTS
            changed = lasting and self._set_health(False, text)
            late = [submission for submission in self.queue if submission.overdue]
            for submission in self.queue:
                submission.committing = False
            for submission in late:
                self.withdraw(submission)
        if changed:
            self._on_health()
        self._resolve([(submission, JournalUnavailableError(text)) for submission in late])
        if not isinstance(error, (sqlite3.Error, OSError, JournalError)):
            logger.error('unexpected failure of the journal writer', exc_info=error)
        return float(min(LAST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(self._failures - 1, 10)))

    def _set_health(self, healthy: bool, error: str | None) -> bool:
        """Take the state down and return whether it is another; the mutex is held."""
        changed = healthy != self.healthy
        self.healthy = healthy
        self.last_error = error
        return changed

    def _resolve(self, results: Results) -> None:
        """Hand what is done to the loop that waits for it."""
        if not self._threaded:
            self._on_done(results)
            return
        for loop, items in groupby(results, lambda result: result[0].future.get_loop()):
            # RuntimeError: the loop is closed. Nobody waits any more, and the facts are on disk.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._on_done, list(items))
