# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows as one aligned table of plain text, which reads the same in a terminal and in a log."""

from __future__ import annotations

from collections.abc import Sequence

from rows import Row

HEADER = ('figure', 'unit', 'value', 'lo-hi', 'reference', 'ratio', 'lo-hi', 'limit')
THOUSAND, HUNDRED = 1000.0, 100.0


def table(rows: Sequence[Row]) -> str:
    """Return the table; `lo-hi` are the lowest and the highest repeat."""
    lines = [HEADER, *(_cells(made) for made in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    lines.insert(1, tuple('-' * width for width in widths))
    return '\n'.join(
        '  '.join(
            cell.rjust(width) if 2 <= column < len(HEADER) - 1 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _cells(made: Row) -> tuple[str, ...]:
    return (
        made['figure'],
        made.get('unit', ''),
        _number(made['value']),
        _spread(made.get('value_spread')),
        _number(made['reference']),
        _number(made['ratio']),
        _spread(made.get('ratio_spread')),
        _limit(made),
    )


def _limit(made: Row) -> str:
    limit = made.get('limit')
    if limit is None:
        return ''
    of = 'ratio ' if limit['of'] == 'ratio' else ''
    return f'{of}<= {limit["at_most"]:g} {"met" if made["met"] else "MISSED"}'


def _spread(spread: Sequence[float] | None) -> str:
    if spread is None or spread[0] == spread[1]:
        return ''
    return f'{_number(spread[0])}-{_number(spread[1])}'


def _number(value: float | None) -> str:
    if value is None:
        return ''
    if abs(value) >= THOUSAND:
        return f'{value:.0f}'
    return f'{value:.1f}' if abs(value) >= HUNDRED else f'{value:.2f}'
