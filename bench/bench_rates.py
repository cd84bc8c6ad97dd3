# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the harness costs at the rates that robots have: at rest, and with an action under way.

Odometry comes at 50 Hz, as Nav2's robots send it, and at 200 Hz, feedback of the action at 100 Hz,
the battery at 1 Hz; the localiser is silent at rest as AMCL is. The reference is a bare rclpy node
subscribed to the same topics, which does nothing; both are watched over the same seconds. Of
memory, bench_memory.py has the limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import signal
import time

from live import at_rest, HERE, live_harness, LiveHarness, Program, ros_arguments, STREAMS
from mcp import Client
from rows import Limit, Row, row, Say

OVER_BARE = Limit('ratio', 1.25)
AT_REST = Limit('value', 20.0)
"""Per cent of a core (the product's own limit)."""
REST_HZ = 50
UNDER_WAY_HZ = ((50, 100), (200, 100))
"""Odometry and feedback."""
SETTLE_S = 2.0
"""Until discovery and start-up, or the change to another rate, are over."""
WINDOW_S = 3.0
REPEATS, QUICK_REPEATS = 3, 1
CAME = 0.8
"""Share of the messages without which this machine is too busy to measure on."""
EXECUTION_S = 3600.0
"""The goal does not end: nobody may wait for it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A harness, and a bare node on the same topics."""

    live: LiveHarness
    bare: Program

    def set_off(self) -> None:
        """Have an action begin, which does not end."""
        asyncio.run(_set_off(self.live.url))

    def send_at(self, odometry_hz: float, feedback_hz: float) -> None:
        """Have the robot send at these rates."""
        self.live.robot.tell(f'odom {odometry_hz}')
        self.live.robot.tell(f'feedback {feedback_hz}')

    def window(self, seconds: float) -> tuple[float, float]:
        """Return what share of a core, in %, each of the two used over so many seconds."""
        programs = (self.live.harness, self.bare)
        before, begun = [program.cpu_s() for program in programs], time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - begun
        harness, bare = (
            (program.cpu_s() - then) / passed * 100.0
            for program, then in zip(programs, before, strict=True)
        )
        return harness, bare

    def rates(self) -> tuple[float, float]:
        """Return at what rates odometry and feedback came to the bare node since the last time."""
        self.bare.usage.send_signal(signal.SIGUSR1)
        told = self.bare.says_anew(r'odometry (\S+) Hz, feedback (\S+) Hz')
        return float(told.group(1)), float(told.group(2))


@contextmanager
def watched(say: Say) -> Iterator[Watched]:
    """Start both; the robot stands."""
    parameters = {'navigation.execution_timeout_s': EXECUTION_S}
    with live_harness(say, robot=STREAMS, parameters=parameters) as live:
        arguments = ros_arguments({})
        bare = Program(str(HERE / 'bare_subscriber.py'), *arguments, log=live.folder / 'bare.log')
        try:
            bare.says('ready')
            yield Watched(live, bare)
        finally:
            bare.end()


async def _set_off(url: str) -> None:
    async with Client(url) as client:
        await at_rest(client)
        told = (
            await client.call_tool('navigate_to_pose', {'x': 0.0, 'y': 0.0})
        ).structured_content
        if told is None or told.get('status') != 'accepted':
            raise RuntimeError(f'not accepted: {told}')


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    with watched(say) as both:
        name = f'at rest, {REST_HZ} Hz odometry:'
        rows = _at(both, name, (REST_HZ, 0), repeats, AT_REST, say)
        memory = [both.live.harness.rss_mb()], [both.bare.rss_mb()]
        rows.append(row(f'{name} memory / bare node', 'MB', *memory))
        both.set_off()
        for odometry_hz, feedback_hz in UNDER_WAY_HZ:
            name = f'{odometry_hz} Hz odometry, {feedback_hz} Hz feedback, an action under way:'
            rows += _at(both, name, (odometry_hz, feedback_hz), repeats, OVER_BARE, say)
    return rows


def _at(
    both: Watched, name: str, rates_hz: tuple[int, int], repeats: int, limit: Limit, say: Say
) -> list[Row]:
    both.send_at(*rates_hz)
    time.sleep(SETTLE_S)
    both.rates()
    harness: list[float] = []
    bare: list[float] = []
    for number in range(repeats):
        one, other = both.window(WINDOW_S)
        harness.append(one)
        bare.append(other)
        told = f'harness {one:.2f} %, bare {other:.2f} % of a core'
        say(f'{name} {number + 1} of {repeats}: {told}')
    came = both.rates()
    if any(hz < CAME * wanted for hz, wanted in zip(came, rates_hz, strict=True)):
        raise RuntimeError(
            f'odometry came at {came[0]} Hz and feedback at {came[1]} Hz of {rates_hz}: this'
            ' machine is too busy to measure on'
        )
    return [row(f'{name} CPU / bare node', '% of a core', harness, bare, limit=limit)]


if __name__ == '__main__':
    for made in run():
        print(made)
