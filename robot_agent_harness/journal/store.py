# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The mission journal: what the loop calls to record what happened, or is about to.

`append` is for a record that something must not happen without: it returns when the record is on
disk, or raises, and then the record never appears. `defer` is for facts that happened anyway: they
wait in memory, in order, until they can be written. Both share one queue, so that the order of
submission is the order in the file.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
import contextlib
import logging
from pathlib import Path
from typing import TypeAlias

from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import Correlation, Event, EventType, SalientEvent
from robot_agent_harness.journal.database import JournalDatabase, Synchronous
from robot_agent_harness.journal.records import exact_text, Row, row_of
from robot_agent_harness.journal.rotator import RotationLimits, Rotator
from robot_agent_harness.journal.sqlite_errors import remedy_of
from robot_agent_harness.journal.writer import Entry, JournalWriter, Results, Submission
from robot_agent_harness.paths import resolved

logger = logging.getLogger(__name__)

HealthListener: TypeAlias = Callable[[bool, 'str | None'], None]
EventListener: TypeAlias = Callable[[int, Event, Correlation], None]
LatencyListener: TypeAlias = Callable[[float], object]
Cleaner: TypeAlias = Callable[[Event, Correlation, 'str | None'], Event]

MAX_DEFERRED = 10_000
"""Records that may wait in memory; beyond it the oldest progress records give way to a note."""

BUSY_TIMEOUT_MS = 100
"""How long one attempt waits for another program's lock."""

CLOSE_TIMEOUT_S = 2.0
"""How long closing waits for the disk: Ctrl-C must end the harness within 5 s."""

COMPANY_S = 0.02
"""How long records that nobody waits for may wait for others, in seconds: what a controller says
is followed by a record that somebody does wait for, which must not queue behind a commit of its
own."""

DROPPED = 'journal_records_dropped'
"""Kind of the salient event that stands for progress records which found no room."""

_HEARD = EventType.CONTROLLER_EVENT_RECEIVED.value
_DROPPABLE = frozenset({EventType.ROBOT_ACTION_PROGRESS.value, _HEARD})
"""What may come without end while the disk does not answer."""


class MissionJournal:
    """The append-only record of every mission on one robot. Made by :meth:`open`.

    Use it from one asyncio loop.
    """

    def __init__(
        self,
        database: JournalDatabase,
        *,
        clock: Clock,
        inline: bool,
        write_timeout_s: float,
        max_deferred: int,
        rotator: Rotator,
    ) -> None:
        self._database = database
        self._clock = clock
        self._inline = inline
        self._write_timeout_s = write_timeout_s
        self._max_deferred = max_deferred
        self._listeners: list[HealthListener] = []
        self._event_listeners: list[EventListener] = []
        self._latency_listeners: list[LatencyListener] = []
        self._clean: Cleaner = lambda event, ids, text: event
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Future[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._droppable: deque[Submission] = deque()
        """Submissions of progress alone that nobody awaits, in their order; the first is not
        done."""
        self._dropped: Counter[str] = Counter()
        self._note: Submission | None = None
        self._told = True
        self._watchdog: asyncio.TimerHandle | None = None
        self._nudge: asyncio.TimerHandle | None = None
        self._writer = JournalWriter(
            database,
            on_done=self._settle,
            on_health=self._health_changed,
            threaded=not inline,
            after_commit=rotator.after_commit,
        )

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        clock: Clock,
        synchronous: Synchronous = 'full',
        inline: bool = False,
        write_timeout_s: float = 2.0,
        max_deferred: int = MAX_DEFERRED,
        rotate_mib: int = 0,
        rotate_days: float = 0.0,
    ) -> MissionJournal:
        """Open the journal for writing, and make it if there is none; blocks.

        :param path: the file; `~` is expanded; folders that are missing are made with mode 0700.
        :param synchronous: `full` survives a loss of power; `normal` only the end of the process.
        :param inline: commit inside `append` and `defer`, with no thread: for tests on virtual
            time.
        :param write_timeout_s: how long `append` may take before it counts as failed.
        :param max_deferred: how many records may wait in memory while the journal is unavailable.
        :param rotate_mib: size in MiB beyond which the file is closed, and a new one begun, once
            nothing is open in it; 0: never.
        :param rotate_days: the same of its age in days.
        :raises JournalLockedError: another harness uses it.
        :raises JournalCorruptError: it is damaged or no journal; it was left as it is.
        :raises JournalTooNewError: a newer release wrote it.
        :raises JournalUnavailableError: it cannot be made, read or written.
        """
        resolved = _prepared_path(Path(path))
        database = JournalDatabase(
            resolved, synchronous=synchronous, busy_timeout_ms=0 if inline else BUSY_TIMEOUT_MS
        )
        return cls(
            database,
            clock=clock,
            inline=inline,
            write_timeout_s=write_timeout_s,
            max_deferred=max_deferred,
            rotator=Rotator(
                database,
                clock=clock,
                limits=RotationLimits(rotate_mib, rotate_days),
                threaded=not inline,
            ),
        )

    @property
    def path(self) -> Path:
        """Return the file's absolute path."""
        return self._database.path

    @property
    def last_seq(self) -> int:
        """Return the number of the newest record on disk; 0 in an empty journal."""
        return self._database.tail.seq

    @property
    def last_chain(self) -> str:
        """Return the chain of the newest record on disk; empty in an empty journal."""
        return self._database.tail.chain

    @property
    def healthy(self) -> bool:
        """Return whether the last attempt to write worked."""
        return self._writer.healthy and self._closing is None

    @property
    def last_error(self) -> str | None:
        """Return why the journal is not healthy, for people; None while it is."""
        if self._closing is not None:
            return f'journal {self.path} is closed'
        return None if self._writer.healthy else self._writer.last_error

    @property
    def pending(self) -> int:
        """Return how many records wait to be written."""
        return self._writer.pending

    @property
    def commits(self) -> int:
        """Return how many transactions with records were committed since the opening."""
        return self._writer.commits

    def add_health_listener(self, listener: HealthListener) -> None:
        """Have a function called, on the loop, with (healthy, error) on every change."""
        self._listeners.append(listener)
        with contextlib.suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()

    def add_event_listener(self, listener: EventListener) -> None:
        """Have a function called, on the loop, with each record's number, event and ids.

        In the order of the file, as soon as the record is on disk.
        """
        self._event_listeners.append(listener)

    def add_latency_listener(self, listener: LatencyListener) -> None:
        """Have a function called, on the loop, with the seconds that each append took."""
        self._latency_listeners.append(listener)

    def clean_with(self, cleaner: Cleaner) -> None:
        """Have every event cleaned before anything else sees it.

        :param cleaner: given the event, its ids and what :func:`~records.exact_text` makes of it;
            returns the event, or another one in its place.
        """
        self._clean = cleaner

    def append(
        self, *entries: Entry, meanwhile: Callable[[], object] | None = None
    ) -> asyncio.Future[list[int]]:
        """Write the records in one transaction, and return a future of their numbers.

        It completes when they are on disk. A caller that is cancelled leaves them in the queue:
        they are written all the same.

        :param meanwhile: called on the loop while a thread waits for the disk; not at all where
            no thread does. For what would take time afterwards, and tells nobody anything.
        :raises JournalUnavailableError: the journal is closed; of the future: they could not be
            written in time, and never will be.
        """
        if not entries:
            nothing: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
            nothing.set_result([])
            return nothing
        submission = self._submission(entries)
        durable = submission.future
        loop = durable.get_loop()
        submission.meanwhile = meanwhile
        submission.deadline = loop.time() + self._write_timeout_s
        if self._watchdog is None:
            self._watchdog = loop.call_at(submission.deadline, self._expire)
        self._submit(submission)
        return durable

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        """Queue the records of facts, and return a future of their numbers.

        It completes when they are on disk, however long that takes; nobody needs to await it. What
        the same step of the loop queues as well is committed with them.

        :raises JournalUnavailableError: the journal is closed.
        """
        submission = self._submission(entries)
        if self.pending + len(entries) > self._max_deferred:
            self._make_room()
        self._note_droppable(submission)
        self._submit(submission)
        return submission.future

    async def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is queued, close the file, let go of the lock; a second time does nothing.

        :param timeout_s: how long to wait for a disk that does not answer; what is not written by
            then is lost, and logged as such.
        """
        if self._closing is not None:
            await asyncio.shield(self._closing)
            return
        loop = asyncio.get_running_loop()
        self._closing = loop.create_future()
        for timer in (self._retry, self._watchdog, self._nudge):
            if timer is not None:
                timer.cancel()
        try:
            if self._inline:
                await self._close_inline(loop, timeout_s)
            else:
                await self._close_thread(loop, timeout_s)
        finally:
            self._closing.set_result(None)

    def _submission(self, entries: tuple[Entry, ...]) -> Submission:
        if self._closing is not None:
            raise JournalUnavailableError(f'journal {self.path} is closed')
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._watchdog, self._nudge = loop, None, None
        kept: list[Entry] = []
        rows: list[Row] = []
        for event, ids in entries:
            text = exact_text(event)
            clean = self._clean(event, ids, text)
            kept.append((clean, ids))
            text = text if clean is event else exact_text(clean)
            rows.append(row_of(clean, ids, text, self._clock))
        return Submission(kept, rows, loop.create_future())

    def _expire(self) -> None:
        """Fail the appends whose time is over, and look again when the next one's is."""
        following = self._writer.expire(asyncio.get_running_loop().time())
        self._watchdog = (
            None
            if following is None
            else asyncio.get_running_loop().call_at(following, self._expire)
        )

    def _settle(self, results: Results) -> None:
        """Complete futures and tell the listeners; called on the loop."""
        written: list[tuple[Submission, list[int]]] = []
        for submission, result in results:
            future = submission.future
            if isinstance(result, list):
                written.append((submission, result))
                if not future.done():
                    future.set_result(result)
                    if submission.deadline is not None:
                        self._tell_latency(future.get_loop(), submission.deadline)
            elif not future.done():
                future.set_exception(result)
                future.exception()  # nobody needs to await it: it must not complain when it goes
        if written and self._event_listeners:
            # From the loop, not from here: a listener may write itself.
            written[0][0].future.get_loop().call_soon(self._announce, written)

    def _tell_latency(self, loop: asyncio.AbstractEventLoop, deadline: float) -> None:
        for listener in self._latency_listeners:
            # From the loop, not from here: the record is on disk, whatever a listener does.
            loop.call_soon(listener, loop.time() - deadline + self._write_timeout_s)

    def _announce(self, written: list[tuple[Submission, list[int]]]) -> None:
        for submission, numbers in written:
            for seq, (event, ids) in zip(numbers, submission.entries, strict=True):
                for listener in self._event_listeners:
                    try:
                        listener(seq, event, ids)
                    except Exception:
                        # Whoever listens: the record is on disk, and the others hear of it too.
                        logger.exception('a listener failed on record %d', seq)

    def _note_droppable(self, submission: Submission) -> None:
        droppable = self._droppable
        while droppable and _is_done(droppable[0]):
            droppable.popleft()
        if all(row.type in _DROPPABLE for row in submission.rows):
            droppable.append(submission)

    def _submit(self, submission: Submission) -> None:
        self._writer.submit(submission)
        loop = submission.future.get_loop()
        if self._inline:
            self._pump_inline()
        elif submission.deadline is not None:
            self._writer.wake()
        elif any(row.type != _HEARD for row in submission.rows):
            # At the end of this step of the loop: what follows in it shares the commit.
            loop.call_soon(self._writer.wake)
        elif self._nudge is None:
            self._nudge = loop.call_later(COMPANY_S, self._end_waiting)

    def _end_waiting(self) -> None:
        self._nudge = None
        self._writer.wake()

    def _pump_inline(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        delay = self._writer.pump()
        if delay is not None and self._loop is not None and self._closing is None:
            self._retry = self._loop.call_later(delay, self._pump_inline)

    def _make_room(self) -> None:
        """Replace the oldest waiting progress record by a note that counts what was dropped."""
        writer = self._writer
        with writer.mutex:
            # Not the whole queue: it may be long, with nothing in it that can give way.
            oldest = next(filter(_can_give_way, self._droppable), None)
            if oldest is None:
                return
            place = writer.queue.index(oldest)
            writer.withdraw(oldest)
            if self._note is not None and self._note in writer.queue:
                place = writer.queue.index(self._note)
            if self._note is None or not writer.withdraw(self._note):
                self._dropped.clear()  # the note before this one is on its way to the disk
            row = oldest.rows[0]
            self._dropped.update(row.action_id or '' for row in oldest.rows)
            self._note = self._dropped_note(row)
            writer.insert(place, self._note)
        error = 'this progress record was dropped: the journal was unavailable for too long'
        self._settle([(oldest, JournalUnavailableError(error))])

    def _dropped_note(self, row: Row) -> Submission:
        note = SalientEvent(
            kind=DROPPED,
            message=f'{self._dropped.total()} progress records were dropped while the journal was '
            'unavailable',
            details={'dropped': dict(self._dropped)},
        )
        ids = Correlation(mission_id=row.mission_id)
        return self._submission(((note, ids),))

    def _health_changed(self) -> None:
        """Have the loop look at the health; called on any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens
                self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        healthy, error = self._writer.healthy, self._writer.last_error
        if healthy == self._told:
            return
        self._told = healthy
        if healthy:
            logger.info('journal %s can be written again', self.path)
        else:
            logger.error('the journal cannot be written: %s', error)
        for listener in self._listeners:
            listener(healthy, None if healthy else error)

    async def _close_inline(self, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        deadline = loop.time() + timeout_s
        while (delay := self._writer.pump()) is not None and self.pending:
            if loop.time() + delay > deadline:
                break
            await asyncio.sleep(delay)
        self._writer.finish()

    async def _close_thread(self, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        stopped = loop.create_future()

        def on_stopped() -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_complete, stopped)

        self._writer.stop(timeout_s, on_stopped)
        _, late = await asyncio.wait({stopped}, timeout=timeout_s + 1.0)
        if late:
            logger.error('journal %s: the disk does not answer; closing without it', self.path)


def _is_done(submission: Submission) -> bool:
    return submission.written or submission.withdrawn


def _can_give_way(submission: Submission) -> bool:
    return not submission.committing and not _is_done(submission)


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _prepared_path(path: Path) -> Path:
    """Return the absolute path without links, with its folder made."""
    try:
        absolute = resolved(path)
        missing = [folder for folder in absolute.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise JournalUnavailableError(
            f'journal {path}: its folder cannot be made ({error.strerror}); '
            f'{remedy_of(error)}, or choose another path'
        ) from error
    return absolute
