# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The HTTP endpoint: where it listens, whom it lets in, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import json
from pathlib import Path
import socket
import time
from typing import Any

import anyio
import httpx2
from mcp_rig import answer_of, BOUND_S, connected, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.events import EventType
from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.mcp_server.access import HostRules
from robot_agent_harness.mcp_server.unique_ids import UniqueIds

pytestmark = pytest.mark.anyio
TOKEN = 'a-token-that-nobody-guesses'
CLIENTS = ('httpx2', 'httpcore', 'mcp.client')
"""Loggers of the client's side, which may say what it sends."""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / 'token'
    path.write_text(f'{TOKEN}\nanything else\n')
    path.chmod(0o600)
    return path


def opening(raw: RawClient) -> dict[str, Any]:
    if raw.era == 'legacy':
        params = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'clientInfo': raw.info}
        return raw.request('initialize', params, 1)
    return raw.request('tools/list', {}, 1)


async def knock(made: Rig, era: str, **headers: str) -> httpx2.Response:
    """Send the first request of a client, with these headers beside the usual ones."""
    async with httpx2.AsyncClient(timeout=BOUND_S) as http:
        raw = RawClient(made.server.url, era, http, 'raw')
        raw.headers.update(headers)
        return await raw.post(opening(raw))


# -- what is JSON --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('spoil', 'under_id'),
    [
        (lambda text: text.replace('HERE', r'\ud800'), 7),
        (lambda text: text.replace('HERE', r'\udc00\ud83d'), 7),
        (lambda text: text.replace('"HERE"', r'{"\ud800":1}'), 7),
        (lambda text: text.replace('"id":7', r'"id":"\ud800"'), None),
        (lambda text: text.replace('"HERE"', '[' * 5000), None),
        (lambda text: text[:-1], None),
        (lambda text: text.encode('utf-16'), 7),
        (lambda text: b'\xef\xbb\xbf' + text.encode(), 7),
        (lambda text: text.encode().replace(b'HERE', b'\xff'), None),
    ],
    ids=['half', 'halves', 'key', 'id', 'deep', 'cut', 'UTF-16', 'byte order mark', 'no UTF-8'],
)
async def test_a_body_that_is_no_json_calls_no_tool_whatever_its_revision(
    tmp_path: Path, era: str, spoil: Callable[[str], str | bytes], under_id: int | None
) -> None:
    """Over stdio it is the same: see test_mcp_stdio.py."""
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        arguments = {'action_id': 'HERE'}
        params = {'name': 'cancel_action', 'arguments': arguments}
        message = raw.request('tools/call', params, 7)
        body = spoil(json.dumps(message, separators=(',', ':')))
        headers = {**raw.headers_for(message), 'content-type': 'application/json'}
        answer = await raw.http.post(raw.url, content=body, headers=headers)
        assert answer.status_code == 400
        told = answer.json()
        assert (told['id'], told['error']['code']) == (under_id, -32700)
        assert told['error']['message'].startswith('Parse error: ')
        whole = await raw.call('cancel_action', {'action_id': '\U0001f916'})
        assert whole['result']['structuredContent']['status'] != 'invalid_arguments'
        [call] = made.records(EventType.TOOL_CALL_RECORDED)
        assert call.payload['arguments'] == {'action_id': '\U0001f916'}


# -- where it listens ----------------------------------------------------------------------------


async def test_the_url_names_the_port_that_was_found(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        assert made.server.port > 0
        assert made.server.url == f'http://127.0.0.1:{made.server.port}/mcp'


async def test_a_port_in_use_is_an_error_that_names_the_parameter_and_the_address(
    tmp_path: Path,
) -> None:
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        async with rig(tmp_path, settings=McpSettings(port=port), start=False) as made:
            with pytest.raises(ConfigurationError, match=f'mcp.port: 127.0.0.1:{port} is in use'):
                await made.server.start()


async def test_two_servers_do_not_share_a_port(tmp_path: Path) -> None:
    (tmp_path / 'a').mkdir()
    (tmp_path / 'b').mkdir()
    async with rig(tmp_path / 'a') as one:
        settings = McpSettings(port=one.server.port)
        async with rig(tmp_path / 'b', settings=settings, start=False) as two:
            with pytest.raises(ConfigurationError, match=r'mcp\.port'):
                await two.server.start()
            await one.server.stop()
            await two.server.start()
            assert two.server.port == settings.port


@pytest.mark.parametrize(
    ('host', 'port', 'named'),
    [
        ('203.0.113.7', 0, r'mcp\.host'),
        ('no-such-host.invalid', 0, r'mcp\.host'),
        ('', 0, r'mcp\.(host|token_file)'),
        ('127.0.0.1', 70000, r'mcp\.port'),
        ('127.0.0.1', -1, r'mcp\.port'),
    ],
)
async def test_an_address_that_cannot_be_used_is_an_error_that_names_the_parameter(
    tmp_path: Path, token_file: Path, host: str, port: int, named: str
) -> None:
    settings = McpSettings(host=host, port=port, token_file=token_file)
    async with rig(tmp_path, settings=settings, start=False) as made:
        with pytest.raises(ConfigurationError, match=named):
            await made.server.start()


@pytest.mark.parametrize('host', ['0.0.0.0', '::', '192.168.1.5', 'robot.local'])
async def test_without_a_token_others_must_not_reach_the_robot(tmp_path: Path, host: str) -> None:
    async with rig(tmp_path, settings=McpSettings(host=host, port=0), start=False) as made:
        with pytest.raises(ConfigurationError, match=r'mcp\.token_file'):
            await made.server.start()


@pytest.mark.parametrize('host', ['127.0.0.1', 'localhost', '127.0.0.2', '::1'])
async def test_loopback_needs_no_token(tmp_path: Path, host: str, era: str) -> None:
    if host == '::1' and not _has_ipv6():
        pytest.skip('this machine has no IPv6 loopback')
    settings = McpSettings(host=host, port=0)
    async with rig(tmp_path, settings=settings) as made, connected(made, era) as client:
        assert (await client.list_tools()).tools


def _has_ipv6() -> bool:
    try:
        with socket.create_server(('::1', 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


# -- whom it lets in -----------------------------------------------------------------------------


async def test_a_request_for_another_host_is_refused(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made:
        port = made.server.port
        for host in ('evil.example', f'evil.example:{port}', '127.0.0.1:1', '127.0.0.1', ''):
            assert (await knock(made, era, host=host)).status_code == 421
        assert (await knock(made, era, host=f'localhost:{port}')).status_code == 200


async def test_a_page_of_another_origin_is_refused(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made:
        port = made.server.port
        for origin in ('http://evil.example', 'null', f'https://127.0.0.1:{port}'):
            assert (await knock(made, era, origin=origin)).status_code == 403
        assert (await knock(made, era, origin=f'http://127.0.0.1:{port}')).status_code == 200


@pytest.mark.parametrize('path', ['/mcp', '/mcp/', '/metrics', '/', '/nothing?x=1'])
async def test_whatever_the_path_another_host_or_origin_learns_nothing(
    tmp_path: Path, path: str, token_file: Path
) -> None:
    settings = McpSettings(port=0, token_file=token_file)
    async with rig(tmp_path, settings=settings) as made, httpx2.AsyncClient() as http:
        url = made.server.url.removesuffix('/mcp') + path
        for headers, status in (({'host': 'evil'}, 421), ({'origin': 'http://evil'}, 403)):
            answer = await http.get(url, headers=headers)
            assert answer.status_code == status
            assert 'evil' not in answer.text
            assert 'location' not in answer.headers
        # No redirect, whose address would be made of what the request says.
        assert (await http.get(url)).status_code == (401 if path == '/mcp' else 404)


async def test_each_origin_is_looked_at_and_case_tells_no_hosts_apart(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, httpx2.AsyncClient(timeout=BOUND_S) as http:
        port, raw = made.server.port, RawClient(made.server.url, era, http, 'raw')
        own, other = ('origin', f'http://127.0.0.1:{port}'), ('origin', 'http://evil.example')
        for origins, status in (([own], 200), ([own, other], 403), ([other, own], 403)):
            headers = [*raw.headers_for(opening(raw)).items(), *origins]
            answer = await http.post(raw.url, json=opening(raw), headers=headers)
            assert answer.status_code == status
        assert (await knock(made, era, host=f'LocalHost:{port}')).status_code == 200


async def test_where_all_addresses_are_listened_on_the_one_that_was_reached_is_a_host(
    tmp_path: Path, token_file: Path, era: str
) -> None:
    settings = McpSettings(host='0.0.0.0', port=0, token_file=token_file)
    async with rig(tmp_path, settings=settings) as made:
        port, secret = made.server.port, {'authorization': f'Bearer {TOKEN}'}
        async with httpx2.AsyncClient(timeout=BOUND_S) as http:
            # Another address of this machine, which nobody has told the server of.
            raw = RawClient(f'http://127.0.0.2:{port}/mcp', era, http, 'raw')
            raw.headers.update(secret)
            assert (await raw.post(opening(raw))).status_code == 200
        for host in (f'127.0.0.1:{port}', f'{socket.gethostname()}:{port}'):
            assert (await knock(made, era, host=host, **secret)).status_code == 200
        assert (await knock(made, era, host=f'evil.example:{port}', **secret)).status_code == 421


def test_an_ipv4_connection_to_an_ipv6_socket_is_known_by_its_ipv4_address() -> None:
    rules = HostRules('::', 8642, loopback=False)
    rules.admit_own_address({'type': 'http', 'server': ('::ffff:192.0.2.1', 8642)})
    rules.admit_own_address({'type': 'http', 'server': ('2001:db8::1', 8642)})
    rules.admit_own_address({'type': 'http', 'server': ('2001:db8::1', 8642)})
    assert rules.settings.allowed_hosts[-2:] == ['192.0.2.1:8642', '[2001:db8::1]:8642']


def test_on_the_default_port_a_host_header_without_port_is_right() -> None:
    rules = HostRules('127.0.0.1', 80, loopback=True)
    assert rules.settings.allowed_hosts == ['127.0.0.1', 'localhost', '[::1]']
    assert rules.settings.allowed_origins[0] == 'http://127.0.0.1'


async def test_without_the_token_nobody_gets_in(
    tmp_path: Path, token_file: Path, era: str
) -> None:
    settings = McpSettings(port=0, token_file=token_file)
    wrong = ['Bearer', f'Basic {TOKEN}', 'Bearer wrong', f'Bearer {TOKEN}x', TOKEN]
    async with rig(tmp_path, settings=settings) as made:
        for headers in ({}, *({'authorization': text} for text in wrong)):
            answer = await knock(made, era, **headers)
            assert answer.status_code == 401
            assert answer.headers['www-authenticate'].startswith('Bearer')
        assert made.calls() == []
        right = {'authorization': f'Bearer {TOKEN}'}
        assert (await knock(made, era, **right)).status_code == 200


async def test_with_the_token_a_client_works_and_the_token_is_written_nowhere(
    tmp_path: Path, token_file: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level('DEBUG')
    settings = McpSettings(port=0, token_file=token_file)
    async with rig(tmp_path, settings=settings) as made:
        async with connected(made, era, token=TOKEN) as client:
            await client.call_tool('get_world_snapshot', {})
            await client.call_tool('navigate_to_pose', {'x': 2.0, 'y': 0.0})
            await client.call_tool('get_action', {'action_id': f'is it {TOKEN}?'})
        first, second, _ = made.calls()
        assert first['client']['token_subject'] == 'mcp.token_file'
        assert second['decision_snapshot_id'] is not None
        assert TOKEN not in made.journal.read_bytes().decode('latin-1')
    logged = [r for r in caplog.records if not r.name.startswith(CLIENTS)]
    assert TOKEN not in '\n'.join(record.getMessage() for record in logged)


async def test_a_body_beyond_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        params = {'name': 'get_action', 'arguments': {'action_id': 'x' * 2**20}}
        answer = await raw.post(raw.request('tools/call', params, 1))
        assert answer.status_code == 413
        assert made.calls() == []
        assert (await raw.call('list_places', {}))['result']['isError'] is False


async def test_sessions_are_bounded(tmp_path: Path) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, max_sessions=2)) as made:
        statuses = [(await knock(made, 'legacy')).status_code for _ in range(3)]
        assert statuses == [200, 200, 503]
        assert (await knock(made, ERAS[1])).status_code == 200


async def test_a_stream_that_is_to_be_resumed_goes_on_from_now(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, 'legacy') as raw:
        headers = {**raw.headers, 'last-event-id': '5'}
        async with raw.http.stream('GET', raw.url, headers=headers) as stream:
            assert stream.status_code == 200
            assert stream.headers['content-type'].startswith('text/event-stream')
    assert [record for record in caplog.records if record.levelname in ('ERROR', 'CRITICAL')] == []


async def test_the_end_of_a_session_waits_for_what_came_before_it() -> None:
    heard: list[str] = []
    acknowledged, handed_on = asyncio.Event(), asyncio.Event()

    async def session(scope: Any, receive: Any, send: Any) -> None:
        if scope['method'] == 'POST':
            acknowledged.set()
            await handed_on.wait()
        heard.append(scope['method'])

    async def body() -> dict[str, Any]:
        return {'type': 'http.request', 'body': b'{"jsonrpc": "2.0", "method": "m"}'}

    async def nothing(message: Any) -> None:
        raise AssertionError(message)

    guarded = UniqueIds().guard(session)

    def comes(method: str) -> asyncio.Task[None]:
        headers = [(b'mcp-session-id', b'one')]
        scope = {'type': 'http', 'method': method, 'headers': headers}
        return asyncio.ensure_future(guarded(scope, body, nothing))

    said = comes('POST')
    await asyncio.wait_for(acknowledged.wait(), BOUND_S)
    ended = comes('DELETE')
    await asyncio.sleep(0)
    assert heard == []
    handed_on.set()
    await asyncio.wait_for(asyncio.gather(said, ended), BOUND_S)
    assert heard == ['POST', 'DELETE']


# -- how it stops --------------------------------------------------------------------------------


async def test_it_stops_at_once_with_calls_streams_and_sessions_open(
    tmp_path: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        answers: list[httpx2.Response] = []

        async def hold() -> None:
            params = {'name': 'hold', 'arguments': {}, '_meta': {'progressToken': 'p'}}
            answers.append(await raw.post(raw.request('tools/call', params, 1)))

        async def listen() -> None:
            async with raw.http.stream('GET', raw.url, headers=raw.headers) as stream:
                assert stream.status_code == 200
                listening.set()
                async for _ in stream.aiter_bytes():
                    pass

        listening = asyncio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            if era == 'legacy':
                group.start_soon(listen)
                await asyncio.wait_for(listening.wait(), BOUND_S)
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            began = time.monotonic()
            await made.server.stop()
            assert time.monotonic() - began < 2.0
        assert len(answers) == 1
        with pytest.raises(httpx2.TransportError):
            await raw.post(opening(raw))
        # The call itself has gone on.
        made.gate.go_on.set()
        (result,) = await made.recorded_results(1)
        assert result['status'] == 'completed'
        await made.server.stop()
    assert [record for record in caplog.records if record.levelname in ('ERROR', 'CRITICAL')] == []


async def test_a_connection_that_says_nothing_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        _, writer = await asyncio.open_connection('127.0.0.1', made.server.port)
        writer.write(b'POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
        await writer.drain()
        assert (await knock(made, ERAS[1])).status_code == 200
        began = time.monotonic()
        await made.server.stop()
        assert time.monotonic() - began < 2.0
        writer.close()


async def test_it_can_be_started_again_after_a_stop(tmp_path: Path, era: str) -> None:
    async with rig(tmp_path) as made:
        await made.server.stop()
        await made.server.start()
        async with connected(made, era) as client:
            assert not (await client.call_tool('list_places', {})).is_error


async def test_stopping_what_never_started_does_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path, start=False) as made:
        await made.server.stop()


async def test_both_eras_are_served_at_once(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        async with (
            RawClient.connected(made, 'legacy') as old,
            RawClient.connected(made, '2026-07-28') as new,
        ):
            for raw in (old, new, old, new):
                assert (await raw.call('list_places', {}))['result']['isError'] is False
        discovery = await knock(made, ERAS[1])
        assert answer_of(discovery)['result']['resultType'] == 'complete'
