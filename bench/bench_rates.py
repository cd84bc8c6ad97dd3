# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the harness costs while an action is under way, at the rates that robots have.

Odometry at 50 Hz, as Nav2's robots send it, and at 200 Hz; feedback of the action at 100 Hz, the
battery at 1 Hz, the localiser silent as AMCL is. The reference is a bare rclpy node subscribed to
the same topics, which does nothing; both are watched over the same seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import time

from live import at_rest, HERE, live_harness, LiveHarness, Program, ros_arguments, STREAMS
from mcp import Client
from rows import Limit, Row, row, Say

OVER_BARE = Limit('ratio', 1.25)
ODOMETRY_HZ = (50, 200)
FEEDBACK_HZ = 100
SETTLE_S = 2.0
WINDOW_S = 8.0
REPEATS, QUICK_REPEATS = 3, 1
CAME = 0.8
"""Share of the messages without which this machine is too busy to measure on."""
EXECUTION_S = 3600.0
"""The goal does not end: nobody may wait for it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A harness with an action under way, and a bare node on the same topics."""

    live: LiveHarness
    bare: Program

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


@contextmanager
def watched(say: Say) -> Iterator[Watched]:
    """Start both and send the harness's robot on its way; `ended` says at what rates they came."""
    parameters = {'navigation.execution_timeout_s': EXECUTION_S}
    with live_harness(say, robot=STREAMS, parameters=parameters) as live:
        arguments = ros_arguments({})
        bare = Program(str(HERE / 'bare_subscriber.py'), *arguments, log=live.folder / 'bare.log')
        try:
            bare.says('ready')
            asyncio.run(_set_off(live.url))
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
    rows: list[Row] = []
    for odometry_hz in ODOMETRY_HZ:
        harness: list[float] = []
        bare: list[float] = []
        with watched(say) as both:
            both.live.robot.tell(f'odom {odometry_hz}')
            both.live.robot.tell(f'feedback {FEEDBACK_HZ}')
            time.sleep(SETTLE_S)
            repeats = QUICK_REPEATS if quick else REPEATS
            for number in range(repeats):
                one, other = both.window(WINDOW_S)
                harness.append(one)
                bare.append(other)
                told = f'harness {one:.2f} %, bare {other:.2f} % of a core'
                say(f'odometry at {odometry_hz} Hz, {number + 1} of {repeats}: {told}')
            both.bare.end()
            came = float(both.bare.says(r'odometry: (\S+) Hz').group(1))
            fed = float(both.bare.says(r'feedback: (\S+) Hz').group(1))
        if came < CAME * odometry_hz or fed < CAME * FEEDBACK_HZ:
            raise RuntimeError(
                f'odometry came at {came} Hz and feedback at {fed} Hz: this machine is too busy'
            )
        name = f'{odometry_hz} Hz odometry, {FEEDBACK_HZ} Hz feedback, an action under way:'
        rows += [
            row(f'{name} CPU / bare node', '% of a core', harness, bare, limit=OVER_BARE),
            row('  odometry that came to the bare node', 'Hz', [came]),
            row('  feedback that came to the bare node', 'Hz', [fed]),
        ]
    return rows


if __name__ == '__main__':
    for made in run():
        print(made)
