# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The clock and the ids of a run that has been before."""

from __future__ import annotations

from collections import Counter, deque
from contextvars import ContextVar

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import EventType
from robot_agent_harness.replay.loop import ReplayLoop
from robot_agent_harness.replay.recording import Recording

GIVEN_CALL: ContextVar[str | None] = ContextVar('GIVEN_CALL', default=None)
"""The id of the recorded call that is being made again."""
_CALL: ContextVar[str | None] = ContextVar('_CALL', default=None)


class ReplayClock:
    """A `Clock` that reads the recorded times again."""

    def __init__(self, recording: Recording, loop: ReplayLoop) -> None:
        first = recording.records[0]
        self._loop = loop
        self._origin_ns = recording.origin_ns
        self._wall_ns = first.wall_time_ns - recording.origin_ns
        self._ros_ns = (first.ros_time_ns or first.wall_time_ns) - recording.origin_ns

    def monotonic_ns(self) -> int:
        """Return the steady time of the recorded machine."""
        return self._origin_ns + round(self._loop.time() * NS_PER_S)

    def wall_ns(self) -> int:
        """Return the wall time, as if that clock had not stepped since."""
        return self.monotonic_ns() + self._wall_ns

    def ros_ns(self) -> int:
        """Return the ROS time, as if that clock had not stepped since."""
        return self.monotonic_ns() + self._ros_ns


def call_under_way() -> str | None:
    """Return the id of the call that this is done for."""
    return _CALL.get()


class RecordedIds:
    """An `IdSource` that gives the recorded ids again; those beyond them say that they are new."""

    def __init__(self, recording: Recording) -> None:
        # A recording may end between what a turn saw and the turn.
        turns = recording.of(EventType.WORLD_SNAPSHOT_CAPTURED, EventType.MODEL_TURN_STARTED)
        self._turns = deque(
            dict.fromkeys(
                str(record.turn_id)
                for record in turns
                if record.payload.get('reason', 'model_turn') == 'model_turn'
            )
        )
        self._model_calls = deque(
            call_id for call_id, call in recording.calls.items() if call.turn_id is not None
        )
        self._goals = {
            str(record.tool_call_id): str(record.action_id)
            for record in recording.of(EventType.ROBOT_ACTION_STARTED)
        }
        self._counts: Counter[str] = Counter()

    def new_id(self, kind: str) -> str:
        """Return the next recorded id of this kind."""
        if kind == 'call':
            given = GIVEN_CALL.get()
            if given is None and self._model_calls:
                given = self._model_calls.popleft()
            given = given or self._beyond(kind)
            _CALL.set(given)
            return given
        if kind == 'turn' and self._turns:
            return self._turns.popleft()
        return self._beyond(kind)

    def new_goal_id(self) -> str:
        """Return the goal id that the call under way had."""
        known = self._goals.get(_CALL.get() or '')
        if known is not None:
            return known
        self._counts['goal'] += 1
        return f'{self._counts["goal"]:032x}'

    def _beyond(self, kind: str) -> str:
        self._counts[kind] += 1
        return f'{kind}-new-{self._counts[kind]}'
