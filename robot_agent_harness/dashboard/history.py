# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The past, read from the journal a page at a time, off the loop and one query after the other.

Each query opens the journal anew: a rotation between two of them is then seen as what it is, a
file that begins again. Nothing here takes longer because a journal is a month old: pages are found
by its indexes, and what a story may hold is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from robot_agent_harness.dashboard.earlier import NotThereError, open_file, TooLongError
from robot_agent_harness.dashboard.shown import line, shown, whole
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.report import outside_missions, report_page
from robot_agent_harness.report.settings import with_settings
from robot_agent_harness.report.story import tell, Teller
from robot_agent_harness.report.values import brief, text
from robot_agent_harness.texts import one_line
from robot_agent_harness.world.snapshot import MapPose

T = TypeVar('T')

RECENT = 200
"""Records that a new viewer is shown at once."""
CATCH_UP_MAX = 2000
"""Records that a viewer who was away is sent one by one; after more it begins anew."""
PAGE = 100
"""Records sent between two looks at anything else."""
MISSIONS_PAGE, RECORDS_PAGE = 25, 100
STORY_MAX = 20_000
"""Records of one mission that are told in the page; the command `report` tells all."""
LIVE_STORY_MAX = 5_000
"""The same of the mission on the live map: its newest."""
TITLE_MAX_BYTES = 200
"""Of each text about a mission in the list of them."""
TAG_CHARS = 12
"""Of the first record's chain: enough to tell one file from the next."""

_BEGINS = (EventType.MISSION_STARTED.value, EventType.TOOL_CALL_RECORDED.value)


@dataclass(frozen=True, slots=True)
class Place:
    """How far a viewer has read: in which file, and up to which record."""

    file: str
    seq: int

    @classmethod
    def parse(cls, text: str | None) -> Place | None:
        """Return what a viewer sends as Last-Event-ID; None where it is none of ours."""
        file, _, seq = (text or '').rpartition('-')
        if not file or not seq.isascii() or not seq.isdigit() or len(seq) > len(str(2**63)):
            return None
        return cls(file, int(seq))

    def __str__(self) -> str:
        return f'{self.file}-{self.seq}'


@dataclass(frozen=True, slots=True)
class News:
    """What a viewer has not seen yet."""

    begins_anew: bool
    """Whether what it has must be forgotten: another file, or too much has happened."""
    lines: list[dict[str, Any]]
    at: Place
    """How far it has read with these."""
    more: bool


class History:
    """Reads one journal for all viewers.

    Every method raises a JournalError where the journal cannot be read.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        # One thread for what is live and one for pages: neither fills the pool that others use.
        self._live = asyncio.Semaphore(1)
        self._paging = asyncio.Semaphore(1)
        self._story: _LiveStory | None = None

    async def news(self, place: Place | None) -> News:
        """Return the records after a place, at most a page of them."""
        return await self._read(self._live, lambda reader: _news(reader, place))

    async def live_map(self, here: MapPose | None) -> str:
        """Return the map of the newest mission, or of what is called outside missions, as HTML."""
        return await self._read(self._live, lambda reader: self._drawn(reader, here))

    async def missions(self, selection: Selection, *, file: str | None = None) -> dict[str, Any]:
        """Return a page of missions, the newest first, and where the next one begins.

        :param file: an earlier file's name, here and in what follows; None: the journal.
        :raises NotThereError: there is no such file, here and in what follows.
        :raises TooLongError: it is too large, here and in what follows.
        """
        return await self._read(self._paging, lambda reader: _missions(reader, selection), file)

    async def records(self, selection: Selection, *, file: str | None = None) -> dict[str, Any]:
        """Return a page of records, the newest first, and where the next one begins."""
        return await self._read(self._paging, lambda reader: _records(reader, selection), file)

    async def record(self, seq: int, *, file: str | None = None) -> dict[str, Any]:
        """Return one record with all that it holds.

        :raises NotThereError: there is none of that number.
        """
        return await self._read(self._paging, lambda reader: _record(reader, seq), file)

    async def mission(self, mission_id: str | None, *, file: str | None = None) -> str:
        """Return the story of a mission, or of the calls outside missions, as part of a page.

        :raises NotThereError: the journal has none of that id.
        """
        return await self._read(self._paging, lambda reader: _mission(reader, mission_id), file)

    async def report(self, mission_id: str, *, file: str | None = None) -> str:
        """Return the report of a mission as a page of its own.

        :raises NotThereError: the journal has none of that id.
        :raises TooLongError: it has more records than are told here.
        """
        return await self._read(self._paging, lambda reader: _report(reader, mission_id), file)

    async def _read(
        self, turn: asyncio.Semaphore, ask: Callable[[JournalReader], T], file: str | None = None
    ) -> T:
        def read() -> T:
            with open_file(self._journal, file) as reader:
                return ask(reader)

        async with turn:
            return await asyncio.to_thread(read)

    def _drawn(self, reader: JournalReader, here: MapPose | None) -> str:
        file = _file(reader)
        begun = reader.newest_of(Selection(types=_BEGINS))
        mission_id = begun.mission_id if begun else None
        story = self._story
        if story is None or (story.file, story.mission_id) != (file, mission_id):
            story = self._story = _LiveStory(file, mission_id)
        return story.drawn(reader, here)


class _LiveStory:
    """One mission as far as it has gone, which is read once and then gone on with."""

    def __init__(self, file: str, mission_id: str | None) -> None:
        self.file = file
        self.mission_id = mission_id
        self._teller = Teller(mission_id)
        self._seq: int | None = None
        self._selection = Selection(mission_id=mission_id, outside_missions=mission_id is None)
        self._drawn: tuple[int, tuple[float, float, float] | None] | None = None
        self._html = ''

    def drawn(self, reader: JournalReader, here: MapPose | None) -> str:
        """Return the map, drawn anew only where something has changed."""
        if self._seq is None:
            newest = reader.newest_seqs(self._selection, LIVE_STORY_MAX)
            self._seq = newest[-1] - 1 if newest else 0
        news = reader.select(self._selection, after_seq=self._seq)
        for event in with_settings(reader, news):
            self._teller.take(event)
            self._seq = max(self._seq, event.seq)
        # Here, as below: a node that nobody looks at goes without the templates' library.
        from robot_agent_harness.report.page import render_map

        # To the centimetre and the tenth of a radian: noise of a robot at rest is no change.
        at = None if here is None else (round(here.x, 2), round(here.y, 2), round(here.yaw, 1))
        if self._drawn != (self._seq, at):
            self._drawn = (self._seq, at)
            self._html = render_map(self._teller.story, here=at)
        return self._html


def _file(reader: JournalReader) -> str:
    """Return what tells this file from the one before and after it."""
    first = next(reader.events(limit=1), None)
    return 'empty' if first is None else first.chain[:TAG_CHARS]


def _news(reader: JournalReader, place: Place | None) -> News:
    file, last = _file(reader), reader.last_seq
    known = place is not None and place.file == file and last - place.seq in range(CATCH_UP_MAX)
    after = place.seq if place is not None and known else max(0, last - RECENT)
    events = list(reader.events(after_seq=after, limit=PAGE))
    at = Place(file, events[-1].seq if events else after)
    return News(
        begins_anew=not known,
        lines=[line(event) for event in events],
        at=at,
        more=len(events) == PAGE,
    )


def _missions(reader: JournalReader, selection: Selection) -> dict[str, Any]:
    begun, following = _page(reader, selection, MISSIONS_PAGE)

    def row(begin: RecordedEvent) -> dict[str, Any]:
        ended = reader.end(begin)
        told = ended.payload if ended else {}
        return {
            'mission_id': begin.mission_id,
            **shown(
                {
                    'mission': brief(begin.mission_id or ''),
                    'instruction': _in_short(begin.payload, 'instruction'),
                    'model': _in_short(begin.payload, 'model')
                    or _in_short(begin.payload, 'provider'),
                    'outcome': _in_short(told, 'outcome'),
                    'reason': _in_short(told, 'reason'),
                    'steps': told.get('steps'),
                }
            ),
            'at_ns': begin.wall_time_ns,
            'took_s': (ended.wall_time_ns - begin.wall_time_ns) / 1e9 if ended else None,
        }

    earlier = reader.predecessor()
    return {
        'missions': [row(begin) for begin in begun],
        'next_before': following,
        'earlier_file': None if earlier is None else shown(earlier.name),
        'earlier_is_here': earlier is not None and earlier.path is not None,
    }


def _in_short(payload: dict[str, Any], key: str) -> str | None:
    value = text(payload, key)
    return None if value is None else one_line(value, TITLE_MAX_BYTES)


def _records(reader: JournalReader, selection: Selection) -> dict[str, Any]:
    found, following = _page(reader, selection, RECORDS_PAGE)
    return {
        'records': [line(event) for event in found],
        'next_before': following,
        'types': [kind.value for kind in EventType],
    }


def _page(
    reader: JournalReader, selection: Selection, size: int
) -> tuple[list[RecordedEvent], int | None]:
    """Return the newest records of a selection, the newest first, and before which more lie."""
    seqs = reader.newest_seqs(selection, size + 1)
    wanted = seqs[:size]
    if not wanted:
        return [], None
    # The numbers are known: their records are the first of the selection after the oldest one.
    found = list(reader.select(selection, after_seq=wanted[-1] - 1, limit=len(wanted)))
    return found[::-1], wanted[-1] if len(seqs) > size else None


def _record(reader: JournalReader, seq: int) -> dict[str, Any]:
    event = next(reader.events(after_seq=seq - 1, limit=1), None)
    if event is None or event.seq != seq:
        raise NotThereError(f'there is no record {seq}')
    return whole(event)


def _report(reader: JournalReader, mission_id: str) -> str:
    if _count(reader, mission_id) > STORY_MAX:
        raise TooLongError(
            f'the mission has more than {STORY_MAX} records: robot-agent-harness report tells all'
        )
    return report_page(reader, mission_id)


def _count(reader: JournalReader, mission_id: str) -> int:
    """Return how many records a mission has; one that there is not costs a look-up only."""
    number = reader.count(Selection(mission_id=mission_id))
    if not number:
        raise NotThereError('the journal has no mission of that id')
    return number


def _mission(reader: JournalReader, mission_id: str | None) -> str:
    from robot_agent_harness.report.page import render_mission

    if mission_id is None:
        return render_mission(tell(None, outside_missions(reader)), left_out=0)
    number = _count(reader, mission_id)
    records = reader.select(Selection(mission_id=mission_id), limit=STORY_MAX)
    story = tell(mission_id, with_settings(reader, records))
    return render_mission(story, left_out=max(0, number - STORY_MAX))
