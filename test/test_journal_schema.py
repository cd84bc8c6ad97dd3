# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal's table, chain, triggers and view, as CONTRACT has them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
import sqlite3
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from journal_rig import fact, opened, progress, rows
import pytest
from sqlite_utils import Database

from robot_agent_harness.events import (
    Correlation,
    ModelResponseRecorded,
    ModelTurnStarted,
    ToolCallRecorded,
)
from robot_agent_harness.journal.migrations import migrations
from robot_agent_harness.journal.schema import (
    chain_of,
    CHAINED_COLUMNS,
    COLUMNS,
    SCHEMA_USER_VERSION,
)
from robot_agent_harness.jsonable import canonical_json

pytestmark = pytest.mark.anyio


async def test_the_table_is_that_of_the_contract(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        pass
    db = Database(journal.path)
    table = db.table('events')
    assert [(column.name, column.type) for column in table.columns] == [
        ('seq', 'INTEGER'),
        ('schema_version', 'INTEGER'),
        ('type', 'TEXT'),
        ('wall_time_ns', 'INTEGER'),
        ('ros_time_ns', 'INTEGER'),
        ('mission_id', 'TEXT'),
        ('turn_id', 'TEXT'),
        ('tool_call_id', 'TEXT'),
        ('action_id', 'TEXT'),
        ('snapshot_id', 'TEXT'),
        ('payload', 'TEXT'),
        ('chain', 'TEXT'),
    ]
    assert table.pks == ['seq']
    assert [column.name for column in table.columns] == list(COLUMNS)
    db.close()


async def test_a_third_party_can_recompute_the_chain_as_documented(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        await journal.append(fact(1, 'Grüße "\\ \u2028 😀'), progress(2), fact(3))
    connection = sqlite3.connect(journal.path)
    connection.row_factory = sqlite3.Row
    previous = ''
    for record in connection.execute('SELECT * FROM events ORDER BY seq'):
        columns = dict(record)
        chain = columns.pop('chain')
        text = previous + json.dumps(
            columns, sort_keys=True, separators=(',', ':'), ensure_ascii=True
        )
        previous = hashlib.sha256(text.encode('ascii')).hexdigest()
        assert chain == previous
    connection.close()


TEXT = st.text(max_size=20)
NUMBER = st.integers(-(2**63), 2**63 - 1)
ROW = st.tuples(NUMBER, NUMBER, TEXT, NUMBER, st.none() | NUMBER, *[st.none() | TEXT] * 5, TEXT)


@given(TEXT.filter(str.isascii), ROW)
def test_the_chain_is_over_the_canonical_json(previous: str, row: tuple[Any, ...]) -> None:
    text = previous + canonical_json(dict(zip(CHAINED_COLUMNS, row, strict=True)))
    assert chain_of(previous, row) == hashlib.sha256(text.encode('ascii')).hexdigest()


@pytest.mark.parametrize(
    'statement',
    [
        "UPDATE events SET payload = '{}'",
        'UPDATE events SET seq = 5 WHERE seq = 2',
        'DELETE FROM events',
        'DELETE FROM events WHERE seq = 2',
        'INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 1',
        'REPLACE INTO events SELECT * FROM events WHERE seq = 2',
        "INSERT INTO events SELECT 9, 1, 'X', 0, 0, '', '', '', '', '', '{}', ''",
        "INSERT INTO events SELECT 0, 1, 'X', 0, 0, '', '', '', '', '', '{}', ''",
    ],
)
async def test_no_statement_changes_a_record_or_leaves_a_gap(
    tmp_path: Path, statement: str
) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        await journal.append(fact(1), fact(2))
        before = rows(journal.path)
        connection = sqlite3.connect(journal.path)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        connection.close()
        assert rows(journal.path) == before


def response(turn_id: str, rationale: str | None, thinking: str | None) -> Any:
    event = ModelResponseRecorded(
        rationale=rationale,
        thinking=thinking,
        tool_calls=[],
        usage={},
        stop_reason=None,
        provider='scripted',
        model=None,
    )
    return event, Correlation(mission_id='m', turn_id=turn_id)


def call(turn_id: str | None, name: str, purpose: str | None) -> Any:
    event = ToolCallRecorded(
        name=name,
        arguments={'x': 1},
        decision_snapshot_id=None,
        purpose=purpose,
        expected_outcome=None,
    )
    return event, Correlation(mission_id='m', turn_id=turn_id, tool_call_id=f'call-{name}')


def turn(turn_id: str, step: int) -> Any:
    event = ModelTurnStarted(
        step=step,
        trigger='mission_started',
        system_prompt='be careful',
        user_prompt=f'step {step}',
    )
    return event, Correlation(mission_id='m', turn_id=turn_id)


async def test_the_decision_log_has_a_row_for_each_decision_of_the_model(tmp_path: Path) -> None:
    async with opened(tmp_path / 'journal.db') as journal:
        await journal.append(
            turn('t1', 1),
            response('t1', 'look first', 'hm'),
            call('t1', 'get_world_snapshot', None),
            call(None, 'list_places', None),  # of an MCP client: no decision of our model
            response('t1', None, None),
            call('t1', 'navigate_to_pose', 'arrive'),
            call('t1', 'navigate_to_place', 'arrive twice'),
            turn('t2', 2),
            response('t2', 'done', None),
        )
    connection = sqlite3.connect(journal.path)
    log = connection.execute(
        'SELECT turn_id, step, system_prompt, user_prompt, tool_name, arguments, rationale,'
        ' thinking, purpose, expected_outcome FROM decision_log ORDER BY seq, tool_call_id'
    ).fetchall()
    connection.close()
    one = ('t1', 1, 'be careful', 'step 1')
    assert log == [
        (*one, 'get_world_snapshot', '{"x":1}', 'look first', 'hm', None, None),
        (*one, 'navigate_to_pose', '{"x":1}', None, None, 'arrive', None),
        ('t2', 2, 'be careful', 'step 2', None, None, 'done', None, None, None),
    ]


def test_every_migration_has_a_name_and_counts_in_the_version() -> None:
    db = Database(memory=True)
    migrations.apply(db)
    applied = [migration.name for migration in migrations.applied(db)]
    assert applied == ['0001_events', '0002_decisions_and_usage', '0003_find_by_type_and_time']
    (version,) = db.execute('PRAGMA user_version').fetchone()
    assert version == SCHEMA_USER_VERSION == len(applied)
    db.close()


def test_migrations_only_add() -> None:
    """What a release made is still there, with every column, after all later migrations."""
    old, new = Database(memory=True), Database(memory=True)
    migrations.apply(new)
    for number in range(1, SCHEMA_USER_VERSION + 1):
        names = [migration.name for migration in migrations.applied(new)]
        migrations.apply(old, stop_before=names[number:] or None)
        for table in old.tables:
            columns = {column.name for column in table.columns}
            assert columns <= {column.name for column in new.table(table.name).columns}
        assert {view.name for view in old.views} <= {view.name for view in new.views}
    old.close()
    new.close()
