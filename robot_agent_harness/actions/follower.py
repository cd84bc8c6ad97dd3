# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Follows one action from its request to its one outcome.

The task in here alone advances the action's state and writes its progress. News only fills in what
is known (:class:`Heard`) and wakes that task. rclpy tells nobody when a server dies and may leave
a request without an answer for ever, so every wait has its own end (DESIGN section 6).

What is recorded are facts that already happened: they go through `MissionJournal.defer`, which
keeps them in order until the disk takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
import logging
from typing import Any

from robot_agent_harness.actions.bell import Bell
from robot_agent_harness.actions.board import ActionBoard, SERVER_LOSS_GRACE_S
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
from robot_agent_harness.actions.verification import (
    Judgement,
    SHIPPED,
    Terminal,
    Verdict,
    Verifier,
)
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.guarded import in_own_thread, TookTooLongError, USER_CODE_S
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

FEEDBACK_PERIOD_S = 1.0
"""Feedback is journalled at most this often (CONTRACT); Nav2 sends a hundred a second."""
RESULT_GRACE_S = 0.5
"""How long the result may lag behind a terminal status: 1 ms was seen, on either side."""
PREEMPTION_WITHIN_S = 2.0
"""How long before our abort a goal that is over by now may have taken ours over."""
PREEMPTION_GRACE_S = 0.3
"""How long the status of the goal that preempted ours may lag behind our abort: 10 ms was seen."""
OUTCOME_DURABLE_S = 2.0
"""How long an outcome waits for the disk before it is announced all the same."""
RECOVERY_ASK_S = 4.0
"""How long a start waits to hear of an action that an earlier run left open, with discovery."""
ASK_AGAIN_S = 5.0
"""How soon a goal that goes on running is asked again to be cancelled."""
HEAD_START_S = 0.01
"""How long the follower of an accepted goal leaves the loop and the disk to whoever waits for the
answer: 3 ms on an idle machine."""
VERIFY_POLL_S, VERIFY_POLL_GROWTH, VERIFY_POLL_MAX_S = 0.005, 1.2, 0.1
"""First pause between two looks at the world, how much longer each next one is, and the longest: a
robot settles soon, or it does not. Odometry at 50 Hz is seen some 4 ms after it came."""

OwnNews = GoalResponse | GoalFeedback | GoalResult | SendFailed | CancelResponse


class ActionFollower:
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
        ended: Callable[[ActionFollower, RobotAction], None],
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
                self._feedback_due_ns = now_ns + _ns(FEEDBACK_PERIOD_S)
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

    # -- the whole way ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Send the goal and follow it to its outcome."""
        try:
            fields = self.plan.action.fields(self.action.goal)
            self._controller.send_goal(self.action.action_id, fields)
            if await self._await_acceptance():
                await self._await_end()
        except Exception as error:
            # A fault in here must not leave an action without an outcome or a waiter hanging.
            logger.exception('following action %s failed', self.action.action_id)
            _resolve(self.acceptance, Acceptance.UNKNOWN)
            if not self.concluding:
                why = f'harness fault: {error!r}'
                await self._unknown(OutcomeReason.VERIFICATION_INCONCLUSIVE, why)

    async def settle(self) -> None:
        """Ask once for an action that an earlier run left open, and give it its outcome.

        Its end is judged by the usual rule if the controller still tells of it; a goal that is
        still running, or of which nothing is heard, leaves it UNKNOWN.
        """
        deadline = self._clock.monotonic_ns() + _ns(RECOVERY_ASK_S)
        while not self._controller.reachable and await self._news_before(deadline):
            pass
        self._controller.request_result(self.action.action_id)
        while (terminal := self.heard.terminal()) is None:
            if not await self._news_before(deadline):
                why = 'the harness was stopped while the action was under way'
                await self._unknown(OutcomeReason.INTERRUPTED, why)
                return
        if self.action.state is ActionState.REQUESTED:
            self._advance(ActionState.ACCEPTED, note='accepted, as its end shows')
        await self._settle(terminal)

    async def interrupt(self) -> None:
        """End the action because the harness stops; its task has been cancelled."""
        _resolve(self.acceptance, Acceptance.UNKNOWN)
        why = 'the harness was stopped while the action was under way'
        await self._end(ActionState.UNKNOWN, OutcomeReason.INTERRUPTED, why)

    async def abandon(self, reason: OutcomeReason, why: str) -> None:
        """End an action whose goal was never sent."""
        evidence = {'why': why, 'goal_sent': False}
        await self._conclude(Outcome(ActionState.FAILED, reason, evidence), None)

    # -- its stations ----------------------------------------------------------------------------

    async def _await_acceptance(self) -> bool:
        """Wait for the answer to the request; return whether there is a goal to follow."""
        heard, accept_s = self.heard, self.plan.timeouts.accept_s
        deadline = self._started_ns + _ns(accept_s)
        requested, told = self.action, False
        # Nearly always the answer comes at once: it goes first, then the log and who else watches.
        await self._bell.rung(HEAD_START_S)
        while True:
            if not heard.accepted and not told:
                self._publish(requested)
                told = True
            if heard.send_error is not None and not heard.accepted:
                _resolve(self.acceptance, Acceptance.NOT_SENT)
                await self._end(
                    ActionState.FAILED, OutcomeReason.CONTROLLER_LOST, heard.send_error
                )
                return False
            if heard.response is False:
                await self._refused()
                return False
            # The status topic or feedback of this very goal prove acceptance as well as the
            # response does, which may have been lost.
            if heard.accepted:
                self.action = self.action.advance(ActionState.ACCEPTED)
                self._board.put(self.action)
                _resolve(self.acceptance, Acceptance.ACCEPTED)
                # The caller's answer goes first, with a commit of its own.
                await asyncio.sleep(HEAD_START_S)
                if not told:
                    self._publish(requested)
                self._record(progress(self.action, note=f'accepted by {heard.accepted_by}'))
                self._publish(self.action)
                self._controller.request_result(self.action.action_id)
                return True
            reason = OutcomeReason.ACCEPTANCE_TIMEOUT
            why = f'no answer within {accept_s} s; the goal may have been taken'
            limit, reason, why = self._loss_or(deadline, reason, why)
            if not await self._news_before(limit):
                _resolve(self.acceptance, Acceptance.UNKNOWN)
                await self._unknown(reason, why)
                return False

    async def _refused(self) -> None:
        """End a goal that the controller refused, unless the same controller says that it runs."""
        if self.heard.accepted:
            _resolve(self.acceptance, Acceptance.UNKNOWN)
            why = 'the controller refused the goal, and tells of it as of one that it took'
            await self._unknown(OutcomeReason.VERIFICATION_INCONCLUSIVE, why)
            return
        # Announced first: the call's result does not wait for the outcome's record.
        _resolve(self.acceptance, Acceptance.REJECTED)
        why = 'the controller refused the goal'
        await self._end(ActionState.FAILED, OutcomeReason.REJECTED, why)

    async def _await_end(self) -> None:
        """Follow an accepted goal until its end is known or the time is up."""
        execution_s = self.plan.timeouts.execution_s
        deadline = self._clock.monotonic_ns() + _ns(execution_s)
        while True:
            self._note_running()
            terminal = self.heard.terminal()
            if terminal is not None:
                await self._settle(terminal)
                return
            limit, reason = deadline, OutcomeReason.EXECUTION_TIMEOUT
            why = f'no end within {execution_s} s'
            if self.heard.result is not None:
                # Status 0, or a number nobody defines: the server does not know the goal.
                lost_ns = self.heard.result_ns + _ns(RESULT_GRACE_S)
                if lost_ns < limit:
                    limit, reason = lost_ns, OutcomeReason.RESULT_LOST
                    status = self.heard.result.status
                    why = f'the server answered with status {status}: it does not know'
            limit, reason, why = self._loss_or(limit, reason, why)
            again_ns = self._cancel_again_ns()
            if again_ns is not None and again_ns < limit:
                if not await self._news_before(again_ns):
                    self._cancel_again()
            elif not await self._news_before(limit):
                await self._unknown(reason, why)
                return

    def _cancel_again_ns(self) -> int | None:
        """Return when the goal is to be cancelled again; None: not at all, as things are."""
        if self._cancel_asked_ns is None or self.heard.status == GoalStatus.CANCELING:
            return None
        return self._cancel_asked_ns + _ns(ASK_AGAIN_S)

    def _cancel_again(self) -> None:
        self._cancel_asked_ns = self._clock.monotonic_ns()
        self._record(progress(self.action, note='cancel requested again'))
        self._controller.cancel(self.action.action_id)

    def _loss_or(
        self, limit_ns: int, reason: OutcomeReason, why: str
    ) -> tuple[int, OutcomeReason, str]:
        """Return what ends the wait: the loss of the server, where that comes sooner."""
        lost_ns = self.heard.lost_ns
        if lost_ns is None or lost_ns + _ns(SERVER_LOSS_GRACE_S) >= limit_ns:
            return limit_ns, reason, why
        gone_ns = lost_ns + _ns(SERVER_LOSS_GRACE_S)
        return gone_ns, OutcomeReason.CONTROLLER_LOST, 'the action server went away'

    def _note_running(self) -> None:
        """Advance to RUNNING on its first sign, and journal feedback now and then."""
        # By the time of the news: how soon this task runs must not decide what comes next.
        now_ns, state = self._news_ns, self.action.state
        running = (GoalStatus.EXECUTING, GoalStatus.CANCELING)
        if state is ActionState.ACCEPTED and (
            self.action.feedback or self.heard.status in running
        ):
            self._feedback_due_ns = now_ns + _ns(FEEDBACK_PERIOD_S)
            self._advance(ActionState.RUNNING)
        elif (
            state is ActionState.RUNNING
            and now_ns >= self._feedback_due_ns
            and self.action.feedback
        ):
            self._feedback_due_ns = now_ns + _ns(FEEDBACK_PERIOD_S)
            self._record(progress(self.action))
            self._publish(self.action)

    async def _settle(self, terminal: Terminal) -> None:
        """Give a goal that has ended its outcome."""
        if terminal.status == GoalStatus.SUCCEEDED:
            await self._verify(terminal)
            return
        terminal = await self._with_result(terminal)
        if self.heard.contradicts:
            await self._verify(terminal)
            return
        if terminal.status == GoalStatus.CANCELED:
            why = 'the goal was cancelled'
            await self._end(ActionState.FAILED, OutcomeReason.CANCELED, why, terminal)
            return
        error_code = (terminal.payload or {}).get('error_code', 0)
        foreign = None if error_code else await self._preemptor(terminal)
        if foreign is not None:
            why = f'another client sent goal {foreign}, which replaced this one'
            await self._end(ActionState.FAILED, OutcomeReason.PREEMPTED, why, terminal)
        else:
            said = (terminal.payload or {}).get('error_msg') or ''
            why = 'the controller gave the goal up' + (
                f' (error_code {error_code}: {said})' if error_code or said else ''
            )
            await self._end(ActionState.FAILED, OutcomeReason.ABORTED, why, terminal)

    async def _with_result(self, terminal: Terminal) -> Terminal:
        """Wait a moment for the result that belongs to a terminal status."""
        deadline = terminal.monotonic_ns + _ns(RESULT_GRACE_S)
        while not self.heard.result_ended and await self._news_before(deadline):
            pass
        return self.heard.terminal() or terminal

    async def _preemptor(self, terminal: Terminal) -> str | None:
        """Return the foreign goal that took over, waiting a moment for its status."""
        recently = terminal.monotonic_ns - _ns(PREEMPTION_WITHIN_S)
        since = max(self.action.requested_monotonic_ns, recently)
        deadline = self._clock.monotonic_ns() + _ns(PREEMPTION_GRACE_S)
        while (foreign := self._board.foreign_goal_since(self.plan.controller, since)) is None:
            if not await self._news_before(deadline):
                return None
        return foreign

    # -- verification ----------------------------------------------------------------------------

    async def _verify(self, claimed: Terminal) -> None:
        """Look at the world until it confirms or disproves the claim, or the time is up."""
        if self.action.state is not ActionState.VERIFYING:
            self._advance(ActionState.VERIFYING)
        deadline = claimed.monotonic_ns + _ns(self.plan.timeouts.verify_s)
        result_due = claimed.monotonic_ns + _ns(RESULT_GRACE_S)
        pause_s = VERIFY_POLL_S
        while True:
            # The end as first heard, with whatever else has been heard since.
            heard = self.heard.terminal() or claimed
            terminal = replace(heard, monotonic_ns=claimed.monotonic_ns)
            snapshot = self._look(Look.VERIFICATION)
            judgement = await self._judge(terminal, snapshot)
            now_ns = self._clock.monotonic_ns()
            complete = self.heard.result_ended or now_ns >= result_due
            if (judgement.final and complete) or now_ns >= deadline:
                await self._conclude_verified(terminal, snapshot, judgement)
                return
            self._bell.silence()
            await self._bell.rung(min(pause_s, (deadline - now_ns) / NS_PER_S))
            pause_s = min(pause_s * VERIFY_POLL_GROWTH, VERIFY_POLL_MAX_S)

    async def _judge(self, terminal: Terminal, now: WorldSnapshot) -> Judgement:
        judge = partial(
            self._verifier.judge,
            goal=self.action.goal,
            before=self._before,
            terminal=terminal,
            now=now,
        )
        try:
            if type(self._verifier) in SHIPPED:
                judgement = judge()
            else:
                judgement = await in_own_thread(judge, within_s=USER_CODE_S)
        except TookTooLongError as error:
            logger.error('the verifier of action %s does not answer', self.action.action_id)
            return Judgement(
                Verdict.INCONCLUSIVE, True, {'why': f'the verifier has not judged: {error}'}
            )
        except Exception as error:
            # A verifier may be a user's own; one that raises has shown nothing.
            logger.exception('the verifier of action %s raised', self.action.action_id)
            return Judgement(Verdict.INCONCLUSIVE, True, {'why': f'the verifier raised {error!r}'})
        if self.heard.contradicts and judgement.verdict is Verdict.CONFIRMED:
            told = ', '.join(sorted(GoalStatus.name_of(end) for end in self.heard.ends))
            told += ', and it refused the goal' if self.heard.response is False else ''
            why = f'the controller contradicts itself: {told}'
            return Judgement(Verdict.INCONCLUSIVE, True, {**judgement.evidence, 'why': why})
        return judgement

    async def _conclude_verified(
        self, terminal: Terminal, snapshot: WorldSnapshot, judgement: Judgement
    ) -> None:
        state, reason = {
            Verdict.CONFIRMED: (ActionState.SUCCEEDED, OutcomeReason.VERIFIED),
            Verdict.DISPROVED: (ActionState.FAILED, OutcomeReason.VERIFICATION_DISPROVED),
            Verdict.INCONCLUSIVE: (ActionState.UNKNOWN, OutcomeReason.VERIFICATION_INCONCLUSIVE),
        }[judgement.verdict]
        evidence = {**self._told(terminal), **judgement.evidence}
        self._observer.remember(snapshot)
        await self._conclude(Outcome(state, reason, evidence, snapshot.snapshot_id), snapshot)

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
        self.action = self.action.advance(outcome.state, outcome)
        self._ended(self, self.action)
        _resolve(self.done, self.action)

    # -- small things ----------------------------------------------------------------------------

    def _look(self, look: Look) -> WorldSnapshot:
        return self._observer.capture(self.action.mission_id, look, self.action.action_id)

    def _advance(self, state: ActionState, *, note: str | None = None) -> None:
        self.action = self.action.advance(state)
        self._record(progress(self.action, note=note))
        self._board.put(self.action)
        self._publish(self.action)

    def _record(self, *entries: Entry) -> asyncio.Future[list[int]]:
        self._show()  # nearly all of them hold the newest feedback
        return self._journal.defer(*entries)

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


def _resolve(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _ns(seconds: float) -> int:
    return int(seconds * NS_PER_S)
