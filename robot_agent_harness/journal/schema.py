# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
r"""The journal's columns and views, and the chain that ties each row to the one before.

**The chain**, for whoever wants to recompute it: take the row's columns other than `chain` as a
JSON object (column name -> value as stored; `payload` is the text itself, not parsed; NULL is
`null`), write it with sorted keys, no spaces and ASCII only (`\uXXXX` escapes in lower-case hex),
put the previous row's `chain` in front (nothing for `seq` 1), and take the SHA-256 of those ASCII
characters in lower-case hex.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
import hashlib
from json.encoder import encode_basestring_ascii
from typing import Any

APPLICATION_ID = 0x52414A31
"""SQLite's `application_id` of a journal: the ASCII letters `RAJ1`."""

COLUMNS = (
    'seq',
    'schema_version',
    'type',
    'wall_time_ns',
    'ros_time_ns',
    'mission_id',
    'turn_id',
    'tool_call_id',
    'action_id',
    'snapshot_id',
    'payload',
    'chain',
)
"""The columns of `events`, in order."""

CHAINED_COLUMNS = COLUMNS[:-1]
"""The columns that the chain covers."""

GENESIS = ''
"""What stands for the previous row's chain in front of the first row."""


def chain_of(previous: str, row: Sequence[object]) -> str:
    """Return the chain of a row.

    :param previous: the previous row's chain; :data:`GENESIS` for the first row.
    :param row: the values of :data:`CHAINED_COLUMNS`, in that order, as stored.
    """
    seq, version, kind, wall_ns, ros_ns, mission, turn, call, action, snapshot, payload = row
    # Written out, since this is half the work of a record: a test holds it to canonical_json.
    text = (
        f'{previous}{{"action_id":{_name(action)},"mission_id":{_name(mission)},'
        f'"payload":{_text(payload)},"ros_time_ns":{"null" if ros_ns is None else ros_ns},'
        f'"schema_version":{version},"seq":{seq},"snapshot_id":{_name(snapshot)},'
        f'"tool_call_id":{_name(call)},"turn_id":{_name(turn)},"type":{_name(kind)},'
        f'"wall_time_ns":{wall_ns}}}'
    )
    return hashlib.sha256(text.encode('ascii')).hexdigest()


def _text(value: Any) -> str:
    return 'null' if value is None else encode_basestring_ascii(value)


_name = lru_cache(maxsize=256)(_text)
"""The same of ids and types, which come again in the records that follow."""


def follows(previous: str, row: Sequence[object], chain: object) -> bool:
    """Return whether a stored row bears the chain that it should."""
    if not all(value is None or isinstance(value, (int, str)) for value in row):
        return False  # a BLOB or a fraction, where no journal has one
    try:
        return chain_of(previous, row) == chain
    except (TypeError, ValueError):  # a number in the place of a text
        return False


DECISION_LOG = """
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
       json_extract(call.payload, '$.expected_outcome') AS expected_outcome,
       nullif(json_extract(response.payload, '$.tool_calls'), '[]') AS tool_calls
FROM events AS response
LEFT JOIN events AS turn ON turn.seq = (
    SELECT t.seq FROM events AS t
    WHERE t.turn_id = response.turn_id AND +t.type = 'MODEL_TURN_STARTED' AND t.seq < response.seq
    ORDER BY t.seq DESC LIMIT 1)
LEFT JOIN events AS call ON call.seq = (
    SELECT c.seq FROM events AS c
    WHERE c.turn_id = response.turn_id AND +c.type = 'TOOL_CALL_RECORDED' AND c.seq > response.seq
      AND NOT EXISTS (
        SELECT 1 FROM events AS later
        WHERE later.turn_id = response.turn_id AND +later.type = 'MODEL_RESPONSE_RECORDED'
          AND later.seq > response.seq AND later.seq < c.seq)
    ORDER BY EXISTS (
        SELECT 1 FROM events AS checked
        WHERE checked.tool_call_id = c.tool_call_id
          AND +checked.type = 'ACTION_PRECONDITION_CHECKED') DESC,
        json_extract(c.payload, '$.purpose') IS NULL, c.seq
    LIMIT 1)
WHERE response.type = 'MODEL_RESPONSE_RECORDED'
  AND json_extract(response.payload, '$.error') IS NULL
"""
"""One row a decision of the model, which is an answer: not a failed attempt at one. Of several
calls it is about the one that was to move the robot, else the first; `tool_calls` has them all. A
plus keeps SQLite from looking through all records of a type where an id has a handful."""

MISSION_USAGE = """
SELECT mission_id,
       count(*) AS model_calls,
       count(json_extract(payload, '$.error')) AS failed_calls,
       coalesce(sum(json_extract(payload, '$.usage.input_tokens')), 0) AS input_tokens,
       coalesce(sum(json_extract(payload, '$.usage.output_tokens')), 0) AS output_tokens,
       sum(json_extract(payload, '$.usage.cache_read_input_tokens')) AS cache_read_input_tokens,
       sum(json_extract(payload, '$.usage.cache_creation_input_tokens'))
           AS cache_creation_input_tokens,
       sum(json_extract(payload, '$.duration_s')) AS model_s
FROM events
WHERE type = 'MODEL_RESPONSE_RECORDED' AND mission_id IS NOT NULL
GROUP BY mission_id
ORDER BY min(seq)
"""
"""One row a mission whose model was asked, from its answers: also while it runs, or was killed."""

TIME_INDEX = 'events_wall_time_ns'

REQUIRED_OBJECTS = {
    'events_refuse_update': 1,
    'events_refuse_delete': 1,
    'events_no_gap': 1,
    'decision_log': 1,
    'meta': 1,
    'mission_usage': 2,
}
"""The triggers, views and tables without which a file is not whole, from which schema on."""

SCHEMA_USER_VERSION = 3
"""The number of migrations: the newest schema that this release knows."""
