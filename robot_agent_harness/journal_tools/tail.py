# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal tail`: the newest records, and with -f each new one as it is written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
import time
from typing import TYPE_CHECKING

from robot_agent_harness.journal_tools.arguments import add_journal, add_json, count
from robot_agent_harness.journal_tools.subcommand import Subcommand

if TYPE_CHECKING:
    from robot_agent_harness.events import RecordedEvent
    from robot_agent_harness.journal.reader import JournalReader

NEWEST = 10
"""Records that are shown first, as `tail` does."""
POLL_S = 0.2
"""How often a journal is asked whether somebody has written: one read of shared memory."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    parser.add_argument(
        '-f',
        '--follow',
        action='store_true',
        help='go on with each new record until Ctrl-C, also in the file that a rotation begins',
    )
    parser.add_argument(
        '-n',
        '--lines',
        metavar='N',
        type=count,
        default=NEWEST,
        help=f'how many of the newest to begin with; default: {NEWEST}',
    )
    parser.add_argument('--mission', metavar='ID', help='only of this mission')
    add_json(parser, 'a JSON object a line, as events does')


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.journal_tools.records import as_json
    from robot_agent_harness.journal_tools.screen import print_json, Screen
    from robot_agent_harness.journal_tools.tree import line

    screen = Screen(wide=True)
    for event in records(arguments, wait=time.sleep):
        if arguments.json:
            print_json(as_json(event))
        else:
            screen.tree(line(event))
    return 0


def records(
    arguments: argparse.Namespace, *, wait: Callable[[float], object]
) -> Iterator[RecordedEvent]:
    """Yield what is to be printed, with -f for ever.

    :param wait: called with seconds between two looks at the file.
    :raises ConfigurationError: nothing is of the mission that was asked for.
    """
    from robot_agent_harness.journal.elsewhere import not_in
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools.ids import refuse, unknown

    wanted = Selection(mission_id=arguments.mission)
    reader = JournalReader(arguments.journal)
    try:
        if not arguments.follow:  # else it may be still to come
            refuse(unknown(reader, arguments), not_in(reader))
        # Asked before reading: what is written meanwhile counts as a change.
        version, last = reader.data_version, reader.last_seq
        if newest := reader.newest_seqs(wanted, arguments.lines):
            last = newest[-1] - 1
        in_place = True
        while True:
            for event in reader.select(wanted, after_seq=last):
                last = event.seq
                yield event
            if not arguments.follow:
                return
            if not in_place and (following := _reopened(reader)) is not None:
                reader.close()
                reader, last, in_place = following, 0, True
                version = reader.data_version
                continue
            while in_place and reader.data_version == version:
                wait(POLL_S)
                in_place = reader.in_place
            version = reader.data_version
    finally:
        reader.close()


def _reopened(reader: JournalReader) -> JournalReader | None:
    """Return a reader of the file that bears the name now; None while there is none."""
    return None if not reader.path.is_file() else type(reader)(reader.path)


SUBCOMMAND = Subcommand(
    'show the newest records, and follow',
    'Show the newest records, one a line; with -f, each new one as it is written. Ctrl-C ends it'
    ' with code 130.',
    _add_arguments,
    _run,
)
