# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal with a bit of everything for the tests of exports, and a long one."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
import sqlite3
from typing import Any

from driving_robot import DrivingRobot

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, Event, RecordedEvent
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.journal.schema import chain_of, CHAINED_COLUMNS, COLUMNS, GENESIS
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.testing import Bench, response, run_virtual, scripted
from robot_agent_harness.world.salient import Salient

MISSION = 'mission-parcel'
INSTRUCTION = 'Fetch the parcel, quietly.'
HOSTILE = '<script>alert(1)</script>\u2028\x00"\n\x1b[31m é'
"""What may upset a reader of lines, of HTML, of C strings or of terminals."""
SAID = 'said to a tool alone'


def go(x: float, y: float, **more: Any) -> dict[str, Any]:
    return response(
        say=f'On to {x}, {y}.',
        call={'name': 'navigate_to_pose', 'arguments': {'x': x, 'y': y}},
        purpose='fetch the parcel',
        expected_outcome=f'the robot stands at {x}, {y}',
        **more,
    )


async def _mission(path: Path) -> None:
    model = scripted(
        go(3.0, 4.0, thinking='The shelf is near.'),
        go(6.0, 1.0, delay_s=2.0),
        go(6.0, 1.0),
        response(
            say='The second arrival was no arrival.',
            call={
                'name': 'finish_mission',
                'arguments': {'outcome': 'not_achieved', 'reason': HOSTILE},
            },
        ),
    )
    async with Bench(path, model=model) as bench:
        robot = DrivingRobot(bench, false_trips=frozenset({1}))
        tasks = [asyncio.create_task(robot.run()), asyncio.create_task(_push(robot, 12.0))]
        await bench.core.harness.run_mission(INSTRUCTION, MISSION)
        client = {
            'kind': 'mcp',
            'transport': 'http',
            'request_id': 7,
            'session': 'session-1',
            'protocol_version': '2025-11-25',
        }
        done = await bench.call('navigate_to_pose', {'x': 5.0, 'y': 1.0}, client=client)
        await bench.outcome(done.data['action_id'])
        await bench.call(HOSTILE, {'x': SAID}, client=client)
        bench.core.harness.notify(Salient('human_message', HOSTILE))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _push(robot: DrivingRobot, at_s: float) -> None:
    await asyncio.sleep(at_s)
    robot.push(0.8)


def make_journal(path: Path) -> Path:
    """Write a mission with an arrival, a decision overtaken by the world and a false success, and
    the calls of an MCP client, one of them hostile.
    """
    run_virtual(_mission(path))
    return path


def record(path: Path, *entries: Any) -> Path:
    """Write a journal of these entries."""

    async def write() -> None:
        journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
        try:
            await journal.append(*entries)
        finally:
            await journal.close()

    asyncio.run(write())
    return path


def events_of(path: Path) -> list[RecordedEvent]:
    with JournalReader(path) as reader:
        return list(reader.events())


def lengthen(path: Path, count: int) -> Path:
    """Repeat the records of a journal, with other ids, until there are so many."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            f'SELECT {", ".join(CHAINED_COLUMNS)} FROM events ORDER BY seq'
        ).fetchall()
        (chain,) = connection.execute(
            'SELECT chain FROM events ORDER BY seq DESC LIMIT 1'
        ).fetchone() or (GENESIS,)
        seq, first = len(rows), rows[0][3]
        span = rows[-1][3] - first + 1_000_000_000
        marks = ', '.join('?' * len(COLUMNS))
        with connection:
            while seq < count:
                again = seq // len(rows)
                for row in rows[: count - seq]:
                    seq += 1
                    _, version, kind, wall, ros, *ids, payload = row
                    told = [one and f'{one}-{again}' for one in ids]
                    new = (seq, version, kind, wall + again * span, ros, *told, payload)
                    chain = chain_of(chain, new)
                    connection.execute(f'INSERT INTO events VALUES ({marks})', (*new, chain))
    return path


def as_entry(event: Event, **ids: Any) -> tuple[Event, Correlation]:
    """Return a record with its ids."""
    return event, Correlation(**ids)
