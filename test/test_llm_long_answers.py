# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers without end: what is read of them, worked with and recorded, and at what cost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
import gzip
import json
from pathlib import Path
import time
from typing import Any

import pytest
from raw_model import RawModel, said, used, words

from robot_agent_harness.errors import ModelError
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm import Decision, ModelRequest, ToolCall, UserMessage
from robot_agent_harness.llm.answer_bounds import (
    ANSWER_MAX_CHARS,
    ARGUMENTS_MAX_CHARS,
    CALLS_MAX,
    ERROR_MAX_BYTES,
    NAME_MAX_CHARS,
    RAW_MAX_CHARS,
    TEXT_MAX_CHARS,
)
from robot_agent_harness.llm.anthropic import AnthropicClient
from robot_agent_harness.llm.endpoint import ANSWER_MAX_BYTES
from robot_agent_harness.llm.openai import OpenAIClient
from robot_agent_harness.testing import Bench, check_journal, run_virtual

LINE = 'The robot drove to the shelf, key point: the token "abc" was not there. state=ok v: 12\n'
FINISH = {'outcome': 'unknown', 'reason': 'done'}
ANSWERS = {
    AnthropicClient: {'content': [{'type': 'text', 'text': 'Well.'}], 'stop_reason': 'end_turn'},
    OpenAIClient: {'choices': [{'message': {'content': 'Well.'}, 'finish_reason': 'stop'}]},
}


async def _ask(kind: Any, body: bytes, *, status: int = 200, coding: str = '') -> Any:
    """Return what a client makes of one HTTP response."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b'\r\n\r\n')
        length = next(
            line for line in head.lower().splitlines() if line.startswith(b'content-length:')
        )
        await reader.readexactly(int(length.split(b':')[1]))
        lines = [f'HTTP/1.1 {status} X', 'content-type: application/json', 'connection: close']
        if coding:
            lines.append(f'content-encoding: {coding}')
        try:
            writer.write('\r\n'.join([*lines, '', '']).encode() + body)
            await writer.drain()
        except ConnectionError:
            pass  # the client has read enough
        finally:
            writer.close()

    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    async with server:
        url = f'http://127.0.0.1:{server.sockets[0].getsockname()[1]}'
        client = kind(model='m', api_key='test-key-0', base_url=url, max_attempts=1)
        try:
            request = ModelRequest(system='s', messages=(UserMessage('Go.'),), tools=())
            return await client.decide(request)
        finally:
            await client.close()


@pytest.mark.parametrize('kind', ANSWERS)
@pytest.mark.parametrize('coding', ['', 'gzip'])
def test_an_answer_is_read_as_far_as_its_bound_and_no_further(kind: Any, coding: str) -> None:
    def coded(body: bytes) -> bytes:
        return gzip.compress(body) if coding else body

    small = json.dumps(ANSWERS[kind]).encode()
    fitting = small + b' ' * (ANSWER_MAX_BYTES - len(small))
    decision = asyncio.run(_ask(kind, coded(fitting), coding=coding))
    assert decision.rationale == 'Well.'
    with pytest.raises(ModelError) as caught:
        asyncio.run(_ask(kind, coded(fitting * 8), coding=coding))
    assert f'more than {ANSWER_MAX_BYTES} bytes' in str(caught.value)
    assert not caught.value.retryable


@pytest.mark.parametrize('kind', ANSWERS)
def test_the_page_of_an_error_is_bounded_as_well_and_a_short_one_is_told(kind: Any) -> None:
    told = json.dumps({'error': {'type': 'invalid_request_error', 'message': 'no such tool'}})
    with pytest.raises(ModelError, match='no such tool'):
        asyncio.run(_ask(kind, told.encode(), status=400))
    with pytest.raises(ModelError, match=f'more than {ANSWER_MAX_BYTES} bytes'):
        asyncio.run(_ask(kind, b'x' * (2 * ANSWER_MAX_BYTES), status=400))


def _mission(path: Path, model: Any) -> list[tuple[str, dict[str, Any]]]:
    """Run one mission and return its records' types and payloads."""

    async def scenario() -> None:
        async with Bench(path, model=model) as bench:
            await bench.core.harness.run_mission('go')

    run_virtual(scenario())
    assert check_journal(path) == []
    with JournalReader(path) as reader:
        return [(str(event.type), event.payload) for event in reader.events()]


def test_of_a_long_answer_the_beginning_is_recorded_and_the_model_gets_it_back_whole(
    tmp_path: Path,
) -> None:
    # No letter repeated: another test's secret may be one.
    sentence = 'There and back. '
    text = sentence * (ANSWER_MAX_BYTES // 2 // len(sentence))
    call = used('list_places', {}, id='a')
    model = RawModel([said(words(text), call), said(used('finish_mission', FINISH, id='b'))])
    events = _mission(tmp_path / 'j.db', model)
    answer = next(payload for kind, payload in events if kind == 'MODEL_RESPONSE_RECORDED')
    missing = len(text) - TEXT_MAX_CHARS
    assert answer['rationale'] == text[:TEXT_MAX_CHARS] + f'[{missing} characters left out]'
    assert len(json.dumps(answer['raw_content'])) < RAW_MAX_CHARS + 1000
    assert ' characters left out]' in json.dumps(answer['raw_content'])
    back = model.bodies[1]['messages'][1]['content']
    assert back[0]['text'] == text
    assert model.problems == []


def test_a_call_with_endless_arguments_is_answered_and_not_carried_out(tmp_path: Path) -> None:
    long = used('list_places', {'q': 'a' * ARGUMENTS_MAX_CHARS}, id='a')
    model = RawModel([said(long), said(used('finish_mission', FINISH, id='b'))])
    events = _mission(tmp_path / 'j.db', model)
    call = next(payload for kind, payload in events if kind == 'TOOL_CALL_RECORDED')
    result = next(payload for kind, payload in events if kind == 'TOOL_RESULT_RECORDED')
    assert f'exceed {ARGUMENTS_MAX_CHARS} characters' in call['malformed']
    assert result['status'] == 'invalid_arguments'
    assert len(json.dumps(call)) < ARGUMENTS_MAX_CHARS + 1000


def test_an_answer_with_more_calls_than_anybody_could_answer_is_none(tmp_path: Path) -> None:
    calls = [used('list_places', {}, id=f'c{number}') for number in range(CALLS_MAX + 1)]
    model = RawModel([said(*calls), said(used('finish_mission', FINISH, id='b'))])
    events = _mission(tmp_path / 'j.db', model)
    errors = [p['error'] for kind, p in events if kind == 'MODEL_RESPONSE_RECORDED']
    assert errors == [f'the answer holds {CALLS_MAX + 1} calls; the most is {CALLS_MAX}', None]


class OwnClient:
    """A client as a user may write one: it checks nothing of what it gives."""

    provider = 'own'
    model = None

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def decide(self, request: ModelRequest) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        pass


def _own(call: ToolCall | None = None, **parts: Any) -> Decision:
    nothing = {'rationale': None, 'thinking': None, 'stop_reason': 'end', 'response_id': None}
    whole = {'usage': {}, 'raw_content': (), 'provider': 'own', 'model': None, **nothing, **parts}
    return Decision(tool_calls=(call,) if call else (), **whole)


ENDLESS: dict[str, Any] = {}
ENDLESS['more'] = [ENDLESS, 'x' * 1000]
TOO_MUCH = 'x' * (ANSWER_MAX_CHARS + 1)
LOOK = ToolCall('a', 'list_places', {})


@pytest.mark.parametrize(
    ('answer', 'said'),
    [
        (_own(rationale=TOO_MUCH), "the answer's texts exceed"),
        (_own(LOOK, thinking=TOO_MUCH), "the answer's texts exceed"),
        (_own(replace(LOOK, arguments={'q': TOO_MUCH})), "the answer's calls exceed"),
        (_own(replace(LOOK, arguments=ENDLESS)), "the answer's calls exceed"),
        (_own(replace(LOOK, malformed=TOO_MUCH)), 'reasons against calls exceed'),
        (_own(LOOK, raw_content=({'text': TOO_MUCH},)), "the answer's raw content exceed"),
        (_own(LOOK, raw_content=(ENDLESS,)), "the answer's raw content exceed"),
        (_own(LOOK, usage={'a': [0] * (ANSWER_MAX_CHARS + 1)}), "the answer's usage exceed"),
        (None, 'answered with NoneType, which is no Decision'),
        ({'text': 'Well.'}, 'answered with dict, which is no Decision'),
    ],
    ids=range(10),
)
def test_an_answer_without_end_of_a_client_of_ones_own_ends_its_mission_and_nothing_else(
    tmp_path: Path, answer: Any, said: str
) -> None:
    events = _mission(tmp_path / 'j.db', OwnClient(answer))
    [recorded] = [payload for kind, payload in events if kind == 'MODEL_RESPONSE_RECORDED']
    assert said in recorded['error']
    [end] = [payload for kind, payload in events if kind == 'MISSION_ENDED']
    assert end['reason'] == 'model_error'
    assert 'TOOL_CALL_RECORDED' not in [kind for kind, _ in events]
    assert sum(len(json.dumps(payload)) for _, payload in events) < 64 * 1024


@pytest.mark.parametrize('name', ['id', 'name'])
def test_an_answer_with_a_name_or_an_id_without_end_is_asked_for_again(
    tmp_path: Path, name: str
) -> None:
    long: dict[str, Any] = {name: 'x' * (NAME_MAX_CHARS + 1)}
    finish = ToolCall('b', 'finish_mission', FINISH)
    events = _mission(tmp_path / 'j.db', OwnClient(_own(replace(LOOK, **long)), _own(finish)))
    errors = [p['error'] for kind, p in events if kind == 'MODEL_RESPONSE_RECORDED']
    assert errors == [f'a name or an id in the answer exceeds {NAME_MAX_CHARS} characters', None]


def test_of_an_error_without_end_the_beginning_is_told_and_it_may_still_pass(
    tmp_path: Path,
) -> None:
    model = OwnClient(
        ModelError('busy ' * 10_000, retryable=True, retry_after_s=3.0),
        ValueError('odd ' * 10_000),
    )
    events = _mission(tmp_path / 'j.db', model)
    busy, odd = [p for kind, p in events if kind == 'MODEL_RESPONSE_RECORDED']
    assert (busy['retryable'], busy['retry_after_s']) == (True, 3.0)
    assert busy['error'].startswith('busy busy')
    assert odd['error'].startswith("the model client failed: ValueError('odd odd")
    assert max(len(busy['error']), len(odd['error'])) <= ERROR_MAX_BYTES


@pytest.mark.parametrize('where', ['text', 'arguments', 'reason'])
def test_the_longest_answer_holds_the_loop_for_no_longer_than_a_moment(
    tmp_path: Path, where: str
) -> None:
    text = LINE * (ANSWER_MAX_BYTES // len(LINE) * 9 // 10)
    first = {
        'text': said(words(text), used('list_places', {}, id='a')),
        'arguments': said(used('list_places', {'q': text}, id='a')),
        'reason': said(used('finish_mission', {**FINISH, 'reason': text}, id='a')),
    }[where]
    model = RawModel([first, said(used('finish_mission', FINISH, id='b'))])
    begin = time.process_time()
    _mission(tmp_path / 'j.db', model)
    # The whole mission with its journal: 0.3 s here, where one step of it took 5 s.
    assert time.process_time() - begin < 2.0
