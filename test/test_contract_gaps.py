# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Clauses of the contract that no other module shows: its names, and what starts a turn.

`requirements.py` says which test shows which clause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import contextlib
from dataclasses import replace
import enum
from pathlib import Path
import re
import sqlite3
import subprocess
import sys
from typing import Any

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason
from robot_agent_harness.cli import COMMANDS
from robot_agent_harness.events import Event, EVENT_MODELS, EventType
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.schema import chain_of
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.mcp_server.server import DECISION_KEY
from robot_agent_harness.mission import MissionOutcome
from robot_agent_harness.parameters import PARAMETERS
from robot_agent_harness.skills.result import ResultStatus
from robot_agent_harness.testing import (
    Bench,
    call,
    check_journal,
    response,
    run_virtual,
    scripted,
    text,
)
from robot_agent_harness.testing.scripted_model import RecordingScriptedClient
from robot_agent_harness.world.salient import Salient
from robot_agent_harness.world.snapshot import Availability

ROOT = Path(__file__).parents[1]
GOAL = {'x': 2.0, 'y': 0.0}
INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FOREIGN = 'f' * 32
Play = Callable[[Bench], Any]


# -- names ----------------------------------------------------------------------------------------

CONTRACT_PARAMETERS: dict[str, Any] = {
    'autostart': True,
    'robot_id': ...,
    'base_frame': 'base_link',
    'global_frame': 'map',
    'journal.path': '~/.ros/robot_agent_harness/journal.db',
    'journal.synchronous': 'full',
    'skills_file': ...,
    'places_file': ...,
    'mcp.enabled': ...,
    'mcp.host': '127.0.0.1',
    'mcp.port': 8642,
    'mcp.token_file': ...,
    'model.provider': 'none',
    'model.name': ...,
    'model.base_url': ...,
    'model.script_file': ...,
    'model.thinking_budget_tokens': 0,
    'model.effort': ...,
    'model.max_tokens': ...,
    'model.timeout_s': ...,
    'mission.max_steps': ...,
    'mission.max_tokens': ...,
    'world_model.enabled': True,
    'world_model.history_size': 10,
    'snapshot.max_bytes': 2048,
    'snapshot.stale_after_s.map_pose': ...,
    'snapshot.stale_after_s.odometry': ...,
    'snapshot.stale_after_s.battery': ...,
    'battery.low_fraction': ...,
    'navigation.accept_timeout_s': ...,
    'navigation.execution_timeout_s': ...,
    'navigation.verify_timeout_s': ...,
    'navigation.xy_tolerance_m': 0.35,
    'navigation.yaw_tolerance_rad': 0.35,
    'navigation.cancel_on_timeout': True,
}
"""Names and defaults that the contract pins; `...` where it pins the name alone."""


def test_every_parameter_of_the_contract_exists_with_its_default() -> None:
    defaults = {parameter.name: parameter.default for parameter in PARAMETERS}
    for name, default in CONTRACT_PARAMETERS.items():
        assert name in defaults
        assert default in (..., defaults[name]), name
    choices = {parameter.name: parameter.choices for parameter in PARAMETERS}
    assert choices['journal.synchronous'] == ('full', 'normal')
    assert {'none', 'scripted', 'anthropic', 'openai'} <= set(choices['model.provider'])


def test_every_parameter_has_a_meaning_and_numbers_have_a_range() -> None:
    for parameter in PARAMETERS:
        assert parameter.description.endswith('.'), parameter.name
        if type(parameter.default) in (int, float):
            assert parameter.minimum is not None or parameter.choices, parameter.name
        assert not re.search('key|secret|password', parameter.name), parameter.name


def _values(kind: type[enum.Enum]) -> set[str]:
    return {member.value for member in kind}


def test_codes_are_exactly_those_of_the_contract() -> None:
    errors = 'rejected precondition_changed one_managed_action_per_step invalid_arguments'
    errors += ' unknown_tool unknown_action journal_unavailable harness_inactive'
    errors += ' controller_unavailable acceptance_unknown tool_error interrupted'
    assert {status.value for status in ResultStatus if status.is_error} == set(errors.split())
    assert _values(ResultStatus) - set(errors.split()) == {'completed', 'accepted'}
    reasons = 'verified rejected aborted canceled verification_disproved'
    reasons += ' verification_inconclusive acceptance_timeout execution_timeout result_lost'
    reasons += ' controller_lost preempted journal_unavailable interrupted'
    assert _values(OutcomeReason) == set(reasons.split())
    states = 'REQUESTED ACCEPTED RUNNING VERIFYING SUCCEEDED FAILED UNKNOWN'
    assert [state.value for state in ActionState] == states.split()
    assert DECISION_KEY == 'robot-agent-harness/decision_snapshot_id'


PAYLOADS = {
    'MISSION_STARTED': '',
    'MODEL_TURN_STARTED': '',
    'WORLD_SNAPSHOT_CAPTURED': 'reason snapshot',
    'MODEL_RESPONSE_RECORDED': 'rationale thinking tool_calls usage stop_reason provider model',
    'TOOL_CALL_RECORDED': 'name arguments decision_snapshot_id purpose expected_outcome',
    'ACTION_PRECONDITION_CHECKED': 'ok decision_snapshot_id fresh_snapshot_id checks',
    'TOOL_RESULT_RECORDED': 'status is_error structured',
    'ROBOT_ACTION_STARTED': 'skill goal state',
    'ROBOT_ACTION_PROGRESS': 'state feedback',
    'ROBOT_ACTION_OUTCOME': 'state reason evidence verification_snapshot_id',
    'SALIENT_EVENT': '',
    'MISSION_ENDED': '',
    'RECOVERY_PERFORMED': '',
    # Not in the contract's list, which may grow: what a replay needs, and what rotation writes.
    'HARNESS_STATE_CHANGED': 'state monotonic_ns configuration',
    'CONTROLLER_EVENT_RECEIVED': 'controller event said monotonic_ns held late',
    'SERVICE_EVENT_RECEIVED': 'service event said monotonic_ns',
    'TOOL_CALL_WITHDRAWN': 'monotonic_ns',
    'MISSION_CANCEL_REQUESTED': 'reason monotonic_ns',
    'COMMIT_WAS_SLOW': 'first_seq last_seq durable_ns waited_s monotonic_ns',
    'JOURNAL_CONTINUED': 'predecessor predecessor_last_seq predecessor_last_chain',
    'RECORD_CARRIED_OVER': 'record',
}


def test_event_types_and_payload_keys_are_those_of_the_contract() -> None:
    assert [kind.value for kind in EventType] == list(PAYLOADS)
    for kind, keys in PAYLOADS.items():
        model: type[Event] = EVENT_MODELS[EventType(kind)]
        assert set(keys.split()) <= set(model.model_fields), kind


@pytest.mark.parametrize(
    ('file', 'kind'),
    [
        ('msg/RobotActionState.msg', ActionState),
        ('msg/WorldSnapshot.msg', Availability),
        ('action/RunMission.action', MissionOutcome),
    ],
)
def test_constants_of_the_interfaces_mirror_the_enums(file: str, kind: type[enum.Enum]) -> None:
    found = re.findall(r'^string (\w+)="(\w+)"', (ROOT / file).read_text(), re.MULTILINE)
    assert found == [(member.name, member.value) for member in kind]


def test_goal_statuses_are_those_of_action_msgs() -> None:
    messages = pytest.importorskip('action_msgs.msg', reason='needs ROS 2: . ./env.sh')
    for status in GoalStatus:
        assert getattr(messages.GoalStatus, f'STATUS_{status.name}') == status


def test_make_and_the_command_line_have_what_the_contract_names() -> None:
    targets = re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE)
    assert {'demo', 'test', 'lint', 'bench', 'setup'} <= set(targets)
    assert {'run', 'sim-robot', 'demo', 'report'} <= set(COMMANDS)


def test_dependencies_run_one_way() -> None:
    lint = Path(sys.executable).with_name('lint-imports')
    if not lint.exists():
        pytest.skip('import-linter is not installed')
    done = subprocess.run(
        [str(lint), '--no-cache', '--no-logo'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout


# -- when the model is asked, and what it may say -------------------------------------------------


def said(**values: Any) -> Play:
    return lambda bench: [setattr(bench.robot, name, value) for name, value in values.items()]


def jump(bench: Bench) -> None:
    bench.robot.pose = (3.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ('happen', 'kind'),
    [
        (lambda b: b.nav2.status((FOREIGN, GoalStatus.EXECUTING)), 'foreign_goal'),
        (lambda b: b.core.harness.notify(Salient('human_message', 'stop')), 'human_message'),
        (said(battery=0.1), 'battery_low'),
        (said(emergency_stop=True), 'emergency_stop'),
        (jump, 'localization_jump'),
        (lambda b: b.clock.step_ros(-60.0), 'clock_jump'),
    ],
)
def test_what_is_salient_is_recorded_and_starts_a_turn(
    happen: Play, kind: str, tmp_path: Path
) -> None:
    model = scripted(call('navigate_to_pose', **GOAL, **INTENT), text('I wait.'))

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', model=model) as bench:
            mission = asyncio.create_task(bench.core.harness.run_mission('go', 'm'))
            await asyncio.sleep(1.0)
            happen(bench)
            await asyncio.sleep(2.0)
            bench.core.harness.cancel_mission()
            await asyncio.sleep(0.1)
            bench.nav2.result(GoalStatus.CANCELED, {})
            await mission

    run_virtual(scenario())
    assert [request.metadata['trigger'] for request in model.requests] == ['mission_started', kind]
    with JournalReader(tmp_path / 'j.db') as reader:
        (event,) = reader.events(mission_id='m', type='SALIENT_EVENT')
    assert event.payload['kind'] == kind


def test_a_flood_of_goals_of_somebody_else_is_one_event_for_each_list(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            for lists in range(3):
                goals = [f'{lists:02}{number:030x}' for number in range(200)]
                bench.nav2.status(*((goal_id, GoalStatus.EXECUTING) for goal_id in goals))
                await asyncio.sleep(0.1)
            refused = await bench.call('navigate_to_pose', GOAL)
            (failed,) = refused.data['failed_checks']
            assert failed['name'] == 'no_foreign_goal'

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        events = list(reader.events(type='SALIENT_EVENT'))
    assert [event.payload['kind'] for event in events] == ['foreign_goal'] * 3
    assert {event.payload['details']['goals'] for event in events} == {200}
    assert {len(event.payload['details']['goal_ids']) for event in events} == {8}
    assert events[0].payload['message'] == 'somebody else has sent the controller 200 goals'


def test_tool_use_ids_may_repeat_and_pair_nothing_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / 'j.db'
    twice = [{'name': 'list_places', 'id': 'tu1'}, {'name': 'get_world_snapshot', 'id': 'tu1'}]
    finish = {'name': 'finish_mission', 'arguments': {'outcome': 'unknown', 'reason': 'r'}}
    model = scripted(response(calls=twice), response(calls=[{**finish, 'id': 'tu1'}]))

    async def scenario() -> None:
        async with Bench(path, model=model) as bench:
            await bench.core.harness.run_mission('look')

    run_virtual(scenario())
    assert check_journal(path) == []
    with JournalReader(path) as reader:
        calls = list(reader.events(type='TOOL_CALL_RECORDED'))
    assert [event.payload['client']['tool_use_id'] for event in calls] == ['tu1'] * 3
    assert len({event.tool_call_id for event in calls}) == 3


def test_a_cut_tool_call_moves_nothing_and_is_answered(tmp_path: Path) -> None:
    path = tmp_path / 'j.db'
    cut = response(call={'name': 'navigate_to_pose'}, stop_reason='max_tokens')
    model = scripted(cut, text('Hm.'), text('Hm.'))

    async def scenario() -> int:
        async with Bench(path, model=model) as bench:
            await bench.core.harness.run_mission('go')
            return len(bench.nav2.sent)

    assert run_virtual(scenario()) == 0
    with JournalReader(path) as reader:
        (result,) = reader.events(type='TOOL_RESULT_RECORDED')
    assert result.payload['status'] == 'invalid_arguments'
    assert 'truncated' in result.payload['structured']['message']


class Costly(RecordingScriptedClient):
    """A scripted model whose every answer costs a hundred tokens."""

    async def decide(self, request: ModelRequest) -> Decision:
        decision = await super().decide(request)
        return replace(decision, usage={'input_tokens': 60, 'output_tokens': 40})


@pytest.mark.parametrize(('limit', 'answers'), [(0, 3), (250, 3), (150, 2), (1, 1)])
def test_a_mission_ends_when_its_tokens_are_spent(
    limit: int, answers: int, tmp_path: Path
) -> None:
    trips = [call('navigate_to_pose', x=x, y=0.0, **INTENT) for x in (1.0, 2.0)]
    finish = call('finish_mission', outcome='achieved', reason='r')
    model = Costly.from_dict({'responses': [*trips, finish]})
    nav2 = ArrivingNav2()

    async def scenario() -> str:
        parameters = {'mission.max_tokens': limit}
        bench = Bench(tmp_path / 'j.db', model=model, nav2=nav2, parameters=parameters)
        async with bench:
            nav2.bench = bench
            report = await bench.core.harness.run_mission('there and on')
            return report.reason

    reason = run_virtual(scenario())
    assert reason == ('finished' if answers == 3 else 'max_tokens')
    assert len(model.requests) == answers


@pytest.mark.parametrize(
    ('parameters', 'shown'),
    [
        ({}, ['1.0', '2.0', '3.0']),
        ({'world_model.history_size': 1}, ['3.0']),
        ({'world_model.enabled': False}, []),
    ],
)
def test_the_model_is_shown_as_much_history_as_is_configured(
    parameters: dict[str, Any], shown: list[str], tmp_path: Path
) -> None:
    trips = [call('navigate_to_pose', x=x, y=0.0, **INTENT) for x in (1.0, 2.0, 3.0)]
    model = scripted(*trips, call('finish_mission', outcome='achieved', reason='r'))
    nav2 = ArrivingNav2()

    async def scenario() -> None:
        async with Bench(
            tmp_path / 'j.db', model=model, nav2=nav2, parameters=parameters
        ) as bench:
            nav2.bench = bench
            await bench.core.harness.run_mission('there and on')

    run_virtual(scenario())
    prompt = model.requests[-1].messages[0].text
    history = prompt.split('# Earlier decisions')[1].split('# World')[0]
    assert re.findall(r'"x\\":(\d\.\d)', history) == shown


# -- what readers and operators are told ----------------------------------------------------------


def test_readers_pass_over_types_and_keys_of_a_later_release(tmp_path: Path) -> None:
    path = tmp_path / 'j.db'

    async def scenario() -> None:
        async with Bench(path) as bench:
            await bench.call('list_places', {})

    run_virtual(scenario())
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for kind, payload in (
            ('DREAM_RECORDED', '{"deep":true}'),
            ('SALIENT_EVENT', '{"details":{},"kind":"k","later":1,"message":"m"}'),
        ):
            seq, chain = connection.execute(
                'SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1'
            ).fetchone()
            row: tuple[Any, ...] = (seq + 1, 1, kind, 0, *[None] * 6, payload)
            marks = ', '.join('?' * 12)
            connection.execute(
                f'INSERT INTO events VALUES ({marks})', (*row, chain_of(chain, row))
            )
    with JournalReader(path) as reader:
        assert reader.verify_chain() == 8
        assert [event.payload.get('later') for event in reader.events()][-2:] == [None, 1]

    async def again() -> None:
        async with Bench(path) as bench:
            assert (await bench.call('list_places', {})).status is ResultStatus.COMPLETED

    run_virtual(again())


def test_a_journal_that_cannot_be_written_is_an_error_in_diagnostics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    from diagnostic_msgs.msg import DiagnosticStatus

    from robot_agent_harness.ros.health import Health

    told: list[Any] = []

    def full() -> None:
        raise sqlite3.OperationalError('database or disk is full')

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            health = Health(
                bench.core,
                clock=bench.clock,
                battery_low_fraction=0.2,
                model=None,
                endpoint=lambda: None,
                mismatches=lambda: (),
            )
            told.append(health.findings()['journal'])
            with monkeypatch.context() as patch:
                patch.setattr(bench.core.journal._database, 'begin', full)
                await bench.call('navigate_to_pose', GOAL)
                told.append(health.findings()['journal'])
            await asyncio.sleep(1.0)
            told.append(health.findings()['journal'])

    run_virtual(scenario())
    assert [level for level, _, _ in told] == [
        DiagnosticStatus.OK,
        DiagnosticStatus.ERROR,
        DiagnosticStatus.OK,
    ]
    assert 'full' in told[1][1]
