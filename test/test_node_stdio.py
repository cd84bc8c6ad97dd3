# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`run --mcp-stdio`: the node as a program that a desktop client starts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
import fcntl
import json
import os
from pathlib import Path
import signal
import sqlite3
import subprocess
import sys
import termios
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from mcp import Client, StdioServerParameters
from node_rig import DOMAIN, NAMESPACE, WAIT_S

from robot_agent_harness.journal import JournalReader

pytestmark = pytest.mark.anyio


def command(journal: Path, *arguments: str) -> list[str]:
    node = [sys.executable, '-m', 'robot_agent_harness.cli', 'run', '--mcp-stdio', '--ros-args']
    return [*node, '-r', f'__ns:={NAMESPACE}', '-p', f'journal.path:={journal}', *arguments]


def environment() -> dict[str, str]:
    # A robot's shell may have this set; here it would ruin the protocol.
    return {**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN), 'RCUTILS_LOGGING_USE_STDOUT': '1'}


async def test_the_node_serves_the_client_that_started_it(tmp_path: Path) -> None:
    program, *arguments = command(tmp_path / 'j.db')
    server = StdioServerParameters(command=program, args=arguments, env=environment())
    async with Client(server, read_timeout_seconds=WAIT_S) as client:
        told = (await client.call_tool('get_world_snapshot', {})).structured_content
        refused = await client.call_tool('navigate_to_pose', {'x': 1.0, 'y': 0.0})
    assert told is not None
    assert told['snapshot']['map_pose']['availability'] == 'missing'
    assert refused.structured_content['status'] == 'controller_unavailable'
    with JournalReader(tmp_path / 'j.db') as reader:
        assert len(list(reader.events(type='TOOL_RESULT_RECORDED'))) == 2


async def test_it_ends_with_its_client_and_logs_on_standard_error_only(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *command(tmp_path / 'j.db', '--log-level', 'debug'),
        env=environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(b''), WAIT_S)
    assert (process.returncode, out) == (0, b'')
    assert b'ready: MCP over HTTP not served' in err
    assert b'Traceback' not in err


def test_a_client_that_stopped_reading_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with _deaf_client(tmp_path / 'j.db', environment()) as process:
        _ends_in_time(process)


def test_the_end_comes_in_time_though_everything_holds_it_up_at_once(tmp_path: Path) -> None:
    """The client does not read, a skill resists its cancellation, one sits in a thread, and the
    disk does not take what the end records.
    """
    package = tmp_path / 'python'
    metadata = package / 'stubborn-0.1.0.dist-info'
    metadata.mkdir(parents=True)
    (package / 'stubborn.py').write_text(STUBBORN)
    (metadata / 'METADATA').write_text('Name: stubborn\nVersion: 0.1.0\n')
    entry = '[robot_agent_harness.skills]\nstubborn = stubborn:SKILLS\n'
    (metadata / 'entry_points.txt').write_text(entry)
    found = {**environment(), 'PYTHONPATH': f'{package}:{os.environ.get("PYTHONPATH", "")}'}
    journal = tmp_path / 'j.db'
    with _deaf_client(journal, found, 'resists', 'sits_in_a_thread') as process:
        with JournalReader(journal) as reader:
            called = {e.payload['name'] for e in reader.events(type='TOOL_CALL_RECORDED')}
        assert called == {'resists', 'sits_in_a_thread'}
        other = sqlite3.connect(journal, isolation_level=None)
        other.execute('BEGIN IMMEDIATE')
        try:
            _ends_in_time(process)
        finally:
            other.close()


@contextlib.contextmanager
def _deaf_client(
    journal: Path, found: dict[str, str], *called: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a node, call tools of it, and ask it for more than its client reads."""
    with subprocess.Popen(
        command(journal),
        env=found,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        asked = [
            {'method': 'initialize', 'params': HELLO},
            *({'method': 'tools/call', 'params': {'name': name}} for name in called),
            *({'method': 'tools/list'} for _ in range(400)),
        ]
        for number, one in enumerate(asked):
            process.stdin.write(json.dumps({'jsonrpc': '2.0', 'id': number, **one}).encode())
            process.stdin.write(b'\n')
        process.stdin.flush()
        deadline = time.monotonic() + WAIT_S
        try:
            while _unread(process) < PIPE_NEARLY_FULL:
                assert time.monotonic() < deadline, 'it does not answer'
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def _ends_in_time(process: subprocess.Popen[bytes]) -> None:
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT_S) == 0
    assert time.monotonic() - began < 5.0


def _unread(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return int.from_bytes(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)


PIPE_NEARLY_FULL = 50_000
"""Of 65536 bytes."""
HELLO = {
    'protocolVersion': '2025-06-18',
    'capabilities': {},
    'clientInfo': {'name': 'deaf', 'version': '1'},
}
STUBBORN = """
import asyncio
import time

from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext


@skill(output=CallOutput, title='Resists', read_only=True)
async def resists(context: SkillContext) -> ToolResult:
    'Resist cancellation.'
    while True:
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            pass


@skill(output=CallOutput, title='Sits in a thread', read_only=False)
async def sits_in_a_thread(context: SkillContext) -> ToolResult:
    'Wait in a thread of the pool.'
    await asyncio.to_thread(time.sleep, 60)
    return ToolResult(ResultStatus.COMPLETED, 'done')


SKILLS = [resists, sits_in_a_thread]
"""
