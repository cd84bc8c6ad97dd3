# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads every record of a journal once, in order, and recomputes its chain on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robot_agent_harness.journal.read_only import ReadOnlyJournal
from robot_agent_harness.journal.schema import COLUMNS, follows, GENESIS
from robot_agent_harness.journal.search import PAGE_ROWS

_PAGE = f'SELECT {", ".join(COLUMNS)} FROM events WHERE seq > ? ORDER BY seq LIMIT {PAGE_ROWS}'


def chained_rows(journal: ReadOnlyJournal) -> Iterator[tuple[tuple[Any, ...], str | None]]:
    """Yield each row, all columns in order, with what is wrong with its place in the chain.

    What follows a break is held against the chain as it stands there: each break shows once.
    """
    last, previous = 0, GENESIS
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
