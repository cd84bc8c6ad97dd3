# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads every record of a journal once, in order, and recomputes its chain on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from robot_agent_harness.journal.read_only import ReadOnlyJournal
from robot_agent_harness.journal.schema import COLUMNS, follows
from robot_agent_harness.journal.search import PAGE_ROWS
from robot_agent_harness.journal.soundness import EMPTY, Tail, tail_of, TAIL_ROWS

_PAGE = f'SELECT {", ".join(COLUMNS)} FROM events WHERE seq > ? ORDER BY seq LIMIT {PAGE_ROWS}'


def chained_rows(
    journal: ReadOnlyJournal, after: Tail = EMPTY
) -> Iterator[tuple[tuple[Any, ...], str | None]]:
    """Yield each row, all columns in order, with what is wrong with its place in the chain.

    What follows a break is held against the chain as it stands there: each break shows once.

    :param after: where to begin behind.
    """
    last, previous = after
    while page := journal.fetch(_PAGE, (last,)):
        for row in page:
            *values, chain = row
            seq, trouble = values[0], None
            if seq != last + 1:
                lost = (
                    f'record {last + 1} is' if seq == last + 2 else f'records from {last + 1} are'
                )
                trouble = f'{lost} missing: record {seq} follows record {last}, seq has a gap'
            elif not follows(previous, values, chain):
                trouble = f'record {seq} was altered, or the one before it'
            yield row, trouble
            last, previous = seq, chain


def first_break(
    journal: ReadOnlyJournal, after: Tail = EMPTY, *, told: Callable[[int], object]
) -> str | None:
    """Return the first thing that is wrong with the chain; None where all records hang together.

    :param after: where to begin behind.
    :param told: called with the number of each record that has been looked at.
    """
    for row, trouble in chained_rows(journal, after):
        if trouble is not None:
            return trouble
        told(row[0])
    return None


def break_in_tail(journal: ReadOnlyJournal) -> str | None:
    """Return what is wrong with the chain of the newest records; None where they hang together.

    As many are looked at as at a start.
    """
    with journal.errors_named():
        end = tail_of(journal.connection)
    begin = journal.fetch('SELECT seq, chain FROM events WHERE seq = ?', (end.seq - TAIL_ROWS,))
    return first_break(journal, Tail(*begin[0]) if begin else EMPTY, told=lambda seq: None)
