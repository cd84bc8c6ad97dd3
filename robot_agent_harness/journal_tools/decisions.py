# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal decisions`: each decision of a model with what it was for and what came of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
from typing import Any, TYPE_CHECKING

from robot_agent_harness.journal_tools.arguments import (
    add_journal,
    add_json,
    add_page,
    add_span,
    result_status,
)
from robot_agent_harness.journal_tools.subcommand import Subcommand

if TYPE_CHECKING:
    from robot_agent_harness.journal.reader import JournalReader

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
    from robot_agent_harness.journal_tools.listing import Listing, show
    from robot_agent_harness.journal_tools.screen import clock
    from robot_agent_harness.journal_tools.table import Column

    columns = (
        Column('seq', 9, right=True),
        Column('time (UTC)', 23, useful=1),
        Column('mission', 24, useful=2),
        Column('step', 5, right=True, useful=3),
        Column('tool', 18),
        Column('status', 20, useful=4),
        Column('ended', 22, useful=5),
        Column('purpose, or rationale'),
    )

    def found(reader: JournalReader, **page: Any) -> Iterator[dict[str, Any]]:
        return _decisions(reader, arguments, page)

    looked: dict[JournalReader, list[dict[str, Any]]] = {}

    def newest(reader: JournalReader, count: int) -> list[int]:
        # Each decision costs several searches: what is found here is not looked for again.
        looked[reader] = list(found(reader, newest_first=True, limit=count))
        return [row['seq'] for row in looked[reader]]

    def items(reader: JournalReader, after: int) -> Iterator[dict[str, Any]]:
        known = looked.get(reader)
        if known is None:
            return found(reader, after_seq=after)
        return (row for row in reversed(known) if row['seq'] > after)

    def decision(_: JournalReader, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, **{name: _parsed(row[name]) for name in _OBJECTS}}

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

    listing = Listing(newest, items, lambda row: int(row['seq']))
    return show(arguments, listing, decision, columns, cells)


def _decisions(
    reader: JournalReader, arguments: argparse.Namespace, page: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the decisions that the filters leave.

    :param page: which of them, as :meth:`JournalReader.decisions` takes it.
    """
    from robot_agent_harness.events import EventType
    from robot_agent_harness.journal.selection import Selection

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
    yield from reader.decisions(
        selection,
        status=arguments.status,
        reason=arguments.reason,
        action_id=arguments.action,
        **page,
    )


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
