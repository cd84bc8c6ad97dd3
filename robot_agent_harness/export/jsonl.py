# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Records as JSON Lines: one record a line, with every column, in the order of the table."""

from __future__ import annotations

import json
from pathlib import Path

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.export.source import naming, Source
from robot_agent_harness.journal.schema import COLUMNS
from robot_agent_harness.output_file import output_file

_ENCODER = json.JSONEncoder(separators=(',', ':'), allow_nan=False)
"""ASCII only, so that no reader splits a line where the text has a separator of its own."""


def export_jsonl(source: Source, target: Path | str) -> int:
    """Write the records and return how many there were.

    :param target: the file; `-` = standard output.
    :raises ConfigurationError: no such mission, or the file cannot be written.
    :raises JournalError: a record cannot be read.
    """
    count = 0
    with output_file(target, source.reader.path) as file:
        for event in source.events():
            with naming(event):
                file.write(_line(event))
            count += 1
    return count


def _line(event: RecordedEvent) -> bytes:
    # The payload keeps the order that it has in the journal, which is sorted.
    text = _ENCODER.encode({column: getattr(event, column) for column in COLUMNS})
    return f'{text}\n'.encode('ascii')
