# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop: when the model is asked, with what, and what its answers lead to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness import turn
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.errors import HarnessError
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.client import Decision, ModelRequest, UserMessage
from robot_agent_harness.llm.planner import Prompt, Situation
from robot_agent_harness.mission import MissionOutcome, MissionReport
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
from robot_agent_harness.world import WorldState
from robot_agent_harness.world.salient import Salient

INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FINISH = call('finish_mission', outcome='achieved', reason='it was seen to arrive')


def go(x: float, **arguments: Any) -> dict[str, Any]:
    return call('navigate_to_pose', say=f'I go to {x}.', x=x, y=0.0, **INTENT, **arguments)


class Rig:
    """Runs one mission with a scripted model, and keeps what it led to."""

    def __init__(self, tmp_path: Path, *responses: dict[str, Any], **parameters: Any) -> None:
        self.path = tmp_path / 'journal.db'
        self.model = scripted(*responses)
        self.nav2 = ArrivingNav2()
        self.parameters = parameters
        self.report: MissionReport
        self.events: list[RecordedEvent] = []

    def run(self, meanwhile: Callable[[Bench], Awaitable[None]] | None = None) -> MissionReport:
        async def scenario() -> MissionReport:
            bench = Bench(self.path, model=self.model, nav2=self.nav2, parameters=self.parameters)
            async with bench:
                self.nav2.bench = bench
                mission = asyncio.create_task(bench.core.harness.run_mission('fetch', 'mission-a'))
                if meanwhile is not None:
                    await meanwhile(bench)
                return await asyncio.wait_for(mission, 600)

        self.report = run_virtual(scenario())
        with JournalReader(self.path) as reader:
            self.events = list(reader.events())
        assert check_journal(self.path) == []
        return self.report

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event.payload for event in self.events if event.type == kind]

    @property
    def prompts(self) -> list[str]:
        return [turn['user_prompt'] for turn in self.of('MODEL_TURN_STARTED')]

    @property
    def statuses(self) -> list[str]:
        return [result['status'] for result in self.of('TOOL_RESULT_RECORDED')]


def test_a_mission_ends_achieved_when_its_last_action_was_seen_to_arrive(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(1.0), FINISH)
    report = rig.run()
    assert (report.outcome, report.claim_supported) == (MissionOutcome.ACHIEVED, True)
    assert rig.statuses == ['accepted', 'completed']
    (recorded, _) = rig.of('TOOL_CALL_RECORDED')
    assert recorded['purpose'] == INTENT['purpose']
    assert recorded['expected_outcome'] == INTENT['expected_outcome']
    assert recorded['arguments'] == {'x': 1.0, 'y': 0.0}
    assert 'SUCCEEDED (verified)' in rig.prompts[1]


def test_a_claim_that_nothing_supports_is_not_believed(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(2.0), FINISH)
    rig.nav2.falls_short = 1
    report = rig.run()
    assert (report.outcome, report.claim_supported) == (MissionOutcome.NOT_ACHIEVED, False)
    assert rig.of('ROBOT_ACTION_OUTCOME')[0]['reason'] == 'verification_disproved'


def test_a_mission_without_any_action_cannot_be_verified(tmp_path: Path) -> None:
    report = Rig(tmp_path, FINISH).run()
    assert (report.outcome, report.claim_supported) == (MissionOutcome.UNKNOWN, None)


def test_after_a_disproved_success_the_model_sees_the_measured_error(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(2.0), go(2.0), FINISH)
    rig.nav2.falls_short = 1
    report = rig.run()
    assert report.outcome is MissionOutcome.ACHIEVED
    assert '"position_error_m":1.0' in rig.prompts[1]
    assert 'verification_disproved' in rig.prompts[2]


def test_a_decision_whose_world_changed_moves_nothing_and_is_taken_again(tmp_path: Path) -> None:
    slow = {**go(2.0), 'delay_s': 3.0}
    rig = Rig(tmp_path, slow, go(2.0), FINISH)

    async def push(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.robot.place(0.8, 0.0)

    rig.run(push)
    assert rig.statuses == ['precondition_changed', 'accepted', 'completed']
    assert len(rig.nav2.sent) == 1
    assert rig.of('MODEL_TURN_STARTED')[1]['trigger'] == 'precondition_changed'
    assert 'pose_drift' in rig.prompts[1]
    assert '"x_m":0.8' in rig.prompts[1]


def test_one_managed_action_a_decision_the_second_gets_its_own_result(tmp_path: Path) -> None:
    both = response(
        calls=[
            {'name': 'navigate_to_pose', 'arguments': {'x': x, 'y': 0.0, **INTENT}}
            for x in (1.0, 2.0)
        ]
    )
    rig = Rig(tmp_path, both, FINISH)
    rig.run()
    assert rig.statuses[:2] == ['accepted', 'one_managed_action_per_step']
    assert 'see what becomes of the first one' in _messages(rig)[1]
    assert len(rig.nav2.sent) == 1


def _messages(rig: Rig) -> list[str]:
    return [result['structured']['message'] for result in rig.of('TOOL_RESULT_RECORDED')]


def test_ordinary_tools_are_answered_within_the_turn(tmp_path: Path) -> None:
    rig = Rig(tmp_path, call('list_places'), go(1.0), FINISH)
    rig.run()
    assert len(rig.of('MODEL_TURN_STARTED')) == 2
    second = rig.model.requests[1].messages
    assert second[2].results[0].tool_call_id == second[1].decision.tool_calls[0].id  # type: ignore[union-attr]
    assert 'kitchen' in second[2].results[0].text  # type: ignore[union-attr]


def test_wrong_arguments_can_be_corrected_within_the_turn(tmp_path: Path) -> None:
    rig = Rig(tmp_path, call('navigate_to_pose', x='1,5', y=0, **INTENT), go(1.5), FINISH)
    rig.run()
    assert rig.statuses == ['invalid_arguments', 'accepted', 'completed']
    assert len(rig.of('MODEL_TURN_STARTED')) == 2


def test_a_model_that_calls_no_tool_is_asked_once_more_and_then_the_mission_ends(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, text('All done.'), text('Really.'))
    report = rig.run()
    assert (report.reason, report.outcome) == ('no_decision', MissionOutcome.UNKNOWN)
    assert len(rig.of('MODEL_RESPONSE_RECORDED')) == 2


def test_a_mission_ends_after_its_last_step(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {**go(1.0), 'repeat': True}, **{'mission.max_steps': 3})
    report = rig.run()
    assert (report.reason, report.steps) == ('max_steps', 3)


def test_cancelling_a_mission_cancels_its_action_and_asks_no_more(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(1.0), FINISH)
    rig.nav2.silent = True

    async def cancel(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.cancel_mission()
        await asyncio.sleep(0.1)
        bench.nav2.result(GoalStatus.CANCELED, {})

    report = rig.run(cancel)
    assert report.reason == 'canceled'
    assert rig.nav2.cancel_requests == [rig.nav2.own_goal]
    assert rig.of('ROBOT_ACTION_OUTCOME')[0]['reason'] == 'canceled'
    assert len(rig.model.requests) == 1


def test_a_goal_whose_turn_comes_after_a_cancel_is_told_that_the_mission_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_and_go = response(
        calls=[
            {'name': 'list_places', 'arguments': {}},
            {'name': 'navigate_to_pose', 'arguments': {'x': 1.0, 'y': 0.0, **INTENT}},
        ]
    )
    rig = Rig(tmp_path, look_and_go)

    async def cancel(bench: Bench) -> None:
        dispatcher = bench.core.dispatcher
        monkeypatch.setattr(dispatcher, '_journal', _SlowJournal(dispatcher._journal))
        await asyncio.sleep(0.4)
        bench.core.harness.cancel_mission()

    assert rig.run(cancel).reason == 'canceled'
    assert len(rig.model.requests) == 1
    told = dict(zip(rig.statuses, _messages(rig), strict=True))  # one of each
    assert 'the mission is over' in told['one_managed_action_per_step']
    assert rig.nav2.sent == []


@pytest.mark.parametrize('waits_for', ['discovery', 'the disk'])
@pytest.mark.parametrize('end', ['canceled', 'max_wall_time', 'interrupted'])
def test_no_goal_leaves_after_its_mission_was_called_off(
    end: str, waits_for: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = {'mission.max_wall_time_s': 0.5} if end == 'max_wall_time' else {}
    rig = Rig(tmp_path, go(1.0), **limit)

    async def call_off(bench: Bench) -> None:
        if waits_for == 'discovery':
            bench.nav2.set_reachable(False)
        else:
            starter = bench.core.starter
            monkeypatch.setattr(starter, '_journal', _SlowJournal(starter._journal))
        await asyncio.sleep(0.5)
        assert rig.nav2.sent == []
        if end != 'max_wall_time':
            bench.core.harness.cancel_mission(end)
        await asyncio.sleep(0.2)
        bench.nav2.set_reachable(True)

    assert rig.run(call_off).reason == end
    assert rig.nav2.sent == []
    assert rig.statuses == ['interrupted']
    assert len(rig.of('TOOL_CALL_WITHDRAWN')) == 1
    assert all(o['evidence']['goal_sent'] is False for o in rig.of('ROBOT_ACTION_OUTCOME'))


class _SlowJournal:
    """Takes most of a second for what has to be on disk before a goal leaves."""

    def __init__(self, journal: Any) -> None:
        self._journal = journal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def append(self, *entries: Any, **more: Any) -> Any:
        # Now: what a caller who is cancelled leaves must be in the queue.
        return asyncio.ensure_future(self._late(self._journal.append(*entries, **more)))

    async def _late(self, written: Any) -> Any:
        await asyncio.sleep(0.8)
        return await written


@pytest.mark.parametrize('code', [None, 1], ids=['lost', 'refused'])
def test_a_cancel_at_the_end_of_a_mission_is_repeated_until_the_goal_ends(
    code: int | None, tmp_path: Path
) -> None:
    async def scenario() -> tuple[MissionReport, list[float], str]:
        loop = asyncio.get_running_loop()
        nav2 = ArrivingNav2()
        nav2.silent, nav2.cancel_code = True, code
        asked: list[float] = []

        async with Bench(tmp_path / 'j.db', model=scripted(go(9.0)), nav2=nav2) as bench:
            mission = asyncio.create_task(bench.core.harness.run_mission('fetch', 'mission-a'))
            await asyncio.sleep(1.0)
            began = loop.time()

            def cancel(goal_id: str, then: Callable[[str], None] = nav2.cancel) -> None:
                asked.append(loop.time() - began)
                then(goal_id)

            nav2.cancel = cancel  # type: ignore[method-assign]
            bench.core.harness.cancel_mission()
            report = await mission
            await asyncio.sleep(10.0)
            nav2.status((nav2.own_goal, GoalStatus.CANCELING))  # heard at last
            heard = len(asked)
            await asyncio.sleep(12.0)
            assert len(asked) == heard
            nav2.result(GoalStatus.CANCELED, {})
            action = await bench.outcome(nav2.own_goal)
            await asyncio.sleep(20.0)
            assert len(asked) == heard
            assert action.outcome is not None
            return report, asked, action.outcome.reason.value

    report, asked, reason = run_virtual(scenario())
    assert asked == pytest.approx([0.0, 5.0, 10.0, 15.0, 20.0, 25.0][: len(asked)])
    assert len(asked) >= 5
    assert (report.reason, reason) == ('canceled', 'canceled')
    assert 'still under way: navigate_to_pose ACCEPTED' in report.summary
    assert check_journal(tmp_path / 'j.db') == []
    with JournalReader(tmp_path / 'j.db') as reader:
        notes = [e.payload.get('note') for e in reader.events()]
    assert notes.count('cancel requested again') == len(asked) - 1


def test_what_happens_while_the_model_thinks_is_told_in_the_next_turn(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {**call('list_places'), 'delay_s': 6.0}, text('Hm.'), go(1.0), FINISH)

    async def stop_and_release(bench: Bench) -> None:
        bench.robot.emergency_stop = False
        await asyncio.sleep(1.5)
        bench.robot.emergency_stop = True
        await asyncio.sleep(1.5)
        bench.robot.emergency_stop = False

    rig.run(stop_and_release)
    assert 'emergency_stop: the emergency stop has been engaged' in rig.prompts[1]
    assert 'emergency_stop_released' in rig.prompts[1]


def test_something_salient_during_an_action_starts_a_turn_and_the_action_goes_on(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, go(1.0), text('I wait.'), FINISH)

    async def drain(bench: Bench) -> None:
        await asyncio.sleep(0.5)
        bench.robot.battery = 0.1

    report = rig.run(drain)
    triggers = [turn['trigger'] for turn in rig.of('MODEL_TURN_STARTED')]
    assert triggers == ['mission_started', 'battery_low', 'action_outcome']
    assert report.outcome is MissionOutcome.ACHIEVED


def test_a_mission_cannot_be_finished_under_a_running_action(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(1.0), FINISH, text('I wait.'), FINISH)

    async def nudge(bench: Bench) -> None:
        await asyncio.sleep(0.5)
        bench.robot.battery = 0.1

    rig.run(nudge)
    assert rig.statuses == ['accepted', 'tool_error', 'completed']


def test_each_failed_attempt_to_ask_the_model_is_on_record(tmp_path: Path) -> None:
    overloaded = response(error={'message': 'overloaded', 'retryable': True})
    rig = Rig(tmp_path, overloaded, go(1.0), FINISH)
    report = rig.run()
    assert report.outcome is MissionOutcome.ACHIEVED
    assert [r['error'] for r in rig.of('MODEL_RESPONSE_RECORDED')] == ['overloaded', None, None]


def test_a_model_that_cannot_be_asked_ends_the_mission(tmp_path: Path) -> None:
    refused = response(error={'message': 'no such key', 'retryable': False})
    report = Rig(tmp_path, refused).run()
    assert (report.reason, report.outcome) == ('model_error', MissionOutcome.UNKNOWN)


class Failing(RecordingScriptedClient):
    """A model whose client has a fault of its own, once its script gets there."""

    async def decide(self, request: ModelRequest) -> Decision:
        if self.requests:
            raise KeyError('a fault of the client')
        return await super().decide(request)


async def _hurry(bench: Bench) -> None:
    await asyncio.sleep(1.0)
    bench.core.harness.notify(Salient('human_message', 'hurry', {}))


def test_a_client_that_raises_anything_could_not_be_asked_and_that_is_on_record(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(tmp_path)
    rig.model = Failing.from_dict({'responses': [go(5.0)]})
    rig.nav2.silent = True
    report = rig.run(_hurry)
    assert (report.reason, report.outcome) == ('model_error', MissionOutcome.UNKNOWN)
    assert 'a fault of the client' in rig.of('MODEL_RESPONSE_RECORDED')[-1]['error']
    assert len(rig.of('ROBOT_ACTION_OUTCOME')) == 1
    assert 'a fault of the client' in caplog.text


class Stray(BaseException):
    """What is no `Exception`, as a group with a cancellation in it is none."""


RAISED = [SystemExit(3), GeneratorExit(), asyncio.CancelledError(), Stray()]
"""What a user's code may raise that passes by every `except Exception`."""


class Escaping(RecordingScriptedClient):
    """A model whose client raises what is no `Exception`, also where it is closed."""

    error: BaseException

    async def decide(self, request: ModelRequest) -> Decision:
        raise self.error

    async def close(self) -> None:
        raise self.error


@pytest.mark.parametrize('error', RAISED, ids=repr)
def test_a_client_that_raises_what_is_no_exception_ends_its_mission_and_nothing_else(
    error: BaseException, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(tmp_path)
    rig.model = Escaping.from_dict({'responses': [FINISH]})
    rig.model.error = error
    assert rig.run().reason == 'model_error'
    assert [ended['reason'] for ended in rig.of('MISSION_ENDED')] == ['model_error']
    assert type(error).__name__ in rig.of('MODEL_RESPONSE_RECORDED')[-1]['error']
    assert 'closing the model failed' in caplog.text


@pytest.mark.parametrize('error', RAISED, ids=repr)
def test_a_planner_that_raises_what_is_no_exception_ends_its_mission_and_nothing_else(
    error: BaseException, tmp_path: Path
) -> None:
    class Planner:
        def prompt(self, situation: Situation, *, world: WorldState | None) -> Prompt:
            raise error

    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db', model=scripted(FINISH), planner=Planner()) as bench:
            return [(await bench.core.harness.run_mission('go')).reason for _ in range(2)]

    assert run_virtual(scenario()) == ['harness_fault'] * 2
    assert check_journal(tmp_path / 'j.db') == []


def test_a_fault_of_ours_ends_the_mission_and_its_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, go(5.0), FINISH)
    rig.nav2.silent = True

    async def break_it(bench: Bench) -> None:
        await asyncio.sleep(0.5)
        monkeypatch.setattr(turn, 'project', None)
        await _hurry(bench)

    report = rig.run(break_it)
    assert (report.reason, report.outcome) == ('harness_fault', MissionOutcome.UNKNOWN)
    assert [ended['reason'] for ended in rig.of('MISSION_ENDED')] == ['harness_fault']
    assert len(rig.of('ROBOT_ACTION_OUTCOME')) == 1


def test_outcomes_of_one_mission_do_not_reach_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        nav2 = ArrivingNav2()
        model = scripted(go(1.0), FINISH, call('get_world_snapshot'), FINISH)
        async with Bench(tmp_path / 'j.db', model=model, nav2=nav2) as bench:
            nav2.bench = bench
            await bench.core.harness.run_mission('first')
            await bench.core.harness.run_mission('second')
        asked = model.requests[2]
        assert asked.metadata['last_outcome'] is None
        assert 'SUCCEEDED' not in asked.messages[0].text  # type: ignore[union-attr]

    run_virtual(scenario())


def test_a_second_mission_is_refused_while_one_is_under_way(tmp_path: Path) -> None:
    async def again(bench: Bench) -> None:
        await asyncio.sleep(0.5)
        with pytest.raises(HarnessError, match='under way'):
            await bench.core.harness.run_mission('another')

    Rig(tmp_path, go(1.0), FINISH).run(again)


def test_without_a_controller_the_model_is_not_asked_in_a_tight_loop(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {**go(1.0), 'repeat': True}, **{'mission.max_steps': 4})

    async def away(bench: Bench) -> None:
        bench.nav2.set_reachable(False)

    rig.run(away)
    assert set(rig.statuses) == {'controller_unavailable'}
    asked = [e.wall_time_ns for e in rig.events if e.type == 'MODEL_TURN_STARTED']
    assert all(b - a >= 1.9e9 for a, b in pairwise(asked))


def test_a_mission_can_be_cancelled_while_the_model_thinks(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {**go(1.0), 'delay_s': 50.0})

    async def cancel(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.cancel_mission()

    report = rig.run(cancel)
    assert report.reason == 'canceled'
    assert rig.nav2.sent == []
    took_s = _seconds(rig)
    assert took_s < 2.0


@pytest.mark.parametrize('asked', [False, True], ids=['running', 'cancel is not answered'])
def test_a_mission_that_a_closing_harness_interrupts_gets_its_end_on_record(
    asked: bool, tmp_path: Path
) -> None:
    async def scenario() -> None:
        nav2 = ArrivingNav2()
        nav2.silent = True
        bench = Bench(tmp_path / 'j.db', model=scripted(go(1.0), FINISH), nav2=nav2)
        async with bench:
            nav2.bench = bench
            mission = asyncio.create_task(bench.core.harness.run_mission('fetch'))
            await asyncio.sleep(1.0)
            if asked:
                bench.core.harness.cancel_mission('interrupted')
                await asyncio.sleep(0.1)
        report = await asyncio.wait_for(mission, 5.0)
        assert report.reason == 'interrupted'

    run_virtual(scenario())
    assert check_journal(tmp_path / 'j.db') == []
    with JournalReader(tmp_path / 'j.db') as reader:
        assert [e.payload['reason'] for e in reader.events() if e.type == 'MISSION_ENDED'] == [
            'interrupted'
        ]


def test_no_goal_goes_out_after_the_model_has_ended_the_mission(tmp_path: Path) -> None:
    both = response(
        calls=[
            {'name': 'finish_mission', 'arguments': {'outcome': 'achieved', 'reason': 'done'}},
            {'name': 'navigate_to_pose', 'arguments': {'x': 1.0, 'y': 0.0, **INTENT}},
        ]
    )
    rig = Rig(tmp_path, both)
    report = rig.run()
    assert rig.nav2.sent == []
    assert rig.statuses == ['completed', 'one_managed_action_per_step']
    assert 'the mission is over' in _messages(rig)[1]
    assert (report.outcome, report.claim_supported) == (MissionOutcome.UNKNOWN, None)


def test_the_model_cannot_make_the_loop_wait(tmp_path: Path) -> None:
    rig = Rig(tmp_path, call('wait_for_action', action_id='0' * 32, timeout_s=600.0), FINISH)
    rig.run()
    assert rig.statuses[0] == 'invalid_arguments'


def test_an_action_of_a_client_supports_no_claim_of_the_model(tmp_path: Path) -> None:
    rig = Rig(tmp_path, {**call('list_places'), 'delay_s': 5.0}, FINISH)

    async def drive(bench: Bench) -> None:
        result = await bench.call('navigate_to_pose', {'x': 1, 'y': 0}, mission_id='mission-a')
        await bench.outcome(result.data['action_id'])

    report = rig.run(drive)
    assert (report.outcome, report.claim_supported) == (MissionOutcome.UNKNOWN, None)


# -- what the evidence says of a claim ------------------------------------------------------------


@pytest.mark.parametrize(
    ('trips', 'outcome', 'supported'),
    [
        (['there'], MissionOutcome.ACHIEVED, True),
        (['short', 'there'], MissionOutcome.ACHIEVED, True),
        (['aborted'], MissionOutcome.NOT_ACHIEVED, False),
        (['canceled'], MissionOutcome.NOT_ACHIEVED, False),
        (['there', 'aborted elsewhere'], MissionOutcome.NOT_ACHIEVED, False),
        (['there', 'canceled elsewhere'], MissionOutcome.UNKNOWN, False),
        (['there', 'aborted'], MissionOutcome.UNKNOWN, False),
        (['there', 'lost'], MissionOutcome.UNKNOWN, False),
    ],
    ids=lambda value: ' then '.join(value) if isinstance(value, list) else '',
)
def test_a_claim_of_success_is_judged_by_the_action_that_ended_last(
    trips: list[str], outcome: MissionOutcome, supported: bool, tmp_path: Path
) -> None:
    ends = {'aborted': GoalStatus.ABORTED, 'canceled': GoalStatus.CANCELED}
    goals = [go(3.0 if 'elsewhere' in trip else 1.0) for trip in trips]
    rig = Rig(tmp_path, *goals, FINISH, **{'navigation.execution_timeout_s': 10.0})

    async def end(bench: Bench) -> None:
        for number, trip in enumerate(trips):
            rig.nav2.silent = trip not in ('there', 'short')
            rig.nav2.falls_short = int(trip == 'short')
            while len(rig.nav2.sent) <= number:
                await asyncio.sleep(0.1)
            status = ends.get(trip.split()[0])
            if status is not None:
                await asyncio.sleep(0.5)
                bench.nav2.result(status, {})
            await bench.outcome(rig.nav2.own_goal)

    report = rig.run(end)
    assert (report.outcome, report.claim_supported) == (outcome, supported)


@pytest.mark.parametrize(
    ('afterwards', 'outcome', 'supported'),
    [
        ([], MissionOutcome.UNKNOWN, False),
        ([{**go(1.5), 'delay_s': 6.0}], MissionOutcome.ACHIEVED, True),
    ],
    ids=['refused last', 'carried out in the end'],
)
@pytest.mark.parametrize('refused', ['precondition_changed', 'invalid_arguments'])
def test_a_claim_is_not_supported_where_the_newest_decision_was_not_carried_out(
    refused: str,
    afterwards: list[dict[str, Any]],
    outcome: MissionOutcome,
    supported: bool,
    tmp_path: Path,
) -> None:
    second = {**go(2.0), 'delay_s': 4.0}
    if refused == 'invalid_arguments':
        second = go(2.0, frame_id='nowhere')
    rig = Rig(tmp_path, go(1.0), second, *afterwards, {**FINISH, 'repeat': True})

    async def engage(bench: Bench) -> None:
        if refused == 'precondition_changed':
            bench.robot.emergency_stop = False
            await asyncio.sleep(4.0)
            bench.robot.emergency_stop = True
            await asyncio.sleep(3.0)
            bench.robot.emergency_stop = False

    report = rig.run(engage)
    assert rig.statuses[:2] == ['accepted', refused]
    assert (report.outcome, report.claim_supported) == (outcome, supported)
    assert ('decided last, and not carried out: navigate_to_pose' in report.summary) is (
        not supported
    )


# -- budgets --------------------------------------------------------------------------------------


class Costly(RecordingScriptedClient):
    """A scripted model whose every answer costs tokens."""

    async def decide(self, request: ModelRequest) -> Decision:
        return replace(await super().decide(request), usage={'input_tokens': 100})


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'mission.max_steps': 1}, 'max_steps'),
        ({'mission.max_tokens': 1}, 'max_tokens'),
        ({'mission.max_wall_time_s': 3.0}, 'max_wall_time'),
    ],
)
def test_when_a_budget_is_spent_the_running_action_is_cancelled_and_waited_for(
    parameters: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    rig = Rig(tmp_path, **parameters)
    rig.model = Costly.from_dict({'responses': [go(5.0), text('I go on.'), FINISH]})
    rig.nav2.silent = True
    report = rig.run(_hurry_and_confirm_the_cancellation)
    assert (report.reason, report.outcome) == (reason, MissionOutcome.UNKNOWN)
    assert [ended['reason'] for ended in rig.of('ROBOT_ACTION_OUTCOME')] == ['canceled']
    assert rig.of('MISSION_ENDED')[0]['reason'] == reason


async def _hurry_and_confirm_the_cancellation(bench: Bench) -> None:
    await _hurry(bench)
    await _confirm_the_cancellation(bench)


async def _confirm_the_cancellation(bench: Bench) -> None:
    while not bench.nav2.cancel_requests:
        await asyncio.sleep(0.1)
    bench.nav2.result(GoalStatus.CANCELED, {})


def _seconds(rig: Rig) -> float:
    started = next(event for event in rig.events if event.type == 'MISSION_STARTED')
    ended = next(event for event in rig.events if event.type == 'MISSION_ENDED')
    return float(ended.wall_time_ns - started.wall_time_ns) / 1e9


def test_the_time_of_a_mission_runs_out_also_while_the_model_thinks(tmp_path: Path) -> None:
    slow = {**go(1.0), 'delay_s': 500.0}
    rig = Rig(tmp_path, slow, **{'mission.max_wall_time_s': 20.0})
    assert rig.run().reason == 'max_wall_time'
    assert len(rig.model.requests) == 1
    assert 20.0 <= _seconds(rig) < 22.0


def test_the_time_of_one_mission_is_not_that_of_the_next(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        nav2 = ArrivingNav2()
        model = scripted(go(1.0), FINISH, go(2.0), go(3.0), FINISH)
        parameters = {'mission.max_wall_time_s': 6.0}
        bench = Bench(tmp_path / 'j.db', model=model, nav2=nav2, parameters=parameters)
        async with bench:
            nav2.bench = bench
            return [(await bench.core.harness.run_mission('go')).reason for _ in range(2)]

    assert run_virtual(scenario()) == ['finished', 'finished']


def test_a_model_that_only_talks_is_asked_a_bounded_number_of_times(tmp_path: Path) -> None:
    chat = [call('list_places'), text('Let me think.')]
    rig = Rig(tmp_path, *chat * 10)
    assert (rig.run().reason, rig.report.steps) == ('no_decision', 1)
    assert [request.force_tool for request in rig.model.requests] == [False, False, True, False]
    (nudge,) = [m for m in rig.model.requests[3].messages[1:] if isinstance(m, UserMessage)]
    assert 'You called no tool' in nudge.text


# -- people ---------------------------------------------------------------------------------------


def test_a_person_who_speaks_during_an_action_is_heard_at_once_and_it_can_be_called_off(
    tmp_path: Path,
) -> None:
    rig = Rig(
        tmp_path,
        go(5.0),
        response(when={'trigger': 'human_message'}, call=_cancel_action('1')),
        call('finish_mission', outcome='not_achieved', reason='a person called me back'),
    )
    rig.nav2.silent = True

    async def call_back(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.notify(Salient('human_message', 'Stop, come back!'))
        await _confirm_the_cancellation(bench)

    report = rig.run(call_back)
    assert (report.reason, report.outcome) == ('finished', MissionOutcome.NOT_ACHIEVED)
    assert '- human_message: Stop, come back!' in rig.prompts[1]
    assert rig.statuses == ['accepted', 'completed', 'completed']
    assert [ended['reason'] for ended in rig.of('ROBOT_ACTION_OUTCOME')] == ['canceled']


def _cancel_action(number: str) -> dict[str, Any]:
    return {'name': 'cancel_action', 'arguments': {'action_id': number.rjust(32, '0')}}


def test_a_mission_is_not_finished_over_words_that_the_model_has_not_heard(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, {**FINISH, 'delay_s': 5.0}, FINISH)

    async def ask_for_more(bench: Bench) -> None:
        await asyncio.sleep(1.0)
        bench.core.harness.notify(Salient('human_message', 'and the cup'))

    assert rig.run(ask_for_more).reason == 'finished'
    assert rig.statuses == ['tool_error', 'completed']
    assert rig.of('MODEL_TURN_STARTED')[1]['trigger'] == 'human_message'
    assert '- human_message: and the cup' in rig.prompts[1]


def test_a_person_is_heard_before_all_the_tools_of_a_turn_are_through(tmp_path: Path) -> None:
    look = {**call('list_places'), 'delay_s': 5.0}
    rig = Rig(tmp_path, look, look, FINISH)
    rig.run(_hurry)
    assert [turn['trigger'] for turn in rig.of('MODEL_TURN_STARTED')] == [
        'mission_started',
        'human_message',
    ]
    assert rig.statuses == ['completed'] * 3


def test_a_mission_cancelled_under_a_hanging_model_ends_with_its_action(tmp_path: Path) -> None:
    rig = Rig(tmp_path, go(5.0), {**text('Hm.'), 'delay_s': 500.0}, FINISH)
    rig.nav2.silent = True

    async def cancel(bench: Bench) -> None:
        await _hurry(bench)
        await asyncio.sleep(1.0)
        bench.core.harness.cancel_mission()
        bench.core.harness.cancel_mission('a second reason')
        await _confirm_the_cancellation(bench)

    assert rig.run(cancel).reason == 'canceled'
    assert len(rig.model.requests) == 2
    assert [ended['reason'] for ended in rig.of('ROBOT_ACTION_OUTCOME')] == ['canceled']
    assert _seconds(rig) < 5.0


def test_a_cancelled_mission_does_not_ask_again_where_the_model_had_failed(tmp_path: Path) -> None:
    busy = response(error={'message': 'busy', 'retryable': True, 'retry_after_s': 20.0})
    rig = Rig(tmp_path, busy, go(1.0))

    async def cancel(bench: Bench) -> None:
        await asyncio.sleep(5.0)
        bench.core.harness.cancel_mission()

    assert rig.run(cancel).reason == 'canceled'
    assert len(rig.model.requests) == 1
    assert _seconds(rig) < 7.0
