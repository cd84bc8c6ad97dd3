# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What somebody may have meant who mistyped a name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_SURELY, _PERHAPS = 0.75, 0.5
"""How alike names are, from 0 to 1, of which one is told or some are."""
_TOLD_MAX = 3


def meant(name: str, known: Iterable[str]) -> str:
    """Return how a message about an unknown name ends: which ones it may stand for; or empty."""
    group, dot, rest = name.rpartition('.')
    names = list(known)
    # Names of one group are alike already by what they begin with.
    of_group = {own.rpartition('.')[2]: own for own in names if own.rpartition('.')[0] == group}
    near = [of_group[found] for found in _near(rest, list(of_group))]
    if not near and not (dot and of_group):
        near = _near(name, names)
    return f'; did you mean {" or ".join(near)}?' if near else ''


def _near(name: str, known: list[str]) -> list[str]:
    return get_close_matches(name, known, 1, _SURELY) or get_close_matches(
        name, known, _TOLD_MAX, _PERHAPS
    )
