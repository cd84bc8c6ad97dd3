# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Takes snapshots: what the robot's topics say, joined with what we know of goals and actions."""

from __future__ import annotations

from enum import Enum

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.world.builder import Anomaly, WorldSnapshotBuilder
from robot_agent_harness.world.journey import Way
from robot_agent_harness.world.snapshot import WorldSnapshot
from robot_agent_harness.world.store import SnapshotStore


class Look(str, Enum):
    """What a snapshot is taken for."""

    MODEL_TURN = 'model_turn'
    """What a model is shown; about a turn."""
    DECISION = 'decision'
    """What a call counts as decided on that names no snapshot; about a call, as those below."""
    PRE_DISPATCH = 'pre_dispatch'
    STILL_HOLDS = 'still_holds'
    """Whether what was checked holds once the start is on disk."""
    REQUESTED = 'requested'
    """What a caller is shown."""
    VERIFICATION = 'verification'
    """Whether an action's claimed outcome is so, asked again and again; about an action."""
    OUTCOME = 'outcome'
    """The world at an end that needs no verification; about an action."""
    RECOVERY = 'recovery'
    """The world in which an action of an earlier run is taken over; about an action."""
    WATCH = 'watch'
    """What there is to tell of; about nothing."""


class WorldObserver:
    """The only place where a snapshot is taken; those that matter are remembered under their
    id.
    """

    def __init__(
        self,
        *,
        builder: WorldSnapshotBuilder,
        board: ActionBoard,
        store: SnapshotStore,
        controller: str,
    ) -> None:
        self._builder = builder
        self._board = board
        self.controller = controller
        """The name of the action whose server snapshots tell of."""
        self.store = store

    def capture(
        self, mission_id: str | None, look: Look = Look.REQUESTED, about: str | None = None
    ) -> WorldSnapshot:
        """Return the world now, with the recent outcome of that mission only. Never raises.

        It is remembered, but for one that only asks whether an outcome is so yet: of those there
        may be dozens, and decisions would be forgotten for them. See :meth:`remember`.

        :param look: what it is for; with `about` it names one look among all, so that a replay can
            give the snapshot that was recorded for it. What is seen does not depend on them.
        :param about: the id of the turn, the call or the action.
        """
        snapshot = self._look(mission_id)
        if look is not Look.VERIFICATION:
            self.store.add(snapshot)
        return snapshot

    def remember(self, snapshot: WorldSnapshot) -> None:
        """Remember the look that an outcome rests on."""
        self.store.add(snapshot)

    def peek(self) -> WorldSnapshot:
        """Return the world now without remembering it: no decision can be made from it."""
        return self._look(None)

    def news(self) -> tuple[object, ...]:
        """Return what is the same as long as snapshots, and what stands in the way of an action,
        differ in ages alone.
        """
        return self._builder.news(), self._board.changes

    def never_heard(self, call_id: str) -> frozenset[str]:
        """Return what nothing has told of yet, by the names of `WorldSnapshot`; see
        :meth:`WorldSnapshotBuilder.never_heard`. `navigation` is of it while the controller is not
        there.

        :param call_id: which call asks, so that a replay can let it go on when it did. What has
            been heard does not depend on it.
        """
        unheard = self._builder.never_heard()
        return unheard if self._board.reachable(self.controller) else unheard | {'navigation'}

    def begin_journey(self, way: Way) -> None:
        """Have snapshots tell what the robot does from now on, until `end_journey`."""
        self._builder.begin_journey(way)

    def end_journey(self) -> None:
        """Have snapshots tell of no journey any more."""
        self._builder.end_journey()

    def take_anomalies(self) -> tuple[Anomaly, ...]:
        """Return what the sources have done since the last call that is worth telling."""
        return self._builder.take_anomalies()

    def _look(self, mission_id: str | None) -> WorldSnapshot:
        return self._builder.capture(
            navigation=self._board.navigation(self.controller),
            active_action=self._board.active_summary(),
            recent_outcome=self._board.recent_outcome(mission_id),
        )
