# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What each viewer is sent: every record once, in order, and the present about once a second.

Nothing is kept for a viewer but how far it has read. The journal's listener only rings a bell;
what is new is read from the file after that, and no faster than the viewer takes it. So one that
reads slowly costs no memory, one that comes back is sent what it missed, and none of them is ever
waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from dataclasses import dataclass
from typing import Any

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.dashboard.history import History, Place
from robot_agent_harness.dashboard.now import present
from robot_agent_harness.dashboard.shown import shown
from robot_agent_harness.errors import HarnessError, JournalError
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.world.snapshot import WorldSnapshot

VIEWERS_MAX = 8
"""Streams at once; a further viewer is refused until one goes."""
PERIOD_S = 1.0
"""How often a viewer is told of the present."""
PAUSE_S = 0.2
"""The least time between two looks into the journal for one viewer."""
SHARED_S = 0.5
"""A look at the present that is younger serves another viewer as well."""


class TooManyViewersError(HarnessError):
    """As many look as may."""

    code = 'too_many_viewers'


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `place` is what a viewer names when it comes back."""

    event: str
    """`begin` (forget what was shown), `record`, `present`, `map` or `trouble`."""
    data: Any
    place: str | None = None


class Live:
    """The present and what is being recorded, for those who look."""

    def __init__(self, core: Core, history: History, *, clock: Clock, redactor: Redactor) -> None:
        self._core = core
        self._history = history
        self._clock = clock
        self._redactor = redactor
        self._bells: set[asyncio.Event] = set()
        self._seen: tuple[float, WorldSnapshot, dict[str, Any]] | None = None
        core.journal.add_event_listener(self._ring)

    @property
    def viewers(self) -> int:
        """How many look."""
        return len(self._bells)

    def admit(self) -> asyncio.Event:
        """Let one more look; give what is returned to :meth:`messages` and :meth:`release`.

        :raises TooManyViewersError: as many look as may.
        """
        if len(self._bells) >= VIEWERS_MAX:
            raise TooManyViewersError(f'{VIEWERS_MAX} look already; close one of them')
        bell = asyncio.Event()
        self._bells.add(bell)
        return bell

    def release(self, bell: asyncio.Event) -> None:
        """Let a viewer go."""
        self._bells.discard(bell)

    async def messages(self, bell: asyncio.Event, last_id: str | None) -> AsyncIterator[Message]:
        """Yield what one viewer is sent, for as long as it takes it.

        :param last_id: how far it had read when it was here last, if it was.
        """
        place = Place.parse(last_id)
        loop = asyncio.get_running_loop()
        due_s, drawn = loop.time(), ''
        while True:
            bell.clear()
            more = False
            try:
                news = await self._history.news(place)
                if news.begins_anew:
                    yield Message('begin', {'seq': news.at.seq})
                for line in news.lines:
                    yield Message('record', line, str(Place(news.at.file, line['seq'])))
                place, more = news.at, news.more
            except JournalError as error:
                yield Message('trouble', shown({'message': str(error)}))
            if loop.time() >= due_s:
                due_s = loop.time() + PERIOD_S
                snapshot, told = self._present()
                yield Message('present', told)
                with contextlib.suppress(JournalError):  # told as trouble just now, or next time
                    html = await self._history.live_map(snapshot.map_pose.usable)
                    if html != drawn:
                        drawn = html
                        yield Message('map', {'html': html})
            if not more:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(bell.wait(), max(0.0, due_s - loop.time()))
                    # What comes in quick succession is read together.
                    await asyncio.sleep(PAUSE_S)

    def _present(self) -> tuple[WorldSnapshot, dict[str, Any]]:
        now_s = asyncio.get_running_loop().time()
        if self._seen is None or now_s - self._seen[0] > SHARED_S:
            snapshot = self._core.observer.peek()
            told = present(snapshot, self._core, clock=self._clock, redactor=self._redactor)
            self._seen = (now_s, snapshot, told)
        return self._seen[1], {**self._seen[2], 'viewers': self.viewers}

    def _ring(self, *_: object) -> None:
        for bell in self._bells:
            bell.set()
