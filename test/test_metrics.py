# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Prometheus metrics: counted from the journal's records, and served beside MCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
import math
from pathlib import Path
import re
from typing import Any

from driving_robot import DrivingRobot
from export_rig import as_entry, go
from journal_rig import fact
from prometheus_client.parser import text_string_to_metric_families
import pytest

from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    MissionEnded,
    ModelResponseRecorded,
    RobotActionOutcome,
    RobotActionProgress,
    RobotActionStarted,
    SalientEvent,
    ToolResultRecorded,
)
from robot_agent_harness.metrics import LABEL_VALUES_MAX, Metrics, OTHER, PREFIX, TOKENS
from robot_agent_harness.testing import Bench, call, run_virtual, scripted

Values = dict[tuple[str, ...], float]
DOCS = (Path(__file__).resolve().parents[1] / 'docs' / 'metrics.md').read_text('utf-8')
TOOLS = ('navigate_to_pose', 'list_places')


def read(metrics: Metrics) -> dict[str, Values]:
    """Return name -> values of the labels, in the order of their names -> value."""
    text, media_type = metrics.render('')
    assert media_type.startswith('text/plain')
    found: dict[str, Values] = {}
    for family in text_string_to_metric_families(text.decode('utf-8')):
        for sample in family.samples:
            labels = tuple(value for name, value in sorted(sample.labels.items()))
            found.setdefault(sample.name.removeprefix(f'{PREFIX}_'), {})[labels] = sample.value
    return found


def after(
    path: Path,
    scenario: Callable[[Bench], Coroutine[Any, Any, None]],
    **options: Any,
) -> dict[str, Values]:
    """Return what is counted once a scenario is over."""

    async def run() -> dict[str, Values]:
        async with Bench(path, **options) as bench:
            names = [skill.name for skill in bench.core.registry.skills]
            before = float(bench.core.journal.last_seq)
            metrics = Metrics(bench.core.journal, clock=bench.clock, tools=names)
            await scenario(bench)
            await asyncio.sleep(0.1)
            return {**read(metrics), 'seq_before': {(): before}}

    return run_virtual(run())


@pytest.fixture(scope='module')
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Values]:
    """Read the metrics of a mission with an arrival, an overtaken decision and a false success."""

    async def mission(bench: Bench) -> None:
        robot = DrivingRobot(bench, false_trips=frozenset({1}))
        task = asyncio.create_task(robot.run())

        async def push() -> None:
            await asyncio.sleep(11.0)
            robot.push(0.8)

        pushing = asyncio.create_task(push())
        await bench.core.harness.run_mission('go', 'mission-1')
        for one in (task, pushing):
            one.cancel()
        await asyncio.gather(task, pushing, return_exceptions=True)

    model = scripted(
        go(3.0, 4.0),
        go(6.0, 1.0, delay_s=2.0),
        go(6.0, 1.0),
        call('finish_mission', outcome='not_achieved', reason='r'),
    )
    path = tmp_path_factory.mktemp('metrics') / 'j.db'
    return after(path, mission, model=model)


def test_calls_are_counted_by_tool_and_status(told: dict[str, Values]) -> None:
    assert told['tool_calls_total'] == {
        ('accepted', 'navigate_to_pose'): 2.0,
        ('precondition_changed', 'navigate_to_pose'): 1.0,
        ('completed', OTHER): 1.0,  # finish_mission, which is no tool of the robot
    }
    assert told['tool_call_seconds_count'][('navigate_to_pose',)] == 3.0


def test_outcomes_are_counted_by_skill_state_and_reason(told: dict[str, Values]) -> None:
    assert told['action_outcomes_total'] == {
        ('verified', 'navigate_to_pose', 'SUCCEEDED'): 1.0,
        ('verification_disproved', 'navigate_to_pose', 'FAILED'): 1.0,
    }
    assert told['active_actions'] == {(): 0.0}
    assert told['missions_total'] == {('not_achieved',): 1.0}


def test_failed_preconditions_are_counted_by_check(told: dict[str, Values]) -> None:
    assert told['precondition_failures_total'] == {('pose_drift',): 1.0}


def test_durations_are_those_of_the_clock(told: dict[str, Values]) -> None:
    assert told['action_seconds_sum'][('navigate_to_pose',)] == pytest.approx(15.0, abs=3.0)
    assert told['verification_seconds_count'][('navigate_to_pose',)] == 2.0
    assert 0.0 < told['verification_seconds_sum'][('navigate_to_pose',)] < 2.0
    assert told['model_call_seconds_sum'][('scripted',)] == pytest.approx(2.0, abs=0.1)
    assert told['journal_append_seconds_count'][()] > 10.0


def test_tokens_are_counted_by_kind(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        usage = {'input_tokens': 100, 'output_tokens': 7, 'cache_read_input_tokens': 3}
        await _record(bench, as_entry(answer(usage)), as_entry(answer({**usage, 'other': 9})))
        await _record(bench, as_entry(answer({}, error='overloaded')))

    told = after(tmp_path / 'j.db', scenario)
    assert told['model_tokens_total'] == {
        ('input',): 200.0,
        ('output',): 14.0,
        ('cache_read',): 6.0,
    }
    assert told['model_calls_total'] == {('anthropic', 'ok'): 2.0, ('anthropic', 'error'): 1.0}


def answer(usage: dict[str, Any], **fields: Any) -> ModelResponseRecorded:
    empty = {'rationale': None, 'thinking': None, 'tool_calls': [], 'stop_reason': None}
    given = {'provider': 'anthropic', 'model': None, **empty, **fields}
    return ModelResponseRecorded(usage=usage, **given)


def test_every_record_is_counted_once(told: dict[str, Values]) -> None:
    recorded = told['journal_last_seq'][()] - told['seq_before'][()]
    assert sum(told['events_total'].values()) == recorded
    assert told['journal_healthy'] == {(): 1.0}
    assert told['journal_pending_records'] == {(): 0.0}


async def _record(bench: Bench, *entries: tuple[Event, Correlation]) -> None:
    await bench.core.journal.append(*entries)


def test_an_action_is_active_from_its_start_to_its_outcome(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        started = RobotActionStarted(skill='navigate_to_pose', goal={})
        await _record(bench, as_entry(started, action_id='a'), as_entry(started, action_id='b'))
        ended = RobotActionOutcome(
            state='UNKNOWN', reason='result_lost', evidence={}, verification_snapshot_id=None
        )
        # Of an earlier run: it was never counted as active.
        await _record(bench, as_entry(ended, action_id='c'), as_entry(ended, action_id='b'))

    told = after(tmp_path / 'j.db', scenario)
    assert told['active_actions'] == {(): 1.0}
    assert told['action_outcomes_total'] == {
        ('result_lost', OTHER, 'UNKNOWN'): 1.0,
        ('result_lost', 'navigate_to_pose', 'UNKNOWN'): 1.0,
    }


def test_what_clients_and_models_choose_makes_no_new_label_values(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        for number in range(LABEL_VALUES_MAX + 30):
            name = f'x{number}\n"\\\ud800\0'
            await bench.call(name, {})
            await _record(
                bench,
                as_entry(SalientEvent(kind=name, message='')),
                as_entry(
                    ActionPreconditionChecked(
                        ok=False,
                        decision_snapshot_id=None,
                        fresh_snapshot_id='s',
                        checks=[{'name': name, 'ok': False}],
                    )
                ),
                as_entry(
                    answer(
                        {'input_tokens': -5, 'output_tokens': 'many'},
                        provider=name,
                        model=name,
                        error=name,
                        duration_s=-1.0,
                    )
                ),
            )

    told = after(tmp_path / 'j.db', scenario)
    assert told['tool_calls_total'] == {('unknown_tool', OTHER): LABEL_VALUES_MAX + 30.0}
    for name in ('salient_events_total', 'precondition_failures_total', 'model_calls_total'):
        assert len(told[name]) == LABEL_VALUES_MAX + 1
        assert sum(told[name].values()) == LABEL_VALUES_MAX + 30.0
    assert 'model_tokens_total' not in told


def test_a_result_whose_call_was_in_an_earlier_run_is_counted_without_its_tool(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench) -> None:
        result = ToolResultRecorded(status='interrupted', is_error=True, structured={})
        await _record(bench, as_entry(result, tool_call_id='earlier'))

    told = after(tmp_path / 'j.db', scenario)
    assert told['tool_calls_total'] == {('interrupted', OTHER): 1.0}
    assert 'tool_call_seconds_count' not in told


def test_no_memory_is_kept_of_calls_and_actions_that_are_over(tmp_path: Path) -> None:
    async def run() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            metrics = Metrics(bench.core.journal, clock=bench.clock, tools=TOOLS)
            for _ in range(20):
                await bench.call('list_places', {})
            await asyncio.sleep(0.1)
            assert metrics._calls == {}
            assert metrics._actions == {}

    run_virtual(run())


def test_a_record_that_is_not_on_disk_is_not_counted(tmp_path: Path) -> None:
    async def scenario(bench: Bench) -> None:
        await _record(bench, fact(1))
        for suffix in ('', '-wal', '-shm'):
            (tmp_path / f'j.db{suffix}').unlink(missing_ok=True)
        bench.core.journal.defer(fact(2))
        await asyncio.sleep(1.0)

    told = after(tmp_path / 'j.db', scenario)
    assert told['salient_events_total'] == {('human_message',): 1.0}
    assert told['journal_healthy'] == {(): 0.0}
    assert told['journal_pending_records'] == {(): 1.0}


def test_openmetrics_is_spoken_to_who_asks_for_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            metrics = Metrics(bench.core.journal, clock=bench.clock, tools=TOOLS)
            text, media_type = metrics.render('application/openmetrics-text; version=1.0.0')
            assert media_type.startswith('application/openmetrics-text')
            assert text.endswith(b'# EOF\n')

    run_virtual(run())


async def _one_of_each(bench: Bench) -> None:
    """Have something counted by every metric."""
    started = RobotActionStarted(skill='navigate_to_pose', goal={})
    verifying = RobotActionProgress(state='VERIFYING')
    ended = RobotActionOutcome(
        state='SUCCEEDED', reason='verified', evidence={}, verification_snapshot_id='s'
    )
    checked = ActionPreconditionChecked(
        ok=False,
        decision_snapshot_id=None,
        fresh_snapshot_id='s',
        checks=[{'name': 'pose_drift', 'ok': False}],
    )
    over = MissionEnded(outcome='achieved', reason='finished', summary='', steps=1)
    usage = dict.fromkeys(TOKENS.values(), 7)
    for event in (started, verifying, ended, checked, over, answer(usage, duration_s=1.0)):
        await _record(bench, as_entry(event, action_id='a'))
    await _record(bench, as_entry(SalientEvent(kind='battery_low', message='')))
    await bench.call('list_places', {})
    await asyncio.sleep(0.1)


def test_the_docs_say_of_every_metric_what_a_scrape_says(tmp_path: Path) -> None:
    rows = re.findall(rf'^\| `({PREFIX}_\w+)` \| (.*?)\| (.*) \|$', DOCS, re.MULTILINE)
    documented = {
        name: (
            sorted(re.findall(r'`(\w+)`', re.sub(r'\(.*?\)', '', labels))),
            f'{told.removeprefix("histogram: ").capitalize()}.',
            told.startswith('histogram: '),
        )
        for name, labels, told in rows
    }
    assert len(documented) == len(rows)

    async def run() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            metrics = Metrics(bench.core.journal, clock=bench.clock, tools=TOOLS)
            await _one_of_each(bench)
            text, _ = metrics.render('')
        served = {}
        for family in text_string_to_metric_families(text.decode('utf-8')):
            if family.name.endswith('_created'):
                continue
            labels = set().union(*(sample.labels for sample in family.samples)) - {'le'}
            name = f'{family.name}_total' if family.type == 'counter' else family.name
            told = (sorted(labels), family.documentation.capitalize(), family.type == 'histogram')
            served[name] = told
        assert served == documented

    run_virtual(run())


def test_the_docs_have_the_buckets_of_every_histogram(tmp_path: Path) -> None:
    rows = re.findall(r'^\| `(\w+_seconds)` \| ([\d., ]+) \|$', DOCS, re.MULTILINE)
    documented = {name: [float(bound) for bound in bounds.split(', ')] for name, bounds in rows}

    async def run() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            metrics = Metrics(bench.core.journal, clock=bench.clock, tools=TOOLS)
            await _one_of_each(bench)
            text, _ = metrics.render('')
        served: dict[str, list[float]] = {}
        for family in text_string_to_metric_families(text.decode('utf-8')):
            if family.type == 'histogram':
                bounds = {
                    float(sample.labels['le'])
                    for sample in family.samples
                    if sample.name.endswith('_bucket')
                }
                served[family.name.removeprefix(f'{PREFIX}_')] = sorted(bounds - {math.inf})
        assert served == documented

    run_virtual(run())


def test_the_docs_have_the_values_of_labels_that_we_choose(told: dict[str, Values]) -> None:
    (kinds,) = re.findall(r'`kind` \((.*?)\)', DOCS)
    assert re.findall(r'`(\w+)`', kinds) == [*TOKENS]
    (results,) = re.findall(r'`result` \((.*?)\)', DOCS)
    assert re.findall(r'`(\w+)`', results) == ['ok', 'error']
    assert {result for _, result in told['model_calls_total']} <= {'ok', 'error'}
