# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The views `decision_log` and `mission_usage`, on journals that the loop itself wrote."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
import sqlite3
from typing import Any

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness.journal import JournalReader, MissionUsage
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.testing import Bench, call, check_journal, response, run_virtual, text
from robot_agent_harness.testing.scripted_model import RecordingScriptedClient

INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FINISH = call('finish_mission', outcome='achieved', reason='it was seen to arrive')
OVERLOADED = response(error={'message': '529 overloaded', 'retryable': True}, delay_s=0.5)
PLAN_QUERIES = ('SELECT * FROM decision_log', "SELECT * FROM decision_log WHERE mission_id = 'm'")


def go(x: float) -> dict[str, Any]:
    return {'name': 'navigate_to_pose', 'arguments': {'x': x, 'y': 0.0, **INTENT}}


class Counting(RecordingScriptedClient):
    """A scripted model that counts tokens, as real ones do."""

    async def decide(self, request: ModelRequest) -> Decision:
        decision = await super().decide(request)
        decision.usage.update(
            input_tokens=1000, output_tokens=50, cache_read_input_tokens=900, reasoning=7
        )
        return decision


def run(
    path: Path,
    *responses: dict[str, Any],
    client: type[RecordingScriptedClient] = RecordingScriptedClient,
    missions: int = 1,
    close_after_s: float | None = None,
    **parameters: Any,
) -> None:
    """Run missions, one after the other; the harness may be closed under the last of them."""

    async def scenario() -> None:
        nav2 = ArrivingNav2()
        model = client.from_dict({'responses': list(responses)})
        async with Bench(path, model=model, nav2=nav2, parameters=parameters) as bench:
            nav2.bench = bench
            for number in range(1, missions + 1):
                mission = asyncio.create_task(
                    bench.core.harness.run_mission('fetch', f'mission-{number}')
                )
                await asyncio.wait({mission}, timeout=close_after_s)

    run_virtual(scenario())
    assert check_journal(path) == []


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def log_of(path: Path) -> list[tuple[Any, ...]]:
    columns = 'step, tool_name, purpose, json_array_length(tool_calls)'
    return ask(path, f'SELECT {columns} FROM decision_log ORDER BY seq')


def test_each_round_of_ordinary_tools_is_a_decision_of_its_turn(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    run(path, call('list_places', say='Where?'), response(say='There.', call=go(1.0)), FINISH)
    assert log_of(path) == [
        (1, 'list_places', None, 1),
        (1, 'navigate_to_pose', 'look there', 1),
        (2, 'finish_mission', None, 1),
    ]
    [(system, user, arguments, rationale, expected)] = ask(
        path,
        'SELECT system_prompt, user_prompt, arguments, rationale, expected_outcome'
        " FROM decision_log WHERE tool_name = 'navigate_to_pose'",
    )
    assert 'robot' in system
    assert 'fetch' in user.partition('# Mission')[2]
    assert (arguments, rationale) == ('{"x":1.0,"y":0.0}', 'There.')
    assert expected == INTENT['expected_outcome']


def test_a_failed_attempt_is_no_decision_and_its_repetition_is_one(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    run(path, OVERLOADED, OVERLOADED, response(call=go(1.0)), FINISH)
    assert [row[:2] for row in log_of(path)] == [(1, 'navigate_to_pose'), (2, 'finish_mission')]


def test_an_answer_without_a_call_is_a_decision_with_no_tool(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    run(path, text('All done.'), text('Really.'))
    assert log_of(path) == [(1, None, None, None)] * 2
    rows = ask(path, 'SELECT rationale, thinking, arguments FROM decision_log ORDER BY seq')
    assert rows == [('All done.', None, None), ('Really.', None, None)]


@pytest.mark.parametrize(
    ('calls', 'shown'),
    [
        ([go(1.0), go(2.0)], '{"x":1.0,"y":0.0}'),
        ([{'name': 'list_places'}, go(2.0), go(1.0)], '{"x":2.0,"y":0.0}'),
        ([{'name': 'fly_to', 'arguments': {'z': 3}}, go(1.0)], '{"x":1.0,"y":0.0}'),
        ([{'name': 'list_places'}, {'name': 'get_world_snapshot'}], '{}'),
    ],
)
def test_of_several_calls_the_one_that_was_to_move_the_robot_stands_for_the_decision(
    tmp_path: Path, calls: list[dict[str, Any]], shown: str
) -> None:
    path = tmp_path / 'journal.db'
    run(path, response(say='Several.', calls=calls), FINISH)
    rows = ask(path, 'SELECT arguments, tool_calls FROM decision_log ORDER BY seq')
    assert len(rows) == 2
    assert rows[0][0] == shown
    for given in calls:
        assert f'"name":"{given["name"]}"' in rows[0][1]


def test_a_decision_whose_arguments_were_refused_and_the_better_one_are_two(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    wrong = {'name': 'navigate_to_pose', 'arguments': {'x': '1,5', 'y': 0, **INTENT}}
    run(path, response(call=wrong), response(call=go(1.0)), FINISH)
    rows = ask(path, 'SELECT step, arguments FROM decision_log ORDER BY seq')
    assert rows[:2] == [(1, '{"x":"1,5","y":0}'), (1, '{"x":1.0,"y":0.0}')]


def test_no_query_of_the_log_goes_through_all_records_once_for_each_decision(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    run(path, FINISH)
    for query in PLAN_QUERIES:
        plan = [row[3] for row in ask(path, f'EXPLAIN QUERY PLAN {query}')]
        inner = [step for step in plan if step.startswith(('SCAN', 'SEARCH'))][1:]
        assert inner
        for step in inner:
            assert step.startswith('SEARCH'), plan
            assert 'events_type' not in step, plan  # all records of a type, each time


def test_what_each_mission_cost_is_told_also_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    answers = (
        OVERLOADED,
        response(call=go(1.0), delay_s=2.0),
        FINISH,
        response(call=go(0.0), delay_s=3.0),
        response(call=go(2.0), delay_s=1000.0),
    )
    run(path, *answers, client=Counting, missions=2, close_after_s=60.0)
    first = MissionUsage(3, 1, 2000, 100, 1800, None, 2.5)
    second = MissionUsage(2, 1, 1000, 50, 900, None, pytest.approx(55.0, abs=5.0))
    with JournalReader(path) as reader:
        assert reader.usage() == {'mission-1': first, 'mission-2': second}
        [end, _] = [e.payload for e in reader.events(type='MISSION_ENDED')]
    assert end['usage']['input_tokens'] == first.input_tokens
    assert end['usage']['output_tokens'] == first.output_tokens
    shown = 'mission_id, model_calls, failed_calls, input_tokens, output_tokens'
    assert ask(path, f'SELECT {shown} FROM mission_usage') == [
        ('mission-1', 3, 1, 2000, 100),
        ('mission-2', 2, 1, 1000, 50),
    ]


@pytest.mark.parametrize(('max_tokens', 'steps'), [(1950, 1), (1951, 2), (3901, 3)])
def test_what_lies_in_the_providers_cache_counts_towards_the_tokens_of_a_mission(
    tmp_path: Path, max_tokens: int, steps: int
) -> None:
    path = tmp_path / 'journal.db'
    trip = response(call=go(1.0), repeat=True)
    run(path, trip, client=Counting, **{'mission.max_tokens': max_tokens})
    with JournalReader(path) as reader:
        [end] = [event.payload for event in reader.events(type='MISSION_ENDED')]
    assert (end['reason'], end['steps']) == ('max_tokens', steps)


def test_a_journal_in_which_no_model_was_asked_has_no_costs(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    run(path, missions=0)
    with JournalReader(path) as reader:
        assert reader.usage() == {}
