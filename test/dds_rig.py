# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness node in a process of its own, opposite a scripted robot in the test's, over DDS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any, IO
import uuid

import anyio
from domains import own_domain
from forked import Forked, run_harness
from mcp import Client
from mcp.types import Implementation
from taps import arm

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.ros.scripted_nav2 import ScriptedNode
from robot_agent_harness.testing.bench import BenchRobot

DOMAIN = own_domain()
WAIT_S = 60.0
"""A busy machine takes long to start a process."""
READY = r'ready: MCP at (http://\S+/mcp), journal'
HALT_S = 5.0
"""How long a harness may take to end after a signal (CONTRACT)."""
KILLED = -signal.SIGKILL


def new_namespace() -> str:
    """Return a namespace that no other test uses."""
    return f'/dds_{uuid.uuid4().hex[:8]}'


class Lines:
    """What a process says, line by line."""

    def __init__(self, stream: IO[str]) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._reader.start()

    def wait_for(self, pattern: str, *, may_end: bool = False) -> re.Match[str] | None:
        """Wait for a line; None if the process may end without it, and has."""

        def found() -> re.Match[str] | None:
            return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

        with self._news:
            self._news.wait_for(lambda: found() or not self._reader.is_alive(), WAIT_S)
        match = found()
        ended = may_end and not self._reader.is_alive()
        assert match is not None or ended, f'{pattern!r} in {self.text}'
        return match

    @property
    def text(self) -> str:
        return '\n'.join(self.lines)

    def finish(self) -> None:
        self._reader.join(WAIT_S)

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                with self._news:
                    self.lines.append(line.rstrip())
                    self._news.notify_all()
        with self._news:
            self._news.notify_all()


def ros_arguments(namespace: str, parameters: Mapping[str, Any]) -> list[str]:
    arguments = ['--ros-args', '-r', f'__ns:={namespace}']
    for name, value in parameters.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += ['-p', f'{name}:={text}']
    return arguments


def _given(journal: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    given = {name.replace('__', '.'): value for name, value in parameters.items()}
    return {'journal.path': journal, 'mcp.port': 0, **given}


class Harness:
    """A running harness node: a fresh process, as `robot-agent-harness run` starts it."""

    def __init__(self, namespace: str, journal: Path, **parameters: Any) -> None:
        self.journal = journal
        given = _given(journal, parameters)
        self._process = subprocess.Popen(
            [
                sys.executable,
                '-m',
                'robot_agent_harness.cli',
                'run',
                *ros_arguments(namespace, given),
            ],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env={**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN), 'RCUTILS_COLORIZED_OUTPUT': '0'},
        )
        assert self._process.stderr is not None
        self.said = Lines(self._process.stderr)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        """Where MCP is served; waits until the node is ready."""
        match = self.said.wait_for(READY)
        assert match is not None
        return match.group(1)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; return the exit code and how many seconds the end took."""
        begun = time.monotonic()
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(WAIT_S)
        took_s = time.monotonic() - begun
        self.said.finish()
        return code, took_s


@contextmanager
def harness(namespace: str, journal: Path, **parameters: Any) -> Iterator[ForkedHarness]:
    """Run a harness; its end is part of every test: clean, in time and without a traceback."""
    running = ForkedHarness(namespace, journal, **parameters)
    try:
        yield running
    finally:
        code, took_s = running.end()
    assert (code, 'Traceback' in running.said.text) == (0, False), running.said.text
    assert took_s < HALT_S


class ForkedHarness:
    """A harness node in a process that is forked from one with the modules already imported.

    :param kill_at: `tap` or `tap:n`: the process kills itself when it comes to that tap the n-th
        time, see `Taps`.
    """

    def __init__(
        self, namespace: str, journal: Path, *, kill_at: str = '', **parameters: Any
    ) -> None:
        self.journal = journal
        self._process = Forked(
            run_harness,
            ros_arguments(namespace, _given(journal, parameters)),
            domain=DOMAIN,
            first=(arm, kill_at) if kill_at else None,
        )
        self.said = Lines(self._process.stderr)

    @property
    def url(self) -> str:
        """Where MCP is served; waits until the node is ready."""
        match = self.said.wait_for(READY)
        assert match is not None
        return match.group(1)

    def ready(self) -> bool:
        """Wait until it takes missions; False if it has ended before."""
        return self.said.wait_for(READY, may_end=True) is not None

    @property
    def pid(self) -> int:
        return self._process.pid

    def dies(self, within_s: float) -> bool:
        """Wait for its end for a while; return whether it came."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.poll() is not None

    def kill(self) -> None:
        self._process.kill()

    def ends(self, within_s: float = WAIT_S) -> int:
        """Wait for its end and return the exit code."""
        assert self.dies(within_s), f'it goes on: {self.said.text}'
        self.said.finish()
        return self._process.wait(0.0)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; return the exit code and how many seconds the end took."""
        begun = time.monotonic()
        self._process.send_signal(number)
        return self.ends(), time.monotonic() - begun


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    """Connect an MCP client that the harness has not met: no decision of another is its own."""
    name = f'test-{uuid.uuid4().hex[:8]}'
    async with Client(url, client_info=Implementation(name=name, version='1')) as connected:
        yield connected


async def call(connected: Client, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await connected.call_tool(name, arguments)
    structured = answer.structured_content
    assert structured is not None
    return dict(structured)


async def until(holds: Callable[[], Any], what: str = '', within_s: float = WAIT_S) -> Any:
    """Wait until something holds that nothing tells of, and return it."""
    deadline = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < deadline, f'not within {within_s} s: {what}'
        await asyncio.sleep(0.02)
    return found


async def at_rest(url: str, wire: ScriptedNode) -> None:
    """Bring the robot back to its start, idle and healthy, and wait until the harness sees it."""
    nav2, robot = wire.nav2, wire.robot
    nav2.set_reachable(True)
    nav2.accept_after_s, nav2.cancel_code = 0.05, None
    nav2.status(*((goal_id, 5) for goal_id, _ in nav2.sent[-1:]))
    robot.says, robot.edits = BenchRobot(), {}
    async with client(url) as observer:
        with anyio.fail_after(WAIT_S):
            while True:
                robot.publish_all()
                answer = await call(observer, 'get_world_snapshot')
                if _is_idle(answer['snapshot']):
                    return
                await asyncio.sleep(0.05)


def _is_idle(world: dict[str, Any]) -> bool:
    fields = ('map_pose', 'odometry', 'motion', 'battery', 'navigation')
    if any(world[name]['availability'] != 'available' for name in fields):
        return False
    pose, navigation = world['map_pose'], world['navigation']
    return bool(
        abs(pose['x_m']) + abs(pose['y_m']) + abs(pose['yaw_rad']) < 0.01
        and abs(world['odometry']['x_m']) < 0.01
        and world['safety'].get('emergency_stop') is not True
        and world['motion']['at_rest']
        and navigation['controller_reachable']
        and not navigation['active_goals']
        and world['battery']['fraction'] == 0.8
    )


def events(journal: Path, **which: Any) -> list[RecordedEvent]:
    with JournalReader(journal) as reader:
        return list(reader.events(**which))


def outcome(journal: Path, action_id: str) -> dict[str, Any] | None:
    """Return what is recorded of an action's end; None while there is nothing."""
    ended = events(journal, action_id=action_id, type='ROBOT_ACTION_OUTCOME')
    assert len(ended) <= 1
    return ended[0].payload if ended else None


class WriteAhead:
    """An independent witness on the controller's side: was each goal on record when it came in?"""

    def __init__(self, wire: ScriptedNode, journal: Path) -> None:
        self.missions: dict[str, str | None] = {}
        """The mission on record for each goal that came in."""
        self.unrecorded: list[str] = []
        self.repeated: list[str] = []
        self._journal = journal
        wire.nav2.on_goal = self._on_goal

    def _on_goal(self, goal_id: str) -> None:
        if goal_id in self.missions:
            self.repeated.append(goal_id)
        started = events(self._journal, action_id=goal_id, type='ROBOT_ACTION_STARTED')
        if len(started) != 1 or started[0].wall_time_ns > time.time_ns():
            self.unrecorded.append(goal_id)
        self.missions[goal_id] = started[0].mission_id if started else None
