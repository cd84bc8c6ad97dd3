# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From the start of the process to the first call that the robot has accepted.

The references are started in turns with it: a bare rclpy node that sends the same goal, and the
bare MCP SDK's server with a tool that is called. What a harness that serves MCP cannot do without
is both of them. The journal is there already, as on a robot that was started before. Clients
connect as soon as the port is open; they have imported everything long before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from itertools import count
from pathlib import Path
import socket
from statistics import median
import time
from typing import Any

from live import at_rest, HARNESS, HERE, live_harness, Program, ros_arguments, START_S
from mcp import Client
from rows import Limit, Row, row, Say, unless

OVER_BARE = Limit('ratio', 1.5)
REPEATS, QUICK_REPEATS = 3, 2
"""DDS finds the robot at once, or with its next announcement, up to 3 s later: by chance."""
PORT_POLL_S = 0.005
CALL_AGAIN_S = 0.01
NOT_YET = ('harness_inactive', 'controller_unavailable')
"""What a client is told that comes before everything is there: it asks again."""
GOAL = {'x': 1.0, 'y': 1.2, 'yaw': 1.5708}
"""Where the simulated robot starts."""
IMPORTS = {
    'rclpy, with node and action': 'import rclpy.action',
    'the MCP SDK': 'import mcp.server',
}

Started = tuple[float, float]
"""Seconds until the answer, and CPU seconds of the process by then."""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    harness, node, server = [], [], []
    with live_harness(say) as live:
        live.harness.end()
        for number in range(repeats):
            node.append(_bare_node(live.folder))
            harness.append(asyncio.run(_harness(live.folder, live.journal)))
            server.append(asyncio.run(_bare_server(live.folder)))
            told = f'harness {harness[-1][0]:.2f} s, bare node {node[-1][0]:.2f}'
            say(f'start {number + 1} of {repeats}: {told}, bare MCP server {server[-1][0]:.2f}')
        imports = {name: _imported(live.folder, statement) for name, statement in IMPORTS.items()}
    goal = [one for one, _ in node]
    both = [one + other for one, (other, _) in zip(goal, server, strict=True)]
    both_cpu = [one + other for (_, one), (_, other) in zip(node, server, strict=True)]
    took, cpu = ([one[at] for one in harness] for at in (0, 1))
    name = 'start of the process to the first accepted call'
    why = 'a bare rclpy goal and a bare MCP server take'
    limit = unless(OVER_BARE, median(both) / median(goal), why)
    less = 'bare rclpy goal + bare MCP server'
    return [
        row(f'{name} / bare rclpy goal', 's', took, goal, limit=limit),
        row(f'{name} / {less}', 's', took, both, limit=OVER_BARE),
        # With what clients ask meanwhile, which is the more the longer DDS takes: no limit.
        row(f'  CPU of it / {less}', 's', cpu, both_cpu),
        *(row(f'  Python and the import of {name}', 's', [imports[name]]) for name in imports),
    ]


_logs = count()


def _program(folder: Path, *arguments: str) -> Program:
    return Program(*arguments, log=folder / f'start-{next(_logs)}.log')


def _bare_node(folder: Path) -> Started:
    begun = time.monotonic()
    where = (str(GOAL['x']), str(GOAL['y']))
    node = _program(folder, str(HERE / 'bare_start.py'), *where, *ros_arguments({}))
    try:
        node.says('accepted')
        started = time.monotonic() - begun, node.cpu_s()
        node.says('ended')
        return started
    finally:
        node.end()


async def _harness(folder: Path, journal: Path) -> Started:
    port = _free_port()
    parameters = {'journal.path': journal, 'mcp.port': port}
    begun = time.monotonic()
    harness = _program(folder, *HARNESS, *ros_arguments(parameters))
    try:
        async with _connected(port) as client:
            answer: dict[str, Any] = {}
            while answer.get('status') != 'accepted':
                if answer and answer['status'] not in NOT_YET:
                    raise RuntimeError(f'not accepted: {answer}')
                if answer:
                    await asyncio.sleep(CALL_AGAIN_S)
                answer = (
                    await client.call_tool('navigate_to_pose', GOAL)
                ).structured_content or {}
            started = time.monotonic() - begun, harness.cpu_s()
            await at_rest(client)
            return started
    finally:
        harness.end()


async def _bare_server(folder: Path) -> Started:
    port = _free_port()
    begun = time.monotonic()
    server = _program(folder, str(HERE / 'echo_server.py'), str(port))
    try:
        async with _connected(port) as client:
            await client.call_tool('echo', {'text': 'hello'})
            return time.monotonic() - begun, server.cpu_s()
    finally:
        server.end()


def _imported(folder: Path, statement: str) -> float:
    begun = time.monotonic()
    program = _program(folder, '-c', f'{statement}; print("done")')
    program.says('done')
    passed = time.monotonic() - begun
    program.end()
    return passed


@contextlib.asynccontextmanager
async def _connected(port: int) -> AsyncIterator[Client]:
    """Connect as soon as somebody listens."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(PORT_POLL_S)
    async with Client(f'http://127.0.0.1:{port}/mcp') as client:
        yield client


def _free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


if __name__ == '__main__':
    for made in run():
        print(made)
