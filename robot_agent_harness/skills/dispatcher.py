# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The only door to a skill, for the model loop and for MCP clients alike.

Every call that comes in is recorded before it runs and gets one recorded result, whatever happens:
it runs in a task of its own, which the caller's cancellation does not reach. That only says that
nobody wants the call any more: a goal that has not left yet is then not sent. A managed call
passes

    TOOL_CALL_RECORDED < ACTION_PRECONDITION_CHECKED < ROBOT_ACTION_STARTED < goal sent <
    TOOL_RESULT_RECORDED

with everything before "sent" on disk before it is sent (see `starter.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
import contextlib
from dataclasses import replace
import logging
from typing import Any

from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.clock import Clock, IdSource
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import (
    Correlation,
    Event,
    ToolCallRecorded,
    ToolCallWithdrawn,
    ToolResultRecorded,
)
from robot_agent_harness.guarded import contained, guarded
from robot_agent_harness.jsonable import jsonable, non_finite
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.bounding import ResultBounds
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.repeats import Claim, nothing_sent, Repeats
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.service_log import ServiceLog
from robot_agent_harness.skills.skill import (
    Skill,
    SkillContext,
    SkillError,
)
from robot_agent_harness.skills.starter import ActionStarter, captured
from robot_agent_harness.states import StateRecorder
from robot_agent_harness.texts import quoted
from robot_agent_harness.world.artifacts import ArtifactStore
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

RESULT_DURABLE_S = 2.0
"""How long a result waits for the disk before it is returned all the same (it is written
later)."""
CLOSE_S = 1.0
"""How long calls that move the robot get to finish when the dispatcher closes."""
FIRST_S = 0.5
"""How long one that repeats another waits for that one's result when the dispatcher closes."""

CLOSING = 'the harness is being stopped'

Entry = tuple[Event, Correlation]


class RecordedToolDispatcher:
    """Records, validates, checks, dispatches, and records the one result."""

    def __init__(
        self,
        *,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        board: ActionBoard,
        observer: WorldObserver,
        tracker: RobotActionTracker,
        places: PlaceBook,
        starter: ActionStarter,
        repeats: Repeats,
        projection_max_bytes: int,
        redactor: Redactor,
        artifacts: ArtifactStore,
        states: StateRecorder,
        clock: Clock,
        recorded: Callable[[str], Awaitable[RobotAction | None]],
        services: ServiceLog | None = None,
    ) -> None:
        self._ids = ids
        self._repeats = repeats
        self._redactor = redactor
        self._journal = journal
        self._bounds = ResultBounds(artifacts, redactor)
        self._registry = registry
        self._board = board
        self._observer = observer
        self._tracker = tracker
        self._places = places
        self._starter = starter
        self.projection_max_bytes = projection_max_bytes
        """Most bytes of a snapshot in a result."""
        self._states = states
        self._clock = clock
        self._recorded = recorded
        self._services = services
        self._tasks: dict[asyncio.Task[ToolResult], Skill | None] = {}
        self._closing = False

    @property
    def active(self) -> bool:
        """Whether managed calls are taken (the node's lifecycle decides)."""
        return self._starter.active

    @active.setter
    def active(self, active: bool) -> None:
        if active != self._starter.active:
            self._starter.active = active
            self._states.changed('active' if active else 'inactive')

    async def call(self, name: str, arguments: Any, context: CallContext) -> ToolResult:
        """Carry out one call and return its one result. Raises nothing but the caller's
        cancellation.
        """
        if self._closing:
            return ToolResult(ResultStatus.INTERRUPTED, CLOSING)
        own = {entry.name: entry for entry in context.loop_skills}
        skill = own.get(name) or self._registry.get(name)
        task = asyncio.get_running_loop().create_task(self._call(skill, name, arguments, context))
        self._tasks[task] = skill
        task.add_done_callback(self._tasks.pop)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            context.interest.leave()
            raise

    async def close(self) -> None:
        """Give the calls that are under way their results: `interrupted`, unless they end within a
        moment. Those that only look or wait get no moment.
        """
        self.active, self._closing = False, True
        await asyncio.sleep(0)  # a task that is cancelled before it has begun has no result
        for task, skill in self._tasks.items():
            if skill is not None and skill.read_only:
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)

    async def _call(
        self, skill: Skill | None, name: str, arguments: Any, context: CallContext
    ) -> ToolResult:
        call_id = self._ids.new_id('call')
        claim = await self._claim(name, arguments, context, call_id)
        managed = skill is not None and skill.managed is not None
        first = claim is None or claim.made is not None
        if first and skill is not None and skill.managed is not None:
            with contextlib.suppress(asyncio.CancelledError):  # closing: answered below
                await self._starter.first_heard(skill.managed, context.interest, call_id)
        decision = self._starter.decision(context, call_id) if managed and first else None
        correlation = Correlation(
            mission_id=context.mission_id,
            turn_id=context.turn_id,
            tool_call_id=call_id,
            snapshot_id=context.decision_snapshot_id
            or (decision.snapshot_id if decision else None),
        )
        secrets = skill.secrets if skill else frozenset()
        # Whoever may only look must not be able to hide others' data by calling it a password.
        everywhere = 'act' in context.client.get('token_scopes', ('act',))
        self._redactor.learn(call_id, arguments, secrets, everywhere=everywhere)
        call: tuple[Entry, ...] = (
            (
                ToolCallRecorded(
                    name=name,
                    arguments=jsonable(arguments),
                    decision_snapshot_id=correlation.snapshot_id,
                    purpose=context.purpose,
                    expected_outcome=context.expected_outcome,
                    client=dict(context.client),
                    idempotency=claim.marks if claim else {},
                    repeat_of=claim.repeat_of if claim else None,
                    malformed=context.malformed,
                    non_finite=non_finite(arguments),
                ),
                correlation,
            ),
        )
        if decision is not None and self._observer.store.first_use(decision.snapshot_id):
            call = ((captured('requested', decision), correlation), *call)
        context.interest.watch(lambda: self._withdrawn(correlation))
        try:
            await self._record(call, skill)
            if claim is not None and claim.made is None:
                result = await self._of_first(claim)
            else:
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
        except Exception:
            # A skill may be anybody's code: its crash becomes a result, its text stays in the log.
            logger.exception('tool %s crashed', name)
            result = ToolResult(
                ResultStatus.TOOL_ERROR, f'{name} failed; see the log of the harness'
            )
        if self._closing and result.status is ResultStatus.HARNESS_INACTIVE:
            result = replace(result, status=ResultStatus.INTERRUPTED, message=CLOSING)
        context.interest.watch(None)
        if nothing_sent(result.status.value, result.data):
            context.interest.give_up()  # a repeat that comes from now on is a call of its own
        result = await self._answer(correlation, result, skill)
        if claim is not None:
            self._repeats.settle(claim, result)
        return result

    async def _of_first(self, claim: Claim) -> ToolResult:
        """Return the result of the call that another one repeats.

        Closing ends both, the first with a result that may tell of a goal that was sent.
        """
        try:
            return await asyncio.shield(claim.result)
        except asyncio.CancelledError:
            await asyncio.wait({claim.result}, timeout=FIRST_S)
            if not claim.result.done():
                raise
            return claim.result.result()

    def _withdrawn(self, correlation: Correlation) -> None:
        """Put on record that a caller has left: what is sent from now on depends on it."""
        withdrawn = ToolCallWithdrawn(monotonic_ns=self._clock.monotonic_ns())
        self._journal.defer((withdrawn, correlation))

    async def _claim(
        self, name: str, arguments: Any, context: CallContext, call_id: str
    ) -> Claim | None:
        """Say what the call's key says about it; None without a key."""
        if context.idempotency is None:
            return None
        acts = any(skill.name == name and not skill.read_only for skill in self._registry.all)
        asked = {} if arguments is None else jsonable(arguments)
        marks = context.idempotency.marks(name, asked, acts=acts)
        try:
            return await self._repeats.claim(marks, call_id, context.interest)
        except asyncio.CancelledError:
            return Claim.refused({}, ToolResult(ResultStatus.INTERRUPTED, CLOSING))

    async def _record(self, call: tuple[Entry, ...], skill: Skill | None) -> None:
        """Put the call on record before it runs.

        What only looks does not wait for the disk longer than it works. A managed call waits once,
        for the transaction with its check and its start, which the queue puts after this record:
        nothing is sent before both are on disk.
        """
        if skill is not None and skill.service is not None and not skill.read_only:
            # Whatever a service does happens at once: no check follows, and no second record.
            durable = self._journal.defer(*call)
            await asyncio.wait({durable}, timeout=RESULT_DURABLE_S)
            if not durable.done() or durable.cancelled() or durable.exception() is not None:
                raise JournalUnavailableError('the call could not be put on disk')
            return
        managed = skill is not None and skill.managed is not None
        if managed or not self._journal.healthy:
            self._journal.defer(*call)
            return
        try:
            await self._journal.append(*call)
        except JournalUnavailableError:
            self._journal.defer(*call)

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
                ResultStatus.UNKNOWN_TOOL,
                f'there is no tool {quoted(name)}; there are: {known}',
            )
        if context.malformed is not None:
            return ToolResult(ResultStatus.INVALID_ARGUMENTS, f'{name}: {context.malformed}')
        parsed = guarded(lambda: skill.parse(arguments))
        if skill.managed is not None:
            return await self._starter.start(
                skill, skill.managed, parsed, context, correlation, decision
            )
        if skill.service is not None and not skill.read_only and not self._starter.active:
            return ToolResult(
                ResultStatus.HARNESS_INACTIVE,
                'the harness is not active; activate its lifecycle node first',
            )
        skill_context = SkillContext(
            observer=self._observer,
            board=self._board,
            tracker=self._tracker,
            places=self._places.current(),
            tool_call_id=correlation.tool_call_id or '',
            mission_id=context.mission_id,
            progress=context.progress,
            interest=context.interest,
            projection_max_bytes=self.projection_max_bytes,
            recorded=self._recorded,
            services=None if self._services is None else self._services.of(correlation),
        )
        running: Any = guarded(lambda: skill.function(skill_context, **parsed))
        return await self._finished(skill, running)

    async def _finished(self, skill: Skill, running: Coroutine[Any, Any, Any]) -> ToolResult:
        """Wait for a skill in a task of its own: one that resists its cancellation is left behind
        when the harness closes.
        """
        work = asyncio.get_running_loop().create_task(contained(running), name=skill.name)
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.add_done_callback(_heeded)
            work.cancel()
            raise
        if work.cancelled():
            return ToolResult(ResultStatus.TOOL_ERROR, f'{skill.name} gave itself up')
        result = guarded(work.result)
        if not isinstance(result, ToolResult):
            raise TypeError(f'{skill.name} returned {type(result).__name__}, not a ToolResult')
        return result

    async def _answer(
        self, correlation: Correlation, result: ToolResult, skill: Skill | None
    ) -> ToolResult:
        result = await self._bounded(correlation, result, skill)
        action_id = result.data.get('action_id')
        record = ToolResultRecorded(
            status=result.status.value, is_error=result.is_error, structured=result.structured
        )
        shown = self._shown(result)
        known = Correlation(
            mission_id=correlation.mission_id,
            turn_id=correlation.turn_id,
            tool_call_id=correlation.tool_call_id,
            action_id=action_id if isinstance(action_id, str) else None,
            snapshot_id=correlation.snapshot_id,
        )
        durable = self._journal.defer(
            *(() if shown is None else (_shown_entry(shown, known),)),
            (record, known),
        )
        if self._journal.healthy:
            with contextlib.suppress(asyncio.CancelledError):  # closing cannot wait any longer
                await asyncio.wait({durable}, timeout=RESULT_DURABLE_S)
        if durable.done() and not durable.cancelled() and durable.exception() is None:
            return result
        # The queue keeps its order: what this result tells of may not be on disk either.
        return replace(result, data={**result.data, 'recorded': False})

    def _shown(self, result: ToolResult) -> WorldSnapshot | None:
        """Return the snapshot that a result shows in part, if it is not on record yet."""
        shown_id = result.data.get('snapshot_id')
        shown = self._observer.store.get(shown_id) if isinstance(shown_id, str) else None
        if shown is None or not self._observer.store.first_use(shown.snapshot_id):
            return None
        return shown

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


def _heeded(work: asyncio.Task[Any]) -> None:
    """Take the exception of a skill that was cancelled: its call has been answered."""
    if not work.cancelled() and work.exception() is not None:
        logger.warning('a skill raised while it was cancelled: %r', work.exception())


def _shown_entry(shown: WorldSnapshot, ids: Correlation) -> Entry:
    return captured('requested', shown), replace(ids, snapshot_id=shown.snapshot_id)


def _journal_unavailable(error: JournalUnavailableError) -> ToolResult:
    return ToolResult(
        ResultStatus.JOURNAL_UNAVAILABLE,
        f'nothing was sent to the robot: the journal cannot be written ({error})',
    )
