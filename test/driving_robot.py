# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot for the bench that drives to its goals in virtual time, and lies where it is told to."""

from __future__ import annotations

import asyncio
import math

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.testing.bench import Bench

SPEED_M_S = 0.5
SHORT = 0.97
"""A controller stops a little short of the goal."""
HALF = 0.5
"""One that lies stops here."""


class DrivingRobot:
    """Carries every goal of the bench out, one after the other."""

    def __init__(self, bench: Bench, *, false_trips: frozenset[int] = frozenset()) -> None:
        self.bench = bench
        self.false_trips = false_trips
        """Which goals are called a success half way, counted from 0."""
        self.lying = False
        """Whether the next one is."""
        self.first_seen_ns: dict[str, int] = {}
        self.last_status: dict[str, int] = {}

    async def run(self) -> None:
        """Drive for ever."""
        done = 0
        while True:
            await asyncio.sleep(0.05)
            if len(self.bench.nav2.sent) > done:
                share = HALF if self.lying or done in self.false_trips else SHORT
                goal_id, goal = self.bench.nav2.sent[done]
                await self._drive(goal_id, goal['x'], goal['y'], goal['yaw'], share)
                done += 1

    def push(self, metres: float) -> None:
        """Be somewhere else along the x axis."""
        x, y, yaw = self.bench.robot.pose
        self.bench.robot.place(x + metres, y, yaw)

    def say(self, goal_id: str, status: GoalStatus) -> None:
        """Publish a goal's status."""
        self.first_seen_ns.setdefault(goal_id, self.bench.clock.wall_ns())
        self.last_status[goal_id] = int(status)
        self.bench.nav2.status((goal_id, status))

    async def _drive(self, goal_id: str, x: float, y: float, yaw: float, share: float) -> None:
        robot, nav2 = self.bench.robot, self.bench.nav2
        x0, y0, _ = robot.pose
        await asyncio.sleep(0.2)
        distance = math.hypot(x - x0, y - y0) * share
        steps = max(1, round(distance / SPEED_M_S * 10))
        self.say(goal_id, GoalStatus.EXECUTING)
        for step in range(1, steps + 1):
            part = share * step / steps
            where = (x0 + (x - x0) * part, y0 + (y - y0) * part, yaw)
            robot.place(*where, v=(SPEED_M_S, 0.0))
            nav2.feedback(
                goal_id,
                distance_remaining=distance * (1 - step / steps),
                current_pose={'x': where[0], 'y': where[1], 'yaw': yaw, 'frame_id': 'map'},
            )
            await asyncio.sleep(0.1)
        robot.place(*robot.pose)
        await asyncio.sleep(0.3)
        self.say(goal_id, GoalStatus.SUCCEEDED)
        nav2.result(GoalStatus.SUCCEEDED, {'error_code': 0, 'error_msg': ''}, goal_id)
