# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From a controller's terminal status on the wire to the outcome on disk.

The robot stands where it was sent and ends its goal at a random moment; the outcome is what
another connection can read of the journal, which `synchronous` FULL has synced by then. Odometry
comes at 50 Hz. With a localiser that is silent at rest, as AMCL is, the next odometry is all that
has to be waited for; with one that speaks at 10 Hz also at rest, its own next word is. How long
that was, and the harness's own share, stand beside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
import contextlib
from dataclasses import dataclass
from pathlib import Path
import random
import sqlite3
from statistics import median
import time

from live import at_rest, live_harness, LiveHarness, START_S, STREAMS
from mcp import Client
from rows import Limit, quantile, Row, row, Say

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal import JournalReader

DURABLE_MS = Limit('value', 60.0)
"""At the 99th percentile (the product's own limit)."""
REPEATS, QUICK_REPEATS = 3, 1
ACTIONS = 25
"""In each repeat."""
LOCALIZERS = {'silent at rest': 0.0, 'at 10 Hz': 10.0}
UNDER_WAY_S = (0.05, 0.15)
"""For how long an action is under way: longer than one period of its topics."""
POLL_S = 0.0005
SEED = 1
NS_PER_MS = 1e6
_FIND = 'SELECT 1 FROM events WHERE action_id = ? AND type = ?'
_OUTCOME = EventType.ROBOT_ACTION_OUTCOME.value


@dataclass(frozen=True, slots=True)
class Ended:
    """One action: steady times in ns of what was seen from outside."""

    action_id: str
    left_ns: int
    """The terminal status left the controller."""
    durable_ns: int
    """The outcome could be read."""
    wall_offset_ns: int
    """From steady to wall time."""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    rows: list[Row] = []
    with live_harness(say, robot=STREAMS) as live:
        # In this order: the harness learns that a localiser speaks at rest, and keeps to that.
        for name, hz in LOCALIZERS.items():
            live.robot.tell(f'pose {hz}')
            blocks = asyncio.run(_measure(live, name, repeats, say))
            stages = [_stages(live.journal, block) for block in blocks]
            rows += _rows(name, blocks, stages, DURABLE_MS if hz == 0.0 else None)
    return rows


async def _measure(live: LiveHarness, name: str, repeats: int, say: Say) -> list[list[Ended]]:
    chance = random.Random(SEED)
    blocks = []
    async with Client(live.url) as client:
        await at_rest(client)
        with contextlib.closing(sqlite3.connect(f'file:{live.journal}?mode=ro', uri=True)) as db:
            for number in range(repeats):
                block = [await _action(live, client, db, chance) for _ in range(ACTIONS)]
                blocks.append(block)
                worst = max(_ms(block))
                told = f'{median(_ms(block)):.1f} ms, at most {worst:.1f}'
                say(f'outcome, localiser {name}, {number + 1} of {repeats}: {told}')
    return blocks


async def _action(
    live: LiveHarness, client: Client, db: sqlite3.Connection, chance: random.Random
) -> Ended:
    """Send the robot to where it is, have the controller end that, and watch the journal."""
    await at_rest(client)
    answer = (await client.call_tool('navigate_to_pose', {'x': 0.0, 'y': 0.0})).structured_content
    if answer is None or answer.get('status') != 'accepted':
        raise RuntimeError(f'not accepted: {answer}')
    action_id = answer['action_id']
    await asyncio.sleep(chance.uniform(*UNDER_WAY_S))
    offset_ns = time.time_ns() - time.monotonic_ns()
    live.robot.tell('succeed')
    deadline = time.monotonic() + START_S
    while db.execute(_FIND, (action_id, _OUTCOME)).fetchone() is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f'action {action_id} has no outcome')
        await asyncio.sleep(POLL_S)
    durable_ns = time.monotonic_ns()
    left = live.robot.says(rf'ended {action_id} (\d+)')
    return Ended(action_id, int(left.group(1)), durable_ns, offset_ns)


def _ms(block: Sequence[Ended]) -> list[float]:
    return [(one.durable_ns - one.left_ns) / NS_PER_MS for one in block]


def _stages(journal: Path, block: Sequence[Ended]) -> list[tuple[float, float, float]]:
    """Return for each action the ms until it was heard, then was seen to be so, then durable."""
    with JournalReader(journal) as reader:
        return [_stages_of(reader, one) for one in block]


def _stages_of(reader: JournalReader, one: Ended) -> tuple[float, float, float]:
    heard, decided = _stamps(reader.events(action_id=one.action_id))
    left_ns, durable_ns = (at + one.wall_offset_ns for at in (one.left_ns, one.durable_ns))
    return (
        (heard - left_ns) / NS_PER_MS,
        (decided - heard) / NS_PER_MS,
        (durable_ns - decided) / NS_PER_MS,
    )


def _stamps(events: Iterator[RecordedEvent]) -> tuple[int, int]:
    """Return the wall times at which the end was heard of and at which the outcome was known."""
    heard = decided = 0
    for event in events:
        if event.type == _OUTCOME:
            if event.payload['state'] != 'SUCCEEDED':
                raise RuntimeError(f'not succeeded: {event.payload}')
            decided = event.wall_time_ns
        elif event.payload.get('state') == 'VERIFYING':
            heard = event.wall_time_ns
    return heard, decided


def _rows(
    name: str,
    blocks: list[list[Ended]],
    stages: list[list[tuple[float, float, float]]],
    limit: Limit | None,
) -> list[Row]:
    figure = f'terminal status to durable outcome, localiser {name},'
    slow = quantile([ms for block in blocks for ms in _ms(block)], 0.99)
    told = ('status left, heard', 'heard, seen to be so (a fresh observation)', 'on disk')
    rows = [
        row(f'{figure} p50', 'ms', [median(_ms(block)) for block in blocks]),
        row(f'{figure} p99', 'ms', [slow], limit=limit),
    ]
    for at, stage in enumerate(told):
        each = [median(one[at] for one in block) for block in stages]
        rows.append(row(f'  p50 of {stage}', 'ms', each))
    return rows


if __name__ == '__main__':
    for made in run():
        print(made)
