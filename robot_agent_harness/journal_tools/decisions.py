# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal decisions`: each decision of a model with what it was for and what came of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
from typing import Any

from robot_agent_harness.journal_tools.arguments import (
    add_journal,
    add_json,
    add_page,
    add_span,
    result_status,
)
from robot_agent_harness.journal_tools.subcommand import Subcommand

_OBJECTS = ('arguments', 'tool_calls')
"""Columns that hold JSON."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    parser.add_argument('--mission', metavar='ID', help='only of this mission')
    parser.add_argument('--action', metavar='ID', help='only the one that started this action')
    parser.add_argument(
        '--status',
        metavar='STATUS',
        type=result_status,
        help='only those whose call got a result of this status',
    )
    parser.add_argument(
        '--reason', metavar='REASON', help='only those whose action ended for this reason'
    )
    add_span(parser)
    add_page(parser)
    add_json(
        parser,
        'a JSON object a line: the columns of the view decision_log, wall_time_ns, status,'
        ' action_id, state, reason',
    )


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal_tools.listing import show
    from robot_agent_harness.journal_tools.screen import clock, Column

    columns = (
        Column('seq', 9, right=True),
        Column('time (UTC)', 23),
        Column('mission', 24),
        Column('step', 5, right=True),
        Column('tool', 18),
        Column('status', 20),
        Column('ended', 22),
        Column('purpose, or rationale'),
    )

    def cells(row: dict[str, Any]) -> tuple[Any, ...]:
        return (
            row['seq'],
            clock(row['wall_time_ns']),
            row['mission_id'],
            row['step'],
            row['tool_name'],
            row['status'],
            row['reason'],
            row['purpose'] or row['rationale'],
        )

    with JournalReader(arguments.journal) as reader:
        return show(_page(reader, arguments), columns, cells, arguments)


def _page(reader: Any, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    from robot_agent_harness.events import EventType
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools.listing import MORE, MORE_BEFORE
    from robot_agent_harness.journal_tools.screen import remark

    limit: int | None = arguments.limit or None
    newest = arguments.after is None and limit is not None
    turn_id = None
    if arguments.action is not None:
        begun = next(reader.events(action_id=arguments.action), None)
        if begun is None or begun.turn_id is None:
            return
        turn_id = begun.turn_id
    selection = Selection(
        mission_id=arguments.mission,
        turn_id=turn_id,
        types=(EventType.MODEL_RESPONSE_RECORDED.value,),
        since_ns=arguments.since,
        until_ns=arguments.until,
    )
    found: Iterator[dict[str, Any]] = reader.decisions(
        selection,
        status=arguments.status,
        reason=arguments.reason,
        action_id=arguments.action,
        after_seq=arguments.after or 0,
        newest_first=newest,
        limit=None if limit is None else limit + 1,
    )
    if newest:
        rows = list(found)
        if limit is not None and len(rows) > limit:
            rows.pop()
            remark(MORE_BEFORE)
        found = iter(rows[::-1])
    last = 0
    for number, row in enumerate(found):
        if number == limit:
            remark(MORE.format(seq=last))
            return
        last = row['seq']
        yield {**row, **{name: _parsed(row[name]) for name in _OBJECTS}}


def _parsed(value: Any) -> Any:
    """Return what a column of JSON holds; a lone text or number stands there as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


SUBCOMMAND = Subcommand(
    'list decisions of models',
    'List what models decided, what for, and what came of it. Without --after, the newest ones, in'
    ' their order. Calls of MCP clients are no decisions of a model: see show and events.',
    _add_arguments,
    _run,
)
