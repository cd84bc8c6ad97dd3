# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`run --mcp-stdio`: the node as a program that a desktop client starts."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from pathlib import Path
import signal
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
    with subprocess.Popen(
        command(tmp_path / 'j.db'),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        asked = {'jsonrpc': '2.0', 'method': 'initialize', 'params': HELLO, 'id': 0}
        lines = json.dumps(asked).encode() + b'\n'
        lines += b''.join(
            json.dumps({'jsonrpc': '2.0', 'id': number, 'method': 'tools/list'}).encode() + b'\n'
            for number in range(1, 400)
        )
        process.stdin.write(lines)
        process.stdin.flush()
        deadline = time.monotonic() + WAIT_S
        while _unread(process) < PIPE_NEARLY_FULL:
            assert time.monotonic() < deadline, 'it does not answer'
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(WAIT_S) == 0
            assert time.monotonic() - began < 5.0
        finally:
            process.kill()


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
