# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Nobody shuts out who may act: neither a token that may only look, nor a stranger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from pathlib import Path

import anyio
import httpx2
from mcp_rig import answer_of, BOUND_S, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.mcp_server.updates import LATEST_URI, URIS_MAX

pytestmark = pytest.mark.anyio
SECRETS = {name: f'the-token-of-{name}-0123' for name in ('one', 'two', 'three', 'operator')}
MODERN = ERAS[1]
Streams = contextlib.AsyncExitStack


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / 'tokens'
    path.touch(0o600)
    scopes = dict.fromkeys(SECRETS, 'observe') | {'operator': 'observe,act'}
    path.write_text(''.join(f'{n} {scopes[n]} {secret}\n' for n, secret in SECRETS.items()))
    return path


def client(made: Rig, http: httpx2.AsyncClient, name: str, era: str = MODERN) -> RawClient:
    raw = RawClient(made.server.url, era, http, name)
    raw.headers['authorization'] = f'Bearer {SECRETS[name]}'
    return raw


async def listen(raw: RawClient, streams: Streams, uris: int = 1) -> httpx2.Response:
    """Open a stream, and return what it began with."""
    asked = {'notifications': {'resourceSubscriptions': [LATEST_URI] * uris}}
    message = raw.request('subscriptions/listen', asked, 1)
    opened = raw.http.stream('POST', raw.url, json=message, headers=raw.headers_for(message))
    return await streams.enter_async_context(opened)


@contextlib.asynccontextmanager
async def silent(
    made: Rig, count: int, said: bytes = b''
) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Open connections one after the other, each of which says that and no more."""
    writers = []
    try:
        readers = []
        for _ in range(count):
            reader, writer = await asyncio.open_connection('127.0.0.1', made.server.port)
            writer.write(said.replace(b'%d', b'%d' % made.server.port))
            await writer.drain()
            writers.append(writer)
            readers.append(reader)
        yield readers
    finally:
        for writer in writers:
            writer.close()


async def test_tokens_that_may_only_look_have_a_part_of_what_is_served_at_once(
    tmp_path: Path, tokens: Path
) -> None:
    settings = McpSettings(port=0, token_file=tokens, max_connections=8)
    limits = httpx2.Limits(max_connections=None)
    async with (
        rig(tmp_path, settings=settings) as made,
        httpx2.AsyncClient(timeout=BOUND_S, limits=limits) as http,
        Streams() as streams,
    ):
        got = {
            name: [(await listen(client(made, http, name), streams)).status_code for _ in range(3)]
            for name in ('one', 'two', 'three')
        }
        # A quarter each, and half for all of them.
        assert got == {'one': [200, 200, 429], 'two': [200, 200, 429], 'three': [429] * 3}
        refused = await client(made, http, 'one').post(
            client(made, http, 'one').request('tools/list', {}, 2)
        )
        assert (refused.status_code, refused.headers['retry-after']) == (429, '5')
        operator = client(made, http, 'operator')
        assert [(await listen(operator, streams)).status_code for _ in range(3)] == [200] * 3
        answer = await operator.call('list_places', {}, 3)
        assert not answer['result']['isError']
        await streams.aclose()
        looks = client(made, http, 'one')
        with anyio.fail_after(BOUND_S):  # what they let go of can be had again
            while (await looks.post(looks.request('tools/list', {}, 4))).status_code == 429:
                await asyncio.sleep(0.01)


async def test_sessions_of_tokens_that_may_only_look_take_nobody_elses_place(
    tmp_path: Path, tokens: Path
) -> None:
    settings = McpSettings(port=0, token_file=tokens, max_sessions=4)
    async with (
        rig(tmp_path, settings=settings) as made,
        httpx2.AsyncClient(timeout=BOUND_S) as http,
    ):

        async def open_session(name: str) -> int:
            raw = client(made, http, name, 'legacy')
            asked = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'clientInfo': raw.info}
            return (await raw.post(raw.request('initialize', asked, 0))).status_code

        assert [await open_session('one') for _ in range(3)] == [200, 200, 503]
        assert [await open_session('operator') for _ in range(5)] == [200] * 4 + [503]


async def test_a_stream_tells_of_no_more_resources_than_a_session(tmp_path: Path) -> None:
    async with (
        rig(tmp_path) as made,
        httpx2.AsyncClient(timeout=BOUND_S) as http,
        Streams() as streams,
    ):
        raw = RawClient(made.server.url, MODERN, http, 'raw')
        assert (await listen(raw, streams, URIS_MAX)).status_code == 200
        refused = await listen(raw, streams, URIS_MAX + 1)
        await refused.aread()
        assert answer_of(refused)['error']['code'] == -32602
        assert str(URIS_MAX) in answer_of(refused)['error']['message']


@pytest.mark.parametrize(
    'said', [b'', b'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 9\r\n\r\n{']
)
async def test_connections_that_wait_give_way_to_new_ones_the_longest_waiting_first(
    tmp_path: Path, said: bytes
) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, max_connections=4)) as made,
        silent(made, 5, said) as waiting,
        httpx2.AsyncClient(timeout=BOUND_S) as http,
    ):
        raw = RawClient(made.server.url, MODERN, http, 'raw')
        assert (await raw.post(raw.request('tools/list', {}, 1))).status_code == 200
        for reader in waiting[:2]:
            with anyio.fail_after(BOUND_S), contextlib.suppress(ConnectionError):
                assert await reader.read() == b''
        assert not any(reader.at_eof() for reader in waiting[2:])


async def test_connections_that_are_being_answered_give_way_to_none(tmp_path: Path) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, max_connections=2)) as made,
        httpx2.AsyncClient(timeout=BOUND_S) as http,
    ):
        raw = RawClient(made.server.url, MODERN, http, 'raw')
        async with Streams() as streams:
            assert [(await listen(raw, streams)).status_code for _ in range(2)] == [200, 200]
            async with silent(made, 5):
                assert (await raw.post(raw.request('tools/list', {}, 2))).status_code == 503
        assert (await raw.post(raw.request('tools/list', {}, 3))).status_code == 200
