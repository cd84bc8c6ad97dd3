# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Owns every physical action: each has one follower, found by the goal id that the wire carries.

News that carries the id of no action of ours changes none. News of an action that has ended never
changes its outcome; it is recorded as late, and it may show that a goal nobody vouches for is
still running, which is then cancelled, or that it has ended, which lets the next one start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
import logging
from typing import Any

from robot_agent_harness.actions.board import ActionBoard, FINISHED_KEPT
from robot_agent_harness.actions.controller import (
    ActionController,
    ACTIVE_STATUSES,
    CancelResponse,
    ControllerEvent,
    ENDED_STATUSES,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.controller_log import ControllerLog
from robot_agent_harness.actions.followed import FollowedAction, OwnNews, resolve
from robot_agent_harness.actions.follower import ActionFollower, ASK_AGAIN_S
from robot_agent_harness.actions.heard import RUNS_NO_SUCH_GOAL
from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.plan import Acceptance, ActionPlan
from robot_agent_harness.actions.recorder import Recorder
from robot_agent_harness.actions.records import CANCEL_REQUESTED, progress
from robot_agent_harness.actions.verification import (
    SHIPPED,
    Verifier,
    WaypointsVerifier,
)
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.guarded import in_own_thread, USER_CODE_S
from robot_agent_harness.world.journey import Way
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

CANCEL_RESPONSE_S = 2.0
"""How long a caller waits to hear what the controller says to a cancel request."""
ENDED_KEPT = FINISHED_KEPT
"""For how many ended actions news is still recognised."""
NO_LONGER = ENDED_STATUSES | {GoalStatus.UNKNOWN}
"""Statuses of a result that tell that the goal does not run: it has ended, or nobody knows it."""
LATE_ACCEPTANCE_S = 10.0
"""How long a goal of which nothing was heard may still be on its way to the controller."""
LATE_RECORDS_MAX = 20
"""How many late records one ended action may get."""


@dataclass(slots=True)
class _Ended:
    """What is kept of an ended action, to recognise news about it."""

    status: int | None
    plan: ActionPlan
    accepted: bool
    """Whether the controller was seen to take the goal."""
    end_told: bool
    """Whether the controller told of an end of the goal; a refusal is none."""
    requested_ns: int
    asked_ns: int
    """When its goal was asked about last."""
    records: int = 0
    heard: int = 0
    """How much of what was heard of it since is on record."""


class RobotActionTracker:
    """Starts actions, hands what is heard to their followers, and tells of their outcomes."""

    def __init__(
        self,
        *,
        clock: Clock,
        journal: Recorder,
        board: ActionBoard,
        observer: WorldObserver,
        controllers: Mapping[str, ActionController],
        verifiers: Mapping[str, Verifier],
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._board = board
        self._observer = observer
        self._log = ControllerLog(journal=journal, board=board)
        self._controllers = controllers
        self._verifiers = verifiers
        self._followers: dict[str, ActionFollower] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: dict[str, _Ended] = {}
        self._cancels: dict[str, asyncio.Future[int | None]] = {}
        self._hurry = asyncio.Event()
        self._closed = False
        self._outcome_listeners: list[Callable[[RobotAction], None]] = []
        self._change_listeners: list[Callable[[RobotAction], None]] = []
        self._foreign_listeners: list[Callable[[tuple[str, ...]], None]] = []
        self._presence_listeners: list[Callable[[str, bool], None]] = []
        for name, controller in controllers.items():
            controller.set_listener(partial(self._on_event, name))
            board.set_reachable(name, controller.reachable)

    def on_outcome(self, listener: Callable[[RobotAction], None]) -> None:
        """Call `listener` with each action that has got its outcome, once it is recorded."""
        self._outcome_listeners.append(listener)

    def on_change(self, listener: Callable[[RobotAction], None]) -> None:
        """Call `listener` with each new value of an action."""
        self._change_listeners.append(listener)

    def on_foreign_goals(self, listener: Callable[[tuple[str, ...]], None]) -> None:
        """Call `listener` with the ids of somebody else's goals that became active at once."""
        self._foreign_listeners.append(listener)

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Call `listener` with the name of each controller whose server came (True) or went."""
        self._presence_listeners.append(listener)

    @property
    def unfinished(self) -> tuple[RobotAction, ...]:
        """Actions without an outcome, oldest first."""
        return self._board.unfinished

    def take(self, action: RobotAction, plan: ActionPlan, before: WorldSnapshot) -> None:
        """Take an action over whose start is durable; from now on it stands in the way of others.

        Also one that an earlier run left open: what is heard of it counts from now on.
        """
        self._board.drives(plan.controller, action.action_id, alone=plan.action.alone)
        self._board.put(action)
        self._followers[action.action_id] = ActionFollower(
            action,
            plan,
            before,
            clock=self._clock,
            journal=self._journal,
            board=self._board,
            observer=self._observer,
            controller=self._controllers[plan.controller],
            verifier=self._verifiers[plan.verifier],
            hurry=self._hurry,
            show=self._log.flush,
            publish=partial(_tell, self._change_listeners),
            ended=self._on_ended,
        )

    async def way(self, plan: ActionPlan, goal: dict[str, Any]) -> Way | None:
        """Return by what places an action is to come, for `start`; None: its verifier does not
        ask.
        """
        verifier = self._verifiers[plan.verifier]
        if not hasattr(verifier, 'waypoints'):  # what LooksOnTheWay asks for, in no time
            return None
        if isinstance(verifier, WaypointsVerifier):
            return Way(verifier.waypoints(goal), verifier.within_m)
        named = partial(verifier.waypoints, goal)
        try:
            if type(verifier) in SHIPPED:
                return Way(named())
            return Way(tuple(await in_own_thread(named, within_s=USER_CODE_S)))
        except Exception:
            # A verifier may be a user's own; without them it may judge all the same.
            logger.exception('the verifier %s names no waypoints', plan.verifier)
            return Way()

    def prepare(self, action: RobotAction, plan: ActionPlan) -> None:
        """Make ready the goal of an action that is about to be taken and started."""
        fields = plan.action.fields(action.goal)
        self._controllers[plan.controller].prepare(action.action_id, fields)

    async def start(self, action_id: str, way: Way | None = None) -> Acceptance:
        """Send a taken action's goal; return once the controller's answer is known or overdue.

        The action is followed to its outcome whatever becomes of the caller. One that closing
        cancels learns instead of the answer that the goal has been sent.
        """
        follower = self._followers[action_id]
        if way is not None:
            self._observer.begin_journey(way)
        task = asyncio.get_running_loop().create_task(follower.run(), name=f'action {action_id}')
        self._tasks[action_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(action_id, None))
        try:
            return await follower.acceptance
        except asyncio.CancelledError:
            return Acceptance.INTERRUPTED

    async def abandon(self, action_id: str, reason: OutcomeReason, why: str) -> None:
        """End a taken action whose goal was never sent."""
        await self._followers[action_id].abandon(reason, why)

    async def settle(self, action_id: str) -> RobotAction:
        """Ask once for a taken action that an earlier run left open; return it with its
        outcome.
        """
        follower = self._followers[action_id]
        await follower.settle()
        return await follower.done

    def restore(self, action: RobotAction, plan: ActionPlan) -> None:
        """Remember an action that an earlier run ended UNKNOWN: its goal may still run."""
        self._board.drives(plan.controller, action.action_id, alone=plan.action.alone)
        self._board.put(action)
        self._ended[action.action_id] = _Ended(
            None,
            plan,
            accepted=True,
            end_told=False,
            requested_ns=action.requested_monotonic_ns,
            asked_ns=self._clock.monotonic_ns(),
        )
        self.ask_for_unknown()

    async def wait(self, action_id: str, timeout_s: float) -> RobotAction | None:
        """Return the action once it has an outcome, or as it is when the time is up.

        None if it is unknown.
        """
        follower = self._followers.get(action_id)
        if follower is not None:
            await asyncio.wait({follower.done}, timeout=timeout_s)
        return self.get(action_id)

    def get(self, action_id: str) -> RobotAction | None:
        """Return an action for a result that may show the newest feedback; None if unknown."""
        self._log.flush()
        return self._board.get(action_id)

    def look_again(self, action_id: str) -> None:
        """Have an action that waits for news or for its next look at the world wait no longer."""
        if action_id in self._followers:
            self._followers[action_id].look_again()

    async def cancel(self, action_id: str, *, insist: bool = False) -> int | None:
        """Ask the controller to cancel this action's goal, and return its code (CancelGoal.srv).

        :param insist: whether to ask again as long as the action goes on, for callers that will
            not hear of that.
        :returns: 0 accepted, 1 rejected, 2 unknown goal, 3 already ended; None if it did not
            answer.
        """
        follower = self._followers.get(action_id)
        ended = self._ended.get(action_id)
        plan = follower.plan if follower else ended.plan if ended else None
        if plan is None:
            return None
        future = self._cancels.setdefault(action_id, asyncio.get_running_loop().create_future())
        if follower is not None and not follower.concluding:
            self._log.flush()
            self._journal.defer(progress(follower.action, note=CANCEL_REQUESTED))
            follower.note_cancel()
        self._controllers[plan.controller].cancel(action_id)
        if insist and follower is not None:
            follower.insist_on_cancel()
        done, _ = await asyncio.wait({future}, timeout=CANCEL_RESPONSE_S)
        return future.result() if done else None

    async def close(self, *, cancel_running: bool) -> None:
        """End every unfinished action as UNKNOWN (interrupted), its goal cancelled if wished."""
        self._hurry.set()
        unfinished = [f for f in self._followers.values() if not f.concluding]
        for follower in unfinished:
            action_id = follower.action.action_id
            if cancel_running:
                self._controllers[follower.plan.controller].cancel(action_id)
            if action_id in self._tasks:
                self._tasks[action_id].cancel()
        # A task that is writing its outcome is left to finish: there must be exactly one.
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for follower in unfinished:
            await follower.interrupt()
        self._closed = True
        # No answer is heard any more, so nobody may wait for one.
        for answer in self._cancels.values():
            resolve(answer, None)

    # -- what is heard ---------------------------------------------------------------------------

    def _on_event(self, controller: str, event: ControllerEvent) -> None:
        if self._closed:
            return  # nothing can be recorded any more; the next start asks for what it missed
        now_ns = self._clock.monotonic_ns()
        if isinstance(event, StatusReport):
            self._on_status(controller, self._relevant(event), now_ns)
        elif isinstance(event, ServerPresence):
            self._log.heard(controller, event, now_ns, late=[])
            self._on_presence(controller, event.reachable, now_ns)
        else:
            self._on_own(controller, event, now_ns)

    def _relevant(self, report: StatusReport) -> StatusReport:
        """Return the goals that are active or our own; a server lists others for a while."""
        return StatusReport(
            tuple((g, s) for g, s in report.goals if s in ACTIVE_STATUSES or self._board.owns(g))
        )

    def _on_own(self, controller: str, event: OwnNews, now_ns: int) -> None:
        follower, ended = self._followers.get(event.goal_id), self._ended.get(event.goal_id)
        if isinstance(event, GoalFeedback) and follower is None:
            # Usual for a moment after an end that was told; else the controller drives to it.
            runs = GoalStatus.EXECUTING
            if ended is None or ended.end_told:
                return
            if not self._is_late_news(ended, runs):
                self._still_runs(event.goal_id, ended)
                return
        if ended is None or ended.heard < LATE_RECORDS_MAX:
            fed = isinstance(event, GoalFeedback) and follower is not None
            quiet = fed and follower is not None and not follower.is_news(now_ns)
            late = [] if ended is None else [event.goal_id]
            self._log.heard(controller, event, now_ns, late=late, quiet=quiet)
        if isinstance(event, CancelResponse):
            future = self._cancels.pop(event.goal_id, None)
            if future is not None and not future.done():
                future.set_result(event.return_code)
        if follower is not None:
            follower.hear(event, now_ns)
        elif ended is not None:
            ended.heard += 1
            self._on_late(event)
        elif isinstance(event, GoalResult) and event.status in NO_LONGER:
            self._board.goal_ended(event.goal_id)  # of somebody else, see _on_presence

    def _on_status(self, controller: str, report: StatusReport, now_ns: int) -> None:
        repeated = self._log.repeats(controller, report)
        late = [goal_id for goal_id, _ in report.goals if goal_id in self._ended]
        self._log.heard(controller, report, now_ns, late=late, quiet=repeated)
        if foreign := self._board.update_goals(controller, report.goals):
            for listener in self._foreign_listeners:
                listener(foreign)
        for follower in self._followers.values():
            if follower.plan.controller == controller:
                follower.hear_status(None, now_ns, repeated=repeated)
        for goal_id, status in report.goals:
            if goal_id in self._followers:
                self._followers[goal_id].hear_status(status, now_ns, repeated=repeated)
            elif goal_id in self._ended:
                self._late_status(goal_id, status, 'status_topic')

    def _on_presence(self, controller: str, reachable: bool, now_ns: int) -> None:
        self._board.set_reachable(controller, reachable)
        for listener in self._presence_listeners:
            listener(controller, reachable)
        for follower in self._followers.values():
            if follower.plan.controller == controller:
                follower.hear_presence(reachable, now_ns)
        if reachable:
            self.ask_for_unknown()
            # It may be another server, which does not list what it has never heard of.
            for goal_id in self._board.foreign_goals(controller):
                self._controllers[controller].request_result(goal_id)

    def ask_for_unknown(self) -> None:
        """Ask what became of the goals that nobody vouches for, if there are any."""
        for action_id in self._board.unsettled:
            ended = self._ended.get(action_id)
            controller = self._controllers[ended.plan.controller] if ended else None
            if ended is not None and controller is not None and controller.reachable:
                controller.request_result(action_id)
                self._cancel_unattended(action_id, ended.plan)

    def _on_late(self, event: OwnNews) -> None:
        if isinstance(event, GoalResult):
            if event.status == GoalStatus.UNKNOWN:
                self._denied(event.goal_id)
            self._late_status(event.goal_id, event.status, 'result')
        elif isinstance(event, GoalResponse):
            status = GoalStatus.ACCEPTED if event.accepted else GoalStatus.ABORTED
            self._late_status(event.goal_id, status, 'goal_response')
        elif isinstance(event, GoalFeedback):
            self._late_status(event.goal_id, GoalStatus.EXECUTING, 'feedback')
        elif isinstance(event, CancelResponse) and event.return_code in RUNS_NO_SUCH_GOAL:
            self._denied(event.goal_id)

    @staticmethod
    def _is_late_news(ended: _Ended, status: int) -> bool:
        return status != ended.status and ended.records < LATE_RECORDS_MAX

    def _denied(self, goal_id: str) -> None:
        """Believe the server that it runs no such goal, unless it may be on its way there."""
        ended = self._ended[goal_id]
        waited_s = (self._clock.monotonic_ns() - ended.requested_ns) / NS_PER_S
        if ended.accepted or waited_s >= LATE_ACCEPTANCE_S:
            self._board.goal_ended(goal_id)
            ended.status = None  # a sign that it runs would be news again

    def _late_status(self, goal_id: str, status: int, source: str) -> None:
        """Record news of an ended action; nothing is left driving unattended."""
        ended = self._ended[goal_id]
        if status == ended.status and status in ENDED_STATUSES and ended.end_told:
            return  # a server lists what has ended for a long time: with each change of another
        action = self._board.get(goal_id)
        if status in ENDED_STATUSES:
            self._board.goal_ended(goal_id)
            ended.end_told = ended.end_told or source != 'goal_response'
        running = status in (GoalStatus.ACCEPTED, GoalStatus.EXECUTING)
        if action is None or not self._is_late_news(ended, status):
            if action is not None and running and not ended.end_told:
                self._still_runs(goal_id, ended)
            return
        ended.status = status
        ended.records += 1
        note = f'{source} now says {GoalStatus.name_of(status)}'
        self._journal.defer(progress(action, late=True, note=note))
        if running:
            self._stop_unattended(goal_id, ended)

    def _still_runs(self, goal_id: str, ended: _Ended) -> None:
        """Ask again to stop a goal that goes on: the request may be lost, or have been refused."""
        if self._clock.monotonic_ns() - ended.asked_ns >= ASK_AGAIN_S * NS_PER_S:
            self._stop_unattended(goal_id, ended)

    def _stop_unattended(self, goal_id: str, ended: _Ended) -> None:
        ended.asked_ns = self._clock.monotonic_ns()
        self._cancel_unattended(goal_id, ended.plan)
        if not ended.end_told:
            # Whatever its outcome was, it stands in the way until its end is told.
            ended.accepted = True
            self._board.goal_runs(goal_id)
            self._controllers[ended.plan.controller].request_result(goal_id)

    def _cancel_unattended(self, goal_id: str, plan: ActionPlan) -> None:
        if plan.timeouts.cancel_on_timeout:
            self._controllers[plan.controller].cancel(goal_id)

    # -- what follows ----------------------------------------------------------------------------

    def _on_ended(self, follower: FollowedAction, action: RobotAction) -> None:
        """Let go of an action whose outcome is recorded, and tell of it."""
        del self._followers[action.action_id]
        self._log.forget(action.action_id)
        self._observer.end_journey()
        heard, status = follower.heard, follower.heard.last_status
        self._ended[action.action_id] = _Ended(
            status,
            follower.plan,
            accepted=heard.accepted,
            # The status topic alone is believed until feedback belies it.
            end_told=heard.result_ended,
            requested_ns=action.requested_monotonic_ns,
            asked_ns=self._clock.monotonic_ns(),
        )
        while len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]
        self._board.put(action)
        _tell(self._change_listeners, action)
        if heard.runs_no_more:
            self._board.goal_ended(action.action_id)
        elif status in ACTIVE_STATUSES and action.state is not ActionState.UNKNOWN:
            self._cancel_unattended(action.action_id, follower.plan)  # UNKNOWN ones are already
        _tell(self._outcome_listeners, action)


def _tell(listeners: list[Callable[[RobotAction], None]], action: RobotAction) -> None:
    for listener in listeners:
        try:
            listener(action)
        except Exception:
            # Whoever listens: the action goes on, and so do the others.
            logger.exception('a listener failed on action %s', action.action_id)
