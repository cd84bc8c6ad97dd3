# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How much longer the prompt of a mission's 200th step is than that of its 10th.

A scripted model sends the robot round on virtual time and has something to say each time; every
second trip fails. What is counted is all that a model is sent: system prompt, messages and tools.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
import json
from pathlib import Path
import tempfile
from typing import Any

from rows import Limit, Row, row, Say

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.llm.client import ModelRequest
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.scripted_model import call, scripted
from robot_agent_harness.testing.virtual_time import run_virtual

FLAT = Limit('ratio', 1.05)
EARLY, LATE = 10, 200
"""Steps that are the same in what happened just before them, see `STOPS` and `FAILS_EVERY`."""
STOPS, FAILS_EVERY = 5, 2
TRIP_S, LOOK_S = 3.0, 0.1
WHY = 'The corridor ahead is free, and the next stop of the round is the one that I go to now.'


def run(say: Say = print) -> list[Row]:
    """Run the mission once, which is the same each time."""
    say(f'a mission of {LATE} steps on virtual time')
    with tempfile.TemporaryDirectory() as folder:
        requests = run_virtual(_mission(Path(folder) / 'journal.db'))
    sizes = [float(_bytes(request)) for request in requests]
    late, early = sizes[LATE - 1], sizes[EARLY - 1]
    return [
        row(f'prompt at step {LATE} / at step {EARLY}', 'bytes', [late], [early], limit=FLAT),
        row('  the longest of them all', 'bytes', [max(sizes)]),
    ]


async def _mission(path: Path) -> list[ModelRequest]:
    model = scripted(*(_trip(number) for number in range(LATE)))
    parameters: dict[str, Any] = {'journal.synchronous': 'normal', 'mission.max_steps': LATE}
    async with Bench(path, model=model, parameters=parameters) as bench:
        driving = asyncio.create_task(_drive(bench))
        await bench.core.harness.run_mission('go round and round')
        driving.cancel()
    if len(model.requests) < LATE:
        raise AssertionError(f'the mission ended after {len(model.requests)} steps')
    return model.requests


def _trip(number: int) -> dict[str, Any]:
    return call(
        'navigate_to_pose',
        say=WHY,
        x=float(number % STOPS),
        y=1.0,
        purpose=f'stop {number % STOPS} of the round',
        expected_outcome='the robot stands at the stop',
    )


async def _drive(bench: Bench) -> None:
    """Carry out each goal that comes in, or give it up."""
    nav2, done = bench.nav2, 0
    while True:
        await asyncio.sleep(LOOK_S)
        if len(nav2.sent) == done:
            continue
        goal_id, goal = nav2.sent[-1]
        done = len(nav2.sent)
        nav2.feedback(goal_id, distance_remaining=1.0)
        await asyncio.sleep(TRIP_S)
        if done % FAILS_EVERY == 0:
            nav2.result(GoalStatus.ABORTED, {'error_code': 103}, goal_id)
        else:
            bench.robot.place(goal['x'], goal['y'], goal['yaw'])
            nav2.result(GoalStatus.SUCCEEDED, {'error_code': 0}, goal_id)
        nav2.status()


def _bytes(request: ModelRequest) -> int:
    """Return how long all of it is that the model reads."""
    parts = (request.system, *(asdict(message) for message in request.messages))
    tools = [asdict(tool) for tool in request.tools]
    return len(json.dumps([parts, tools], ensure_ascii=False).encode())


if __name__ == '__main__':
    for made in run():
        print(made)
