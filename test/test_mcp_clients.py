# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which snapshot each client was given."""

from __future__ import annotations

from world_rig import WorldRig

from robot_agent_harness.mcp_server.clients import CLIENTS_KEPT, GivenSnapshots
from robot_agent_harness.world.store import SnapshotStore


class Given:
    """A store with snapshots, and what was given of them."""

    def __init__(self, *, capacity: int = 256) -> None:
        self.rig = WorldRig()
        self.store = SnapshotStore(capacity=capacity)
        self.given = GivenSnapshots(self.store)

    def snapshot(self) -> str:
        self.rig.clock.advance(0.1)
        snapshot = self.rig.capture()
        self.store.add(snapshot)
        return snapshot.snapshot_id


def test_each_client_has_its_own_newest_snapshot() -> None:
    rig = Given()
    first, second = rig.snapshot(), rig.snapshot()
    rig.given.note('a', first)
    rig.given.note('b', second)
    assert rig.given.newest('a') == first
    assert rig.given.newest('b') == second
    assert rig.given.newest('c') is None


def test_looking_at_an_older_snapshot_again_does_not_turn_back_the_clock() -> None:
    rig = Given()
    first, second = rig.snapshot(), rig.snapshot()
    rig.given.note('a', second)
    rig.given.note('a', first)
    assert rig.given.newest('a') == second


def test_who_cannot_be_told_from_others_is_given_nothing() -> None:
    rig = Given()
    rig.given.note(None, rig.snapshot())
    assert rig.given.newest(None) is None


def test_the_clients_not_heard_of_for_longest_are_forgotten() -> None:
    rig = Given()
    snapshot_id = rig.snapshot()
    for number in range(CLIENTS_KEPT):
        rig.given.note(number, snapshot_id)
    rig.given.note(0, snapshot_id)
    rig.given.note('one more', snapshot_id)
    assert rig.given.newest(0) == snapshot_id
    assert rig.given.newest(1) is None
    assert rig.given.newest('one more') == snapshot_id


def test_a_snapshot_that_the_store_forgot_stays_the_one_that_was_given() -> None:
    rig = Given(capacity=1)
    first = rig.snapshot()
    rig.given.note('a', first)
    rig.snapshot()
    assert rig.given.newest('a') == first
