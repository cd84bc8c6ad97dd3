# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal's named migrations, for who writes it: a reader takes a file as it is.

Migrations only add: a table, a column, an index, a view, or columns of a view, which is made anew
for it. A released migration is never edited.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from robot_agent_harness.events import EventType
from robot_agent_harness.journal.schema import (
    APPLICATION_ID,
    DECISION_LOG,
    MISSION_USAGE,
    TIME_INDEX,
)

migrations = Migrations('robot_agent_harness.journal')
"""Every change of the schema, by name, in order; the file's `user_version` is their number."""


@migrations(name='0001_events')
def _create_events(db: Database) -> None:
    """Create the events, what finds them, and what keeps them as they are."""
    db.execute(f'PRAGMA application_id = {APPLICATION_ID}')
    db.table('meta').create({'key': str, 'value': str}, pk='key', not_null={'key'})
    db.table('events').create(
        {
            'seq': int,
            'schema_version': int,
            'type': str,
            'wall_time_ns': int,
            'ros_time_ns': int,
            'mission_id': str,
            'turn_id': str,
            'tool_call_id': str,
            'action_id': str,
            'snapshot_id': str,
            'payload': str,
            'chain': str,
        },
        pk='seq',
        not_null={'schema_version', 'type', 'wall_time_ns', 'payload', 'chain'},
    )
    # Partial: a row pays only for the ids that it has.
    for column in ('mission_id', 'turn_id', 'tool_call_id', 'action_id'):
        db.execute(f'CREATE INDEX events_{column} ON events({column}) WHERE {column} IS NOT NULL')
    db.execute(
        'CREATE INDEX events_snapshots ON events(snapshot_id)'
        f" WHERE type = '{EventType.WORLD_SNAPSHOT_CAPTURED.value}'"
    )
    for verb in ('UPDATE', 'DELETE'):
        db.execute(
            f'CREATE TRIGGER events_refuse_{verb.lower()} BEFORE {verb} ON events BEGIN'
            " SELECT RAISE(ABORT, 'the journal is append-only'); END"
        )
    # INSERT OR REPLACE would delete without a DELETE trigger; it needs a seq that exists.
    db.execute(
        'CREATE TRIGGER events_no_gap BEFORE INSERT ON events'
        ' WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events) BEGIN'
        " SELECT RAISE(ABORT, 'seq must be the next number'); END"
    )
    db.create_view('decision_log', _DECISION_LOG_1)
    db.execute('PRAGMA user_version = 1')


_DECISION_LOG_1 = """
SELECT response.seq AS seq,
       response.mission_id AS mission_id,
       response.turn_id AS turn_id,
       json_extract(turn.payload, '$.step') AS step,
       json_extract(turn.payload, '$.system_prompt') AS system_prompt,
       json_extract(turn.payload, '$.user_prompt') AS user_prompt,
       call.tool_call_id AS tool_call_id,
       json_extract(call.payload, '$.name') AS tool_name,
       json_extract(call.payload, '$.arguments') AS arguments,
       json_extract(response.payload, '$.rationale') AS rationale,
       json_extract(response.payload, '$.thinking') AS thinking,
       json_extract(call.payload, '$.purpose') AS purpose,
       json_extract(call.payload, '$.expected_outcome') AS expected_outcome
FROM events AS response
LEFT JOIN events AS turn ON turn.seq = (
    SELECT max(t.seq) FROM events AS t
    WHERE t.turn_id = response.turn_id AND t.type = 'MODEL_TURN_STARTED' AND t.seq < response.seq)
LEFT JOIN events AS call ON call.type = 'TOOL_CALL_RECORDED'
    AND call.turn_id = response.turn_id
    AND call.seq > response.seq
    AND NOT EXISTS (
        SELECT 1 FROM events AS later
        WHERE later.turn_id = response.turn_id AND later.type = 'MODEL_RESPONSE_RECORDED'
          AND later.seq > response.seq AND later.seq < call.seq)
WHERE response.type = 'MODEL_RESPONSE_RECORDED'
"""
"""As schema 1 had it: a row for each call, and for each failed attempt as well."""


@migrations(name='0002_decisions_and_usage')
def _count_decisions_and_usage(db: Database) -> None:
    """Give each decision one row, and each mission what its model was asked and has cost."""
    db.execute('DROP VIEW decision_log')
    db.create_view('decision_log', DECISION_LOG)
    db.create_view('mission_usage', MISSION_USAGE)
    db.execute('PRAGMA user_version = 2')


@migrations(name='0003_find_by_type_and_time')
def _find_by_type_and_time(db: Database) -> None:
    """Let a million records be searched by their type and by when they were recorded."""
    db.execute('CREATE INDEX events_type ON events(type)')
    db.execute('CREATE INDEX events_outside ON events(type) WHERE mission_id IS NULL')
    db.execute(f'CREATE INDEX {TIME_INDEX} ON events(wall_time_ns)')
    db.execute('PRAGMA user_version = 3')
