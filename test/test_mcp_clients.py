# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which snapshot each client was given."""

from __future__ import annotations

from world_rig import WorldRig

from robot_agent_harness.mcp_server.clients import (
    ClientKey,
    CLIENTS_KEPT,
    FORGOTTEN,
    GivenSnapshots,
)
from robot_agent_harness.world.store import SnapshotStore


def client(name: object, *, of: str | None = None) -> ClientKey:
    return ClientKey(of, ('client', str(name), '1'))


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
    rig.given.note(client('a'), first)
    rig.given.note(client('b'), second)
    assert rig.given.newest(client('a')) == first
    assert rig.given.newest(client('b')) == second
    assert rig.given.newest(client('c')) is None


def test_looking_at_an_older_snapshot_again_does_not_turn_back_the_clock() -> None:
    rig = Given()
    first, second = rig.snapshot(), rig.snapshot()
    rig.given.note(client('a'), second)
    rig.given.note(client('a'), first)
    assert rig.given.newest(client('a')) == second


def test_who_cannot_be_told_from_others_is_given_nothing() -> None:
    rig = Given()
    rig.given.note(None, rig.snapshot())
    assert rig.given.newest(None) is None


def test_a_client_that_may_have_been_forgotten_is_not_taken_for_a_new_one() -> None:
    rig = Given()
    snapshot_id = rig.snapshot()
    assert rig.given.newest(client('new')) is None
    for number in range(CLIENTS_KEPT):
        rig.given.note(client(number), snapshot_id)
    assert rig.given.newest(client('new')) is None  # nobody was forgotten yet
    rig.given.note(client(0), snapshot_id)
    rig.given.note(client('one more'), snapshot_id)
    assert rig.given.newest(client(0)) == snapshot_id
    assert rig.given.newest(client('one more')) == snapshot_id
    # The one not heard of for longest was forgotten, and any other may be it.
    assert rig.given.newest(client(1)) == FORGOTTEN
    assert rig.given.newest(client('new')) == FORGOTTEN
    rig.given.note(client(1), snapshot_id)
    assert rig.given.newest(client(1)) == snapshot_id


def test_the_clients_of_one_token_make_nobody_forget_those_of_another() -> None:
    rig = Given()
    snapshot_id = rig.snapshot()
    rig.given.note(client('a', of='operator'), snapshot_id)
    for number in range(2 * CLIENTS_KEPT):
        rig.given.note(client(number, of='dashboard'), snapshot_id)
    assert rig.given.newest(client('a', of='operator')) == snapshot_id
    assert rig.given.newest(client('b', of='operator')) is None
    assert rig.given.newest(client('a', of='dashboard')) == FORGOTTEN


def test_a_snapshot_that_the_store_forgot_stays_the_one_that_was_given() -> None:
    rig = Given(capacity=1)
    first = rig.snapshot()
    rig.given.note(client('a'), first)
    rig.snapshot()
    assert rig.given.newest(client('a')) == first
