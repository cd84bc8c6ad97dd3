# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's terminal output: coloured where that can be seen, plain lines everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
import io
import sys
import textwrap
import time

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from robot_agent_harness.report.values import printable

WHO_WIDTH = 10
_INDENT = 12 + WHO_WIDTH
PLAIN_WIDTH = 110
"""Width of tables where there is no terminal to ask."""

STYLES = {
    'demo': 'bold magenta',
    'you': 'bold',
    'model': 'cyan',
    'check': 'blue',
    'harness': 'default',
    'controller': 'yellow',
    'observed': 'blue',
    'outcome': 'bold',
    'waiting': 'dim',
}
"""Who speaks, and in which colour."""


class Screen:
    """Prints the timeline; its times count from when it was made."""

    def __init__(self, *, color: bool = True) -> None:
        # A C locale must not end the demo over an arrow.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors='replace')
        self._console = Console(highlight=False, emoji=False)
        if not self._console.is_terminal:
            self._console = Console(highlight=False, emoji=False, width=PLAIN_WIDTH)
        elif not color or self._console.no_color:
            # rich's own no_color keeps bold and dim, which are escape sequences as well.
            self._console = Console(highlight=False, emoji=False, color_system=None)
        self.started_wall_ns = time.time_ns()
        self.last_print = time.monotonic()

    def title(self, told: str, *more: str) -> None:
        """Print what this is."""
        self._print(Text(told, 'bold'))
        for line in more:
            self._print(Text(line))

    def chapter(self, told: str) -> None:
        """Print a heading."""
        self._print(Text())
        self._print(Text(f'── {told} ', 'bold magenta'))

    def say(self, who: str, what: str, style: str = '', *, wall_ns: int | None = None) -> None:
        """Print one line: when, who, what."""
        now_ns = time.time_ns() if wall_ns is None else wall_ns
        at_s = max(0.0, (now_ns - self.started_wall_ns) / 1e9)
        line = Text().append(f'{at_s:6.1f} s  ', 'dim')
        line.append(f'{who:<{WHO_WIDTH}}  ', STYLES.get(who, ''))
        line.append(self._wrapped(' '.join(printable(what).split())), style)
        self._print(line)

    def legend(self, who: str, what: str) -> None:
        """Print who a speaker of the timeline is."""
        line = Text().append(f'{who:>{WHO_WIDTH}}  ', STYLES.get(who, ''))
        self._print(line.append(what))

    def lines(self, lines: Sequence[str], style: str = '') -> None:
        """Print text as it is, indented."""
        for line in lines:
            self._print(Text(f'  {printable(line)}', style))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Print a table of (text, style) cells."""
        table = Table(box=box.SIMPLE_HEAD, header_style='bold', pad_edge=False)
        for column in columns:
            table.add_column(column)
        for row in rows:
            table.add_row(*(Text(text, style) for text, style in row))
        self._console.print(table)
        self.last_print = time.monotonic()

    def _wrapped(self, what: str) -> str:
        """Break a long line under its own column, so that the first two stay easy to follow."""
        room = self._console.width - _INDENT
        if not self._console.is_terminal or room < _INDENT:
            return what
        return f'\n{" " * _INDENT}'.join(textwrap.wrap(what, room) or [''])

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)
        self.last_print = time.monotonic()
