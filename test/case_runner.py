# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plays the sequences of test/cases/failures.json on the in-process bench, and tells what came of
it.

The vocabulary (steps `[time_s, who, what]`, expectations, result labels) is that of the collection
of field failures the file was taken from.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
import json
from pathlib import Path
import sqlite3
from typing import Any

from raw_model import OVERLOADED, RawModel, said, used

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.testing.bench import Bench, BenchRobot
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.world.salient import Salient

CASES = json.loads((Path(__file__).parent / 'cases' / 'failures.json').read_text(encoding='utf-8'))

SETTINGS = {
    'navigation.xy_tolerance_m': 0.30,
    'navigation.yaw_tolerance_rad': 0.35,
    'navigation.accept_timeout_s': 5.0,
    'navigation.execution_timeout_s': 30.0,
    'navigation.verify_timeout_s': 3.0,
}
"""What the collection assumes."""

LABELS = {
    'conflict': 'precondition_changed',
    'ok': 'completed',
    'one_action_per_step': 'one_managed_action_per_step',
    'server_unavailable': 'controller_unavailable',
    'tool_error': 'invalid_arguments',
}
"""The collection's names for results, where ours differ."""

MISSION_END_S = 600.0

TOOLS = {'observe': 'get_world_snapshot'}

MISSION_KINDS = ('K29', 'K30', 'K31', 'K32', 'K33')
"""Kinds that are about what a model answers: there the loop asks it, in a mission."""


@dataclass
class Played:
    """What a sequence led to."""

    results: list[ToolResult]
    goals_sent: int
    outcomes: list[dict[str, Any]]
    """One a started action: its outcome's payload, or {'state': 'open'}."""
    decided_s: list[float]
    state_paths: list[list[str]]
    journal: Path
    events: list[Any] = field(default_factory=list)


def plain(value: Any) -> Any:
    """Resolve the collection's notation for values that JSON cannot hold."""
    if isinstance(value, dict):
        if set(value) == {'$f'}:
            return float(value['$f'].replace('Infinity', 'inf'))
        if set(value) == {'$repeat'}:
            text, times = value['$repeat']
            return text * times
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


async def play(variant: dict[str, Any], journal: Path, kind: str) -> Played:
    """Run one variant to its end."""
    steps = [(at, who, plain(what)) for at, who, what in variant['steps']]
    model = None
    if kind in MISSION_KINDS:
        model = PlayedModel([(at, what) for at, who, what in steps if who == 'model'])
    start = min([0.0, *(at for at, _, _ in steps)])
    robot = BenchRobot()
    answered = any(who == 'server' and 'goal_response' in what for _, who, what in steps)
    nav2 = ScriptableNav2(accept_after_s=None if answered else 0.05)
    for at, who, what in steps:
        if at == start and at < 0 and who == 'world':
            _world(robot, what)
    parameters = dict(SETTINGS)
    if 'scale configured as 100' in variant['name']:
        parameters['battery.percentage_scale'] = 100.0
    bench = Bench(journal, parameters=parameters, nav2=nav2, robot=robot, model=model)
    async with bench:
        if steps[0][1] == 'sys' and 'ros_clock' in steps[0][2]:
            # The time that the sequence starts at, not a jump that the harness sees.
            bench.clock.set_ros(steps.pop(0)[2]['ros_clock'])
            await asyncio.sleep(1.0)
        player = _Player(bench, journal, asyncio.get_running_loop().time() - start, model)
        for at, who, what in sorted(steps, key=lambda step: step[0]):
            await player.until(at)
            await player.step(who, what)
        results = list(await asyncio.gather(*player.calls))
        if model is not None:
            await asyncio.wait_for(player.mission, MISSION_END_S)
            assert model.problems == []
        for _ in range(60):
            if not bench.core.tracker.unfinished:
                break
            await asyncio.sleep(1.0)
        return _told(results, len(nav2.sent), journal, player.origin_wall_ns)


class PlayedModel(RawModel):
    """Answers as the steps of a case say, none before its time."""

    def __init__(self, steps: list[tuple[float, dict[str, Any]]]) -> None:
        super().__init__()
        self.origin = 0.0
        self.asked = False
        """Whether it has been asked and has not answered yet."""
        self._steps = steps
        self._content: list[Any] = []

    async def next_answer(self) -> Any:
        if not self._steps:
            return await super().next_answer()
        at, what = self._steps.pop(0)
        self.asked = True
        await asyncio.sleep(max(0.0, self.origin + at - asyncio.get_running_loop().time()))
        self.asked = False
        if 'assert_request' in what:
            _, assistant, results = self.bodies[-1]['messages']
            assert assistant == {'role': 'assistant', 'content': self._content}
            assert [block['type'] for block in results['content']] == ['tool_result']
            return await super().next_answer()
        if 'stream' in what:
            return OVERLOADED  # what began has no end, so that there is no answer
        if 'call' in what:
            call_id = what.get('id', f'tu{len(self.bodies)}')
            answer = said(used(_tool(what['call']), what['args'], id=call_id))
        else:
            response = what['response']
            answer = said(*map(_block, response['content']), stop_reason=response['stop_reason'])
        self._content = answer['content']
        return answer


def _block(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, 'name': _tool(block['name'])} if 'name' in block else block


def _tool(name: str) -> str:
    return TOOLS.get(name, name)


class _Player:
    def __init__(
        self, bench: Bench, journal: Path, origin: float, model: PlayedModel | None
    ) -> None:
        self.bench = bench
        self.journal = journal
        self.origin = origin
        now = asyncio.get_running_loop().time()
        self.origin_wall_ns = bench.clock.wall_ns() + round((origin - now) * 1e9)
        self.calls: list[asyncio.Task[ToolResult]] = []
        self.decision: str | None = None
        self.model = model
        if model is not None:
            model.origin = origin
            mission = bench.core.harness.run_mission('what the case is about')
            self.mission = asyncio.create_task(mission)

    async def until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, self.origin + at - asyncio.get_running_loop().time()))

    async def step(self, who: str, what: dict[str, Any]) -> None:
        if who == 'model' and self.model is not None:
            if not self.model.asked:
                # The loop asks when something happens, so that it is asked at this time.
                self.bench.core.harness.notify(Salient('human_message', 'how is it going?', {}))
        elif who in ('model', 'mcp'):
            self._caller(who, what)
        elif who == 'server':
            await self._server(what)
        elif who == 'tool':
            return  # the tool is the package's own, and answers as it does
        elif who == 'world':
            _world(self.bench.robot, what)
        else:
            self._machine(what)
        # What a step sets off happens at its own time.
        await asyncio.sleep(0)

    def _caller(self, who: str, what: dict[str, Any]) -> None:
        if 'turn_snapshot' in what:
            self.decision = self.bench.core.observer.capture(None).snapshot_id
            return
        call = self.bench.call(
            _tool(what['call']),
            what['args'],
            client={'kind': who},
            decision_snapshot_id=self.decision,
        )
        self.calls.append(asyncio.create_task(call))
        self.decision = None

    async def _server(self, what: dict[str, Any]) -> None:
        nav2 = self.bench.nav2
        about_own_goal = 'goal_response' in what or 'result' in what
        if about_own_goal and not nav2.sent:
            return  # the goal was refused before it could get here
        if 'goal_response' in what and what['goal_response'] != 'none':
            nav2.respond(what['goal_response'] == 'accepted')
        if 'feedback' in what:
            numbers = dict(what['feedback'])
            nav2.feedback(*nav2.goals_named([numbers.pop('goal')]), **numbers)
        if 'status' in what:
            names = [name for name, _ in what['status']]
            known = nav2.goals_named(names) if nav2.sent else tuple(names)
            listed = zip(known, what['status'], strict=True)
            nav2.status(*((goal, GoalStatus[status]) for goal, (_, status) in listed))
        if 'result' in what:
            status = what['result']['status']
            number = status if isinstance(status, int) else GoalStatus[status]
            nav2.result(number, what['result']['payload'])
        if 'die' in what or 'absent' in what:
            nav2.set_reachable(False)
        if 'restart' in what:
            nav2.set_reachable(True)
        if 'feedback_stream' in what:
            stream = what['feedback_stream']
            self._flood = asyncio.create_task(self._stream(stream['rate_hz'], stream['until']))

    async def _stream(self, rate_hz: float, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < self.origin + until:
            self.bench.nav2.feedback(distance_remaining=1.0)
            await asyncio.sleep(1.0 / rate_hz)

    def _machine(self, what: dict[str, Any]) -> None:
        clock = self.bench.clock
        if 'ros_clock' in what:
            clock.set_ros(what['ros_clock'])
        if 'wall_clock_step_s' in what:
            clock.step_wall(what['wall_clock_step_s'])
            clock.step_ros(what['wall_clock_step_s'])
        if 'lock_db_exclusive_s' in what:
            lock = sqlite3.connect(self.journal, isolation_level=None)
            lock.execute('BEGIN EXCLUSIVE')
            asyncio.get_running_loop().call_later(what['lock_db_exclusive_s'], lock.close)


def _world(robot: BenchRobot, what: dict[str, Any]) -> None:
    if 'hold' in what:
        hold = what['hold']
        x, y, yaw = hold['pose']
        v = tuple(hold.get('v', (0.0, 0.0)))
        odom = tuple(hold['odom']) if 'odom' in hold else None
        robot.place(x, y, yaw, v=v, odom=odom)
        robot.stopped -= {'pose', 'odom'}
    robot.stopped |= set(what.get('stop', ()))
    if 'stream' in what:
        stream = what['stream']
        robot.stopped.discard(stream['topic'])
        if stream.get('header_stamp') == 0:
            robot.stamp_offset_ns[stream['topic']] = None
        if 'percentage' in stream:
            robot.battery = stream['percentage']


def _told(
    results: list[ToolResult], goals_sent: int, journal: Path, origin_wall_ns: int
) -> Played:
    with JournalReader(journal) as reader:
        events = list(reader.events())
    if not results:
        recorded = [event.payload for event in events if event.type == 'TOOL_RESULT_RECORDED']
        results = [ToolResult(ResultStatus(told['status']), '') for told in recorded]
    started = [event for event in events if event.type == 'ROBOT_ACTION_STARTED']
    outcomes, decided, paths = [], [], []
    for start in started:
        own = [event for event in events if event.action_id == start.action_id]
        ended = [event for event in own if event.type == 'ROBOT_ACTION_OUTCOME']
        outcomes.append(ended[0].payload if ended else {'state': 'open'})
        decided += [(event.wall_time_ns - origin_wall_ns) / 1e9 for event in ended]
        path = ['REQUESTED']
        for event in own:
            state = event.payload.get('state')
            moved = event.type in ('ROBOT_ACTION_PROGRESS', 'ROBOT_ACTION_OUTCOME')
            if moved and not event.payload.get('late') and state != path[-1]:
                path.append(state)
        paths.append(path)
    return Played(results, goals_sent, outcomes, decided, paths, journal, events)


def expected_statuses(label: Any) -> set[str]:
    """Return the statuses that one expected result allows."""
    labels = label if isinstance(label, list) else [label]
    return {LABELS.get(name, name) for name in labels}
