# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal of an older release is taken over as it lies, and one of a newer release is refused.

`journals/release_0_1_0.sql` is what release 0.1.0 wrote; the next schema is made up here and goes
through the same mechanism.
"""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
import sqlite3
from typing import Any

from journal_rig import content, fact, of_first_release, opened, rows
import pytest
from sqlite_utils import Database, Migrations

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import JournalTooNewError, JournalUnavailableError
from robot_agent_harness.journal import (
    database,
    JournalReader,
    MissionJournal,
    MissionUsage,
    soundness,
)
from robot_agent_harness.journal.migrations import migrations
from robot_agent_harness.journal.schema import COLUMNS, SCHEMA_USER_VERSION
from robot_agent_harness.testing import check_journal

ALL_COLUMNS = ', '.join(COLUMNS)
NEXT = '0004_of_the_test'
pytestmark = pytest.mark.anyio


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Make the file that a user of release 0.1.0 has."""
    path = tmp_path / 'journal.db'
    with contextlib.closing(of_first_release(path)) as connection:
        connection.execute('PRAGMA journal_mode = WAL')
    return path


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch) -> Migrations:
    """Let this release know one migration more."""
    more = Migrations(migrations.name)
    for migration in migrations._migrations:
        more(name=migration.name)(migration.fn)

    @more(name=NEXT)
    def _add(db: Database) -> None:
        db.execute('ALTER TABLE events ADD COLUMN operator TEXT')
        db.execute('CREATE INDEX events_operator ON events(operator) WHERE operator IS NOT NULL')
        db.execute('CREATE TABLE notes (seq INTEGER, note TEXT)')
        db.execute(f'PRAGMA user_version = {SCHEMA_USER_VERSION + 1}')

    monkeypatch.setattr('robot_agent_harness.journal.migrations.migrations', more)
    for module in (database, soundness):
        monkeypatch.setattr(module, 'SCHEMA_USER_VERSION', SCHEMA_USER_VERSION + 1)
    return more


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


async def test_a_journal_of_the_first_release_is_migrated_where_it_lies(old: Path) -> None:
    before = rows(old, ALL_COLUMNS)
    assert ask(old, 'PRAGMA user_version') == [(1,)]

    async with opened(old) as journal:
        [seq] = await journal.append(fact(1))

    assert ask(old, 'PRAGMA user_version') == [(SCHEMA_USER_VERSION,)]
    after = rows(old, ALL_COLUMNS)
    assert after[:-1] == before
    assert (seq, after[-1][0]) == (len(before) + 1, len(before) + 1)
    assert check_journal(old) == []
    assert {name for (name,) in ask(old, 'SELECT name FROM sqlite_master')} == _fresh_names()


def _fresh_names() -> set[str]:
    with contextlib.closing(Database(memory=True)) as db:
        migrations.apply(db)
        return {name for (name,) in db.execute('SELECT name FROM sqlite_master').fetchall()}


async def test_a_migrated_journal_answers_what_the_old_one_could_not(old: Path) -> None:
    assert len(ask(old, 'SELECT * FROM decision_log')) == 5
    async with opened(old):
        pass
    log = ask(old, 'SELECT tool_name, rationale, purpose FROM decision_log ORDER BY seq')
    assert log == [
        ('list_places', 'Where is what?', None),
        ('navigate_to_pose', 'The way is free.', 'look'),
        ('finish_mission', None, None),
    ]
    assert ask(
        old, 'SELECT mission_id, model_calls, failed_calls, model_s FROM mission_usage'
    ) == [('mission-a', 4, 1, None)]


def test_a_reader_reads_an_old_journal_and_migrates_nothing(old: Path) -> None:
    before = content(old)
    with JournalReader(old) as reader:
        assert reader.verify_chain() == reader.last_seq == len(list(reader.events()))
        assert [mission.outcome for mission in reader.missions()] == ['achieved']
        assert reader.usage() == {'mission-a': MissionUsage(4, 1, 0, 0, None, None, None)}
    assert check_journal(old) == []
    assert content(old) == before


async def test_the_next_schema_is_reached_from_every_release(
    old: Path, tmp_path: Path, next_schema: Migrations
) -> None:
    for path in (old, tmp_path / 'new.db'):
        async with opened(path) as journal:
            await journal.append(fact(1))
        names = [done.name for done in next_schema.applied(Database(path))]
        assert names == [
            '0001_events',
            '0002_decisions_and_usage',
            '0003_find_by_type_and_time',
            NEXT,
        ]
        assert ask(path, 'SELECT count(*), count(operator) FROM events')[0][1] == 0
        assert check_journal(path) == []
    assert rows(old, ALL_COLUMNS)[:-1] == _records_of_the_first_release()


def _records_of_the_first_release() -> list[tuple[Any, ...]]:
    with contextlib.closing(of_first_release(':memory:')) as connection:
        return connection.execute(f'SELECT {ALL_COLUMNS} FROM events ORDER BY seq').fetchall()


async def test_what_the_next_schema_wrote_is_refused_by_this_release_and_left_as_it_is(
    old: Path, next_schema: Migrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(old):
        pass
    monkeypatch.undo()
    before = content(old)
    for use in (JournalReader, partial(MissionJournal.open, clock=SystemClock())):
        with pytest.raises(JournalTooNewError, match='schema 4, and .* knows up to 3: upgrade'):
            use(old)
    assert content(old) == before


async def test_a_migration_that_fails_leaves_the_journal_as_it_was(
    old: Path, next_schema: Migrations
) -> None:
    before = rows(old, ALL_COLUMNS)

    @next_schema(name='0005_breaks')
    def _break(db: Database) -> None:
        db.execute('CREATE TABLE half (x)')
        db.execute('CREATE TABLE events (x)')

    with pytest.raises(JournalUnavailableError, match='events'):
        MissionJournal.open(old, clock=SystemClock())
    assert rows(old, ALL_COLUMNS) == before
    assert ask(old, "SELECT name FROM sqlite_master WHERE name = 'half'") == []
    assert ask(old, 'PRAGMA user_version') == [(SCHEMA_USER_VERSION + 1,)]
    with JournalReader(old) as reader:
        assert reader.verify_chain() == len(before)
