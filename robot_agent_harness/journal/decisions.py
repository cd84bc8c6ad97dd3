# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Decisions with what came of them: the view `decision_log`, joined with results and outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
import json
from typing import Any

from robot_agent_harness.events import EventType
from robot_agent_harness.journal.schema import DECISION_LOG
from robot_agent_harness.journal.search import Search
from robot_agent_harness.journal.selection import Selection

_DECISIONS = f"""
SELECT log.*, answer.wall_time_ns AS wall_time_ns,
       (SELECT json_extract(r.payload, '$.status') FROM events AS r
        WHERE r.tool_call_id = log.tool_call_id AND +r.type = 'TOOL_RESULT_RECORDED'
        ORDER BY r.seq LIMIT 1) AS status,
       begun.action_id AS action_id,
       json_extract(ended.payload, '$.state') AS state,
       json_extract(ended.payload, '$.reason') AS reason
FROM ({DECISION_LOG}) AS log
JOIN events AS answer ON answer.seq = log.seq
LEFT JOIN events AS begun ON begun.seq = (
    SELECT b.seq FROM events AS b
    WHERE b.tool_call_id = log.tool_call_id AND +b.type = 'ROBOT_ACTION_STARTED'
    ORDER BY b.seq LIMIT 1)
LEFT JOIN events AS ended ON ended.seq = (
    SELECT e.seq FROM events AS e
    WHERE e.action_id = begun.action_id AND +e.type = 'ROBOT_ACTION_OUTCOME'
    ORDER BY e.seq LIMIT 1)
"""


def decisions(
    search: Search,
    selection: Selection,
    *,
    status: str | None,
    reason: str | None,
    action_id: str | None,
    after_seq: int,
    newest_first: bool,
    limit: int | None,
) -> Iterator[dict[str, Any]]:
    """Yield rows as :meth:`JournalReader.decisions` does."""
    ended = {'status': status, 'reason': reason, 'action_id': action_id}
    given = {name: value for name, value in ended.items() if value is not None}
    only = ''.join(f' AND {name} = :{name}' for name in given)
    # Each decision costs several searches: those that cannot match are left out before.
    has = {'status': EventType.TOOL_RESULT_RECORDED, 'reason': EventType.ROBOT_ACTION_OUTCOME}
    turn_has = tuple((has[k].value, k, v) for k, v in given.items() if k in has)
    selection = replace(selection, turn_has=turn_has)
    order = 'DESC' if newest_first else 'ASC'
    left = limit
    for answers in search.pages(selection, after_seq, order):
        with search.journal.errors_named():
            cursor = search.journal.connection.execute(
                f'SELECT * FROM ({_DECISIONS}) WHERE seq IN (SELECT value FROM'
                f' json_each(:answers)){only} ORDER BY seq {order}',
                {**given, 'answers': json.dumps(answers)},
            )
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        for row in rows if left is None else rows[:left]:
            yield dict(zip(names, row, strict=True))
        if left is not None:
            left -= len(rows)
            if left <= 0:
                return
