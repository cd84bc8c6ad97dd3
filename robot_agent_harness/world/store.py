# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The newest snapshots by id, so that a decision can name the one it was made from."""

from __future__ import annotations

from collections import OrderedDict

from robot_agent_harness.world.snapshot import WorldSnapshot


class SnapshotStore:
    """Holds the newest `capacity` snapshots; an older one is unknown, and so is a decision on
    it.
    """

    def __init__(self, *, capacity: int = 512) -> None:
        self._capacity = capacity
        self._snapshots: OrderedDict[str, WorldSnapshot] = OrderedDict()
        self._journalled: set[str] = set()

    def add(self, snapshot: WorldSnapshot) -> None:
        """Remember a snapshot, forgetting the oldest beyond the capacity."""
        self._snapshots[snapshot.snapshot_id] = snapshot
        if len(self._snapshots) > self._capacity:
            forgotten, _ = self._snapshots.popitem(last=False)
            self._journalled.discard(forgotten)

    def get(self, snapshot_id: str) -> WorldSnapshot | None:
        """Return the snapshot, or None if it is unknown or forgotten."""
        return self._snapshots.get(snapshot_id)

    def first_use(self, snapshot_id: str) -> bool:
        """Return whether a snapshot is used for the first time, and so has to be journalled."""
        first = snapshot_id not in self._journalled
        self._journalled.add(snapshot_id)
        return first

    @property
    def latest(self) -> WorldSnapshot | None:
        """The newest snapshot, if any was taken."""
        return next(reversed(self._snapshots.values()), None)
