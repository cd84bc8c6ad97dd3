# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""When a node recovers what an earlier run left open: once, whatever its lifecycle does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
import signal
import threading
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from forked import run_harness
from live_robot import Child, live_robot, READY
from mcp import Client
from node_rig import DOMAIN, NAMESPACE
import rclpy
from rclpy.context import Context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, RecoveryPerformed, ToolCallRecorded
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.recovery import recover
from robot_agent_harness.ros import session as sessions
from robot_agent_harness.ros.harness_node import HarnessNode
from robot_agent_harness.ros.threads import on_loop
from robot_agent_harness.testing import check_journal

SUCCESS = TransitionCallbackReturn.SUCCESS


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


async def _leave_a_call_open(path: Path) -> None:
    journal = MissionJournal.open(path, clock=SystemClock())
    call = ToolCallRecorded(
        name='get_world_snapshot',
        arguments={},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
        client={},
    )
    await journal.append((call, Correlation(tool_call_id='open')))
    await journal.close()


@pytest.mark.parametrize('under_way', [False, True])
def test_a_node_that_is_deactivated_and_activated_again_recovers_no_second_time(
    under_way: bool,
    loop: asyncio.AbstractEventLoop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / 'j.db'
    on_loop(loop, _leave_a_call_open(path))
    begun: list[Any] = []
    ready: list[str | None] = []
    going_on = asyncio.Event()

    async def counted(*arguments: Any) -> RecoveryPerformed | None:
        begun.append(arguments)
        await going_on.wait()
        return await recover(*arguments)

    async def go_on() -> None:
        going_on.set()

    monkeypatch.setattr(sessions, 'recover', counted)
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    given = {'journal.path': str(path), 'mcp.enabled': False}
    node = HarnessNode(
        loop=loop,
        context=context,
        namespace=f'{NAMESPACE}/recovery',
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
    )
    try:
        assert node.trigger_configure() is SUCCESS
        session = node.session
        assert session is not None
        if not under_way:
            on_loop(loop, go_on())
        assert node.trigger_activate() is SUCCESS
        if not under_way:
            on_loop(loop, session.activated())
            ready.append(session.readiness)
        assert node.trigger_deactivate() is SUCCESS
        ready.append(session.readiness)
        assert node.trigger_activate() is SUCCESS
        on_loop(loop, go_on())
        on_loop(loop, session.activated())
        ready.append(session.readiness)
    finally:
        if node.session is not None:
            on_loop(loop, node.session.close())
            node.session.destroy()
        node.destroy_node()
        rclpy.shutdown(context=context)
    assert ready == (['inactive', None] if under_way else [None, 'inactive', None])
    assert len(begun) == 1
    with JournalReader(path) as reader:
        kinds = [event.type for event in reader.events()]
    assert kinds.count('RECOVERY_PERFORMED') == kinds.count('TOOL_RESULT_RECORDED') == 1
    assert check_journal(path) == []


@pytest.mark.anyio
async def test_a_goal_whose_skill_was_switched_off_is_found_and_cancelled_by_the_next_start(
    tmp_path: Path,
) -> None:
    path, off = tmp_path / 'j.db', tmp_path / 'skills.yaml'
    off.write_text('skills: {spin: {enabled: false}}')
    async with live_robot(path, robot={'time_scale': 0.2}) as live:
        async with Client(live.url) as client:
            while 'spin' not in {tool.name for tool in (await client.list_tools()).tools}:
                await asyncio.sleep(0.1)
            taken = await _taken(client, 'spin', {'angle': 12.0})
        await live.harness.end(signal.SIGKILL)
        settings = {'journal.path': str(path), 'mcp.port': 0, 'skills_file': str(off)}
        again = Child(run_harness, live.namespace, settings)
        try:
            url = (await again.says(READY)).group(1)
            async with Client(url) as client:
                asked = {'action_id': taken['action_id']}
                ended = (await client.call_tool('get_action', asked)).structured_content or {}
                assert (ended['state'], ended['reason']) == ('UNKNOWN', 'interrupted')
                await live.robot.says(f'{taken["action_id"]}.*CANCELED')
                # The robot is free again.
                await _taken(client, 'navigate_to_place', {'name': 'kitchen'})
        finally:
            await again.end()


async def _taken(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool until nothing stands in its way any more, and return what it answers then."""
    while True:
        told = (await client.call_tool(tool, arguments)).structured_content or {}
        if told['status'] != 'precondition_changed':
            assert told['status'] == 'accepted', told
            return told
        await asyncio.sleep(0.2)


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'
