# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From a journal to a report file. Reads only; a journal that is being written is fine."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
from typing import TYPE_CHECKING

from robot_agent_harness.errors import ConfigurationError, JournalCorruptError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.elsewhere import not_in
from robot_agent_harness.journal.reader import JournalReader, Told, unheard
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.output_file import output_file
from robot_agent_harness.paths import expanded
from robot_agent_harness.report.settings import with_settings
from robot_agent_harness.report.story import Story, tell

if TYPE_CHECKING:
    from robot_agent_harness.report.page import Source

MISSIONS_MAX = 20
"""Missions in one report, the newest; others are asked for by their id."""
OUTSIDE_CALLS_MAX = 300
"""Calls outside missions in one report, the newest."""


def write_report(
    journal: Path | str,
    output: Path | str,
    mission_id: str | None = None,
    *,
    told: Told = unheard,
) -> Path:
    """Write the report of a mission, or of all that the journal holds, and return its path.

    :param told: of each record that is held against the chain, before anything is written.
    :raises JournalError: the journal is absent, damaged or of a newer release. Where only records
        were altered or lost, and the rest can be read, the report is written first, and says so.
    :raises ConfigurationError: there is no such mission, or the file cannot be written.
    """
    try:
        target = expanded(output)
    except OSError as error:
        raise ConfigurationError(f'output {output}: {error.strerror}') from error
    with JournalReader(journal) as reader:
        if mission_id is not None:
            _refuse_unknown(reader, mission_id)
        damage = reader.damage(told)
        mode = 0o666 & ~_umask()
        # Absolute: a report goes into a file, also one that is called `-`.
        with output_file(target.absolute(), reader.path, mode=mode) as file:
            file.write(report_page(reader, mission_id, damage=damage).encode())
        if damage is not None:
            raise JournalCorruptError(
                f'journal {reader.path} is damaged: {damage}; the report was written all the same,'
                f' and says so: {target}'
            )
    return target


def report_page(
    reader: JournalReader, mission_id: str | None, *, damage: str | None = None
) -> str:
    """Return the report of a mission, or of all that the journal holds, as HTML.

    :param damage: what shows that records were altered or lost.
    :raises ConfigurationError: there is no such mission.
    """
    # Here: what only tells stories goes without the templates' library.
    from robot_agent_harness.report.page import render

    if mission_id is not None:
        _refuse_unknown(reader, mission_id)
        return render([_told(reader, mission_id)], _source(reader, 0, damage))
    known = [mission.mission_id for mission in reader.missions()]
    chosen = known[-MISSIONS_MAX:][::-1]
    stories = [_told(reader, one) for one in chosen]
    outside = tell(None, outside_missions(reader))
    if outside.turns:
        stories.append(outside)
    return render(stories, _source(reader, len(known) - len(chosen), damage))


def _source(reader: JournalReader, left_out: int, damage: str | None) -> Source:
    from robot_agent_harness.report.page import Source

    earlier = reader.predecessor()
    name = None if earlier is None else earlier.name
    return Source(str(reader.path), reader.last_seq, left_out, name, damage)


def _refuse_unknown(reader: JournalReader, mission_id: str) -> None:
    if not reader.count(Selection(mission_id=mission_id)):
        have = ', '.join(mission.mission_id for mission in reader.missions()[-5:]) or 'none'
        raise ConfigurationError(f'mission {mission_id}: {not_in(reader)}; its newest are: {have}')


def _told(reader: JournalReader, mission_id: str) -> Story:
    found = reader.select(Selection(mission_id=mission_id))
    return tell(mission_id, with_settings(reader, found))


def outside_missions(reader: JournalReader) -> Iterator[RecordedEvent]:
    """Yield what belongs to the calls of MCP clients and operators, in order: the newest calls."""
    calls = Selection(types=(EventType.TOOL_CALL_RECORDED.value,), outside_missions=True)
    newest = reader.newest_seqs(calls, OUTSIDE_CALLS_MAX)
    found = reader.select(calls, after_seq=newest[-1] - 1) if newest else iter(())
    ids = [event.tool_call_id for event in found if event.tool_call_id is not None]
    events = [event for call in ids for event in reader.events(tool_call_id=call)]
    yield from with_settings(reader, sorted(events, key=lambda event: event.seq))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
