# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened: the append-only, chained, durable record of everything that mattered."""

from robot_agent_harness.journal.reader import JournalReader, MissionRecord, MissionUsage, OpenWork
from robot_agent_harness.journal.schema import chain_of
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.journal.writer import Entry

__all__ = [
    'Entry',
    'JournalReader',
    'MissionJournal',
    'MissionRecord',
    'MissionUsage',
    'OpenWork',
    'chain_of',
]
