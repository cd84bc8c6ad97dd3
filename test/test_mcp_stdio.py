# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""MCP over standard input and output, as desktop clients start it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
import signal
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import JSONRPCError
from mcp_rig import BOUND_S, ERAS
import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.mcp_server.stdio import AnsweredLines, refusal, StdinLines

pytestmark = pytest.mark.anyio
PROGRAM = [sys.executable, str(Path(__file__).with_name('mcp_rig.py'))]


@pytest.mark.parametrize('era', ERAS)
async def test_a_client_that_starts_the_server_drives_it(tmp_path: Path, era: str) -> None:
    program = StdioServerParameters(
        command=PROGRAM[0], args=[PROGRAM[1], str(tmp_path)], env=dict(os.environ)
    )
    async with Client(program, mode=era, read_timeout_seconds=60.0) as client:
        seen = (await client.call_tool('get_world_snapshot', {})).structured_content
        sent = await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': 0.0})
        assert sent.structured_content['status'] == 'accepted'
        assert (await client.read_resource('robot://world/latest')).contents
    with JournalReader(tmp_path / 'journal.db') as reader:
        _, call = reader.events(type='TOOL_CALL_RECORDED')
    assert call.payload['decision_snapshot_id'] == seen['snapshot_id']
    assert call.payload['client']['transport'] == 'stdio'


async def test_the_program_ends_though_its_client_keeps_the_pipe_open(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        str(tmp_path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
            b'"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n'
            b'this is no JSON\n'
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
            b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"_crash"}}\n'
        )
        with anyio.fail_after(60.0):
            answers = [await process.stdout.readline() for _ in range(3)]
        answers.sort(key=lambda line: line[:40])
        assert answers[0].startswith(b'{"jsonrpc":"2.0","id":1,"result":')
        assert answers[1].startswith(b'{"jsonrpc":"2.0","id":2,"result":')
        assert answers[2].startswith(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,')
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(5.0):
            rest, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        # What the program itself prints must not get between the messages, nor after them.
        assert rest == b''
        assert b'a stray line' in errors
        assert b'a line of standard input is refused: Parse error' in errors
    finally:
        if process.returncode is None:
            process.kill()


class Pipe:
    """Lines that come through a pipe."""

    def __init__(self, max_line_bytes: int = 1000) -> None:
        self.read_end, self.write_end = os.pipe()
        self.lines = StdinLines(max_line_bytes=max_line_bytes, fd=self.read_end)
        self.lines.start()

    async def all(self) -> list[str]:
        os.close(self.write_end)
        with anyio.fail_after(BOUND_S):
            return [line async for line in self.lines]


async def test_lines_come_whole_whatever_the_pieces() -> None:
    pipe = Pipe()
    for piece in (b'on', b'e\ntw', b'o\n\nth', 'r\u00fcb'.encode()[:2], 'r\u00fcb'.encode()[2:]):
        os.write(pipe.write_end, piece)
    assert await pipe.all() == ['one', 'two', '', 'thr\u00fcb']


async def test_a_line_without_end_is_refused_and_what_follows_is_read() -> None:
    pipe = Pipe(max_line_bytes=1000)

    def write() -> None:
        os.write(pipe.write_end, b'{"a":"')
        for _ in range(100):
            os.write(pipe.write_end, b'x' * 1000)
        os.write(pipe.write_end, b'"}\nnext\n')

    await asyncio.to_thread(write)
    first, second = await pipe.all()
    assert first.startswith('!')
    assert len(first) < 1010
    assert second == 'next'


@pytest.mark.parametrize(
    ('line', 'code', 'answered'),
    [
        ('not json', -32700, None),
        ('{"jsonrpc":"2.0","id":1,', -32700, None),
        ('[' * 100_000, -32700, None),
        # Half a character, in JSON's own words; whoever sent it waits under its id.
        (r'{"jsonrpc":"2.0","id":20,"method":"ping","params":{"a":"\ud800"}}', -32700, 20),
        (r'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}', -32700, None),
        ('{"jsonrpc":"2.0","id":26.5,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":33}', -32600, 33),
        ('{"jsonrpc":"1.0","id":35,"method":"ping"}', -32600, 35),
        ('{"id":"a","method":"ping"}', -32600, 'a'),
        ('{"jsonrpc":"2.0","id":37,"method":"ping","params":5}', -32600, 37),
        ('[{"jsonrpc":"2.0","id":34,"method":"ping"}]', -32600, None),
        ('5', -32600, None),
        ('null', -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered_under_its_id_where_it_has_one(
    line: str, code: int, answered: int | str | None
) -> None:
    refused = refusal(line)
    assert refused is not None
    assert (refused.error.code, refused.id) == (code, answered)
    assert f'"id":{json.dumps(answered)}' in refused.model_dump_json(exclude_unset=True)


@pytest.mark.parametrize(
    'line',
    [
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"x"}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
    ],
)
def test_a_line_that_is_a_message_is_passed_on(line: str) -> None:
    assert refusal(line) is None


async def test_messages_before_and_after_a_refused_line_come_through_and_empty_lines_do_not_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    read_end, write_end = os.pipe()
    ping = '{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    lines = [ping % 1, 'a secret that is no JSON', '', ' \r', ping % 2]
    os.write(write_end, '\n'.join(lines).encode())
    os.close(write_end)
    refused: list[JSONRPCError] = []

    async def answer(error: JSONRPCError) -> None:
        refused.append(error)

    messages = AnsweredLines(StdinLines(max_line_bytes=1000, fd=read_end))
    messages.start(answer)
    with anyio.fail_after(BOUND_S):
        assert [line async for line in messages] == [ping % 1, ping % 2]
    assert [error.error.code for error in refused] == [-32700]
    assert 'is refused: Parse error' in caplog.text
    assert 'secret' not in caplog.text
