# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What one viewer of the dashboard adds to the harness, while the robot drives and at rest.

The viewer is a process of its own that reads the live stream as the page does. With and without
it take turns on one harness, so that a busy machine disturbs both alike; the robot drives to and
fro all the while, or stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
import sys
import time

from live import at_rest, live_harness, LiveHarness, Program
from mcp import Client
from rows import Limit, Row, row, Say

ADDED_PERCENT = Limit('value', 5.0)
"""Of one core (the product's own limit)."""
WINDOW_S = 2.0
SETTLE_S = 1.0
REPEATS, QUICK_REPEATS = 2, 1
VIEWER = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as stream:
    for number, line in enumerate(stream):
        if number == 0:
            print('looking', flush=True)
"""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    with live_harness(say) as live:
        return asyncio.run(_measure(live, repeats, say))


async def _measure(live: LiveHarness, repeats: int, say: Say) -> list[Row]:
    rows: list[Row] = []
    async with Client(live.url) as client:
        await at_rest(client)
        for name, driving in (('at rest', False), ('while driving', True)):
            added: list[float] = []
            without: list[float] = []
            async with _driving(client) if driving else contextlib.nullcontext():
                for number in range(repeats):
                    alone = await _window(live)
                    async with _viewer(live, f'{name}-{number}'):
                        seen = await _window(live)
                    without.append(alone)
                    added.append(seen - alone)
                    said = f'{alone:.2f} % of a core, {seen:.2f} % with a viewer'
                    say(f'dashboard {name}, {number + 1} of {repeats}: {said}')
            title = f'one viewer of the dashboard, {name}: CPU added / without'
            rows.append(row(title, '% of a core', added, without, limit=ADDED_PERCENT))
    rows.append(row('  memory after viewers', 'MB', [live.harness.rss_mb()]))
    return rows


async def _window(live: LiveHarness) -> float:
    """Return the percentage of a core that the harness used over a window."""
    await asyncio.sleep(SETTLE_S)
    before, begun = live.harness.cpu_s(), time.monotonic()
    await asyncio.sleep(WINDOW_S)
    return (live.harness.cpu_s() - before) / (time.monotonic() - begun) * 100.0


@contextlib.asynccontextmanager
async def _viewer(live: LiveHarness, name: str) -> AsyncIterator[None]:
    """Look at the dashboard from a process of its own."""
    stream = live.url.removesuffix('mcp') + 'dashboard/live'
    viewer = Program('-c', VIEWER, stream, log=live.folder / f'viewer-{name}.log')
    try:
        await asyncio.to_thread(viewer.says, 'looking')
        yield
    finally:
        viewer.end()


@contextlib.asynccontextmanager
async def _driving(client: Client) -> AsyncIterator[None]:
    """Send the robot to and fro."""
    goals = 0

    async def drive() -> None:
        nonlocal goals
        for number in range(sys.maxsize):
            goal = {'x': 1.0 + number % 2, 'y': 1.0}
            answer = await client.call_tool('navigate_to_pose', goal)
            told = answer.structured_content or {}
            if 'action_id' in told:
                goals += 1
                follow = {'action_id': told['action_id'], 'timeout_s': 30.0}
                await client.call_tool('wait_for_action', follow)
            else:
                await asyncio.sleep(0.5)

    task = asyncio.create_task(drive())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not goals:
        raise RuntimeError('the robot did not drive')


if __name__ == '__main__':
    for made in run():
        print(made)
