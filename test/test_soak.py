# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""An hour of missions with faults and eight clients: nothing is missed, and nothing grows.

The hour is virtual: the robot, the controller and the faults are those of the campaign
(`robot_agent_harness/testing/campaign`), the clients are the MCP SDK's own in both eras, connected
in memory to the server that a node has. The short version runs a minute and a half of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
import contextlib
from dataclasses import dataclass, field, replace
import gc
import logging
import math
import os
from pathlib import Path
import random
import threading
from typing import Any

import anyio
from mcp import Client
from mcp_rig import ERAS
import psutil
import pytest

from robot_agent_harness.assembly import Core
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.events import EventType
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.llm.scripted import ScriptedClient
from robot_agent_harness.mcp_server import McpServer, McpSettings
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.testing.campaign.faults import draw_faults, Fault
from robot_agent_harness.testing.campaign.ledger import Ledger
from robot_agent_harness.testing.campaign.mission import CampaignMission, PARAMETERS
from robot_agent_harness.testing.campaign.plan import Plan, Step
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.virtual_time import run_virtual

BENCH = Path(__file__).parents[1] / 'bench'
CLIENTS = 8
HOUR_S, SHORT_S = 3600.0, 90.0
QUIET_S = 20.0
"""The last seconds have no new faults, so that all that is under way can end."""
FAULTS_EVERY_S = 25.0
LONGEST_FAULT_S = 8.0
LOOKS = 12
"""How often it is looked at what the process holds."""
FLAT, FILLED = 1.1, 2
"""How much more it may hold at the end than at the second look: by then all is filled that is
kept."""
MISSION_PAUSE_S = 5.0
PASSING = 3
"""Files that may be open for a moment: who locks the journal, a reader of its history."""
POOL = min(32, (os.cpu_count() or 1) + 4)
"""Threads that read for the node: the pool of :mod:`concurrent.futures` starts one of them when
more are wanted at once than there are, which may first be after any number of calls."""
ANSWERS = {
    'accepted',
    'completed',
    'rejected',
    'precondition_changed',
    'controller_unavailable',
    'acceptance_unknown',
    'journal_unavailable',
    'invalid_arguments',
    'unknown_action',
    'interrupted',
}


@dataclass(slots=True)
class Tally:
    """What the clients did and were told."""

    calls: int = 0
    given_up: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    missions: Counter[str] = field(default_factory=Counter)
    accepted: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds at a moment."""

    rss_mb: float
    objects: int
    descriptors: int
    threads: int


class Forgetful(Ledger):
    """A ledger without the oracle's memory, which grows all the while: nobody is judged here."""

    def __init__(self) -> None:
        super().__init__()
        forgotten: Any = deque(maxlen=1)
        self.truth = self.wire = forgotten

    def deliver(self, *_: Any) -> None:
        """Note nothing."""


class Soak(CampaignMission):
    """One life of the harness, with clients that come and stay."""

    def __init__(self, seed: int, seconds: float, folder: Path) -> None:
        chance = random.Random(seed)
        habits = replace(Habits.draw(chance), battery=True, emergency_stop=True)
        plan = Plan(seed, habits, tuple(_faults(chance, seconds)), (Step(0.0, 'look'),))
        super().__init__(plan, folder, check_parameters(PARAMETERS))
        self.ledger = Forgetful()
        self.tally = Tally()
        self.held: list[Held] = []
        self._newest = '0' * 32
        self._seconds = seconds
        self._chance = chance

    def _model(self) -> ModelClient:
        """Return a model that goes home again and again, and keeps nothing."""
        home = {'x': 0.0, 'y': 0.0, 'yaw': 0.0, 'purpose': 'go home', 'expected_outcome': 'home'}
        done = {'outcome': 'achieved', 'reason': 'home'}
        there = {'call': {'name': 'finish_mission', 'arguments': done}, 'repeat': True}
        go = {'call': {'name': 'navigate_to_pose', 'arguments': home}, 'repeat': True}
        script = [{'when': {'last_outcome': 'SUCCEEDED'}, **there}, go]
        return ScriptedClient.from_dict({'responses': script})

    async def _play(self) -> None:
        assert self._core is not None
        core = self._core
        server = McpServer(
            core=core,
            settings=McpSettings(port=0),
            mission_id=lambda: core.harness.mission_id,
            redactor=shared_redactor(),
        )
        until = self._now + self._seconds
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    Client(server._server, mode=ERAS[number % 2], read_timeout_seconds=300.0)
                )
                for number in range(CLIENTS)
            ]
            looking = asyncio.create_task(self._look())
            async with anyio.create_task_group() as group:
                group.start_soon(self._missions, core, until)
                for client in clients:
                    chance = random.Random(self._chance.random())
                    group.start_soon(self._behave, client, chance, until)
            looking.cancel()
        await self._idle()

    async def _missions(self, core: Core, until: float) -> None:
        """Run one mission after the other until the time is up."""
        while self._now < until:
            try:
                report = await core.harness.run_mission('go home')
                self.tally.missions[report.outcome.value] += 1
            except JournalUnavailableError:
                self.tally.missions['not begun'] += 1  # the disk is one of the faults
            await asyncio.sleep(MISSION_PAUSE_S)

    async def _look(self) -> None:
        process = psutil.Process()
        while True:
            await asyncio.sleep(self._seconds / (LOOKS + 1))
            gc.collect()
            self.held.append(
                Held(
                    process.memory_info().rss / 1e6,
                    len(gc.get_objects()),
                    process.num_fds(),
                    threading.active_count(),
                )
            )

    async def _behave(self, client: Client, chance: random.Random, until: float) -> None:
        """Do what clients do, in any order, until the time is up."""
        while self._now < until:
            await asyncio.sleep(chance.uniform(0.2, 4.0))
            what = chance.choice(
                ('go', 'go', 'go', 'wait', 'wait', 'get', 'look', 'cancel', 'nonsense', 'leave')
            )
            where = {axis: round(chance.uniform(-3.0, 3.0), 2) for axis in ('x', 'y', 'yaw')}
            asked = {'action_id': self._newest if chance.random() < 0.9 else '0' * 32}
            if what == 'leave':
                await self._give_up(client, asked, chance.uniform(0.0, 2.0))
                continue
            told = await self._ask(
                client,
                *{
                    'go': ('navigate_to_pose', where),
                    'wait': ('wait_for_action', {**asked, 'timeout_s': 30.0}),
                    'get': ('get_action', asked),
                    'look': ('get_world_snapshot', {}),
                    'cancel': ('cancel_action', asked),
                    'nonsense': ('navigate_to_pose', {'x': 'there', 'yow': 0}),
                }[what],
            )
            if what == 'go' and told['status'] == 'accepted':
                self._newest = told['action_id']
                self.tally.accepted.add(self._newest)

    async def _ask(self, client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.tally.calls += 1
        told = (await client.call_tool(name, arguments)).structured_content
        assert told is not None
        self.tally.answers[told['status']] += 1
        return told

    async def _give_up(self, client: Client, asked: dict[str, Any], after_s: float) -> None:
        with anyio.move_on_after(after_s):
            await self._ask(client, 'wait_for_action', asked)
            return
        self.tally.given_up += 1


def _faults(chance: random.Random, seconds: float) -> list[Fault]:
    """Draw faults for all of the time, none of them for good."""
    faults = []
    begin = QUIET_S / 2
    while begin < seconds - QUIET_S:
        for drawn in draw_faults(chance):
            start = begin + chance.uniform(0.0, FAULTS_EVERY_S)
            end = start + min(drawn.end_s - drawn.start_s, LONGEST_FAULT_S)
            value = LONGEST_FAULT_S if math.isinf(drawn.value) else drawn.value
            faults.append(Fault(drawn.kind, start, end, value))
        begin += FAULTS_EVERY_S
    return faults


@pytest.mark.parametrize(
    ('seconds', 'seed'),
    [
        (SHORT_S, 1),
        pytest.param(HOUR_S, None, marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_eight_clients_and_faults_leave_no_action_without_its_outcome_and_nothing_grows(
    tmp_path: Path, seconds: float, seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = random.randrange(2**32) if seed is None else seed
    print(f'seed {seed}')
    monkeypatch.setattr(logging.root.manager, 'disable', logging.CRITICAL)  # faults are the point
    soak = Soak(seed, seconds, tmp_path)
    run_virtual(soak.run())
    tally = soak.tally
    print(f'{tally.calls} calls, {dict(tally.answers)}, missions {dict(tally.missions)}')
    print(f'{soak.held[FILLED - 1]} {soak.held[-1]}')

    assert check_journal(soak.journal) == []
    with JournalReader(soak.journal) as reader:
        events = Counter(event.type for event in reader.events())
        ended = {outcome.action_id for outcome in reader.events(type='ROBOT_ACTION_OUTCOME')}
    assert soak.tally.accepted <= ended
    assert {goal.goal_id for goal in soak.ledger.sent} <= ended
    assert events[EventType.ROBOT_ACTION_STARTED] == events[EventType.ROBOT_ACTION_OUTCOME]
    assert events[EventType.TOOL_CALL_RECORDED] == events[EventType.TOOL_RESULT_RECORDED]
    assert events[EventType.MISSION_STARTED] == events[EventType.MISSION_ENDED]
    assert events[EventType.MODEL_TURN_STARTED] == events[EventType.MODEL_RESPONSE_RECORDED]
    assert soak.tally.missions['achieved'] > 0
    assert set(soak.tally.answers) <= ANSWERS
    assert soak.tally.accepted

    early, late = soak.held[FILLED - 1], soak.held[-1]
    assert late.descriptors <= early.descriptors + PASSING
    assert late.threads <= early.threads
    if seconds == HOUR_S:
        assert late.objects <= FLAT * early.objects
        assert late.rss_mb <= FLAT * early.rss_mb


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_node_holds_no_more_after_100000_tool_calls_than_after_the_first_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.chdir(tmp_path)  # where the journal is written
    import bench_memory

    memory = bench_memory.measure(100_000, print)
    first, last = memory.first, memory.last
    print(first, last, f'bare {memory.bare:.1f} MB', f'{memory.managed} managed')
    assert memory.managed > 0
    assert last.rss_mb <= FLAT * first.rss_mb
    assert last.descriptors <= first.descriptors + PASSING
    assert last.threads <= first.threads + POOL
