# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the checks share: where violations are noted, and what of the file they may look up."""

from __future__ import annotations

from dataclasses import dataclass, field

from robot_agent_harness.journal.reader import JournalReader


@dataclass(slots=True)
class Notes:
    """Violations, each once, in the order in which they were found."""

    reader: JournalReader
    """For what was forgotten: an id leads to its records at once."""
    continues: bool = False
    """Whether the file goes on from another one, in which an id may have begun."""
    _told: set[str] = field(default_factory=set)
    _found: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Note a violation."""
        if text not in self._told:
            self._told.add(text)
            self._found.append(text)

    def take(self) -> list[str]:
        """Return what was noted since."""
        found, self._found = self._found, []
        return found


def check_begin_and_end(
    notes: Notes, name: str, begun: list[int], ended: list[int], end: str, finished: bool
) -> None:
    """Note where something has not exactly one beginning and, after it, one end.

    :param begun: the numbers of the records that begin it.
    :param end: what its end is called.
    :param finished: whether it must have ended.
    """
    if len(begun) != 1:
        notes.add(f'{name} was recorded {len(begun)} times')
    if len(ended) > 1 or (finished and not ended):
        notes.add(f'{name} has {len(ended)} {end}s')
    if begun and ended and min(ended) < min(begun):
        notes.add(f'record {min(ended)}: the {end} of {name} comes before it')
