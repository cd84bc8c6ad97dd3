# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal's writing side while all is well: order, durability, group commit, cancellation."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
import tempfile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from journal_rig import BOUND_S, fact, numbers, opened, progress, rows
import pytest

from robot_agent_harness.clock import NS_PER_S, SystemClock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import Correlation, Event
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.testing.fake_clock import FakeClock, WALL_START_NS
from robot_agent_harness.testing.journal_assertions import assert_journal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize('inline', [False, True])
async def test_append_returns_gapless_numbers_of_records_that_are_in_the_file(
    tmp_path: Path, inline: bool
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path, inline=inline) as journal:
        assert await journal.append(fact(1), fact(2)) == [1, 2]
        assert numbers(path) == [1, 2]
        future = journal.defer(fact(3))
        assert await journal.append(fact(4)) == [4]
        assert await future == [3]
        assert await journal.append() == []
        assert (journal.last_seq, journal.pending) == (4, 0)
        assert rows(path, 'chain')[-1] == (journal.last_chain,)
    assert numbers(path) == [1, 2, 3, 4]
    assert_journal(path)


async def test_a_later_run_goes_on_where_the_one_before_ended(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    for number in (1, 2, 3):
        async with opened(path) as journal:
            assert await journal.append(fact(number)) == [number]
    assert_journal(path)


async def test_times_are_those_of_the_submission(tmp_path: Path) -> None:
    clock = FakeClock(start_s=5.0)
    journal = MissionJournal.open(tmp_path / 'journal.db', clock=clock)
    clock.step_ros(-1.0)
    future = journal.defer(fact(1))
    clock.advance(60.0)
    await future
    await journal.close()
    assert rows(journal.path, 'wall_time_ns, ros_time_ns') == [
        (WALL_START_NS, WALL_START_NS - NS_PER_S)
    ]


async def test_every_id_is_in_its_column(tmp_path: Path) -> None:
    ids = Correlation('mission', 'turn', 'call', 'action', 'snapshot')
    async with opened(tmp_path / 'journal.db') as journal:
        await journal.append((fact(1)[0], ids), (fact(2)[0], Correlation()))
    columns = 'schema_version, type, mission_id, turn_id, tool_call_id, action_id, snapshot_id'
    assert rows(journal.path, columns) == [
        (1, 'SALIENT_EVENT', 'mission', 'turn', 'call', 'action', 'snapshot'),
        (1, 'SALIENT_EVENT', None, None, None, None, None),
    ]


async def test_concurrent_records_share_commits(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        await asyncio.gather(*(journal.append(fact(number)) for number in range(200)))
        assert journal.commits <= 20
        alone = journal.commits
        for number in range(5):
            await journal.append(fact(number))
        assert journal.commits == alone + 5


async def test_what_one_step_of_the_loop_defers_and_then_appends_is_one_commit(
    tmp_path: Path,
) -> None:
    """So that a managed call waits for the disk once before its goal is sent."""
    async with opened(tmp_path / 'journal.db') as journal:
        deferred = [journal.defer(fact(number)) for number in range(20)]
        assert await journal.append(fact(20)) == [21]
        assert journal.commits == 1
        assert [future.result() for future in deferred] == [[number + 1] for number in range(20)]


async def test_what_is_deferred_alone_is_written_without_a_further_call(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        assert await asyncio.wait_for(journal.defer(fact(1)), 10.0) == [1]


async def test_an_append_of_several_records_is_one_transaction(tmp_path: Path) -> None:
    """Contiguous numbers, whoever else writes at the time."""
    async with opened(tmp_path / 'journal.db') as journal:
        groups = await asyncio.gather(
            *(journal.append(*(fact(number) for number in range(size))) for size in (1, 5, 2) * 20)
        )
    assert all(group == list(range(group[0], group[0] + len(group))) for group in groups)


async def test_a_cancelled_append_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        task = asyncio.ensure_future(journal.append(fact(1), fact(2)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await journal.append(fact(3)) == [3]
    assert numbers(path) == [1, 2, 3]


async def test_a_cancelled_deferred_future_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        journal.defer(fact(1)).cancel()
        await journal.append(fact(2))
    assert numbers(path) == [1, 2]


async def test_event_listeners_hear_each_record_once_in_order_also_when_nobody_awaits_it(
    tmp_path: Path,
) -> None:
    heard: list[tuple[int, Any]] = []

    def listener(seq: int, event: Event, ids: Correlation) -> None:
        assert ids.mission_id == 'mission-1'
        heard.append((seq, event.model_dump()['details']['number']))

    async with opened(tmp_path / 'journal.db') as journal:
        journal.add_event_listener(listener)
        journal.defer(fact(1)).cancel()
        task = asyncio.ensure_future(journal.append(fact(2), fact(3)))
        await asyncio.sleep(0)
        task.cancel()
        await journal.append(fact(4))
        await asyncio.sleep(0)
    assert heard == [(1, 1), (2, 2), (3, 3), (4, 4)]


async def test_an_event_listener_may_write_itself(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db', inline=True) as journal:
        heard: list[int] = []

        def listener(seq: int, event: Event, ids: Correlation) -> None:
            heard.append(seq)
            if seq == 1:
                journal.defer((event, ids))

        journal.add_event_listener(listener)
        await journal.append(fact(1), fact(2))
        for _ in range(3):
            await asyncio.sleep(0)
        assert heard == [1, 2, 3]


async def test_an_event_listener_that_fails_keeps_no_other_from_hearing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[int] = []

    def broken(seq: int, event: Event, ids: Correlation) -> None:
        raise RuntimeError('broken')

    async with opened(tmp_path / 'journal.db') as journal:
        journal.add_event_listener(broken)
        journal.add_event_listener(lambda seq, event, ids: heard.append(seq))
        await journal.append(fact(1), fact(2))
        await asyncio.sleep(0)
    assert heard == [1, 2]
    assert 'a listener failed on record 2' in caplog.text


async def test_closing_writes_what_is_queued_and_a_second_time_does_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        futures = [journal.defer(fact(number)) for number in range(50)]
        await asyncio.gather(journal.close(), journal.close())
        assert [future.result() for future in futures] == [[number + 1] for number in range(50)]
        assert not path.with_name('journal.db-wal').exists()
        assert not journal.healthy
        assert 'closed' in str(journal.last_error)
        with pytest.raises(JournalUnavailableError, match='closed'):
            await journal.append(fact(1))
        with pytest.raises(JournalUnavailableError, match='closed'):
            journal.defer(fact(1))
    assert numbers(path) == list(range(50))


async def test_the_loop_is_not_held_up_by_the_disk(tmp_path: Path) -> None:
    """While a commit is under way, other tasks run."""
    async with opened(tmp_path / 'journal.db') as journal:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        for number in range(20):
            await journal.append(fact(number))
        counting.cancel()
        assert turns > 20


@pytest.mark.parametrize('level', [('full', 2), ('normal', 1)])
async def test_the_durability_is_the_one_that_was_asked_for(
    tmp_path: Path, level: tuple[str, int]
) -> None:
    async with opened(tmp_path / 'journal.db', synchronous=level[0]) as journal:
        connection = journal._database._connection()
        assert connection.execute('PRAGMA synchronous').fetchone() == (level[1],)
        assert connection.execute('PRAGMA journal_mode').fetchone() == ('wal',)


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(['append', 'defer', 'pause', 'cancel']), st.integers(1, 3)),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(OPERATIONS, min_size=1, max_size=5))
def test_any_mix_of_tasks_gives_a_gapless_chain_in_the_order_of_submission(
    plans: list[list[tuple[str, int]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'journal.db'
        submitted: list[int] = []

        async def follow(journal: MissionJournal, plan: list[tuple[str, int]]) -> None:
            for what, size in plan:
                if what == 'pause':
                    for _ in range(size):
                        await asyncio.sleep(0)
                    continue
                begin = len(submitted)
                batch = list(range(begin, begin + size))
                if what == 'defer':
                    submitted.extend(batch)
                    journal.defer(*map(fact, batch))
                elif what == 'append':
                    submitted.extend(batch)
                    assert await journal.append(*map(fact, batch)) == [n + 1 for n in batch]
                else:
                    submitted.extend(batch)
                    journal.append(*map(fact, batch)).cancel()

        async def main() -> None:
            async with opened(path) as journal:
                await asyncio.gather(*(follow(journal, plan) for plan in plans))

        asyncio.run(asyncio.wait_for(main(), BOUND_S))
        assert numbers(path) == submitted
        assert_journal(path)


def test_futures_that_fail_unheard_complain_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, info: complaints.append(info))
        journal = MissionJournal.open(tmp_path / 'journal.db', clock=SystemClock())
        monkeypatch.setattr(journal._database, 'begin', _no_disk)
        journal.defer(fact(1))
        journal.defer(progress(2))
        await journal.close(timeout_s=0.05)

    asyncio.run(main())
    gc.collect()
    assert complaints == []


def _no_disk() -> None:
    raise OSError(5, 'Input/output error')


async def test_the_payload_is_canonical_json(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        await journal.append(fact(1, 'Grüße'))
    [(_, payload)] = rows(journal.path)
    assert payload.isascii()
    value = json.loads(payload)
    assert payload == json.dumps(value, sort_keys=True, separators=(',', ':'))
    assert value['message'] == 'Grüße'
