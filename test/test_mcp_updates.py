# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients that listen are told of changes, each in the way of its era, and of nothing else."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import ResourceUpdatedNotification
from mcp_rig import answer_of, BOUND_S, connected, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.mcp_server import updates as updates_module
from robot_agent_harness.mcp_server.updates import (
    Updates,
    URIS_MAX,
    WORLD_PERIOD_S,
)
from robot_agent_harness.testing.virtual_time import run_virtual
from robot_agent_harness.world.salient import Salient

pytestmark = pytest.mark.filterwarnings('ignore::mcp.MCPDeprecationWarning')
GOAL = {'x': 2.0, 'y': 0.0}
WORLD = 'robot://world/latest'


class Heard:
    """What a client of an earlier revision was told."""

    def __init__(self) -> None:
        self.uris: list[str] = []

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))


async def drive(made: Rig, client: Any) -> str:
    """Send the robot and let it arrive; return the action's URI."""
    sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
    made.arrive(2.0, 0.0)
    await client.call_tool('wait_for_action', {'action_id': sent['action_id']})
    return f'robot://actions/{sent["action_id"]}'


@pytest.mark.anyio
async def test_a_stream_hears_of_the_world_and_of_the_action_that_it_asked_for(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        uri = f'robot://actions/{1:032x}'
        heard: list[str] = []
        with anyio.fail_after(BOUND_S):
            async with client.listen(resource_subscriptions=[WORLD, uri]) as stream:
                assert await drive(made, client) == uri
                async for event in stream:
                    assert isinstance(event, ResourceUpdated)
                    heard.append(event.uri)
                    if {WORLD, uri} <= set(heard):
                        break
        (content,) = (await client.read_resource(uri)).contents
        assert 'SUCCEEDED' in content.text


@pytest.mark.anyio
async def test_a_session_hears_of_what_it_is_subscribed_to_until_it_takes_that_back(
    tmp_path: Path,
) -> None:
    heard, other = Heard(), Heard()
    async with (
        rig(tmp_path) as made,
        connected(made, 'legacy', message_handler=heard) as client,
        connected(made, 'legacy', message_handler=other) as bystander,
    ):
        await client.subscribe_resource(WORLD)
        uri = f'robot://actions/{1:032x}'
        await client.subscribe_resource(uri)
        assert await drive(made, client) == uri
        await made.until(lambda: {WORLD, uri} <= set(heard.uris))
        before = heard.uris.count(WORLD)
        made.core.harness.notify(Salient('human_message', 'hello'))
        await made.until(lambda: heard.uris.count(WORLD) > before)
        await client.unsubscribe_resource(WORLD)
        await client.unsubscribe_resource(uri)
        before = len(heard.uris)
        made.core.harness.notify(Salient('human_message', 'hello'))
        await bystander.list_tools()
        await client.list_tools()
        assert len(heard.uris) == before
        assert other.uris == []


@pytest.mark.anyio
@pytest.mark.parametrize('era', ERAS)
async def test_both_eras_say_that_changes_are_told_of(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        method = 'initialize' if era == 'legacy' else 'server/discover'
        about = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'clientInfo': raw.info}
        raw.headers.pop('mcp-session-id', None)
        answer = answer_of(await raw.post(raw.request(method, about, 1)))
        assert answer['result']['capabilities']['resources']['subscribe'] is True


@pytest.mark.anyio
async def test_what_never_changes_cannot_be_subscribed_to(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, connected(made, 'legacy') as client:
        for uri in ('robot://snapshots/snapshot-1', 'robot://actions/nope', 'file:///etc/passwd'):
            with pytest.raises(MCPError, match='changes are told of') as caught:
                await client.subscribe_resource(uri)
            assert caught.value.code == -32602


@pytest.mark.anyio
async def test_stopping_does_not_wait_for_those_who_listen(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        with anyio.fail_after(BOUND_S):
            async with client.listen(resource_subscriptions=[WORLD]) as stream:
                await made.server.stop()
                with pytest.raises((MCPError, SubscriptionLost)):
                    await anext(aiter(stream))


class Session:
    """A session that writes down what it is sent, or does not read."""

    def __init__(self, *, reads: bool = True) -> None:
        self.uris: list[str] = []
        self.reads = reads
        self._connection = SimpleNamespace(state={}, exit_stack=AsyncExitStack())

    async def send_resource_updated(self, uri: str) -> None:
        if not self.reads:
            await asyncio.Event().wait()
        self.uris.append(uri)


def test_the_world_is_told_of_at_most_once_a_second_and_the_last_change_is_not_lost() -> None:
    async def scenario() -> list[str]:
        updates, session = Updates(), Session()
        updates.add('a', session, WORLD)  # type: ignore[arg-type]
        for _ in range(50):
            updates.world_changed()
            await asyncio.sleep(0.05)
        await asyncio.sleep(2 * WORLD_PERIOD_S)
        await updates.close()
        return session.uris

    told = run_virtual(scenario())
    assert len(told) == 4  # at 0 s, 1 s and 2 s, and at 3 s for what changed until 2.5 s


def test_a_session_that_does_not_read_is_let_go_and_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(updates_module, 'SEND_S', 0.1)

    async def scenario() -> list[str]:
        updates, stuck, session = Updates(), Session(reads=False), Session()
        updates.add('stuck', stuck, WORLD)  # type: ignore[arg-type]
        updates.add('reads', session, WORLD)  # type: ignore[arg-type]
        for _ in range(3):
            updates.world_changed()
            await asyncio.sleep(2.0)
        assert list(updates._subscribers) == ['reads']
        await updates.close()
        return session.uris

    assert run_virtual(scenario()) == [WORLD] * 3


def test_the_resources_of_one_session_are_bounded_and_its_end_costs_nothing() -> None:
    async def scenario() -> None:
        updates, session = Updates(), Session()
        for number in range(URIS_MAX + 1):
            updates.add('a', session, str(number))  # type: ignore[arg-type]
            updates.remove('a', str(number))
            updates.add('a', session, str(number))  # type: ignore[arg-type]
        assert len(session._connection.exit_stack._exit_callbacks) == 1
        for number in range(URIS_MAX + 1):
            updates.add('a', session, str(number))  # type: ignore[arg-type]
        assert len(updates._subscribers['a'].uris) == URIS_MAX
        await session._connection.exit_stack.aclose()
        assert not updates._subscribers
        await updates.close()

    run_virtual(scenario())


@pytest.mark.anyio
async def test_sessions_that_ended_leave_a_subscriber_alone(tmp_path: Path) -> None:
    heard = Heard()
    async with rig(tmp_path) as made, connected(made, 'legacy', message_handler=heard) as client:
        await client.subscribe_resource(WORLD)
        await client.list_tools()
        for _ in range(3):
            async with connected(made, 'legacy') as other:
                await other.list_tools()
                await other.subscribe_resource(WORLD)
                assert len(made.server._updates._subscribers) == 2
            await made.until(lambda: len(made.server._updates._subscribers) == 1)
        made.core.harness.notify(Salient('human_message', 'hello'))
        await made.until(lambda: WORLD in heard.uris)


@pytest.mark.anyio
async def test_a_stream_is_acknowledged_what_it_will_be_told_of_and_refused_what_never_changes(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, connected(made, ERAS[1]) as client:
        for uri in ('robot://snapshots/snapshot-1', 'robot://actions/nope', 'file:///etc/passwd'):
            with pytest.raises(MCPError, match='changes are told of') as caught:
                async with client.listen(resource_subscriptions=[WORLD, uri]):
                    pass
            assert caught.value.code == -32602
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[WORLD],
        ) as stream:
            honored = stream.honored
            assert honored.tools_list_changed is True
            assert honored.prompts_list_changed is None
            assert honored.resources_list_changed is None
            assert honored.resource_subscriptions == [WORLD]


def test_after_a_stop_and_a_start_changes_are_told_of_again() -> None:
    async def scenario() -> list[str]:
        updates, session = Updates(), Session()
        for _ in range(2):
            updates.add('a', session, WORLD)  # type: ignore[arg-type]
            updates.world_changed()
            await asyncio.sleep(0.01)
            updates.world_changed()  # which waits for its second, and is closed before
            await updates.close()
            await asyncio.sleep(2 * WORLD_PERIOD_S)
        return session.uris

    assert run_virtual(scenario()) == [WORLD, WORLD]


def test_nobody_who_listens_costs_nothing() -> None:
    async def scenario() -> None:
        updates = Updates()
        updates.world_changed()
        assert updates._world_timer is None

    run_virtual(scenario())
