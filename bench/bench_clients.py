# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What eight MCP clients cost that are connected and do nothing but listen.

Four have a session of 2025-11-25 with its stream open and a subscription to the world, four a
stream of 2026-07-28 (`subscriptions/listen`). The same harness is watched with and without them in
turns, so that a busy machine disturbs both alike; the robot rests and sends its topics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, AsyncExitStack
import time
import warnings

from live import at_rest, live_harness, LiveHarness
from mcp import Client, MCPDeprecationWarning
from rows import Limit, Row, row, Say

ADDED_PERCENT = Limit('value', 5.0)
"""Of one core (the product's own limit)."""
CLIENTS = 8
WORLD = 'robot://world/latest'
SETTLE_S = 1.0
WINDOW_S = 3.0
REPEATS, QUICK_REPEATS = 2, 1


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    with live_harness(say) as live:
        alone, crowded = asyncio.run(_watch(live, QUICK_REPEATS if quick else REPEATS, say))
    added = [more - less for more, less in zip(crowded, alone, strict=True)]
    name = f'idle with {CLIENTS} MCP clients connected:'
    return [
        row(f'{name} CPU / with none', '% of a core', crowded, alone),
        row(f'{name} CPU added', '% of a core', added, limit=ADDED_PERCENT),
    ]


async def _watch(live: LiveHarness, repeats: int, say: Say) -> tuple[list[float], list[float]]:
    async with Client(live.url) as client:
        await at_rest(client)
    alone: list[float] = []
    crowded: list[float] = []
    for number in range(repeats):
        alone.append(await _cpu_percent(live))
        async with listening(live.url, CLIENTS):
            crowded.append(await _cpu_percent(live))
        told = f'{crowded[-1]:.2f} % with {CLIENTS} clients, {alone[-1]:.2f} % with none'
        say(f'window {number + 1} of {repeats}: {told}')
    return alone, crowded


@asynccontextmanager
async def listening(url: str, clients: int) -> AsyncIterator[None]:
    """Have so many clients connected that listen, every second one in the newer way."""
    async with AsyncExitStack() as stack:
        for number in range(clients):
            era = '2026-07-28' if number % 2 else 'legacy'
            client = await stack.enter_async_context(Client(url, mode=era))
            if number % 2:
                await stack.enter_async_context(client.listen(resource_subscriptions=[WORLD]))
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter('ignore', MCPDeprecationWarning)
                    await client.subscribe_resource(WORLD)
        yield


async def _cpu_percent(live: LiveHarness) -> float:
    await asyncio.sleep(SETTLE_S)
    before, begun = live.harness.cpu_s(), time.monotonic()
    await asyncio.sleep(WINDOW_S)
    return (live.harness.cpu_s() - before) / (time.monotonic() - begun) * 100.0


if __name__ == '__main__':
    for made in run():
        print(made)
