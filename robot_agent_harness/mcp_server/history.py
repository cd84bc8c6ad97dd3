# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the journal knows, for clients; read on a worker thread: the disk holds up no loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.recorded import recorded_action
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader

T = TypeVar('T')


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """An action with the call that started it."""

    action: RobotAction
    client: dict[str, Any]
    """Who called, as the call recorded it."""
    started_wall_ns: int
    updated_wall_ns: int
    """When the newest record of it was made, in nanoseconds since the Unix epoch."""


class History:
    """The journal, read only.

    Every method raises a JournalError where the journal cannot be read.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal

    async def events(self, mission_id: str, *, after_seq: int, limit: int) -> list[dict[str, Any]]:
        """Return at most so many events of a mission after a record number, JSON-ready."""
        return await self._read(
            lambda reader: [
                {name: getattr(event, name) for name in event.__slots__}
                for event in reader.events(mission_id=mission_id, after_seq=after_seq, limit=limit)
            ]
        )

    async def of_mission(self, mission_id: str, make: Callable[[Any], T]) -> T:
        """Return what `make` makes of an iterator over a mission's events, on the worker."""
        return await self._read(lambda reader: make(reader.events(mission_id=mission_id)))

    async def snapshot(self, snapshot_id: str) -> dict[str, Any] | None:
        """Return a recorded snapshot; None if there is none."""
        return await self._read(lambda reader: reader.snapshot(snapshot_id))

    async def action(self, action_id: str) -> ActionRecord | None:
        """Return an action with its call; None if none of that id was started."""
        return await self._read(lambda reader: _action(reader, action_id))

    async def _read(self, ask: Callable[[JournalReader], T]) -> T:
        def read() -> T:
            with JournalReader(self._journal) as reader:
                return ask(reader)

        return await asyncio.to_thread(read)


def _action(reader: JournalReader, action_id: str) -> ActionRecord | None:
    events = list(reader.events(action_id=action_id))
    action = recorded_action(events)
    if action is None:
        return None
    call = _call(reader, action.tool_call_id)
    started = next(e for e in events if e.type == EventType.ROBOT_ACTION_STARTED)
    client = call.payload.get('client', {}) if call else {}
    return ActionRecord(action, client, started.wall_time_ns, events[-1].wall_time_ns)


def _call(reader: JournalReader, tool_call_id: str) -> RecordedEvent | None:
    found = reader.events(tool_call_id=tool_call_id, type=EventType.TOOL_CALL_RECORDED)
    return next(found, None)
