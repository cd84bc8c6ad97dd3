# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is sent, the server stays up, each well-formed call gets one result, memory is flat."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
import contextlib
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import random
import signal
import sys
from typing import Any

import anyio
from mcp_fuzz import Case, Fuzz, INFO
from mcp_rig import ERAS
import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.testing.journal_assertions import assert_journal

pytestmark = pytest.mark.anyio
PROGRAM = [sys.executable, str(Path(__file__).with_name('mcp_program.py'))]
ANSWER_S = 20.0
"""How long an answer may take: the machine is shared, and some requests are large."""
WORKERS = 8
"""Connections at once."""
GROWTH = 1.25
"""How much larger the process may be after the second half of the requests than after the first:
the allocator's own ups and downs, and nothing that is kept for each request."""
LONG = pytest.mark.long


@dataclass(slots=True)
class Tally:
    """What was sent, and what came."""

    calls: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    rss: list[int] = field(default_factory=list)


@contextlib.asynccontextmanager
async def program(folder: Path, transport: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a real server; it must end well, and have logged no traceback."""
    errors = (folder / 'stderr').open('wb')
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        str(folder),
        transport,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        limit=2**24,
    )
    try:
        yield process
        assert process.returncode is None, 'the process ended'
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(10.0):
            assert await process.wait() == 0
    finally:
        errors.close()
        if process.returncode is None:
            process.kill()
            await process.wait()
    logged = (folder / 'stderr').read_text(errors='replace')
    assert 'Traceback' not in logged, logged[-6000:]


def check_journal(folder: Path, tally: Tally) -> None:
    """Every call was recorded, and has its one result."""
    assert_journal(folder / 'journal.db')
    with JournalReader(folder / 'journal.db') as reader:
        recorded = Counter(event.type for event in reader.events())
    assert recorded['TOOL_CALL_RECORDED'] == recorded['TOOL_RESULT_RECORDED']
    # Among what is wrong there are calls, too: none of the good ones is missing.
    assert recorded['TOOL_CALL_RECORDED'] >= tally.calls


def check_memory(tally: Tally) -> None:
    """What the process took did not grow with what it was sent."""
    middle, last = tally.rss[len(tally.rss) // 2], tally.rss[-1]
    assert last < GROWTH * middle, f'{middle} KiB half way, {last} KiB in the end'


def rss_kib(pid: int) -> int:
    pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') // 1024


# -- HTTP ----------------------------------------------------------------------------------------


@pytest.mark.parametrize('era', ERAS)
@pytest.mark.parametrize(
    ('seed', 'count'), [(6, 1000), pytest.param(66, 4000, marks=LONG)], ids=['short', 'long']
)
async def test_over_http_nothing_brings_the_server_down(
    tmp_path: Path, era: str, seed: int, count: int
) -> None:
    tally = Tally()
    async with program(tmp_path, 'http') as process:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        fuzz = Fuzz(random.Random(seed), era, {})
        fuzz.host = f'127.0.0.1:{port}'
        if era == 'legacy':
            fuzz.session = await _session(fuzz, port)
        cases = [_http_case(fuzz) for _ in range(count)]
        for start in range(0, count, max(1, count // 10)):
            await _send_all(fuzz, port, cases[start : start + max(1, count // 10)], tally, seed)
            tally.rss.append(rss_kib(process.pid))
    print(f'seed {seed} {era}: {tally.statuses} {len(tally.kinds)} kinds, RSS {tally.rss} KiB')
    check_journal(tmp_path, tally)
    check_memory(tally)


def _http_case(fuzz: Fuzz) -> Case:
    makers = (fuzz.call, fuzz.question, fuzz.json_case, fuzz.json_case, fuzz.http_case)
    return fuzz.rng.choice(makers)()


async def _session(fuzz: Fuzz, port: int) -> dict[str, str]:
    params = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'clientInfo': INFO}
    opening = fuzz.posted('initialize', fuzz.request('initialize', params, 0))
    answer = await _exchange(fuzz, port, opening)
    session = {
        'mcp-session-id': answer.headers['mcp-session-id'],
        'mcp-protocol-version': '2025-11-25',
    }
    fuzz.session = session
    ready = {'jsonrpc': '2.0', 'method': 'notifications/initialized'}
    assert (await _exchange(fuzz, port, fuzz.posted('initialized', ready))).status == 202
    return session


async def _send_all(fuzz: Fuzz, port: int, cases: list[Case], tally: Tally, seed: int) -> None:
    waiting = iter(cases)

    async def work() -> None:
        for case in waiting:
            what = f'seed {seed}, {fuzz.era}, {case.kind}: {fuzz.wire(case)[:300]!r}'
            try:
                answer = await _exchange(fuzz, port, case)
            except Exception as error:
                raise AssertionError(what) from error
            tally.kinds[case.kind] += 1
            tally.statuses[str(answer.status)] += 1
            tally.calls += case.calls
            assert answer.status < 500, f'{what}: {answer}'
            if case.expects is not None:
                given = [m for m in answer.messages() if m.get('id') == case.expects]
                assert len(given) == 1, f'{what}: {answer}'
                assert not case.calls or 'result' in given[0], f'{what}: {answer}'

    async with anyio.create_task_group() as group:
        for _ in range(WORKERS):
            group.start_soon(work)


@dataclass(slots=True)
class Answer:
    """What came back; status 0: the connection was closed without a word."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b''

    def messages(self) -> list[Any]:
        """Return the JSON-RPC messages in it."""
        if self.headers.get('content-type', '').startswith('text/event-stream'):
            lines = self.body.decode().splitlines()
            return [json.loads(line[6:]) for line in lines if line.startswith('data: ')]
        return [json.loads(self.body)]


async def _exchange(fuzz: Fuzz, port: int, case: Case) -> Answer:
    """Send a request on a connection of its own, and return the first response."""
    with anyio.fail_after(ANSWER_S):
        reader, writer = await asyncio.open_connection('127.0.0.1', port, limit=2**24)
        try:
            writer.write(fuzz.wire(case))
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            if case.cut:
                return Answer()
            return await _answer(reader, case)
        except (ConnectionError, asyncio.IncompleteReadError):
            # It was refused before it was read to its end.
            assert case.expects is None
            return Answer()
        finally:
            writer.close()


async def _answer(reader: asyncio.StreamReader, case: Case) -> Answer:
    while True:
        lines = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1').split('\r\n')
        answer = Answer(int(lines[0].split()[1]))
        if answer.status != 100:
            break
    answer.headers = dict(line.lower().split(': ', 1) for line in lines[1:] if line)
    assert answer.headers['x-content-type-options'] == 'nosniff'
    if case.streams or case.method == 'HEAD':
        return answer
    if answer.headers.get('transfer-encoding') == 'chunked':
        while size := int(await reader.readline(), 16):
            answer.body += (await reader.readexactly(size + 2))[:-2]
    elif 'content-length' in answer.headers:
        answer.body = await reader.readexactly(int(answer.headers['content-length']))
    return answer


# -- stdio ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('era', ERAS)
@pytest.mark.parametrize(
    ('seed', 'count'), [(7, 500), pytest.param(77, 3000, marks=LONG)], ids=['short', 'long']
)
async def test_over_stdio_nothing_brings_the_server_down(
    tmp_path: Path, era: str, seed: int, count: int
) -> None:
    fuzz, tally = Fuzz(random.Random(seed), era, {}), Tally()
    cases = [
        fuzz.rng.choice((fuzz.call, fuzz.question, fuzz.json_case, fuzz.json_case))()
        for _ in range(count)
    ]
    # A line each: what holds a line feed are two of them.
    cases = [case for case in cases if b'\n' not in case.body]
    async with program(tmp_path, 'stdio') as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: Counter[Any] = Counter()
        results: set[Any] = set()
        wanted = {case.expects for case in cases} - {None}
        done = asyncio.Event()

        async def read() -> None:
            assert process.stdout is not None
            async for line in process.stdout:
                message = json.loads(line)  # standard output is the protocol's alone
                number = message.get('id')
                if isinstance(number, int):
                    answers[number] += 1
                    results.update([number] if 'result' in message else [])
                if wanted <= answers.keys():
                    done.set()

        reading = asyncio.ensure_future(read())
        if era == 'legacy':
            params = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'clientInfo': INFO}
            opening = json.dumps(fuzz.request('initialize', params, 0)).encode()
            ready = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
            process.stdin.write(opening + b'\n' + ready + b'\n')
        for number, case in enumerate(cases):
            process.stdin.write(case.body + b'\n')
            with anyio.fail_after(ANSWER_S):
                await process.stdin.drain()
            tally.kinds[case.kind] += 1
            tally.calls += case.calls
            if number % max(1, count // 10) == 0:
                tally.rss.append(rss_kib(process.pid))
        try:
            with anyio.fail_after(3 * ANSWER_S):
                await done.wait()
        except TimeoutError:
            missing = [case for case in cases if case.expects in wanted - answers.keys()]
            raise AssertionError(f'seed {seed}, {era}: no answer to {missing[:3]}') from None
        tally.rss.append(rss_kib(process.pid))
        reading.cancel()
    twice = {number for number in wanted if answers[number] != 1}
    assert not twice, f'seed {seed}, {era}: {twice}'
    unanswered = {case.expects for case in cases if case.calls} - results
    assert not unanswered, f'seed {seed}, {era}: errors in the place of results: {unanswered}'
    print(f'seed {seed} {era}: {len(cases)} lines, {len(tally.kinds)} kinds, RSS {tally.rss} KiB')
    check_journal(tmp_path, tally)
    check_memory(tally)
