# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings as a table on a terminal, as plain lines elsewhere, or as JSON.

What is shown comes from the graph, where anybody may have named things: it reaches the terminal as
text only.
"""

from __future__ import annotations

from collections.abc import Sequence
import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from robot_agent_harness.doctor.finding import Finding, Level
from robot_agent_harness.report.values import printable

STYLES = {Level.OK: 'green', Level.WARNING: 'yellow', Level.PROBLEM: 'bold red'}


def show(findings: Sequence[Finding]) -> None:
    """Print the findings for people."""
    console = Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        for finding in findings:
            print(f'{finding.level.value:<8} {_line(finding.area)}: {_line(finding.message)}')
            if finding.advice:
                print(f'{"":<8} -> {_line(finding.advice)}')
        print(summary(findings))
        return
    table = Table(box=None, pad_edge=False, header_style='bold')
    for column in ('', 'what', 'how it is', 'what to do'):
        table.add_column(column, overflow='fold')
    for finding in findings:
        table.add_row(
            Text(finding.level.value, STYLES[finding.level]),
            Text(_line(finding.area)),
            Text(_line(finding.message)),
            Text(_line(finding.advice)),
        )
    console.print(table)
    console.print(Text(summary(findings)))


def show_json(findings: Sequence[Finding]) -> None:
    """Print the findings for programs."""
    print(
        json.dumps(
            {
                'problems': count(findings, Level.PROBLEM),
                'warnings': count(findings, Level.WARNING),
                'findings': [finding.to_dict() for finding in findings],
            },
            allow_nan=False,
        )
    )


def summary(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of what weight."""
    problems, warnings = count(findings, Level.PROBLEM), count(findings, Level.WARNING)
    return f'{len(findings)} checks: {problems} problems, {warnings} warnings'


def count(findings: Sequence[Finding], level: Level) -> int:
    """Return how many findings are of a level."""
    return sum(finding.level is level for finding in findings)


def _line(text: str) -> str:
    return ' '.join(printable(text).split())
