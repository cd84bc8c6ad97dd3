# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The providers' keys reach the provider, and neither journal nor log nor any text of an error.

Whole missions through the official SDKs: the model quotes its key, a tool fails with it, a log
record and a traceback hold it, and the API echoes it while it refuses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
import logging
import os
from pathlib import Path
import sqlite3
import traceback
from typing import Any
from urllib.parse import quote

from arriving_nav2 import ArrivingNav2
from journal_rig import content
import pytest

from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.llm import make_client, ModelRequest, ModelSettings, UserMessage
from robot_agent_harness.mission import MissionReport
from robot_agent_harness.ros.log_bridge import bridge_logging
from robot_agent_harness.skills import registry
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext, SkillError
from robot_agent_harness.testing import (
    Bench,
    chat_completions,
    ChatCompletionsApi,
    check_journal,
    messages_api,
    MessagesApi,
)
from robot_agent_harness.testing.stub_server import Reply, StubServer
from robot_agent_harness.world.salient import Salient

KEYS = {
    'anthropic': ('ANTHROPIC_API_KEY', 'marker-a/nthropic+0123456789=='),
    'openai': ('OPENAI_API_KEY', 'marker-o/penai+0123456789=='),
}
PROVIDERS = tuple(KEYS)
logger = logging.getLogger('robot_agent_harness.test_keys_stay_out')


@skill(output=CallOutput)
async def leak(context: SkillContext, how: str) -> ToolResult:
    """Let the key out, as careless tools do."""
    told = ' and '.join(os.environ[name] for name, _ in KEYS.values())
    logger.warning('asking with %s', told)
    if how == 'error':
        raise SkillError(f'401 for {told}')
    if how == 'crash':
        raise RuntimeError(f'no answer for {told}')
    return ToolResult(ResultStatus.COMPLETED, f'asked {quote(told)}', {'sent': {'auth': told}})


class Log:
    """The robot's log, as the node writes it, with everything that any library has to say."""

    def __init__(self) -> None:
        self.text = ''

    def get_effective_level(self) -> int:
        return logging.DEBUG

    def _take(self, line: str) -> None:
        self.text += line + '\n'

    debug = info = warning = error = fatal = _take


@pytest.fixture
def log() -> Iterator[Log]:
    log, root = Log(), logging.getLogger()
    levels = [(a, a.level) for a in (root, logging.getLogger('robot_agent_harness'))]
    handler = bridge_logging(log)
    root.setLevel(logging.DEBUG)
    yield log
    root.removeHandler(handler)
    for a_logger, level in levels:
        a_logger.setLevel(level)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.values():
        monkeypatch.setenv(name, key)
    monkeypatch.setattr(registry.load_registry, '__kwdefaults__', {'skills': (*BUILT_IN, leak)})


def stub(provider: str, *answers: Reply) -> StubServer:
    kind = MessagesApi if provider == 'anthropic' else ChatCompletionsApi
    return kind(*answers, api_key=KEYS[provider][1])


def answer(provider: str, words: str, how: str) -> Reply:
    if provider == 'anthropic':
        call = messages_api.tool_use('leak', {'how': how})
        return messages_api.message(messages_api.text(words), call)
    return chat_completions.completion(words, chat_completions.tool_call('leak', {'how': how}))


def refusal(provider: str, status: int) -> Reply:
    key = KEYS[provider][1]
    api = messages_api if provider == 'anthropic' else chat_completions
    return api.failure(status, f'not accepted: {key}', request_id=key, x_request_id=key)


def client_of(provider: str, url: str, **settings: Any) -> Any:
    return make_client(
        ModelSettings(provider=provider, name='some-model', base_url=url, **settings), os.environ
    )


def places(text: str, kept: dict[str, str]) -> list[str]:
    """Return where a text, or a spelling of it, was found."""
    spellings = {text, quote(text, safe=''), text.replace('/', '\\/')}
    return [where for where, what in kept.items() if any(word in what for word in spellings)]


def rows_of(path: Path) -> str:
    """Return every value of every table and view."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
        return '\n'.join(
            str(row) for (name,) in names for row in connection.execute(f'SELECT * FROM "{name}"')
        )


@pytest.mark.anyio
@pytest.mark.parametrize('status', [401, 403, 400, 404])
@pytest.mark.parametrize('provider', PROVIDERS)
async def test_of_a_mission_that_spills_its_keys_nothing_that_is_kept_or_shown_holds_them(
    provider: str,
    status: int,
    tmp_path: Path,
    log: Log,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / 'journal.db'
    key = KEYS[provider][1]
    answers = [
        answer(provider, f'I use {key}.', 'error'),
        answer(provider, 'Once more.', 'crash'),
        answer(provider, 'And again.', 'result'),
        refusal(provider, status),
    ]
    kept = {}
    with stub(provider, *answers) as api:
        report = await mission(path, client_of(provider, api.base_url), kept)
        assert [request.broken_rules for request in api.requests] == [[]] * 4
        told = [str(request.body['messages'][2:]) for request in api.requests]
    assert report.reason == 'model_error'

    with JournalReader(path) as reader:
        payloads = [event.payload for event in reader.events()]
    statuses = [payload['status'] for payload in payloads if 'is_error' in payload]
    assert statuses == ['tool_error', 'tool_error', 'completed']
    [failed] = [payload['error'] for payload in payloads if payload.get('error')]
    assert str(status) in failed
    kept |= {f'file{suffix}': data.decode('latin-1') for suffix, data in content(path).items()}
    kept |= {'rows': rows_of(path), 'report': str(report), 'error': failed}
    assert 'asking with [redacted] and [redacted]' in log.text
    assert '[redacted]' in rows_of(path)
    kept |= {'log': log.text}
    out, err = capfd.readouterr()
    kept |= {'stdout': out, 'stderr': err}
    for _, secret in KEYS.values():
        assert places(secret, kept) == []
    # What the tool said is shown to the model without the keys as well.
    assert 'leak' in told[-1]
    assert KEYS['anthropic' if provider == 'openai' else 'openai'][1] not in ''.join(told)
    assert check_journal(path) == []


async def mission(path: Path, model: Any, kept: dict[str, str]) -> MissionReport:
    async with Bench(path, model=model, nav2=ArrivingNav2()) as bench:
        harness = bench.core.harness
        running = asyncio.create_task(harness.run_mission('use the key', 'mission-a'))
        await asyncio.sleep(0)
        harness.notify(Salient('human_message', f'the key is {KEYS["openai"][1]}', {}))
        report = await asyncio.wait_for(running, 30)
        for suffix, data in content(path).items():  # the -wal goes when the journal is closed
            kept[f'open file{suffix}'] = data.decode('latin-1')
    return report


@pytest.mark.anyio
@pytest.mark.parametrize('reply', ['refused', 'page', 'broken', 'silence'])
@pytest.mark.parametrize('provider', PROVIDERS)
async def test_no_error_of_a_client_holds_the_key_however_it_came_about(
    provider: str, reply: str, log: Log
) -> None:
    key = KEYS[provider][1]
    replies = {
        'refused': refusal(provider, 401),
        'page': Reply(502, f'<p>{key}</p>'.encode()),
        'broken': Reply(200, f'{{"key": "{key}", '.encode()),
        'silence': messages_api.hang(),
    }
    with stub(provider, replies[reply]) as api:
        client = client_of(provider, api.base_url, timeout_s=1.0)
        with pytest.raises(ModelError) as caught:
            await client.decide(ModelRequest('', (UserMessage('Go.'),), ()))
        await client.close()
    shown = {
        'error': f'{caught.value!s} {caught.value!r}',
        'traceback': ''.join(traceback.format_exception(caught.value)),
        'client': f'{client!r} {client!s}',
        'log': log.text,
    }
    assert places(key, shown) == []


@pytest.mark.parametrize('provider', PROVIDERS)
@pytest.mark.parametrize('spoiled', ['{}\n{}', '{} {}', '{}ü', '\x00{}'])
def test_a_key_that_no_header_can_hold_is_refused_without_being_quoted(
    provider: str, spoiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, key = KEYS[provider]
    environ = {name: spoiled.format(key, key)}
    settings = ModelSettings(provider=provider, name='some-model')
    with pytest.raises(ConfigurationError, match=name) as caught:
        make_client(settings, environ)
    assert places(key, {'error': ''.join(traceback.format_exception(caught.value))}) == []


@pytest.mark.anyio
@pytest.mark.parametrize('provider', PROVIDERS)
async def test_a_redirect_takes_neither_the_key_nor_the_prompt_to_another_host(
    provider: str,
) -> None:
    with stub(provider, answer(provider, 'taken in', 'error')) as other:
        elsewhere = other.base_url.replace('127.0.0.1', 'localhost')
        redirect = Reply(307, {}, {'location': f'{elsewhere}{other.path}'})
        with stub(provider, redirect) as named:
            client = client_of(provider, named.base_url)
            with pytest.raises(ModelError, match='307'):
                await client.decide(ModelRequest('s', (UserMessage('u'),), ()))
            await client.close()
        assert other.requests == []
