# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the subcommands print: coloured on a terminal, plain text elsewhere, JSON for programs.

What a journal holds was said by models, clients and robots. It reaches the terminal as text: never
as a control sequence, and never as markup of ours.
"""

from __future__ import annotations

from datetime import datetime, timezone
import io
import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from robot_agent_harness.report.values import printable
from robot_agent_harness.texts import one_line

PLAIN_WIDTH = 200
"""Columns of a table where there is no terminal to ask: all of them fit."""
WIDE_WIDTH = 10_000
"""The same of a tree: more than any of its lines has."""
CELL_MAX_BYTES = 300
"""What a table shows of one value at most; --json has the whole."""
NS_PER_MS = 1_000_000

STYLES = {
    'SUCCEEDED': 'green',
    'achieved': 'green',
    'FAILED': 'red',
    'not_achieved': 'red',
    'UNKNOWN': 'yellow',
    'unknown': 'yellow',
    'open': 'cyan',
}
"""Colours of states and outcomes."""


class Screen:
    """Prints for people.

    :param wide: where there is no terminal, lines are as long as what they say.
    """

    def __init__(self, *, wide: bool = False) -> None:
        # A C locale must not end a listing over an arrow.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors='replace')
        width = WIDE_WIDTH if wide else PLAIN_WIDTH
        console = Console(highlight=False, emoji=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, emoji=False, markup=False, width=width)
        elif console.no_color:
            # rich's own no_color keeps bold and dim, which are escape sequences as well.
            console = Console(highlight=False, emoji=False, markup=False, color_system=None)
        self.console = console

    def tree(self, tree: Text | Tree) -> None:
        """Print a tree, or a line between trees."""
        self.console.print(tree)


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, ASCII only, at once."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, separators=(',', ':')) + '\n')
    sys.stdout.flush()


def remark(text: str) -> None:
    """Say something that is no part of the output."""
    print(visible(text), file=sys.stderr)


def visible(text: str) -> str:
    """Return a text of any origin with nothing in it that a terminal would obey."""
    return printable(text)


def brief(value: Any, max_bytes: int = CELL_MAX_BYTES) -> str:
    """Return any value as one short line that is safe to show."""
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return visible(one_line(told, max_bytes))


def clock(wall_ns: int) -> str:
    """Return a moment in UTC to the millisecond."""
    try:
        seconds, rest = divmod(wall_ns, 1_000_000_000)
        then = datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, OSError, ValueError):
        return 'at no time'
    return f'{then:%Y-%m-%d %H:%M:%S}.{rest // NS_PER_MS:03d}'
