# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Follows each physical action from its request to its one outcome.

Every action has one task, which alone advances its state and writes its progress. Events only fill
in what is known (`_Live`) and wake that task; they carry the goal id that the wire carried, and
one that is not ours changes no action. rclpy tells nobody when a server dies and may leave a
request without an answer for ever, so every wait here has its own end (DESIGN section 6).

What is recorded of an action after its request are facts that already happened: they go through
`MissionJournal.defer`, which keeps them in order until the disk takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
import logging
from typing import Any

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.controller import (
    ActionController,
    CancelResponse,
    ControllerEvent,
    ENDED_STATUSES,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.lifecycle import ActionState, Outcome, OutcomeReason, RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.verification import Judgement, Terminal, Verdict, Verifier
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.events import (
    Correlation,
    Event,
    RobotActionOutcome,
    RobotActionProgress,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.redaction import RedactedJournal, shared_redactor
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

FEEDBACK_PERIOD_S = 1.0
"""Feedback is journalled at most this often (CONTRACT); Nav2 sends a hundred a second."""
SERVER_LOSS_GRACE_S = 3.0
"""How long a server may be out of sight: discovery of a living one can blink."""
RESULT_GRACE_S = 0.5
"""How long the result may lag behind a terminal status: 1 ms was seen, on either side."""
PREEMPTION_GRACE_S = 0.3
"""How long the status of the goal that preempted ours may lag behind our abort: 10 ms was seen."""
OUTCOME_DURABLE_S = 2.0
"""How long an outcome waits for the disk before it is announced all the same."""
CANCEL_RESPONSE_S = 2.0
"""How long a caller waits to hear what the controller says to a cancel request."""
VERIFY_POLL_S = 0.01
"""First pause between two looks at the world; it grows, since a robot settles or it does not."""
VERIFY_POLL_MAX_S = 0.1
_LOST, _LOST_WHY = OutcomeReason.CONTROLLER_LOST, 'the action server went away'
_UNKNOWN_GOAL_ID, _GOAL_TERMINATED = 2, 3  # action_msgs/srv/CancelGoal: it runs no such goal
RECOVERY_ASK_S = 4.0
"""How long a start waits to hear of an action that an earlier run left open: discovery
included."""
LATE_RECORDS_MAX = 20
"""How many late records one ended action may get."""


@dataclass(frozen=True, slots=True)
class ActionTimeouts:
    """Bounds of one action, in seconds."""

    accept_s: float = 5.0
    execution_s: float = 300.0
    verify_s: float = 5.0
    cancel_on_timeout: bool = True
    """Whether an own goal that nobody can vouch for any more is cancelled."""


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """How one managed action is carried out and judged."""

    controller: str
    verifier: str
    timeouts: ActionTimeouts


class Acceptance(Enum):
    """What became of the request for a goal."""

    ACCEPTED = 'accepted'
    REJECTED = 'rejected'
    UNKNOWN = 'unknown'
    NOT_SENT = 'not_sent'


@dataclass(slots=True)
class _Live:
    """What has been heard about one unfinished action."""

    action: RobotAction
    plan: ActionPlan
    before: WorldSnapshot
    acceptance: asyncio.Future[Acceptance]
    done: asyncio.Future[RobotAction]
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    response: bool | None = None
    send_error: str | None = None
    status: int | None = None
    status_ns: int = 0
    result: GoalResult | None = None
    result_ns: int = 0
    lost_ns: int | None = None
    feedback_due_ns: int = 0
    goal_gone: bool = False
    concluding: bool = False
    task: asyncio.Task[None] | None = None
    started_ns: int = 0


@dataclass(slots=True)
class _Ended:
    """What is kept of an ended action, to recognise news about it."""

    status: int | None
    plan: ActionPlan
    records: int = 0


class RobotActionTracker:
    """Owns every physical action: sends its goal, follows it by id, and decides its outcome."""

    def __init__(
        self,
        *,
        clock: Clock,
        journal: MissionJournal,
        board: ActionBoard,
        observer: WorldObserver,
        controllers: Mapping[str, ActionController],
        verifiers: Mapping[str, Verifier],
    ) -> None:
        self._clock = clock
        self._journal = RedactedJournal(journal, shared_redactor())
        self._board = board
        self._observer = observer
        self._controllers = controllers
        self._verifiers = verifiers
        self._live: dict[str, _Live] = {}
        self._ended: dict[str, _Ended] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = self._closed = False
        self._announcements: set[asyncio.Future[None]] = set()
        self._cancels: dict[str, asyncio.Future[int]] = {}
        self._outcome_listeners: list[Callable[[RobotAction], None]] = []
        self._change_listeners: list[Callable[[RobotAction], None]] = []
        self._foreign_listeners: list[Callable[[str], None]] = []
        for name, controller in controllers.items():
            controller.set_listener(partial(self._on_event, name))
            board.set_reachable(name, controller.reachable)

    def on_outcome(self, listener: Callable[[RobotAction], None]) -> None:
        """Call `listener` with each action that has got its outcome, once it is recorded."""
        self._outcome_listeners.append(listener)

    def on_change(self, listener: Callable[[RobotAction], None]) -> None:
        """Call `listener` with each new value of an action."""
        self._change_listeners.append(listener)

    def on_foreign_goal(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the id of each goal of somebody else that becomes active."""
        self._foreign_listeners.append(listener)

    @property
    def unfinished(self) -> tuple[RobotAction, ...]:
        """Actions without an outcome, oldest first."""
        return self._board.unfinished

    def reserve(self, action: RobotAction) -> None:
        """Register an action whose start is durable; from now on it stands in the way of
        others.
        """
        self._publish(action)

    async def start(
        self, action: RobotAction, plan: ActionPlan, before: WorldSnapshot
    ) -> Acceptance:
        """Send a reserved action's goal, and return once the controller's answer is known or
        overdue.

        The action is followed to its outcome whatever becomes of the caller.
        """
        live = self._follow(action, plan, before)
        self._controllers[plan.controller].send_goal(action.action_id, action.goal)
        return await asyncio.shield(live.acceptance)

    async def abandon(self, action: RobotAction, reason: OutcomeReason, why: str) -> None:
        """End a reserved action whose goal was never sent."""
        outcome = Outcome(ActionState.FAILED, reason, {'why': why, 'goal_sent': False})
        await self._conclude(action, outcome, None)

    async def settle(self, action: RobotAction, plan: ActionPlan) -> RobotAction:
        """Ask once for an action that an earlier run left open, and return it with its outcome.

        Its end is judged by the usual rule if the controller still tells of it; a goal that is
        still running, or of which nothing is heard, leaves it UNKNOWN.
        """
        self._publish(action)
        live = self._new_live(action, plan, self._observer.capture(action.mission_id))
        deadline = live.started_ns + _ns(RECOVERY_ASK_S)
        controller = self._controllers[plan.controller]
        while not controller.reachable and await self._heard(live, deadline):
            pass
        controller.request_result(action.action_id)
        while (terminal := self._terminal(live)) is None:
            if not await self._heard(live, deadline):
                why = 'the harness was stopped while the action was under way'
                await self._unknown(live, OutcomeReason.INTERRUPTED, why)
                return await live.done
        if action.state is ActionState.REQUESTED:
            self._advance(live, ActionState.ACCEPTED, note='accepted, as its end shows')
        await self._settle(live, terminal)
        return await live.done

    async def wait(self, action_id: str, timeout_s: float) -> RobotAction | None:
        """Return the action once it has an outcome, or as it is when the time is up; None if
        unknown.
        """
        live = self._live.get(action_id)
        if live is not None:
            await asyncio.wait({live.done}, timeout=timeout_s)
        return self._board.get(action_id)

    async def cancel(self, action_id: str) -> int | None:
        """Ask the controller to cancel this action's goal, and return its code (CancelGoal.srv).

        :returns: 0 accepted, 1 rejected, 2 unknown goal, 3 already ended; None if it did not
            answer.
        """
        plan = self._plan_of(action_id)
        if plan is None:
            return None
        future = self._cancels.setdefault(action_id, asyncio.get_running_loop().create_future())
        live = self._live.get(action_id)
        if live is not None:
            self._progress(live.action, note='cancel requested')
        self._controllers[plan.controller].cancel(action_id)
        done, _ = await asyncio.wait({future}, timeout=CANCEL_RESPONSE_S)
        return future.result() if done else None

    async def close(self, *, cancel_running: bool) -> None:
        """End every unfinished action as UNKNOWN (interrupted), cancelling its goal if so
        wished.
        """
        self._closing = True
        open_actions = [live for live in self._live.values() if not live.concluding]
        for live in open_actions:
            if cancel_running:
                self._controllers[live.plan.controller].cancel(live.action.action_id)
            if live.task is not None:
                live.task.cancel()
        # A task that is writing its outcome is left to finish, without waiting for the disk any
        # more: there must be exactly one.
        for announcement in self._announcements:
            _resolve(announcement, None)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for live in open_actions:
            _resolve(live.acceptance, Acceptance.UNKNOWN)
            why = 'the harness was stopped while the action was under way'
            await self._end(live, ActionState.UNKNOWN, OutcomeReason.INTERRUPTED, why)
        self._closed = True

    def _follow(self, action: RobotAction, plan: ActionPlan, before: WorldSnapshot) -> _Live:
        loop = asyncio.get_running_loop()
        live = self._new_live(action, plan, before)
        live.task = loop.create_task(self._run(live), name=f'action {action.action_id}')
        self._tasks.add(live.task)
        live.task.add_done_callback(self._tasks.discard)
        return live

    def _new_live(self, action: RobotAction, plan: ActionPlan, before: WorldSnapshot) -> _Live:
        loop = asyncio.get_running_loop()
        live = _Live(action, plan, before, loop.create_future(), loop.create_future())
        live.started_ns = self._clock.monotonic_ns()
        self._live[action.action_id] = live
        return live

    async def _run(self, live: _Live) -> None:
        try:
            if await self._await_acceptance(live):
                await self._await_end(live)
        except Exception as error:
            # A fault in here must not leave an action without an outcome or a waiter hanging.
            logger.exception('following action %s failed', live.action.action_id)
            if not live.concluding:
                await self._unknown(
                    live, OutcomeReason.VERIFICATION_INCONCLUSIVE, f'harness fault: {error!r}'
                )

    # -- what is heard ---------------------------------------------------------------------------

    def _on_event(self, controller: str, event: ControllerEvent) -> None:
        if self._closed:
            return  # nothing can be recorded any more; the next start asks for what it missed
        if isinstance(event, StatusReport):
            self._on_status(controller, event)
        elif isinstance(event, ServerPresence):
            self._on_presence(controller, event.reachable)
        elif isinstance(event, CancelResponse):
            self._on_cancel_response(event)
        elif event.goal_id in self._live:
            self._on_own(self._live[event.goal_id], event)
        elif event.goal_id in self._ended:
            self._on_late(event)

    def _on_own(
        self, live: _Live, event: GoalResponse | GoalFeedback | GoalResult | SendFailed
    ) -> None:
        if isinstance(event, GoalFeedback):
            live.action = replace(live.action, feedback=event.feedback)
            self._board.put(live.action)
            news = (
                live.action.state in (ActionState.REQUESTED, ActionState.ACCEPTED)
                or self._clock.monotonic_ns() >= live.feedback_due_ns
            )
            if not news:
                return
        elif isinstance(event, GoalResponse):
            live.response = event.accepted if live.response is None else live.response
        elif isinstance(event, GoalResult):
            # A forgotten goal's empty answer (status 0, no proof) must not displace a real one.
            if live.result is None or live.result.status not in ENDED_STATUSES:
                live.result, live.result_ns = event, self._clock.monotonic_ns()
        else:
            live.send_error = event.message
        live.wake.set()

    def _on_status(self, controller: str, report: StatusReport) -> None:
        for goal_id in self._board.update_goals(controller, report.goals):
            for listener in self._foreign_listeners:
                listener(goal_id)
        for goal_id, status in report.goals:
            live = self._live.get(goal_id)
            if live is not None and live.status not in ENDED_STATUSES:
                if status != live.status:
                    live.status, live.status_ns = status, self._clock.monotonic_ns()
            elif goal_id in self._ended:
                self._late_status(goal_id, status, 'status_topic')
        for live in self._live.values():
            if live.plan.controller == controller:
                live.wake.set()

    def _on_presence(self, controller: str, reachable: bool) -> None:
        self._board.set_reachable(controller, reachable)
        for live in self._live.values():
            if live.plan.controller == controller:
                live.lost_ns = None if reachable else self._clock.monotonic_ns()
                if reachable and live.action.state is not ActionState.REQUESTED:
                    # It only blinked, or a new server will say that it knows no such goal.
                    self._controllers[controller].request_result(live.action.action_id)
                live.wake.set()

    def _on_cancel_response(self, event: CancelResponse) -> None:
        future = self._cancels.pop(event.goal_id, None)
        if future is not None and not future.done():
            future.set_result(event.return_code)
        if event.return_code in (_UNKNOWN_GOAL_ID, _GOAL_TERMINATED):
            self._board.goal_ended(event.goal_id)
            if event.goal_id in self._live:
                self._live[event.goal_id].goal_gone = True

    def _on_late(self, event: GoalResponse | GoalFeedback | GoalResult | SendFailed) -> None:
        if isinstance(event, GoalResult):
            self._late_status(event.goal_id, event.status, 'result')
        elif isinstance(event, GoalResponse):
            status = GoalStatus.ACCEPTED if event.accepted else GoalStatus.ABORTED
            self._late_status(event.goal_id, status, 'goal_response')

    def _late_status(self, goal_id: str, status: int, source: str) -> None:
        """Record news of an ended action; the outcome stands, but nothing is left driving
        unattended.
        """
        ended = self._ended[goal_id]
        action = self._board.get(goal_id)
        if status in ENDED_STATUSES:
            self._board.goal_ended(goal_id)
        if action is None or status == ended.status or ended.records >= LATE_RECORDS_MAX:
            return
        ended.status = status
        ended.records += 1
        self._progress(action, late=True, note=f'{source} now says {GoalStatus.name_of(status)}')
        unattended = status in (GoalStatus.ACCEPTED, GoalStatus.EXECUTING)
        if unattended and ended.plan.timeouts.cancel_on_timeout:
            self._controllers[ended.plan.controller].cancel(goal_id)

    # -- what follows from it --------------------------------------------------------------------

    async def _await_acceptance(self, live: _Live) -> bool:
        """Wait for the answer to the request; return whether there is an accepted goal to
        follow.
        """
        timeouts = live.plan.timeouts
        deadline = live.started_ns + _ns(timeouts.accept_s)
        while True:
            if live.send_error is not None:
                _resolve(live.acceptance, Acceptance.NOT_SENT)
                await self._end(
                    live, ActionState.FAILED, OutcomeReason.CONTROLLER_LOST, live.send_error
                )
                return False
            if live.response is False:
                await self._rejected(live)
                return False
            # The status topic or feedback of this very goal prove acceptance as well as the
            # response does, which may have been lost.
            heard = live.status is not None or bool(live.action.feedback)
            if live.response or heard or _ended(live.result):
                evidence = 'response' if live.response else 'status or feedback'
                self._advance(live, ActionState.ACCEPTED, note=f'accepted by {evidence}')
                self._controllers[live.plan.controller].request_result(live.action.action_id)
                _resolve(live.acceptance, Acceptance.ACCEPTED)
                return True
            limit, reason = deadline, OutcomeReason.ACCEPTANCE_TIMEOUT
            why = f'no answer within {timeouts.accept_s} s; the goal may have been taken'
            if live.lost_ns is not None and live.lost_ns + _ns(SERVER_LOSS_GRACE_S) < limit:
                limit, reason = live.lost_ns + _ns(SERVER_LOSS_GRACE_S), _LOST
                why = _LOST_WHY
            if not await self._heard(live, limit):
                _resolve(live.acceptance, Acceptance.UNKNOWN)
                await self._unknown(live, reason, why)
                return False

    async def _rejected(self, live: _Live) -> None:
        # Acceptance is announced first: the call's result does not wait for the outcome's record.
        _resolve(live.acceptance, Acceptance.REJECTED)
        await self._end(
            live, ActionState.FAILED, OutcomeReason.REJECTED, 'the controller refused the goal'
        )

    async def _await_end(self, live: _Live) -> None:
        """Follow an accepted goal until its end is known or the time is up."""
        timeouts = live.plan.timeouts
        deadline = self._clock.monotonic_ns() + _ns(timeouts.execution_s)
        while True:
            self._note_running(live)
            terminal = self._terminal(live)
            if terminal is not None:
                await self._settle(live, terminal)
                return
            limit, reason = deadline, OutcomeReason.EXECUTION_TIMEOUT
            why = f'no end within {timeouts.execution_s} s'
            if live.result is not None:
                # Status 0, or a number nobody defines: the server does not know the goal.
                lost = live.result_ns + _ns(RESULT_GRACE_S)
                if lost < limit:
                    limit, reason = lost, OutcomeReason.RESULT_LOST
                    why = f'the server answered with status {live.result.status}: it does not know'
            if live.lost_ns is not None and live.lost_ns + _ns(SERVER_LOSS_GRACE_S) < limit:
                limit, reason = live.lost_ns + _ns(SERVER_LOSS_GRACE_S), _LOST
                why = _LOST_WHY
            if not await self._heard(live, limit):
                await self._unknown(live, reason, why)
                return

    def _note_running(self, live: _Live) -> None:
        """Advance to RUNNING on its first sign, and journal feedback now and then."""
        now = self._clock.monotonic_ns()
        state = live.action.state
        running = bool(live.action.feedback) or live.status in (
            GoalStatus.EXECUTING,
            GoalStatus.CANCELING,
        )
        if state is ActionState.ACCEPTED and running:
            live.feedback_due_ns = now + _ns(FEEDBACK_PERIOD_S)
            self._advance(live, ActionState.RUNNING)
        elif state is ActionState.RUNNING and now >= live.feedback_due_ns and live.action.feedback:
            live.feedback_due_ns = now + _ns(FEEDBACK_PERIOD_S)
            self._progress(live.action)
            self._publish(live.action)

    def _terminal(self, live: _Live) -> Terminal | None:
        if _ended(live.result):
            assert live.result is not None
            heard_ns = live.result_ns
            if live.status == live.result.status:
                heard_ns = min(heard_ns, live.status_ns)
            return Terminal(live.result.status, heard_ns, 'result', live.result.payload)
        if live.status in ENDED_STATUSES:
            assert live.status is not None
            return Terminal(live.status, live.status_ns, 'status_topic', None)
        return None

    async def _settle(self, live: _Live, terminal: Terminal) -> None:
        if terminal.status == GoalStatus.SUCCEEDED:
            await self._verify(live)
            return
        terminal = await self._with_result(live, terminal)
        if terminal.status == GoalStatus.CANCELED:
            await self._end(
                live,
                ActionState.FAILED,
                OutcomeReason.CANCELED,
                'the goal was cancelled',
                terminal,
            )
            return
        error_code = (terminal.payload or {}).get('error_code', 0)
        foreign = None if error_code else await self._preemptor(live)
        if foreign is not None:
            why = f'another client sent goal {foreign}, which replaced this one'
            await self._end(live, ActionState.FAILED, OutcomeReason.PREEMPTED, why, terminal)
        else:
            why = 'the controller gave the goal up'
            await self._end(live, ActionState.FAILED, OutcomeReason.ABORTED, why, terminal)

    async def _with_result(self, live: _Live, terminal: Terminal) -> Terminal:
        """Wait a moment for the result that belongs to a terminal status."""
        deadline = terminal.monotonic_ns + _ns(RESULT_GRACE_S)
        while not _ended(live.result) and await self._heard(live, deadline):
            pass
        return self._terminal(live) or terminal

    async def _preemptor(self, live: _Live) -> str | None:
        """Return the foreign goal that took over, waiting a moment for its status."""
        since = live.action.requested_monotonic_ns
        deadline = self._clock.monotonic_ns() + _ns(PREEMPTION_GRACE_S)
        while (foreign := self._board.foreign_goal_since(since)) is None:
            if not await self._heard(live, deadline):
                return None
        return foreign

    async def _verify(self, live: _Live) -> None:
        """Look at the world until it confirms or disproves the claim, or the time is up."""
        if live.action.state is not ActionState.VERIFYING:
            self._advance(live, ActionState.VERIFYING)
        claimed = self._terminal(live)
        assert claimed is not None
        deadline = claimed.monotonic_ns + _ns(live.plan.timeouts.verify_s)
        result_due = claimed.monotonic_ns + _ns(RESULT_GRACE_S)
        pause_s = VERIFY_POLL_S
        while True:
            # The end as first heard, with whatever else has been heard since.
            heard = self._terminal(live) or claimed
            terminal = replace(heard, monotonic_ns=claimed.monotonic_ns)
            snapshot = self._observer.capture(live.action.mission_id)
            judgement = self._judge(live, terminal, snapshot)
            now = self._clock.monotonic_ns()
            complete = _ended(live.result) or now >= result_due
            if (judgement.final and complete) or now >= deadline:
                await self._conclude_verified(live, terminal, snapshot, judgement)
                return
            live.wake.clear()
            await self._woken(live, min(pause_s, (deadline - now) / NS_PER_S))
            pause_s = min(pause_s * 1.5, VERIFY_POLL_MAX_S)

    def _judge(self, live: _Live, terminal: Terminal, now: WorldSnapshot) -> Judgement:
        if terminal.status != GoalStatus.SUCCEEDED:
            why = f'the status topic said SUCCEEDED, the {terminal.source} says otherwise'
            return Judgement(Verdict.INCONCLUSIVE, True, {'why': why})
        try:
            return self._verifiers[live.plan.verifier].judge(
                goal=live.action.goal, before=live.before, terminal=terminal, now=now
            )
        except (Exception, SystemExit) as error:
            # A verifier may be a user's own; one that raises has shown nothing.
            logger.exception('verifier %s raised', live.plan.verifier)
            return Judgement(Verdict.INCONCLUSIVE, True, {'why': f'the verifier raised {error!r}'})

    async def _conclude_verified(
        self, live: _Live, terminal: Terminal, snapshot: WorldSnapshot, judgement: Judgement
    ) -> None:
        state, reason = {
            Verdict.CONFIRMED: (ActionState.SUCCEEDED, OutcomeReason.VERIFIED),
            Verdict.DISPROVED: (ActionState.FAILED, OutcomeReason.VERIFICATION_DISPROVED),
            Verdict.INCONCLUSIVE: (ActionState.UNKNOWN, OutcomeReason.VERIFICATION_INCONCLUSIVE),
        }[judgement.verdict]
        evidence = {**_told(live, terminal), **judgement.evidence}
        outcome = Outcome(state, reason, evidence, snapshot.snapshot_id)
        await self._conclude(live.action, outcome, snapshot)

    async def _unknown(self, live: _Live, reason: OutcomeReason, why: str) -> None:
        """End an action that nobody can vouch for, and have its goal cancelled if so
        configured.
        """
        if live.plan.timeouts.cancel_on_timeout:
            self._controllers[live.plan.controller].cancel(live.action.action_id)
        await self._end(live, ActionState.UNKNOWN, reason, why)

    async def _end(
        self,
        live: _Live,
        state: ActionState,
        reason: OutcomeReason,
        why: str,
        terminal: Terminal | None = None,
    ) -> None:
        """End an action that needs no verification, with the world as it is now for evidence."""
        snapshot = self._observer.capture(live.action.mission_id)
        evidence = {
            'why': why,
            **_told(live, terminal),
            **_seen(snapshot),
        }
        outcome = Outcome(state, reason, evidence, snapshot.snapshot_id)
        await self._conclude(live.action, outcome, snapshot)

    async def _conclude(
        self, action: RobotAction, outcome: Outcome, snapshot: WorldSnapshot | None
    ) -> None:
        """Record the outcome, then announce it: nobody hears of one that the disk may not have."""
        live = self._live.get(action.action_id)
        if live is not None:
            live.concluding = True
        correlation = _correlation(action, outcome.verification_snapshot_id)
        record = RobotActionOutcome(
            state=outcome.state.value,
            reason=outcome.reason.value,
            evidence=outcome.evidence,
            verification_snapshot_id=outcome.verification_snapshot_id,
        )
        records: list[tuple[Event, Correlation]] = [(record, correlation)]
        if snapshot is not None and self._observer.store.first_use(snapshot.snapshot_id):
            looked = WorldSnapshotCaptured(reason='verification', snapshot=snapshot.to_dict())
            records.insert(0, (looked, correlation))
        durable = self._journal.defer(*records)
        await self._written(durable)
        ended = action.advance(outcome.state, outcome)
        self._publish(ended)
        if live is not None:
            self._retire(live, ended)
        for listener in self._outcome_listeners:
            listener(ended)

    async def _written(self, durable: asyncio.Future[list[int]]) -> None:
        """Wait until an outcome is on disk, for a bounded time, and not while closing."""
        if self._closing:
            return
        given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._announcements.add(given_up)
        try:
            either: set[asyncio.Future[Any]] = {durable, given_up}
            await asyncio.wait(
                either,
                timeout=OUTCOME_DURABLE_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            self._announcements.discard(given_up)

    # -- small things ----------------------------------------------------------------------------

    def _advance(self, live: _Live, state: ActionState, *, note: str | None = None) -> None:
        live.action = live.action.advance(state)
        self._progress(live.action, note=note)
        self._publish(live.action)

    def _publish(self, action: RobotAction) -> None:
        self._board.put(action)
        for listener in self._change_listeners:
            listener(action)

    def _progress(
        self, action: RobotAction, *, late: bool = False, note: str | None = None
    ) -> None:
        record = RobotActionProgress(
            state=action.state.value, feedback=action.feedback, late=late, note=note
        )
        self._journal.defer((record, _correlation(action, None)))

    async def _heard(self, live: _Live, deadline_ns: int) -> bool:
        """Wait for news; return False once the deadline has passed without any."""
        left_s = (deadline_ns - self._clock.monotonic_ns()) / NS_PER_S
        if left_s <= 0:
            # Everything heard so far has been looked at; a flood of news must not defer the end.
            return False
        woken = await self._woken(live, left_s)
        live.wake.clear()
        return woken

    async def _woken(self, live: _Live, timeout_s: float) -> bool:
        try:
            await asyncio.wait_for(live.wake.wait(), timeout=max(0.0, timeout_s))
        except asyncio.TimeoutError:
            return False
        return True

    def _plan_of(self, action_id: str) -> ActionPlan | None:
        if action_id in self._live:
            return self._live[action_id].plan
        return self._ended[action_id].plan if action_id in self._ended else None

    def _retire(self, live: _Live, ended: RobotAction) -> None:
        del self._live[ended.action_id]
        status = live.result.status if live.result and _ended(live.result) else live.status
        self._ended[ended.action_id] = _Ended(status, live.plan)
        if status in ENDED_STATUSES or live.goal_gone or live.lost_ns is not None:
            self._board.goal_ended(ended.action_id)
        _resolve(live.done, ended)
        while len(self._ended) > LATE_RECORDS_MAX:
            del self._ended[next(iter(self._ended))]


def _told(live: _Live, terminal: Terminal | None) -> dict[str, Any]:
    """Return what the controller said, raw and by name."""
    return {
        'controller_status': None if terminal is None else GoalStatus.name_of(terminal.status),
        'controller_status_source': None if terminal is None else terminal.source,
        'result_status': None if live.result is None else live.result.status,
        'result': None if live.result is None else live.result.payload,
        'last_feedback': live.action.feedback or None,
    }


def _seen(snapshot: WorldSnapshot) -> dict[str, Any]:
    """Where the robot was, and how well that is known."""
    field_ = snapshot.map_pose
    pose = field_.value
    return {
        'observed_pose': pose
        and {'x': round(pose.x, 4), 'y': round(pose.y, 4), 'yaw': round(pose.yaw, 4)},
        'pose_age_s': None if field_.age_s is None else round(field_.age_s, 4),
        'pose_availability': field_.availability.value,
    }


def _correlation(action: RobotAction, snapshot_id: str | None) -> Correlation:
    return Correlation(
        mission_id=action.mission_id,
        turn_id=action.turn_id,
        tool_call_id=action.tool_call_id,
        action_id=action.action_id,
        snapshot_id=snapshot_id,
    )


def _ended(result: GoalResult | None) -> bool:
    return result is not None and result.status in ENDED_STATUSES


def _resolve(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _ns(seconds: float) -> int:
    return int(seconds * NS_PER_S)
