# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One turn: a snapshot, a prompt, a decision, and its tool calls with their results.

The model is asked until it acts, finishes or is done; ordinary tools go through the ordinary tool
loop inside the turn, append-only. Each answer and each failure to get one is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import asdict, dataclass
import logging
from typing import Any, Literal

from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.clock import IdSource
from robot_agent_harness.errors import ModelError
from robot_agent_harness.events import (
    Correlation,
    ModelResponseRecorded,
    ModelTurnStarted,
    WorldSnapshotCaptured,
)
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import (
    AssistantMessage,
    Decision,
    Message,
    ModelClient,
    ModelRequest,
    ToolCall,
    ToolResultBlock,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from robot_agent_harness.llm.prompting import (
    compact,
    HistoryEntry,
    prompt,
    user_prompt,
    with_intent,
)
from robot_agent_harness.mission import Claim, LoopSettings, Mission, MissionOutcome
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import Skill, skill, SkillContext, SkillError
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.snapshot import WorldSnapshot

MODEL_RETRY_AFTER_MAX_S = 30.0
"""Longest pause that a provider may ask for; a robot does not stand about for minutes."""
TOOL_ROUNDS_MAX = 8
"""Rounds of ordinary tools inside one turn; a model that only looks is asked to decide."""
MODEL_RETRY_PAUSES_S = (1.0, 2.0, 4.0)
"""Pauses before a failed request to the model is repeated, where the failure may pass."""
NOT_FOR_MODEL = frozenset({'wait_for_action'})
"""The loop itself waits, and asks again when there is something to tell."""
logger = logging.getLogger(__name__)

GIVE_UP_S = 0.5
"""How long a model that is not waited for any more gets to notice."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What came of one turn."""

    started: bool = False
    """Whether a goal went out, or may have."""
    refused: ToolResult | None = None
    """The result that refused a managed call over the state of the world or of the harness."""
    decided: bool = True
    """Whether the model called any tool."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What all calls of one turn share."""

    mission: Mission
    correlation: Correlation
    snapshot: WorldSnapshot
    finish: Skill


class TurnTaker:
    """Takes the turns of missions with one model.

    :param busy: whether an action of the mission is under way.
    :param canceled: set when the mission is to end: the model is not waited for any more.
    """

    def __init__(
        self,
        *,
        model: ModelClient,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        dispatcher: RecordedToolDispatcher,
        observer: WorldObserver,
        redactor: Redactor,
        settings: LoopSettings,
        busy: Callable[[Mission], bool],
        canceled: asyncio.Event,
    ) -> None:
        self._model = model
        self._ids = ids
        self._journal = journal
        self._registry = registry
        self._dispatcher = dispatcher
        self._observer = observer
        self._redactor = redactor
        self._settings = settings
        self._busy = busy
        self._canceled = canceled

    async def take(self, mission: Mission, trigger: str, evidence: list[str]) -> TurnResult:
        """Ask the model once, with the ordinary tools it wants, until it acts, finishes or is
        done.

        :param trigger: why the model is asked now.
        :param evidence: what has happened since it was asked last, one line each.
        :raises ModelError: it cannot be asked.
        :raises JournalUnavailableError: the turn cannot be recorded.
        """
        snapshot = self._observer.capture(mission.mission_id)
        self._observer.store.first_use(snapshot.snapshot_id)
        correlation = Correlation(
            mission_id=mission.mission_id,
            turn_id=self._ids.new_id('turn'),
            snapshot_id=snapshot.snapshot_id,
        )
        projection = project(snapshot, max_bytes=self._settings.projection_max_bytes)
        system = prompt('system')
        user = user_prompt(
            instruction=mission.instruction,
            trigger=trigger,
            evidence=[self._redactor.text(line) for line in evidence],
            history=self._shown(mission.history) if self._settings.history_size else (),
            world=self._redactor.text(projection.text),
            step=mission.step,
            max_steps=self._settings.max_steps,
        )
        turn = _Turn(mission, correlation, snapshot, self._finish_skill(mission))
        tools = self._tools(turn.finish)
        await self._journal.append(
            (
                WorldSnapshotCaptured(reason='model_turn', snapshot=snapshot.to_dict()),
                correlation,
            ),
            (
                ModelTurnStarted(
                    step=mission.step,
                    trigger=trigger,
                    system_prompt=system,
                    user_prompt=user,
                    omitted=list(projection.omitted),
                    tools=[tool.name for tool in tools],
                ),
                correlation,
            ),
        )
        messages: list[Message] = [UserMessage(user)]
        nudged = used_tools = False
        for _ in range(TOOL_ROUNDS_MAX):
            request = ModelRequest(
                system=system,
                messages=tuple(messages),
                tools=tools,
                metadata=self._metadata(mission, trigger),
            )
            if self._settings.spent(mission):
                return TurnResult()
            decision = await self._decide(turn, request)
            messages.append(AssistantMessage(decision))
            if not decision.tool_calls:
                if nudged or used_tools or self._busy(mission):
                    return TurnResult(decided=used_tools)
                nudged = True
                messages.append(UserMessage(prompt('no_tool_call')))
                continue
            used_tools = True
            blocks, ended = await self._call_tools(turn, decision)
            if ended is not None or mission.claim is not None:
                return ended or TurnResult()
            messages.append(ToolResults(blocks))
        return TurnResult()

    async def _call_tools(
        self, turn: _Turn, decision: Decision
    ) -> tuple[tuple[ToolResultBlock, ...], TurnResult | None]:
        """Carry out every call of one decision, in order; each gets its one result."""
        blocks: list[ToolResultBlock] = []
        ended: TurnResult | None = None
        managed_allowed = True
        for call in decision.tool_calls:
            known = self._registry.get(call.name)
            managed = known is not None and known.managed is not None
            if turn.mission.claim is not None or self._canceled.is_set():
                managed_allowed = False  # the mission is over
            result = await self._call_tool(turn, decision, call, managed, managed_allowed)
            blocks.append(ToolResultBlock(call.id, compact(result.structured), result.is_error))
            if managed and managed_allowed:
                managed_allowed = False
                ended = _ended_by(result)
        return tuple(blocks), ended

    async def _call_tool(
        self, turn: _Turn, decision: Decision, call: ToolCall, managed: bool, managed_allowed: bool
    ) -> ToolResult:
        arguments, purpose, expected = _split_intent(call.arguments, managed)
        calling = self._dispatcher.call(
            call.name,
            arguments,
            CallContext(
                client={'kind': 'model', 'provider': decision.provider, 'tool_use_id': call.id},
                mission_id=turn.mission.mission_id,
                turn_id=turn.correlation.turn_id,
                decision_snapshot_id=turn.snapshot.snapshot_id,
                purpose=purpose,
                expected_outcome=expected,
                managed_allowed=managed_allowed,
                malformed=_not_offered(call) or call.malformed,
                loop_skills=(turn.finish,),
            ),
        )
        result = await (calling if managed else self._unless_canceled(calling))
        if managed and managed_allowed:
            turn.mission.remember(
                result.data.get('action_id'),
                HistoryEntry(
                    action=f'{call.name}{compact(self._public(arguments, turn))}',
                    purpose=purpose,
                    expected_outcome=expected,
                    rationale=decision.rationale,
                    outcome=result.status.value,
                    reason=None if result.status is ResultStatus.ACCEPTED else result.message,
                ),
            )
        return result

    async def _unless_canceled(self, calling: Coroutine[Any, Any, ToolResult]) -> ToolResult:
        """Wait for an ordinary tool, unless the mission is cancelled; it is recorded anyway."""
        call = asyncio.ensure_future(calling)
        canceled = asyncio.ensure_future(self._canceled.wait())
        either: set[asyncio.Future[Any]] = {call, canceled}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        canceled.cancel()
        if call.done():
            return call.result()
        call.cancel()  # of our waiting: the dispatcher lets the tool end
        return ToolResult(ResultStatus.INTERRUPTED, 'the mission was cancelled during the call')

    async def _decide(self, turn: _Turn, request: ModelRequest) -> Decision:
        """Ask the model, again where that may help, and record each answer and each failure.

        :raises ModelError: it cannot be asked.
        """
        now = asyncio.get_running_loop().time
        for pause_s in (*MODEL_RETRY_PAUSES_S, None):
            began = now()
            try:
                decision = await self._ask(request)
            except ModelError as error:
                await self._journal.append(
                    (_failed_response(self._model, error, now() - began), turn.correlation)
                )
                asked_s = error.retry_after_s or 0.0
                hopeless = not error.retryable or asked_s > MODEL_RETRY_AFTER_MAX_S
                if pause_s is None or hopeless or self._canceled.is_set():
                    raise
                await self._pause(max(pause_s, asked_s))
            else:
                took_s = now() - began
                turn.mission.spend(decision.usage)
                for call in decision.tool_calls:
                    # Before the answer is recorded: the call itself comes later.
                    known = self._registry.get(call.name)
                    secrets = known.secrets if known else frozenset()
                    self._redactor.learn(turn.correlation.turn_id, call.arguments, secrets)
                await self._journal.append((_response(decision, took_s), turn.correlation))
                return decision
        raise AssertionError('unreachable')

    async def _ask(self, request: ModelRequest) -> Decision:
        """Return the model's answer, unless the mission is cancelled while it thinks.

        :raises ModelError: it cannot be asked, or is not waited for any longer.
        """
        asked = asyncio.ensure_future(self._model.decide(request))
        canceled = asyncio.ensure_future(self._canceled.wait())
        try:
            await asyncio.wait({asked, canceled}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return _answer(asked)
            raise ModelError('the mission was cancelled while the model was asked')
        finally:
            asked.cancel()
            canceled.cancel()
            # Bounded: a client that resists its cancellation must not hold the mission up.
            await asyncio.wait({asked, canceled}, timeout=GIVE_UP_S)

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the mission is cancelled meanwhile."""
        canceled = asyncio.ensure_future(self._canceled.wait())
        await asyncio.wait({canceled}, timeout=seconds)
        canceled.cancel()

    def _public(self, arguments: Any, turn: _Turn) -> Any:
        return self._redactor.value(jsonable(arguments), scope=turn.correlation.turn_id)

    def _shown(self, history: Iterable[HistoryEntry]) -> tuple[HistoryEntry, ...]:
        """Return the history without secrets: what a controller said may quote one."""
        return tuple(HistoryEntry(**self._redactor.value(asdict(entry))) for entry in history)

    def _tools(self, finish: Skill) -> tuple[ToolSpec, ...]:
        offered = (*self._registry.skills, finish)
        specs = []
        for entry in offered:
            if entry.name in NOT_FOR_MODEL:
                continue
            spec = ToolSpec(entry.name, entry.description, entry.input_schema)
            specs.append(with_intent(spec) if entry.managed else spec)
        return tuple(specs)

    def _metadata(self, mission: Mission, trigger: str) -> dict[str, Any]:
        last = next(reversed(mission.ended_actions.values()), None)
        return {
            'step': mission.step,
            'trigger': trigger,
            'last_outcome': last.state.value if last else None,
            'last_reason': last.outcome.reason.value if last and last.outcome else None,
        }

    def _finish_skill(self, mission: Mission) -> Skill:
        """Make the tool by which the model ends this mission; only the loop's own model has it."""

        @skill(output=CallOutput)
        async def finish_mission(
            context: SkillContext,
            outcome: Literal['achieved', 'not_achieved', 'unknown'],
            reason: str,
        ) -> ToolResult:
            """End the mission. outcome is your claim, reason says in one sentence what supports
            it. Not while an action is under way: cancel it or let it end first.
            """
            if self._busy(mission):
                raise SkillError('finish_mission: an action of this mission is still under way')
            mission.claim = Claim(MissionOutcome(outcome), reason)
            return ToolResult(ResultStatus.COMPLETED, 'the mission is over')

        return finish_mission


def _answer(asked: asyncio.Future[Decision]) -> Decision:
    try:
        return asked.result()
    except ModelError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        # A client may be anybody's code: whatever it raises, it could not be asked.
        logger.exception('the model client failed')
        raise ModelError(f'the model client failed: {error!r}') from error


def _not_offered(call: ToolCall) -> str | None:
    if call.name not in NOT_FOR_MODEL:
        return None
    return 'not offered here: you are asked again when there is something to tell'


def _split_intent(arguments: Any, managed: bool) -> tuple[Any, str | None, str | None]:
    """Take purpose and expected outcome out of a managed call's arguments; the tool never sees
    them.
    """
    if not managed or not isinstance(arguments, dict):
        return arguments, None, None
    rest = dict(arguments)
    purpose, expected = rest.pop('purpose', None), rest.pop('expected_outcome', None)
    return (
        rest,
        purpose if isinstance(purpose, str) else None,
        expected if isinstance(expected, str) else None,
    )


def _ended_by(result: ToolResult) -> TurnResult | None:
    """Say what a managed call's result means for the loop; None: the model may try again at
    once.
    """
    if 'action_id' in result.data:
        return TurnResult(started=True)
    return None if result.status is ResultStatus.INVALID_ARGUMENTS else TurnResult(refused=result)


def _response(decision: Decision, took_s: float) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=decision.rationale,
        thinking=decision.thinking,
        tool_calls=[
            {
                'id': call.id,
                'name': call.name,
                'arguments': jsonable(call.arguments),
                'malformed': call.malformed,
            }
            for call in decision.tool_calls
        ],
        usage=jsonable(decision.usage),
        stop_reason=decision.stop_reason,
        provider=decision.provider,
        model=decision.model,
        response_id=decision.response_id,
        raw_content=[jsonable(block) for block in decision.raw_content],
        duration_s=round(took_s, 3),
    )


def _failed_response(
    model: ModelClient, error: ModelError, took_s: float
) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=None,
        thinking=None,
        tool_calls=[],
        usage={},
        stop_reason=None,
        provider=model.provider,
        model=model.model,
        error=str(error),
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        duration_s=round(took_s, 3),
    )
