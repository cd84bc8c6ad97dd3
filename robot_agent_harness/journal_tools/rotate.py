# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal rotate`: close a journal, compress it, and begin the next."""

from __future__ import annotations

import argparse

from robot_agent_harness.journal_tools.arguments import add_journal, add_json
from robot_agent_harness.journal_tools.subcommand import Subcommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    add_json(parser, 'a JSON object: archive, records, carried_over; null without records')


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.clock import SystemClock
    from robot_agent_harness.errors import ConfigurationError, JournalLockedError
    from robot_agent_harness.journal.archive import is_archive
    from robot_agent_harness.journal.read_only import existing
    from robot_agent_harness.journal.rotation import rotate
    from robot_agent_harness.journal_tools.screen import print_json, visible

    path = existing(arguments.journal)
    try:
        closed = is_archive(path)
    except OSError as error:
        raise ConfigurationError(f'journal {path} cannot be read: {error.strerror}') from error
    if closed:
        raise ConfigurationError(f'{path} is an archive, closed already')
    try:
        rotated = rotate(path, clock=SystemClock())
    except JournalLockedError as error:
        raise JournalLockedError(
            f'{error}; a harness that runs rotates by itself: journal.rotate_mib and'
            ' journal.rotate_days'
        ) from error
    if arguments.json:
        print_json(
            rotated
            and {
                'archive': str(rotated.archive),
                'records': rotated.records,
                'carried_over': rotated.carried_over,
            }
        )
    elif rotated is None:
        print('there are no records since the last rotation: nothing to close')
    else:
        print(visible(f'{rotated.archive}: {rotated.records} records'))
    return 0


SUBCOMMAND = Subcommand(
    'close a journal and begin the next',
    'Close a journal that no harness holds, compress it beside its old place, and begin the next,'
    ' whose first record names it. Nothing is lost when it is interrupted: run it again.',
    _add_arguments,
    _run,
)
