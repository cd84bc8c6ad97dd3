# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How cost grows, as plots in docs/images with their figures beside: `python bench/curves.py`.

    journal   a managed call's latency against the records that the journal holds already
    rate      CPU of harness and bare node against the rate of odometry and feedback
    clients   latency of a managed call and of a look against connected MCP clients

It takes about five minutes; names choose some of them.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from datetime import date
import json
from pathlib import Path
import random
from statistics import median
import sys
import time
from typing import Any

from bench_clients import listening
from bench_rates import watched
from chart import draw, Series
from live import at_rest, HERE, live_harness, Program, START_S, STREAMS
from machine import commit, machine
from mcp import Client
from rows import quantile, Say

IMAGES = Path(__file__).resolve().parents[1] / 'docs' / 'images'
RECORDS = (0, 1_000, 10_000, 100_000, 1_000_000)
RATES_HZ = (10, 20, 50, 100, 200, 500, 1000)
CLIENTS = (1, 2, 4, 8, 16, 32)
CALLS = 40
"""At each place."""
ROUNDS = 3
"""With the places in turns, so that a busy machine disturbs all alike."""
WINDOW_S, SETTLE_S = 4.0, 1.0
UNDER_WAY_S = 0.05
QUARTERS = (0.25, 0.75)
SEED = 1

Spread = tuple[float, float]
_chance = random.Random(SEED)


def main() -> int:
    """Measure and draw what is asked for."""
    curves: dict[str, Callable[[Say], None]] = {
        'journal': _journal,
        'rate': _rate,
        'clients': _clients,
    }
    parser = argparse.ArgumentParser(description='Plot how cost grows.')
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(curves))
    names = parser.parse_args().names or list(curves)
    if unknown := set(names) - set(curves):
        parser.error(f'there is no curve {", ".join(unknown)}')
    for name in names:
        curves[name](lambda line: print(line, file=sys.stderr, flush=True))
    return 0


def _journal(say: Say) -> None:
    calls: list[list[float]] = []
    echoes: list[list[float]] = []
    for records in RECORDS:
        with live_harness(say, robot=STREAMS, records=records) as live:
            echo = Program(str(HERE / 'echo_server.py'), log=live.folder / 'echo.log')
            try:
                echo_url = echo.says(r'ready: MCP at (\S+)').group(1)
                times = asyncio.run(_beside_echo(live.url, echo_url, live.robot.tell))
            finally:
                echo.end()
        say(f'{records} records: p50 {median(times[0]):.1f} ms, echo {median(times[1]):.1f}')
        calls.append(times[0])
        echoes.append(times[1])
    _plot(
        'journal',
        'A managed call, client to accepted, by what the journal holds already',
        x_axis='records in the journal',
        places=[f'{records:,}' for records in RECORDS],
        y_axis='ms, median and quarters',
        series=[
            _quarters('navigate_to_pose', calls),
            _quarters('a tool of the bare MCP SDK, in turns with it', echoes),
        ],
    )


def _clients(say: Say) -> None:
    ways: list[dict[int, list[float]]] = [{number: [] for number in CLIENTS} for _ in range(3)]
    with live_harness(say, robot=STREAMS) as live:
        echo = Program(str(HERE / 'echo_server.py'), log=live.folder / 'echo.log')
        try:
            urls = live.url, echo.says(r'ready: MCP at (\S+)').group(1)
            for number in range(ROUNDS):
                for clients in CLIENTS:
                    times = asyncio.run(_among(*urls, clients, live.robot.tell))
                    for way, one in zip(ways, times, strict=True):
                        way[clients] += one
                    told = ', '.join(f'{median(one):.1f}' for one in times)
                    say(f'{clients} clients, {number + 1} of {ROUNDS}: call, look, echo {told} ms')
        finally:
            echo.end()
    managed, looks, echoes = (list(way.values()) for way in ways)
    _plot(
        'clients',
        'A call of one client, by how many are connected and listen',
        x_axis='connected MCP clients',
        places=[str(clients) for clients in CLIENTS],
        y_axis='ms, median and quarters',
        series=[
            _quarters('navigate_to_pose', managed),
            _quarters('get_world_snapshot', looks),
            _quarters('a tool of the bare MCP SDK, in turns with them', echoes),
        ],
    )


def _rate(say: Say) -> None:
    harness: dict[int, list[float]] = {hz: [] for hz in RATES_HZ}
    bare: dict[int, list[float]] = {hz: [] for hz in RATES_HZ}
    came: dict[int, list[float]] = {hz: [] for hz in RATES_HZ}
    with watched(say) as both:
        both.set_off()
        for number in range(ROUNDS):
            for hz in RATES_HZ:
                both.send_at(hz, hz)
                time.sleep(SETTLE_S)
                both.rates()
                ours, other = both.window(WINDOW_S)
                harness[hz].append(ours)
                bare[hz].append(other)
                came[hz].append(both.rates()[0])
                told = f'{ours:.1f} %, bare node {other:.1f} %, {came[hz][-1]:.0f} Hz came'
                say(f'{hz} Hz, {number + 1} of {ROUNDS}: {told}')
    _plot(
        'rate',
        'CPU while an action is under way, by the rate of its topics',
        x_axis='Hz of odometry, and of feedback as well',
        places=[str(hz) for hz in RATES_HZ],
        y_axis='% of a core, median and range',
        series=[
            _ranges('harness', list(harness.values())),
            _ranges('bare rclpy node', list(bare.values())),
        ],
        came_hz=[round(median(one), 1) for one in came.values()],
    )


async def _beside_echo(
    url: str, echo_url: str, tell: Callable[[str], None]
) -> tuple[list[float], list[float]]:
    """Return the ms of managed calls and of calls of the bare SDK's tool, taken in turns."""
    async with Client(url) as client, Client(echo_url) as echo:
        managed, echoed = [], []
        await _managed_ms(client, tell)
        for _ in range(CALLS):
            managed.append(await _managed_ms(client, tell))
            echoed.append(await _call_ms(echo, 'echo', {'text': 'hello'}))
        return managed, echoed


async def _among(
    url: str, echo_url: str, clients: int, tell: Callable[[str], None]
) -> tuple[list[float], list[float], list[float]]:
    """Return the ms of managed calls, of looks, and of calls of the bare SDK's tool, in turns, of
    one client among so many.
    """
    managed, looks, echoed = [], [], []
    async with listening(url, clients - 1), Client(url) as client, Client(echo_url) as echo:
        await _managed_ms(client, tell)
        for _ in range(CALLS // ROUNDS):
            managed.append(await _managed_ms(client, tell))
            looks.append(await _call_ms(client, 'get_world_snapshot', {}))
            echoed.append(await _call_ms(echo, 'echo', {'text': 'hello'}))
    return managed, looks, echoed


async def _managed_ms(client: Client, tell: Callable[[str], None]) -> float:
    """Return the ms until a call is accepted; its action is over then."""
    await at_rest(client)
    await asyncio.sleep(_chance.uniform(0.0, UNDER_WAY_S))
    begun = time.perf_counter()
    answer = (await client.call_tool('navigate_to_pose', {'x': 0.0, 'y': 0.0})).structured_content
    passed_ms = (time.perf_counter() - begun) * 1e3
    if answer is None or answer.get('status') != 'accepted':
        raise RuntimeError(f'not accepted: {answer}')
    await asyncio.sleep(UNDER_WAY_S)
    tell('succeed')
    await client.call_tool(
        'wait_for_action', {'action_id': answer['action_id'], 'timeout_s': START_S}
    )
    return passed_ms


async def _call_ms(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    begun = time.perf_counter()
    await client.call_tool(tool, arguments)
    return (time.perf_counter() - begun) * 1e3


def _quarters(name: str, times: Sequence[Sequence[float]]) -> Series:
    spreads = [(quantile(one, QUARTERS[0]), quantile(one, QUARTERS[1])) for one in times]
    return _series(name, times, spreads)


def _ranges(name: str, values: Sequence[Sequence[float]]) -> Series:
    return _series(name, values, [(min(one), max(one)) for one in values])


def _series(name: str, values: Sequence[Sequence[float]], spreads: list[Spread]) -> Series:
    return Series(
        name,
        tuple(round(median(one), 2) for one in values),
        tuple((round(low, 2), round(high, 2)) for low, high in spreads),
    )


def _plot(
    name: str,
    title: str,
    *,
    x_axis: str,
    places: list[str],
    y_axis: str,
    series: list[Series],
    **beside: Any,
) -> None:
    """Write the picture and its figures, with what they were measured on.

    :param beside: other figures of the same run.
    """
    svg = draw(title, x_axis=x_axis, places=places, y_axis=y_axis, series=series)
    (IMAGES / f'curve_{name}.svg').write_text(svg)
    figures: dict[str, Any] = {
        'title': title,
        'x': {'axis': x_axis, 'places': places},
        'y': y_axis,
        'series': {one.name: {'values': one.values, 'spreads': one.spreads} for one in series},
        **beside,
        'measured': {'date': f'{date.today()}', **commit(), **machine()},
    }
    (IMAGES / f'curve_{name}.json').write_text(json.dumps(figures, indent=2) + '\n')


if __name__ == '__main__':
    sys.exit(main())
