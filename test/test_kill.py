# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness is killed at any moment of a mission, and ended by signals; the robot goes on.

The controller outlives every kill and is the independent witness: it looks into the journal when a
goal comes in. `ROBOT_AGENT_HARNESS_KILL_SEED=n` repeats a run with the seed that it printed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
from random import Random
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from asking import action_client, by_spinner, until_there
from dds_rig import (
    at_rest,
    call,
    client,
    DOMAIN,
    events,
    ForkedHarness,
    HALT_S,
    Harness,
    KILLED,
    new_namespace,
    outcome,
    until,
    WriteAhead,
)
from rclpy.action import ActionClient
from taps import DIED_AT

from robot_agent_harness.action import RunMission
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.journal.reader import JournalReader, OpenWork
from robot_agent_harness.ros.scripted_nav2 import scripted_robot, ScriptedNode
from robot_agent_harness.testing import check_journal

SEED = int(os.environ.get('ROBOT_AGENT_HARNESS_KILL_SEED') or time.time_ns() % 1_000_000)
LANES = 4
"""Robots whose harnesses are killed side by side: a recovery waits 4 s, which costs nothing."""
SHORT_KILLS, LONG_KILLS = 20, 200

MISSION_S = 2.5
"""About how long a mission takes that nobody ends; kills from outside fall into it."""
MISSION_MAX_S = 30.0
MISSIONS = 'robot_agent_harness/run_mission'
WINDOWS = (
    'before TOOL_CALL_RECORDED',
    'after TOOL_CALL_RECORDED',
    'after ROBOT_ACTION_STARTED',
    'before send_goal',
    'after send_goal',
    'hears GoalResponse',
    'before ROBOT_ACTION_PROGRESS RUNNING',
    'after ROBOT_ACTION_PROGRESS VERIFYING',
    'before ROBOT_ACTION_OUTCOME',
    'after ROBOT_ACTION_OUTCOME',
)
"""Where it matters most; every round of kills begins with these."""
FURTHER = (
    'in commit of TOOL_CALL_RECORDED',
    'before ROBOT_ACTION_STARTED',
    'in commit of ROBOT_ACTION_STARTED',
    'committed ROBOT_ACTION_STARTED',
    'before TOOL_RESULT_RECORDED',
    'after TOOL_RESULT_RECORDED',
    'before ROBOT_ACTION_PROGRESS VERIFYING',
    'in commit of ROBOT_ACTION_OUTCOME',
    'committed ROBOT_ACTION_OUTCOME',
    'before MODEL_RESPONSE_RECORDED',
    'after MISSION_STARTED',
    'before MISSION_ENDED',
)
ONCE = frozenset({'after MISSION_STARTED', 'before MISSION_ENDED'})
"""Passed once in a mission; the others are passed at each of its actions."""
OUTSIDE = ''
"""Killed from outside, at any time of the mission."""
IN_RECOVERY = (
    'before TOOL_RESULT_RECORDED',
    'before ROBOT_ACTION_OUTCOME',
    'before RECOVERY_PERFORMED',
    'in commit of RECOVERY_PERFORMED',
)
"""Killed again while a start clears up, where there is something to clear up."""
IN_FLIGHT_S = 0.1
"""How long a request of a process that has died may still be under way; nothing tells."""

SCRIPT = """
responses:
  - {call: {name: get_world_snapshot, arguments: {}}}
  - {call: {name: navigate_to_pose, arguments: {x: 1.0, y: 0.0}}, purpose: a, expected_outcome: b}
  - {call: {name: navigate_to_pose, arguments: {x: 1.0, y: 1.0}}, purpose: a, expected_outcome: b}
  - {call: {name: navigate_to_pose, arguments: {x: not a number, y: 1.0}}}
  - {call: {name: navigate_to_pose, arguments: {x: 0.0, y: 1.0}}, purpose: a, expected_outcome: b}
  - {call: {name: navigate_to_pose, arguments: {x: 0.0, y: 0.0}}, purpose: a, expected_outcome: b}
  - {repeat: true, call: {name: finish_mission, arguments: {outcome: achieved, reason: done}}}
"""


class Driver:
    """What drives the robot to its goals, whoever lives or dies.

    Most goals succeed in a few tenths of a second, some are aborted, and some go on until they are
    cancelled.
    """

    def __init__(self, wire: ScriptedNode, random: Random) -> None:
        self.ended: dict[str, GoalStatus] = {}
        """How each goal truly ended."""
        self._nav2, self._robot, self._random = wire.nav2, wire.robot, random
        self._listed: list[tuple[str, GoalStatus]] = []
        self._lock = threading.Lock()
        self._done = 0
        self._stopping = False
        self._nav2.on_cancel = self._on_cancel
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        with self._nav2.news:
            self._nav2.news.notify_all()
        self._thread.join(MISSION_MAX_S)

    def _run(self) -> None:
        while True:
            with self._nav2.news:
                self._nav2.news.wait_for(
                    lambda: self._stopping or len(self._nav2.sent) > self._done
                )
            if self._stopping:
                return
            goal_id, goal = self._nav2.sent[self._done]
            self._done += 1
            self._nav2.accept_after_s = self._random.choice((0.0, 0.02, 0.1))
            self._say(goal_id, GoalStatus.EXECUTING)
            self._drive(goal_id, goal)

    def _drive(self, goal_id: str, goal: dict[str, Any]) -> None:
        fate = self._random.choices(
            (GoalStatus.SUCCEEDED, GoalStatus.ABORTED, None), weights=(8, 1, 1)
        )[0]
        x0, y0, _ = self._robot.says.pose
        steps = self._random.randint(3, 10)
        for step in range(1, steps + 1):
            time.sleep(0.04)
            if goal_id in self.ended or self._stopping:
                return
            share = step / steps
            where = (x0 + (goal['x'] - x0) * share, y0 + (goal['y'] - y0) * share)
            self._robot.says.place(*where, goal['yaw'], v=(0.5, 0.0))
            self._nav2.feedback(goal_id, distance_remaining=1.0 - share)
        self._robot.says.place(*self._robot.says.pose)
        self._robot.publish_all()
        if fate is not None:
            self._end(goal_id, fate)

    def _on_cancel(self, goal_id: str) -> None:
        known = any(goal_id == sent for sent, _ in self._nav2.sent)
        code = 2 if not known else 3 if goal_id in self.ended else 0
        self._nav2.respond_cancel(code, goal_id)
        if code == 0:
            x, y, yaw = self._robot.says.pose
            self._robot.says.place(x, y, yaw)
            self._end(goal_id, GoalStatus.CANCELED)

    def _end(self, goal_id: str, status: GoalStatus) -> None:
        with self._lock:
            if goal_id in self.ended:
                return
            self.ended[goal_id] = status
        self._say(goal_id, status)
        self._nav2.result(status, {}, goal_id)

    def _say(self, goal_id: str, status: GoalStatus) -> None:
        with self._lock:
            self._listed = [known for known in self._listed if known[0] != goal_id][-4:]
            self._listed.append((goal_id, status))
            self._nav2.status(*self._listed)


@dataclass
class Lane:
    """One robot and its journal, through all lives of its harness."""

    name: str
    journal: Path
    script: Path
    random: Random
    kills: list[str]
    namespace: str = field(default_factory=new_namespace)
    killed: Counter[str] = field(default_factory=Counter)
    """How often it died at which place."""
    recoveries: int = 0
    mission_id: str = ''
    """The mission that was asked for in this life; nothing of another one may be sent."""
    strays: list[str] = field(default_factory=list)

    def run(self) -> Lane:
        with scripted_robot(self.namespace, domain_id=DOMAIN) as wire:
            witness = WriteAhead(wire, self.journal)
            watch = wire.nav2.on_goal

            def on_goal(goal_id: str) -> None:
                watch(goal_id)
                if witness.missions[goal_id] != self.mission_id:
                    self.strays.append(goal_id)

            wire.nav2.on_goal = on_goal
            driver = Driver(wire, self.random)
            missions = action_client(wire, RunMission, MISSIONS)
            try:
                for number, kill_at in enumerate(self.kills):
                    self._live(wire, missions, number, kill_at)
                    self._check(driver, witness)
                self._last_life()
                self._check(driver, witness)
            finally:
                driver.stop()
                by_spinner(wire, missions.destroy)
        return self

    def _live(self, wire: ScriptedNode, missions: ActionClient, number: int, kill_at: str) -> None:
        """Start, check what the start did, run a mission, and die."""
        harness, left, before = self._start(kill_at)
        if harness.ready():
            self._check_recovery(left, before)
            self.mission_id = f'{self.name}-{number}'
            self._begin(missions, self.mission_id)
            if kill_at == OUTSIDE:
                harness.dies(self.random.uniform(0.0, MISSION_S))
            elif not harness.dies(0.0):
                self._until_dead_or_done(harness)
            harness.kill()
        assert harness.ends() == KILLED, harness.said.text
        assert 'Traceback' not in harness.said.text, harness.said.text
        died_at = re.search(f'{DIED_AT} (.*)', harness.said.text)
        self.killed[died_at.group(1) if died_at else OUTSIDE] += 1
        time.sleep(IN_FLIGHT_S)
        self.mission_id = ''

    def _last_life(self) -> None:
        harness, left, before = self._start('')
        assert harness.ready(), harness.said.text
        self._check_recovery(left, before)
        assert harness.end()[0] == 0
        assert 'Traceback' not in harness.said.text, harness.said.text

    def _start(self, kill_at: str) -> tuple[ForkedHarness, OpenWork, int]:
        left, before = OpenWork((), (), ()), 0
        if self.journal.exists():
            assert check_journal(self.journal, finished=False) == []
            with JournalReader(self.journal) as reader:
                left = reader.open_work()
            before = max((event.seq for event in events(self.journal)), default=0)
        harness = ForkedHarness(
            self.namespace,
            self.journal,
            kill_at=kill_at,
            model__provider='scripted',
            model__script_file=self.script,
            navigation__execution_timeout_s=4.0,
            navigation__accept_timeout_s=2.0,
        )
        return harness, left, before

    def _begin(self, missions: ActionClient, mission_id: str) -> None:
        """Ask for a mission until it is taken: a request to a server that is dead is lost."""
        goal = RunMission.Goal(instruction='drive about', mission_id=mission_id)
        deadline = time.monotonic() + MISSION_MAX_S
        while time.monotonic() < deadline:
            until_there(missions, MISSION_MAX_S)
            answered = threading.Event()
            asked = missions.send_goal_async(goal)
            asked.add_done_callback(lambda _, e=answered: e.set())
            if answered.wait(0.5) or events(self.journal, mission_id=mission_id, limit=1):
                return  # refused means: used before, so taken
        raise AssertionError(f'mission {mission_id} was never taken')

    def _until_dead_or_done(self, harness: ForkedHarness) -> None:
        """Wait for the tap; a mission may end without coming to it so often."""
        deadline = time.monotonic() + MISSION_MAX_S
        while not harness.dies(0.05) and time.monotonic() < deadline:
            if events(self.journal, mission_id=self.mission_id, type='MISSION_ENDED'):
                harness.dies(0.2)
                return

    def _check_recovery(self, left: OpenWork, before: int) -> None:
        """What was open is closed, on record and completely; what was not has no record."""
        assert check_journal(self.journal, finished=True) == []
        new = events(self.journal, after_seq=before)
        done = [event.payload for event in new if event.type == 'RECOVERY_PERFORMED']
        if not (left.calls or left.actions or left.missions):
            assert done == []
            return
        self.recoveries += 1
        (told,) = done
        assert set(told['interrupted_calls']) == {e.tool_call_id for e in left.calls}
        assert {a['action_id'] for a in told['settled_actions']} == {
            e.action_id for e in left.actions
        }
        assert set(told['ended_missions']) == {e.mission_id for e in left.missions}

    def _check(self, driver: Driver, witness: WriteAhead) -> None:
        """Check what must hold at any time, against what the controller saw."""
        started = {e.action_id for e in events(self.journal, type='ROBOT_ACTION_STARTED')}
        assert (witness.unrecorded, witness.repeated, self.strays) == ([], [], [])
        assert set(witness.missions) <= started
        for ended in events(self.journal, type='ROBOT_ACTION_OUTCOME'):
            if ended.payload['state'] == 'SUCCEEDED':
                assert driver.ended.get(ended.action_id or '') is GoalStatus.SUCCEEDED


def _schedule(random: Random, kills: int) -> list[str]:
    """Return where to die: in every window in turn, at random, and while starting again."""
    places: list[str] = []
    while len(places) < kills:
        taps = [*random.sample(WINDOWS, len(WINDOWS)), *random.sample(FURTHER, len(FURTHER))]
        for number, tap in enumerate(taps):
            places.append(tap if tap in ONCE else f'{tap}:{random.randint(1, 2)}')
            if number % 3 == 1:
                places.append(OUTSIDE)
            if number % 4 == 3:
                places.append(random.choice(IN_RECOVERY))
    return places[:kills]


def _kill(kills: int, folder: Path) -> None:
    print(f'ROBOT_AGENT_HARNESS_KILL_SEED={SEED}')
    script = folder / 'script.yaml'
    script.write_text(SCRIPT, encoding='utf-8')
    places = _schedule(Random(SEED), kills)
    lanes = [
        Lane(
            f'lane{number}',
            folder / f'journal{number}.db',
            script,
            Random(f'{SEED}/{number}'),
            places[number * kills // LANES : (number + 1) * kills // LANES],
        )
        for number in range(LANES)
    ]
    with ThreadPoolExecutor(LANES) as pool:
        done = list(pool.map(Lane.run, lanes))
    died = sum((lane.killed for lane in done), Counter())
    at_taps = sum(died.values()) - died[OUTSIDE]
    recoveries = sum(lane.recoveries for lane in done)
    print(f'{sum(died.values())} kills, {at_taps} of them at taps; {recoveries} recoveries')
    for place, count in sorted(died.items()):
        print(f'  {count:3} {place or "outside"}')
    assert sum(died.values()) == kills
    assert at_taps >= kills // 2, 'the places to die at are no longer come to'


@pytest.mark.timeout(300)
def test_killed_at_any_moment_nothing_is_lost_doubled_or_sent_again(tmp_path: Path) -> None:
    _kill(SHORT_KILLS, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_killed_at_any_of_two_hundred_moments_nothing_is_lost_doubled_or_sent_again(
    tmp_path: Path,
) -> None:
    _kill(LONG_KILLS, tmp_path)


# -- signals --------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('number', 'cancels', 'era'),
    [
        (signal.SIGTERM, True, '2026-07-28'),
        (signal.SIGINT, True, 'legacy'),
        (signal.SIGTERM, False, '2026-07-28'),
    ],
    ids=['sigterm', 'sigint', 'sigterm, goals are left alone'],
)
async def test_a_signal_with_an_action_open_ends_it_and_the_call_that_waits_as_interrupted(
    tmp_path: Path, number: int, cancels: bool, era: str
) -> None:
    namespace, journal = new_namespace(), tmp_path / 'j.db'
    with scripted_robot(namespace, domain_id=DOMAIN) as wire:
        node = Harness(namespace, journal, navigation__cancel_on_timeout=cancels)
        await at_rest(node.url, wire)
        async with client(node.url) as connected:
            answer = await call(connected, 'navigate_to_pose', x=2.0, y=0.0)
            action_id = answer['action_id']
        assert answer['status'] == 'accepted'
        wire.nav2.feedback(distance_remaining=1.0)
        waiting = subprocess.Popen(
            [sys.executable, '-c', WAITING_CLIENT, node.url, era, action_id],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with waiting:
            try:
                await until(lambda: _calls(journal, 'wait_for_action'), 'a waiting client')
                # The controller never answers a cancel: nothing may wait for that.
                code, took_s = await asyncio.to_thread(node.end, number)
                heard = await asyncio.to_thread(waiting.stdout.readline)
            finally:
                waiting.kill()
        answered = json.loads(heard)
        assert answered['status'] == 'interrupted'
        assert 'recorded' not in answered  # as the journal has it
        assert (code, 'Traceback' in node.said.text) == (0, False), node.said.text
        assert took_s < HALT_S
        told = outcome(journal, action_id)
        assert told is not None
        assert (told['state'], told['reason']) == ('UNKNOWN', 'interrupted')
        assert check_journal(journal, finished=True) == []
        if cancels:
            wire.nav2.wait_for(lambda: wire.nav2.cancel_requests, 'a cancel request')
        assert wire.nav2.cancel_requests == ([action_id] if cancels else [])


WAITING_CLIENT = """
import asyncio, json, sys
from mcp import Client

async def wait():
    url, era, action_id = sys.argv[1:]
    async with Client(url, mode=era) as client:
        told = await client.call_tool('wait_for_action', {'action_id': action_id, 'timeout_s': 60})
        print(json.dumps(told.structured_content), flush=True)

asyncio.run(wait())
"""


def _calls(journal: Path, name: str) -> bool:
    return any(e.payload['name'] == name for e in events(journal, type='TOOL_CALL_RECORDED'))


def test_a_signal_while_the_model_thinks_and_the_robot_drives_ends_both(tmp_path: Path) -> None:
    namespace, journal, script = new_namespace(), tmp_path / 'j.db', tmp_path / 's.yaml'
    script.write_text(THINKER, encoding='utf-8')
    with scripted_robot(namespace, domain_id=DOMAIN) as wire:
        wire.nav2.cancel_code = 0
        wire.robot.says.emergency_stop = False
        node = ForkedHarness(
            namespace, journal, model__provider='scripted', model__script_file=script
        )
        assert node.ready(), node.said.text
        missions = action_client(wire, RunMission, MISSIONS)
        until_there(missions, MISSION_MAX_S)
        missions.send_goal_async(RunMission.Goal(instruction='go', mission_id='m'))
        wire.nav2.wait_for(lambda: wire.nav2.sent, 'a goal')
        goal_id = wire.nav2.own_goal
        wire.robot.says.emergency_stop = True  # which the model has to be told of
        wire.robot.publish('emergency_stop')
        asyncio.run(
            until(lambda: len(events(journal, type='MODEL_TURN_STARTED')) == 2, 'a second turn')
        )
        code, took_s = node.end(signal.SIGTERM)
        assert (code, 'Traceback' in node.said.text) == (0, False), node.said.text
        assert took_s < HALT_S
        wire.nav2.wait_for(lambda: wire.nav2.cancel_requests, 'a cancel request')
        assert set(wire.nav2.cancel_requests) == {goal_id}
        by_spinner(wire, missions.destroy)
    told = outcome(journal, goal_id)
    assert told is not None
    assert told['state'] == 'UNKNOWN'
    assert check_journal(journal, finished=False) == []
    with JournalReader(journal) as reader:
        left = reader.open_work()
    # A mission that could not end in the time that is left is ended by the next start.
    assert (left.calls, left.actions) == ((), ())


THINKER = """
responses:
  - {call: {name: navigate_to_pose, arguments: {x: 1.0, y: 0.0}}, purpose: a, expected_outcome: b}
  - {say: Let me think., delay_s: 600}
"""
