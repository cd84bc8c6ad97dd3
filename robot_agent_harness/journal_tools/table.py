# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables for people, as wide as the terminal: what does not fit is left out in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from robot_agent_harness.journal_tools.screen import brief, remark, Screen, STYLES, visible

FIRST_ROWS, MORE_ROWS = 25, 500
"""Rows that are printed at once: few at first, since somebody waits for them."""
REST_MIN = 20
"""Characters that the last column has at least, as long as another can be left out for it."""

LEFT_OUT = (
    '{width} characters a line have no room for: {titles}. {all_of_them} show all, and so does'
    ' --json'
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as wide on every page of rows."""

    title: str
    width: int | None = None
    """Characters; None: what is left of the line."""
    right: bool = False
    useful: int | None = None
    """Where the line is too short: the least useful, 1, is left out first; None: never."""


class TablePrinter:
    """Prints rows as they come.

    :param columns: all of them, in order.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._console: Console = Screen().console
        self._shown = fitting(columns, self._console.width)
        self._columns = columns
        self._rows = 0

    def add(self, rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
        """Print rows of cells, one for each column.

        :param title: a line above them.
        """
        size = FIRST_ROWS
        remaining = iter(rows)
        while page := list(islice(remaining, size)):
            if title is not None:
                self._console.print(Text(visible(title), 'dim'))
                title = None
            self._page(page)
            self._rows, size = self._rows + len(page), MORE_ROWS

    def finish(self) -> None:
        """Say what was not shown."""
        if not self._rows:
            remark('nothing matches')
            return
        titles = [column.title for column in self._columns if column not in self._shown]
        if titles:
            remark(
                LEFT_OUT.format(
                    width=self._console.width,
                    titles=', '.join(titles),
                    all_of_them=_width(self._columns) + REST_MIN,
                )
            )

    def _page(self, rows: Sequence[Sequence[Any]]) -> None:
        table = Table(
            box=None, show_header=not self._rows, header_style='bold', pad_edge=False, expand=True
        )
        for column in self._shown:
            table.add_column(
                column.title,
                width=column.width,
                ratio=1 if column.width is None else None,
                justify='right' if column.right else 'left',
                overflow='ellipsis',
                no_wrap=True,
            )
        for row in rows:
            shown = zip(self._columns, row, strict=True)
            table.add_row(*(_cell(value) for column, value in shown if column in self._shown))
        self._console.print(table)


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into a line, in their order.

    :param width: characters of the line.
    """
    shown = list(columns)
    for column in sorted((c for c in columns if c.useful), key=lambda c: c.useful or 0):
        if _width(shown) + REST_MIN <= width:
            break
        shown.remove(column)
    return shown


def _width(columns: Sequence[Column]) -> int:
    """Return how many characters columns take, with what is between them, but for the last."""
    return sum(column.width + 1 for column in columns if column.width is not None)


def _cell(value: Any) -> Text:
    told = '' if value is None else brief(value)
    return Text(told, STYLES.get(told, ''))
