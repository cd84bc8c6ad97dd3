# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How actions end: each end with its state and its reason, on evidence from after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import math
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.actions.controller import GoalStatus, SendFailed
from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.events import Correlation, Event, EventType
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.testing import Bench, check_journal, run_virtual, ScriptableNav2
from robot_agent_harness.world.geometry import wrap_angle

QUICK = {
    'navigation.accept_timeout_s': 2.0,
    'navigation.execution_timeout_s': 10.0,
    'navigation.verify_timeout_s': 3.0,
}
GOAL = {'x': 2.0, 'y': 0.0}
FOREIGN = 'f' * 32
Play = Callable[[Bench], Any]


def ended(
    path: Path,
    play: Play,
    *,
    goal: dict[str, Any] = GOAL,
    accepts: bool = True,
    after: Play | None = None,
    **parameters: Any,
) -> tuple[RobotAction, Bench]:
    """Start one action, let the world go its way, and return the action with its outcome."""

    async def scenario() -> tuple[RobotAction, Bench]:
        nav2 = ScriptableNav2(accept_after_s=0.05 if accepts else None)
        async with Bench(path, nav2=nav2, parameters={**QUICK, **parameters}) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', goal))
            await asyncio.sleep(0.2)
            play(bench)
            await calling
            await bench.outcome(bench.nav2.own_goal)
            if after is not None:
                after(bench)
                await asyncio.sleep(1.0)
            action = bench.core.board.get(bench.nav2.own_goal)
            assert action is not None
            return action, bench

    action, bench = run_virtual(scenario())
    assert check_journal(path) == []
    return action, bench


def arrives(bench: Bench) -> None:
    bench.robot.place(2.0, 0.0)
    bench.nav2.result(GoalStatus.SUCCEEDED, {})


@pytest.mark.parametrize(
    ('play', 'accepts', 'state', 'reason'),
    [
        (lambda b: None, False, 'UNKNOWN', 'acceptance_timeout'),
        (lambda b: b.nav2.respond(False), False, 'FAILED', 'rejected'),
        (
            lambda b: b.nav2.say(SendFailed(b.nav2.own_goal, 'no server')),
            False,
            'FAILED',
            'controller_lost',
        ),
        (lambda b: b.nav2.set_reachable(False), False, 'UNKNOWN', None),
        (lambda b: b.nav2.set_reachable(False), True, 'UNKNOWN', 'controller_lost'),
        (lambda b: None, True, 'UNKNOWN', 'execution_timeout'),
        (lambda b: b.nav2.result(0, {'error_code': 0}), True, 'UNKNOWN', 'result_lost'),
        (lambda b: b.nav2.result(99, {}), True, 'UNKNOWN', 'result_lost'),
        (lambda b: b.nav2.result(GoalStatus.ABORTED, {}), True, 'FAILED', 'aborted'),
        (lambda b: b.nav2.result(GoalStatus.CANCELED, {}), True, 'FAILED', 'canceled'),
        (arrives, True, 'SUCCEEDED', 'verified'),
    ],
)
def test_every_end_has_its_state_and_its_reason(
    play: Play, accepts: bool, state: str, reason: str | None, tmp_path: Path
) -> None:
    action, bench = ended(tmp_path / 'j.db', play, accepts=accepts)
    assert action.outcome is not None
    assert action.state.value == state
    assert reason in (None, action.outcome.reason.value)
    assert len(bench.nav2.sent) == 1


def turned(yaw: float) -> Play:
    def play(bench: Bench) -> None:
        bench.robot.place(2.0, 0.0, yaw)
        bench.nav2.result(GoalStatus.SUCCEEDED, {})

    return play


@pytest.mark.parametrize(
    ('yaw', 'observed', 'state'),
    [
        (math.pi, -math.pi + 0.1, 'SUCCEEDED'),
        (-3.1, 3.1, 'SUCCEEDED'),
        (3.5, 3.5 - math.tau, 'SUCCEEDED'),
        (0.0, 0.5, 'FAILED'),
        (0.0, math.pi, 'FAILED'),
    ],
)
def test_headings_are_compared_across_the_seam(
    yaw: float, observed: float, state: str, tmp_path: Path
) -> None:
    action, _ = ended(tmp_path / 'j.db', turned(observed), goal={**GOAL, 'yaw': yaw})
    assert action.outcome is not None
    assert action.state.value == state
    assert action.outcome.evidence['yaw_error_rad'] == pytest.approx(
        abs(wrap_angle(yaw - observed)), abs=1e-3
    )


def test_a_robot_that_settles_in_time_has_arrived(tmp_path: Path) -> None:
    def play(bench: Bench) -> None:
        bench.robot.place(1.9, 0.0, v=(0.2, 0.0))
        bench.nav2.result(GoalStatus.SUCCEEDED, {})
        asyncio.get_running_loop().call_later(2.0, bench.robot.place, 2.1, 0.0)

    action, _ = ended(tmp_path / 'j.db', play)
    assert action.state is ActionState.SUCCEEDED
    assert action.outcome is not None
    assert action.outcome.evidence['at_rest'] is True


def lost(bench: Bench) -> None:
    bench.robot.variance = 2.0
    arrives(bench)


def blind(bench: Bench) -> None:
    bench.robot.stopped |= {'pose', 'odom'}
    arrives(bench)


@pytest.mark.parametrize(('play', 'told'), [(lost, 'not trustworthy'), (blind, 'no pose')])
def test_without_trustworthy_state_from_after_the_end_nothing_is_confirmed(
    play: Play, told: str, tmp_path: Path
) -> None:
    action, _ = ended(tmp_path / 'j.db', play)
    assert action.outcome is not None
    assert (action.state.value, action.outcome.reason.value) == (
        'UNKNOWN',
        'verification_inconclusive',
    )
    assert told in action.outcome.evidence['why']


def test_the_evidence_shows_what_was_observed_and_not_what_was_asked_for(tmp_path: Path) -> None:
    def play(bench: Bench) -> None:
        bench.robot.place(1.8, 0.1)
        bench.nav2.result(GoalStatus.SUCCEEDED, {})

    action, bench = ended(tmp_path / 'j.db', play)
    assert action.outcome is not None
    assert action.outcome.evidence['observed_pose'] == {'x': 1.8, 'y': 0.1, 'yaw': 0.0}
    # Arguments reach the controller unchanged, with the declared defaults.
    assert bench.nav2.sent[0][1] == {'x': 2.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}


def test_what_is_heard_after_the_end_is_recorded_as_late_and_changes_nothing(
    tmp_path: Path,
) -> None:
    def late(bench: Bench) -> None:
        bench.nav2.status((bench.nav2.own_goal, GoalStatus.SUCCEEDED))
        arrives(bench)

    action, _ = ended(tmp_path / 'j.db', lambda b: None, after=late)
    assert action.state is ActionState.UNKNOWN
    with JournalReader(tmp_path / 'j.db') as reader:
        events = list(reader.events(action_id=action.action_id))
    kinds = [event.type for event in events]
    after = events[kinds.index('ROBOT_ACTION_OUTCOME') + 1 :]
    assert [event.payload['late'] for event in after if event.type == 'ROBOT_ACTION_PROGRESS']
    assert kinds.count('ROBOT_ACTION_OUTCOME') == 1


def test_feedback_that_comes_while_an_outcome_goes_to_the_disk_is_no_part_of_it(
    tmp_path: Path,
) -> None:
    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', {'x': 2.0, 'y': 0.0})
            bench.nav2.feedback(distance_remaining=0.5)
            await asyncio.sleep(3.0)

            def say_more(_seq: int, event: Event, _ids: Correlation) -> None:
                if event.type is EventType.ROBOT_ACTION_OUTCOME:
                    bench.nav2.feedback(distance_remaining=0.4)

            bench.core.journal.add_event_listener(say_more)
            arrives(bench)
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert action.outcome is not None
    assert (
        action.feedback == action.outcome.evidence['last_feedback'] == {'distance_remaining': 0.5}
    )


def test_a_refused_goal_that_gives_feedback_is_cancelled_and_blocks_the_next_until_it_ends(
    tmp_path: Path,
) -> None:
    async def scenario() -> tuple[list[str], Bench]:
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(tmp_path / 'j.db', nav2=nav2, parameters=QUICK) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.2)
            nav2.respond(False)
            told = [(await calling).status.value]
            refused = nav2.own_goal
            for _ in range(100):
                nav2.feedback(refused, distance_remaining=1.0)
            told.append((await bench.call('navigate_to_pose', GOAL)).status.value)
            nav2.result(GoalStatus.CANCELED, {}, refused)
            nav2.feedback(refused, distance_remaining=1.0)  # what was under way when it ended
            nav2.accept_after_s = 0.05
            told.append((await bench.call('navigate_to_pose', GOAL)).status.value)
            return told, bench

    told, bench = run_virtual(scenario())
    assert told == ['rejected', 'precondition_changed', 'accepted']
    refused = bench.nav2.sent[0][0]
    # Once when it was seen to run, once more when a call was refused because of it.
    assert bench.nav2.cancel_requests[:2] == [refused, refused]
    assert bench.nav2.result_requests[:2] == [refused, refused]
    assert check_journal(tmp_path / 'j.db') == []


@pytest.mark.parametrize('result', [False, True])
def test_a_goal_that_gives_feedback_after_its_outcome_is_cancelled_unless_its_result_told_the_end(
    result: bool, tmp_path: Path
) -> None:
    def play(bench: Bench) -> None:
        bench.nav2.status((bench.nav2.own_goal, GoalStatus.SUCCEEDED))
        if result:
            bench.nav2.result(GoalStatus.SUCCEEDED, {})

    def after(bench: Bench) -> None:
        bench.nav2.feedback(distance_remaining=1.0)

    action, bench = ended(tmp_path / 'j.db', play, after=after)
    assert action.state is ActionState.FAILED  # it is not at the goal
    assert bench.nav2.cancel_requests == ([] if result else [action.action_id])


@pytest.mark.parametrize('status', [0, 77, -3])
def test_a_status_that_nobody_defines_is_no_acceptance(tmp_path: Path, status: int) -> None:
    async def scenario() -> list[str]:
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(tmp_path / 'j.db', nav2=nav2, parameters=QUICK) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.5)
            nav2.status((nav2.own_goal, status))
            result = await calling
            action = await bench.outcome(result.data['action_id'])
            assert action.outcome is not None
            return [result.status.value, action.outcome.reason.value]

    assert run_virtual(scenario()) == ['acceptance_unknown', 'acceptance_timeout']


def test_a_goal_that_is_taken_late_stands_in_the_way_also_when_the_next_one_was_refused(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[str]:
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(tmp_path / 'j.db', nav2=nav2, parameters=QUICK) as bench:
            first = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            await bench.outcome(first)
            await asyncio.sleep(10.0)
            nav2.cancel_code = 2  # it knows no such goal, as it says
            told = [await bench.call('navigate_to_pose', GOAL)]
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.5)
            second, nav2.cancel_code = nav2.own_goal, None
            nav2.respond(True, first)
            nav2.feedback(first, distance_remaining=1.9)
            nav2.respond(False, second)
            told.append(await calling)
            told.append(await bench.call('navigate_to_pose', GOAL))
            return [result.status.value for result in told]

    assert run_virtual(scenario()) == ['precondition_changed', 'rejected', 'precondition_changed']


@pytest.mark.parametrize('asked', [True, False])
def test_an_outcome_says_whether_it_was_this_harness_that_had_the_goal_cancelled(
    asked: bool, tmp_path: Path
) -> None:
    async def scenario() -> Any:
        async with Bench(tmp_path / 'j.db') as bench:
            first = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            if asked:
                bench.nav2.cancel_code = 0
                await bench.call('cancel_action', {'action_id': first})
            bench.nav2.result(GoalStatus.CANCELED, {})
            return (await bench.outcome(first)).outcome

    outcome = run_virtual(scenario())
    assert (outcome.state.value, outcome.reason.value) == ('FAILED', 'canceled')
    assert ('not by this harness' in outcome.evidence['why']) is not asked


@pytest.mark.parametrize(
    ('how', 'told'),
    [
        ('server gone', 'the controller went away before it answered'),
        ('contradiction', 'the controller refused the goal, and tells of it all the same'),
        ('silence', 'no answer from the controller within 5.0 s'),
    ],
)
def test_a_result_does_not_say_that_nobody_answered_where_that_is_not_so(
    how: str, told: str, tmp_path: Path
) -> None:
    async def scenario() -> Any:
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(tmp_path / 'j.db', nav2=nav2) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            while not nav2.sent:
                await asyncio.sleep(0.001)
            if how == 'server gone':
                nav2.set_reachable(False)
            elif how == 'contradiction':
                nav2.feedback(distance_remaining=1.0)
                nav2.respond(False)
            return await calling

    result = run_virtual(scenario())
    assert result.status.value == 'acceptance_unknown'
    assert result.message == f'{told}; it may have taken the goal, and the robot may move'


@pytest.mark.parametrize('said', ['near', [1.0], {'m': math.nan}, True, 10**400, math.nan])
def test_feedback_of_any_shape_stops_neither_the_action_nor_who_asks_for_it(
    said: Any, tmp_path: Path
) -> None:
    """An action of a user's own may mean something else by the names that Nav2 uses."""

    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db') as bench:
            first = (await bench.call('navigate_to_pose', {'x': 0.1, 'y': 0.0})).data['action_id']
            bench.nav2.feedback(distance_remaining=said, number_of_recoveries=said)
            await asyncio.sleep(0.1)
            asked = await bench.call('get_action', {'action_id': first})
            looked = await bench.call('get_world_snapshot', {})
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            state = (await bench.outcome(first)).state.value
            return [asked.status.value, asked.message, looked.status.value, state]

    assert run_virtual(scenario()) == ['completed', 'RUNNING', 'completed', 'SUCCEEDED']
    assert check_journal(tmp_path / 'j.db') == []


def test_a_refused_goal_that_runs_and_ends_does_not_hide_one_of_which_nothing_was_heard(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[str]:
        nav2 = ScriptableNav2(accept_after_s=None)
        async with Bench(tmp_path / 'j.db', nav2=nav2, parameters=QUICK) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.2)
            nav2.respond(False)
            told, refused = [await calling], nav2.own_goal
            told.append(await bench.call('navigate_to_pose', GOAL))  # nobody answers
            lost = nav2.own_goal
            nav2.feedback(refused, distance_remaining=1.0)
            nav2.result(GoalStatus.ABORTED, {}, refused)
            told.append(await bench.call('navigate_to_pose', GOAL))
            nav2.status((lost, GoalStatus.CANCELED))
            nav2.accept_after_s = 0.05
            told.append(await bench.call('navigate_to_pose', GOAL))
            return [result.status.value for result in told]

    assert run_virtual(scenario()) == [
        'rejected',
        'acceptance_unknown',
        'precondition_changed',
        'accepted',
    ]


def test_while_a_robot_drives_on_after_an_end_that_was_disproved_nothing_new_is_sent(
    tmp_path: Path,
) -> None:
    async def scenario() -> tuple[str, list[str]]:
        async with Bench(tmp_path / 'j.db', parameters=QUICK) as bench:
            first = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            bench.robot.place(0.5, 0.0, v=(0.3, 0.0))
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            state = (await bench.outcome(first)).state.value
            told = [await bench.call('navigate_to_pose', GOAL)]
            bench.robot.place(0.5, 0.0)
            await asyncio.sleep(1.0)
            told.append(await bench.call('navigate_to_pose', GOAL))
            return state, [result.status.value for result in told]

    assert run_virtual(scenario()) == ('FAILED', ['precondition_changed', 'accepted'])


def test_a_goal_that_goes_on_running_unattended_is_cancelled_again_and_not_with_every_message(
    tmp_path: Path,
) -> None:
    async def scenario() -> int:
        nav2 = ScriptableNav2(accept_after_s=None)
        nav2.cancel_code = 1  # refused
        async with Bench(tmp_path / 'j.db', nav2=nav2, parameters=QUICK) as bench:
            calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
            await asyncio.sleep(0.2)
            nav2.respond(False)
            await calling
            for _ in range(120):  # for 12 s
                nav2.feedback(distance_remaining=1.0)
                await asyncio.sleep(0.1)
            return len(nav2.cancel_requests)

    assert run_virtual(scenario()) == 3


def test_a_goal_that_the_controller_denies_and_then_gives_feedback_of_blocks_the_next(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db', parameters=QUICK) as bench:
            first = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            bench.nav2.feedback(distance_remaining=2.0)
            await bench.outcome(first)  # UNKNOWN: no end was told in time
            bench.nav2.result(GoalStatus.UNKNOWN, {})
            bench.nav2.feedback(distance_remaining=1.0)
            told = [(await bench.call('navigate_to_pose', GOAL)).status.value]
            bench.nav2.result(GoalStatus.UNKNOWN, {}, first)
            return [*told, (await bench.call('navigate_to_pose', GOAL)).status.value]

    assert run_virtual(scenario()) == ['precondition_changed', 'accepted']


@pytest.mark.parametrize('whose', ['own', 'foreign'])
def test_a_server_that_comes_back_at_once_and_lists_nothing_blocks_nobody_for_ever(
    whose: str, tmp_path: Path
) -> None:
    """Nothing that it does not know of is ever listed as ended by it."""

    async def scenario() -> list[str]:
        async with Bench(tmp_path / 'j.db') as bench:
            goal_id = FOREIGN
            if whose == 'own':
                goal_id = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            bench.nav2.status((goal_id, GoalStatus.EXECUTING))
            bench.nav2.set_reachable(False)
            await asyncio.sleep(1.0)
            bench.nav2.set_reachable(True)
            told = [(await bench.call('navigate_to_pose', GOAL)).status.value]
            assert goal_id in bench.nav2.result_requests
            bench.nav2.result(GoalStatus.UNKNOWN, {}, goal_id)
            await asyncio.sleep(2.0)
            return [*told, (await bench.call('navigate_to_pose', GOAL)).status.value]

    assert run_virtual(scenario()) == ['precondition_changed', 'accepted']


def test_news_of_an_earlier_goal_completes_no_later_one(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with Bench(tmp_path / 'j.db') as bench:
            await bench.call('navigate_to_pose', GOAL)
            first = bench.nav2.own_goal
            bench.nav2.result(GoalStatus.ABORTED, {})
            await bench.outcome(first)
            await bench.call('navigate_to_pose', GOAL)
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {}, first)
            bench.nav2.status((first, GoalStatus.SUCCEEDED), (FOREIGN, GoalStatus.SUCCEEDED))
            bench.nav2.feedback(first, distance_remaining=0.0)
            await asyncio.sleep(5.0)
            action = bench.core.board.get(bench.nav2.own_goal)
            return action.state.value if action else ''

    assert run_virtual(scenario()) == 'ACCEPTED'


@pytest.mark.parametrize('cancels', [True, False])
def test_a_goal_that_nobody_can_vouch_for_is_cancelled_where_that_is_configured(
    cancels: bool, tmp_path: Path
) -> None:
    parameters = {'navigation.cancel_on_timeout': cancels}
    action, bench = ended(tmp_path / 'j.db', lambda b: None, **parameters)
    assert action.state is ActionState.UNKNOWN
    assert bench.nav2.cancel_requests == [bench.nav2.own_goal] * cancels


def test_after_an_unknown_end_the_next_goal_waits_for_evidence_of_rest(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        statuses = []
        async with Bench(tmp_path / 'j.db', parameters=QUICK) as bench:
            bench.nav2.cancel_code = None
            await bench.call('navigate_to_pose', GOAL)
            own = bench.nav2.own_goal
            bench.nav2.status((own, GoalStatus.EXECUTING))
            await bench.outcome(own)

            async def again() -> None:
                statuses.append((await bench.call('navigate_to_pose', GOAL)).status.value)

            await again()
            bench.robot.place(1.0, 0.0, v=(0.3, 0.0))
            bench.nav2.status((own, GoalStatus.CANCELED))
            await asyncio.sleep(1.0)
            await again()
            bench.robot.place(1.0, 0.0)
            await asyncio.sleep(1.0)
            await again()
        return statuses

    assert run_virtual(scenario()) == ['precondition_changed', 'precondition_changed', 'accepted']


def _ended(tmp_path: Path, tell: Callable[[Bench], None]) -> RobotAction:
    """Let the robot arrive, and let the controller tell of it in its own way."""

    async def scenario() -> RobotAction:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            await asyncio.sleep(1.0)
            tell(bench)
            return await bench.outcome(result.data['action_id'])

    action = run_virtual(scenario())
    assert check_journal(tmp_path / 'j.db') == []
    return action


def _result_then_status(bench: Bench) -> None:
    bench.nav2.result(GoalStatus.SUCCEEDED, {})
    bench.nav2.status((bench.nav2.own_goal, GoalStatus.ABORTED))


def _status_then_result(bench: Bench) -> None:
    bench.nav2.status((bench.nav2.own_goal, GoalStatus.ABORTED))
    bench.nav2.result(GoalStatus.SUCCEEDED, {})


def _listed_twice(bench: Bench) -> None:
    own = bench.nav2.own_goal
    bench.nav2.status((own, GoalStatus.ABORTED), (own, GoalStatus.SUCCEEDED))


def _two_results(bench: Bench) -> None:
    bench.nav2.result(GoalStatus.SUCCEEDED, {})
    bench.nav2.result(GoalStatus.CANCELED, {})


@pytest.mark.parametrize(
    'tell', [_result_then_status, _status_then_result, _listed_twice, _two_results]
)
def test_a_controller_that_contradicts_itself_confirms_nothing_in_any_order(
    tell: Callable[[Bench], None], tmp_path: Path
) -> None:
    action = _ended(tmp_path, tell)
    assert (action.state.value, action.outcome and action.outcome.reason.value) == (
        'UNKNOWN',
        'verification_inconclusive',
    )


def test_a_goal_that_was_never_seen_to_be_taken_is_not_denied_away(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        nav2 = ScriptableNav2(accept_after_s=None)
        nav2.cancel_code = 2
        async with Bench(tmp_path / 'j.db', nav2=nav2) as bench:
            first = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            second = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            await asyncio.sleep(10.0)
            asked = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            nav2.accept_after_s = 0.05
            third = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            return [result.status.value for result in (first, second, asked, third)]

    assert run_virtual(scenario()) == [
        'acceptance_unknown',
        'precondition_changed',
        'precondition_changed',
        'accepted',
    ]


def test_a_listener_that_fails_leaves_the_action_and_the_other_listeners_alone(
    tmp_path: Path,
) -> None:
    def fail(action: RobotAction) -> None:
        raise RuntimeError('not mine')

    heard = []

    async def scenario() -> str:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.core.tracker.on_change(fail)
            bench.core.tracker.on_change(heard.append)
            result = await bench.call('navigate_to_pose', {'x': 2, 'y': 0})
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
            return (await bench.outcome(result.data['action_id'])).state.value

    assert run_virtual(scenario()) == 'SUCCEEDED'
    assert heard
