# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The promises about missions: one end each, decisions bound to what was seen, one physical action
for each, and no achievement without a verified one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from robot_agent_harness.actions.lifecycle import ActionState
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.invariants.notes import check_begin_and_end, Notes
from robot_agent_harness.report.values import text

_E = EventType


@dataclass(slots=True)
class _Mission:
    begun: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    turn_id: str | None = None
    """The turn under way."""
    acted: str | None = None
    """The action that it started."""
    last_state: str | None = None
    """How the newest of its actions to end has ended."""


class Missions:
    """Takes the records about missions, and judges each one at its end."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._open: dict[str, _Mission] = {}

    def take(self, event: RecordedEvent) -> None:
        """Take in the beginning or the end of a mission."""
        mission_id = str(event.mission_id)
        mission = self._known(event, mission_id)
        _add(mission, event)
        if event.type == _E.MISSION_ENDED:
            self._check_claim(event, mission)
        if mission.ended:
            self._judge(mission_id, mission, finished=False)
            del self._open[mission_id]

    def turn(self, event: RecordedEvent) -> None:
        """Take in that the model is about to be asked."""
        notes, seq = self._notes, event.seq
        if event.turn_id is None:
            notes.add(f'record {seq} ({event.type}) lacks the id that it is about')
        mission = self._open.get(event.mission_id or '')
        if mission is None or not mission.begun:
            notes.add(
                f'record {seq}: the model is asked for mission {event.mission_id}, which is not'
                ' under way'
            )
        else:
            mission.turn_id, mission.acted = event.turn_id, None
        seen = notes.reader.captures(event.snapshot_id) if event.snapshot_id else []
        if not any(at < seq for at in seen):
            notes.add(
                f'record {seq}: the model is asked on snapshot {event.snapshot_id}, which is not'
                ' on record before'
            )

    def answer(self, event: RecordedEvent) -> None:
        """Take in what the model said."""
        mission = self._open.get(event.mission_id or '')
        if mission is None or event.turn_id is None or mission.turn_id != event.turn_id:
            self._notes.add(
                f'record {event.seq}: the model answers in turn {event.turn_id}, which is not'
                ' under way'
            )

    def start(self, event: RecordedEvent) -> None:
        """Take in the start of an action that may be a mission's."""
        mission = self._open.get(event.mission_id or '')
        if mission is None or event.turn_id is None or mission.turn_id != event.turn_id:
            return
        if mission.acted is not None:
            self._notes.add(
                f'record {event.seq}: action {event.action_id} is the second one of turn'
                f' {event.turn_id}, after {mission.acted}'
            )
        mission.acted = event.action_id

    def outcome(self, event: RecordedEvent) -> None:
        """Take in the outcome of an action that may be a mission's."""
        mission = self._open.get(event.mission_id or '')
        if mission is not None:
            mission.last_state = text(event.payload, 'state')

    def finish(self, *, finished: bool) -> None:
        """Judge the missions that have no end."""
        for mission_id, mission in self._open.items():
            self._judge(mission_id, mission, finished)

    def _known(self, event: RecordedEvent, mission_id: str) -> _Mission:
        mission = self._open.get(mission_id)
        if mission is None:
            mission = self._open[mission_id] = _Mission()
            types = (_E.MISSION_STARTED.value, _E.MISSION_ENDED.value)
            for earlier in self._notes.reader.select(
                Selection(mission_id=mission_id, types=types, before_seq=event.seq)
            ):
                _add(mission, earlier)
        return mission

    def _check_claim(self, event: RecordedEvent, mission: _Mission) -> None:
        """Hold an achievement against what was verified: a claim alone is none."""
        if event.payload.get('outcome') != 'achieved':
            return
        if event.payload.get('claim_supported') is not True:
            self._notes.add(
                f'record {event.seq}: mission {event.mission_id} is achieved on a claim that no'
                ' outcome supports'
            )
        elif mission.last_state != ActionState.SUCCEEDED:
            self._notes.add(
                f'record {event.seq}: mission {event.mission_id} is achieved, and the last of its'
                f' actions to end is {mission.last_state or "none"}'
            )

    def _judge(self, mission_id: str, mission: _Mission, finished: bool) -> None:
        name = f'mission {mission_id}'
        check_begin_and_end(self._notes, name, mission.begun, mission.ended, 'end', finished)


def _add(mission: _Mission, event: RecordedEvent) -> None:
    if event.type == _E.MISSION_STARTED:
        mission.begun.append(event.seq)
    elif event.type == _E.MISSION_ENDED:
        mission.ended.append(event.seq)
