# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/failure_semantics.md names every kind of failure and what shows it."""

from __future__ import annotations

from pathlib import Path
import re

from requirements import REQUIREMENTS

PAGE = Path(__file__).parents[1] / 'docs' / 'failure_semantics.md'


def _rows() -> dict[str, set[str]]:
    rows = {}
    for line in PAGE.read_text(encoding='utf-8').splitlines():
        if match := re.match(r'\| (K\d\d) \|.*\|([^|]*)\|$', line):
            rows[match[1]] = set(re.findall(r'`(test_\w+\.py)`', match[2]))
    return rows


def test_every_kind_of_failure_has_its_row_with_the_tests_that_show_it() -> None:
    shown = {
        clause.id: {test.split('::')[0] for test in clause.tests}
        for clause in REQUIREMENTS
        if re.fullmatch(r'K\d\d', clause.id)
    }
    assert set(shown) == {f'K{number:02d}' for number in range(1, 39)}
    assert _rows() == shown
