# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The only door to a skill, for the model loop and for MCP clients alike.

Every call that comes in is recorded before it runs and gets one recorded result, whatever happens:
it runs in a task of its own, which the caller's cancellation does not reach. A managed call passes

    TOOL_CALL_RECORDED < ACTION_PRECONDITION_CHECKED < ROBOT_ACTION_STARTED < goal sent <
    TOOL_RESULT_RECORDED

with everything before "sent" on disk before it is sent. One managed call at a time is between its
check and its start, so that two callers cannot both find the robot idle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
import contextlib
from dataclasses import dataclass, field, replace
import json
import logging
from typing import Any

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.lifecycle import OutcomeReason, RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.plan import Acceptance, ActionPlan, ActionTimeouts
from robot_agent_harness.actions.preconditions import (
    PreconditionPolicy,
    PreconditionReport,
    validate,
)
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.clock import Clock, IdSource, NS_PER_S
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    RobotActionStarted,
    ToolCallRecorded,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.bounding import ResultBounds
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import (
    GoalContext,
    ManagedAction,
    ProgressSink,
    Skill,
    SkillContext,
    SkillError,
)
from robot_agent_harness.world.artifacts import ArtifactStore
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.snapshot import Availability, Observed, WorldSnapshot

logger = logging.getLogger(__name__)

RESULT_DURABLE_S = 2.0
"""How long a result waits for the disk before it is returned all the same (it is written
later)."""
START_LATENCY_MAX_S = 1.0
"""Oldest precondition check to act on: a slow disk must not turn a fresh check into a stale
one."""
FIRST_HEARD_LOOKS, FIRST_HEARD_PERIOD_S = 40, 0.05
"""How long a call waits for a controller or a source that has not been heard of: 2 s."""
CLOSE_S = 1.0
"""How long running calls get to finish when the dispatcher closes."""

Entry = tuple[Event, Correlation]


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a caller says about a call, beside its name and arguments."""

    client: Mapping[str, Any] = field(default_factory=dict)
    """Who calls: `kind` (model, mcp) and the ids that the client used; recorded, never a key."""
    mission_id: str | None = None
    turn_id: str | None = None
    decision_snapshot_id: str | None = None
    """The snapshot that the decision was made from; None binds the call to the moment it
    arrived."""
    purpose: str | None = None
    expected_outcome: str | None = None
    managed_allowed: bool = True
    """Whether this decision step may still start a managed action."""
    malformed: str | None = None
    """Why the arguments cannot be used, where the model's response was cut or broken."""
    progress: ProgressSink | None = None
    loop_skills: tuple[Skill, ...] = ()
    """Tools that only this caller has: the model loop's `finish_mission`."""


class RecordedToolDispatcher:
    """Records, validates, checks, dispatches, and records the one result."""

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        board: ActionBoard,
        observer: WorldObserver,
        tracker: RobotActionTracker,
        places: PlaceBook,
        global_frame: str,
        timeouts: ActionTimeouts,
        projection_max_bytes: int,
        redactor: Redactor,
        artifacts: ArtifactStore,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._redactor = redactor
        self._journal = journal
        self._bounds = ResultBounds(artifacts, redactor)
        self._registry = registry
        self._board = board
        self._observer = observer
        self._tracker = tracker
        self._places = places
        self._global_frame = global_frame
        self._timeouts = timeouts
        self._projection_max_bytes = projection_max_bytes
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[ToolResult]] = set()
        self._closing = False
        self.active = False
        """Whether managed calls are taken (the node's lifecycle decides)."""

    async def call(self, name: str, arguments: Any, context: CallContext) -> ToolResult:
        """Carry out one call and return its one result. Raises nothing but the caller's
        cancellation.
        """
        if self._closing:
            return ToolResult(ResultStatus.INTERRUPTED, 'the harness is being stopped')
        task = asyncio.get_running_loop().create_task(self._call(name, arguments, context))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    def plan(self, managed: ManagedAction) -> ActionPlan:
        """Return how a managed skill's actions are carried out and judged."""
        return ActionPlan(managed.controller, managed.verifier, managed.timeouts or self._timeouts)

    async def close(self) -> None:
        """Let running calls finish for a moment, then give those that remain `interrupted`."""
        self.active, self._closing = False, True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)

    async def _call(self, name: str, arguments: Any, context: CallContext) -> ToolResult:
        own = {entry.name: entry for entry in context.loop_skills}
        skill = own.get(name) or self._registry.get(name)
        managed = skill is not None and skill.managed is not None
        if skill is not None and skill.managed is not None:
            with contextlib.suppress(asyncio.CancelledError):  # closing: answered below
                await self._first_heard(skill.managed.preconditions)
        decision = self._decision(context) if managed else None
        correlation = Correlation(
            mission_id=context.mission_id,
            turn_id=context.turn_id,
            tool_call_id=self._ids.new_id('call'),
            snapshot_id=context.decision_snapshot_id
            or (decision.snapshot_id if decision else None),
        )
        secrets = skill.secrets if skill else frozenset()
        self._redactor.learn(correlation.tool_call_id, arguments, secrets)
        call: tuple[Entry, ...] = (
            (
                ToolCallRecorded(
                    name=name,
                    arguments=jsonable(arguments),
                    decision_snapshot_id=correlation.snapshot_id,
                    purpose=context.purpose,
                    expected_outcome=context.expected_outcome,
                    client=dict(context.client),
                ),
                correlation,
            ),
        )
        if decision is not None and self._observer.store.first_use(decision.snapshot_id):
            call = ((_captured('requested', decision), correlation), *call)
        try:
            await self._record(call, needed=managed)
            result = await self._run(skill, name, arguments, context, correlation, decision)
        except asyncio.CancelledError:
            # Only closing cancels this task; a record that was being written is written still.
            result = ToolResult(
                ResultStatus.INTERRUPTED, 'the harness was stopped during the call'
            )
        except JournalUnavailableError as error:
            result = _journal_unavailable(error)
        except SkillError as error:
            result = ToolResult(error.status, str(error))
        except (Exception, SystemExit):
            # A skill may be anybody's code: its crash becomes a result, its text stays in the log.
            logger.exception('tool %s crashed', name)
            result = ToolResult(
                ResultStatus.TOOL_ERROR, f'{name} failed; see the log of the harness'
            )
        return await self._answer(correlation, result, skill)

    async def _record(self, call: tuple[Entry, ...], *, needed: bool) -> None:
        """Put the call on disk; one that only looks goes on without, and its record follows.

        :raises JournalUnavailableError: it is needed and cannot be written now.
        """
        if not needed and not self._journal.healthy:
            # Known not to work: looking must not take as long as finding that out again.
            self._journal.defer(*call)
            return
        try:
            await self._journal.append(*call)
        except JournalUnavailableError:
            self._journal.defer(*call)
            if needed:
                raise

    async def _run(
        self,
        skill: Skill | None,
        name: str,
        arguments: Any,
        context: CallContext,
        correlation: Correlation,
        decision: WorldSnapshot | None,
    ) -> ToolResult:
        if skill is None:
            known = ', '.join(self._registry.names)
            return ToolResult(
                ResultStatus.UNKNOWN_TOOL, f'there is no tool {name!r}; there are: {known}'
            )
        if context.malformed is not None:
            return ToolResult(ResultStatus.INVALID_ARGUMENTS, f'{name}: {context.malformed}')
        parsed = skill.parse(arguments)
        if skill.managed is not None:
            return await self._start(skill, skill.managed, parsed, context, correlation, decision)
        skill_context = SkillContext(
            observer=self._observer,
            board=self._board,
            tracker=self._tracker,
            places=self._places.current(),
            mission_id=context.mission_id,
            progress=context.progress,
            projection_max_bytes=self._projection_max_bytes,
        )
        running: Any = skill.function(skill_context, **parsed)
        return await self._finished(skill, running)

    async def _finished(self, skill: Skill, running: Coroutine[Any, Any, Any]) -> ToolResult:
        """Wait for a skill in a task of its own: one that resists its cancellation is left behind
        when the harness closes.
        """
        work = asyncio.get_running_loop().create_task(_contained(running), name=skill.name)
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            raise
        if work.cancelled():
            return ToolResult(ResultStatus.TOOL_ERROR, f'{skill.name} gave itself up')
        result = work.result()
        if not isinstance(result, ToolResult):
            raise TypeError(f'{skill.name} returned {type(result).__name__}, not a ToolResult')
        return result

    async def _start(
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
        if not context.managed_allowed:
            return ToolResult(
                ResultStatus.ONE_MANAGED_ACTION_PER_STEP,
                'one physical action per decision: see how the first one ends, then decide again',
            )
        goal = self._goal(skill, parsed, self._places.current())
        plan = self.plan(managed)
        async with self._starting:
            fresh = self._observer.capture(context.mission_id)
            self._observer.store.first_use(fresh.snapshot_id)
            report = validate(
                managed.preconditions,
                decision=decision,
                fresh=fresh,
                gate=self._board.gate(),
                target_at_decision=self._goal_then(skill, parsed, decision) if decision else None,
                target_now=goal,
            )
            checked = _checked(report, fresh, correlation)
            if not report.ok:
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
            try:
                await self._journal.append(*checked, _started(action, fresh.snapshot_id))
            except asyncio.CancelledError:
                # The start is being written, and what is started needs an end.
                self._tracker.take(action, plan, fresh)
                why = 'the harness was stopped before the goal was sent'
                await self._tracker.abandon(action.action_id, OutcomeReason.INTERRUPTED, why)
                raise
            self._tracker.take(action, plan, fresh)
        waited_s = (self._clock.monotonic_ns() - fresh.captured_monotonic_ns) / NS_PER_S
        if waited_s > START_LATENCY_MAX_S:
            why = f'the journal took {waited_s:.1f} s; the check is too old to act on'
            await self._tracker.abandon(action.action_id, OutcomeReason.JOURNAL_UNAVAILABLE, why)
            return ToolResult(
                ResultStatus.JOURNAL_UNAVAILABLE, why, {'action_id': action.action_id}
            )
        acceptance = await self._tracker.start(action.action_id)
        return _acceptance_result(acceptance, action, plan)

    async def _first_heard(self, policy: PreconditionPolicy) -> None:
        """Give what has never been heard of a moment: discovery after a start takes that long.

        Before the call is bound to a snapshot, which would know nothing otherwise.
        """
        for _ in range(FIRST_HEARD_LOOKS):
            world = self._observer.peek()
            navigation = world.navigation.value
            missing = (
                navigation is None or not navigation.controller_reachable,
                policy.pose_max_age_s is not None and _missing(world.map_pose),
                policy.odometry_max_age_s is not None and _missing(world.odometry),
            )
            if not any(missing) or not self.active:
                return
            await asyncio.sleep(FIRST_HEARD_PERIOD_S)

    def _decision(self, context: CallContext) -> WorldSnapshot | None:
        if context.decision_snapshot_id is not None:
            return self._observer.store.get(context.decision_snapshot_id)
        return self._observer.capture(context.mission_id)

    def _goal(
        self, skill: Skill, parsed: dict[str, Any], places: Mapping[str, Any]
    ) -> dict[str, Any]:
        context = GoalContext(places=places, global_frame=self._global_frame)
        goal: dict[str, Any] = skill.function(context, **parsed)  # type: ignore[assignment]
        return goal

    def _goal_then(
        self, skill: Skill, parsed: dict[str, Any], decision: WorldSnapshot
    ) -> dict[str, Any] | None:
        """Return the goal as it would have been at the decision; None if there was none."""
        try:
            return self._goal(skill, parsed, self._places.at(decision.captured_monotonic_ns))
        except SkillError:
            return None

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
            'snapshot': json.loads(project(fresh, max_bytes=self._projection_max_bytes).text),
        }
        return ToolResult(status, f'nothing was sent to the robot. {told}', data)

    async def _answer(
        self, correlation: Correlation, result: ToolResult, skill: Skill | None
    ) -> ToolResult:
        result = await self._bounded(correlation, result, skill)
        action_id = result.data.get('action_id')
        record = ToolResultRecorded(
            status=result.status.value, is_error=result.is_error, structured=result.structured
        )
        known = Correlation(
            mission_id=correlation.mission_id,
            turn_id=correlation.turn_id,
            tool_call_id=correlation.tool_call_id,
            action_id=action_id if isinstance(action_id, str) else None,
            snapshot_id=correlation.snapshot_id,
        )
        durable = self._journal.defer((record, known))
        if not self._closing and self._journal.healthy:
            with contextlib.suppress(asyncio.CancelledError):  # closing: it is in the queue
                await asyncio.wait({durable}, timeout=RESULT_DURABLE_S)
        if durable.done() and not durable.cancelled() and durable.exception() is None:
            return result
        # The queue keeps its order: what this result tells of may not be on disk either.
        return replace(result, data={**result.data, 'recorded': False})

    async def _bounded(
        self, correlation: Correlation, result: ToolResult, skill: Skill | None
    ) -> ToolResult:
        """Return the result as it may be kept and shown."""
        output = skill.output if skill else CallOutput
        try:
            return await self._bounds.fit(result, output=output, scope=correlation.tool_call_id)
        except asyncio.CancelledError:
            why = 'the harness was stopped before the result was stored'
            return ToolResult(ResultStatus.INTERRUPTED, why)
        except Exception:
            # Whatever a skill put into its result: the call still gets one.
            logger.exception('the result of a call cannot be recorded')
            why = 'the result cannot be recorded; see the log of the harness'
            return ToolResult(ResultStatus.TOOL_ERROR, why)


async def _contained(running: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await running
    except SystemExit as error:
        # In a task it would end the loop, and with it everything that is followed.
        raise RuntimeError('a skill tried to end the process') from error


def _missing(field_: Observed[Any]) -> bool:
    return field_.availability is Availability.MISSING


def _captured(reason: Any, snapshot: WorldSnapshot) -> WorldSnapshotCaptured:
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
    return (_captured('pre_dispatch', fresh), about_fresh), (check, about_fresh)


def _started(action: RobotAction, fresh_snapshot_id: str) -> Entry:
    return (
        RobotActionStarted(skill=action.skill, goal=action.goal),
        Correlation(
            mission_id=action.mission_id,
            turn_id=action.turn_id,
            tool_call_id=action.tool_call_id,
            action_id=action.action_id,
            snapshot_id=fresh_snapshot_id,
        ),
    )


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
    return ToolResult(
        ResultStatus.ACCEPTANCE_UNKNOWN,
        f'no answer from the controller within {plan.timeouts.accept_s} s; it may have taken the'
        ' goal, and the robot may move',
        data,
    )


def _journal_unavailable(error: JournalUnavailableError) -> ToolResult:
    return ToolResult(
        ResultStatus.JOURNAL_UNAVAILABLE,
        f'nothing was sent to the robot: the journal cannot be written ({error})',
    )
