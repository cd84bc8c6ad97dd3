# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a subcommand of `robot-agent-harness journal` is, and how one is run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import sys

from robot_agent_harness.journal_tools.arguments import DEFAULT_JOURNAL

MISUSE = 2
NONE_NAMED = (
    ', where a harness writes that was not told otherwise. No JOURNAL was given: name the file'
    " that the harness's parameter journal.path says, as in '{command} demo_output/journal.db'"
)


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One subcommand."""

    summary: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    """Takes the parsed arguments and returns the exit code; a HarnessError that it raises becomes
    one line on standard error and exit code 2."""


def add_subcommands(
    parser: argparse.ArgumentParser, subcommands: Mapping[str, Subcommand]
) -> None:
    """Let a parser take one of the subcommands; it is then in `subcommand`, and its own parser in
    `parser`.
    """
    group = parser.add_subparsers(dest='subcommand_name', metavar='SUBCOMMAND', required=True)
    for name, subcommand in subcommands.items():
        own = group.add_parser(name, help=subcommand.summary, description=subcommand.description)
        subcommand.add_arguments(own)
        own.set_defaults(subcommand=subcommand, parser=own)


def run_subcommand(arguments: argparse.Namespace, program: str) -> int:
    """Run the subcommand that was chosen and return the exit code."""
    from robot_agent_harness.errors import HarnessError, JournalCorruptError, NotAJournalError
    from robot_agent_harness.paths import expanded

    subcommand: Subcommand = arguments.subcommand
    try:
        return subcommand.run(arguments)
    except HarnessError as error:
        from robot_agent_harness.journal_tools.screen import visible

        name = f'{program} journal {arguments.subcommand_name}'
        damaged = isinstance(error, JournalCorruptError) and not isinstance(
            error, NotAJournalError
        )
        more = f"; '{program} journal verify' names all that is wrong with it" if damaged else ''
        if arguments.journal == DEFAULT_JOURNAL and not expanded(DEFAULT_JOURNAL).exists():
            more = NONE_NAMED.format(command=name)
        print(f'{name}: {" ".join(visible(str(error)).split())}{more}', file=sys.stderr)
        return MISUSE
