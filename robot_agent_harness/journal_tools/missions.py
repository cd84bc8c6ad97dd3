# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal missions`: each mission with what was asked and what became of it."""

from __future__ import annotations

import argparse
from typing import Any

from robot_agent_harness.journal_tools.arguments import add_journal, add_json, add_page, add_span
from robot_agent_harness.journal_tools.subcommand import Subcommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    parser.add_argument(
        '--status',
        choices=('achieved', 'not_achieved', 'unknown', 'open'),
        help='only with this outcome; open = without an end',
    )
    parser.add_argument('--reason', metavar='REASON', help='only those that ended for this reason')
    add_span(parser)
    add_page(parser)
    add_json(
        parser,
        'a JSON object a line: mission_id, instruction, provider, model, started_ns, ended_ns,'
        ' outcome, reason, steps, events, seq',
    )


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.events import EventType, RecordedEvent
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools.listing import records, show
    from robot_agent_harness.journal_tools.screen import clock
    from robot_agent_harness.journal_tools.table import Column
    from robot_agent_harness.report.values import seconds

    end = {} if arguments.reason is None else {'reason': arguments.reason}
    if arguments.status not in (None, 'open'):
        end['outcome'] = arguments.status
    selection = Selection(
        types=(EventType.MISSION_STARTED.value,),
        since_ns=arguments.since,
        until_ns=arguments.until,
        end=end,
        open=arguments.status == 'open',
    )
    columns = (
        Column('seq', 9, right=True),
        Column('mission', 24),
        Column('started (UTC)', 23, useful=4),
        Column('took', 12, right=True, useful=2),
        Column('outcome', 12),
        Column('reason', 18, useful=3),
        Column('events', 9, right=True, useful=1),
        Column('asked for'),
    )

    def mission(reader: JournalReader, begin: RecordedEvent) -> dict[str, Any]:
        ended = reader.end(begin)
        told = ended.payload if ended else {}
        return {
            'mission_id': begin.mission_id,
            'instruction': begin.payload.get('instruction'),
            'provider': begin.payload.get('provider'),
            'model': begin.payload.get('model'),
            'started_ns': begin.wall_time_ns,
            'ended_ns': ended.wall_time_ns if ended else None,
            'outcome': told.get('outcome'),
            'reason': told.get('reason'),
            'steps': told.get('steps'),
            'events': reader.count(Selection(mission_id=begin.mission_id)),
            'seq': begin.seq,
        }

    def cells(row: dict[str, Any]) -> tuple[Any, ...]:
        ended, begun = row['ended_ns'], row['started_ns']
        return (
            row['seq'],
            row['mission_id'],
            clock(begun),
            '' if ended is None else seconds(max(0.0, (ended - begun) / 1e9)),
            'open' if ended is None else row['outcome'],
            row['reason'],
            row['events'],
            row['instruction'],
        )

    return show(arguments, records(selection), mission, columns, cells)


SUBCOMMAND = Subcommand(
    'list missions',
    'List missions with what was asked and what became of them. Without --after, the newest ones,'
    ' in their order.',
    _add_arguments,
    _run,
)
