# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo: its story in virtual time, its own checks against tampered evidence, and as a process.

The story runs on the whole core with the demo's own script, director and checks; only DDS is
missing there, which the process has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
import contextlib
from dataclasses import replace
import os
from pathlib import Path
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from typing import Any

from driving_robot import DrivingRobot
import psutil
import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.demo.checks import (
    CheckResult,
    Evidence,
    MISSION_ID,
    run_checks,
    TRIPS,
)
from robot_agent_harness.demo.director import Director, PUSH_M
from robot_agent_harness.demo.domain import Domain, DOMAINS, isolated
from robot_agent_harness.demo.observation import Observation, Sighting
from robot_agent_harness.demo.output import OutputFolder
from robot_agent_harness.demo.run import INSTRUCTION
from robot_agent_harness.demo.screen import Screen
from robot_agent_harness.demo.timeline import lines
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.scripted import ScriptedClient
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.places import read_places
from robot_agent_harness.testing.bench import Bench, BenchRobot
from robot_agent_harness.testing.virtual_time import run_virtual

PLACES = read_places(config_path('places.yaml'))
QUIET_S = 2.0
"""The demo shows progress at least this often."""
LADEN_S = 3.0
"""How much later than due a line may come on a laden machine."""


class _Faults:
    """What the simulated robot's parameters do, on the bench."""

    def __init__(self, robot: DrivingRobot) -> None:
        self.robot = robot
        self.calls: list[tuple[str, bool | float]] = []

    def set(self, fault: str, value: bool | float) -> None:
        self.calls.append((fault, value))
        if fault == 'push_x_m':
            self.robot.push(float(value))
        else:
            assert fault == 'false_success'
            self.robot.lying = bool(value)


async def _direct(bench: Bench, director: Director, path: Path, track: list[Sighting]) -> None:
    """Do what the demo does while the mission runs: read the journal, act, look at the robot."""
    seq = 0
    with JournalReader(path) as reader:
        while True:
            for event in reader.events(after_seq=seq):
                seq = event.seq
                director.before(event)
                director.after(event)
            x, y, _ = bench.robot.pose
            track.append(Sighting(bench.clock.wall_ns(), x, y))
            await asyncio.sleep(0.02)


async def _story(path: Path) -> tuple[Observation, list[tuple[str, bool | float]], str]:
    dock = PLACES['dock']
    start = BenchRobot(pose=(dock.x, dock.y, dock.yaw), odom=(dock.x, dock.y, dock.yaw))
    model = ScriptedClient.from_file(config_path('demo_mission.yaml'))
    async with Bench(path, model=model, robot=start) as bench:
        robot = DrivingRobot(bench)
        faults, track = _Faults(robot), list[Sighting]()
        director = Director(Screen(color=False), faults)
        tasks = [
            asyncio.create_task(robot.run()),
            asyncio.create_task(_direct(bench, director, path, track)),
        ]
        report = await bench.core.harness.run_mission(INSTRUCTION, MISSION_ID)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        observation = Observation(robot.first_seen_ns, robot.last_status, tuple(track))
        return observation, faults.calls, report.outcome.value


@pytest.fixture(scope='module')
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evidence, list[Any]]:
    path = tmp_path_factory.mktemp('demo') / 'journal.db'
    observation, faults, outcome = run_virtual(_story(path))
    return Evidence(path, observation, PLACES, outcome), faults


@pytest.fixture
def evidence(played: tuple[Evidence, list[Any]]) -> Evidence:
    whole = played[0]
    return Evidence(whole.journal, whole.observation, whole.places, whole.action_outcome)


def test_the_story_plays_and_every_check_of_the_demo_holds(
    played: tuple[Evidence, list[Any]],
) -> None:
    evidence, faults = played

    assert [result for result in run_checks(evidence) if not result.ok] == []
    assert faults == [('push_x_m', PUSH_M), ('false_success', True), ('false_success', False)]
    assert [trip.action.title for trip in evidence.trips] == [
        f'navigate_to_place {place}' for place in TRIPS
    ]
    assert [call.status for call in evidence.story.calls] == [
        'accepted',
        'precondition_changed',
        *['accepted'] * 4,
        'completed',
    ]


def _refusal_ns(evidence: Evidence) -> int:
    (refused,) = evidence.story.stopped
    assert refused.checked_at_s is not None
    return evidence.wall_ns(refused.checked_at_s)


def _moved(evidence: Evidence, x: float, since_ns: int = 0) -> Observation:
    track = [
        replace(seen, x=seen.x + x) if seen.wall_ns > since_ns else seen
        for seen in evidence.observation.track
    ]
    return replace(evidence.observation, track=tuple(track))


def _with_status(evidence: Evidence, trip: int, status: int) -> Observation:
    goal = evidence.story.actions[trip].action_id
    return replace(
        evidence.observation, last_status={**evidence.observation.last_status, goal: status}
    )


def _with_goal(evidence: Evidence, goal: str, seen_ns: int) -> Observation:
    first = {**evidence.observation.first_seen_ns, goal: seen_ns}
    return replace(evidence.observation, first_seen_ns=first)


def _without_goal(evidence: Evidence) -> Observation:
    first = dict(evidence.observation.first_seen_ns)
    del first[evidence.story.actions[1].action_id]
    return replace(evidence.observation, first_seen_ns=first)


@pytest.mark.parametrize(
    ('tamper', 'named'),
    [
        (lambda e: _with_goal(e, 'f' * 32, 0), 'the goals seen on the wire'),
        (_without_goal, 'the goals seen on the wire'),
        (lambda e: _with_goal(e, 'f' * 32, _refusal_ns(e) + 1), 'the refused decision sent no'),
        (lambda e: _moved(e, 0.2, _refusal_ns(e) + 10_000_000), 'the refused decision sent no'),
        (lambda e: _moved(e, 0.2, _refusal_ns(e) - 10**8), 'the robot really had been moved'),
        (lambda e: _moved(e, 1.0), 'the robot really was wherever SUCCEEDED says'),
        (lambda e: _with_status(e, 0, 6), 'the robot really was wherever SUCCEEDED says'),
        (lambda e: _with_status(e, 2, 6), 'the false success really was reported'),
        (lambda e: replace(e.observation, track=()), 'the false success really was reported'),
        (lambda e: replace(e.observation, track=()), 'the robot really was wherever'),
    ],
)
def test_what_the_journal_claims_and_the_wire_denies_is_named(
    evidence: Evidence, tamper: Callable[[Evidence], Observation], named: str
) -> None:
    evidence.observation = tamper(evidence)

    failed = [result for result in run_checks(evidence) if not result.ok]

    assert any(result.name.startswith(named) and result.detail for result in failed), failed


def test_a_robot_that_the_harness_misjudged_is_found_out(evidence: Evidence) -> None:
    """The false success, had the harness believed it."""
    evidence.story.actions[2].state = 'SUCCEEDED'
    evidence.story.actions[2].reason = 'verified'

    failed = {result.name for result in run_checks(evidence) if not result.ok}

    assert failed == {
        'every trip ended as the story has it',
        'the robot really was wherever SUCCEEDED says',
        'the false success really was reported, and really was false',
    }


def test_an_altered_journal_is_found_out(evidence: Evidence, tmp_path: Path) -> None:
    copy = tmp_path / 'journal.db'
    shutil.copyfile(evidence.journal, copy)
    with contextlib.closing(sqlite3.connect(copy)) as database, database:
        (trigger,) = database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'events_refuse_update'"
        ).fetchone()
        database.execute('DROP TRIGGER events_refuse_update')
        database.execute("UPDATE events SET payload = replace(payload, 'begin', 'end')")
        database.execute(trigger)

    failed = _failed(Evidence(copy, evidence.observation, PLACES, 'achieved'))

    assert failed == ['the journal is whole and keeps every invariant']


def test_a_mission_that_ros_tells_otherwise_is_found_out(evidence: Evidence) -> None:
    evidence.action_outcome = 'unknown'

    assert _failed(evidence) == ['the mission is achieved, by the journal and by its ROS action']


def test_a_journal_without_the_story_fails_every_check_without_a_crash(tmp_path: Path) -> None:
    async def nothing() -> None:
        async with Bench(tmp_path / 'journal.db'):
            pass

    run_virtual(nothing())
    results = run_checks(Evidence(tmp_path / 'journal.db', Observation({}, {}, ()), PLACES, None))

    assert isinstance(results[0], CheckResult)
    assert len([result for result in results if not result.ok]) >= 5


def _failed(evidence: Evidence) -> list[str]:
    return [result.name for result in run_checks(evidence) if not result.ok]


@pytest.fixture(scope='module')
def events(played: tuple[Evidence, list[Any]]) -> list[RecordedEvent]:
    with JournalReader(played[0].journal) as reader:
        return list(reader.events())


def test_the_timeline_says_in_words_who_did_what(events: list[RecordedEvent]) -> None:
    told = [f'{who}: {what}' for event in events for who, what, _ in lines(event)]

    for line in (
        f'you: “{INSTRUCTION}”',
        'model: says “The kitchen is the first stop of the round.”',
        'model: calls navigate_to_place(name=dock) and expects: the robot stands at the dock',
        'harness: writes the goal (1.80, 6.30) to the journal on disk, and only then sends it',
        'controller: accepts the goal',
        'controller: says SUCCEEDED. The harness looks for itself',
        'check: NOT what the model saw. Moved since the decision: 0.8 m, at most 0.5 m',
        'harness: answers precondition_changed: nothing was sent to the robot',
        'outcome: FAILED: verification disproved',
        'outcome: SUCCEEDED: verified',
        'outcome: mission achieved; the model claims achieved: verified outcomes support it',
    ):
        assert line in told
    assert any(re.fullmatch(r'controller: drives, \d\.\d m to go', line) for line in told)


@pytest.mark.parametrize('value', [None, 7, 'text', [], [None], {}, {'x': 1}])
def test_the_timeline_survives_payloads_of_any_shape(
    events: list[RecordedEvent], value: Any
) -> None:
    for event in events:
        list(lines(replace(event, payload={key: value for key in event.payload})))
        list(lines(replace(event, payload={})))


def test_output_is_plain_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()

    screen.say('model', 'a\x1b[31mred\x1b[0m\r\nb' + ' long' * 50, 'bold red')
    screen.table(('a',), [[('b', 'red')]])

    told = capsys.readouterr().out
    assert '\x1b' not in told
    assert told.splitlines()[0].endswith('a\\x1b[31mred\\x1b[0m\\x0d b' + ' long' * 50)


def test_a_domain_in_use_is_not_taken_and_one_taken_is_held() -> None:
    with contextlib.closing(Domain()) as first:
        others = set(DOMAINS) - {first.number}
        with pytest.raises(ConfigurationError, match='no ROS domain is free'):
            Domain(avoid=others)
        assert first.number in DOMAINS
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as participant:
        participant.bind(('', 7400 + 250 * first.number + 10))
        with pytest.raises(ConfigurationError, match='no ROS domain is free'):
            Domain(avoid=others)


def test_nothing_in_the_users_environment_leads_off_the_machine() -> None:
    users = {
        'PATH': '/bin',
        'ROS_DOMAIN_ID': '7',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
        'ROS_STATIC_PEERS': '10.0.0.7',
        'ROS_DISCOVERY_SERVER': '10.0.0.8:11811',
        'ROS_LOCALHOST_ONLY': '0',
    }

    assert isolated(users, 42) == {
        'PATH': '/bin',
        'ROS_DOMAIN_ID': '42',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    humble = isolated({**users, 'ROS_DISTRO': 'humble'}, 42)
    assert humble['ROS_LOCALHOST_ONLY'] == '1'


def test_an_earlier_run_is_kept_and_other_files_are_left_alone(tmp_path: Path) -> None:
    output = tmp_path / 'output'
    for run in ('first', 'second', 'third'):
        with contextlib.closing(OutputFolder(output)) as folder:
            assert (folder.kept is None) == (run == 'first')
            assert not folder.journal.exists()
            folder.journal.write_text(run)
            folder.report.write_text(run)
            (output / 'notes.txt').write_text('mine')
            with pytest.raises(ConfigurationError, match='another demo is using this folder'):
                OutputFolder(output)

    assert (output / 'journal.db').read_text() == 'third'
    assert (output / 'notes.txt').read_text() == 'mine'
    kept = {path.read_text() for path in (output / 'earlier').glob('*/journal.db')}
    assert kept == {'first', 'second'}


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        (['--output', __file__], f'{__file__} is a file, and the demo writes a folder of files'),
        (['--output', '/proc/nowhere'], '--output'),
        (['--time-scale', '99'], '--time-scale'),
        (['--time-scale', 'nan'], '--time-scale'),
        (['--time-scale', 'fast'], '--time-scale'),
    ],
)
def test_misuse_is_named_with_exit_code_2(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    try:
        code = main(['demo', *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)

    assert code == 2
    assert named in capsys.readouterr().err.splitlines()[-1]


# -- as a process ---------------------------------------------------------------------------------


class _Process:
    """`robot-agent-harness demo` with its output as it comes."""

    def __init__(self, output: Path, *arguments: str) -> None:
        pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
        command = [sys.executable, '-m', 'robot_agent_harness.cli', 'demo']
        self.process = subprocess.Popen(
            [*command, '--output', str(output), '--time-scale', '10', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
            start_new_session=True,
        )
        self.lines: list[str] = []
        self.silence_s = 0.0
        """The longest time without a line, from the first one on."""
        self._last: float | None = None

    def until(self, told: str) -> None:
        """Read until a line says something."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            now = time.monotonic()
            if self._last is not None:
                self.silence_s = max(self.silence_s, now - self._last)
            self._last = now
            self.lines.append(line.rstrip('\n'))
            if told and told in line:
                return
        assert not told, f'{told!r} was never said:\n{self.text}'

    def end(self, within_s: float = 60.0) -> int:
        """Read to the end and return the exit code."""
        self.until('')
        return self.process.wait(within_s)

    @property
    def text(self) -> str:
        return '\n'.join(self.lines)

    @property
    def nodes(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., _Process]]:
    started: list[_Process] = []

    def begin(*arguments: str) -> _Process:
        started.append(_Process(tmp_path / 'output', *arguments))
        return started[-1]

    yield begin
    for demo in started:
        if demo.process.poll() is None:
            demo.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                demo.process.wait(10.0)
            demo.process.kill()
        if demo.process.stdout is not None:
            demo.process.stdout.close()


def _gone(nodes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(nodes, timeout=1.0)
    return not alive


def test_the_demo_runs_shows_and_checks_everything(
    start: Callable[..., _Process], tmp_path: Path
) -> None:
    began = time.monotonic()
    demo = start()
    demo.until('drives')
    nodes = demo.nodes
    assert len(nodes) == 2

    code = demo.end()

    assert code == 0, demo.text
    assert time.monotonic() - began < 60.0
    assert demo.silence_s < QUIET_S + LADEN_S
    assert _gone(nodes)
    assert '\x1b' not in demo.text
    assert 'All 9 checks hold.' in demo.lines
    assert '✗' not in demo.text
    for told in ('── 2. The world changes', 'breaks the controller', 'verification disproved'):
        assert told in demo.text
    output = tmp_path / 'output'
    names = {path.name for path in output.iterdir()}
    assert {'journal.db', 'report.html', 'sim_robot.log', 'harness.log'} <= names
    assert 'False success caught' in (output / 'report.html').read_text()
    with JournalReader(output / 'journal.db') as reader:
        assert len(list(reader.events(type=EventType.ROBOT_ACTION_STARTED))) == len(TRIPS)


def test_a_node_that_dies_ends_the_demo_with_its_name_and_its_log(
    start: Callable[..., _Process],
) -> None:
    demo = start()
    demo.until('drives')
    sim, harness = sorted(demo.nodes, key=lambda node: 'sim-robot' not in node.cmdline())
    harness.kill()

    code = demo.end(15.0)

    assert code == 1
    assert 'cannot go on: the harness was ended by SIGKILL' in demo.text
    assert re.search(r'The end of .*harness\.log:\n.*MCP server at', demo.text)
    assert 'Traceback' not in demo.text
    assert _gone([sim, harness])


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_both_nodes_and_leaves_no_traceback(
    start: Callable[..., _Process], number: signal.Signals
) -> None:
    demo = start()
    demo.until('asks it')
    nodes = demo.nodes
    asked = time.monotonic()
    demo.process.send_signal(number)

    code = demo.end(15.0)

    assert code == 128 + number
    assert time.monotonic() - asked < 6.0
    assert 'Traceback' not in demo.text
    assert demo.lines[-1] == 'stopped; nothing is left running'
    assert _gone(nodes)
