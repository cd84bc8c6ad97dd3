# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One turn: a snapshot, a prompt, a decision, and its tool calls with their results.

The model is asked until it acts, finishes or is done; ordinary tools go through the ordinary tool
loop inside the turn, append-only. Each answer and each failure to get one is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from robot_agent_harness.actions.observer import Look, WorldObserver
from robot_agent_harness.asking import ModelAsker
from robot_agent_harness.clock import IdSource
from robot_agent_harness.events import (
    Correlation,
    ModelTurnStarted,
    WorldSnapshotCaptured,
)
from robot_agent_harness.guarded import guarded
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
from robot_agent_harness.llm.planner import Planner, Prompt, Situation
from robot_agent_harness.llm.prompting import read_prompt, with_intent
from robot_agent_harness.mission import Claim, Mission, MissionOutcome
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.interest import Interest
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import Skill, skill, SkillContext, SkillError
from robot_agent_harness.texts import compact
from robot_agent_harness.world.projection import project, Projection
from robot_agent_harness.world.snapshot import WorldSnapshot

TOOL_ROUNDS_MAX = 8
"""Rounds of ordinary tools inside one turn; a model that only looks is asked to decide."""
UNUSABLE_MAX = 3
"""Answers in a row of which no call can be used, as where each is cut or refused: to ask on would
cost, and bring the same."""
NOT_FOR_MODEL = frozenset({'wait_for_action'})
"""The loop itself waits, and asks again when there is something to tell."""


ONE_A_DECISION = (
    'one physical action per decision: see what becomes of the first one, then decide again'
)
MISSION_OVER = 'the mission is over: nothing physical is started for it any more'


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What came of one turn."""

    started: bool = False
    """Whether a goal went out, or may have."""
    refused: ToolResult | None = None
    """The result that refused a managed call over the state of the world or of the harness."""
    decided: bool = True
    """Whether the model called a tool, also where it was asked for one."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What all calls of one turn share."""

    mission: Mission
    correlation: Correlation
    snapshot: WorldSnapshot
    finish: Skill


class TurnTaker:
    """Takes the turns of missions with one model.

    :param planner: puts what the model is told into words.
    :param busy: whether an action of the mission is under way.
    :param canceled: set when the mission is to end: the model is not waited for any more.
    """

    def __init__(
        self,
        *,
        model: ModelClient,
        planner: Planner,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        dispatcher: RecordedToolDispatcher,
        observer: WorldObserver,
        places: PlaceBook,
        redactor: Redactor,
        busy: Callable[[Mission], bool],
        canceled: asyncio.Event,
    ) -> None:
        self._asker = ModelAsker(
            model=model,
            journal=journal,
            registry=registry,
            redactor=redactor,
            canceled=canceled,
        )
        self._planner = planner
        self._ids = ids
        self._journal = journal
        self._registry = registry
        self._dispatcher = dispatcher
        self._observer = observer
        self._places = places
        self._redactor = redactor
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
        turn_id = self._ids.new_id('turn')
        snapshot = self._observer.capture(mission.mission_id, Look.MODEL_TURN, turn_id)
        self._observer.store.first_use(snapshot.snapshot_id)
        correlation = Correlation(
            mission_id=mission.mission_id,
            turn_id=turn_id,
            snapshot_id=snapshot.snapshot_id,
        )
        projection = project(snapshot, max_bytes=mission.settings.projection_max_bytes)
        prompt = self._prompt(mission, trigger, evidence, snapshot, projection)
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
                    system_prompt=prompt.system,
                    user_prompt=prompt.user,
                    omitted=list(projection.omitted),
                    tools=[tool.name for tool in tools],
                ),
                correlation,
            ),
        )
        messages: list[Message] = [UserMessage(prompt.user)]
        nudged = forced = False
        unusable = 0
        for _ in range(TOOL_ROUNDS_MAX):
            request = ModelRequest(
                system=prompt.system,
                messages=tuple(messages),
                tools=tools,
                metadata=self._metadata(mission, trigger),
                force_tool=forced,
            )
            if mission.settings.spent(mission) or self._canceled.is_set():
                return TurnResult()
            decision = await self._asker.decide(request, mission, correlation)
            messages.append(AssistantMessage(decision))
            if not decision.tool_calls:
                if nudged or self._busy(mission) or mission.has_news:
                    # Where it has news it is asked again because of that.
                    return TurnResult(decided=False)
                nudged = forced = True
                messages.append(UserMessage(read_prompt('no_tool_call')))
                continue
            forced = False
            blocks, ended = await self._call_tools(turn, decision)
            if ended is not None or mission.claim is not None:
                return ended or TurnResult()
            if mission.mailbox.from_people or mission.unreported:
                return TurnResult()  # heard in the next turn, not after all the tools of this one
            unusable = unusable + 1 if all(c.malformed for c in decision.tool_calls) else 0
            if unusable == UNUSABLE_MAX:
                return TurnResult(decided=False)
            messages.append(ToolResults(blocks))
        return TurnResult()

    def _prompt(
        self,
        mission: Mission,
        trigger: str,
        evidence: list[str],
        snapshot: WorldSnapshot,
        projection: Projection,
    ) -> Prompt:
        """Have the situation put into words; what is cut short has no secrets in it before."""
        clean = self._redactor.text
        if mission.world is not None:
            mission.world.observe(snapshot, self._places.current())
        situation = Situation(
            mission_id=mission.mission_id,
            instruction=clean(mission.instruction),
            step=mission.step,
            max_steps=mission.settings.max_steps,
            trigger=trigger,
            evidence=tuple(clean(line) for line in evidence),
            projection=clean(projection.text),
        )
        world = mission.world.state if mission.world is not None else None
        prompt = guarded(lambda: self._planner.prompt(situation, world=world))
        # Once more: a secret may have become known after what is remembered was taken in.
        return Prompt(clean(prompt.system), clean(prompt.user))

    async def _call_tools(
        self, turn: _Turn, decision: Decision
    ) -> tuple[tuple[ToolResultBlock, ...], TurnResult | None]:
        """Carry out every call of one decision, in order; each gets its one result."""
        blocks: list[ToolResultBlock] = []
        ended: TurnResult | None = None
        not_now: str | None = None
        for call in decision.tool_calls:
            known = self._registry.get(call.name)
            managed = known is not None and known.managed is not None
            if turn.mission.claim is not None or self._canceled.is_set():
                not_now = MISSION_OVER
            result = await self._call_tool(turn, decision, call, known, not_now)
            blocks.append(ToolResultBlock(call.id, compact(result.structured), result.is_error))
            if managed and not_now is None:
                not_now = ONE_A_DECISION
                ended = _ended_by(result)
        return tuple(blocks), ended

    async def _call_tool(
        self,
        turn: _Turn,
        decision: Decision,
        call: ToolCall,
        known: Skill | None,
        not_now: str | None,
    ) -> ToolResult:
        managed = known is not None and known.managed is not None
        arguments, purpose, expected = _split_intent(call.arguments, managed)
        interest = Interest()
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
                not_now=not_now,
                malformed=_not_offered(call) or call.malformed,
                interest=interest,
                loop_skills=(turn.finish,),
            ),
        )
        if managed:
            turn.mission.managed_call = interest
            try:
                result = await calling
            finally:
                turn.mission.managed_call = None
        else:
            result = await self._unless_canceled(calling)
        if managed and not_now is None:
            clean = self._redactor.text
            turn.mission.decided(
                result.data.get('action_id'),
                action=f'{call.name}{compact(self._public(arguments, turn))}',
                purpose=purpose and clean(purpose),
                expected_outcome=expected and clean(expected),
                rationale=decision.rationale and clean(decision.rationale),
                outcome=result.status.value,
                reason=None if result.status is ResultStatus.ACCEPTED else clean(result.message),
            )
        if known is not None and turn.mission.world is not None and not result.is_error:
            turn.mission.world.remember(known.remember, result.structured)
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

    def _public(self, arguments: Any, turn: _Turn) -> Any:
        return self._redactor.value(jsonable(arguments), scope=turn.correlation.turn_id)

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
        last = mission.last
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
            it. Not while an action is under way: cancel it or let it end first. Refused if an
            action has ended, or a person has said something, that you have not heard of.
            """
            if self._busy(mission):
                raise SkillError('finish_mission: an action of this mission is still under way')
            if mission.unreported:
                raise SkillError('finish_mission: an action has ended meanwhile: hear how first')
            if mission.mailbox.from_people:
                raise SkillError('finish_mission: a person has spoken meanwhile: hear it first')
            mission.claim = Claim(MissionOutcome(outcome), reason)
            return ToolResult(ResultStatus.COMPLETED, 'the mission is over')

        return finish_mission


def _not_offered(call: ToolCall) -> str | None:
    if call.name not in NOT_FOR_MODEL:
        return None
    return 'not offered here: you are asked again when there is something to tell'


def _split_intent(arguments: Any, managed: bool) -> tuple[Any, str | None, str | None]:
    """Take purpose and expected outcome out of a managed call's arguments; the tool never sees
    them.

    A model that leaves them out, against the schema, is not refused for it: nothing that the robot
    does depends on them. What is missing, blank or no text is absent on record.
    """
    if not managed or not isinstance(arguments, dict):
        return arguments, None, None
    rest = dict(arguments)
    purpose, expected = rest.pop('purpose', None), rest.pop('expected_outcome', None)
    return rest, _said(purpose), _said(expected)


def _said(text: Any) -> str | None:
    return text if isinstance(text, str) and text.strip() else None


def _ended_by(result: ToolResult) -> TurnResult | None:
    """Say what a managed call's result means for the loop; None: the model may try again at
    once.
    """
    if 'action_id' in result.data:
        return TurnResult(started=True)
    return None if result.status is ResultStatus.INVALID_ARGUMENTS else TurnResult(refused=result)
