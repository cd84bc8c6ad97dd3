# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller whose robot gets somewhere, for missions on the in-process bench."""

from __future__ import annotations

import asyncio
from typing import Any

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.testing import Bench, ScriptableNav2


class ArrivingNav2(ScriptableNav2):
    """Takes two seconds for each trip, then says success; where the robot ends is its business."""

    def __init__(self) -> None:
        super().__init__()
        self.bench: Bench
        self.falls_short = 0
        """How many trips from now end half way, with success claimed all the same."""
        self.silent = False

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        super().send_goal(goal_id, goal)
        if not self.silent:
            asyncio.get_running_loop().call_later(2.0, self._arrive, goal_id, goal['pose'])

    def _arrive(self, goal_id: str, goal: dict[str, Any]) -> None:
        share = 0.5 if self.falls_short > 0 else 1.0
        self.falls_short -= 1
        self.bench.robot.place(goal['x'] * share, goal['y'] * share)
        self.result(GoalStatus.SUCCEEDED, {'error_code': 0}, goal_id)
