# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Finding the records of a selection, page by page.

No transaction is held between two pages, so that a slow consumer does not keep the write-ahead
log from being emptied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.read_only import ReadOnlyJournal
from robot_agent_harness.journal.schema import TIME_INDEX
from robot_agent_harness.journal.selection import ENDS, Selection

PAGE_ROWS = 500
"""Rows that are fetched at once."""

FIRST_PAGE_ROWS = 50
"""The same of what takes longer, at first."""


class Search:
    """Looks for the records of selections in an open file."""

    def __init__(self, journal: ReadOnlyJournal) -> None:
        self.journal = journal
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = ?"
        self._finds_by_time = bool(journal.one(query, (TIME_INDEX,)))

    def select(
        self, selection: Selection, after_seq: int, limit: int | None
    ) -> Iterator[RecordedEvent]:
        """Yield the records, in order, as they are needed."""
        found = self._where(selection)
        if found is None:
            return
        where, values = found
        left = limit
        while left is None or left > 0:
            size = PAGE_ROWS if left is None else min(PAGE_ROWS, left)
            page = self.journal.records(
                f'{where} AND seq > :after ORDER BY seq LIMIT :size',
                {**values, 'after': after_seq, 'size': size},
            )
            yield from page
            if len(page) < size:
                return
            after_seq = page[-1].seq
            left = None if left is None else left - size

    def pages(self, selection: Selection, after_seq: int, order: str) -> Iterator[list[int]]:
        """Yield the numbers of the records, a few at first, since somebody waits.

        :param order: `ASC` or `DESC`.
        """
        found = self._where(selection)
        if found is None:
            return
        where, values = found
        term, bound = ('seq > :bound', after_seq)
        if order == 'DESC':
            newest = self.journal.one('SELECT coalesce(max(seq), 0) FROM events')
            term, bound = ('seq < :bound AND seq > :after', newest + 1)
        size = FIRST_PAGE_ROWS
        while True:
            rows = self.journal.fetch(
                f'SELECT seq FROM events WHERE {where} AND {term} ORDER BY seq {order}'
                ' LIMIT :size',
                {**values, 'bound': bound, 'after': after_seq, 'size': size},
            )
            if not rows:
                return
            yield [seq for (seq,) in rows]
            bound, size = rows[-1][0], PAGE_ROWS

    def newest_seqs(self, selection: Selection, count: int) -> list[int]:
        """Return the numbers of the newest `count` records, the newest first."""
        found = self._where(selection)
        if found is None:
            return []
        where, values = found
        rows = self.journal.fetch(
            f'SELECT seq FROM events WHERE {where} ORDER BY seq DESC LIMIT :count',
            {**values, 'count': count},
        )
        return [seq for (seq,) in rows]

    def count(self, selection: Selection) -> int:
        """Return how many there are."""
        found = self._where(selection)
        if found is None:
            return 0
        where, values = found
        return int(self.journal.one(f'SELECT count(*) FROM events WHERE {where}', values))

    def newest(self, selection: Selection) -> RecordedEvent | None:
        """Return the newest one; None if there is none."""
        found = self._where(selection)
        if found is None:
            return None
        where, values = found
        records = self.journal.records(f'{where} ORDER BY seq DESC LIMIT 1', values)
        return records[0] if records else None

    def end(self, begin: RecordedEvent) -> RecordedEvent | None:
        """Return the record that ends what this one begins; None while it is open.

        :param begin: of a type in `ENDS`.
        """
        kind, column = ENDS[begin.type]
        where = f'type = ? AND seq > ? AND +{column} = ? ORDER BY seq LIMIT 1'
        records = self.journal.records(where, (kind, begin.seq, getattr(begin, column)))
        return records[0] if records else None

    def _where(self, selection: Selection) -> tuple[str, dict[str, Any]] | None:
        """Return the condition of a selection and its values; None where nothing can match."""
        if selection.since_ns is None and selection.until_ns is None:
            return selection.where()
        if not self._finds_by_time:
            return selection.where()
        # Clocks step back at times, so that times are no order; but where in the file the wanted
        # ones lie can be told from the index alone.
        terms = []
        if selection.since_ns is not None:
            terms.append('wall_time_ns >= :since_ns')
        if selection.until_ns is not None:
            terms.append('wall_time_ns <= :until_ns')
        ((first, last),) = self.journal.fetch(
            f'SELECT min(seq), max(seq) FROM events WHERE {" AND ".join(terms)}',
            {'since_ns': selection.since_ns, 'until_ns': selection.until_ns},
        )
        return None if first is None else selection.where((first, last))
