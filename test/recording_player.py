# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Feeds what a real Nav2 put on the wire to the whole core, at the times at which it came.

test/recordings/ holds what Nav2 (kilted) with its loopback simulator sent, one JSON object a line.
The goals that a scenario calls its own are sent by the harness through `navigate_to_pose` when the
recording sent them, under ids of the harness's own making; everything else is played as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
import json
from pathlib import Path
from typing import Any

from robot_agent_harness.actions.controller import (
    CancelResponse,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    StatusReport,
)
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.testing.bench import Bench, BenchRobot
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import MapPose, Odometry

RECORDINGS = Path(__file__).parent / 'recordings'

LOOPBACK_SKILLS = """
skills:
  navigate_to_pose:
    managed:
      preconditions:
        odometry_max_age_s: null   # this simulator's odometry is silent at rest
"""
LAX_SKILLS = """
skills:
  navigate_to_pose:
    managed:
      preconditions:
        pose_max_age_s: null
        odometry_max_age_s: null
        max_drift_m: null
        controller_idle: false
"""


class _RecordedNav2(ScriptableNav2):
    """Learns under which id the harness sends the goal that the recording knows by another."""

    def __init__(self) -> None:
        super().__init__(accept_after_s=None)
        self.recorded_id = ''
        self.ids: dict[str, str] = {}

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        super().send_goal(goal_id, goal)
        self.ids[self.recorded_id] = goal_id


class RecordingPlayer:
    """Plays one recording on a bench.

    :param own: which of the recording's goal requests the harness makes itself, counted from 0.
    """

    def __init__(self, name: str, own: Sequence[int], journal: Path, skills: str) -> None:
        lines = (RECORDINGS / f'{name}.jsonl').read_text(encoding='utf-8').splitlines()
        self.records = [json.loads(line) for line in lines]
        requests = [r['goal_id'] for r in self.records if r['kind'] == 'send_goal_request']
        self.own = {requests[number] for number in own}
        skills_file = journal.parent / 'skills.yaml'
        skills_file.write_text(skills, encoding='utf-8')
        self.nav2 = _RecordedNav2()
        self.bench = Bench(
            journal,
            parameters={'skills_file': str(skills_file), 'navigation.execution_timeout_s': 60.0},
            nav2=self.nav2,
            robot=BenchRobot(stopped={'pose', 'odom'}, battery=None),
        )
        self.calls: list[asyncio.Task[ToolResult]] = []

    async def play(self) -> list[ToolResult]:
        """Play it to its end and return the results of the own calls, in order."""
        async with self.bench as bench:
            loop = asyncio.get_running_loop()
            origin = loop.time() - self.records[0]['t_mono']
            wall = bench.clock.ros_ns() / 1e9 - self.records[0]['t_wall']
            for record in self.records:
                await asyncio.sleep(max(0.0, origin + record['t_mono'] - loop.time()))
                self._play(record, wall)
                await asyncio.sleep(0)
            for action in bench.core.tracker.unfinished:
                await bench.outcome(action.action_id, within_s=120.0)
            return list(await asyncio.gather(*self.calls))

    def _play(self, record: dict[str, Any], wall: float) -> None:
        kind, nav2, ids = record['kind'], self.nav2, self.nav2.ids
        goal = ids.get(record.get('goal_id') or '', record.get('goal_id') or '')
        if kind == 'send_goal_request' and record['goal_id'] in self.own:
            self._send(record)
        elif kind == 'cancel_request' and record['goal_id'] in self.own:
            self.calls.append(
                asyncio.create_task(self.bench.call('cancel_action', {'action_id': goal}))
            )
        elif kind == 'send_goal_response':
            nav2.say(GoalResponse(goal, record['accepted']))
        elif kind == 'status':
            listed = record['status_list']
            goals = ((ids.get(g['goal_id'], g['goal_id']), g['status']) for g in listed)
            nav2.say(StatusReport(tuple(goals)))
        elif kind == 'feedback':
            numbers = {k: record[k] for k in ('distance_remaining', 'number_of_recoveries')}
            nav2.say(GoalFeedback(goal, numbers))
        elif kind == 'result_response':
            payload = {k: record[k] for k in ('error_code', 'error_msg')}
            nav2.say(GoalResult(goal, record['status'], payload))
        elif kind == 'cancel_response' and record['goal_id']:
            nav2.say(CancelResponse(goal, record['return_code']))
        elif kind in ('odom', 'tf_pose'):
            self._observe(record, wall)

    def _send(self, record: dict[str, Any]) -> None:
        """Make the request through the door."""
        self.nav2.recorded_id = record['goal_id']
        arguments = {key: record[key] for key in ('x', 'y', 'yaw')}
        self.calls.append(asyncio.create_task(self.bench.call('navigate_to_pose', arguments)))

    def _observe(self, record: dict[str, Any], wall: float) -> None:
        clock, pose = self.bench.clock, record['pose']
        stamp = round((record['stamp'] + wall) * 1e9)
        place = (pose['x'], pose['y'], pose['yaw'])
        now = (stamp, clock.monotonic_ns(), clock.ros_ns())
        builder = self.bench.core.builder
        if record['kind'] == 'tf_pose':
            builder.observe_map_pose(Sample(MapPose(*place, 'map', None, None), *now), source='tf')
        else:
            value = Odometry(*place, record['frame'], abs(record['v']), record['w'])
            builder.observe_odometry(Sample(value, *now))
