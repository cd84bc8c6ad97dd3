# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""K29 to K33: what a model or its API gets wrong, and what the loop does about it.

Missions run on virtual time with answers in the Messages API's own JSON, and every request is held
against the API's rules. What happens on the wire is at the end: the official SDK over sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
import functools
from itertools import pairwise
import json
import math
from pathlib import Path
import socket
import struct
from typing import Any

from arriving_nav2 import ArrivingNav2
import pytest
from raw_model import OVERLOADED, RawModel, said, used, words

from robot_agent_harness.errors import ModelError
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.llm import ModelRequest, UserMessage
from robot_agent_harness.llm.anthropic import AnthropicClient
from robot_agent_harness.llm.client import Decision, ModelClient
from robot_agent_harness.mission import MissionOutcome, MissionReport
from robot_agent_harness.testing import Bench, check_journal, run_virtual
from robot_agent_harness.world.salient import Salient

INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
LOOK = used('list_places', id='look1')
THOUGHT = 'the shelf is behind the door'


def go(x: float = 1.0, id: str = 'tu1', **arguments: Any) -> dict[str, Any]:
    return used('navigate_to_pose', {'x': x, 'y': 0.0, **INTENT, **arguments}, id=id)


def finish(id: str = 'end1') -> dict[str, Any]:
    arguments = {'outcome': 'achieved', 'reason': 'it was seen to arrive'}
    return said(used('finish_mission', arguments, id=id))


class Rig:
    """Runs one mission, and keeps what it led to."""

    def __init__(self, tmp_path: Path, *answers: Any, **parameters: Any) -> None:
        self.path = tmp_path / 'journal.db'
        self.model = RawModel(answers)
        self.nav2 = ArrivingNav2()
        self.parameters = parameters
        self.events: list[RecordedEvent] = []

    def run(self, meanwhile: Callable[[Bench], Awaitable[None]] | None = None) -> MissionReport:
        return run_virtual(self.mission(self.model, meanwhile))

    async def mission(
        self, model: ModelClient, meanwhile: Callable[[Bench], Awaitable[None]] | None = None
    ) -> MissionReport:
        bench = Bench(self.path, model=model, nav2=self.nav2, parameters=self.parameters)
        async with bench:
            self.nav2.bench = bench
            mission = asyncio.create_task(bench.core.harness.run_mission('fetch', 'mission-a'))
            if meanwhile is not None:
                await meanwhile(bench)
            report = await asyncio.wait_for(mission, 600)
        with JournalReader(self.path) as reader:
            self.events = list(reader.events())
        assert check_journal(self.path) == []
        assert self.model.problems == []
        return report

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event.payload for event in self.events if event.type == kind]

    @property
    def statuses(self) -> list[str]:
        return [result['status'] for result in self.of('TOOL_RESULT_RECORDED')]

    @property
    def errors(self) -> list[str | None]:
        return [response['error'] for response in self.of('MODEL_RESPONSE_RECORDED')]

    @property
    def called(self) -> list[str]:
        """The provider's ids of the calls that reached the dispatcher."""
        return [call['client']['tool_use_id'] for call in self.of('TOOL_CALL_RECORDED')]

    def asked_s(self) -> list[float]:
        """When each attempt to ask the model ended, in seconds from the first."""
        ends = [e.wall_time_ns for e in self.events if e.type == 'MODEL_RESPONSE_RECORDED']
        return [(end - ends[0]) / 1e9 for end in ends]


# -- K29: the way to the model fails --------------------------------------------------------------


def test_of_a_broken_answer_nothing_is_carried_out_and_of_its_repetition_everything_once(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, OVERLOADED, OVERLOADED, said(go(id='tu2')), finish())
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    assert (rig.called, len(rig.nav2.sent)) == (['tu2', 'end1'], 1)
    assert rig.errors == [str(OVERLOADED), str(OVERLOADED), None, None]
    assert rig.model.bodies[0] == rig.model.bodies[1] == rig.model.bodies[2]


def test_a_failure_that_may_pass_is_waited_out_a_bounded_number_of_times(tmp_path: Path) -> None:
    rig = Rig(tmp_path, *[OVERLOADED] * 10)
    report = rig.run()
    assert (report.reason, report.outcome) == ('model_error', MissionOutcome.UNKNOWN)
    assert rig.asked_s() == pytest.approx([0.0, 1.0, 3.0, 7.0], abs=0.01)
    assert rig.nav2.sent == []
    recorded = rig.of('MODEL_RESPONSE_RECORDED')
    assert all(attempt['retryable'] for attempt in recorded)
    assert all(attempt['tool_calls'] == [] for attempt in recorded)


@pytest.mark.parametrize(
    ('retry_after_s', 'asked_s'), [(0.2, [0.0, 1.0]), (9.0, [0.0, 9.0]), (30.0, [0.0, 30.0])]
)
def test_the_pause_that_a_provider_asks_for_is_kept(
    tmp_path: Path, retry_after_s: float, asked_s: list[float]
) -> None:
    slow_down = ModelError('429 slow down', retryable=True, retry_after_s=retry_after_s)
    rig = Rig(tmp_path, slow_down, said(go()), finish())
    rig.run()
    assert rig.asked_s()[:2] == pytest.approx(asked_s, abs=0.01)
    assert rig.of('MODEL_RESPONSE_RECORDED')[0]['retry_after_s'] == retry_after_s


@pytest.mark.parametrize(
    'error',
    [
        ModelError('429 come back in an hour', retryable=True, retry_after_s=3600.0),
        ModelError('401 the key was not accepted'),
        ModelError('400 prompt is too long'),
    ],
)
def test_a_failure_that_does_not_pass_ends_the_mission_at_once(
    tmp_path: Path, error: ModelError
) -> None:
    rig = Rig(tmp_path, error, said(go()))
    assert rig.run().reason == 'model_error'
    assert rig.errors == [str(error)]
    assert rig.nav2.sent == []


def test_a_failure_inside_the_tool_loop_repeats_the_question_and_no_tool(tmp_path: Path) -> None:
    rig = Rig(tmp_path, said(LOOK), OVERLOADED, said(go()), finish())
    rig.run()
    assert rig.called == ['look1', 'tu1', 'end1']
    assert rig.model.bodies[1] == rig.model.bodies[2]


def test_a_world_that_moved_on_during_the_retries_meets_the_check(tmp_path: Path) -> None:
    rig = Rig(tmp_path, OVERLOADED, OVERLOADED, said(go(2.0)), said(go(2.0, 'tu2')), finish())

    async def push(bench: Bench) -> None:
        await asyncio.sleep(1.5)
        bench.robot.place(0.9, 0.0)

    rig.run(push)
    assert rig.statuses == ['precondition_changed', 'accepted', 'completed']
    assert len(rig.nav2.sent) == 1


def test_a_model_that_is_lost_leaves_no_action_behind(tmp_path: Path) -> None:
    rig = Rig(tmp_path, said(go(5.0)), *[OVERLOADED] * 4)
    rig.nav2.silent = True

    async def hurry(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.notify(Salient('human_message', 'hurry', {}))

    assert rig.run(hurry).reason == 'model_error'
    assert set(rig.nav2.cancel_requests) == {rig.nav2.own_goal}
    assert len(rig.of('ROBOT_ACTION_OUTCOME')) == 1


# -- K30: answers that end in the middle ----------------------------------------------------------


@pytest.mark.parametrize('stop_reason', ['max_tokens', 'model_context_window_exceeded'])
@pytest.mark.parametrize(
    'content',
    [
        [used('navigate_to_pose', {}, id='tu1')],
        [used('navigate_to_pose', {'x': 2.0}, id='tu1')],
        [go()],
        [words('I will now'), go(), used('navigate_to_pose', {}, id='tu2')],
        [LOOK, used('finish_mission', {'outcome': 'achieved'}, id='tu2')],
        [{'type': 'thinking', 'thinking': THOUGHT, 'signature': 's'}, go()],
        [{**go(), 'input': '{"x": 2.0, "y": 0'}],
        [{**go(), 'input': None}],
    ],
)
def test_no_call_of_an_answer_that_was_cut_is_carried_out_and_each_is_told_so(
    tmp_path: Path, content: list[dict[str, Any]], stop_reason: str
) -> None:
    cut = said(*content, stop_reason=stop_reason)
    rig = Rig(tmp_path, cut, said(go(3.0, 'tu9')), finish())
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    calls = [block['id'] for block in content if block['type'] == 'tool_use']
    assert rig.called == [*calls, 'tu9', 'end1']
    assert rig.statuses == [*['invalid_arguments'] * len(calls), 'accepted', 'completed']
    for result in rig.of('TOOL_RESULT_RECORDED')[: len(calls)]:
        assert 'truncated' in result['structured']['message']
    assert len(rig.nav2.sent) == 1
    answered = rig.model.bodies[1]['messages'][2]['content']
    assert [block['tool_use_id'] for block in answered] == calls
    assert all(block['is_error'] for block in answered)


@pytest.mark.parametrize('stop_reason', ['max_tokens', 'refusal', 'something_new'])
def test_a_model_whose_answers_are_never_whole_is_not_asked_for_ever(
    tmp_path: Path, stop_reason: str
) -> None:
    answers = [said(go(3.0, f'tu{n}'), stop_reason=stop_reason) for n in range(20)]
    rig = Rig(tmp_path, *answers)
    assert rig.run().reason == 'no_decision'
    assert len(rig.model.bodies) == 3
    assert rig.statuses == ['invalid_arguments'] * 3


DEEP = functools.reduce(lambda inner, _: {'a': inner}, range(900), 1)


@pytest.mark.parametrize(
    'arguments', ['{"x": 2.0, "y": 0', [2.0, 0.0], None, 7, {'x': math.inf}, {'y': DEEP}]
)
def test_arguments_that_are_no_object_move_nothing_even_in_a_whole_answer(
    tmp_path: Path, arguments: Any
) -> None:
    rig = Rig(tmp_path, said({**go(), 'input': arguments}), said(go(1.0, 'tu2')), finish())
    rig.run()
    assert rig.statuses == ['invalid_arguments', 'accepted', 'completed']
    assert len(rig.nav2.sent) == 1


def test_a_mission_is_not_finished_before_its_model_has_heard_how_its_action_ended(
    tmp_path: Path,
) -> None:
    thinks = asyncio.Event()

    class Slow(RawModel):
        async def decide(self, request: ModelRequest) -> Decision:
            if len(self.bodies) == 1:
                thinks.set()
                await asyncio.sleep(20.0)  # meanwhile the robot arrives
            return await super().decide(request)

    early = used('finish_mission', {'outcome': 'not_achieved', 'reason': 'too slow'}, id='end0')
    rig = Rig(tmp_path, said(go()), said(early), finish())
    rig.model = Slow([said(go()), said(early), finish()])

    async def ask(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.notify(Salient('human_message', 'how is it going?'))
        await thinks.wait()

    report = rig.run(ask)
    assert rig.statuses == ['accepted', 'tool_error', 'completed']
    assert 'ended SUCCEEDED' in str(rig.model.bodies[-1])
    assert report.outcome is MissionOutcome.ACHIEVED


@pytest.mark.parametrize('stop_reason', ['refusal', 'pause_turn', 'of_next_year'])
def test_a_call_before_an_end_that_is_none_moves_nothing(tmp_path: Path, stop_reason: str) -> None:
    rig = Rig(tmp_path, said(go(), stop_reason=stop_reason), said(go(1.0, 'tu2')), finish())
    rig.run()
    assert rig.statuses == ['invalid_arguments', 'accepted', 'completed']


def test_an_answer_cut_while_thinking_is_asked_for_again(tmp_path: Path) -> None:
    cut = said(
        {'type': 'thinking', 'thinking': THOUGHT, 'signature': 's'}, stop_reason='max_tokens'
    )
    rig = Rig(tmp_path, cut, said(go()), finish())
    assert rig.run().outcome is MissionOutcome.ACHIEVED


# -- K31: several calls, and wrong ones -----------------------------------------------------------


@pytest.mark.parametrize(
    ('calls', 'statuses'),
    [
        ([go(1.0, 'a'), go(2.0, 'b')], ['accepted', 'one_managed_action_per_step']),
        (
            [go(1.0, 'a'), LOOK, go(2.0, 'b'), go(1.0, 'c')],
            [
                'accepted',
                'completed',
                'one_managed_action_per_step',
                'one_managed_action_per_step',
            ],
        ),
        ([used('fly_to', {'z': 3}, id='a'), go(1.0, 'b')], ['unknown_tool', 'accepted']),
        (
            [go(1.0, 'a'), used('navigate_to_place', {'name': 'kitchen', **INTENT}, id='b')],
            ['accepted', 'one_managed_action_per_step'],
        ),
    ],
)
def test_of_several_physical_calls_one_is_carried_out_and_each_has_its_result(
    tmp_path: Path, calls: list[dict[str, Any]], statuses: list[str]
) -> None:
    rig = Rig(tmp_path, said(*calls), finish())
    rig.run()
    assert rig.statuses == [*statuses, 'completed']
    assert rig.called == [*(call['id'] for call in calls), 'end1']
    assert len(rig.nav2.sent) == 1


@pytest.mark.parametrize(
    'calls',
    [
        [go('1,5', 'a'), go(2.0, 'b')],
        [used('fly_to', {'z': 3}, id='b'), LOOK, used('land', id='a')],
        [LOOK, go('x', 'b')],
    ],
)
def test_all_calls_of_an_answer_are_answered_together_in_their_order(
    tmp_path: Path, calls: list[dict[str, Any]]
) -> None:
    rig = Rig(tmp_path, said(*calls), said(go(1.0, 'tu9')), finish())
    rig.run()
    answered = rig.model.bodies[1]['messages'][2]['content']
    assert [block['type'] for block in answered] == ['tool_result'] * len(calls)
    assert [block['tool_use_id'] for block in answered] == [call['id'] for call in calls]
    assert len(rig.nav2.sent) == 1


@pytest.mark.parametrize('name', ['fly_to', 'Navigate_To_Pose', 'navigate to pose', 'ü' * 200, ''])
def test_an_invented_tool_is_answered_with_those_that_exist_and_the_loop_goes_on(
    tmp_path: Path, name: str
) -> None:
    rig = Rig(tmp_path, said(used(name, {'z': 3}, id='tu1')), said(go(1.0, 'tu2')), finish())
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    told = rig.of('TOOL_RESULT_RECORDED')[0]
    assert told['status'] == 'unknown_tool'
    assert 'navigate_to_pose' in told['structured']['message']


def test_calls_that_share_an_id_move_nothing_and_are_answered_apart(tmp_path: Path) -> None:
    twice = said(go(1.0, 'tu1'), go(2.0, 'tu1'))
    rig = Rig(tmp_path, twice, said(go(1.0, 'tu2')), finish())
    rig.run()
    assert rig.statuses == ['invalid_arguments', 'invalid_arguments', 'accepted', 'completed']
    assert len(rig.nav2.sent) == 1
    answered = [b['tool_use_id'] for b in rig.model.bodies[1]['messages'][2]['content']]
    assert len(set(answered)) == 2


def test_an_id_that_comes_again_in_a_later_turn_is_another_call(tmp_path: Path) -> None:
    rig = Rig(tmp_path, said(go(1.0, 'tu1')), said(go(2.0, 'tu1')), finish('tu1'))
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    assert rig.called == ['tu1'] * 3
    calls = [e.tool_call_id for e in rig.events if e.type == 'TOOL_CALL_RECORDED']
    assert len(set(calls)) == 3
    assert len(rig.nav2.sent) == 2


def test_an_id_that_comes_again_in_the_same_turn_is_another_call_too(tmp_path: Path) -> None:
    again = [said(used(name, id='1')) for name in ('list_places', 'get_world_snapshot')]
    rig = Rig(tmp_path, *again, said(go(1.0, '1')), finish('1'))
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    assert rig.called == ['1'] * 4
    assert rig.statuses == ['completed', 'completed', 'accepted', 'completed']


# -- K32: no usable call --------------------------------------------------------------------------

NO_CALL = {
    'nothing': said(),
    'blank': said(words('  \n')),
    'a claim': said(words('I have arrived at the shelf. Mission accomplished!')),
    'a refusal': said(stop_reason='refusal'),
    'a stop': said(words('Done.'), stop_reason='stop_sequence'),
    'a call in words': said(words('{"name": "navigate_to_pose", "input": {"x": 1, "y": 0}}')),
    'thoughts': said({'type': 'thinking', 'thinking': THOUGHT, 'signature': 's'}),
}


@pytest.mark.parametrize('answer', NO_CALL.values(), ids=NO_CALL.keys())
def test_an_answer_without_a_call_is_asked_for_once_more_and_proves_nothing(
    tmp_path: Path, answer: dict[str, Any]
) -> None:
    rig = Rig(tmp_path, *[answer] * 20)
    report = rig.run()
    assert (report.reason, report.outcome) == ('no_decision', MissionOutcome.UNKNOWN)
    assert report.claim is None
    assert len(rig.model.bodies) == 2
    assert rig.nav2.sent == []
    recorded = rig.of('MODEL_RESPONSE_RECORDED')
    assert [response['tool_calls'] for response in recorded] == [[], []]
    assert recorded[0]['stop_reason'] == answer['stop_reason']


@pytest.mark.parametrize('answer', NO_CALL.values(), ids=NO_CALL.keys())
def test_an_answer_without_a_call_under_a_running_action_leaves_it_to_its_outcome(
    tmp_path: Path, answer: dict[str, Any]
) -> None:
    rig = Rig(tmp_path, said(go(2.0)), answer, finish())
    rig.nav2.falls_short = 1

    async def ask(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.notify(Salient('human_message', 'are you there?', {}))

    report = rig.run(ask)
    triggers = [turn['trigger'] for turn in rig.of('MODEL_TURN_STARTED')]
    assert triggers == ['mission_started', 'human_message', 'action_outcome']
    assert len(rig.model.bodies) == 3
    assert [o['state'] for o in rig.of('ROBOT_ACTION_OUTCOME')] == ['FAILED']
    assert (report.outcome, report.claim_supported) == (MissionOutcome.NOT_ACHIEVED, False)


def test_an_empty_end_after_a_tool_result_is_asked_about_once_and_is_never_sent_back(
    tmp_path: Path,
) -> None:
    looks = [said(used('list_places', id=f'look{number}')) for number in range(30)]
    rig = Rig(tmp_path, *[answer for look in looks for answer in (look, said())])
    assert rig.run().reason == 'no_decision'
    assert len(rig.model.bodies) == 4


def test_words_beside_a_call_are_its_rationale_and_no_claim(tmp_path: Path) -> None:
    boast = said(words('I have arrived.'), go(2.0), words(''))
    rig = Rig(tmp_path, boast, finish())
    rig.nav2.falls_short = 1
    report = rig.run()
    assert report.outcome is MissionOutcome.NOT_ACHIEVED
    assert rig.of('MODEL_RESPONSE_RECORDED')[0]['rationale'] == 'I have arrived.'


# -- K33: thinking --------------------------------------------------------------------------------

SIGNED = {'type': 'thinking', 'thinking': THOUGHT, 'signature': 'c2ln+/=='}
REDACTED = {'type': 'redacted_thinking', 'data': 'b3BhcXVl\u2028ü'}
EMPTY = {'type': 'thinking', 'thinking': '', 'signature': 'b21pdHRlZA=='}
NEWER = {'type': 'of_next_year', 'id': 'n1', 'deep': [{'a': 1.0, 'b': None}]}


@pytest.mark.parametrize(
    'content',
    [
        [SIGNED, LOOK],
        [REDACTED, SIGNED, LOOK],
        [SIGNED, words('First I look.'), REDACTED, LOOK],
        [EMPTY, LOOK],
        [NEWER, SIGNED, {**LOOK, 'caller': {'type': 'direct'}}],
        [SIGNED, used('fly_to', {'z': 3}, id='look1')],
    ],
)
def test_blocks_go_back_as_they_came_within_the_turn_and_nowhere_after_it(
    tmp_path: Path, content: list[dict[str, Any]]
) -> None:
    second = [{**SIGNED, 'signature': 'second'}, used('get_world_snapshot', id='look2')]
    third = [{**SIGNED, 'signature': 'third'}, go()]
    rig = Rig(tmp_path, said(*content), said(*second), said(*third), finish())
    assert rig.run().outcome is MissionOutcome.ACHIEVED
    within = rig.model.bodies[2]['messages']
    assert [within[1]['content'], within[3]['content']] == [content, second]
    [alone] = rig.model.bodies[3]['messages']
    assert alone['role'] == 'user'
    after = json.dumps(rig.model.bodies[3], ensure_ascii=False)
    for kept in (THOUGHT, 'c2ln', 'b3BhcXVl', 'second', 'third', 'of_next_year'):
        assert kept not in after


def test_thinking_is_on_record_once_and_in_no_history(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path,
        said(SIGNED, LOOK),
        said(words('The way is free.'), go()),
        said(go(2.0, 'tu2')),
        finish(),
    )
    rig.run()
    kinds = [event.type for event in rig.events if THOUGHT in json.dumps(event.payload)]
    assert kinds == ['MODEL_RESPONSE_RECORDED']
    assert rig.of('MODEL_RESPONSE_RECORDED')[0]['raw_content'] == [SIGNED, LOOK]
    assert rig.of('MODEL_RESPONSE_RECORDED')[0]['thinking'] == THOUGHT
    for turn in rig.of('MODEL_TURN_STARTED')[1:]:
        assert THOUGHT not in turn['user_prompt']
    assert 'The way is free.' in rig.of('MODEL_TURN_STARTED')[-1]['user_prompt']


# -- on the wire ----------------------------------------------------------------------------------

HALF = (
    b'{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"tu1","name":"navi'
)
OVERLOADED_BODY = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
STREAM = b"""event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"tu1"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"partial_json":"{\\"x\\": 2"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"""


def http(
    body: bytes,
    *,
    status: int = 200,
    length: int | None = None,
    kind: str = 'application/json',
    **headers: str,
) -> bytes:
    """Return an HTTP response as bytes; the length that it promises may be wrong."""
    promised = len(body) if length is None else length
    head = [f'HTTP/1.1 {status} X', f'content-type: {kind}', f'content-length: {promised}']
    head += [f'{name.replace("_", "-")}: {value}' for name, value in headers.items()]
    return '\r\n'.join([*head, 'connection: close', '', '']).encode() + body


def whole(*content: dict[str, Any]) -> bytes:
    made = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'claude-test'}
    return http(json.dumps({**made, **said(*content)}).encode())


RESET = struct.pack('ii', 1, 0)
"""Lingering for 0 s: closing sends a reset instead of an orderly end."""


@contextlib.asynccontextmanager
async def api(*replies: bytes, reset: bool = False) -> AsyncIterator[str]:
    """Answer one connection after the other with these bytes, and yield the base URL.

    :param reset: reset the connection of each answer but the last.
    """
    left = list(replies)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b'\r\n\r\n')).lower()
        await reader.readexactly(int(head.partition(b'content-length:')[2].split()[0]))
        writer.write(left.pop(0))
        await writer.drain()
        if reset and left:
            sock = writer.get_extra_info('socket')
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        writer.close()

    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    try:
        yield f'http://127.0.0.1:{server.sockets[0].getsockname()[1]}'
    finally:
        server.close()
        await server.wait_closed()


@contextlib.asynccontextmanager
async def client_of(url: str, **settings: Any) -> AsyncIterator[AnthropicClient]:
    """Make a client as the factory does: the loop, and not the client, asks again."""
    client = AnthropicClient(
        model='claude-test', api_key='sk-test', base_url=url, max_attempts=1, **settings
    )
    try:
        yield client
    finally:
        await client.close()


PASSING = {
    'the body ends in the middle': http(HALF, length=5000),
    'the body ends before it began': http(b'', length=5000),
    'the connection ends without an answer': b'',
    'the head ends in the middle': b'HTTP/1.1 200 OK\r\ncontent-ty',
    'half a call and then overloaded': http(STREAM, kind='text/event-stream'),
    '200, and overloaded': http(OVERLOADED_BODY),
    '200, and half a message': http(HALF),
    '529': http(OVERLOADED_BODY, status=529),
    '429': http(b'{"type":"error","error":{"type":"rate_limit_error","message":"m"}}', status=429),
    '408': http(b'', status=408),
    '500': http(b'{"type":"error","error":{"type":"api_error","message":"m"}}', status=500),
    '502 of a gateway': http(b'<html>Bad gateway</html>', status=502, kind='text/html'),
    '503': http(b'', status=503),
    '504': http(b'upstream timed out', status=504, kind='text/plain'),
}
LASTING = {
    '400': http(
        b'{"type":"error","error":{"type":"invalid_request_error","message":"m"}}', status=400
    ),
    '401': http(
        b'{"type":"error","error":{"type":"authentication_error","message":"m"}}', status=401
    ),
    '403': http(b'{"type":"error","error":{"type":"permission_error","message":"m"}}', status=403),
    '404': http(b'{"type":"error","error":{"type":"not_found_error","message":"m"}}', status=404),
    '413': http(
        b'{"type":"error","error":{"type":"request_too_large","message":"m"}}', status=413
    ),
    '200, and an error of the request': http(
        b'{"type":"error","error":{"type":"invalid_request_error","message":"m"}}'
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize('reset', [False, True], ids=['closed', 'reset'])
@pytest.mark.parametrize('reply', PASSING.values(), ids=PASSING.keys())
async def test_what_fails_in_passing_on_the_wire_is_no_answer_and_may_be_asked_again(
    reply: bytes, reset: bool
) -> None:
    question = ModelRequest(system='', messages=(UserMessage('Go.'),), tools=())
    async with api(reply, whole(go()), reset=reset) as url, client_of(url) as client:
        with pytest.raises(ModelError) as caught:
            await client.decide(question)
        assert caught.value.retryable, str(caught.value)
        assert (await client.decide(question)).tool_calls[0].id == 'tu1'


@pytest.mark.anyio
@pytest.mark.parametrize('reply', LASTING.values(), ids=LASTING.keys())
async def test_what_fails_for_good_on_the_wire_says_so(reply: bytes) -> None:
    question = ModelRequest(system='', messages=(UserMessage('Go.'),), tools=())
    async with api(reply) as url, client_of(url) as client:
        with pytest.raises(ModelError) as caught:
            await client.decide(question)
    assert not caught.value.retryable


@pytest.mark.anyio
async def test_a_mission_survives_a_bad_line_and_acts_once(tmp_path: Path) -> None:
    replies = (
        http(STREAM, kind='text/event-stream'),
        http(HALF, length=5000),
        http(OVERLOADED_BODY, status=529, retry_after='1'),
        whole(go(1.0, 'tu2')),
        whole(finish()['content'][0]),
    )
    rig = Rig(tmp_path)
    async with api(*replies) as url, client_of(url) as client:
        report = await rig.mission(client)
    assert report.outcome is MissionOutcome.ACHIEVED
    assert (rig.called, len(rig.nav2.sent)) == (['tu2', 'end1'], 1)
    assert [error is None for error in rig.errors] == [False, False, False, True, True]
    assert [later - earlier >= 0.9 for earlier, later in pairwise(rig.asked_s()[:4])] == [True] * 3
