# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The shipped metadata for Datasette: every canned query answers on a real journal."""

from __future__ import annotations

import contextlib
from pathlib import Path
import re
import sqlite3
from typing import Any

from export_rig import events_of, HOSTILE, make_journal, MISSION
import pytest
import yaml

from robot_agent_harness.resources import config_path

METADATA = yaml.safe_load(config_path('datasette/metadata.yaml').read_text(encoding='utf-8'))
DATABASE = METADATA['databases']['journal']
QUERIES = DATABASE['queries']
DOCS = Path(__file__).resolve().parents[1] / 'docs' / 'export.md'


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_journal(tmp_path_factory.mktemp('datasette') / 'journal.db')


def ask(journal: Path, name: str, **given: str) -> list[dict[str, Any]]:
    """Run a canned query as Datasette does: read-only, with the values of a form."""
    sql = QUERIES[name]['sql']
    assert set(re.findall(r'(?<!:):(\w+)', re.sub("'[^']*'", '', sql))) == given.keys()
    with contextlib.closing(sqlite3.connect(f'file:{journal}?mode=ro', uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, given)]


@pytest.mark.parametrize('name', sorted(set(QUERIES) - {'mission_timeline', 'unfinished'}))
def test_each_canned_query_finds_something_on_a_real_journal(name: str, journal: Path) -> None:
    assert ask(journal, name)


@pytest.mark.parametrize('name', sorted(QUERIES))
def test_each_canned_query_says_what_it_is_and_is_in_the_docs(name: str) -> None:
    assert QUERIES[name].keys() == {'title', 'description', 'sql'}
    assert f'`{name}`' in DOCS.read_text(encoding='utf-8')


def test_missions_are_listed_with_outcome_actions_and_cost(journal: Path) -> None:
    (mission,) = ask(journal, 'missions')
    assert (mission['mission_id'], mission['outcome']) == (MISSION, 'not_achieved')
    assert (mission['actions'], mission['model_calls']) == (2, 4)
    assert mission['duration_s'] > 10.0


def test_a_mission_is_told_record_by_record(journal: Path) -> None:
    told = ask(journal, 'mission_timeline', mission_id=MISSION)
    own = [event for event in events_of(journal) if event.mission_id == MISSION]
    assert [row['seq'] for row in told] == [event.seq for event in own]
    assert [row['type'] for row in told if not row['says']] == []
    checked = [row['says'] for row in told if row['type'] == 'ACTION_PRECONDITION_CHECKED']
    assert checked == ['all checks hold', 'a check failed', 'all checks hold']


def test_decisions_are_told_with_what_came_of_them(journal: Path) -> None:
    finish, third, overtaken, first = ask(journal, 'decisions')
    assert finish['tool_name'] == 'finish_mission'
    assert (first['status'], first['state'], first['reason']) == (
        'accepted',
        'SUCCEEDED',
        'verified',
    )
    assert (overtaken['status'], overtaken['state']) == ('precondition_changed', None)
    assert (third['state'], third['reason']) == ('FAILED', 'verification_disproved')


def test_outcomes_are_counted_by_reason(journal: Path) -> None:
    told = {
        (row['state'], row['reason']): row['actions'] for row in ask(journal, 'outcomes_by_reason')
    }
    assert told == {('SUCCEEDED', 'verified'): 2, ('FAILED', 'verification_disproved'): 1}


def test_failed_checks_are_told_with_what_was_measured(journal: Path) -> None:
    (check,) = ask(journal, 'failed_checks')
    assert (check['check_name'], check['tool_name']) == ('pose_drift', 'navigate_to_pose')
    assert check['measured'] > check['allowed'] == 0.5


def test_calls_are_counted_by_tool_client_and_status(journal: Path) -> None:
    told = {
        (row['tool_name'], row['client'], row['status']): row['calls']
        for row in ask(journal, 'calls_by_status')
    }
    assert told['navigate_to_pose', 'model', 'accepted'] == 2
    assert told['navigate_to_pose', 'mcp', 'accepted'] == 1
    # SQLite's text functions end at a NUL.
    assert told[HOSTILE.partition('\0')[0], 'mcp', 'unknown_tool'] == 1


def test_what_has_no_end_is_found(journal: Path, tmp_path: Path) -> None:
    assert ask(journal, 'unfinished') == []
    cut = tmp_path / 'journal.db'
    cut.write_bytes(journal.read_bytes())
    begun = next(e for e in events_of(journal) if e.type == 'ROBOT_ACTION_STARTED')
    with contextlib.closing(sqlite3.connect(cut)) as connection, connection:
        connection.execute('DROP TRIGGER events_refuse_delete')
        connection.execute('DELETE FROM events WHERE seq > ?', (begun.seq,))
    assert [row['type'] for row in ask(cut, 'unfinished')] == [
        'MISSION_STARTED',
        'TOOL_CALL_RECORDED',
        'ROBOT_ACTION_STARTED',
    ]


def test_tables_views_columns_and_facets_are_those_of_the_journal(journal: Path) -> None:
    with contextlib.closing(sqlite3.connect(journal)) as connection:
        for table, told in DATABASE['tables'].items():
            columns = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
            assert columns, f'{table}: there is no such table'
            named = {*told.get('facets', ()), *told.get('columns', ())}
            assert named | {told.get('sort_desc')} - {None} <= columns, table
        # Facets count all rows: each needs its index, or a long journal's page takes seconds.
        for facet in DATABASE['tables']['events']['facets']:
            plan = connection.execute(
                f'EXPLAIN QUERY PLAN SELECT {facet}, count(*) FROM events'
                f' WHERE {facet} IS NOT NULL GROUP BY {facet}'
            ).fetchall()
            assert any(f'events_{facet}' in row[3] for row in plan), facet
