# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened: the append-only, chained, durable record of everything that mattered."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from robot_agent_harness.journal.reader import JournalReader, MissionRecord, MissionUsage, OpenWork
from robot_agent_harness.journal.schema import chain_of
from robot_agent_harness.journal.selection import Selection

if TYPE_CHECKING:
    from robot_agent_harness.journal.store import MissionJournal
    from robot_agent_harness.journal.writer import Entry

__all__ = [
    'Entry',
    'JournalReader',
    'MissionJournal',
    'MissionRecord',
    'MissionUsage',
    'OpenWork',
    'Selection',
    'chain_of',
]


def __getattr__(name: str) -> Any:
    # What writes takes a fifth of a second to import, for which nobody who reads should wait.
    if name == 'MissionJournal':
        from robot_agent_harness.journal.store import MissionJournal

        return MissionJournal
    if name == 'Entry':
        from robot_agent_harness.journal.writer import Entry

        return Entry
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
