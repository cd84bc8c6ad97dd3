# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading a journal: beside its writer, after its end, and where nothing may be written."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
import sqlite3
import subprocess
import sys

from journal_rig import BOUND_S, fact, Helper, opened, progress, WRITER
import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.errors import JournalCorruptError, JournalUnavailableError
from robot_agent_harness.events import (
    Correlation,
    Event,
    EventType,
    MissionEnded,
    MissionStarted,
    RobotActionOutcome,
    RobotActionStarted,
    ToolCallRecorded,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.journal.search import PAGE_ROWS

pytestmark = pytest.mark.anyio
Entry = tuple[Event, Correlation]


def started(mission_id: str, instruction: str = 'go') -> Entry:
    event = MissionStarted(instruction=instruction, robot_id='r', provider='scripted', max_steps=3)
    return event, Correlation(mission_id=mission_id)


def ended(mission_id: str) -> Entry:
    event = MissionEnded(outcome='achieved', reason='done', summary='', steps=1)
    return event, Correlation(mission_id=mission_id)


def call(number: int) -> Entry:
    event = ToolCallRecorded(
        name='navigate_to_pose',
        arguments={'x': 1.0},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
    )
    return event, Correlation(mission_id='m1', tool_call_id=f'call-{number}')


def result(number: int) -> Entry:
    event = ToolResultRecorded(status='accepted', is_error=False, structured={})
    return event, Correlation(mission_id='m1', tool_call_id=f'call-{number}')


def action(number: int) -> Entry:
    event = RobotActionStarted(skill='navigate_to_pose', goal={'x': float(number)})
    ids = Correlation(mission_id='m1', tool_call_id=f'call-{number}', action_id=f'action-{number}')
    return event, ids


def outcome(number: int) -> Entry:
    event = RobotActionOutcome(
        state='FAILED', reason='aborted', evidence={}, verification_snapshot_id=None
    )
    return event, Correlation(mission_id='m1', action_id=f'action-{number}')


async def test_records_come_back_as_they_were_written_through_every_filter(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(started('m1'), call(1), action(1), progress(7), started('m2'))
        await journal.append(outcome(1), result(1), ended('m1'))
        with JournalReader(path) as reader:
            everything = list(reader.events())
            assert [event.seq for event in everything] == list(range(1, 9))
            assert everything[1].payload['arguments'] == {'x': 1.0}
            assert everything[1].type == 'TOOL_CALL_RECORDED'

            def seqs(**filters: object) -> list[int]:
                return [event.seq for event in reader.events(**filters)]  # type: ignore[arg-type]

            assert seqs(mission_id='m2') == [5]
            assert seqs(action_id='action-1') == [3, 6]
            assert seqs(tool_call_id='call-1') == [2, 3, 7]
            assert seqs(type=EventType.MISSION_STARTED) == [1, 5]
            assert seqs(type='MISSION_STARTED', mission_id='m1') == [1]
            assert seqs(after_seq=6) == [7, 8]
            assert seqs(limit=2) == [1, 2]
            assert seqs(after_seq=2, limit=3, mission_id='m1') == [3, 6, 7]
            assert seqs(limit=0) == []
            assert seqs(mission_id="m1' OR '1'='1") == []
            assert reader.last_seq == 8


async def test_reading_is_lazy_and_sees_what_is_written_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(*(fact(number) for number in range(PAGE_ROWS + 1)))
        with JournalReader(path) as reader:
            events = reader.events()
            assert next(events).seq == 1
            await journal.append(fact(0))
            assert [event.seq for event in events] == list(range(2, PAGE_ROWS + 3))
            assert list(reader.events(limit=PAGE_ROWS + 1))[-1].seq == PAGE_ROWS + 1


async def test_open_work_is_what_has_begun_and_not_ended(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(started('m0'), ended('m0'), started('m1'))
        await journal.append(call(1), action(1), result(1), outcome(1))
        await journal.append(call(2), action(2), result(2))
        await journal.append(call(3))
        with JournalReader(path) as reader:
            work = reader.open_work()
    assert [event.tool_call_id for event in work.calls] == ['call-3']
    assert [(event.action_id, event.payload['goal']) for event in work.actions] == [
        ('action-2', {'x': 2.0})
    ]
    assert [event.mission_id for event in work.missions] == ['m1']


async def test_missions_are_listed_in_order_with_their_ends(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(started('b', 'dock'), started('a', 'go'), ended('b'), fact(1))
        with JournalReader(path) as reader:
            missions = reader.missions()
            first = next(reader.events())
    assert [(m.mission_id, m.instruction, m.outcome, m.events) for m in missions] == [
        ('b', 'dock', 'achieved', 2),
        ('a', 'go', None, 1),
        ('mission-1', None, None, 1),
    ]
    assert missions[0].started_wall_ns == first.wall_time_ns
    assert missions[0].ended_wall_ns is not None
    assert missions[1].ended_wall_ns is None


async def test_a_snapshot_is_found_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    event = WorldSnapshotCaptured(reason='requested', snapshot={'snapshot_id': 's1', 'x': 1})
    async with opened(path) as journal:
        await journal.append(
            (fact(1)[0], Correlation(snapshot_id='s1')), (event, Correlation(snapshot_id='s1'))
        )
        with JournalReader(path) as reader:
            assert reader.snapshot('s1') == {'snapshot_id': 's1', 'x': 1}
            assert reader.snapshot('s2') is None


SPY = """
import sys
sys.path[:] = sys.argv[2:]
from robot_agent_harness.journal import JournalReader
reader = JournalReader(sys.argv[1])
for line in sys.stdin:
    events = list(reader.events(after_seq=int(line)))
    print(len(events), reader.verify_chain(), flush=True)
"""


async def test_another_process_reads_while_the_harness_writes(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1))
        with Helper(SPY, path, *sys.path) as spy:
            for total in range(1, 6):
                spy.tell(str(total - 1))
                assert await asyncio.to_thread(spy.hear) == f'1 {total}'
                assert await journal.append(fact(total)) == [total + 1]


async def test_readers_see_whole_transactions_only(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        with JournalReader(path) as reader:
            stop = asyncio.Event()

            async def write() -> None:
                while not stop.is_set():
                    await journal.append(fact(1), fact(2), fact(3))

            writing = asyncio.ensure_future(write())
            seen = {await asyncio.to_thread(lambda: reader.last_seq) % 3 for _ in range(200)}
            stop.set()
            await writing
    assert seen == {0}


async def test_a_reader_that_stands_still_does_not_keep_the_log_growing(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(*(fact(number) for number in range(PAGE_ROWS + 10)))
        with JournalReader(path) as reader:
            events = reader.events()
            next(events)
            connection = journal._database._connection()
            checkpoint = connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
            assert checkpoint == (0, 0, 0)
            assert len(list(events)) == PAGE_ROWS + 9


async def test_a_closed_journal_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1))
    with JournalReader(path) as reader:
        assert reader.verify_chain() == 1
    reader.close()
    async with opened(path) as journal:
        assert await journal.append(fact(2)) == [2]


@contextlib.contextmanager
def read_only(folder: Path):  # type: ignore[no-untyped-def]
    """Make a folder a read-only file system."""
    for command in (
        ['mount', '--bind', folder, folder],
        ['mount', '-o', 'remount,ro,bind', folder],
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip('only root may mount')
    try:
        yield
    finally:
        subprocess.run(['umount', '-l', folder], check=True)


async def test_a_closed_journal_can_be_read_from_a_read_only_medium(tmp_path: Path) -> None:
    path = tmp_path / 'disk' / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1))
    with read_only(path.parent), JournalReader(path) as reader:
        assert reader.verify_chain() == 1


def test_a_killed_writers_journal_can_be_read_from_a_read_only_medium(tmp_path: Path) -> None:
    path = tmp_path / 'disk' / 'journal.db'
    with Helper(WRITER, path, Path(__file__).parent, *sys.path) as writer:
        while (said := int(writer.hear())) < 20:
            pass
        writer.process.kill()
        writer.process.wait(BOUND_S)
    path.with_name('journal.db-shm').unlink()
    with read_only(path.parent):
        reader = JournalReader(path)
        copy = reader._journal._copy
        assert copy is not None
        assert reader.verify_chain() >= said
        reader.close()
        assert not Path(copy.name).exists()


async def test_an_altered_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(*(fact(number) for number in range(2 * PAGE_ROWS)))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('DROP TRIGGER events_refuse_update')
        connection.execute('UPDATE events SET wall_time_ns = 0 WHERE seq = ?', (PAGE_ROWS + 1,))
        connection.execute(
            'CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events BEGIN SELECT 1; END'
        )
    with (
        JournalReader(path) as reader,
        pytest.raises(JournalCorruptError, match=f'record {PAGE_ROWS + 1} '),
    ):
        reader.verify_chain()


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(JournalUnavailableError, match=r'no journal .*nothing\.db'):
        JournalReader(tmp_path / 'nothing.db')
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_leads_nowhere_is_no_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    circle = tmp_path / 'circle.db'
    circle.symlink_to(circle.name)
    commands = ('verify', 'missions', 'show', 'events', 'tail', 'rotate', 'export')
    for nowhere in (str(circle), '~nobody-of-that-name/j.db', 'x' * 300):
        with pytest.raises(JournalUnavailableError, match=f'no journal {nowhere}'):
            JournalReader(nowhere)
        for told in (*(['journal', name] for name in commands), ['report'], ['replay']):
            assert main([*told, nowhere]) == 2
            lines = capsys.readouterr().err.splitlines()
            assert [nowhere in line for line in lines] == [True]


def test_a_record_is_found_by_an_id_that_no_file_can_hold_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    odd = 'half \ud83d'

    async def write() -> None:
        async with opened(path) as journal:
            await journal.append((fact(1)[0], Correlation(mission_id=odd)))

    asyncio.run(write())
    with JournalReader(path) as reader:
        assert [event.seq for event in reader.events(mission_id=odd)] == [1]
        assert list(reader.events(action_id='\udfff')) == []


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / 'empty.db'
    empty.touch()
    with pytest.raises(JournalCorruptError, match=r'empty\.db is empty: it was cut off'):
        JournalReader(empty)
    path = tmp_path / 'text.db'
    path.write_text('no database, but long enough to look at\n' * 99)
    with pytest.raises(JournalCorruptError, match=str(path)):
        JournalReader(path)
