# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot and harness as processes, as a user starts them, while a benchmark runs.

They have a ROS domain and a namespace of their own, so that no robot is met.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time
from types import MappingProxyType
from typing import Any

from mcp import Client
from million import make
import psutil
from rows import Say

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.journal import MissionJournal

DOMAIN = 85
NAMESPACE = f'/bench_{os.getpid()}'
START_S = 40.0
"""A busy machine takes long to import everything and to discover everybody."""
END_S = 6.0
POLL_S, SAID_POLL_S = 0.05, 0.005
HERE = Path(__file__).resolve().parent
ROBOT = str(HERE / 'robot.py')
"""Drives, as the simulated robot does."""
STREAMS = str(HERE / 'streams.py')
"""Stands, with topics at any rate and a goal that ends when it is told to."""
HARNESS = ('-m', 'robot_agent_harness.cli', 'run')


UNLIKE_A_ROBOT = ('PYTHONDONTWRITEBYTECODE',)


class Program:
    """A Python program in a process of its own, with its output in a file."""

    def __init__(self, *arguments: str, log: Path) -> None:
        self._log = log
        self._read = 0
        # A robot's modules are compiled: by its package manager, or when it was first started.
        kept = {key: value for key, value in os.environ.items() if key not in UNLIKE_A_ROBOT}
        with log.open('wb') as output:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={
                    **kept,
                    'ROS_DOMAIN_ID': str(DOMAIN),
                    'RCUTILS_COLORIZED_OUTPUT': '0',
                    'PYTHONUNBUFFERED': '1',
                },
            )
        self.usage = psutil.Process(self._process.pid)

    def says(self, pattern: str) -> re.Match[str]:
        """Wait for a line of its output."""
        return self._find(pattern, 0)

    def says_anew(self, pattern: str) -> re.Match[str]:
        """Wait for a line of its output after the last one that was found in this way."""
        found = self._find(pattern, self._read)
        self._read = found.end()
        return found

    def _find(self, pattern: str, start: int) -> re.Match[str]:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            ended = self._process.poll() is not None
            if found := re.compile(pattern).search(self._output(), start):
                return found
            if ended:
                break
            time.sleep(SAID_POLL_S)
        raise RuntimeError(f'{pattern!r} was never said in:\n{self._output()}')

    def tell(self, line: str) -> None:
        """Write a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f'{line}\n'.encode())
        self._process.stdin.flush()

    def cpu_s(self) -> float:
        """Return the CPU time that it has used, in seconds."""
        times = self.usage.cpu_times()
        return float(times.user + times.system)

    def rss_mb(self) -> float:
        """Return its resident memory, in MB."""
        return float(self.usage.memory_info().rss / 1e6)

    def end(self) -> None:
        """End it, politely first."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _output(self) -> str:
        return self._log.read_text(errors='replace')


@dataclass(frozen=True, slots=True)
class LiveHarness:
    """The running pair."""

    harness: Program
    robot: Program
    url: str
    journal: Path
    folder: Path
    """For files of the benchmark; gone at its end."""


@contextmanager
def live_harness(
    say: Say,
    *,
    robot: str = ROBOT,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    records: int = 0,
) -> Iterator[LiveHarness]:
    """Start a robot and a harness on it; both are gone when the context is left.

    The journal lies in the working directory: /tmp may be a file system that never syncs. It is
    there already, as on a robot that was started before.

    :param robot: the program, `ROBOT` or `STREAMS`.
    :param parameters: of the harness, beside the paths of this run.
    :param records: how many records its journal holds of earlier runs.
    """
    with tempfile.TemporaryDirectory(prefix='.bench-', dir=Path.cwd()) as name:
        folder = Path(name)
        say('starting the robot and the harness')
        driven = Program(robot, *ros_arguments({}), log=folder / 'robot.log')
        journal = folder / 'journal.db'
        asyncio.run(_make_journal(journal))
        if records:
            say(f'making a journal of {records:,} records')
            make(journal, records)
        settings = {
            'journal.path': journal,
            'journal.synchronous': 'full',
            'mcp.port': 0,
            **parameters,
        }
        harness = Program(*HARNESS, *ros_arguments(settings), log=folder / 'harness.log')
        try:
            driven.says('robot ready')
            url = harness.says(r'ready: MCP at (\S+), journal').group(1)
            say(f'harness ready at {url}')
            yield LiveHarness(harness, driven, url, journal, folder)
        finally:
            harness.end()
            driven.end()


async def _make_journal(path: Path) -> None:
    await MissionJournal.open(path, clock=SystemClock()).close()


def ros_arguments(parameters: Mapping[str, Any]) -> list[str]:
    """Return the arguments that put a node into the namespace and set its parameters."""
    settings = [f'{name}:={value}' for name, value in parameters.items()]
    pairs = [argument for setting in settings for argument in ('-p', setting)]
    return ['--ros-args', '-r', f'__ns:={NAMESPACE}', *pairs]


async def at_rest(client: Client) -> dict[str, Any]:
    """Look at the world until all of it is known and no goal is active; return it."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        answer = await client.call_tool('get_world_snapshot', {})
        assert answer.structured_content is not None
        world: dict[str, Any] = answer.structured_content['snapshot']
        navigation = world['navigation']
        heard = [world[name]['availability'] == 'available' for name in ('map_pose', 'motion')]
        idle = navigation['controller_reachable'] and not navigation.get('active_goals')
        if idle and all(heard) and world.get('active_action') is None:
            return world
        await asyncio.sleep(POLL_S)
    raise RuntimeError(f'the robot did not come to rest: {world}')
