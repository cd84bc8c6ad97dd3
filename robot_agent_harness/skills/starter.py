# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts a physical action: checks the assumptions, puts the start on disk, sends the goal.

One start at a time is between its check and its record, so that two callers cannot both find the
robot idle. The check and the start become durable in one transaction, before the goal is sent. If
the caller withdraws its call before that, no goal is sent; afterwards the action goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
import json
from typing import Any, Literal

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.lifecycle import OutcomeReason, RobotAction
from robot_agent_harness.actions.observer import Look, WorldObserver
from robot_agent_harness.actions.plan import Acceptance, ActionPlan, ActionTimeouts
from robot_agent_harness.actions.preconditions import (
    ActionGate,
    PreconditionPolicy,
    PreconditionReport,
    validate,
)
from robot_agent_harness.actions.recorded import driven
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.clock import Clock, IdSource, NS_PER_S
from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    RobotActionStarted,
    WorldSnapshotCaptured,
)
from robot_agent_harness.guarded import guarded, in_own_thread, TookTooLongError, USER_CODE_S
from robot_agent_harness.redaction import RedactedJournal
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import GoalContext, ManagedAction, Skill, SkillError
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.snapshot import WorldSnapshot

START_LATENCY_MAX_S = 1.0
"""Oldest check to act on: a slow disk must not turn a fresh check into a stale one."""
SAME_WORLD_S = 0.01
"""For so long a check holds while nothing is heard: there is nothing to look at once more."""
DECISION_MAX_AGE_S = 600.0
"""Oldest snapshot to decide on: how far the robot is from where it was then says less and less
about what else has changed. An older one counts as no longer known."""
FIRST_HEARD_LOOKS, FIRST_HEARD_PERIOD_S = 40, 0.05
"""How long a call waits for a controller or a source that has not been heard of: 2 s."""
LISTENING_S = 1.0
"""For so long after the start what a robot may lack may be on its way still: a latched message, or
one that is published once a second. Only then its absence means that there is none."""

SENT = frozenset(Acceptance) - {Acceptance.REJECTED, Acceptance.NOT_SENT, Acceptance.INTERRUPTED}
"""Answers with which an action goes on that its caller has withdrawn."""

Entry = tuple[Event, Correlation]


class ActionStarter:
    """The way from a managed call's arguments to a goal under way."""

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        journal: RedactedJournal,
        board: ActionBoard,
        observer: WorldObserver,
        tracker: RobotActionTracker,
        places: PlaceBook,
        global_frame: str,
        timeouts: ActionTimeouts,
        projection_max_bytes: int,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._board = board
        self._observer = observer
        self._tracker = tracker
        self._places = places
        self._global_frame = global_frame
        self.timeouts = timeouts
        """Bounds of the actions that start from now on, where their skill has none of its own."""
        self.projection_max_bytes = projection_max_bytes
        """Most bytes of a snapshot in a refusal."""
        self._starting = asyncio.Lock()
        self._begun_ns = clock.monotonic_ns()
        self.active = False
        """Whether managed calls are taken (the node's lifecycle decides)."""

    def plan(self, managed: ManagedAction) -> ActionPlan:
        """Return how a managed skill's actions are carried out and judged."""
        timeouts = managed.timeouts or self.timeouts
        if managed.verify_s is not None:
            timeouts = replace(timeouts, verify_s=max(timeouts.verify_s, managed.verify_s))
        return ActionPlan(managed.action, managed.verifier, timeouts)

    async def start(
        self,
        skill: Skill,
        managed: ManagedAction,
        parsed: dict[str, Any],
        context: CallContext,
        correlation: Correlation,
        decision: WorldSnapshot | None,
    ) -> ToolResult:
        """Check the decision's assumptions, put the start on disk, send the goal."""
        if not self.active:
            return ToolResult(
                ResultStatus.HARNESS_INACTIVE,
                'the harness is not active; activate its lifecycle node first',
            )
        if context.not_now is not None:
            return ToolResult(ResultStatus.ONE_MANAGED_ACTION_PER_STEP, context.not_now)
        goal = await self._goal(skill, parsed, self._places.current())
        then = await self._goal_then(skill, parsed, decision) if decision else {}
        plan = self.plan(managed)
        plan.action.fields(goal)  # raises before anything is recorded as started
        way = await self._tracker.way(plan, goal)
        async with self._starting:
            if context.interest.give_up():
                return _withdrawn({})
            call_id = correlation.tool_call_id or ''
            heard = self._observer.news()
            fresh = self._observer.capture(context.mission_id, Look.PRE_DISPATCH, call_id)
            self._observer.store.first_use(fresh.snapshot_id)
            report = validate(
                managed.preconditions,
                decision=decision,
                fresh=fresh,
                gate=self._gate(managed),
                target_at_decision=then,
                target_now=goal,
            )
            checked = _checked(report, fresh, correlation)
            if not report.ok:
                # For the next try: what became of an action that nobody could vouch for?
                self._tracker.ask_for_unknown()
                await self._journal.append(*checked)
                return self._refused(report, fresh)
            action = RobotAction(
                action_id=self._ids.new_goal_id(),
                skill=skill.name,
                goal=goal,
                mission_id=context.mission_id,
                turn_id=context.turn_id,
                tool_call_id=correlation.tool_call_id or '',
                requested_monotonic_ns=self._clock.monotonic_ns(),
            )
            stopped = await self._written(
                *checked,
                _started(action, plan, fresh.snapshot_id),
                meanwhile=partial(self._tracker.prepare, action, plan),
            )
            again, still = fresh, report
            if self._observer.news() != heard or self._age_s(fresh) > SAME_WORLD_S:
                again, still = self._still_holds(managed, context, call_id, decision)
            self._tracker.take(action, plan, fresh)
        if not stopped and context.interest.give_up():
            why = 'the caller withdrew the call before the goal was sent'
            await self._tracker.abandon(action.action_id, OutcomeReason.INTERRUPTED, why)
            return _withdrawn({'action_id': action.action_id})
        if stopped or self._deactivated():
            why = 'the harness was stopped or deactivated before the goal was sent'
            await self._tracker.abandon(action.action_id, OutcomeReason.INTERRUPTED, why)
            status = ResultStatus.INTERRUPTED if stopped else ResultStatus.HARNESS_INACTIVE
            return ToolResult(status, why, {'action_id': action.action_id, 'goal_sent': False})
        if not still.ok:
            why = 'the world changed while the start was put on disk; the goal was not sent'
            await self._tracker.abandon(action.action_id, OutcomeReason.INTERRUPTED, why)
            refused = self._refused(still, again)  # whose result puts it on record
            return replace(refused, data={**refused.data, 'action_id': action.action_id})
        waited_s = self._age_s(fresh)
        if waited_s > START_LATENCY_MAX_S:
            why = f'the journal took {waited_s:.1f} s; the check is too old to act on'
            await self._tracker.abandon(action.action_id, OutcomeReason.JOURNAL_UNAVAILABLE, why)
            return ToolResult(
                ResultStatus.JOURNAL_UNAVAILABLE, why, {'action_id': action.action_id}
            )
        acceptance = await self._tracker.start(action.action_id, way)
        result = _acceptance_result(acceptance, action, plan)
        goes_on = acceptance in SENT
        return _gone_on(result) if goes_on and context.interest.gone() else result

    def _gate(self, managed: ManagedAction) -> ActionGate:
        name = managed.action.name
        return self._board.gate(None if name == self._observer.controller else name)

    def _deactivated(self) -> bool:
        return not self.active

    async def _written(self, *entries: Entry, meanwhile: Callable[[], object]) -> bool:
        """Wait until the start is on disk; return whether the caller was cancelled meanwhile.

        What has been started needs an end, so a cancellation waits for the fate of the record.

        :raises JournalUnavailableError: it is not on disk, and never will be.
        """
        writing = self._journal.append(*entries, meanwhile=meanwhile)
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing
            return True
        return False

    def _still_holds(
        self,
        managed: ManagedAction,
        context: CallContext,
        call_id: str,
        decision: WorldSnapshot | None,
    ) -> tuple[WorldSnapshot, PreconditionReport]:
        """Look once more: something was heard, or the disk has taken its time."""
        again = self._observer.capture(context.mission_id, Look.STILL_HOLDS, call_id)
        report = validate(
            managed.preconditions,
            decision=decision,
            fresh=again,
            gate=self._gate(managed),
            target_at_decision={},
            target_now={},
        )
        return again, report

    async def first_heard(self, managed: ManagedAction, interest: Interest, call_id: str) -> None:
        """Give what has never been heard of a moment: discovery after a start takes that long.

        Before the call is bound to a snapshot, which would know nothing otherwise.
        """
        policy, told = managed.preconditions, managed.action.name == self._observer.controller
        for _ in range(FIRST_HEARD_LOOKS):
            unheard = self._observer.never_heard(call_id)
            missing = (
                # Skills of another action are only offered once its server has been seen.
                told and 'navigation' in unheard,
                policy.pose_max_age_s is not None and 'map_pose' in unheard,
                policy.odometry_max_age_s is not None and 'odometry' in unheard,
                policy.controller_idle and self._board.goals_awaited,
                self._may_come_yet(policy, unheard),
            )
            if not any(missing) or not self.active or interest.gone():
                return
            await asyncio.sleep(FIRST_HEARD_PERIOD_S)

    def _may_come_yet(self, policy: PreconditionPolicy, unheard: frozenset[str]) -> bool:
        """Whether a message that a check would heed may be on its way: we have just started."""
        if self._clock.monotonic_ns() - self._begun_ns >= LISTENING_S * NS_PER_S:
            return False
        return (
            (policy.emergency_stop_clear and 'safety' in unheard)
            or (policy.min_battery_fraction is not None and 'battery' in unheard)
            or (
                policy.max_position_variance_m2 is not None
                and 'map_pose' not in unheard
                and 'position_variance' in unheard
            )
        )

    def decision(self, context: CallContext, call_id: str) -> WorldSnapshot | None:
        """Return the snapshot that a call was decided on; None if it is no longer known, or so old
        that nothing should be decided on it.
        """
        if context.decision_snapshot_id is None:
            return self._observer.capture(context.mission_id, Look.DECISION, call_id)
        named = self._observer.store.get(context.decision_snapshot_id)
        if named is None:
            return None
        return named if self._age_s(named) <= DECISION_MAX_AGE_S else None

    def _age_s(self, snapshot: WorldSnapshot) -> float:
        return (self._clock.monotonic_ns() - snapshot.captured_monotonic_ns) / NS_PER_S

    async def _goal(
        self, skill: Skill, parsed: dict[str, Any], places: Mapping[str, Any]
    ) -> dict[str, Any]:
        context = GoalContext(places=places, global_frame=self._global_frame)
        make: Callable[[], Any] = partial(skill.function, context, **parsed)
        if not skill.foreign:
            goal = guarded(make)
        else:
            try:
                goal = await in_own_thread(make, within_s=USER_CODE_S)
            except TookTooLongError as error:
                raise SkillError(
                    f'{skill.name} has not made its goal: {error}; nothing was sent to the robot'
                ) from error
        if not isinstance(goal, dict):
            raise TypeError(f'{skill.name} returned {type(goal).__name__}, not a goal')
        return goal

    async def _goal_then(
        self, skill: Skill, parsed: dict[str, Any], decision: WorldSnapshot
    ) -> dict[str, Any] | str:
        """Return the goal as it would have been at the decision, or why that cannot be said."""
        places = self._places.at(decision.captured_monotonic_ns)
        if places is None:
            return (
                'the places were edited so often since the decision that how they were then is'
                ' forgotten; look again and decide anew'
            )
        try:
            return await self._goal(skill, parsed, places)
        except SkillError as error:
            return f'at the decision: {error}'

    def _refused(self, report: PreconditionReport, fresh: WorldSnapshot) -> ToolResult:
        failed = [check.to_dict() for check in report.failed]
        unreachable = any(check.name == 'controller_reachable' for check in report.failed)
        status = (
            ResultStatus.CONTROLLER_UNAVAILABLE
            if unreachable
            else ResultStatus.PRECONDITION_CHANGED
        )
        told = '; '.join(f'{c.name}: {c.detail or c.measured}' for c in report.failed)
        data: dict[str, Any] = {
            'failed_checks': failed,
            'snapshot_id': fresh.snapshot_id,
            'snapshot': json.loads(project(fresh, max_bytes=self.projection_max_bytes).text),
        }
        return ToolResult(status, f'nothing was sent to the robot. {told}', data)


def captured(
    reason: Literal['pre_dispatch', 'requested'], snapshot: WorldSnapshot
) -> WorldSnapshotCaptured:
    """Return the record of a snapshot."""
    return WorldSnapshotCaptured(reason=reason, snapshot=snapshot.to_dict())


def _checked(
    report: PreconditionReport, fresh: WorldSnapshot, correlation: Correlation
) -> tuple[Entry, Entry]:
    decision_id = correlation.snapshot_id
    about_fresh = Correlation(
        mission_id=correlation.mission_id,
        turn_id=correlation.turn_id,
        tool_call_id=correlation.tool_call_id,
        snapshot_id=fresh.snapshot_id,
    )
    check = ActionPreconditionChecked(
        ok=report.ok,
        decision_snapshot_id=decision_id,
        fresh_snapshot_id=fresh.snapshot_id,
        checks=[check.to_dict() for check in report.checks],
    )
    return (captured('pre_dispatch', fresh), about_fresh), (check, about_fresh)


def _started(action: RobotAction, plan: ActionPlan, fresh_snapshot_id: str) -> Entry:
    return (
        RobotActionStarted(skill=action.skill, goal=action.goal, driven=driven(plan)),
        Correlation(
            mission_id=action.mission_id,
            turn_id=action.turn_id,
            tool_call_id=action.tool_call_id,
            action_id=action.action_id,
            snapshot_id=fresh_snapshot_id,
        ),
    )


def _withdrawn(data: dict[str, Any]) -> ToolResult:
    return ToolResult(
        ResultStatus.INTERRUPTED,
        'the caller withdrew the call before the goal was sent; nothing was sent to the robot',
        {**data, 'goal_sent': False},
    )


def _gone_on(result: ToolResult) -> ToolResult:
    """Say in the result that nobody waited for it, where that made no difference to the robot."""
    told = 'the caller withdrew the call after the goal had been sent, which undoes nothing'
    data = {**result.data, 'goal_sent': True}
    return replace(result, message=f'{result.message}; {told}', data=data)


def _acceptance_result(
    acceptance: Acceptance, action: RobotAction, plan: ActionPlan
) -> ToolResult:
    data = {'action_id': action.action_id}
    if acceptance is Acceptance.ACCEPTED:
        return ToolResult(
            ResultStatus.ACCEPTED,
            'the controller accepted the goal; the robot has not arrived yet. Use wait_for_action'
            f' with action_id {action.action_id} to learn the verified outcome',
            data,
        )
    if acceptance is Acceptance.REJECTED:
        return ToolResult(ResultStatus.REJECTED, 'the controller refused the goal', data)
    if acceptance is Acceptance.NOT_SENT:
        return ToolResult(ResultStatus.CONTROLLER_UNAVAILABLE, 'the goal could not be sent', data)
    if acceptance is Acceptance.INTERRUPTED:
        return ToolResult(
            ResultStatus.INTERRUPTED,
            'the harness was stopped before the controller answered; the goal has been sent, and'
            ' the robot may move',
            {**data, 'goal_sent': True},
        )
    unclear = {
        Acceptance.LOST: 'the controller went away before it answered',
        Acceptance.CONTRADICTED: 'the controller refused the goal, and tells of it all the same',
    }.get(acceptance, f'no answer from the controller within {plan.timeouts.accept_s} s')
    return ToolResult(
        ResultStatus.ACCEPTANCE_UNKNOWN,
        f'{unclear}; it may have taken the goal, and the robot may move',
        data,
    )
