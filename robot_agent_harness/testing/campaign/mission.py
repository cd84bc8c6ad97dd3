# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs one mission of a campaign on virtual time: robot, controller, clients, and the real core.

The harness may be stopped, or die, in the middle; the robot and the controller live on, and a new
harness starts on the same journal, recovers, and takes calls again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
import random
import sqlite3
from typing import Any

from robot_agent_harness.actions.controller import ControllerEvent, ServerPresence
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.assembly import assemble, CONTROLLER, Core
from robot_agent_harness.errors import HarnessError, JournalUnavailableError
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.parameters import Value
from robot_agent_harness.recovery import adopt, recover
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.testing.campaign.controller import FaultyController
from robot_agent_harness.testing.campaign.faults import Faults
from robot_agent_harness.testing.campaign.ledger import DISCOVERY_S, Ledger, Sent, Truth
from robot_agent_harness.testing.campaign.plan import Plan, SETTLE_S, Step
from robot_agent_harness.testing.campaign.robot import TICK_S, TrueRobot
from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.testing.scripted_model import call, response, scripted
from robot_agent_harness.world.samples import Sample

PARAMETERS: dict[str, Any] = {
    'journal.synchronous': 'normal',
    'navigation.execution_timeout_s': 25.0,
    'mission.max_steps': 6,
}
OUTCOME_WAIT_S = 60.0
"""Longer than all timeouts of one action together: who has no outcome by then never has one."""
LATE_S = 3.0
"""How long late news may still come before the mission is over."""
RESTART_S = 0.5
STEP_NOTICED_S = 1.0
"""A smaller step ahead cannot be told from a reading that came late."""
DOWN_S = 2.0
"""How long a harness that was stopped is away."""


class Wire:
    """The action client of one life of the harness; a life that has ended hears nothing."""

    def __init__(self, mission: CampaignMission) -> None:
        self._mission = mission
        self._listener: Callable[[ControllerEvent], None] = lambda event: None
        self.cut = False

    def set_listener(self, listener: Callable[[ControllerEvent], None]) -> None:
        """Deliver every event to `listener`."""
        self._listener = listener

    def hear(self, event: ControllerEvent) -> None:
        """Deliver an event."""
        if not self.cut:
            self._listener(event)

    @property
    def reachable(self) -> bool:
        """Whether the server is there, as far as discovery knows."""
        return self._mission.reachable

    def prepare(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Do nothing."""

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Send a goal, and have the oracle see it go."""
        if not self.cut:
            self._mission.note_send(goal_id, goal['pose'])
            self._mission.controller.send_goal(goal_id, goal['pose'])

    def request_result(self, goal_id: str) -> None:
        """Ask for a result."""
        if not self.cut:
            self._mission.controller.request_result(goal_id)

    def cancel(self, goal_id: str) -> None:
        """Ask for a cancellation."""
        if not self.cut:
            self._mission.controller.cancel(goal_id)


class CampaignMission:
    """One mission, from its plan to its ledger and journal."""

    def __init__(self, plan: Plan, folder: Path, parameters: Mapping[str, Value]) -> None:
        self.plan = plan
        self.journal = folder / 'journal.db'
        self.ledger = Ledger()
        self.reachable = True
        self._parameters = parameters
        self._faults = Faults(plan.faults)
        self._rng = random.Random(plan.seed + 1)
        self._ids = SequentialIds()
        self._core: Core | None = None
        self._wire: Wire | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self.robot: TrueRobot
        self.controller: FaultyController
        self.clock: FakeClock

    async def run(self) -> None:
        """Run it to the end, whatever happens in it."""
        self.clock = FakeClock(monotonic=asyncio.get_running_loop().time)
        self.robot = TrueRobot(
            self.plan.habits,
            self._faults,
            clock=self.clock,
            rng=self._rng,
            deliver=self._deliver,
        )
        self.controller = FaultyController(self.robot, self._faults, rng=self._rng, say=self._say)
        ticking = asyncio.create_task(self._tick())
        await self._begin_life()
        try:
            await self._play()
        finally:
            locked_until = max((end for _, end in self.ledger.locks), default=0.0)
            await self._end_life(cancel_running=True)
            if self._now < locked_until:
                # What could not be written is for the next start to settle.
                await self._begin_life()
                await self._end_life(cancel_running=True)
            ticking.cancel()
            await asyncio.gather(ticking, *self._tasks, return_exceptions=True)

    def note_send(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Note a goal at the moment at which it leaves, and whether its start is durable."""
        with sqlite3.connect(f'file:{self.journal}?mode=ro', uri=True) as reader:
            query = (
                "SELECT count(*) FROM events WHERE type = 'ROBOT_ACTION_STARTED' AND action_id = ?"
            )
            durable = reader.execute(query, (goal_id,)).fetchone()[0] == 1
        reader.close()
        running = tuple(g.goal_id for g in self.controller.goals.values() if g.own and g.active)
        self.ledger.sent.append(Sent(self._now, goal_id, goal, durable, running))

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # -- the world -------------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            now = self._now
            self._disturb_machine(now)
            self.controller.step(now)
            self.robot.step(now)
            v, w = self.robot.velocity
            goal = self.controller.active
            self.ledger.truth.append(
                Truth(now, self.robot.pose, abs(v), abs(w), goal.goal_id if goal else None)
            )
            await asyncio.sleep(TICK_S)

    def _disturb_machine(self, now: float) -> None:
        if step := self._faults.once('ros_clock', now):
            self.clock.step_ros(step.value)
            if step.value > STEP_NOTICED_S or step.value < 0.0:
                self.ledger.clock_jumps.append(now - 1e-9)
        if step := self._faults.once('wall_clock', now):
            self.clock.step_wall(step.value)
        if lock := self._faults.once('journal_lock', now):
            other = sqlite3.connect(self.journal, isolation_level=None, timeout=0)
            try:
                other.execute('BEGIN EXCLUSIVE')
            except sqlite3.OperationalError:
                other.close()
                return
            self.ledger.locks.append((now, now + lock.value))
            asyncio.get_running_loop().call_later(lock.value, other.close)

    def _deliver(self, topic: str, sample: Sample[Any]) -> None:
        if self._core is None or self._faults.at('blackout', self._now):
            return
        self.ledger.deliver(self._now, topic, sample)
        builder = self._core.builder
        if topic == 'odom':
            builder.observe_odometry(sample)
        elif topic == 'battery':
            builder.observe_battery(sample)
        elif topic == 'emergency_stop':
            builder.observe_emergency_stop(sample)
        else:
            builder.observe_map_pose(sample, source=topic)

    def _say(self, event: ControllerEvent) -> None:
        if isinstance(event, ServerPresence):
            self.reachable = event.reachable
        if self._wire is not None and not self._faults.at('blackout', self._now):
            self.ledger.wire.append((self._now, event))
            self._wire.hear(event)

    # -- the harness -----------------------------------------------------------------------------

    async def _begin_life(self) -> None:
        """Start the harness; where it cannot, whoever starts the node starts it again."""
        while not await self._started():
            await self._end_life(cancel_running=False)
            await asyncio.sleep(RESTART_S)

    async def _started(self) -> bool:
        wire = self._wire = Wire(self)
        self._core = core = assemble(
            self._parameters,
            clock=self.clock,
            ids=self._ids,
            journal=await self._open_journal(),
            controllers={CONTROLLER: wire},
            model=self._model(),
        )
        self.ledger.begin_life(self._now, reachable=self.reachable)
        core.tracker.on_outcome(self._note_outcome)
        self.robot.speak_to_newcomer()
        if len(self.ledger.lives) == 1:
            await asyncio.sleep(SETTLE_S)
        else:  # what is latched arrives once it is discovered, while recovery asks already
            asyncio.get_running_loop().call_later(
                self._rng.uniform(0.0, DISCOVERY_S), self.controller.speak_to_newcomer
            )
        try:
            await recover(core, adopt(core))
        except JournalUnavailableError:
            return False
        core.dispatcher.active = True
        core.harness.start()
        return True

    def _model(self) -> ModelClient:
        """Return the model of one life: it goes where the plan says first."""
        x, y, yaw = self.plan.steps[0].goal
        go = call('navigate_to_pose', x=x, y=y, yaw=yaw, purpose='go', expected_outcome='there')
        there = {'name': 'finish_mission', 'arguments': {'outcome': 'achieved', 'reason': 'there'}}
        return scripted(response(when={'last_outcome': 'SUCCEEDED'}, call=there), go, go, go)

    async def _open_journal(self) -> MissionJournal:
        """Open the journal, once no other program holds it."""
        while True:
            try:
                return MissionJournal.open(
                    self.journal, clock=self.clock, synchronous='normal', inline=True
                )
            except JournalUnavailableError:
                await asyncio.sleep(RESTART_S)

    async def _end_life(self, *, cancel_running: bool) -> None:
        core, wire = self._core, self._wire
        if core is None or wire is None:
            return
        self.ledger.lives[-1][1] = self._now
        await core.close(cancel_running=cancel_running)
        self._core = self._wire = None
        wire.cut = True

    async def _crash(self) -> None:
        """Die at once: what is committed stays, and nothing else."""
        core, wire = self._core, self._wire
        if core is None or wire is None:
            return
        self.ledger.lives[-1][1] = self._now
        wire.cut = True
        self._core = self._wire = None
        copy = self.journal.with_name(f'after-{len(self.ledger.lives)}.db')
        source, target = sqlite3.connect(self.journal), sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        copy.chmod(0o600)
        self.journal = copy
        self._tasks.append(asyncio.create_task(core.close(cancel_running=False)))

    def _note_outcome(self, action: RobotAction) -> None:
        assert action.outcome is not None
        if self._core is None:
            return  # said by a life that has died
        outcome = action.outcome
        self.ledger.outcomes.setdefault(
            action.action_id,
            (self._now, outcome.state.value, outcome.reason.value, outcome.evidence),
        )

    # -- its clients -----------------------------------------------------------------------------

    async def _play(self) -> None:
        for step in self.plan.steps:
            before = step.decided_before_s
            await self._until(step.at_s - before)
            decision = None
            if before and self._core is not None:
                decision = self._core.observer.capture(None).snapshot_id
            await self._until(step.at_s)
            await self._do(step, decision)
        await self._idle()

    async def _until(self, at_s: float) -> None:
        await asyncio.sleep(max(0.0, at_s - self._now))

    async def _idle(self) -> None:
        end = self._now + OUTCOME_WAIT_S
        await asyncio.sleep(0.5)
        while self._now < end and not self._quiet():
            await asyncio.sleep(0.5)
        await asyncio.sleep(LATE_S)

    def _quiet(self) -> bool:
        core = self._core
        waiting = any(not task.done() for task in self._tasks)
        return core is None or not (waiting or core.tracker.unfinished)

    async def _do(self, step: Step, decision: str | None) -> None:
        core = self._core
        assert core is not None
        if step.kind in ('shutdown', 'crash'):
            if step.kind == 'crash':
                await self._crash()
            else:
                await self._end_life(cancel_running=True)
            await asyncio.sleep(DOWN_S)
            await self._begin_life()
        elif step.kind == 'mission':
            self._spawn(self._mission(core))
        elif step.kind == 'call':
            self._call(step, decision, None)
            if step.twice_s is not None:
                await asyncio.sleep(step.twice_s)
                self._call(step, decision, 0.0)
        elif step.kind == 'cancel' and self.ledger.sent:
            self._tool('cancel_action', {'action_id': self.ledger.sent[-1].goal_id})
        elif step.kind == 'nonsense':
            self._tool('navigate_to_pose', {'x': float('nan'), 'y': '1', 'yow': 0})
        else:
            self._tool('get_world_snapshot', {})

    def _call(self, step: Step, decision: str | None, shift: float | None) -> None:
        x, y, yaw = step.goal
        arguments = {'x': x, 'y': y if shift is None else -y, 'yaw': yaw}
        task = self._tool('navigate_to_pose', arguments, decision)
        if step.gives_up_s is not None:
            asyncio.get_running_loop().call_later(step.gives_up_s, task.cancel)

    def _tool(
        self, name: str, arguments: dict[str, Any], decision: str | None = None
    ) -> asyncio.Task[Any]:
        assert self._core is not None
        context = CallContext(client={'kind': 'mcp'}, decision_snapshot_id=decision)
        return self._spawn(self._core.dispatcher.call(name, arguments, context))

    async def _mission(self, core: Core) -> None:
        try:
            await core.harness.run_mission('go there')
        except HarnessError:
            pass  # its beginning could not be recorded, or one is under way: both are answers

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task
