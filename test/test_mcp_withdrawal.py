# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls whose client does not want them any more, before and after the goal has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
import contextlib
from pathlib import Path
from typing import Any

import anyio
from mcp_rig import BOUND_S, connected, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.events import EventType
from robot_agent_harness.testing.journal_assertions import check_journal

pytestmark = pytest.mark.anyio
GOAL = {'x': 2.0, 'y': 0.0}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextlib.asynccontextmanager
async def given_up(call: Callable[..., Any], *args: Any) -> AsyncIterator[None]:
    """Make a call, and cancel it when the context is left."""
    async with anyio.create_task_group() as group:
        group.start_soon(call, *args)
        yield
        group.cancel_scope.cancel()


async def test_a_call_that_is_cancelled_while_it_waits_for_its_turn_sends_nothing(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        async with made.core.starter._starting:  # another call is between its check and its start
            async with given_up(client.call_tool, 'navigate_to_pose', GOAL):
                await made.until(made.calls)
            # The cancellation travels on its own, over HTTP.
            await client.list_tools()
            await asyncio.sleep(0.2)
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'interrupted'
        assert result['structured']['goal_sent'] is False
        assert made.nav2.sent == []
        assert made.records(EventType.ROBOT_ACTION_STARTED) == []
        accepted = await client.call_tool('navigate_to_pose', GOAL)
        assert accepted.structured_content['status'] == 'accepted'


async def test_a_call_that_is_cancelled_while_its_start_is_put_on_disk_sends_nothing(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        on_disk, go_on = _held_on_disk(made)
        async with given_up(client.call_tool, 'navigate_to_pose', GOAL):
            await asyncio.wait_for(on_disk.wait(), BOUND_S)
        await client.list_tools()
        await asyncio.sleep(0.2)
        go_on.set()
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'interrupted'
        assert result['structured']['goal_sent'] is False
        assert 'nothing was sent' in result['structured']['message']
        (outcome,) = made.records(EventType.ROBOT_ACTION_OUTCOME)
        assert (outcome.payload['state'], outcome.payload['reason']) == ('FAILED', 'interrupted')
        assert outcome.payload['evidence']['goal_sent'] is False
        assert made.nav2.sent == []
    assert check_journal(made.journal) == []


def _held_on_disk(made: Rig) -> tuple[asyncio.Event, asyncio.Event]:
    """Let a start be durable, and its caller learn of it only when the test says so."""
    on_disk, go_on = asyncio.Event(), asyncio.Event()
    journal = made.core.starter._journal
    append = journal.append

    async def slow(*entries: Any, **more: Any) -> list[int]:
        numbers = await append(*entries, **more)
        on_disk.set()
        await asyncio.wait_for(go_on.wait(), BOUND_S)
        return numbers

    journal.append = lambda *entries, **more: asyncio.ensure_future(slow(*entries, **more))  # type: ignore[method-assign]
    return on_disk, go_on


async def test_a_call_that_is_cancelled_after_its_goal_has_left_goes_on_and_says_so(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        made.nav2.accept_after_s = None
        async with given_up(client.call_tool, 'navigate_to_pose', GOAL):
            await made.until(lambda: made.nav2.sent)
        await client.list_tools()
        await asyncio.sleep(0.2)
        made.nav2.respond(True)
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'accepted'
        assert result['structured']['goal_sent'] is True
        assert 'withdrew' in result['structured']['message']
        made.arrive(2.0, 0.0)
        action = await made.core.tracker.wait(made.nav2.own_goal, BOUND_S)
        assert action is not None
        assert action.state.value == 'SUCCEEDED'
        assert made.nav2.cancel_requests == []
    assert check_journal(made.journal) == []


async def test_a_lost_connection_cancels_nothing_in_a_session(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        async with (
            made.core.starter._starting,
            RawClient.connected(made, 'legacy') as raw,
            given_up(raw.call, 'navigate_to_pose', GOAL),
        ):
            await made.until(made.calls)
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'accepted'
        assert 'goal_sent' not in result['structured']


async def test_a_wait_that_is_cancelled_ends_and_leaves_the_action_alone(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, connected(made, era) as client:
        sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        wait = {'action_id': sent['action_id'], 'timeout_s': 600.0}
        async with given_up(client.call_tool, 'wait_for_action', wait):
            await made.until(lambda: len(made.calls()) == 2)
        _, result = await made.recorded_results(2)
        assert result['status'] == 'interrupted'
        assert 'the action goes on' in result['structured']['message']
        assert made.nav2.cancel_requests == []
        made.arrive(2.0, 0.0)
        told = await client.call_tool('wait_for_action', wait)
        assert told.structured_content['state'] == 'SUCCEEDED'


async def test_a_wait_tells_of_its_progress_and_ends_when_its_time_is_up(
    tmp_path: Path, era: str
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with rig(tmp_path) as made, connected(made, era) as client:
        sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        made.nav2.feedback(distance_remaining=1.5)
        wait = {'action_id': sent['action_id'], 'timeout_s': 2.2}
        answer = await client.call_tool('wait_for_action', wait, progress_callback=on_progress)
        assert not answer.is_error
        assert answer.structured_content['state'] == 'RUNNING'
        await made.until(lambda: len(told) == 2)
        assert told[0][0] < told[1][0] < 2.2
        assert {total for _, total, _ in told} == {2.2}
        assert '1.5 m' in str(told[0][2])
