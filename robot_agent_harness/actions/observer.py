# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Takes snapshots: what the robot's topics say, joined with what we know of goals and actions."""

from __future__ import annotations

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.world.builder import Anomaly, WorldSnapshotBuilder
from robot_agent_harness.world.snapshot import WorldSnapshot
from robot_agent_harness.world.store import SnapshotStore


class WorldObserver:
    """The only place where a snapshot is taken; each one is remembered under its id."""

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
        self._controller = controller
        self.store = store

    def capture(self, mission_id: str | None) -> WorldSnapshot:
        """Return the world now, with the recent outcome of that mission only. Never raises."""
        snapshot = self._look(mission_id)
        self.store.add(snapshot)
        return snapshot

    def peek(self) -> WorldSnapshot:
        """Return the world now without remembering it: no decision can be made from it."""
        return self._look(None)

    def take_anomalies(self) -> tuple[Anomaly, ...]:
        """Return what the sources have done since the last call that is worth telling."""
        return self._builder.take_anomalies()

    def _look(self, mission_id: str | None) -> WorldSnapshot:
        return self._builder.capture(
            navigation=self._board.navigation(self._controller),
            active_action=self._board.active_summary(),
            recent_outcome=self._board.recent_outcome(mission_id),
        )
