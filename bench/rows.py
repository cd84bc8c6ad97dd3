# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One row of the table: a figure, its bare reference of the same run, and how both vary.

A benchmark measures in several repeats; what a row holds are medians over them, and the lowest and
highest repeat as the spread. A row without `limit` only informs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

Row = dict[str, Any]
Say = Callable[[str], None]
"""Takes a line of progress."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a row must not exceed."""

    of: Literal['value', 'ratio']
    at_most: float


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
        made['limit'] = {'of': limit.of, 'at_most': limit.at_most}
        made['met'] = made[limit.of] <= limit.at_most
    return made


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
