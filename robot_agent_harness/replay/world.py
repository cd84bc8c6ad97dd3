# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Gives the recorded snapshots again, each for what it was taken for.

A look that was not recorded led to nothing: of those that a verification takes until it is sure,
the last one alone is on record, and gets its turn at its time. Before, nothing is seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.observer import Look, WorldObserver
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.replay.loop import SLACK_S
from robot_agent_harness.replay.recording import Recording
from robot_agent_harness.skills.starter import FIRST_HEARD_PERIOD_S
from robot_agent_harness.world.builder import WorldSnapshotBuilder
from robot_agent_harness.world.recorded import FACTS, unseen_world
from robot_agent_harness.world.snapshot import (
    Availability,
    MapPose,
    Navigation,
    Observed,
    WorldSnapshot,
)
from robot_agent_harness.world.store import SnapshotStore

NOT_RECORDED = 'what was seen here is not on record'
_REASONS = {
    Look.MODEL_TURN: 'model_turn',
    Look.DECISION: 'decision',
    Look.PRE_DISPATCH: 'pre_dispatch',
    Look.REQUESTED: 'shown',
    Look.VERIFICATION: 'verification',
    Look.OUTCOME: 'verification',
    Look.RECOVERY: 'recovery',
}


class ReplayedObserver(WorldObserver):
    """A `WorldObserver` that sees what was seen then."""

    def __init__(
        self,
        *,
        recording: Recording,
        clock: Clock,
        builder: WorldSnapshotBuilder,
        board: ActionBoard,
        store: SnapshotStore,
        controller: str,
    ) -> None:
        recorded = _RecordedStore(recording, clock)
        super().__init__(builder=builder, board=board, store=recorded, controller=controller)
        self.unanswered_ns: int | None = None
        """When something was first looked at that the recording does not show."""
        self._recording = recording
        self._clock = clock
        self._made = 0

    def capture(
        self, mission_id: str | None, look: Look = Look.REQUESTED, about: str | None = None
    ) -> WorldSnapshot:
        """Return the snapshot that was taken for this."""
        snapshot = self._with_goals(self._seen(look, str(about)))
        self.store.add(snapshot)
        return snapshot

    def peek(self) -> WorldSnapshot:
        """Return a world in which there is nothing to tell."""
        return _heard(self._unseen())

    def news(self) -> tuple[object, ...]:
        """Return what is never the same: what came in between then is not heard again."""
        return (object(),)

    def never_heard(self, call_id: str) -> frozenset[str]:
        """Return nothing once the call went on then, and all it may wait for before."""
        call = self._recording.calls.get(call_id)
        going_on_ns = 0 if call is None else self._recording.when(call.seq)
        early_ns = going_on_ns - self._clock.monotonic_ns()
        return frozenset(FACTS) if early_ns > FIRST_HEARD_PERIOD_S * NS_PER_S else frozenset()

    def _seen(self, look: Look, about: str) -> WorldSnapshot:
        found = self._recording.by_reason
        if look is Look.STILL_HOLDS:
            taken = found.get(('shown', about)) or found.get(('pre_dispatch', about))
        else:
            taken = found.get((_REASONS.get(look, ''), about))
        now_ns = self._clock.monotonic_ns()
        if taken is None:
            self.unanswered_ns = self.unanswered_ns or now_ns
            return self._unseen()
        if look is not Look.VERIFICATION:
            return taken.snapshot
        early_ns = taken.snapshot.captured_monotonic_ns - now_ns
        if early_ns > 0 and not self._is_next(taken.seq, early_ns):
            return self._unseen()
        if -early_ns > SLACK_S * NS_PER_S:
            # Judged longer than then: the robot was last seen so, and is taken to be so still.
            return replace(taken.snapshot, captured_monotonic_ns=now_ns)
        return taken.snapshot

    def _with_goals(self, snapshot: WorldSnapshot) -> WorldSnapshot:
        """Return it with goals whose keys have their order again, which JSON does not keep."""
        active, recent = snapshot.active_action, snapshot.recent_outcome
        known = self._board.get(active.action_id) if active else None
        if active is not None and known is not None and known.goal == active.goal:
            snapshot = replace(snapshot, active_action=replace(active, goal=known.goal))
        known = self._board.get(recent.action_id) if recent else None
        if recent is not None and known is not None and known.goal == recent.goal:
            snapshot = replace(snapshot, recent_outcome=replace(recent, goal=known.goal))
        return snapshot

    def _is_next(self, seq: int, early_ns: int) -> bool:
        """Whether nothing else was recorded until this look, which is a moment away: a deadline,
        for instance, that a busy machine noticed late.
        """
        if early_ns > SLACK_S * NS_PER_S:
            return False
        times, first = self._recording.steady_ns, self._recording.first_seq
        return times[seq - first - 1] <= self._clock.monotonic_ns()

    def _unseen(self) -> WorldSnapshot:
        self._made += 1
        return unseen_world(
            f'snapshot-new-{self._made}',
            monotonic_ns=self._clock.monotonic_ns(),
            wall_ns=self._clock.wall_ns(),
            ros_ns=self._clock.ros_ns(),
            reason=NOT_RECORDED,
        )


class _RecordedStore(SnapshotStore):
    """Knows every recorded snapshot from the time on at which it was taken."""

    def __init__(self, recording: Recording, clock: Clock) -> None:
        super().__init__()
        self._recording = recording
        self._clock = clock

    def get(self, snapshot_id: str) -> WorldSnapshot | None:
        """Return the snapshot, or None if it was not known then."""
        taken = self._recording.snapshots.get(snapshot_id)
        if taken is None:
            return super().get(snapshot_id)
        early_ns = taken.snapshot.captured_monotonic_ns - self._clock.monotonic_ns()
        return None if early_ns > SLACK_S * NS_PER_S else taken.snapshot


def _heard(world: WorldSnapshot) -> WorldSnapshot:
    """Return the world with every source heard; what they say is not looked at."""
    values: dict[str, Any] = {
        'navigation': Navigation(True, (), None, None),
        'map_pose': MapPose(0.0, 0.0, 0.0, '', 0.0, 0.0),
    }
    facts: dict[str, Any] = {
        name: Observed(values.get(name), 'none', None, 0.0, Availability.AVAILABLE)
        for name in FACTS
    }
    return replace(world, **facts)
