# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the model is told: all that it needs, built anew each turn, and never more than so much."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
import gc
import json
from pathlib import Path
import re
from typing import Any

from arriving_nav2 import ArrivingNav2
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from robot_agent_harness import assembly
from robot_agent_harness.actions import board, tracker
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.planner import Prompt, Situation
from robot_agent_harness.llm.prompting import (
    EVIDENCE_BYTES,
    INSTRUCTION_BYTES,
    MissionPlanner,
    OLDER_DETAILS_BYTES,
)
from robot_agent_harness.llm.scripted import ScriptedClient
from robot_agent_harness.mailbox import Mailbox, MAILBOX_MAX
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.testing import Bench, call, response, run_virtual, scripted, text
from robot_agent_harness.texts import cut, one_line
from robot_agent_harness.world import WorldModel, WorldState
from robot_agent_harness.world.salient import Salient
from robot_agent_harness.world.store import SnapshotStore
from robot_agent_harness.world.world_model import (
    ACTION_BYTES,
    OUTCOME_BYTES,
    TEXT_BYTES,
    VALUE_BYTES,
    VARIABLE_NAME_BYTES,
    VARIABLES_MAX,
)

PAGE = (Path(__file__).parents[1] / 'docs' / 'world_model.md').read_text(encoding='utf-8')
INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FINISH = call('finish_mission', outcome='achieved', reason='r')
SITUATION = Situation('m', 'fetch the cup', 3, 50, 'action_outcome', ('it arrived',), '{"pose":1}')
HOSTILE = st.one_of(
    st.text(alphabet=st.characters(), max_size=20),
    st.sampled_from(['"\\', '\x00\x1f', '🤖', '\ud800', '# World\n', ' \n']),
)
"""Repeated by the tests: a failing example should stay short."""
REPEATED = 2000


def user(situation: Situation = SITUATION, world: WorldState | None = None) -> str:
    return MissionPlanner().prompt(situation, world=world).user


def sections(prompt: str) -> dict[str, list[str]]:
    parts = re.split(r'(?m)^# (.*)$', prompt)[1:]
    return {
        title: body.strip().splitlines()
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


# -- its content ----------------------------------------------------------------------------------


def test_a_prompt_is_mission_evidence_memory_decisions_and_world() -> None:
    model = WorldModel()
    model.decided(
        action='navigate_to_place{"name":"dock"}',
        purpose='charge',
        expected_outcome='it stands at the dock',
        rationale='The battery is low.',
        outcome='accepted',
        reason=None,
        action_id='a',
    )
    model.ended('a', outcome='FAILED', reason='aborted: no path')
    model.remember({'v': 'cup'}, {'v': 'red'})
    state = replace(model.state, current_place='kitchen', place_confirmed=True)
    told = sections(user(world=state))
    assert list(told) == [
        'Mission',
        'Since your last decision (step 3 of at most 50, asked because: action_outcome)',
        'What is remembered of this mission',
        'Earlier decisions, oldest first',
        'World',
    ]
    mission, evidence, memory, decisions, world = told.values()
    assert (mission, evidence, world) == (['- fetch the cup'], ['- it arrived'], ['{"pose":1}'])
    assert json.loads(memory[0]) == {
        'place': 'kitchen',
        'place_is': 'observed',
        'activity': 'no action under way',
        'variables': {'cup': 'red'},
    }
    assert json.loads(decisions[0][2:]) == {
        'action': 'navigate_to_place{"name":"dock"}',
        'outcome': 'FAILED',
        'purpose': 'charge',
        'expected_outcome': 'it stands at the dock',
        'reason': 'aborted: no path',
        'rationale': 'The battery is low.',
    }


def test_without_a_world_model_the_prompt_says_that_nothing_is_kept() -> None:
    told = sections(user(world=None))
    assert told['What is remembered of this mission'] == ['- nothing is kept']
    assert told['Earlier decisions, oldest first'] == ['- none are kept']


def test_intent_is_required_of_managed_tools_alone_and_only_where_the_model_reads(
    tmp_path: Path,
) -> None:
    model = scripted(FINISH)

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', model=model) as bench:
            await bench.core.harness.run_mission('go')

    run_virtual(scenario())
    managed = {entry.name: entry for entry in BUILT_IN if entry.managed}
    for tool in model.requests[0].tools:
        needed = set(tool.input_schema.get('required', ())) & set(INTENT)
        assert needed == (set(INTENT) if tool.name in managed else set())
        if tool.name in managed:
            fields = [tool.input_schema['properties'][name] for name in INTENT]
            assert [(f['type'], f['minLength']) for f in fields] == [('string', 1)] * 2
            assert not set(managed[tool.name].input_schema['properties']) & set(INTENT)


@pytest.mark.parametrize('given', [{}, {'purpose': '  ', 'expected_outcome': 7}])
def test_intent_that_the_model_leaves_out_is_absent_and_refuses_nothing(
    given: dict[str, Any], tmp_path: Path
) -> None:
    model, nav2 = scripted(call('navigate_to_pose', x=1.0, y=0.0, **given), FINISH), ArrivingNav2()

    async def scenario() -> list[Any]:
        async with Bench(tmp_path / 'j.db', model=model, nav2=nav2) as bench:
            nav2.bench = bench
            await bench.core.harness.run_mission('go')
            return [goal for _, goal in nav2.sent]

    (goal,) = run_virtual(scenario())
    assert goal == {'x': 1.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}
    decisions = sections(model.requests[1].messages[0].text)['Earlier decisions, oldest first']  # type: ignore[union-attr]
    assert not {'purpose', 'expected_outcome'} & set(json.loads(decisions[0][2:]))


def test_a_turn_is_told_nothing_of_what_was_said_and_thought_in_an_earlier_one(
    tmp_path: Path,
) -> None:
    think = {**call('list_places', say='WORDS OF THE FIRST ROUND'), 'thinking': 'MY THOUGHTS'}
    go = {
        **call('navigate_to_pose', say='I go.', x=1.0, y=0.0, **INTENT),
        'thinking': 'MY THOUGHTS',
    }
    model, nav2 = scripted(think, go, FINISH), ArrivingNav2()

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', model=model, nav2=nav2) as bench:
            nav2.bench = bench
            await bench.core.harness.run_mission('go')

    run_virtual(scenario())
    first, again, second = model.requests
    assert (len(first.messages), len(again.messages), len(second.messages)) == (1, 3, 1)
    prompt = second.messages[0].text  # type: ignore[union-attr]
    assert 'I go.' in prompt
    assert 'MY THOUGHTS' not in prompt
    assert 'FIRST ROUND' not in prompt


def test_the_same_mission_is_told_in_the_same_words(tmp_path: Path) -> None:
    async def scenario(path: Path) -> None:
        async with Bench(path, model=model, nav2=nav2) as bench:
            nav2.bench = bench
            await bench.core.harness.run_mission('go')

    prompts = []
    for number in range(2):
        go = call('navigate_to_place', say='I go.', name='kitchen', **INTENT)
        model, nav2 = scripted(call('list_places'), go, FINISH), ArrivingNav2()
        run_virtual(scenario(tmp_path / f'{number}.db'))
        prompts.append([request.messages[0].text for request in model.requests])  # type: ignore[union-attr]
    assert prompts[0] == prompts[1]
    assert '"place":"kitchen","place_is":"observed"' in prompts[0][-1]


# -- its size -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(HOSTILE, st.integers(3, 400))
def test_a_text_is_bounded_in_bytes_as_json_and_as_it_is(part: str, limit: int) -> None:
    told = part * REPEATED
    for short in (cut(told, limit), one_line(told, limit)):
        assert len(short.encode()) <= limit
        assert len(json.dumps(short, ensure_ascii=False).encode()) <= limit + 2
    assert '\n' not in one_line(told, limit)


@settings(max_examples=25, deadline=None)
@given(HOSTILE)
def test_whatever_is_said_a_prompt_stays_within_its_bytes_and_its_sections(part: str) -> None:
    told = part * REPEATED
    model = WorldModel(history_size=10)
    for number in range(12):
        model.decided(
            action=told,
            purpose=told,
            expected_outcome=told,
            rationale=told,
            outcome='accepted',
            reason=None,
            action_id=str(number),
        )
        model.ended(str(number), outcome='FAILED', reason=told)
    for number in range(VARIABLES_MAX + 1):
        model.remember({'v': f'{number}{told}'}, {'v': told})
    state = replace(model.state, current_place=told)
    situation = replace(SITUATION, instruction=told, trigger=told, evidence=(told,) * 50)
    prompt = user(situation, state)
    decisions = 10 * (ACTION_BYTES + OUTCOME_BYTES + 30) + 5 * TEXT_BYTES + OLDER_DETAILS_BYTES
    variables = VARIABLES_MAX * (VARIABLE_NAME_BYTES + VALUE_BYTES + 6)
    most = INSTRUCTION_BYTES + EVIDENCE_BYTES + decisions + variables + 1000
    assert len(prompt.encode()) <= most
    assert len(sections(prompt)) == 5
    for line in sections(prompt)['Earlier decisions, oldest first']:
        json.loads(line[2:])


def test_the_newest_decision_is_shown_with_all_its_details_however_long() -> None:
    model = WorldModel()
    for _ in range(10):
        long = dict.fromkeys(('purpose', 'expected_outcome', 'rationale', 'reason'), '"' * 999)
        model.decided(action='a', outcome='b', action_id=None, **long)
    told = sections(user(world=replace(model.state, current_place='p')))
    records = [json.loads(line[2:]) for line in told['Earlier decisions, oldest first']]
    assert len(records) == 10
    assert {*long, 'action', 'outcome'} <= set(records[-1])
    assert set(records[0]) == {'action', 'outcome'}


def test_of_too_much_news_the_outcome_and_the_newest_are_told_and_how_much_is_not() -> None:
    news = tuple(f'{number}: ' + 'x' * 1000 for number in range(50))
    told = list(sections(user(replace(SITUATION, evidence=news))).values())[1]
    assert told[0].startswith('- 0: ')
    assert told[-1].startswith('- 49: ')
    assert told[1] == f'- ({50 - len(told) + 1} more are left out here; they are in the journal)'


def test_a_persons_words_outlast_a_flood_of_events_and_repeated_ones_are_counted() -> None:
    mailbox = Mailbox()
    mailbox.put(Salient('human_message', 'come back'))
    for number in range(3 * MAILBOX_MAX):
        mailbox.put(Salient('foreign_goal', 'somebody else has sent a goal'))
        mailbox.put(Salient('localization_jump', f'jumped {number}'))
    kind, lines = mailbox.take()
    assert kind == 'human_message'
    assert 'human_message: come back' in lines
    assert f'foreign_goal: somebody else has sent a goal ({3 * MAILBOX_MAX} times)' in lines
    assert re.match(r'\d+ earlier events were left out', lines[0])
    assert len(lines) == MAILBOX_MAX + 1
    assert not mailbox


@pytest.mark.parametrize('rationale', [0, 10, 100, 400])
@pytest.mark.parametrize('intent', [0, 5, 20, 200])
@pytest.mark.parametrize('why', [20, 90, 250])
def test_a_prompt_grows_no_more_after_step_10_however_long_or_short_the_texts_are(
    rationale: int, intent: int, why: int
) -> None:
    model = WorldModel()
    situation = replace(SITUATION, evidence=('x' * 700,), projection='y' * 1100)
    sizes = []
    for step in range(30):
        sizes.append(len(user(situation, model.state).encode()))
        model.decided(
            action='navigate_to_place{"name":"kitchen"}',
            purpose='p' * intent,
            expected_outcome='e' * intent,
            rationale='r' * rationale,
            outcome='accepted',
            reason=None,
            action_id=str(step),
        )
        model.ended(str(step), outcome='SUCCEEDED', reason='verified: ' + 'w' * why)
    assert max(sizes) <= 1.05 * sizes[9]


STEPS = 200


class Measuring(ScriptedClient):
    """A scripted model that measures what it is asked, and what is alive then."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prompt_bytes: dict[int, int] = {}
        self.objects: dict[int, int] = {}

    async def decide(self, request: ModelRequest) -> Decision:
        step = request.metadata['step']
        (asked,) = request.messages
        self.prompt_bytes[step] = len(asked.text.encode())  # type: ignore[union-attr]
        if step % 50 == 0:
            gc.collect()
            self.objects[step] = len(gc.get_objects())
        return await super().decide(request)


def test_prompt_and_memory_are_flat_over_200_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ended actions stay answerable for a while; let that be full long before the second half.
    monkeypatch.setattr(board, 'FINISHED_KEPT', 16)
    monkeypatch.setattr(tracker, 'ENDED_KEPT', 16)
    monkeypatch.setattr(assembly, 'SnapshotStore', partial(SnapshotStore, capacity=64))
    trips = [
        call('navigate_to_pose', say='To the other end of it.', x=1.0 + n % 2, y=0.0, **INTENT)
        for n in range(STEPS - 1)
    ]
    model, nav2 = Measuring.from_dict({'responses': [*trips, FINISH]}), ArrivingNav2()

    async def scenario() -> int:
        parameters = {'mission.max_steps': STEPS}
        bench = Bench(tmp_path / 'j.db', model=model, nav2=nav2, parameters=parameters)
        async with bench:
            nav2.bench = bench
            report = await bench.core.harness.run_mission('To and fro.')
            assert report.summary.startswith('199 actions ended: 199 SUCCEEDED')
            return report.steps

    assert run_virtual(scenario()) == STEPS
    assert model.prompt_bytes[STEPS] <= 1.05 * model.prompt_bytes[10]
    assert max(model.prompt_bytes.values()) <= 1.05 * model.prompt_bytes[10]
    # The controller keeps a pair a step; keeping every action would cost three more.
    assert model.objects[STEPS] - model.objects[100] < 200


# -- a planner of one's own -----------------------------------------------------------------------


def test_the_documented_planner_of_ones_own_decides_what_the_model_reads(tmp_path: Path) -> None:
    (code,) = re.findall(r'```python\n(.*?)```', PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, 'docs/world_model.md', 'exec'), names)
    model = scripted(text('Hm.'), response(say='Hm.'))

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', model=model, planner=names['Laconic']()) as bench:
            bench.robot.place(1.0, 1.2)
            await asyncio.sleep(1.0)
            await bench.core.harness.run_mission('go home')

    run_virtual(scenario())
    asked = model.requests[0]
    assert asked.system.startswith('You steer a robot')
    assert asked.messages[0].text.startswith('Task: go home. You are at dock.')  # type: ignore[union-attr]


def test_a_planner_that_fails_ends_the_mission_and_nothing_else(tmp_path: Path) -> None:
    class Broken:
        def prompt(self, situation: Situation, **_: Any) -> Prompt:
            raise ZeroDivisionError

    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db', model=scripted(FINISH), planner=Broken()) as bench:
            return [(await bench.core.harness.run_mission('go')).reason for _ in range(2)]

    assert run_virtual(scenario()) == ['harness_fault'] * 2
