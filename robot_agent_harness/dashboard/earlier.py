# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The files that a journal was before it was rotated: archives beside it, read by their names."""

from __future__ import annotations

from pathlib import Path

from robot_agent_harness.errors import HarnessError, JournalUnavailableError
from robot_agent_harness.journal.archive import SUFFIX
from robot_agent_harness.journal.reader import JournalReader

PACKED_MAX_BYTES = 32 * 1024**2
"""A larger archive is not unpacked for a page: a journal packs to a sixth, and the machine is the
robot's."""


class NotThereError(HarnessError):
    """What was asked for is not in the journal."""

    code = 'not_there'


class TooLongError(HarnessError):
    """What was asked for would keep the machine of a robot busy."""

    code = 'too_long'


def open_file(journal: Path, earlier: str | None) -> JournalReader:
    """Return a reader of the journal, or of one of the files that it was before.

    :param earlier: the file's name, as a page of missions has it; None: the journal.
    :raises NotThereError: no closed file of this journal has that name.
    :raises TooLongError: it is too large to be unpacked here.
    :raises JournalError: it cannot be read.
    """
    if earlier is None:
        return JournalReader(journal)
    # What lies beside the journal under its name, and nothing else that this process could open.
    names = (
        (earlier, earlier.removesuffix(SUFFIX)) if earlier.startswith(f'{journal.stem}-') else ()
    )
    try:
        found = next((path for path in journal.parent.iterdir() if path.name in names), None)
        packed = found.stat().st_size if found is not None and found.suffix == SUFFIX else 0
    except OSError as error:
        raise JournalUnavailableError(f'{journal.parent}: {error.strerror}') from error
    if found is None:
        raise NotThereError('this journal has no earlier file of that name')
    if packed > PACKED_MAX_BYTES:
        raise TooLongError(
            f'that file has more than {PACKED_MAX_BYTES // 1024**2} MiB packed:'
            ' robot-agent-harness report and journal read it'
        )
    return JournalReader(found)
