# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How much more memory the harness has after many tool calls than after the first thousand.

Eight connections over HTTP do what clients do: most look, one sends the robot to where it stands
and waits for that. `make test-long` does it with a hundred thousand calls, see test_soak.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
import json
import os
from pathlib import Path
import sys
import time
from typing import Any

import httpx2
from live import HERE, live_harness, Program, ros_arguments
from rows import Limit, Row, row, Say, unless

FLAT = Limit('ratio', 1.1)
RSS_MB = Limit('value', 150.0)
OVER_BARE = Limit('ratio', 1.15)
"""Over one process that is a bare rclpy node and a bare MCP server."""
FIRST = 1000
"""Calls until everything is filled that is kept: snapshots, ended actions, clients."""
CALLS, QUICK_CALLS = 4_000, 2_000
LOOKERS = 7
ERA = '2026-07-28'
GOAL = {'x': 1.0, 'y': 1.2, 'yaw': 1.5708}
"""Where the simulated robot starts."""
TIMEOUT_S = 30.0
SAY_EVERY_S = 1.5
NO_LIMIT = 100_000.0
"""The highest there is, in requests a second: what is measured is memory."""
SETTLE_S = 2.0
"""Until a bare node has discovered the robot."""


class Caller:
    """One connection that calls tools, without the SDK's client, which would take most of the
    time.
    """

    def __init__(self, url: str, name: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._meta = {
            'io.modelcontextprotocol/protocolVersion': ERA,
            'io.modelcontextprotocol/clientInfo': {'name': name, 'version': '1'},
            'io.modelcontextprotocol/clientCapabilities': {},
        }

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its structured result."""
        params = {'name': tool, 'arguments': arguments, '_meta': self._meta}
        message = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}
        headers = {
            'accept': 'application/json, text/event-stream',
            'mcp-protocol-version': ERA,
            'mcp-method': 'tools/call',
            'mcp-name': tool,
        }
        answer = await self._http.post(self._url, json=message, headers=headers)
        text = answer.text
        if not answer.headers['content-type'].startswith('application/json'):
            text = [line for line in text.splitlines() if line.startswith('data: ')][-1][6:]
        told = json.loads(text)
        if 'result' not in told:
            raise RuntimeError(f'{tool} was not answered: {told}')
        structured: dict[str, Any] = told['result']['structuredContent']
        return structured


class Count:
    """Counts calls up to a number, which may be raised."""

    def __init__(self, say: Say) -> None:
        self.done = self.wanted = self.driven = 0
        self._say = say
        self._said = time.monotonic()

    def one(self) -> bool:
        """Count one more call, unless there were enough."""
        if self.done >= self.wanted:
            return False
        self.done += 1
        if time.monotonic() - self._said > SAY_EVERY_S:
            self._said = time.monotonic()
            self._say(f'memory: {self.done} calls, {self.driven} of them moved the robot')
        return True


@dataclass(frozen=True, slots=True)
class Held:
    """What a process holds at a moment."""

    rss_mb: float
    descriptors: int
    threads: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What the harness holds, and a bare program."""

    first: Held
    """After the first thousand calls."""
    last: Held
    """And after all of them."""
    bare: float
    """MB of one process that is a bare rclpy node with an action client, and a bare MCP server."""
    managed: int
    """Calls that moved the robot."""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    calls = QUICK_CALLS if quick else CALLS
    memory = measure(calls, say)
    first, last = [memory.first.rss_mb], [memory.last.rss_mb]
    name = f'memory after {calls:,} tool calls, {memory.managed} managed'
    limit = unless(RSS_MB, memory.bare, 'MB of a bare rclpy node with a bare MCP server:')
    return [
        row(f'{name} / after {FIRST:,}', 'MB', last, first, limit=FLAT),
        row(name, 'MB', last, limit=limit),
        row(
            f'{name} / bare rclpy node with a bare MCP server',
            'MB',
            last,
            [memory.bare],
            limit=OVER_BARE,
        ),
    ]


def measure(calls: int, say: Say) -> Memory:
    """Call so many times and say what memory that took.

    Of libraries that were installed since the machine was started, the kernel maps larger pieces,
    12 MB that all programs share: it is asked to forget them first, as a restart does.
    """
    for library in Path(sys.prefix).rglob('*.so*'):
        with library.open('rb') as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with live_harness(say, parameters={'mcp.max_requests_per_s': NO_LIMIT}) as live:
        count = Count(say)
        held = partial(_held, live.harness)
        first, last = asyncio.run(_call(live.url, count, (FIRST, calls), held))
        return Memory(first, last, _bare_mb(live.folder), count.driven)


def _bare_mb(folder: Path) -> float:
    bare = (str(HERE / 'bare_call.py'), str(folder / 'bare.db'), *ros_arguments({}))
    program = Program(*bare, log=folder / 'bare.log')
    try:
        program.says('ready')
        time.sleep(SETTLE_S)
        return program.rss_mb()
    finally:
        program.end()


def _held(program: Program) -> Held:
    usage = program.usage
    return Held(program.rss_mb(), usage.num_fds(), usage.num_threads())


async def _call(
    url: str, count: Count, stops: tuple[int, ...], held: Callable[[], Held]
) -> list[Held]:
    limits = httpx2.Limits(max_connections=LOOKERS + 1)
    async with httpx2.AsyncClient(timeout=TIMEOUT_S, limits=limits) as http:
        measured = []
        for stop in stops:
            count.wanted = stop
            lookers = [_look(Caller(url, f'looker {n}', http), count) for n in range(LOOKERS)]
            await asyncio.gather(_drive(Caller(url, 'driver', http), count), *lookers)
            measured.append(held())
        return measured


async def _look(caller: Caller, count: Count) -> None:
    for tool in cycle(('get_world_snapshot', 'get_world_snapshot', 'list_places', 'get_action')):
        if not count.one():
            return
        await caller.call(tool, {'action_id': '0' * 32} if tool == 'get_action' else {})


async def _drive(caller: Caller, count: Count) -> None:
    while count.one():
        answer = await caller.call('navigate_to_pose', GOAL)
        if answer['status'] == 'accepted':
            count.driven += 1
            count.one()
            followed = {'action_id': answer['action_id'], 'timeout_s': TIMEOUT_S}
            await caller.call('wait_for_action', followed)


if __name__ == '__main__':
    for made in run():
        print(made)
