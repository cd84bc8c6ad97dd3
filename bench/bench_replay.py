# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How much faster than real time an hour is replayed, with the records that a real hour has.

The hour is made on virtual time: a model sends the robot from goal to goal, 50 s each, with Nav2's
feedback at the rate at which the harness takes it (5 Hz), and a client looks at the world every
five seconds. It is then replayed, which has to find every record identical. The reference is the
hour itself: the ratio is by how many times less a replay takes.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
import tempfile
import time
from typing import Any

from rows import Limit, Row, row, Say

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.replay import replay_journal
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.testing.scripted_model import call, scripted
from robot_agent_harness.testing.virtual_time import run_virtual

HOUR_S = 3600.0
TRIP_S, FEEDBACK_S, LOOK_S = 50.0, 0.2, 5.0
AT_LEAST = 1000.0
"""By how many times a replay must be faster than what it replays."""
REPEATS, REPEATS_QUICK = 2, 1


def run(quick: bool, say: Say) -> list[Row]:
    """Make the hour once and replay it several times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'journal.db'
        say('an hour is made')
        run_virtual(_hour(path))
        taken, recorded_s, records = [], [], 0
        for number in range(REPEATS_QUICK if quick else REPEATS):
            say(f'replay {number + 1}')
            begun = time.process_time()
            replay = replay_journal(path)
            taken.append(time.process_time() - begun)
            if not replay.identical:
                raise AssertionError(f'not identical: {replay.runs[0].differences[0]}')
            recorded_s.append(sum(one.duration_s for one in replay.runs))
            records = sum(one.same for one in replay.runs)
    return [
        row('replay: an hour', 's', taken, recorded_s, limit=Limit('ratio', 1 / AT_LEAST)),
        row('replay: real time over replay', 'times', [HOUR_S / value for value in taken]),
        row('replay: records of the hour', 'records', [float(records)]),
    ]


async def _hour(path: Path) -> None:
    nav2 = ScriptableNav2()
    trips = int(HOUR_S / TRIP_S)
    model = scripted(*(_trip(number) for number in range(trips + 2)))
    parameters: dict[str, Any] = {'journal.synchronous': 'normal', 'mission.max_steps': 1000}
    async with Bench(path, model=model, nav2=nav2, parameters=parameters) as bench:
        work = [
            asyncio.create_task(bench.core.harness.run_mission('go round and round')),
            asyncio.create_task(_drive(bench)),
            asyncio.create_task(_look(bench)),
        ]
        await asyncio.sleep(HOUR_S)
        bench.core.harness.cancel_mission()
        await asyncio.wait(work[:1])
        for task in work[1:]:
            task.cancel()


def _trip(number: int) -> dict[str, Any]:
    x = float(number % 7)
    return call('navigate_to_pose', x=x, y=1.0, purpose='round', expected_outcome='at the stop')


async def _drive(bench: Bench) -> None:
    """Carry out each goal that comes in."""
    nav2 = bench.nav2
    done = 0
    while True:
        await asyncio.sleep(FEEDBACK_S)
        if len(nav2.sent) == done:
            continue
        goal_id, goal = nav2.sent[-1]
        nav2.status((goal_id, GoalStatus.EXECUTING))
        left_s = TRIP_S
        while left_s > 0:
            await asyncio.sleep(FEEDBACK_S)
            left_s -= FEEDBACK_S
            nav2.feedback(goal_id, distance_remaining=round(left_s / 10, 2))
        bench.robot.place(goal['x'], goal['y'], goal['yaw'])
        nav2.status((goal_id, GoalStatus.SUCCEEDED))
        nav2.result(GoalStatus.SUCCEEDED, {'error_code': 0}, goal_id)
        done = len(nav2.sent)


async def _look(bench: Bench) -> None:
    while True:
        await asyncio.sleep(LOOK_S)
        await bench.call('get_world_snapshot', {}, client={'kind': 'mcp'})


if __name__ == '__main__':
    for made in run(True, print):
        print(made)
