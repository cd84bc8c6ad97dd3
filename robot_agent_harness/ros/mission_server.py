# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The action `~/run_mission`: a mission in words, from any ROS program.

The goal ends SUCCEEDED only where the mission was achieved, CANCELED where its cancellation ended
it, and ABORTED otherwise; the result says more. rclpy's part runs on the rclpy thread, the mission
on the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import logging
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse, ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from robot_agent_harness.action import RunMission
from robot_agent_harness.assembly import Core
from robot_agent_harness.errors import HarnessError, JournalError
from robot_agent_harness.events import Correlation, Event, EventType, RobotActionProgress
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.mission import MissionOutcome
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.ros.conversions import mission_feedback, mission_result

logger = logging.getLogger(__name__)

ID_MAX = 128
"""Longest mission id, in characters."""
CANCELED, INTERRUPTED, DEACTIVATED = 'canceled', 'interrupted', 'deactivated'
STOP_S = 1.0
"""How long a mission gets to record its end when the harness stops."""

_STATES = {
    EventType.MISSION_STARTED: 'deciding',
    EventType.MODEL_TURN_STARTED: 'deciding',
    EventType.ROBOT_ACTION_STARTED: 'acting',
    EventType.ROBOT_ACTION_OUTCOME: 'deciding',
    EventType.MISSION_ENDED: 'ended',
}


class MissionServer:
    """Takes one mission at a time.

    :param refusal: says why no mission can start now; None if one can. Called on the rclpy thread.
    """

    def __init__(
        self,
        node: Node,
        core: Core,
        *,
        loop: asyncio.AbstractEventLoop,
        refusal: Callable[[], str | None],
    ) -> None:
        self._node = node
        self._harness = core.harness
        self._journal = core.journal
        self._loop = loop
        self._refusal = refusal
        self._taken = False
        self._handle: ServerGoalHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._state = ''
        core.journal.add_event_listener(self._on_event)
        self._server = ActionServer(
            node,
            RunMission,
            '~/run_mission',
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )

    def end_mission(self, reason: str) -> None:
        """End the mission under way, if any; on the loop."""
        if self._task is not None and not self._task.done():
            self._cancel(reason)

    async def stop(self) -> None:
        """Wait a moment for the mission that has been ended to be over; on the loop."""
        if self._task is None or self._task.done():
            return
        await asyncio.wait({self._task}, timeout=STOP_S)
        # One that waits for its model is closed by the recovery of the next start.
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=STOP_S)

    def close(self) -> None:
        """Withdraw the action; on the rclpy thread, or once it has ended."""
        self._server.destroy()

    # -- the rclpy thread's side -----------------------------------------------------------------

    def _on_goal(self, goal: Any) -> GoalResponse:
        why = self._refusal() or self._defect(goal)
        if why is None and self._taken:
            why = 'a mission is under way'
        if why is not None:
            # The action protocol carries no reason.
            logger.warning('run_mission refused: %s', why)
            return GoalResponse.REJECT
        self._taken = True
        return GoalResponse.ACCEPT

    def _defect(self, goal: Any) -> str | None:
        if not goal.instruction.strip():
            return 'the instruction is empty'
        if len(goal.mission_id) > ID_MAX:
            return f'mission_id is longer than {ID_MAX} characters'
        try:
            used = bool(goal.mission_id) and self._used(goal.mission_id)
        except JournalError as error:
            return f'nobody can say whether mission_id {goal.mission_id} was used before: {error}'
        return f'mission_id {goal.mission_id} was used before' if used else None

    def _used(self, mission_id: str) -> bool:
        with JournalReader(self._journal.path) as reader:
            return next(reader.events(mission_id=mission_id, limit=1), None) is not None

    def _on_cancel(self, _handle: ServerGoalHandle) -> CancelResponse:
        self._loop.call_soon_threadsafe(self.end_mission, CANCELED)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        done: Future = Future(executor=self._node.executor)
        self._loop.call_soon_threadsafe(self._start, handle, done)
        result = await done
        self._taken = False
        if result.outcome == MissionOutcome.ACHIEVED.value:
            handle.succeed()
        elif handle.is_cancel_requested and result.reason == CANCELED:
            handle.canceled()
        else:
            handle.abort()
        return result

    # -- the loop's side -------------------------------------------------------------------------

    def _start(self, handle: ServerGoalHandle, done: Future) -> None:
        self._handle, self._state = handle, ''
        self._task = self._loop.create_task(self._run(handle, done), name='mission')

    async def _run(self, handle: ServerGoalHandle, done: Future) -> None:
        goal = handle.request
        outcome, mission_id = MissionOutcome.UNKNOWN, goal.mission_id
        reason, summary = INTERRUPTED, 'the harness was stopped'
        try:
            report = await self._harness.run_mission(goal.instruction, mission_id or None)
            outcome, mission_id = report.outcome, report.mission_id
            reason, summary = report.reason, shared_redactor().text(report.summary)
        except HarnessError as error:
            reason, summary = error.code, str(error)
        except Exception as error:
            # The goal must end, whatever is wrong with the mission.
            logger.exception('the mission failed')
            reason, summary = 'harness_fault', repr(error)
        finally:
            self._handle = None
            done.set_result(mission_result(outcome.value, reason, summary, mission_id))
            # A coroutine of rclpy's goes on when its executor next looks.
            executor = self._node.executor
            if executor is not None:
                executor.wake()

    def _cancel(self, reason: str) -> None:
        if self._harness.mission_id is not None:
            self._harness.cancel_mission(reason)
        elif self._task is not None and not self._task.done():
            self._loop.call_soon(self._cancel, reason)  # it has not taken its first step yet

    def _on_event(self, _seq: int, event: Event, ids: Correlation) -> None:
        handle = self._handle
        if handle is None or ids.mission_id is None or ids.mission_id != self._harness.mission_id:
            return
        self._state = _STATES.get(event.type, self._state)
        if isinstance(event, RobotActionProgress) and event.state == 'VERIFYING':
            self._state = 'verifying'
        handle.publish_feedback(
            mission_feedback(self._harness.step, self._state, event.type.value)
        )
