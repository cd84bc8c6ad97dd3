# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal as JSON Lines."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
import json
import os
from pathlib import Path
import sqlite3
import stat
import tracemalloc

from export_rig import as_entry, events_of, lengthen, make_journal, MISSION, record
from journal_rig import fact, opened
import pytest

from robot_agent_harness.errors import ConfigurationError, JournalCorruptError
from robot_agent_harness.events import SalientEvent
from robot_agent_harness.export import export_jsonl, Source
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.journal.schema import chain_of, CHAINED_COLUMNS, COLUMNS
from robot_agent_harness.journal.selection import Selection

MIB = 1024 * 1024


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_journal(tmp_path_factory.mktemp('jsonl') / 'journal.db')


def export(journal: Path, target: Path, **selection: str) -> list[str]:
    with JournalReader(journal) as reader:
        count = export_jsonl(Source(reader, Selection(**selection)), target)
    lines = target.read_text(encoding='ascii').splitlines()
    assert count == len(lines)
    return lines


def test_each_record_is_one_line_with_every_column_in_the_order_of_the_table(
    journal: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in export(journal, tmp_path / 'out.jsonl')]
    assert [tuple(line) for line in lines] == [COLUMNS] * len(lines)
    assert lines == [asdict(event) for event in events_of(journal)]


def test_the_chain_can_be_checked_on_the_lines_alone(journal: Path, tmp_path: Path) -> None:
    previous = ''
    for line in map(json.loads, export(journal, tmp_path / 'out.jsonl')):
        line['payload'] = json.dumps(line['payload'], separators=(',', ':'))
        previous = chain_of(previous, [line[column] for column in CHAINED_COLUMNS])
        assert previous == line['chain']


def test_two_exports_are_the_same_bytes(journal: Path, tmp_path: Path) -> None:
    assert export(journal, tmp_path / 'a') == export(journal, tmp_path / 'b')


def test_one_mission_is_exported_alone(journal: Path, tmp_path: Path) -> None:
    lines = export(journal, tmp_path / 'out.jsonl', mission_id=MISSION)
    assert {json.loads(line)['mission_id'] for line in lines} == {MISSION}


def test_a_mission_that_is_not_there_is_named_and_leaves_no_file(
    journal: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match='mission-none: not in'):
        export(journal, tmp_path / 'out.jsonl', mission_id='mission-none')
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_private_as_the_journal_is(journal: Path, tmp_path: Path) -> None:
    export(journal, tmp_path / 'out.jsonl')
    assert stat.S_IMODE((tmp_path / 'out.jsonl').stat().st_mode) == 0o600


@pytest.mark.parametrize('suffix', ['', '-wal', '-shm', '.lock'])
def test_the_journal_is_never_overwritten(suffix: str, tmp_path: Path) -> None:
    journal = record(tmp_path / 'journal.db', fact(1))
    before = journal.read_bytes()
    link = tmp_path / 'link'
    link.symlink_to(journal.with_name(journal.name + suffix))
    with pytest.raises(ConfigurationError, match='that is the journal itself'):
        export(journal, link)
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    ('target', 'why'), [('.', 'that is a folder'), ('none/out', 'No such file or directory')]
)
def test_a_file_that_cannot_be_written_is_named(
    target: str, why: str, journal: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=f'output .*: {why}'):
        export(journal, tmp_path / target)


def test_a_damaged_record_ends_the_export_and_an_older_file_stays(tmp_path: Path) -> None:
    journal = record(tmp_path / 'journal.db', fact(1), fact(2))
    export(journal, tmp_path / 'out.jsonl')
    before = (tmp_path / 'out.jsonl').read_text()
    connection = sqlite3.connect(journal)
    connection.execute('DROP TRIGGER events_refuse_update')
    connection.execute('UPDATE events SET payload = \'{"a":NaN}\' WHERE seq = 2')
    connection.commit()
    connection.execute(
        'CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events BEGIN'
        " SELECT RAISE(ABORT, 'the journal is append-only'); END"
    )
    connection.close()
    with pytest.raises(JournalCorruptError, match='record 2'):
        export(journal, tmp_path / 'out.jsonl')
    assert (tmp_path / 'out.jsonl').read_text() == before
    assert not list(tmp_path.glob('.out.jsonl.*'))


def test_a_journal_that_is_being_written_is_exported_as_it_was_at_the_beginning(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[int]:
        async with opened(tmp_path / 'journal.db') as journal:
            await journal.append(*(fact(number) for number in range(600)))
            with JournalReader(journal.path) as reader:
                events = Source(reader).events()
                seen = [next(events).seq]
                await journal.append(fact(601))
                seen += [event.seq for event in events]
            return seen

    assert asyncio.run(scenario()) == list(range(1, 601))


def test_no_text_breaks_a_line_in_two(tmp_path: Path) -> None:
    wild = 'a\u2028b\u2029c\x85d\ne\rf\x1c \ud800'
    event = SalientEvent(kind='human_message', message=wild)
    journal = record(tmp_path / 'journal.db', as_entry(event, mission_id='m\n1'))
    (line,) = export(journal, tmp_path / 'out.jsonl')
    assert json.loads(line)['payload']['message'] == wild.replace('\ud800', '\\ud800')
    assert json.loads(line)['mission_id'] == 'm\n1'


def test_a_long_journal_needs_no_more_memory_than_a_short_one(
    journal: Path, tmp_path: Path
) -> None:
    long = tmp_path / 'long.db'
    long.write_bytes(journal.read_bytes())
    lengthen(long, 8_000)
    peaks = []
    for one in (journal, long):
        with JournalReader(one) as reader:
            tracemalloc.start()
            try:
                export_jsonl(Source(reader), os.devnull)
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
    # A page of rows and what SQLite and Python keep for reuse; the records are 12 MiB of text.
    assert peaks[1] < 8 * MIB, peaks


def test_a_device_is_written_to_and_not_replaced(journal: Path) -> None:
    with JournalReader(journal) as reader:
        export_jsonl(Source(reader), os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
