# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal verify`: whether a file keeps every promise, and the files before it."""

from __future__ import annotations

import argparse
from typing import Any, TYPE_CHECKING

from robot_agent_harness.journal_tools.arguments import add_journal, add_json
from robot_agent_harness.journal_tools.subcommand import Subcommand

if TYPE_CHECKING:
    from pathlib import Path

    from robot_agent_harness.journal.reader import JournalReader, Predecessor

VIOLATIONS_MAX = 1000
"""What is named of one file; where so much is wrong, the rest adds nothing."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    add_json(
        parser,
        'one JSON document: sound, and for each file its path, records, last_chain, violations,'
        ' open work and remarks',
    )


def _run(arguments: argparse.Namespace) -> int:

    from robot_agent_harness.errors import HarnessError
    from robot_agent_harness.journal.read_only import existing
    from robot_agent_harness.journal_tools.screen import print_json

    files: list[dict[str, Any]] = []
    path: Path | None = existing(arguments.journal)
    expected: Predecessor | None = None
    seen: set[Path] = set()
    while path is not None and path not in seen:
        seen.add(path)
        try:
            told, following = _verify(path, expected)
        except HarnessError as error:
            if expected is None:
                raise
            # The file that was asked for is there: that one before it is unfit is an answer.
            told, following = _told(path, violations=[str(error)]), None
        files.append(told)
        if not arguments.json:
            _print(told)
        expected = following
        path = following.path if following else None
    sound = not any(told['violations'] for told in files)
    if arguments.json:
        print_json({'sound': sound, 'files': files})
    return 0 if sound else 1


def _verify(path: Path, expected: Predecessor | None) -> tuple[dict[str, Any], Predecessor | None]:
    """Return what is to be said of a file, and which one it goes on from.

    :param expected: what the file after it says about it.
    :raises JournalError: it is no journal, too new, or cannot be read.
    """
    from robot_agent_harness.errors import JournalCorruptError, NotAJournalError
    from robot_agent_harness.journal.reader import JournalReader

    try:
        with JournalReader(path, lenient=True) as reader:
            return _checked(reader, expected)
    except NotAJournalError:
        raise
    except JournalCorruptError as error:
        return _told(path, violations=[str(error)]), None


def _checked(
    reader: JournalReader, expected: Predecessor | None
) -> tuple[dict[str, Any], Predecessor | None]:
    from itertools import islice

    from robot_agent_harness.errors import JournalCorruptError
    from robot_agent_harness.journal_tools.invariants import violations
    from robot_agent_harness.journal_tools.progress import Progress

    closed = reader.archived or expected is not None
    found = list(
        islice(violations(reader, finished=closed, told=Progress('checked')), VIOLATIONS_MAX)
    )
    tail = reader.tail()
    if expected is not None and tail != (expected.last_seq, expected.last_chain):
        found.append(
            f'journal {reader.path} ends at record {tail[0]} with chain {tail[1] or "none"}; the'
            f' file after it goes on from record {expected.last_seq}, {expected.last_chain}'
        )
    remarks = []
    before = None
    try:
        before = reader.predecessor()
        work = reader.open_work()
    except JournalCorruptError as error:
        found.append(str(error))
        return _told(reader.path, records=tail[0], chain=tail[1], violations=found), None
    if before is not None and before.path is None:
        remarks.append(f'goes on from {before.name}, which is not beside it and was not checked')
    told = _told(
        reader.path,
        records=tail[0],
        chain=tail[1],
        violations=found,
        # In a file that was closed it is a violation.
        open_work=None
        if closed
        else {
            'calls': [event.tool_call_id for event in work.calls],
            'actions': [event.action_id for event in work.actions],
            'missions': [event.mission_id for event in work.missions],
        },
        remarks=remarks,
    )
    return told, before


def _told(
    path: Path,
    *,
    records: int | None = None,
    chain: str | None = None,
    violations: list[str],
    open_work: dict[str, list[str | None]] | None = None,
    remarks: list[str] | None = None,
) -> dict[str, Any]:
    return {
        'path': str(path),
        'records': records,
        'last_chain': chain,
        'violations': violations,
        'open': open_work,
        'remarks': remarks or [],
    }


def _print(told: dict[str, Any]) -> None:
    from robot_agent_harness.journal_tools.screen import visible

    for violation in told['violations']:
        print(visible(' '.join(violation.split())))
    if told['violations']:
        print(visible(f'{told["path"]}: {len(told["violations"])} violations'))
    else:
        print(
            visible(
                f'{told["path"]}: {told["records"]} records, none lost or altered, every promise'
                f' kept; the last chain is {told["last_chain"] or "none"}'
            )
        )
    for kind, ids in (told['open'] or {}).items():
        if ids:
            print(f'  open: {len(ids)} {kind}; a harness is at it, or its next start ends them')
    for remark in told['remarks']:
        print(visible(f'  {remark}'))


SUBCOMMAND = Subcommand(
    'check the chain and every invariant',
    'Check that no record was lost or altered and that every invariant holds, in the file and in'
    ' those before it that lie beside it. Exit code 1 names what does not hold.',
    _add_arguments,
    _run,
)
