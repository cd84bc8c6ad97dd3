# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop: observe, decide, act, verify, and only then decide again.

    turn:  snapshot -> prompt -> model -> tool calls -> their results
    then:  wait for the action's verified outcome, or for something salient -> next turn

Everything physical goes through the dispatcher and the tracker; this module decides only when the
model is asked and with what. At most one managed action starts per decision. What happens while
the model thinks waits in the mailbox for the next turn, and a decision that it has overtaken meets
the precondition check.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
import logging
from typing import Any, Literal

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.clock import IdSource
from robot_agent_harness.errors import HarnessError, JournalUnavailableError, ModelError
from robot_agent_harness.events import (
    Correlation,
    MissionEnded,
    MissionStarted,
    ModelResponseRecorded,
    ModelTurnStarted,
    SalientEvent,
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
from robot_agent_harness.mission import Claim, Mission, MissionOutcome, MissionReport
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import Skill, skill, SkillContext, SkillError
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.salient import Salient, SalientWatch
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

MODEL_RETRY_AFTER_MAX_S = 30.0
"""Longest pause that a provider may ask for; a robot does not stand about for minutes."""
TOOL_ROUNDS_MAX = 8
"""Rounds of ordinary tools inside one turn; a model that only looks is asked to decide."""
MODEL_RETRY_PAUSES_S = (1.0, 2.0, 4.0)
"""Pauses before a failed request to the model is repeated, where the failure may pass."""
WATCH_PERIOD_S = 0.2
"""How often the world is looked at for salient changes."""
REFUSED_PAUSE_S = 2.0
"""Pause before asking again after a refusal that looking again will not lift at once."""
MAILBOX_MAX = 100
"""Salient events kept for the next turn; older ones are in the journal."""
MISSION_CLOSE_S = 0.5
"""How long closing waits for the record of a mission's end."""
MODEL_CLOSE_S = 0.5
"""How long closing waits for the model's connections."""
SETTLE_S = 15.0
"""How long the end of a cancelled mission waits for its action to end."""
NOT_FOR_MODEL = frozenset({'wait_for_action'})
"""The loop itself waits, and asks again when there is something to tell."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Bounds of the loop."""

    robot_id: str
    max_steps: int = 50
    max_tokens: int = 0
    """0 = no limit."""
    history_size: int = 10
    """0 = the model is shown no history."""
    projection_max_bytes: int = 2048
    battery_low_fraction: float = 0.2


@dataclass(frozen=True, slots=True)
class _Turn:
    """What came of one turn."""

    started: bool = False
    """Whether a goal went out, or may have."""
    refused: ToolResult | None = None
    """The result that refused a managed call over the state of the world or of the harness."""
    decided: bool = True
    """Whether the model called any tool."""


class RobotAgentHarness:
    """Runs missions, one at a time, and watches for what a model should hear of."""

    def __init__(
        self,
        *,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        dispatcher: RecordedToolDispatcher,
        observer: WorldObserver,
        tracker: RobotActionTracker,
        model: ModelClient | None,
        settings: LoopSettings,
        redactor: Redactor,
    ) -> None:
        self._ids = ids
        self._redactor = redactor
        self._journal = journal
        self._registry = registry
        self._dispatcher = dispatcher
        self._observer = observer
        self._tracker = tracker
        self._model = model
        self._settings = settings
        self._watch = SalientWatch(battery_low_fraction=settings.battery_low_fraction)
        self._mission: Mission | None = None
        self._mailbox: deque[Salient] = deque(maxlen=MAILBOX_MAX)
        self._news = asyncio.Event()
        self._cancel_reason: str | None = None
        self._canceled = asyncio.Event()
        self._idle = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._salient_listeners: list[Callable[[Salient], None]] = []
        tracker.on_outcome(self._on_outcome)
        tracker.on_foreign_goal(self._on_foreign_goal)

    @property
    def mission_id(self) -> str | None:
        """The mission under way."""
        return self._mission.mission_id if self._mission else None

    @property
    def step(self) -> int:
        """How many decisions the mission under way has taken."""
        return self._mission.step if self._mission else 0

    def start(self) -> None:
        """Begin to watch for salient events."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._keep_watch())

    async def close(self) -> None:
        """End the mission under way, stop watching, and release the model's connections.

        Its action has to have its outcome by now: the tracker is closed before.
        """
        if self._mission is not None:
            self.cancel_mission('interrupted')
            await asyncio.wait({asyncio.ensure_future(self._idle.wait())}, timeout=MISSION_CLOSE_S)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            self._watching = None
        if self._model is not None:
            closing = asyncio.ensure_future(self._model.close())
            _, late = await asyncio.wait({closing}, timeout=MODEL_CLOSE_S)
            if late:
                closing.cancel()
            elif closing.exception() is not None:
                logger.error('closing the model: %s', closing.exception())

    def notify(self, salient: Salient, snapshot: WorldSnapshot | None = None) -> None:
        """Record something salient, and let the mission under way hear of it in its next turn.

        :param snapshot: the world in which it was noticed.
        """
        record = SalientEvent(
            kind=salient.kind, message=salient.message, details=jsonable(salient.details)
        )
        ids = Correlation(
            mission_id=self.mission_id, snapshot_id=snapshot.snapshot_id if snapshot else None
        )
        if snapshot is not None and self._observer.store.first_use(snapshot.snapshot_id):
            seen = WorldSnapshotCaptured(reason='salient_event', snapshot=snapshot.to_dict())
            self._journal.defer((seen, ids), (record, ids))
        else:
            self._journal.defer((record, ids))
        if self._mission is not None:
            self._mailbox.append(salient)
            self._news.set()

    def cancel_mission(self, reason: str = 'canceled') -> None:
        """End the mission under way: no further question to the model, its action cancelled."""
        if self._mission is not None:
            self._cancel_reason = reason
            self._canceled.set()
            self._news.set()

    async def run_mission(self, instruction: str, mission_id: str | None = None) -> MissionReport:
        """Run a mission to its end and return what became of it.

        :raises HarnessError: no model is configured, a mission is under way already, or its
            beginning could not be recorded.
        """
        if self._model is None:
            raise HarnessError('no model decides here: set model.provider')
        if self._mission is not None:
            raise HarnessError(f'mission {self._mission.mission_id} is still under way')
        mission = Mission(
            mission_id or self._ids.new_id('mission'),
            instruction,
            deque(maxlen=self._settings.history_size or 1),
        )
        self._mission, self._cancel_reason = mission, None
        self._canceled.clear()
        self._idle.clear()
        self._mailbox.clear()
        try:
            started = MissionStarted(
                instruction=instruction,
                robot_id=self._settings.robot_id,
                provider=self._model.provider,
                model=self._model.model,
                max_steps=self._settings.max_steps,
            )
            await self._journal.append((started, Correlation(mission_id=mission.mission_id)))
            reason = await self._until_end(self._model, mission)
            report = mission.report(reason)
            await self._record_end(report)
            return report
        finally:
            self._mission = None
            self._idle.set()

    async def _until_end(self, model: ModelClient, mission: Mission) -> str:
        """Alternate turns and waits until something ends the mission; return what did."""
        trigger = 'mission_started'
        evidence: list[str] = []
        try:
            while True:
                if self._cancel_reason is not None:
                    return self._cancel_reason
                if mission.step >= self._settings.max_steps:
                    return 'max_steps'
                if 0 < self._settings.max_tokens <= mission.tokens:
                    return 'max_tokens'
                mission.step += 1
                turn = await self._turn(model, mission, trigger, evidence)
                if mission.claim is not None:
                    return 'finished'
                if turn.refused is not None:
                    trigger = turn.refused.status.value
                    evidence = [f'{trigger}: {turn.refused.message}']
                    if turn.refused.status is not ResultStatus.PRECONDITION_CHANGED:
                        await self._heard(REFUSED_PAUSE_S)
                    evidence += self._news_of(mission)[1]
                elif turn.started or self._own_action(mission) or self._has_news(mission):
                    trigger, evidence = await self._wait(mission)
                elif turn.decided:
                    trigger, evidence = 'tools_used', []
                else:
                    return 'no_decision'
        except ModelError as error:
            if self._cancel_reason is not None:
                return self._cancel_reason
            logger.error('mission %s: %s', mission.mission_id, error)
            return 'model_error'
        except JournalUnavailableError as error:
            logger.error('mission %s: %s', mission.mission_id, error)
            return 'journal_unavailable'
        finally:
            await self._settle(mission)

    async def _settle(self, mission: Mission) -> None:
        """Leave no action of the mission behind: cancel it, and wait for its outcome."""
        action = self._own_action(mission)
        if action is None:
            return
        await self._tracker.cancel(action.action_id)
        await self._tracker.wait(action.action_id, SETTLE_S)

    # -- one turn --------------------------------------------------------------------------------

    async def _turn(
        self, model: ModelClient, mission: Mission, trigger: str, evidence: list[str]
    ) -> _Turn:
        """Ask the model once, with the ordinary tools it wants, until it acts, finishes or is
        done.
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
                ),
                correlation,
            ),
        )
        finish = self._finish_skill(mission)
        messages: list[Message] = [UserMessage(user)]
        nudged = used_tools = False
        for _ in range(TOOL_ROUNDS_MAX):
            request = ModelRequest(
                system=system,
                messages=tuple(messages),
                tools=self._tools(finish),
                metadata=self._metadata(mission, trigger),
            )
            decision = await self._decide(model, mission, request, correlation)
            messages.append(AssistantMessage(decision))
            if not decision.tool_calls:
                if nudged or used_tools or self._own_action(mission) is not None:
                    return _Turn(decided=used_tools)
                nudged = True
                messages.append(UserMessage(prompt('no_tool_call')))
                continue
            used_tools = True
            blocks, turn = await self._call_tools(mission, decision, correlation, snapshot, finish)
            if turn is not None or mission.claim is not None:
                return turn or _Turn()
            messages.append(ToolResults(blocks))
        return _Turn()

    async def _call_tools(
        self,
        mission: Mission,
        decision: Decision,
        correlation: Correlation,
        snapshot: WorldSnapshot,
        finish: Skill,
    ) -> tuple[tuple[ToolResultBlock, ...], _Turn | None]:
        """Carry out every call of one decision, in order; each gets its one result."""
        blocks: list[ToolResultBlock] = []
        turn: _Turn | None = None
        managed_allowed = True
        for call in decision.tool_calls:
            known = self._registry.get(call.name)
            managed = known is not None and known.managed is not None
            result = await self._call_tool(
                mission, decision, call, correlation, snapshot, finish, managed, managed_allowed
            )
            blocks.append(ToolResultBlock(call.id, compact(result.structured), result.is_error))
            if managed and managed_allowed:
                managed_allowed = False
                turn = _turn_of(result)
        return tuple(blocks), turn

    async def _call_tool(
        self,
        mission: Mission,
        decision: Decision,
        call: ToolCall,
        correlation: Correlation,
        snapshot: WorldSnapshot,
        finish: Skill,
        managed: bool,
        managed_allowed: bool,
    ) -> ToolResult:
        arguments, purpose, expected = _split_intent(call.arguments, managed)
        result = await self._dispatcher.call(
            call.name,
            arguments,
            CallContext(
                client={'kind': 'model', 'provider': decision.provider, 'tool_use_id': call.id},
                mission_id=mission.mission_id,
                turn_id=correlation.turn_id,
                decision_snapshot_id=snapshot.snapshot_id,
                purpose=purpose,
                expected_outcome=expected,
                managed_allowed=managed_allowed,
                malformed=call.malformed,
                loop_skills=(finish,),
            ),
        )
        if managed and managed_allowed:
            mission.remember(
                result.data.get('action_id'),
                HistoryEntry(
                    action=f'{call.name}{compact(self._public(arguments, correlation))}',
                    purpose=purpose,
                    expected_outcome=expected,
                    rationale=decision.rationale,
                    outcome=result.status.value,
                    reason=None if result.status is ResultStatus.ACCEPTED else result.message,
                ),
            )
        return result

    async def _decide(
        self,
        model: ModelClient,
        mission: Mission,
        request: ModelRequest,
        correlation: Correlation,
    ) -> Decision:
        """Ask the model, again where that may help, and record each answer and each failure.

        :raises ModelError: it cannot be asked.
        """
        for pause_s in (*MODEL_RETRY_PAUSES_S, None):
            try:
                decision = await self._ask(model, request)
            except ModelError as error:
                await self._journal.append((_failed_response(model, error), correlation))
                asked_s = error.retry_after_s or 0.0
                hopeless = not error.retryable or asked_s > MODEL_RETRY_AFTER_MAX_S
                if pause_s is None or hopeless or self._cancel_reason is not None:
                    raise
                await self._heard(max(pause_s, asked_s))
            else:
                mission.spend(decision.usage)
                for call in decision.tool_calls:
                    # Before the answer is recorded: the call itself comes later.
                    known = self._registry.get(call.name)
                    secrets = known.secrets if known else frozenset()
                    self._redactor.learn(correlation.turn_id, call.arguments, secrets)
                await self._journal.append((_response(decision), correlation))
                return decision
        raise AssertionError('unreachable')

    async def _ask(self, model: ModelClient, request: ModelRequest) -> Decision:
        """Return the model's answer, unless the mission is cancelled while it thinks.

        :raises ModelError: it cannot be asked, or is not waited for any longer.
        """
        asked = asyncio.ensure_future(model.decide(request))
        canceled = asyncio.ensure_future(self._canceled.wait())
        try:
            await asyncio.wait({asked, canceled}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            raise ModelError('the mission was cancelled while the model was asked')
        finally:
            asked.cancel()
            canceled.cancel()
            # Bounded: a client that resists its cancellation must not hold the mission up.
            await asyncio.wait({asked, canceled}, timeout=MODEL_CLOSE_S)

    def _public(self, arguments: Any, correlation: Correlation) -> Any:
        return self._redactor.value(jsonable(arguments), scope=correlation.turn_id)

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
            if self._own_action(mission) is not None:
                raise SkillError('finish_mission: an action of this mission is still under way')
            mission.claim = Claim(MissionOutcome(outcome), reason)
            return ToolResult(ResultStatus.COMPLETED, 'the mission is over')

        return finish_mission

    # -- between turns ---------------------------------------------------------------------------

    async def _wait(self, mission: Mission) -> tuple[str, list[str]]:
        """Wait for an outcome or for something salient, and say what it was."""
        while not self._has_news(mission) and self._cancel_reason is None:
            await self._heard(None)
        return self._news_of(mission)

    def _has_news(self, mission: Mission) -> bool:
        return bool(mission.unreported or self._mailbox)

    def _news_of(self, mission: Mission) -> tuple[str, list[str]]:
        """Take what has happened since it was last told: what to ask because of, and the lines."""
        trigger = 'action_outcome' if mission.unreported else 'none'
        if not mission.unreported and self._mailbox:
            trigger = self._mailbox[-1].kind
        lines = [_outcome_line(action) for action in mission.unreported]
        lines += [f'{salient.kind}: {salient.message}' for salient in self._mailbox]
        mission.unreported.clear()
        self._mailbox.clear()
        return trigger, lines

    async def _heard(self, timeout_s: float | None) -> None:
        """Wait until something happens, or the time is up."""
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), timeout_s)
        except asyncio.TimeoutError:
            return

    def _own_action(self, mission: Mission) -> RobotAction | None:
        return next(
            (a for a in self._tracker.unfinished if a.mission_id == mission.mission_id), None
        )

    def _on_outcome(self, action: RobotAction) -> None:
        mission = self._mission
        if mission is None or action.mission_id != mission.mission_id:
            return
        mission.end_action(action)
        self._news.set()

    def _on_foreign_goal(self, goal_id: str) -> None:
        self.notify(
            Salient(
                'foreign_goal',
                'somebody else has sent the controller a goal',
                {'goal_id': goal_id},
            )
        )

    async def _keep_watch(self) -> None:
        while True:
            try:
                noticed = self._watch.look(self._observer.peek())
                snapshot = self._observer.capture(self.mission_id) if noticed else None
                for salient in noticed:
                    self.notify(salient, snapshot)
                for salient in self._anomalies():
                    self.notify(salient)
            except Exception:
                # The watch must outlive any one bad look.
                logger.exception('looking for salient events failed')
            await asyncio.sleep(WATCH_PERIOD_S)

    def _anomalies(self) -> tuple[Salient, ...]:
        return tuple(
            Salient(anomaly.kind, anomaly.message, anomaly.details)
            for anomaly in self._observer.take_anomalies()
        )

    async def _record_end(self, report: MissionReport) -> None:
        ended = MissionEnded(
            outcome=report.outcome.value,
            reason=report.reason,
            summary=report.summary,
            claim=report.claim.outcome.value if report.claim else None,
            claim_supported=report.claim_supported,
            steps=report.steps,
            usage=report.usage,
        )
        durable = self._journal.defer((ended, Correlation(mission_id=report.mission_id)))
        await asyncio.wait({durable}, timeout=SETTLE_S)


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


def _turn_of(result: ToolResult) -> _Turn | None:
    """Say what a managed call's result means for the loop; None: the model may try again at
    once.
    """
    if 'action_id' in result.data:
        return _Turn(started=True)
    return None if result.status is ResultStatus.INVALID_ARGUMENTS else _Turn(refused=result)


def _outcome_line(action: RobotAction) -> str:
    assert action.outcome is not None
    evidence = {k: v for k, v in action.outcome.evidence.items() if v is not None}
    return (
        f'{action.skill} {compact(action.goal)} ended {action.state.value}'
        f' ({action.outcome.reason.value}); evidence: {compact(evidence)}'
    )


def _response(decision: Decision) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=decision.rationale,
        thinking=decision.thinking,
        tool_calls=[
            {'id': call.id, 'name': call.name, 'arguments': jsonable(call.arguments)}
            for call in decision.tool_calls
        ],
        usage=dict(decision.usage),
        stop_reason=decision.stop_reason,
        provider=decision.provider,
        model=decision.model,
        response_id=decision.response_id,
        raw_content=[jsonable(block) for block in decision.raw_content],
    )


def _failed_response(model: ModelClient, error: ModelError) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=None,
        thinking=None,
        tool_calls=[],
        usage={},
        stop_reason=None,
        provider=model.provider,
        model=model.model,
        error=str(error),
    )
