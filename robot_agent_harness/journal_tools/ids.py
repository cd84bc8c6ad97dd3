# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Ids that were typed: one that the journal does not have is a slip, which no empty list hides."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.journal.elsewhere import not_in
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection

COLUMNS = {
    'mission': 'mission_id',
    'turn': 'turn_id',
    'call': 'tool_call_id',
    'action': 'action_id',
}
"""The options that take an id, and what has it."""


def unknown(reader: JournalReader, arguments: argparse.Namespace) -> dict[str, str]:
    """Return the options whose id no record of this file has, with that id."""
    given = {option: getattr(arguments, option, None) for option in COLUMNS}
    return {
        option: typed
        for option, typed in given.items()
        if typed is not None and not reader.newest_seqs(Selection(**{COLUMNS[option]: typed}), 1)
    }


def refuse(ids: Mapping[str, str], where: str) -> None:
    """Refuse ids that are nowhere.

    :param ids: by their options.
    :param where: where they were looked for.
    :raises ConfigurationError: there is one.
    """
    for option, typed in ids.items():
        raise ConfigurationError(f'{option} {typed}: {where}')


def nowhere(reader: JournalReader, arguments: argparse.Namespace) -> str:
    """Return that something is not there, and where --all would look for it.

    :param reader: of the file that was named.
    """
    if arguments.all:
        return f'{not_in(reader)}, nor in any file before it that is beside it'
    before = reader.predecessor()
    return not_in(reader) + ('; --all looks there as well' if before and before.path else '')
