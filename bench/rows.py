# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One row of the table: a figure, its bare reference of the same run, and how both vary.

A benchmark measures in several repeats; what a row holds are medians over them, and the lowest and
highest repeat as the spread. A row without `limit` only informs. A limit that cannot be reached
says what stands in the way, which alone has to be beyond the limit; another row holds the rest to
a limit of its own that nothing excuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import math
from statistics import median
from typing import Any, Literal

Row = dict[str, Any]
Say = Callable[[str], None]
"""Takes a line of progress."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a row must not exceed, or must reach."""

    of: Literal['value', 'ratio']
    at_most: float = math.inf
    at_least: float = -math.inf
    in_the_way: str | None = None
    """Why it is not reached here, where that is known and beyond this package."""

    @property
    def text(self) -> str:
        """The limit as a reader sees it."""
        of = 'ratio ' if self.of == 'ratio' else ''
        if math.isinf(self.at_most):
            return f'{of}>= {self.at_least:g}'
        return f'{of}<= {self.at_most:g}'


def unless(limit: Limit, least: float, why: str) -> Limit:
    """Return the limit, with what is in the way if what nobody can do without is beyond it.

    :param least: that alone, in the terms of the limit.
    """
    if limit.at_least <= least <= limit.at_most:
        return limit
    return replace(limit, in_the_way=f'{why} {least:.2f}')


def row(
    figure: str,
    unit: str,
    values: Sequence[float],
    references: Sequence[float] | None = None,
    *,
    limit: Limit | None = None,
) -> Row:
    """Return a row from the figures of each repeat.

    :param references: of the same repeats; None where there is nothing to compare with.
    """
    made: Row = {
        'figure': figure,
        'unit': unit,
        'value': median(values),
        'value_spread': [min(values), max(values)],
        'reference': None,
        'ratio': None,
        'ratio_spread': None,
    }
    if references is not None:
        ratios = [value / other for value, other in zip(values, references, strict=True)]
        made['reference'] = median(references)
        made['ratio'] = made['value'] / made['reference']
        made['ratio_spread'] = [min(ratios), max(ratios)]
    if limit is not None:
        made['limit'] = limit.text
        made['met'] = limit.at_least <= made[limit.of] <= limit.at_most
        if not made['met'] and limit.in_the_way is not None:
            made['in_the_way'] = limit.in_the_way
    return made


def missed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that miss a limit which nothing beyond this package keeps them from."""
    return [made for made in rows if not made.get('met', True) and 'in_the_way' not in made]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
