# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal events`: records as they are, one a line."""

from __future__ import annotations

import argparse
from typing import Any

from robot_agent_harness.journal_tools.arguments import (
    add_journal,
    add_json,
    add_page,
    add_span,
    event_type,
    result_status,
)
from robot_agent_harness.journal_tools.subcommand import Subcommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    for name, what in (
        ('--mission', 'of this mission'),
        ('--turn', 'of this turn'),
        ('--call', 'of this tool call'),
        ('--action', 'of this action'),
    ):
        parser.add_argument(name, metavar='ID', help=f'only {what}')
    parser.add_argument(
        '--type',
        metavar='TYPE',
        action='append',
        type=event_type,
        help='only of this type, for instance SALIENT_EVENT; may be given again for another',
    )
    ended = parser.add_mutually_exclusive_group()
    ended.add_argument(
        '--reason', metavar='REASON', help='only the ends of actions and missions for this reason'
    )
    ended.add_argument(
        '--status', metavar='STATUS', type=result_status, help='only results of this status'
    )
    add_span(parser)
    add_page(parser)
    add_json(parser, 'a JSON object a line, with the columns of the table events')


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.journal_tools.listing import records, show
    from robot_agent_harness.journal_tools.records import as_json
    from robot_agent_harness.journal_tools.screen import clock
    from robot_agent_harness.journal_tools.summary import about
    from robot_agent_harness.journal_tools.table import Column

    columns = (
        Column('seq', 9, right=True),
        Column('time (UTC)', 23, useful=2),
        Column('type', 27, useful=3),
        Column('mission', 24, useful=1),
        Column('what'),
    )

    def cells(row: dict[str, Any]) -> tuple[Any, ...]:
        when = clock(row['wall_time_ns'])
        return row['seq'], when, row['type'], row['mission_id'], about(row)

    listing = records(_selection(arguments))
    return show(arguments, listing, lambda reader, event: as_json(event), columns, cells)


def _selection(arguments: argparse.Namespace) -> Any:
    from robot_agent_harness.events import EventType
    from robot_agent_harness.journal.selection import Selection

    types = tuple(arguments.type or ())
    payload = {}
    if arguments.reason is not None:
        types = types or (EventType.ROBOT_ACTION_OUTCOME.value, EventType.MISSION_ENDED.value)
        payload['reason'] = arguments.reason
    if arguments.status is not None:
        types = types or (EventType.TOOL_RESULT_RECORDED.value,)
        payload['status'] = arguments.status
    return Selection(
        mission_id=arguments.mission,
        turn_id=arguments.turn,
        tool_call_id=arguments.call,
        action_id=arguments.action,
        types=types,
        since_ns=arguments.since,
        until_ns=arguments.until,
        payload=payload,
    )


SUBCOMMAND = Subcommand(
    'list records',
    'List the records of a journal as they are. Without --after, the newest ones, in their order.',
    _add_arguments,
    _run,
)
