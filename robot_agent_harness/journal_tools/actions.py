# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal actions`: each physical action with its state, how it ended, and on what evidence."""

from __future__ import annotations

import argparse
from typing import Any

from robot_agent_harness.journal_tools.arguments import add_journal, add_json, add_page, add_span
from robot_agent_harness.journal_tools.subcommand import Subcommand

ENDED = ('SUCCEEDED', 'FAILED', 'UNKNOWN')


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    parser.add_argument('--mission', metavar='ID', help='only of this mission')
    parser.add_argument('--action', metavar='ID', help='only this one')
    parser.add_argument(
        '--state',
        choices=(*ENDED, 'open'),
        type=lambda value: value if value == 'open' else value.upper(),
        help='only those that ended in this state; open = without an outcome',
    )
    parser.add_argument('--reason', metavar='REASON', help='only those that ended for this reason')
    add_span(parser)
    add_page(parser)
    add_json(
        parser,
        'a JSON object a line: action_id, mission_id, turn_id, tool_call_id, skill, goal, state,'
        ' started_ns, ended_ns, reason, evidence, verification_snapshot_id, seq',
    )


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.events import EventType, RecordedEvent
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools.listing import records, show
    from robot_agent_harness.journal_tools.screen import clock
    from robot_agent_harness.journal_tools.table import Column
    from robot_agent_harness.report.values import metres, number, seconds

    end = {} if arguments.reason is None else {'reason': arguments.reason}
    if arguments.state in ENDED:
        end['state'] = arguments.state
    selection = Selection(
        mission_id=arguments.mission,
        action_id=arguments.action,
        types=(EventType.ROBOT_ACTION_STARTED.value,),
        since_ns=arguments.since,
        until_ns=arguments.until,
        end=end,
        open=arguments.state == 'open',
    )
    columns = (
        Column('seq', 9, right=True),
        Column('action', 32, useful=3),
        Column('started (UTC)', 23, useful=1),
        Column('took', 12, right=True, useful=2),
        Column('state', 10),
        Column('reason', 25, useful=5),
        Column('off by', 9, right=True, useful=4),
        Column('skill and goal'),
    )

    def state_of(reader: JournalReader, begin: RecordedEvent) -> Any:
        followed = Selection(
            action_id=begin.action_id, types=(EventType.ROBOT_ACTION_PROGRESS.value,)
        )
        newest = reader.newest_of(followed)
        return begin.payload.get('state') if newest is None else newest.payload.get('state')

    def action(reader: JournalReader, begin: RecordedEvent) -> dict[str, Any]:
        ended = reader.end(begin)
        told = ended.payload if ended else {'state': state_of(reader, begin)}
        return {
            'action_id': begin.action_id,
            'mission_id': begin.mission_id,
            'turn_id': begin.turn_id,
            'tool_call_id': begin.tool_call_id,
            'skill': begin.payload.get('skill'),
            'goal': begin.payload.get('goal'),
            'state': told.get('state'),
            'started_ns': begin.wall_time_ns,
            'ended_ns': ended.wall_time_ns if ended else None,
            'reason': told.get('reason'),
            'evidence': told.get('evidence'),
            'verification_snapshot_id': told.get('verification_snapshot_id'),
            'seq': begin.seq,
        }

    def cells(row: dict[str, Any]) -> tuple[Any, ...]:
        ended, begun = row['ended_ns'], row['started_ns']
        evidence = row['evidence'] if isinstance(row['evidence'], dict) else {}
        off = number(evidence, 'position_error_m')
        return (
            row['seq'],
            row['action_id'],
            clock(begun),
            '' if ended is None else seconds(max(0.0, (ended - begun) / 1e9)),
            row['state'],
            row['reason'],
            '' if off is None else metres(off),
            f'{row["skill"]} {describe(row["goal"])}',
        )

    return show(arguments, records(selection), action, columns, cells)


def describe(goal: Any) -> str:
    """Return a goal in short."""
    from robot_agent_harness.report.values import compact, point

    where = point(goal) if isinstance(goal, dict) else None
    return compact(goal) if where is None else f'({where[0]:.2f}, {where[1]:.2f})'


SUBCOMMAND = Subcommand(
    'list physical actions',
    'List physical actions with their state, how they ended and how far from the goal the robot'
    ' was seen. Without --after, the newest ones, in their order.',
    _add_arguments,
    _run,
)
