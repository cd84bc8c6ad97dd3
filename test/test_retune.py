# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that change while the harness runs: what is under way keeps to what it began with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness.actions.lifecycle import ActionState
from robot_agent_harness.assembly import retune
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.parameters import change_parameters, check_parameters, PARAMETERS
from robot_agent_harness.testing import Bench, call, check_journal, run_virtual, scripted

INTENT = {'purpose': 'be there', 'expected_outcome': 'the robot is there'}
GO = {**call('navigate_to_pose', x=1.0, y=0.0, **INTENT), 'repeat': True}


def change(bench: Bench, **changed: Any) -> None:
    named = {name.replace('__', '.'): value for name, value in changed.items()}
    retune(bench.core, change_parameters(check_parameters({}), named), named)


def test_an_action_is_judged_by_the_tolerance_that_held_when_it_began(tmp_path: Path) -> None:
    async def scenario() -> list[ActionState]:
        nav2 = ArrivingNav2()
        states = []
        async with Bench(tmp_path / 'j.db', nav2=nav2) as bench:
            nav2.bench = bench
            nav2.silent = True
            for x, tolerance_m in ((1.0, 0.05), (2.0, 0.35)):
                started = await bench.call('navigate_to_pose', {'x': x, 'y': 0.0})
                change(bench, navigation__xy_tolerance_m=tolerance_m)
                bench.robot.place(x - 0.2, 0.0)
                await asyncio.sleep(1.0)
                nav2.result(4, {})
                action = await bench.outcome(started.data['action_id'])
                states.append(action.state)
        return states

    assert run_virtual(scenario()) == [ActionState.SUCCEEDED, ActionState.FAILED]
    assert check_journal(tmp_path / 'j.db') == []


def test_an_action_waits_for_its_answer_as_long_as_held_when_it_began(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.nav2.accept_after_s = None
            change(bench, navigation__accept_timeout_s=0.5)
            begun = bench.clock.monotonic_ns()
            result = await bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0})
            assert (bench.clock.monotonic_ns() - begun) / 1e9 == pytest.approx(0.5, abs=0.2)
            return result.status.value

    assert run_virtual(scenario()) == 'acceptance_unknown'


def test_a_mission_keeps_the_bounds_that_it_began_with(tmp_path: Path) -> None:
    async def scenario() -> list[tuple[str, int]]:
        nav2 = ArrivingNav2()
        reports = []
        async with Bench(
            tmp_path / 'j.db', model=scripted(GO), nav2=nav2, parameters={'mission.max_steps': 3}
        ) as bench:
            nav2.bench = bench
            for _ in range(2):
                mission = asyncio.create_task(bench.core.harness.run_mission('go'))
                await asyncio.sleep(0.1)
                change(bench, mission__max_steps=1)
                reports.append(await mission)
        return [(report.reason, report.steps) for report in reports]

    assert run_virtual(scenario()) == [('max_steps', 3), ('max_steps', 1)]


def test_a_battery_is_low_by_the_limit_that_holds_now(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.robot.battery = 0.5
            await asyncio.sleep(3.0)
            change(bench, battery__low_fraction=0.6)
            await asyncio.sleep(3.0)

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        (low,) = reader.events(type='SALIENT_EVENT')
    assert (low.payload['kind'], low.payload['details']['limit']) == ('battery_low', 0.6)


def test_a_refusal_shows_no_more_of_the_world_than_is_allowed_now(tmp_path: Path) -> None:
    async def scenario() -> list[list[str]]:
        async with Bench(tmp_path / 'j.db') as bench:
            omitted = []
            for max_bytes in (65536, 512):
                change(bench, snapshot__max_bytes=max_bytes)
                seen = await bench.call('get_world_snapshot', {})
                omitted.append(seen.data['snapshot'].get('omitted', []))
            return omitted

    whole, cut = run_virtual(scenario())
    assert len(cut) > len(whole)


def test_a_change_is_on_record_so_that_a_replay_knows_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            change(bench, navigation__verify_timeout_s=2.0)

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        states = [event.payload for event in reader.events(type='HARNESS_STATE_CHANGED')]
    changed = [said['configuration'] for said in states if said['state'] == 'reconfigured']
    assert changed == [{'parameters': {'navigation.verify_timeout_s': 2.0}}]


@pytest.mark.parametrize('parameter', PARAMETERS, ids=lambda parameter: parameter.name)
def test_a_parameter_may_change_while_the_node_runs_or_says_why_not(parameter: Any) -> None:
    values = check_parameters({})
    other = {bool: not parameter.default, int: 600, float: 0.5, str: 'other'}
    value = parameter.choices[-1] if parameter.choices else other[type(parameter.default)]
    if parameter.name in ('mcp.max_requests_per_s', 'model.timeout_s', 'world_model.history_size'):
        value = parameter.minimum
    elif parameter.name == 'navigation.execution_timeout_s':
        value = parameter.maximum
    if parameter.live:
        assert change_parameters(values, {parameter.name: value})[parameter.name] == value
        return
    with pytest.raises(ConfigurationError, match=f'parameter {parameter.name}: it cannot') as told:
        change_parameters(values, {parameter.name: value})
    assert str(told.value).endswith(parameter.fixed)
    assert change_parameters(values, {parameter.name: parameter.default}) == values
