# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Journals to be shown: a mission with everything in it, and one that only attacks its readers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from driving_robot import DrivingRobot

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    MissionEnded,
    MissionStarted,
    ModelResponseRecorded,
    RobotActionOutcome,
    RobotActionProgress,
    RobotActionStarted,
    SalientEvent,
    ToolCallRecorded,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.scripted_model import response, scripted

MISSION_ID = 'mission-parcel'


def go(x: float, y: float, say: str, **more: Any) -> dict[str, Any]:
    return response(
        say=say,
        call={'name': 'navigate_to_pose', 'arguments': {'x': x, 'y': y}},
        purpose='fetch the parcel',
        expected_outcome=f'the robot stands at {x}, {y}',
        **more,
    )


async def _push(robot: DrivingRobot, at_s: float) -> None:
    await asyncio.sleep(at_s)
    robot.push(0.8)


async def mission(path: Path, *, instruction: str = 'Fetch the parcel.') -> None:
    """Record a mission with a push, a false success and a repair."""
    model = scripted(
        go(3.0, 4.0, 'The shelf first.'),
        go(6.0, 1.0, 'Now the loading bay.', delay_s=2.0),
        go(6.0, 1.0, 'Something moved me. The loading bay is still right.'),
        go(6.0, 1.0, 'The controller says that I am there, and I am not. Once more.'),
        response(
            say='Both places were reached.',
            thinking='Let me see.',
            call={
                'name': 'finish_mission',
                'arguments': {'outcome': 'achieved', 'reason': 'both arrivals were verified'},
            },
        ),
    )
    async with Bench(path, model=model) as bench:
        robot = DrivingRobot(bench, false_trips=frozenset({1}))
        tasks = [asyncio.create_task(robot.run()), asyncio.create_task(_push(robot, 12.0))]
        await bench.core.harness.run_mission(instruction, MISSION_ID)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&{{ 7*7 }}</style></title>'
LONG_WORD = 'w' * 600
UNSEEN = 'a\x00b\x1b[31mc\u202ed\u2066e\u2028f'


async def hostile(path: Path) -> None:
    """Record a mission of which every text is an attempt at something."""
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    own = Correlation(mission_id=HOSTILE, turn_id=HOSTILE, tool_call_id=HOSTILE, action_id=HOSTILE)
    said = f'{HOSTILE}{UNSEEN} {LONG_WORD}'
    await journal.append(
        (
            MissionStarted(
                instruction=said, robot_id=said, provider=said, model=said, max_steps=1
            ),
            own,
        ),
        (
            ModelResponseRecorded(
                rationale=said,
                thinking=said,
                tool_calls=[{said: said}],
                usage={'input_tokens': said, 'output_tokens': -1},
                stop_reason=said,
                provider=said,
                model=said,
                error=said,
            ),
            own,
        ),
        (
            ToolCallRecorded(
                name=said,
                arguments={said: [said], 'name': said},
                decision_snapshot_id=said,
                purpose=said,
                expected_outcome=said,
                client={'kind': said},
            ),
            own,
        ),
        (RobotActionStarted(skill=said, goal={'x': 1e308, 'y': -1e308, said: said}), own),
        (
            WorldSnapshotCaptured(
                reason='requested',
                snapshot={
                    'map_pose': {
                        'value': {'x': 1.0, 'y': 2.0, 'frame_id': said},
                        'availability': 'available',
                        'source': said,
                    },
                    'battery': {'availability': said, 'reason': said},
                },
            ),
            own,
        ),
        (
            ActionPreconditionChecked(
                ok=False,
                decision_snapshot_id=said,
                fresh_snapshot_id=said,
                checks=[
                    {'name': said, 'ok': False, 'measured': said, 'limit': said, 'detail': said}
                ],
            ),
            own,
        ),
        (RobotActionProgress(state=said, feedback={said: said}), own),
        (
            RobotActionOutcome(
                state=said,
                reason=said,
                evidence={'why': said, 'controller_status': said, said: said},
                verification_snapshot_id=said,
            ),
            own,
        ),
        (RobotActionProgress(state=said, late=True, note=said), own),
        (SalientEvent(kind=said, message=said, details={said: said}), own),
        (ToolResultRecorded(status=said, is_error=True, structured={'message': said}), own),
        (
            MissionEnded(
                outcome='unknown', reason=said, summary=said, claim=said, steps=1, usage={}
            ),
            own,
        ),
    )
    await journal.close()
