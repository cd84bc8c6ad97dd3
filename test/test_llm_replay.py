# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The replay provider: a recorded mission's answers, given again to the real loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arriving_nav2 import ArrivingNav2
from journal_rig import content, of_first_release
import pytest
from raw_model import RawModel, said, used

from robot_agent_harness.errors import ConfigurationError, ModelError
from robot_agent_harness.events import Correlation, MissionStarted
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.llm import make_client, ModelSettings, ReplayClient
from robot_agent_harness.llm.client import ModelClient, ModelRequest, ToolSpec
from robot_agent_harness.mission import MissionReport
from robot_agent_harness.testing import Bench, call, check_journal, response, run_virtual, scripted
from robot_agent_harness.world.salient import Salient

INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FINISH = call('finish_mission', outcome='achieved', reason='it was seen to arrive')
EVERYTHING = (
    response(error={'message': '529 overloaded_error: busy', 'retryable': True}),
    response(error={'message': '429 slow down', 'retryable': True, 'retry_after_s': 3.0}),
    response(
        say='I cannot say it all.',
        call={'name': 'navigate_to_pose', 'arguments': {'x': 1.0}},
        stop_reason='max_tokens',
    ),
    call('list_places', say='Where is what?'),
    response(
        say='Both ways are free.',
        thinking='1 is nearer than 2.',
        calls=[
            {'name': 'navigate_to_pose', 'arguments': {'x': x, 'y': 0.0, **INTENT}, 'id': f'tu{x}'}
            for x in (1.0, 2.0)
        ],
    ),
    call('fly_to', z=3),
    FINISH,
)


def mission(
    path: Path,
    model: ModelClient,
    *,
    meanwhile: Callable[[Bench], Any] | None = None,
) -> MissionReport:
    async def scenario() -> MissionReport:
        nav2 = ArrivingNav2()
        async with Bench(path, model=model, nav2=nav2) as bench:
            nav2.bench = bench
            running = asyncio.create_task(bench.core.harness.run_mission('fetch', 'mission-a'))
            if meanwhile is not None:
                await asyncio.sleep(0.5)
                meanwhile(bench)
            return await asyncio.wait_for(running, 600)

    report = run_virtual(scenario())
    assert check_journal(path) == []
    return report


def record(tmp_path: Path, *responses: dict[str, Any]) -> Path:
    path = tmp_path / 'recorded.db'
    mission(path, scripted(*responses))
    return path


def told(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the payloads of a type, without who answered."""
    with JournalReader(path) as reader:
        payloads = [event.payload for event in reader.events(type=kind)]
    return [{key: value for key, value in p.items() if key != 'provider'} for p in payloads]


def test_a_mission_replayed_is_the_same_mission(tmp_path: Path) -> None:
    recorded = record(tmp_path, *EVERYTHING)
    before = content(recorded)
    client = ReplayClient.from_journal(recorded)
    report = mission(tmp_path / 'again.db', client)

    assert report.claim_supported
    assert (client.provider, client.model) == ('replay', 'script')
    kinds = ('MODEL_RESPONSE_RECORDED', 'TOOL_CALL_RECORDED', 'TOOL_RESULT_RECORDED')
    for kind in (*kinds, 'ROBOT_ACTION_OUTCOME', 'MODEL_TURN_STARTED', 'MISSION_ENDED'):
        then, now = told(recorded, kind), told(tmp_path / 'again.db', kind)
        for payload in (*then, *now):
            payload.pop('client', None)  # says which provider called
        assert now == then != [], kind
    assert content(recorded) == before


def test_failed_attempts_fail_again_in_the_same_way(tmp_path: Path) -> None:
    client = ReplayClient.from_journal(record(tmp_path, *EVERYTHING))
    question = first_question(tmp_path)
    for text, retry_after_s in (('529 overloaded_error: busy', None), ('429 slow down', 3.0)):
        with pytest.raises(ModelError) as caught:
            asyncio.run(client.decide(question))
        assert (str(caught.value), caught.value.retryable) == (text, True)
        assert caught.value.retry_after_s == retry_after_s
    cut = asyncio.run(client.decide(question))
    assert (cut.stop_reason, cut.tool_calls[0].malformed) == (
        'max_tokens',
        'truncated: max_tokens',
    )


def first_question(tmp_path: Path, **changes: Any) -> ModelRequest:
    """Return what the model was asked at the beginning of the recorded mission."""
    [turn, *_] = told(tmp_path / 'recorded.db', 'MODEL_TURN_STARTED')
    asked = {**turn, **changes}
    return ModelRequest(
        system='',
        messages=(),
        tools=tuple(ToolSpec(name, '', {}) for name in asked['tools']),
        metadata={'step': asked['step'], 'trigger': asked['trigger']},
    )


def test_content_blocks_come_back_as_they_were_recorded(tmp_path: Path) -> None:
    recorded = record(tmp_path, response(thinking='t', say='words', **FINISH))
    blocks = told(recorded, 'MODEL_RESPONSE_RECORDED')[0]['raw_content']
    decision = asyncio.run(ReplayClient.from_journal(recorded).decide(first_question(tmp_path)))
    assert [block['type'] for block in blocks] == ['thinking', 'text', 'tool_use']
    assert list(decision.raw_content) == blocks
    assert (decision.rationale, decision.thinking) == ('words', 't')


def test_signed_hidden_and_unknown_blocks_are_replayed_value_for_value(tmp_path: Path) -> None:
    blocks = [
        {'type': 'thinking', 'thinking': 'left,\u2028then "right"', 'signature': 'c2ln+/=='},
        {'type': 'redacted_thinking', 'data': 'b3BhcXVl'},
        {'type': 'of_next_year', 'deep': [{'a': 1.0, 'b': None, 'ü': [1e-9, 10**15, True]}]},
        used('finish_mission', {'outcome': 'unknown', 'reason': '😀 \\ud83d'}, id='tu1'),
    ]
    mission(tmp_path / 'recorded.db', RawModel([said(*blocks)]))
    client = ReplayClient.from_journal(tmp_path / 'recorded.db')
    decision = asyncio.run(client.decide(first_question(tmp_path)))
    assert repr(in_order(list(decision.raw_content))) == repr(in_order(blocks))
    assert decision.usage == {'input_tokens': 100, 'output_tokens': 20}
    assert (decision.stop_reason, decision.model) == ('tool_use', 'claude-test')


def in_order(value: Any) -> Any:
    """Sort the keys at every depth; only their order may change."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list) else value


def test_the_last_mission_is_replayed_unless_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / 'recorded.db'
    answers = (call('list_places', say='first'), FINISH, call('list_places', say='second'), FINISH)

    async def scenario() -> None:
        async with Bench(path, model=scripted(*answers)) as bench:
            for mission_id in ('m-1', 'm-2'):
                await bench.core.harness.run_mission('fetch', mission_id)

    run_virtual(scenario())
    for name, words in ((None, 'second'), ('m-2', 'second'), ('m-1', 'first')):
        client = ReplayClient.from_journal(path, mission_id=name)
        assert asyncio.run(client.decide(first_question(tmp_path))).rationale == words


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'step': 2}, 'step is 2, was 1'),
        ({'trigger': 'battery_low'}, 'trigger is battery_low, was mission_started'),
        ({'tools': ['list_places']}, 'tools is list_places, was navigate_to_pose, '),
        ({'tools': []}, r'diverges before record \d+, answer 1 of 1: tools is , was'),
    ],
)
def test_another_question_than_the_recorded_one_gets_no_answer(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    client = ReplayClient.from_journal(record(tmp_path, FINISH))
    for _ in range(2):
        with pytest.raises(ModelError, match=said) as caught:
            asyncio.run(client.decide(first_question(tmp_path, **changes)))
        assert not caught.value.retryable
    assert asyncio.run(client.decide(first_question(tmp_path))).tool_calls


def test_a_question_beyond_the_last_answer_says_so(tmp_path: Path) -> None:
    client = ReplayClient.from_journal(record(tmp_path, FINISH))
    question = first_question(tmp_path)
    asyncio.run(client.decide(question))
    with pytest.raises(ModelError, match='mission mission-a: all 1 recorded answers are used up'):
        asyncio.run(client.decide(question))


def test_a_world_that_takes_another_turn_ends_the_replay_with_what_differs(
    tmp_path: Path,
) -> None:
    go = response(call={'name': 'navigate_to_pose', 'arguments': {'x': 1.0, 'y': 0.0, **INTENT}})
    client = ReplayClient.from_journal(record(tmp_path, go, FINISH))

    def shout(bench: Bench) -> None:
        bench.core.harness.notify(Salient('human_message', 'stop it', {}))

    path = tmp_path / 'again.db'
    report = mission(path, client, meanwhile=shout)
    assert report.reason == 'model_error'
    [*_, last] = told(path, 'MODEL_RESPONSE_RECORDED')
    assert 'trigger is human_message, was action_outcome' in last['error']


def test_a_mission_of_the_first_release_can_be_replayed(tmp_path: Path) -> None:
    of_first_release(tmp_path / 'old.db').close()
    client = ReplayClient.from_journal(tmp_path / 'old.db')
    report = mission(tmp_path / 'again.db', client)
    assert report.claim_supported
    errors = [p['error'] for p in told(tmp_path / 'again.db', 'MODEL_RESPONSE_RECORDED')]
    assert errors == ['529 overloaded_error: busy', None, None, None]


def test_a_cut_call_of_the_first_release_is_still_cut(tmp_path: Path) -> None:
    recorded = record(tmp_path, *EVERYTHING)
    client = ReplayClient.from_journal(recorded)
    for answer in client._answers:
        for tool_call in answer.answer['tool_calls']:
            del tool_call['malformed']
    mission(tmp_path / 'again.db', client)
    then, now = (
        [result['status'] for result in told(path, 'TOOL_RESULT_RECORDED')]
        for path in (recorded, tmp_path / 'again.db')
    )
    assert now == then


def nothing(tmp_path: Path) -> Path:
    return tmp_path / 'nothing.db'


def empty(tmp_path: Path) -> Path:
    async def scenario() -> None:
        async with Bench(tmp_path / 'empty.db'):
            pass

    run_virtual(scenario())
    return tmp_path / 'empty.db'


@pytest.mark.parametrize(
    ('make', 'name', 'said'),
    [
        (nothing, None, 'there is no journal'),
        (empty, None, r'empty\.db holds no mission$'),
        (empty, 'mission-9', r"empty\.db holds no mission 'mission-9'"),
    ],
)
def test_a_journal_that_cannot_be_replayed_is_named_at_the_start(
    tmp_path: Path, make: Callable[[Path], Path], name: str | None, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        ReplayClient.from_journal(make(tmp_path), mission_id=name)


def test_a_mission_whose_model_was_never_asked_cannot_be_replayed(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / 'silent.db'
        async with Bench(path, model=scripted(), parameters={'mission.max_steps': 1}) as bench:
            bench.core.harness.cancel_mission()
            started = MissionStarted(instruction='x', robot_id='r', provider='p', max_steps=1)
            await bench.core.journal.append((started, Correlation(mission_id='mission-s')))

    run_virtual(scenario())
    with pytest.raises(ConfigurationError, match=r'mission-s .*silent\.db: its model was never'):
        ReplayClient.from_journal(tmp_path / 'silent.db')


def test_the_parameters_choose_journal_and_mission(tmp_path: Path) -> None:
    recorded = record(tmp_path, FINISH)
    settings = ModelSettings(
        provider='replay', replay_journal=str(recorded), replay_mission='mission-a'
    )
    client = make_client(settings, {}, own_journal=str(tmp_path / 'own.db'))
    assert isinstance(client, ReplayClient)
    assert client.model == 'script'


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({}, 'needs model.replay_journal'),
        ({'replay_journal': 'nothing.db'}, 'model.replay_journal: .*there is no journal'),
        (
            {'replay_journal': 'recorded.db', 'replay_mission': 'mission-9'},
            "model.replay_journal: .*no mission 'mission-9'",
        ),
        ({'replay_journal': 'own.db'}, 'is journal.path, which the harness itself writes'),
        ({'replay_journal': 'link.db'}, 'is journal.path, which the harness itself writes'),
    ],
)
def test_a_wrong_choice_is_refused_by_the_name_of_its_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path, FINISH).rename(tmp_path / 'own.db')
    record(tmp_path, FINISH)
    (tmp_path / 'link.db').symlink_to('own.db')
    with pytest.raises(ConfigurationError, match=said):
        make_client(ModelSettings(provider='replay', **settings), {}, own_journal='own.db')
