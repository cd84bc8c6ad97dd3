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
from collections.abc import Callable
import logging
from typing import Any

from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.actions.observer import Look, WorldObserver
from robot_agent_harness.actions.tracker import RobotActionTracker
from robot_agent_harness.clock import Clock, IdSource
from robot_agent_harness.errors import HarnessError, JournalUnavailableError, ModelError
from robot_agent_harness.events import (
    Correlation,
    MissionCancelRequested,
    MissionEnded,
    MissionStarted,
    SalientEvent,
    WorldSnapshotCaptured,
)
from robot_agent_harness.guarded import contained, guarded
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.planner import Planner
from robot_agent_harness.mission import LoopSettings, Mission, MissionReport
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.places import PlaceBook
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ResultStatus
from robot_agent_harness.texts import compact
from robot_agent_harness.turn import TurnTaker
from robot_agent_harness.world.salient import Salient, SalientWatch
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

WATCH_PERIOD_S = 0.2
"""How often the world is looked at for salient changes."""
REFUSED_PAUSE_S = 2.0
"""Pause before asking again after a refusal that looking again will not lift at once."""
MISSION_CLOSE_S = 0.5
"""How long closing waits for the record of a mission's end."""
MODEL_CLOSE_S = 0.5
"""How long closing waits for the model's connections."""
SETTLE_S = 15.0
"""How long the end of a cancelled mission waits for its action to end."""
FOREIGN_NAMED = 8
"""How many of the goals that somebody else sent at once are named."""


class RobotAgentHarness:
    """Runs missions, one at a time, and watches for what a model should hear of."""

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        journal: RedactedJournal,
        registry: SkillRegistry,
        dispatcher: RecordedToolDispatcher,
        observer: WorldObserver,
        tracker: RobotActionTracker,
        places: PlaceBook,
        model: ModelClient | None,
        planner: Planner,
        settings: LoopSettings,
        redactor: Redactor,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._observer = observer
        self._tracker = tracker
        self._model = model
        self._settings = settings
        self._redactor = redactor
        self._watch = SalientWatch(battery_low_fraction=settings.battery_low_fraction)
        self._mission: Mission | None = None
        self._news = asyncio.Event()
        self._cancel_reason: str | None = None
        self._canceled = asyncio.Event()
        self._idle = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._salient_listeners: list[Callable[[], None]] = []
        self._turns = (
            None
            if model is None
            else TurnTaker(
                model=model,
                planner=planner,
                ids=ids,
                journal=journal,
                registry=registry,
                dispatcher=dispatcher,
                observer=observer,
                places=places,
                redactor=redactor,
                busy=lambda mission: self._own_action(mission) is not None,
                canceled=self._canceled,
            )
        )
        tracker.on_outcome(self._on_outcome)
        tracker.on_foreign_goals(self._on_foreign_goals)

    @property
    def mission_id(self) -> str | None:
        """The mission under way."""
        return self._mission.mission_id if self._mission else None

    @property
    def step(self) -> int:
        """How many decisions the mission under way has taken."""
        return self._mission.step if self._mission else 0

    def retune(self, settings: LoopSettings) -> None:
        """Have other bounds hold for the next mission; the battery is watched by them at once."""
        self._settings = settings
        self._watch.battery_low_fraction = settings.battery_low_fraction

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
            await _close_model(self._model)

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
            self._mission.mailbox.put(salient)
            self._news.set()
        for listener in self._salient_listeners:
            listener()

    def on_salient(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever something salient was noticed or said."""
        self._salient_listeners.append(listener)

    def cancel_mission(self, reason: str = 'canceled') -> None:
        """End the mission under way: no further question to the model, its action cancelled, and a
        goal that has not left yet not sent.

        The first reason stands.
        """
        if self._mission is not None and self._cancel_reason is None:
            requested = MissionCancelRequested(
                reason=reason, monotonic_ns=self._clock.monotonic_ns()
            )
            self._journal.defer((requested, Correlation(mission_id=self._mission.mission_id)))
            self._cancel_reason = reason
            if self._mission.managed_call is not None:
                self._mission.managed_call.leave()
            self._canceled.set()
            self._news.set()

    async def run_mission(self, instruction: str, mission_id: str | None = None) -> MissionReport:
        """Run a mission to its end and return what became of it.

        :raises HarnessError: no model is configured, a mission is under way already, or its
            beginning could not be recorded.
        """
        if self._model is None or self._turns is None:
            raise HarnessError('no model decides here: set model.provider')
        if self._mission is not None:
            raise HarnessError(f'mission {self._mission.mission_id} is still under way')
        mission = self._settings.begin(mission_id or self._ids.new_id('mission'), instruction)
        self._mission, self._cancel_reason = mission, None
        self._canceled.clear()
        self._idle.clear()
        limit = self._limit_time(mission)
        try:
            started = MissionStarted(
                instruction=instruction,
                robot_id=mission.settings.robot_id,
                provider=self._model.provider,
                model=self._model.model,
                max_steps=mission.settings.max_steps,
            )
            await self._journal.append((started, Correlation(mission_id=mission.mission_id)))
            reason = await self._until_end(self._turns, mission)
            report = mission.report(reason, under_way=self._own_action(mission))
            await self._record_end(report)
            return report
        finally:
            if limit is not None:
                limit.cancel()
            self._mission = None
            self._idle.set()

    def _limit_time(self, mission: Mission) -> asyncio.TimerHandle | None:
        """Have the mission under way cancelled when its time is up, whatever it waits for."""
        limit_s = mission.settings.max_wall_time_s
        if limit_s == 0.0:
            return None
        return asyncio.get_running_loop().call_later(limit_s, self.cancel_mission, 'max_wall_time')

    async def _until_end(self, turns: TurnTaker, mission: Mission) -> str:
        """Alternate turns and waits until something ends the mission; return what did."""
        trigger = 'mission_started'
        evidence: list[str] = []
        try:
            while True:
                if self._cancel_reason is not None:
                    return self._cancel_reason
                if mission.step >= mission.settings.max_steps:
                    return 'max_steps'
                if mission.settings.spent(mission):
                    return 'max_tokens'
                mission.step += 1
                turn = await turns.take(mission, trigger, evidence)
                if mission.claim is not None:
                    return 'finished'
                if self._canceled.is_set():
                    continue
                if turn.refused is not None:
                    trigger = turn.refused.status.value
                    evidence = [f'{trigger}: {turn.refused.message}']
                    if turn.refused.status is not ResultStatus.PRECONDITION_CHANGED:
                        await self._heard(REFUSED_PAUSE_S)
                    evidence += self._news_of(mission)[1]
                elif turn.started or self._own_action(mission) or mission.has_news:
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
        except Exception:
            # Whatever a model's client raises, or a fault of ours: the mission still gets its end.
            logger.exception('mission %s failed', mission.mission_id)
            return self._cancel_reason or 'harness_fault'
        finally:
            await self._settle(mission)

    async def _settle(self, mission: Mission) -> None:
        """Leave no action of the mission behind: have it cancelled, and wait for its outcome.

        One that goes on all the same is asked again by the tracker, also after the mission's end.
        """
        action = self._own_action(mission)
        if action is None:
            return
        try:
            await self._tracker.cancel(action.action_id, insist=True)
        except Exception:
            # Its outcome is still to be waited for, and the mission's end to be recorded.
            logger.exception('cancelling the action of mission %s failed', mission.mission_id)
        await self._tracker.wait(action.action_id, SETTLE_S)

    # -- between turns ---------------------------------------------------------------------------

    async def _wait(self, mission: Mission) -> tuple[str, list[str]]:
        """Wait for an outcome or for something salient, and say what it was."""
        while not mission.has_news and self._cancel_reason is None:
            await self._heard(None)
        return self._news_of(mission)

    def _news_of(self, mission: Mission) -> tuple[str, list[str]]:
        """Take what has happened since it was last told: what to ask because of, and the lines."""
        outcomes = [_outcome_line(action) for action in mission.unreported]
        mission.unreported.clear()
        kind, events = mission.mailbox.take()
        return 'action_outcome' if outcomes else kind, outcomes + events

    async def _heard(self, timeout_s: float | None) -> None:
        """Wait until something happens, or the time is up."""
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), timeout_s)
        except asyncio.TimeoutError:
            return

    def _own_action(self, mission: Mission) -> RobotAction | None:
        return next((a for a in self._tracker.unfinished if _is_of(a, mission)), None)

    def _on_outcome(self, action: RobotAction) -> None:
        mission = self._mission
        if mission is None or not _is_of(action, mission):
            return
        mission.end_action(action, self._redactor.text(_reason(action)))
        self._news.set()

    def _on_foreign_goals(self, goal_ids: tuple[str, ...]) -> None:
        what = 'a goal'
        details: dict[str, Any] = {'goal_id': goal_ids[0]}
        if len(goal_ids) > 1:
            what = f'{len(goal_ids)} goals'
            details |= {'goals': len(goal_ids), 'goal_ids': list(goal_ids[:FOREIGN_NAMED])}
        message = f'somebody else has sent the controller {what}'
        self.notify(Salient('foreign_goal', message, details))

    async def _keep_watch(self) -> None:
        while True:
            try:
                noticed = self._watch.look(self._observer.peek())
                snapshot = self._observer.capture(self.mission_id, Look.WATCH) if noticed else None
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


async def _close_model(model: ModelClient) -> None:
    closing = asyncio.ensure_future(contained(model.close()))
    _, late = await asyncio.wait({closing}, timeout=MODEL_CLOSE_S)
    if late:
        closing.cancel()
        return
    try:
        guarded(closing.result)
    except Exception:
        # It is somebody's code; what else has to be closed still is.
        logger.exception('closing the model failed')


def _is_of(action: RobotAction, mission: Mission) -> bool:
    """Whether the mission's own model started the action; a client's support no claim of it."""
    return action.mission_id == mission.mission_id and action.turn_id is not None


def _reason(action: RobotAction) -> str:
    assert action.outcome is not None
    return f'{action.outcome.reason.value}: {action.outcome.evidence.get("why", "")}'


def _outcome_line(action: RobotAction) -> str:
    """Say how an action ended: what is needed to judge it comes first, for a line may be cut."""
    assert action.outcome is not None
    evidence = {k: v for k, v in action.outcome.evidence.items() if v is not None}
    evidence.pop('last_feedback', None)  # how far it had come says nothing about where it is
    why = evidence.pop('why', '')
    return (
        f'{action.skill} {compact(action.goal)} ended {action.state.value}'
        f' ({action.outcome.reason.value}): {why}; evidence: {compact(evidence)}'
    )
