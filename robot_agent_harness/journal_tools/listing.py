# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What all listings do: choose a page of records, and print it as a table or as JSON lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.screen import Column, print_json, remark, Screen

MORE = 'there are more: --limit 0 shows all, --after {seq} goes on'
MORE_BEFORE = 'there are earlier ones: --limit 0 shows all, --after 0 begins at the beginning'


def page(
    reader: JournalReader, selection: Selection, arguments: argparse.Namespace
) -> Iterator[RecordedEvent]:
    """Yield the page of a selection that --limit and --after ask for, in order.

    Without --after it is the newest page. Says when there is more.
    """
    limit: int | None = arguments.limit or None
    after: int | None = arguments.after
    earlier = after is None and limit is not None
    if earlier:
        after = reader.before_newest(selection, limit or 0)
    last = 0
    for number, event in enumerate(reader.select(selection, after_seq=after or 0)):
        if number == limit:
            if not earlier:
                remark(MORE.format(seq=last))
            break
        last = event.seq
        yield event
    if earlier and after:
        remark(MORE_BEFORE)


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
