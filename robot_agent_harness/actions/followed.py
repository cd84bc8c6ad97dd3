# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of one unfinished action, how it goes on record, and its one outcome.

News only fills in what is known (:class:`Heard`) and rings; who follows the action waits for that.
What is recorded are facts that already happened: they go through `MissionJournal.defer`, which
keeps them in order until the disk takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from robot_agent_harness.actions.bell import Bell
from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.controller import (
    ActionController,
    CancelResponse,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    SendFailed,
)
from robot_agent_harness.actions.heard import Heard
from robot_agent_harness.actions.lifecycle import ActionState, Outcome, OutcomeReason, RobotAction
from robot_agent_harness.actions.observer import Look, WorldObserver
from robot_agent_harness.actions.plan import Acceptance, ActionPlan
from robot_agent_harness.actions.recorder import Recorder
from robot_agent_harness.actions.records import (
    Entry,
    outcome_record,
    progress,
    verification_snapshot,
)
from robot_agent_harness.actions.verification import Terminal, Verifier
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.world.snapshot import WorldSnapshot

FEEDBACK_PERIOD_S = 1.0
"""Feedback is journalled at most this often (CONTRACT); Nav2 sends a hundred a second."""
OUTCOME_DURABLE_S = 2.0
"""How long an outcome waits for the disk before it is announced all the same."""

OwnNews = GoalResponse | GoalFeedback | GoalResult | SendFailed | CancelResponse


class FollowedAction:
    """One unfinished action. Made when its start is durable; done when its outcome is recorded.

    :param before: the world right before the goal was sent.
    :param hurry: set when the harness closes: outcomes do not wait for the disk any more.
    :param show: puts on record what was heard and held back, since a record is about to show it.
    :param publish: told of each new value of the action, for whoever watches.
    :param ended: told of the action with its outcome, once it is recorded.
    """

    def __init__(
        self,
        action: RobotAction,
        plan: ActionPlan,
        before: WorldSnapshot,
        *,
        clock: Clock,
        journal: Recorder,
        board: ActionBoard,
        observer: WorldObserver,
        controller: ActionController,
        verifier: Verifier,
        hurry: asyncio.Event,
        show: Callable[[], None],
        publish: Callable[[RobotAction], None],
        ended: Callable[[FollowedAction, RobotAction], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.action = action
        self.plan = plan
        self.heard = Heard()
        self.acceptance: asyncio.Future[Acceptance] = loop.create_future()
        self.done: asyncio.Future[RobotAction] = loop.create_future()
        self.concluding = False
        """Whether the outcome is being recorded: it is decided."""
        self._before = before
        self._clock = clock
        self._journal = journal
        self._board = board
        self._observer = observer
        self._controller = controller
        self._verifier = verifier
        self._hurry = hurry
        self._show = show
        self._publish = publish
        self._ended = ended
        self._bell = Bell()
        self._feedback_due_ns = 0
        self._cancel_asked = False
        """Whether this run has asked for the goal to be cancelled."""
        self._taken_over = False
        """Whether an earlier run sent the goal."""
        self._cancel_asked_ns: int | None = None
        self._started_ns = self._news_ns = clock.monotonic_ns()
        if action.state is not ActionState.REQUESTED:
            self.heard.shown_running_ns = 1  # an earlier run heard that it was taken

    # -- what is heard ---------------------------------------------------------------------------

    def is_news(self, now_ns: int) -> bool:
        """Whether feedback counts now: as the first sign that the goal runs, or once a second."""
        early = self.action.state in (ActionState.REQUESTED, ActionState.ACCEPTED)
        return early or now_ns >= self._feedback_due_ns

    def hear(self, event: OwnNews, now_ns: int) -> None:
        """Take news of this goal in.

        :param now_ns: steady time at which it was heard.
        """
        if isinstance(event, GoalFeedback):
            self.action = replace(self.action, feedback=event.feedback)
            self._board.put(self.action)
            self.heard.take_feedback(now_ns)
            if not self.is_news(now_ns):
                return
            if self.action.state is ActionState.VERIFYING:
                self._feedback_due_ns = now_ns + ns(FEEDBACK_PERIOD_S)
        elif isinstance(event, CancelResponse):
            self.heard.take_cancel_response(event, now_ns)
        else:
            self.heard.take(event, now_ns)
        self._news(now_ns)

    def hear_status(self, status: int | None, now_ns: int, *, repeated: bool = False) -> None:
        """Take in what a status list says of this goal (None: nothing), or of others.

        :param repeated: whether the list before said the same.
        """
        if status is not None:
            self.heard.take_status(status, now_ns)
        if not repeated:
            self._news(now_ns)

    def hear_presence(self, reachable: bool, now_ns: int) -> None:
        """Take in that the server came or went."""
        self.heard.lost_ns = None if reachable else now_ns
        if reachable and self.action.state is not ActionState.REQUESTED:
            # It only blinked, or a new server will say that it knows no such goal.
            self._controller.request_result(self.action.action_id)
        self._news(now_ns)

    def note_cancel(self) -> None:
        """Take in that the harness asks for the goal to be cancelled."""
        self._cancel_asked = True

    def insist_on_cancel(self) -> None:
        """Have the cancel that was just asked for repeated as long as the goal goes on: the
        request may be lost, or have been refused.
        """
        self._cancel_asked_ns = self._clock.monotonic_ns()
        self._bell.ring()

    def look_again(self) -> None:
        """Look at once at what is known, without waiting for news or for the next look."""
        self._bell.ring()

    def _news(self, now_ns: int) -> None:
        self._news_ns = now_ns
        self._bell.ring()

    # -- what goes on record ---------------------------------------------------------------------

    def _advance(self, state: ActionState, *, note: str | None = None) -> None:
        self.action = self.action.advance(state)
        self._record(progress(self.action, note=note))
        self._board.put(self.action)
        self._publish(self.action)

    def _note_running(self) -> None:
        """Advance to RUNNING on its first sign, and journal feedback now and then."""
        # By the time of the news: how soon this task runs must not decide what comes next.
        now_ns, state = self._news_ns, self.action.state
        running = (GoalStatus.EXECUTING, GoalStatus.CANCELING)
        if state is ActionState.ACCEPTED and (
            self.action.feedback or self.heard.status in running
        ):
            self._feedback_due_ns = now_ns + ns(FEEDBACK_PERIOD_S)
            self._advance(ActionState.RUNNING)
        elif (
            state is ActionState.RUNNING
            and now_ns >= self._feedback_due_ns
            and self.action.feedback
        ):
            self._feedback_due_ns = now_ns + ns(FEEDBACK_PERIOD_S)
            self._record(progress(self.action))
            self._publish(self.action)

    def _record(self, *entries: Entry) -> asyncio.Future[list[int]]:
        self._show()  # nearly all of them hold the newest feedback
        return self._journal.defer(*entries)

    # -- the end ---------------------------------------------------------------------------------

    async def _unknown(self, reason: OutcomeReason, why: str) -> None:
        """End an action that nobody can vouch for, its goal cancelled if so configured."""
        if self.plan.timeouts.cancel_on_timeout:
            self._controller.cancel(self.action.action_id)
        await self._end(ActionState.UNKNOWN, reason, why)

    async def _end(
        self,
        state: ActionState,
        reason: OutcomeReason,
        why: str,
        terminal: Terminal | None = None,
    ) -> None:
        """End an action that needs no verification, with the world as it is for evidence."""
        snapshot = self._look(Look.OUTCOME)
        evidence = {'why': why, **self._told(terminal), **_seen(snapshot)}
        await self._conclude(Outcome(state, reason, evidence, snapshot.snapshot_id), snapshot)

    async def _conclude(self, outcome: Outcome, snapshot: WorldSnapshot | None) -> None:
        """Record the outcome, then announce it: nobody hears of one that the disk may lack."""
        self.concluding = True
        # As it goes on record: feedback that comes while that goes to the disk is none of it.
        ended = self.action.advance(outcome.state, outcome)
        records = [outcome_record(self.action, outcome)]
        if snapshot is not None and self._observer.store.first_use(snapshot.snapshot_id):
            records.insert(0, verification_snapshot(self.action, snapshot))
        durable = self._record(*records)
        if not self._hurry.is_set():
            hurry = asyncio.ensure_future(self._hurry.wait())
            either: set[asyncio.Future[Any]] = {durable, hurry}
            await asyncio.wait(
                either, timeout=OUTCOME_DURABLE_S, return_when=asyncio.FIRST_COMPLETED
            )
            hurry.cancel()
        self.action = ended
        self._ended(self, ended)
        resolve(self.done, ended)

    # -- small things ----------------------------------------------------------------------------

    def _look(self, look: Look) -> WorldSnapshot:
        return self._observer.capture(self.action.mission_id, look, self.action.action_id)

    def _told(self, terminal: Terminal | None) -> dict[str, Any]:
        return {**self.heard.told(terminal), 'last_feedback': self.action.feedback or None}

    async def _news_before(self, deadline_ns: int) -> bool:
        """Wait for news; return False once the deadline has passed without any."""
        left_s = (deadline_ns - self._clock.monotonic_ns()) / NS_PER_S
        if left_s <= 0:
            # All that was heard has been looked at; a flood of news must not defer the end.
            return False
        heard = await self._bell.rung(left_s)
        self._bell.silence()
        return heard


def _seen(snapshot: WorldSnapshot) -> dict[str, Any]:
    """Return where the robot was, and how well that is known."""
    field_ = snapshot.map_pose
    pose = field_.value
    return {
        'observed_pose': pose
        and {'x': round(pose.x, 4), 'y': round(pose.y, 4), 'yaw': round(pose.yaw, 4)},
        'pose_age_s': None if field_.age_s is None else round(field_.age_s, 4),
        'pose_availability': field_.availability.value,
    }


def resolve(future: asyncio.Future[Any], value: Any) -> None:
    """Give a future its value, unless it has one."""
    if not future.done():
        future.set_result(value)


def ns(seconds: float) -> int:
    """Return seconds in whole nanoseconds."""
    return int(seconds * NS_PER_S)
