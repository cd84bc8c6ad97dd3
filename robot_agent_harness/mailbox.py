# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What has happened that a mission's model has not been told of.

It fills while the model thinks and while an action runs, and is emptied by the next turn. It is
bounded, and a flood of anything does not wash a person's words away.
"""

from __future__ import annotations

from collections.abc import Iterator

from robot_agent_harness.world.salient import Salient

MAILBOX_MAX = 32
"""Different events kept; what is left out is in the journal, and that it was is told."""
HUMAN_MESSAGE = 'human_message'


class Mailbox:
    """Salient events in the order of their last occurrence, repeated ones counted."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._left_out = 0

    def __bool__(self) -> bool:
        return bool(self._counts)

    @property
    def from_people(self) -> bool:
        """Whether a person has said something."""
        return any(kind == HUMAN_MESSAGE for kind, _ in self._counts)

    def put(self, salient: Salient) -> None:
        """Keep an event, forgetting the oldest that nobody said where there are too many."""
        event = (salient.kind, salient.message)
        self._counts[event] = self._counts.pop(event, 0) + 1
        if len(self._counts) > MAILBOX_MAX:
            oldest = next(
                (known for known in self._counts if known[0] != HUMAN_MESSAGE),
                next(iter(self._counts)),
            )
            self._left_out += self._counts.pop(oldest)

    def take(self) -> tuple[str, list[str]]:
        """Empty the mailbox: a line for each event, oldest first, and what to ask because of.

        That is a person's words, else the newest event.
        """
        newest = next(reversed(self._counts), ('none', ''))[0]
        kind = HUMAN_MESSAGE if self.from_people else newest
        lines = list(self._lines())
        self._counts, self._left_out = {}, 0
        return kind, lines

    def _lines(self) -> Iterator[str]:
        if self._left_out:
            yield f'{self._left_out} earlier events were left out; they are in the journal'
        for (kind, message), count in self._counts.items():
            often = f' ({count} times)' if count > 1 else ''
            yield f'{kind}: {message}{often}'
