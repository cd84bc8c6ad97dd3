# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where to look for what is not in a journal."""

from __future__ import annotations

from robot_agent_harness.journal.reader import JournalReader


def not_in(reader: JournalReader) -> str:
    """Return that something is not in this file, and which one has what was before it, if any."""
    earlier = reader.predecessor()
    if earlier is None:
        return f'not in {reader.path}'
    absent = '' if earlier.path else ', which is not beside it'
    return f'not in {reader.path}, and what was before it is in {earlier.name}{absent}'
