# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a token allows, how often and how slowly one may ask, and what every response says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from dataclasses import replace
import fcntl
import logging
from pathlib import Path
import socket
import sys
import termios
import time
from typing import Any

import anyio
import httpx2
from mcp import MCPError
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_rig import answer_of, BOUND_S, connected, ERAS, RawClient, Rig, rig
import pytest

from robot_agent_harness.assembly import Core
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server import McpSettings, unique_ids
from robot_agent_harness.mcp_server.argument_bounds import (
    DEPTH_MAX,
    excess,
    KEYS_MAX,
    TEXT_MAX,
    VALUES_MAX,
)
from robot_agent_harness.mcp_server.connection import SECURITY_HEADERS
from robot_agent_harness.mcp_server.rate import CLIENTS_KEPT, RateLimit
from robot_agent_harness.mcp_server.requests import ID_MAX, IDEMPOTENCY_KEY
from robot_agent_harness.mcp_server.tokens import ENVIRONMENT_KEY
from robot_agent_harness.mcp_server.unique_ids import UniqueIds
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext

pytestmark = pytest.mark.anyio
LOOKS, ACTS = 'the-one-that-looks', 'the-one-that-acts'
ACTING = {'navigate_to_pose', 'navigate_to_place', 'cancel_action'}
GOAL = {'x': 2.0, 'y': 0.0}
SHORT_S = 0.3
"""Bounds of slowness in these tests: longer than anything that is quick, shorter than patience."""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / 'tokens'
    path.write_text(f'dashboard observe {LOOKS}\noperator observe,act {ACTS}\n')
    path.chmod(0o600)
    return path


@contextlib.asynccontextmanager
async def holder(made: Rig, era: str, token: str) -> AsyncIterator[RawClient]:
    headers = {'authorization': f'Bearer {token}'}
    async with RawClient.connected(made, era, headers=headers) as raw:
        yield raw


async def ask(raw: RawClient, name: str, /, **arguments: Any) -> httpx2.Response:
    return await raw.post(raw.request('tools/call', {'name': name, 'arguments': arguments}, 7))


class Wire:
    """A connection on which the test writes the bytes itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, made: Rig) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection('127.0.0.1', made.server.port)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """Return what comes until the server closes."""
        with anyio.fail_after(BOUND_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b''


def head(made: Rig, *lines: str, method: str = 'POST') -> bytes:
    """Return the head of a request whose end may be missing."""
    return '\r\n'.join(
        (f'{method} /mcp HTTP/1.1', f'Host: 127.0.0.1:{made.server.port}', *lines, '')
    ).encode()


# -- what a token allows -------------------------------------------------------------------------


async def test_who_may_only_look_moves_nothing_and_is_told_why(
    tmp_path: Path, tokens: Path, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        async with holder(made, era, LOOKS) as raw:
            for name, arguments in (
                ('navigate_to_pose', GOAL),
                ('navigate_to_place', {'name': 'dock'}),
                ('cancel_action', {'action_id': '0' * 32}),
            ):
                answer = await ask(raw, name, **arguments)
                assert answer.status_code == 403
                challenge = answer.headers['www-authenticate']
                assert challenge == 'Bearer error="insufficient_scope", scope="act"'
                assert answer.json()['id'] == 7
                assert name in answer.json()['error']['message']
                assert f"refused '{name}': the token dashboard lacks" in caplog.text
            assert (await ask(raw, 'list_places')).status_code == 200
            assert answer_of(await ask(raw, 'no_such_tool'))['result']['isError']
        assert made.nav2.sent == []
        # It reached no dispatcher: what is recorded is what was let through.
        assert [call['name'] for call in made.calls()] == ['list_places', 'no_such_tool']
        assert LOOKS not in caplog.text


async def test_a_token_that_may_only_look_by_now_sees_its_task_and_cannot_cancel_it(
    tmp_path: Path, tokens: Path
) -> None:
    extension = {'extensions': {'io.modelcontextprotocol/tasks': {}}}
    declared = {'io.modelcontextprotocol/clientCapabilities': extension}
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        async with holder(made, ERAS[1], ACTS) as raw:
            params = {'name': 'navigate_to_pose', 'arguments': GOAL, '_meta': declared}
            started = await raw.post(raw.request('tools/call', params, 1))
            task_id = answer_of(started)['result']['taskId']
        await made.server.stop()
        tokens.write_text(f'operator observe {ACTS}\n')
        await made.server.start()
        async with holder(made, ERAS[1], ACTS) as raw:

            async def about(method: str) -> httpx2.Response:
                message = raw.request(method, {'taskId': task_id, '_meta': declared}, 2)
                named = {**raw.headers_for(message), 'mcp-name': task_id}
                return await raw.http.post(raw.url, json=message, headers=named)

            assert answer_of(await about('tasks/get'))['result']['status'] == 'working'
            refused = await about('tasks/cancel')
        assert refused.status_code == 403
        assert 'insufficient_scope' in refused.headers['www-authenticate']
        assert made.nav2.cancel_requests == []


async def test_the_sdks_client_hears_the_refusal(tmp_path: Path, tokens: Path, era: str) -> None:
    settings = McpSettings(port=0, token_file=tokens)
    async with (
        rig(tmp_path, settings=settings) as made,
        connected(made, era, token=LOOKS) as client,
    ):
        with pytest.raises(MCPError, match='needs an access token with the scope act'):
            await client.call_tool('navigate_to_pose', GOAL)
        seen = await client.call_tool('get_world_snapshot', {})
        assert not seen.is_error


async def test_tools_that_a_token_does_not_allow_are_not_offered(
    tmp_path: Path, tokens: Path, era: str
) -> None:
    settings = McpSettings(port=0, token_file=tokens)
    async with rig(tmp_path, settings=settings) as made:
        async with connected(made, era, token=LOOKS) as client:
            looking = {tool.name for tool in (await client.list_tools()).tools}
        async with connected(made, era, token=ACTS) as client:
            acting = {tool.name for tool in (await client.list_tools()).tools}
    assert acting >= ACTING
    assert not ACTING & looking
    assert {'get_action', 'wait_for_action', 'get_world_snapshot', 'list_places'} <= looking


async def test_the_journal_names_the_token_and_its_scopes_and_never_holds_one(
    tmp_path: Path, tokens: Path, era: str
) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        async with connected(made, era, token=ACTS) as client:
            sent = await client.call_tool('navigate_to_pose', GOAL)
            assert sent.structured_content['status'] == 'accepted'
        (call,) = made.calls()
        assert call['client']['token_subject'] == 'operator'
        assert call['client']['token_scopes'] == ['observe', 'act']
        recorded = made.journal.read_bytes().decode('latin-1')
        assert ACTS not in recorded
        assert LOOKS not in recorded


async def test_an_id_under_way_in_a_session_is_refused_and_its_first_call_answered(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, 'legacy') as raw:
        answers: list[httpx2.Response] = []

        async def hold() -> None:
            answers.append(await ask(raw, 'hold'))

        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            for repeated in (7, '7'):  # the same, to the SDK
                message = raw.request('tools/call', {'name': 'list_places'}, repeated)
                refused = await raw.post(message)
                assert refused.status_code == 400
                assert 'this id is under way' in refused.json()['error']['message']
                assert refused.json()['id'] == repeated
            made.gate.go_on.set()
        assert answer_of(answers[0])['result']['structuredContent']['message'] == 'held'
        # Once it is done, the id may come again.
        assert answer_of(await ask(raw, 'list_places'))['result']['isError'] is False
        assert [call['name'] for call in made.calls()] == ['hold', 'list_places']


async def test_the_result_of_a_client_that_went_away_is_not_given_to_its_next_request(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, 'legacy') as raw:
        with anyio.move_on_after(BOUND_S) as leaving:
            async with anyio.create_task_group() as group:

                async def leave() -> None:
                    await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
                    leaving.cancel()

                group.start_soon(leave)
                await ask(raw, 'hold')
        assert (await ask(raw, 'list_places')).status_code == 400
        made.gate.go_on.set()
        await made.recorded_results(1)
        with anyio.fail_after(BOUND_S):
            answer = await ask(raw, 'list_places')
        assert 'places' in answer_of(answer)['result']['structuredContent']


async def test_who_names_the_session_of_another_token_is_in_the_way_of_none_of_its_ids(
    tmp_path: Path, tokens: Path
) -> None:
    settings = McpSettings(port=0, token_file=tokens)
    async with (
        rig(tmp_path, settings=settings) as made,
        holder(made, 'legacy', LOOKS) as raw,
        holder(made, ERAS[1], ACTS) as intruder,
    ):
        intruder.headers['mcp-session-id'] = raw.headers['mcp-session-id']
        async with anyio.create_task_group() as group:
            group.start_soon(ask, intruder, 'hold')
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            assert (await ask(raw, 'list_places')).status_code == 200
            made.gate.go_on.set()


@pytest.mark.parametrize(
    ('subject', 'version', 'refused'),
    [
        ('a', '2025-11-25', True),
        ('a', None, True),
        ('b', '2025-11-25', False),
        ('a', '2026-07-28', False),
        ('a', 'anything', False),
    ],
)
async def test_an_id_is_kept_for_its_token_session_and_era(
    monkeypatch: pytest.MonkeyPatch, subject: str, version: str | None, refused: bool
) -> None:
    monkeypatch.setattr(unique_ids, 'GRACE_S', 0.01)
    under_way, go_on, answers = asyncio.Event(), asyncio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        answers.append(scope['number'])
        under_way.set()
        await go_on.wait()

    async def sent(message: Any) -> None:
        if message['type'] == 'http.response.start':
            answers.append(message['status'])
            go_on.set()

    async def body() -> Any:
        return {'type': 'http.request', 'body': b'{"method": "tools/call", "id": 7}'}

    def request(number: int, subject: str, version: str | None) -> Any:
        user = AccessToken(token='', client_id=subject, subject=subject, scopes=[])
        headers = {'mcp-session-id': 's', **({'mcp-protocol-version': version} if version else {})}
        return {
            'type': 'http',
            'method': 'POST',
            'number': number,
            'user': AuthenticatedUser(user),
            'headers': [(name.encode(), value.encode()) for name, value in headers.items()],
        }

    guarded = UniqueIds().guard(app)
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as group:
            group.start_soon(guarded, request(1, 'a', '2025-11-25'), body, sent)
            await under_way.wait()
            under_way.clear()
            group.start_soon(guarded, request(2, subject, version), body, sent)
            if not refused:
                await under_way.wait()
                go_on.set()
    assert answers == [1, 400 if refused else 2]


async def test_the_journal_tells_sessions_apart_and_holds_no_id_that_speaks_for_one(
    tmp_path: Path,
) -> None:
    async with (
        rig(tmp_path) as made,
        RawClient.connected(made, 'legacy') as one,
        RawClient.connected(made, 'legacy') as other,
    ):
        for raw in (one, one, other):
            await ask(raw, 'list_places')
        first, again, second = (call['client']['session'] for call in made.calls())
        assert first == again != second
        recorded = made.journal.read_bytes().decode('latin-1')
        assert one.headers['mcp-session-id'] not in recorded
        assert other.headers['mcp-session-id'] not in recorded


async def test_no_name_that_a_token_may_not_call_is_reached_by_a_longer_one(
    tmp_path: Path, tokens: Path, era: str
) -> None:
    name = 'h' * ID_MAX

    def add(core: Core) -> None:
        async def acts(context: SkillContext) -> ToolResult:
            """Act."""
            return ToolResult(ResultStatus.COMPLETED, 'acted')

        core.registry._skills[name] = replace(skill(output=CallOutput)(acts), name=name)

    settings = McpSettings(port=0, token_file=tokens)
    async with rig(tmp_path, settings=settings, wrap=add) as made:
        async with holder(made, era, LOOKS) as raw:
            assert (await ask(raw, name)).status_code == 403
        for token in (LOOKS, ACTS):
            async with holder(made, era, token) as raw:
                for longer in (name + 'x', name + 'h' * ID_MAX):
                    answer = answer_of(await ask(raw, longer))['result']['structuredContent']
                    assert answer['status'] == 'unknown_tool'
        assert all(len(call['name']) == ID_MAX and call['name'] != name for call in made.calls())


async def test_keys_of_each_token_and_of_looks_are_remembered_on_their_own(
    tmp_path: Path, tokens: Path, era: str
) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        for token, tool in ((LOOKS, 'list_places'), (ACTS, 'list_places'), (ACTS, 'hold')):
            async with holder(made, era, token) as raw:
                made.gate.go_on.set()
                await raw.call(tool, {}, **{IDEMPOTENCY_KEY: tool})
        marks = [call['idempotency'] for call in made.calls()]
        assert len({mark['share'] for mark in marks}) == len({mark['key'] for mark in marks}) == 3


async def test_a_session_is_of_the_token_that_opened_it(tmp_path: Path, tokens: Path) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made,
        holder(made, 'legacy', ACTS) as raw,
    ):
        raw.headers['authorization'] = f'Bearer {LOOKS}'
        assert (await ask(raw, 'list_places')).status_code == 404


async def test_tokens_that_are_read_again_count_at_once_and_end_what_was_open_with_old_ones(
    tmp_path: Path, tokens: Path, era: str
) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made,
        anyio.create_task_group() as group,
        holder(made, era, LOOKS) as looks,
        holder(made, era, ACTS) as acts,
    ):
        held: list[httpx2.Response] = []

        async def hold() -> None:
            held.append(await ask(acts, 'hold'))

        group.start_soon(hold)
        await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
        other = 'another-one-that-acts'
        tokens.write_text(f'dashboard observe {LOOKS}\noperator observe,act {other}\n')
        made.server.renew_tokens()
        await made.until(lambda: held)  # its client hears no more; the call goes on
        assert made.results() == []
        assert (await acts.post(acts.request('tools/list', {}, 2))).status_code == 401
        assert (await ask(looks, 'list_places')).status_code == 200
        acts.headers['authorization'] = f'Bearer {other}'
        assert (await acts.post(acts.request('tools/list', {}, 3))).status_code == 200
        made.gate.go_on.set()
        assert (await made.recorded_results(2))[-1]['status'] == 'completed'


async def test_tokens_that_cannot_be_read_again_change_nothing(
    tmp_path: Path, tokens: Path
) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        tokens.write_text('two words\n')
        with pytest.raises(ConfigurationError, match='ASCII'):
            made.server.renew_tokens()
        async with holder(made, ERAS[1], ACTS) as raw:
            assert (await ask(raw, 'list_places')).status_code == 200


async def test_a_token_of_the_environment_lets_in_and_is_needed(
    tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, ACTS)
    settings = McpSettings(host='0.0.0.0', port=0)
    async with rig(tmp_path, settings=settings) as made:
        async with connected(made, era, token=ACTS) as client:
            sent = await client.call_tool('navigate_to_pose', GOAL)
            assert sent.structured_content['status'] == 'accepted'
        async with httpx2.AsyncClient(timeout=BOUND_S) as http:
            raw = RawClient(made.server.url, '2026-07-28', http, 'raw')
            assert (await raw.post(raw.request('tools/list', {}, 1))).status_code == 401


# -- how often -----------------------------------------------------------------------------------


async def test_a_client_that_asks_too_often_is_told_when_to_come_again(
    tmp_path: Path, era: str
) -> None:
    settings = McpSettings(port=0, max_requests_per_s=2.0)
    async with rig(tmp_path, settings=settings) as made, httpx2.AsyncClient() as http:
        raw = RawClient(made.server.url, era, http, 'raw')
        answers = [await raw.post(raw.request('tools/list', {}, 1)) for _ in range(6)]
        refused = answers[-1]
        assert refused.status_code == 429
        assert 1 <= int(refused.headers['retry-after']) <= 2
        assert sum(answer.status_code == 429 for answer in answers) <= 2
        assert made.calls() == []


async def test_one_clients_haste_does_not_hold_up_another(tmp_path: Path, tokens: Path) -> None:
    settings = McpSettings(port=0, token_file=tokens, max_requests_per_s=1.0)
    async with rig(tmp_path, settings=settings) as made, httpx2.AsyncClient() as http:

        async def knock(token: str) -> int:
            raw = RawClient(made.server.url, '2026-07-28', http, 'raw')
            raw.headers['authorization'] = f'Bearer {token}'
            return (await raw.post(raw.request('tools/list', {}, 1))).status_code

        assert 429 in [await knock('a guess') for _ in range(5)]
        assert 429 in [await knock(LOOKS) for _ in range(5)]
        assert await knock(ACTS) == 200


def test_the_steady_rate_and_a_burst_are_let_through() -> None:
    now = [0.0]
    limit = RateLimit(_never, 8.0, lambda: now[0])
    assert [limit.take('a') for _ in range(16)] == [0.0] * 16
    assert limit.take('a') == 0.125
    for step in range(1, 101):
        now[0] = step * 0.125
        assert limit.take('a') == 0.0, step
    assert limit.take('b') == 0.0
    now[0] += 3600.0
    assert [limit.take('a') > 0.0 for _ in range(17)] == [False] * 16 + [True]


def test_clients_not_heard_of_for_longest_are_forgotten_by_the_limit() -> None:
    limit = RateLimit(_never, 0.5, lambda: 0.0)
    assert limit.take('first') == 0.0
    assert limit.take('first') > 0.0
    for number in range(CLIENTS_KEPT):
        limit.take(number)
    assert limit.take('first') == 0.0


async def _never(*_: Any) -> None:
    raise AssertionError('nothing is served here')


# -- how much ------------------------------------------------------------------------------------


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    'value',
    [
        1,
        'a',
        None,
        [],
        {'a': {'b': [1]}},
        nested(DEPTH_MAX),
        {str(n): n for n in range(KEYS_MAX)},
        [0] * (VALUES_MAX - 1),
        ['x' * (TEXT_MAX - 3), {'key': 0}],
    ],
)
def test_what_any_tool_could_want_is_within_the_bounds(value: Any) -> None:
    assert excess(value) is None


@pytest.mark.parametrize(
    ('value', 'what'),
    [
        (nested(DEPTH_MAX + 1), 'nested too deeply'),
        (nested(100_000), 'nested too deeply'),
        ({str(n): n for n in range(KEYS_MAX + 1)}, 'keys'),
        ([{'a': 0}] * (KEYS_MAX + 1), 'keys'),
        ([0] * VALUES_MAX, 'values'),
        (['x' * (TEXT_MAX - 2), {'key': 0}], 'characters'),
    ],
)
def test_what_is_beyond_a_bound_is_named(value: Any, what: str) -> None:
    assert what in (excess(value) or '')


async def test_arguments_beyond_a_bound_are_recorded_as_such_and_refused(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        many = {str(n): n for n in range(20_000)}
        answer = answer_of(await ask(raw, 'get_action', **many))['result']['structuredContent']
        assert answer['status'] == 'invalid_arguments'
        assert answer['message'] == 'get_action: the arguments hold more than 1000 keys'
        (call,) = made.calls()
        assert call['arguments'] == '[not kept: they hold more than 1000 keys]'
        assert len(made.results()) == 1


# -- how slowly ----------------------------------------------------------------------------------


@pytest.mark.parametrize('said', ['', 'Content-Length: 100\r\n\r\n{"half'])
async def test_a_request_that_does_not_come_in_whole_in_time_is_closed(
    tmp_path: Path, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, receive_s=SHORT_S)) as made,
        Wire.to(made) as wire,
    ):
        await wire.say(head(made) + said.encode())
        began = time.monotonic()

        async def drip() -> None:
            # A byte now and then is no progress.
            with contextlib.suppress(ConnectionError):
                while True:
                    await wire.say(b'x')
                    await asyncio.sleep(SHORT_S / 10)

        dripping = asyncio.ensure_future(drip())
        answer = await wire.rest()
        dripping.cancel()
        assert time.monotonic() - began < 10 * SHORT_S
        assert answer.startswith(b'HTTP/1.1 408 ')
        _assert_headers(answer)
    assert 'Traceback' not in caplog.text


async def test_a_connection_that_never_says_a_word_is_closed(tmp_path: Path) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, receive_s=SHORT_S)) as made,
        Wire.to(made) as wire,
    ):
        assert await wire.rest() == b''


async def test_a_connection_that_is_idle_between_requests_is_closed(tmp_path: Path) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, keep_alive_s=1)) as made,
        Wire.to(made) as wire,
    ):
        await wire.say(head(made, '', method='PUT'))
        assert (await wire.rest()).startswith(b'HTTP/1.1 405 ')


async def test_a_second_request_that_drips_in_is_timed_too(tmp_path: Path) -> None:
    async with (
        rig(tmp_path, settings=McpSettings(port=0, receive_s=SHORT_S)) as made,
        Wire.to(made) as wire,
    ):
        await wire.say(head(made, '', method='PUT'))
        with anyio.fail_after(BOUND_S):
            await wire.reader.readuntil(b'\r\n\r\n')
        await wire.say(b'P')
        assert b'HTTP/1.1 408 ' in await wire.rest()


async def test_a_stream_on_which_nothing_is_said_stays_open(tmp_path: Path) -> None:
    settings = McpSettings(port=0, receive_s=SHORT_S, send_s=SHORT_S, keep_alive_s=1)
    async with (
        rig(tmp_path, settings=settings) as made,
        RawClient.connected(made, 'legacy') as raw,
        raw.http.stream('GET', raw.url, headers=raw.headers) as stream,
    ):
        assert stream.status_code == 200
        lines = stream.aiter_bytes()
        with anyio.move_on_after(1.0 + 3 * SHORT_S) as patience:
            await anext(lines)
        assert patience.cancelled_caught  # still open, nothing came


async def test_a_call_that_takes_longer_than_the_bounds_is_answered(
    tmp_path: Path, era: str
) -> None:
    settings = McpSettings(port=0, receive_s=SHORT_S, send_s=SHORT_S, keep_alive_s=1)
    async with rig(tmp_path, settings=settings) as made, RawClient.connected(made, era) as raw:
        answers: list[Any] = []
        async with anyio.create_task_group() as group:

            async def hold() -> None:
                answers.append(await raw.call('hold', {}))

            group.start_soon(hold)
            await asyncio.wait_for(made.gate.started.wait(), BOUND_S)
            await asyncio.sleep(1.0 + SHORT_S)
            made.gate.go_on.set()
        assert answers[0]['result']['structuredContent']['status'] == 'completed'


async def _ask_without_reading(made: Rig, connection: socket.socket) -> None:
    """Send requests on a connection for as long as the server takes them."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ('127.0.0.1', made.server.port))
    raw = RawClient('', '2026-07-28', httpx2.AsyncClient(), 'raw')
    message = raw.request('tools/list', {}, 1)
    body = httpx2.Request('POST', 'http://x', json=message).content
    lines = [f'{k}: {v}' for k, v in raw.headers_for(message).items()]
    lines += ['content-type: application/json', f'content-length: {len(body)}', '']
    while True:
        await loop.sock_sendall(connection, head(made, *lines) + body)


async def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    settings = McpSettings(port=0, send_s=SHORT_S)
    async with rig(tmp_path, settings=settings) as made:
        with (
            socket.socket() as connection,
            anyio.fail_after(BOUND_S),
            pytest.raises(ConnectionError),
        ):
            await _ask_without_reading(made, connection)


async def test_a_client_that_does_not_read_at_the_end_leaves_no_error_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as connection:
        async with rig(tmp_path) as made:
            asking = asyncio.create_task(_ask_without_reading(made, connection))
            # It takes no more than it can answer.
            sent = -1
            while (now := _unsent(connection)) != sent or not now:
                sent = now
                await asyncio.sleep(0.2)
            assert not asking.done()
        asking.cancel()
    assert [r.message for r in caplog.records if r.levelno >= logging.WARNING] == []


def _unsent(connection: socket.socket) -> int:
    return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


# -- what every response says --------------------------------------------------------------------


def _assert_headers(answer: bytes) -> None:
    said = answer.split(b'\r\n\r\n')[0].decode().lower().split('\r\n')[1:]
    for name, value in SECURITY_HEADERS:
        assert f'{name}: {value.lower()}' in said, (name, answer)


@pytest.mark.parametrize(
    ('request_', 'status'),
    [
        ('POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{{}}', 400),
        ('POST /mcp HTTP/1.1\r\nHost: evil\r\nContent-Type: application/json\r\n'
         'Content-Length: 2\r\n\r\n{{}}', 421),
        ('GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n', 406),
        ('GET / HTTP/1.1\r\nHost: {host}\r\n\r\n', 404),
        ('PUT /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n', 405),
        ('DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nMcp-Session-Id: x\r\n\r\n', 404),
        ('this is no HTTP\r\n\r\n', 400),
        ('POST /mcp HTTP/1.1\r\nContent-Length: x\r\n\r\n', 400),
        ('GET /mcp HTTP/1.1\r\n' + 'A: b\r\n' * 20_000, 400),
    ],
)  # fmt: skip
async def test_every_refusal_carries_the_security_headers(
    tmp_path: Path, request_: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path) as made, Wire.to(made) as wire:
        text = request_.format(host=f'127.0.0.1:{made.server.port}')
        await wire.say(text.encode())
        with anyio.fail_after(BOUND_S):
            answer = await wire.reader.readuntil(b'\r\n\r\n')
        assert answer.startswith(f'HTTP/1.1 {status} '.encode()), answer
        _assert_headers(answer)
    assert 'Traceback' not in caplog.text


async def test_good_answers_and_streams_carry_the_security_headers(
    tmp_path: Path, era: str
) -> None:
    async with rig(tmp_path) as made, RawClient.connected(made, era) as raw:
        answer = await ask(raw, 'list_places')
        assert answer.status_code == 200
        for name, value in SECURITY_HEADERS:
            assert value in answer.headers[name]
        assert 'server' not in answer.headers


async def test_what_breaks_off_or_turns_to_garbage_leaves_no_traceback(
    tmp_path: Path, tokens: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with rig(tmp_path, settings=McpSettings(port=0, token_file=tokens)) as made:
        secret = f'authorization: bearer {ACTS}'
        chunked = ('transfer-encoding: chunked', 'content-type: application/json', '', '')
        for lines in ((secret, *chunked), chunked):
            async with Wire.to(made) as wire:  # cut off
                await wire.say(head(made, *lines)[:-2] + b'5\r\n{"id"\r\n')
            async with Wire.to(made) as wire:  # no chunk
                await wire.say(head(made, *lines)[:-2] + b'5\r\n{"id"\r\n')
                await asyncio.sleep(0.05)  # so that an answer without a body may be under way
                await wire.say(b'garbage\r\n\r\n')
                await wire.rest()
        async with holder(made, '2026-07-28', ACTS) as raw:
            assert (await ask(raw, 'list_places')).status_code == 200
    assert 'Traceback' not in caplog.text
    assert [record for record in caplog.records if record.levelname == 'ERROR'] == []
