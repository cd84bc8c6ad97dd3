# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows as one aligned table of plain text, which reads the same in a terminal and in a log.

`python bench/table.py [FILE]` writes the rows of a run's JSON into docs/performance.md.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import sys
from typing import Any

from rows import Row

HEADER = ('figure', 'unit', 'value', 'lo-hi', 'reference', 'ratio', 'lo-hi', 'limit')
THOUSAND, HUNDRED, HUNDREDTH = 1000.0, 100.0, 0.01
MARKDOWN = ('figure', 'limit', 'measured', 'reference', 'ratio', '')
NEWEST_RUN = '.ros/bench.json'
PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'performance.md'
BEGIN, END = '<!-- python bench/table.py -->', '<!-- end of the table -->'


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


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows that have a limit, and those that inform, as two tables in Markdown."""
    limited = [made for made in rows if 'limit' in made]
    others = [made for made in rows if 'limit' not in made]
    lines = [_line(MARKDOWN), _line(['---'] * len(MARKDOWN))]
    for made in limited:
        verdict = 'met' if made['met'] else made.get('in_the_way', '**missed**')
        lines.append(_line([made['figure'], made['limit'], *_measured(made), verdict]))
    lines += ['', _line(['beside them', *MARKDOWN[2:5]]), _line(['---'] * 4)]
    lines += [_line([made['figure'].strip(), *_measured(made)]) for made in others]
    return '\n'.join(lines)


def _line(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cells)} |'


def _measured(made: Row) -> tuple[str, str, str]:
    unit = made.get('unit', '')
    reference = _number(made['reference'])
    return (
        _with(f'{_number(made["value"])} {unit}', _spread(made.get('value_spread'), ' to ')),
        f'{reference} {unit}' if reference else '',
        _with(_number(made['ratio']), _spread(made.get('ratio_spread'), ' to ')),
    )


def _with(value: str, spread: str) -> str:
    return f'{value.strip()} ({spread})' if spread else value.strip()


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
    if 'limit' not in made:
        return ''
    return f'{made["limit"]} {_verdict(made)}'


def _verdict(made: Row) -> str:
    if made['met']:
        return 'met'
    return 'not reached' if 'in_the_way' in made else 'MISSED'


def _spread(spread: Sequence[float] | None, between: str = '-') -> str:
    if spread is None or spread[0] == spread[1]:
        return ''
    return f'{_number(spread[0])}{between}{_number(spread[1])}'


def _number(value: float | None) -> str:
    if value is None:
        return ''
    if abs(value) >= THOUSAND:
        return f'{value:.0f}'
    if 0.0 < abs(value) < HUNDREDTH:
        return f'{value:.2g}'
    return f'{value:.1f}' if abs(value) >= HUNDRED else f'{value:.2f}'


def main() -> None:
    """Put a run's rows, and what they were measured on, in place of those in the page."""
    facts = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else NEWEST_RUN).read_text())
    if not facts['whole'] or facts['quick'] or facts['failed'] or facts['changed']:
        sys.exit('the page shows whole, unhurried runs without failures, of what is committed')
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f'{before}{BEGIN}\n{markdown(facts["rows"])}\n\n{_told(facts)}\n{END}{after}')


def _told(facts: dict[str, Any]) -> str:
    """Say when and on what was measured, and what else the machine did."""
    machine = facts['machine']
    return (
        f'Measured on {facts["date"][:10]} at commit {facts["commit"]} in'
        f' {facts["duration_s"]:.0f} s while other programs used {facts["others_percent"]:.0f} %'
        f' of the machine.\n{machine["cores"]} processors ({machine["cpu"]}),'
        f' {machine["memory_gb"]:.0f} GB, {machine["system"]}, Python {machine["python"]},'
        f' ROS 2 {machine["ros"]}, {machine["rmw"]}.'
    )


if __name__ == '__main__':
    main()
