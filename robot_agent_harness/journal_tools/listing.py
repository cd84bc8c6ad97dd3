# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What all listings do: choose a page of records, and print it as a table or as JSON lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
import heapq
from typing import Any

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.screen import Column, print_json, remark, Screen

MORE = 'there are more: --limit 0 shows all, --after {seq} goes on'
MORE_BEFORE = 'there are earlier ones: --limit 0 shows all, --after 0 begins at the beginning'


def page(
    reader: JournalReader, arguments: argparse.Namespace, *selections: Selection
) -> Iterator[RecordedEvent]:
    """Yield the page that --limit and --after ask for, of all that is selected, in order.

    Without --after it is the newest page. Says when there is more.
    """
    limit: int | None = arguments.limit or None
    newest = arguments.after is None and limit is not None
    after: int = arguments.after or 0
    if limit is not None and newest:
        after = _before_newest(reader, selections, limit)
    found = (reader.select(selection, after_seq=after) for selection in selections)
    last = 0
    for number, event in enumerate(heapq.merge(*found, key=lambda event: event.seq)):
        if number == limit:
            if not newest:
                remark(MORE.format(seq=last))
            break
        last = event.seq
        yield event
    if newest and after:
        remark(MORE_BEFORE)


def _before_newest(reader: JournalReader, selections: Sequence[Selection], limit: int) -> int:
    """Return after which record the newest so many come; 0: all of them do."""
    newest = [reader.newest_seqs(selection, limit + 1) for selection in selections]
    ordered = sorted((seq for seqs in newest for seq in seqs), reverse=True)
    return ordered[limit] if len(ordered) > limit else 0


def show(
    rows: Iterable[dict[str, Any]],
    columns: Sequence[Column],
    cells: Callable[[dict[str, Any]], Sequence[Any]],
    arguments: argparse.Namespace,
) -> int:
    """Print what was chosen and return exit code 0.

    :param rows: JSON-ready; one JSON line each with --json.
    :param cells: from one of them to its line of the table.
    """
    if arguments.json:
        for row in rows:
            print_json(row)
    elif not Screen().table(columns, map(cells, rows)):
        remark('nothing matches')
    return 0
