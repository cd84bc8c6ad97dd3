# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a journal keeps what DESIGN section 2 and CONTRACT ("The journal") promise.

For tests of the harness, and for users who want to check a robot's journal, or a skill of theirs;
on the command line it is `robot-agent-harness journal verify`.
"""

from __future__ import annotations

from pathlib import Path

from robot_agent_harness.errors import JournalError
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal_tools.invariants import violations


def assert_journal(path: Path | str, *, finished: bool = True) -> None:
    """Raise an AssertionError that names every violation in a journal, if there is one.

    :param finished: whether every call, action and mission must have its end.
    """
    found = check_journal(path, finished=finished)
    if found:
        raise AssertionError('\n'.join([f'journal {path}:', *found]))


def check_journal(path: Path | str, *, finished: bool = True) -> list[str]:
    """Return every violation of the journal's invariants, each in a line; none for a sound one.

    :param finished: whether every call, action and mission must have its end; False for a journal
        that a harness is writing, or has left when it was killed.
    """
    try:
        with JournalReader(path, lenient=True) as reader:
            return list(violations(reader, finished=finished))
    except JournalError as error:
        return [str(error)]
