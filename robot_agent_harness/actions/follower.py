# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Follows one action from its request to its one outcome.

The task in here alone advances the action's state and writes its progress; news wakes it. rclpy
tells nobody when a server dies and may leave a request without an answer for ever, so every wait
has its own end (DESIGN section 6).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
import logging

from robot_agent_harness.actions.board import SERVER_LOSS_GRACE_S
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.followed import FollowedAction, ns, resolve
from robot_agent_harness.actions.judging import judged, OUTCOMES
from robot_agent_harness.actions.lifecycle import ActionState, Outcome, OutcomeReason
from robot_agent_harness.actions.observer import Look
from robot_agent_harness.actions.plan import Acceptance
from robot_agent_harness.actions.records import progress
from robot_agent_harness.actions.verification import Judgement, Terminal
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

RESULT_GRACE_S = 0.5
"""How long the result may lag behind a terminal status: 1 ms was seen, on either side."""
PREEMPTION_WITHIN_S = 2.0
"""How long before our abort a goal that is over by now may have taken ours over."""
PREEMPTION_GRACE_S = 0.3
"""How long the status of the goal that preempted ours may lag behind our abort: 10 ms was seen."""
RECOVERY_ASK_S = 4.0
"""How long a start waits to hear of an action that an earlier run left open, with discovery."""
ASK_AGAIN_S = 5.0
"""How soon a goal that goes on running is asked again to be cancelled."""
HEAD_START_S = 0.01
"""How long the follower leaves the loop and the disk to the controller's answer, and then to
whoever waits for that: 3 ms each on an idle machine."""
VERIFY_POLL_S, VERIFY_POLL_GROWTH, VERIFY_POLL_MAX_S = 0.005, 1.2, 0.1
"""First pause between two looks at the world, how much longer each next one is, and the longest: a
robot settles soon, or it does not. Odometry at 50 Hz is seen some 4 ms after it came."""


class ActionFollower(FollowedAction):
    """The way of one unfinished action. Made when its start is durable."""

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
            resolve(self.acceptance, Acceptance.UNKNOWN)
            if not self.concluding:
                why = f'harness fault: {error!r}'
                await self._unknown(OutcomeReason.VERIFICATION_INCONCLUSIVE, why)

    async def settle(self) -> None:
        """Ask once for an action that an earlier run left open, and give it its outcome.

        Its end is judged by the usual rule if the controller still tells of it; a goal that is
        still running, or of which nothing is heard, leaves it UNKNOWN.
        """
        self._taken_over = True
        deadline = self._clock.monotonic_ns() + ns(RECOVERY_ASK_S)
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
        resolve(self.acceptance, Acceptance.UNKNOWN)
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
        deadline = self._started_ns + ns(accept_s)
        requested, told = self.action, False
        # Nearly always the answer comes at once: it goes first, then the log and who else watches.
        await self._bell.rung(HEAD_START_S)
        while True:
            if not heard.accepted and not told:
                self._publish(requested)
                told = True
            if heard.send_error is not None and not heard.accepted:
                resolve(self.acceptance, Acceptance.NOT_SENT)
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
                resolve(self.acceptance, Acceptance.ACCEPTED)
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
                lost = reason is OutcomeReason.CONTROLLER_LOST
                resolve(self.acceptance, Acceptance.LOST if lost else Acceptance.UNKNOWN)
                await self._unknown(reason, why)
                return False

    async def _refused(self) -> None:
        """End a goal that the controller refused, unless the same controller says that it runs."""
        if self.heard.accepted:
            resolve(self.acceptance, Acceptance.CONTRADICTED)
            why = 'the controller refused the goal, and tells of it as of one that it took'
            await self._unknown(OutcomeReason.VERIFICATION_INCONCLUSIVE, why)
            return
        # Announced first: the call's result does not wait for the outcome's record.
        resolve(self.acceptance, Acceptance.REJECTED)
        why = 'the controller refused the goal'
        await self._end(ActionState.FAILED, OutcomeReason.REJECTED, why)

    async def _await_end(self) -> None:
        """Follow an accepted goal until its end is known or the time is up."""
        execution_s = self.plan.timeouts.execution_s
        deadline = self._clock.monotonic_ns() + ns(execution_s)
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
                lost_ns = self.heard.result_ns + ns(RESULT_GRACE_S)
                if lost_ns < limit:
                    limit, reason = lost_ns, OutcomeReason.RESULT_LOST
                    status = self.heard.result.status
                    told = ': it does not know' if status == 0 else ', which is no end'
                    why = f'the server answered with status {status}{told}'
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
        return self._cancel_asked_ns + ns(ASK_AGAIN_S)

    def _cancel_again(self) -> None:
        self._cancel_asked_ns = self._clock.monotonic_ns()
        self._record(progress(self.action, note='cancel requested again'))
        self._controller.cancel(self.action.action_id)

    def _loss_or(
        self, limit_ns: int, reason: OutcomeReason, why: str
    ) -> tuple[int, OutcomeReason, str]:
        """Return what ends the wait: the loss of the server, where that comes sooner."""
        lost_ns = self.heard.lost_ns
        if lost_ns is None or lost_ns + ns(SERVER_LOSS_GRACE_S) >= limit_ns:
            return limit_ns, reason, why
        gone_ns = lost_ns + ns(SERVER_LOSS_GRACE_S)
        return gone_ns, OutcomeReason.CONTROLLER_LOST, 'the action server went away'

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
            # Nobody remembers what an earlier run asked for.
            ours = self._cancel_asked or self._taken_over
            why = 'the goal was cancelled' + ('' if ours else ', and not by this harness')
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
        deadline = terminal.monotonic_ns + ns(RESULT_GRACE_S)
        while not self.heard.result_ended and await self._news_before(deadline):
            pass
        return self.heard.terminal() or terminal

    async def _preemptor(self, terminal: Terminal) -> str | None:
        """Return the foreign goal that took over, waiting a moment for its status."""
        recently = terminal.monotonic_ns - ns(PREEMPTION_WITHIN_S)
        since = max(self.action.requested_monotonic_ns, recently)
        deadline = self._clock.monotonic_ns() + ns(PREEMPTION_GRACE_S)
        while (foreign := self._board.foreign_goal_since(self.plan.controller, since)) is None:
            if not await self._news_before(deadline):
                return None
        return foreign

    # -- verification ----------------------------------------------------------------------------

    async def _verify(self, claimed: Terminal) -> None:
        """Look at the world until it confirms or disproves the claim, or the time is up."""
        if self.action.state is not ActionState.VERIFYING:
            self._advance(ActionState.VERIFYING)
        deadline = claimed.monotonic_ns + ns(self.plan.timeouts.verify_s)
        result_due = claimed.monotonic_ns + ns(RESULT_GRACE_S)
        pause_s = VERIFY_POLL_S
        while True:
            # The end as first heard, with whatever else has been heard since.
            heard = self.heard.terminal() or claimed
            terminal = replace(heard, monotonic_ns=claimed.monotonic_ns)
            snapshot = self._look(Look.VERIFICATION)
            judgement = await judged(
                self._verifier,
                self.action,
                self.heard,
                before=self._before,
                terminal=terminal,
                now=snapshot,
            )
            now_ns = self._clock.monotonic_ns()
            complete = self.heard.result_ended or now_ns >= result_due
            if (judgement.final and complete) or now_ns >= deadline:
                await self._conclude_verified(terminal, snapshot, judgement)
                return
            self._bell.silence()
            await self._bell.rung(min(pause_s, (deadline - now_ns) / NS_PER_S))
            pause_s = min(pause_s * VERIFY_POLL_GROWTH, VERIFY_POLL_MAX_S)

    async def _conclude_verified(
        self, terminal: Terminal, snapshot: WorldSnapshot, judgement: Judgement
    ) -> None:
        state, reason = OUTCOMES[judgement.verdict]
        evidence = {**self._told(terminal), **judgement.evidence}
        self._observer.remember(snapshot)
        await self._conclude(Outcome(state, reason, evidence, snapshot.snapshot_id), snapshot)
