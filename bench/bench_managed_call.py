# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A managed navigate_to_pose over MCP, from the client's call to `accepted`.

Against a bare rclpy action client that sends the same goal to the same robot, against a tool of
the bare MCP SDK that returns its argument, and against what no such tool can do without, written
barely in one process: commit a row, send the goal, commit another row (`bare_call.py`). All take
turns, so that a busy machine disturbs them alike. The goal is where the robot stands, which ends
at once; each call begins when the previous action is over and the robot at rest, at a random
moment of the robot's 20 ms cycle. The journal is on disk with synchronous FULL: a call's start is
synced before its goal is sent and its result before it is returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import math
import random
from statistics import median
import time
from typing import Any

from live import (
    at_rest,
    DOMAIN,
    HERE,
    live_harness,
    NAMESPACE,
    Program,
    ros_arguments,
    START_S,
)
from mcp import Client
from nav2_msgs.action import NavigateToPose
import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rows import Limit, quantile, Row, row, Say, unless
from stages import Call, STAGES, stages_ms

ADDED_MS = Limit('value', 10.0)
"""Over the bare goal, median (the product's own limit)."""
OVER_P50, OVER_P99 = Limit('ratio', 1.3), Limit('ratio', 1.5)
"""Over the bare goal and the bare echo together, and over the same written barely."""
REPEATS, QUICK_REPEATS = 5, 2
CALLS, QUICK_CALLS = 30, 15
"""In each repeat."""
WARM_UP_CALLS = 5
ROBOT_CYCLE_S = 0.02
SEED = 1
SAY_EVERY_S = 1.5
WAYS = ('managed', 'bare', 'echo', 'barely')


class BareClient:
    """An action client as a rclpy user writes it; spun only while it is measured."""

    def __init__(self, goal: NavigateToPose.Goal) -> None:
        self._goal = goal
        self._context = Context()
        rclpy.init(context=self._context, domain_id=DOMAIN)
        self._node = rclpy.create_node('bare', namespace=NAMESPACE, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._client = ActionClient(self._node, NavigateToPose, 'navigate_to_pose')
        if not self._client.wait_for_server(timeout_sec=START_S):
            raise RuntimeError('the action server was not found')

    def send(self) -> float:
        """Return the seconds from sending the goal to its acceptance; the goal is over then."""
        begun = time.perf_counter()
        handle = self._get(self._client.send_goal_async(self._goal))
        passed = time.perf_counter() - begun
        if not handle.accepted:
            raise RuntimeError('the robot refused the goal')
        self._get(handle.get_result_async())
        return passed

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _get(self, asked: Any) -> Any:
        self._executor.spin_until_future_complete(asked, timeout_sec=START_S)
        if not asked.done():
            raise RuntimeError('the robot does not answer')
        return asked.result()


@dataclass(slots=True)
class Block:
    """One repeat: the milliseconds of each call of each of `WAYS`, and when the managed ones
    were.
    """

    managed: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    echo: list[float] = field(default_factory=list)
    barely: list[float] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)


class Turns:
    """All ways, one after the other."""

    def __init__(self, harness: Client, echo: Client, barely: Client, say: Say) -> None:
        self._harness = harness
        self._echo = echo
        self._barely = barely
        self._say = say
        self._random = random.Random(SEED)
        self._said = time.monotonic()

    async def block(self, calls: int, bare: BareClient, what: str) -> Block:
        """Call so many times in each way."""
        block = Block()
        for number in range(calls):
            call, ms = await self._managed()
            block.calls.append(call)
            block.managed.append(ms)
            await at_rest(self._harness)
            await self._any_moment()
            block.bare.append(bare.send() * 1e3)
            await self._any_moment()
            block.echo.append(await self._echoed())
            block.barely.append(await self._called_barely())
            await at_rest(self._harness)
            if time.monotonic() - self._said > SAY_EVERY_S:
                self._said = time.monotonic()
                self._say(f'{what}: call {number + 1} of {calls}')
        return block

    async def _managed(self) -> tuple[Call, float]:
        goal = _here(await at_rest(self._harness))
        await self._any_moment()
        sent_ns, begun = time.time_ns(), time.perf_counter()
        called = await self._harness.call_tool('navigate_to_pose', goal)
        passed, answered_ns = time.perf_counter() - begun, time.time_ns()
        answer = called.structured_content or {}
        if answer.get('status') != 'accepted':
            raise RuntimeError(f'not accepted: {answer}')
        wait = {'action_id': answer['action_id'], 'timeout_s': START_S}
        told = (await self._harness.call_tool('wait_for_action', wait)).structured_content or {}
        if told.get('state') != 'SUCCEEDED':
            raise RuntimeError(f'not succeeded: {told}')
        return Call(answer['action_id'], sent_ns, answered_ns), passed * 1e3

    async def _echoed(self) -> float:
        begun = time.perf_counter()
        await self._echo.call_tool('echo', {'text': 'navigate_to_pose'})
        return (time.perf_counter() - begun) * 1e3

    async def _called_barely(self) -> float:
        goal = _here(await at_rest(self._harness))
        await self._any_moment()
        begun = time.perf_counter()
        called = await self._barely.call_tool('navigate_to_pose', goal)
        passed = time.perf_counter() - begun
        if called.structured_content != {'result': True}:
            raise RuntimeError(f'not accepted: {called}')
        return passed * 1e3

    async def _any_moment(self) -> None:
        await asyncio.sleep(self._random.uniform(0.0, ROBOT_CYCLE_S))


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    with live_harness(say) as live:
        echo = Program(str(HERE / 'echo_server.py'), log=live.folder / 'echo.log')
        barely = Program(
            str(HERE / 'bare_call.py'),
            str(live.folder / 'barely.db'),
            *ros_arguments({}),
            log=live.folder / 'barely.log',
        )
        try:
            urls = [each.says(r'ready: MCP at (\S+)').group(1) for each in (echo, barely)]
            blocks = asyncio.run(_measure(live.url, *urls, quick, say))
            memory = live.harness.rss_mb()
            stages = [stages_ms(live.journal, block.calls) for block in blocks]
        finally:
            echo.end()
            barely.end()
    return _rows(blocks, stages, memory)


async def _measure(url: str, echo_url: str, barely_url: str, quick: bool, say: Say) -> list[Block]:
    repeats = QUICK_REPEATS if quick else REPEATS
    calls = QUICK_CALLS if quick else CALLS
    async with Client(url) as harness, Client(echo_url) as echo, Client(barely_url) as barely:
        with _bare_client(_here(await at_rest(harness))) as bare:
            turns = Turns(harness, echo, barely, say)
            await turns.block(WARM_UP_CALLS, bare, 'warming up')
            blocks = []
            for number in range(repeats):
                what = f'managed call, repeat {number + 1} of {repeats}'
                block = await turns.block(calls, bare, what)
                blocks.append(block)
                ms = [median(getattr(block, way)) for way in WAYS]
                say(f'{what}: ' + ', '.join(map('{} {:.1f} ms'.format, WAYS, ms)))
    return blocks


def _here(world: dict[str, Any]) -> dict[str, float]:
    pose = world['map_pose']
    return {'x': pose['x_m'], 'y': pose['y_m'], 'yaw': pose['yaw_rad']}


@contextmanager
def _bare_client(pose: dict[str, float]) -> Iterator[BareClient]:
    goal = NavigateToPose.Goal()
    goal.pose.header.frame_id = 'map'
    goal.pose.pose.position.x, goal.pose.pose.position.y = pose['x'], pose['y']
    goal.pose.pose.orientation.z = math.sin(pose['yaw'] / 2.0)
    goal.pose.pose.orientation.w = math.cos(pose['yaw'] / 2.0)
    client = BareClient(goal)
    try:
        yield client
    finally:
        client.close()


def _rows(blocks: list[Block], stages: list[list[tuple[float, ...]]], memory: float) -> list[Row]:
    managed, bare, echo, barely = (
        [median(getattr(block, way)) for block in blocks] for way in WAYS
    )
    both = [goal + call for goal, call in zip(bare, echo, strict=True)]
    added, least = (
        [call - goal for call, goal in zip(times, bare, strict=True)]
        for times in (managed, barely)
    )
    slow, slow_both, slow_barely = (
        [quantile([ms for block in blocks for ms in of(block)], 0.99)]
        for of in (
            lambda block: block.managed,
            lambda block: [goal + call for goal, call in zip(block.bare, block.echo, strict=True)],
            lambda block: block.barely,
        )
    )
    name = 'managed call to accepted,'
    less = 'commit, goal, commit in a bare MCP tool'
    more = unless(ADDED_MS, median(least), f'a {less} adds')
    p50 = unless(OVER_P50, median(barely) / median(both), f'a {less} takes')
    p99 = unless(OVER_P99, slow_barely[0] / slow_both[0], f'a {less} takes')
    return [
        row(f'{name} p50: added to a bare rclpy goal', 'ms', added, limit=more),
        row(f'{name} p50 / goal + echo', 'ms', managed, both, limit=p50),
        row(f'{name} p99 / goal + echo', 'ms', slow, slow_both, limit=p99),
        row(f'{name} p50 / {less}', 'ms', managed, barely, limit=OVER_P50),
        row(f'{name} p99 / {less}', 'ms', slow, slow_barely, limit=OVER_P99),
        row('  bare rclpy goal, p50', 'ms', bare),
        row('  bare MCP echo, p50', 'ms', echo),
        row(f'  {less}, p50 / goal + echo', 'ms', barely, both),
        *(
            row(f'  p50 of {stage}', 'ms', [median(call[at] for call in one) for one in stages])
            for at, stage in enumerate(STAGES)
        ),
        row('  memory after the calls', 'MB', [memory]),
    ]


if __name__ == '__main__':
    for made in run():
        print(made)
