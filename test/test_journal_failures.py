# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the journal does when it cannot write: K34, K35, K36 and their relatives."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
import contextlib
import os
from pathlib import Path
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

from hypothesis import given, settings
from hypothesis import strategies as st
from journal_rig import becomes, BOUND_S, fact, Helper, LOCKER, numbers, opened, progress, WRITER
import pytest

from robot_agent_harness.errors import JournalCorruptError, JournalUnavailableError
from robot_agent_harness.events import Event, SalientEvent
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.journal.writer import Submission
from robot_agent_harness.testing.fake_clock import FakeClock
from robot_agent_harness.testing.journal_assertions import assert_journal
from robot_agent_harness.testing.virtual_time import run_virtual

pytestmark = pytest.mark.anyio
SHORT_S = 0.3
"""A bound for appends that are meant to fail."""


@pytest.mark.parametrize('kind', ['IMMEDIATE', 'EXCLUSIVE'])
async def test_a_lock_of_another_program_fails_appends_and_delays_facts(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        with Helper(LOCKER, path, kind) as other:
            assert other.hear() == 'locked'
            with pytest.raises(JournalUnavailableError, match=r'journal\.db.*locked.*end that'):
                await journal.append(fact(2))
            kept = journal.defer(fact(3))
            assert not journal.healthy
            assert journal.pending == 1
            assert not kept.done()
            other.tell()
            assert other.hear() == 'released'
            assert await asyncio.wait_for(kept, BOUND_S) == [2]
            await becomes(journal, True)
            assert journal.last_error is None
            assert await journal.append(fact(4)) == [3]
    assert numbers(path) == [1, 3, 4]
    assert_journal(path)


async def test_a_lock_that_goes_away_in_time_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=BOUND_S) as journal:
        with Helper(LOCKER, path, 'IMMEDIATE') as other:
            assert other.hear() == 'locked'
            appending = asyncio.ensure_future(journal.append(fact(1)))
            await asyncio.sleep(0)
            other.tell()
            assert await appending == [1]
    assert numbers(path) == [1]


async def test_a_cancelled_append_becomes_a_fact_that_waits(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        with Helper(LOCKER, path, 'IMMEDIATE') as other:
            assert other.hear() == 'locked'
            appending = asyncio.ensure_future(journal.append(fact(1)))
            await asyncio.sleep(0)
            appending.cancel()
            with pytest.raises(JournalUnavailableError):
                await journal.append(fact(2))
            other.tell()
            assert await asyncio.wait_for(journal.defer(fact(3)), BOUND_S) == [2]
    assert numbers(path) == [1, 3]


@contextlib.contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """Let no file grow beyond what the journal's log has now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = path.with_name(path.name + '-wal').stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_loses_nothing_and_recovers(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        with full_disk(path):
            with pytest.raises(JournalUnavailableError, match=r'journal\.db'):
                await journal.append(fact(2))
            futures = [journal.defer(fact(3)), journal.defer(fact(4), fact(5))]
            with pytest.raises(JournalUnavailableError):
                await journal.append(fact(6))
            assert not journal.healthy
            assert numbers(path) == [1]
        assert await journal.append(fact(7)) == [5]
        assert [future.result() for future in futures] == [[2], [3, 4]]
        await becomes(journal, True)
    assert numbers(path) == [1, 3, 4, 5, 7]
    assert_journal(path)


@pytest.mark.skipif(os.geteuid() != 0, reason='only root may mount a small file system')
async def test_a_file_system_without_space_says_so(tmp_path: Path) -> None:
    disk = tmp_path / 'disk'
    disk.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('this machine lets nobody mount')
    try:
        path = disk / 'journal.db'
        # Long enough for a first attempt to fail, however busy the machine: its error says why.
        async with opened(path, write_timeout_s=3.0) as journal:
            await journal.append(fact(1))
            filler = disk / 'filler'
            with contextlib.suppress(OSError), filler.open('wb', buffering=0) as file:
                while file.write(b'x' * 4096):
                    pass
            with pytest.raises(JournalUnavailableError, match=r'full.*free some space'):
                await asyncio.gather(*(journal.append(fact(2, 'x' * 10_000)) for _ in range(99)))
            kept = journal.defer(fact(3))
            filler.unlink()
            await asyncio.wait_for(kept, BOUND_S)
        assert numbers(path)[0] == 1
        assert numbers(path)[-1] == 3
        assert_journal(path)
    finally:
        subprocess.run(['umount', '-l', str(disk)], check=False)


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def remove_file(path: Path) -> None:
    path.unlink()


def move_file(path: Path) -> None:
    path.rename(path.with_name('elsewhere.db'))


def replace_file(path: Path) -> None:
    shutil.copy(path, path.with_name('copy'))
    path.with_name('copy').replace(path)


@pytest.mark.parametrize('harm', [remove_folder, remove_file, move_file, replace_file])
async def test_a_file_that_is_gone_or_another_is_noticed_and_never_made_again(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / 'folder' / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        await asyncio.sleep(0.05)  # let the folder's time of change settle
        await journal.append(fact(2))
        harm(path)
        there = path.read_bytes() if path.exists() else None
        with pytest.raises(JournalUnavailableError, match=r'(deleted or moved|replaced).*put'):
            await journal.append(fact(3))
        assert not journal.healthy
        kept = journal.defer(fact(4))
        await journal.close(timeout_s=SHORT_S)
        assert isinstance(kept.exception(), JournalUnavailableError)
    assert (path.read_bytes() if path.exists() else None) == there


async def test_a_file_that_comes_back_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / 'folder' / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        path.parent.rename(tmp_path / 'elsewhere')
        with pytest.raises(JournalUnavailableError):
            await journal.append(fact(2))
        kept = journal.defer(fact(3))
        (tmp_path / 'elsewhere').rename(path.parent)
        assert await asyncio.wait_for(kept, BOUND_S) == [2]
        assert await journal.append(fact(4)) == [3]
    assert numbers(path) == [1, 3, 4]
    assert_journal(path)


@pytest.mark.parametrize('suffixes', [['-wal'], ['-shm'], ['-wal', '-shm'], ['.lock']])
async def test_a_deleted_side_file_costs_no_record(tmp_path: Path, suffixes: list[str]) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1), fact(2))
        for suffix in suffixes:
            path.with_name(path.name + suffix).unlink()
        assert await asyncio.wait_for(journal.append(fact(3)), BOUND_S) == [3]
        assert await journal.append(fact(4)) == [4]
        with JournalReader(path) as reader:
            assert reader.verify_chain() == 4
    assert numbers(path) == [1, 2, 3, 4]


@pytest.mark.parametrize('left_bytes', [0, 32, 9000])
async def test_a_log_that_is_cut_off_in_place_is_noticed_at_the_next_record(
    tmp_path: Path, left_bytes: int
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        for number in range(20):
            await journal.append(fact(number, 'x' * 1000))
        os.truncate(f'{path}-wal', left_bytes)
        with pytest.raises(JournalUnavailableError, match=r'(cut off|ends at record).*restart'):
            await journal.append(fact(99))
        assert not journal.healthy
        with pytest.raises(JournalUnavailableError):
            await journal.append(fact(99))


@pytest.mark.parametrize('left_bytes', [0, 100, 4096, 8192])
async def test_a_file_that_is_cut_off_in_place_is_noticed_at_the_next_record(
    tmp_path: Path, left_bytes: int
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        for number in range(20):
            await journal.append(fact(number, 'x' * 1000))
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        await journal.append(fact(20))
        os.truncate(path, left_bytes)
        for _ in range(2):
            with pytest.raises(JournalUnavailableError, match='restart'):
                await journal.append(fact(99))
        assert not journal.healthy


async def test_a_log_that_another_program_empties_into_the_file_is_no_trouble(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1), fact(2))
        with contextlib.closing(sqlite3.connect(path)) as other:
            assert other.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0] == 0
        assert path.with_name('journal.db-wal').stat().st_size == 0
        assert await journal.append(fact(3)) == [3]
        assert await journal.append(fact(4)) == [4]
        assert journal.healthy
    assert numbers(path) == [1, 2, 3, 4]


class Fault:
    """Stands in for a step of the database; breaks or blocks it while it is told to."""

    def __init__(self, journal: MissionJournal, step: str, monkeypatch: pytest.MonkeyPatch):
        self._original = getattr(journal._database, step)
        self.error: Exception | None = None
        self.entered = threading.Event()
        self.may_go = threading.Event()
        self.may_go.set()
        monkeypatch.setattr(journal._database, step, self)

    def __call__(self) -> None:
        self.entered.set()
        assert self.may_go.wait(BOUND_S)
        if self.error is not None:
            raise self.error
        self._original()

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, BOUND_S)


async def test_a_failing_commit_is_not_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        fault = Fault(journal, 'commit', monkeypatch)
        fault.error = sqlite3.OperationalError('disk I/O error')
        with pytest.raises(JournalUnavailableError, match=r'disk I/O error.*system log'):
            await journal.append(fact(1))
        kept = journal.defer(fact(2))
        fault.error = None
        assert await asyncio.wait_for(kept, BOUND_S) == [1]
    assert numbers(path) == [2]


async def test_a_commit_that_fails_once_is_repeated_within_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=BOUND_S) as journal:
        fault = Fault(journal, 'commit', monkeypatch)
        fault.error = sqlite3.OperationalError('disk I/O error')
        appending = asyncio.ensure_future(journal.append(fact(1)))
        await becomes(journal, False)
        fault.error = None
        assert await appending == [1]
    assert numbers(path) == [1]


async def test_what_can_be_done_meanwhile_is_done_once_while_the_disk_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / 'journal.db', write_timeout_s=BOUND_S) as journal:
        fault = Fault(journal, 'commit', monkeypatch)
        fault.may_go.clear()
        done = asyncio.Event()
        times = 0

        def work() -> None:
            nonlocal times
            times += 1
            done.set()

        appending = journal.append(fact(1), meanwhile=work)
        await asyncio.wait_for(done.wait(), BOUND_S)
        assert not appending.done()
        fault.error = sqlite3.OperationalError('disk I/O error')  # it is tried again
        fault.may_go.set()
        await becomes(journal, False)
        fault.error = None
        assert await asyncio.wait_for(appending, BOUND_S) == [1]
        assert times == 1


async def test_a_hanging_disk_shows_and_its_late_answer_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the end of a commit tells whether a record is in the file."""
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        fault = Fault(journal, 'commit', monkeypatch)
        fault.may_go.clear()
        appending = asyncio.ensure_future(journal.append(fact(1)))
        await fault.reached()
        with pytest.raises(JournalUnavailableError):
            await journal.append(fact(2))  # queued behind the commit, so it can be taken back
        assert not journal.healthy
        assert not appending.done()
        fault.may_go.set()
        assert await asyncio.wait_for(appending, BOUND_S) == [1]
        await becomes(journal, True)
    assert numbers(path) == [1]


async def test_a_hanging_commit_that_fails_in_the_end_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        fault = Fault(journal, 'commit', monkeypatch)
        fault.may_go.clear()
        appending = asyncio.ensure_future(journal.append(fact(1)))
        await fault.reached()
        await becomes(journal, False)
        fault.error = sqlite3.OperationalError('disk I/O error')
        fault.may_go.set()
        with pytest.raises(JournalUnavailableError, match='disk I/O error'):
            await appending
        fault.error = None
        assert await asyncio.wait_for(journal.defer(fact(2)), BOUND_S) == [1]
    assert numbers(path) == [2]


async def test_a_record_whose_time_ran_out_before_its_commit_never_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        fault = Fault(journal, 'begin', monkeypatch)
        fault.may_go.clear()
        kept = journal.defer(fact(1))
        with pytest.raises(JournalUnavailableError):
            await journal.append(fact(2))
        assert not journal.healthy
        fault.may_go.set()
        assert await asyncio.wait_for(kept, BOUND_S) == [1]
        await becomes(journal, True)
        assert await journal.append(fact(3)) == [2]
    assert numbers(path) == [1, 3]


async def test_health_listeners_are_called_on_the_loop_once_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / 'journal.db', write_timeout_s=SHORT_S) as journal:
        loop_thread = threading.get_ident()
        told: list[tuple[bool, str | None]] = []

        def listener(healthy: bool, error: str | None) -> None:
            assert threading.get_ident() == loop_thread
            told.append((healthy, error))

        journal.add_health_listener(listener)
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(5, 'Input/output error')
        for number in range(3):
            with pytest.raises(JournalUnavailableError):
                await journal.append(fact(number))
        fault.error = None
        await becomes(journal, True)
        [(first, error), (second, none)] = told
        assert (first, second, none) == (False, True, None)
        assert 'Input/output error' in str(error)


async def test_an_unhealthy_journal_recovers_with_nothing_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for health before the next physical work must not have to write to get it."""
    async with opened(tmp_path / 'journal.db', write_timeout_s=SHORT_S) as journal:
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(5, 'Input/output error')
        with pytest.raises(JournalUnavailableError):
            await journal.append(fact(1))
        assert journal.pending == 0
        fault.error = None
        await becomes(journal, True)


async def test_too_many_waiting_facts_drop_the_oldest_progress_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    announced: list[Event] = []
    async with opened(path, max_deferred=6) as journal:
        journal.add_event_listener(lambda seq, event, ids: announced.append(event))
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(28, 'No space left on device')
        facts = [journal.defer(fact(0))]
        dropped = [journal.defer(progress(n)) for n in (1, 2)]
        dropped.append(journal.defer(progress(3, 'b' * 32)))
        facts += [journal.defer(fact(4)), journal.defer(progress(5)), journal.defer(fact(6))]
        facts += [journal.defer(fact(7)), journal.defer(fact(8))]
        assert journal.pending <= 6 + 1  # the note itself
        fault.error = None
        await asyncio.wait_for(asyncio.gather(*facts), BOUND_S)
    assert all(isinstance(future.exception(), JournalUnavailableError) for future in dropped)
    with JournalReader(path) as reader:
        events = list(reader.events())
    kinds = [event.payload.get('kind', event.type) for event in events]
    assert kinds == ['human_message', 'journal_records_dropped', 'human_message',
                     'ROBOT_ACTION_PROGRESS', *['human_message'] * 3]  # fmt: skip
    assert events[1].payload['details'] == {'dropped': {'a' * 32: 2, 'b' * 32: 1}}
    assert sum(isinstance(event, SalientEvent) for event in announced) == 6


async def test_facts_that_are_no_progress_are_kept_beyond_the_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, max_deferred=2) as journal:
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(28, 'No space left on device')
        futures = [journal.defer(fact(number)) for number in range(10)]
        fault.error = None
        await asyncio.wait_for(asyncio.gather(*futures), BOUND_S)
    assert numbers(path) == list(range(10))


async def test_waiting_facts_without_any_progress_are_not_searched_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unsearched(deque[Submission]):
        searches = 0

        def __iter__(self) -> Iterator[Submission]:
            self.searches += 1
            return super().__iter__()

    async with opened(tmp_path / 'journal.db', inline=True, max_deferred=4) as journal:
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(28, 'No space left on device')
        waiting = [journal.defer(fact(number)) for number in range(5)]
        monkeypatch.setattr(journal, '_pump_inline', lambda: None)
        queue = Unsearched(journal._writer.queue)
        journal._writer.queue = queue
        waiting += [journal.defer(fact(number)) for number in range(5, 50)]
        assert queue.searches == 0
        lost = journal.defer(progress(50))
        journal.defer(fact(51))  # finds the progress record, and puts a note in its place
        assert isinstance(lost.exception(), JournalUnavailableError)
        journal.defer(fact(52))
        assert journal.pending == 50 + 1 + 2
        monkeypatch.undo()
        journal._pump_inline()
        assert all(future.done() for future in waiting)


async def test_closing_an_unavailable_journal_is_bounded_and_says_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1))
        fault = Fault(journal, 'begin', monkeypatch)
        fault.error = OSError(5, 'Input/output error')
        lost = journal.defer(fact(2), fact(3))
        await asyncio.wait_for(journal.close(timeout_s=0.1), BOUND_S)
        assert isinstance(lost.exception(), JournalUnavailableError)
    assert '2 records could not be written' in caplog.text
    assert numbers(path) == [1]
    async with opened(path) as journal:
        assert await journal.append(fact(4)) == [2]


async def test_closing_does_not_wait_for_a_disk_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = MissionJournal.open(tmp_path / 'journal.db', clock=FakeClock())
    fault = Fault(journal, 'commit', monkeypatch)
    fault.may_go.clear()
    journal.defer(fact(1))
    await fault.reached()
    await asyncio.wait_for(journal.close(timeout_s=0.05), BOUND_S)
    assert 'does not answer' in caplog.text
    fault.may_go.set()
    await asyncio.to_thread(journal._writer._thread.join, BOUND_S)


async def test_a_record_of_another_program_stops_the_writing(tmp_path: Path) -> None:
    """Our own tail is known: what another program appended is never built upon."""
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute(
                'INSERT INTO events (seq, schema_version, type, wall_time_ns, payload, chain)'
                " VALUES (2, 1, 'SALIENT_EVENT', 0, '{}', 'forged')"
            )
        with pytest.raises(JournalUnavailableError, match='another program'):
            await journal.append(fact(2))
        await journal.close(timeout_s=SHORT_S)
    with pytest.raises(JournalCorruptError, match='record 2'):
        MissionJournal.open(path, clock=FakeClock())


async def test_a_trigger_that_drops_records_is_noticed_at_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, write_timeout_s=SHORT_S) as journal:
        await journal.append(fact(1))
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute(
                'CREATE TRIGGER drops BEFORE INSERT ON events WHEN NEW.seq = 3'
                ' BEGIN SELECT RAISE(IGNORE); END'
            )
        with pytest.raises(JournalUnavailableError, match=r'journal\.db: a trigger .*drop it'):
            await journal.append(fact(2), fact(3))
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute('DROP TRIGGER drops')
        assert await journal.append(fact(2)) == [2]
    assert numbers(path) == [1, 2]
    assert_journal(path)


async def test_what_a_killed_writer_said_was_written_is_there(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    with Helper(WRITER, path, Path(__file__).parent, *sys.path) as writer:
        said = [int(writer.hear()) for _ in range(200)]
        writer.process.kill()
        writer.process.wait(BOUND_S)
        rest = writer.process.stdout
        assert rest is not None
        said += [int(line) for line in rest.read().split('\n') if line.strip()]
    assert path.with_name('journal.db-wal').stat().st_size > 0
    with JournalReader(path) as reader:
        assert reader.last_seq >= said[-1]
    async with opened(path) as journal:
        assert journal.last_seq in (said[-1], said[-1] + 1)
        await journal.append(fact(journal.last_seq + 1))
    found = numbers(path)
    assert found == list(range(1, len(found) + 1))
    assert_journal(path)


STEPS = st.lists(
    st.sampled_from(['append', 'defer', 'break begin', 'break commit', 'mend', 'wait']),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_whatever_fails_when_facts_keep_their_order_and_failures_leave_no_trace(
    steps: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'journal.db'
        must: list[int] = []

        async def main() -> None:
            loop = asyncio.get_running_loop()
            journal = MissionJournal.open(
                path, clock=FakeClock(monotonic=loop.time), inline=True, write_timeout_s=1.0
            )
            with pytest.MonkeyPatch.context() as monkeypatch:
                faults = {step: Fault(journal, step, monkeypatch) for step in ('begin', 'commit')}
                for number, step in enumerate(steps):
                    if step == 'append':
                        begin = loop.time()
                        with contextlib.suppress(JournalUnavailableError):
                            await journal.append(fact(number))
                            must.append(number)
                        assert loop.time() - begin <= 1.0 + 1e-6
                    elif step == 'defer':
                        must.append(number)
                        journal.defer(fact(number))
                    elif step.startswith('break'):
                        fault = faults[step.split()[1]]
                        fault.error = sqlite3.OperationalError('disk I/O error')
                    elif step == 'mend':
                        for fault in faults.values():
                            fault.error = None
                    else:
                        await asyncio.sleep(0.7)
                for fault in faults.values():
                    fault.error = None
                await journal.close()

        run_virtual(main())
        assert numbers(path) == must
        assert_journal(path)
