# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One client for every distribution: what their NavigateToPose has more or less of is told, as far
as it is there, and decides nothing.

The messages are stand-ins with the fields of each: only one definition can be built at a time.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Empty

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.ros.filling import fill, plain
from robot_agent_harness.testing import Bench, check_journal, run_virtual

FEEDBACK: dict[str, tuple[str, Any]] = {
    'current_pose': ('geometry_msgs/PoseStamped', PoseStamped()),
    'navigation_time': ('builtin_interfaces/Duration', Duration(sec=3)),
    'estimated_time_remaining': ('builtin_interfaces/Duration', Duration(sec=5)),
    'number_of_recoveries': ('int16', 1),
    'distance_remaining': ('float', 1.25),
}
CODE, TEXT = {'error_code': ('uint16', 0)}, {'error_msg': ('string', '')}
ERRORS = {
    'tracking_error': ('nav2_msgs/TrackingFeedback', Empty()),
    'progress': ('float', 0.5),
}
DISTRIBUTIONS: dict[str, tuple[dict[str, tuple[str, Any]], dict[str, tuple[str, Any]]]] = {
    # Its result, and its feedback.
    'humble': ({'result': ('std_msgs/Empty', Empty())}, FEEDBACK),
    'jazzy': (CODE, FEEDBACK),
    'kilted': ({**CODE, **TEXT}, FEEDBACK),
    'lyrical and later': ({**CODE, **TEXT, 'retries': ('uint8', 2)}, {**FEEDBACK, **ERRORS}),
    'without any': ({}, {}),
}


class Message:
    """A message with any fields, as the generated ones tell of theirs."""

    def __init__(self, fields: dict[str, tuple[str, Any]], **given: Any) -> None:
        self._types = {name: kind for name, (kind, _) in fields.items()}
        for name, (_, value) in fields.items():
            setattr(self, name, given.get(name, value))

    def get_fields_and_field_types(self) -> dict[str, str]:
        return dict(self._types)


def _driven(
    path: Path, distribution: str, status: GoalStatus, *, there: bool, **result: Any
) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """Drive once; return state, reason, evidence and the snapshot's navigation on the way."""
    theirs, feedback = DISTRIBUTIONS[distribution]

    async def run() -> tuple[str, str, dict[str, Any], dict[str, Any]]:
        async with Bench(path) as bench:
            taken = await bench.call('navigate_to_pose', {'x': 2.0, 'y': 0.0})
            bench.nav2.feedback(**plain(Message(feedback)))
            await asyncio.sleep(1.0)
            seen = (await bench.call('get_world_snapshot', {})).data['snapshot']['navigation']
            bench.robot.place(2.0 if there else 0.5, 0.0)
            bench.nav2.result(status, plain(Message(theirs, **result)))
            outcome = (await bench.outcome(taken.data['action_id'])).outcome
            assert outcome is not None
            return outcome.state.value, outcome.reason.value, outcome.evidence, seen

    told = run_virtual(run())
    assert check_journal(path) == []
    return told


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_an_arrival_is_verified_whatever_the_result_has(distribution: str, tmp_path: Path) -> None:
    state, reason, evidence, seen = _driven(
        tmp_path / 'j.db', distribution, GoalStatus.SUCCEEDED, there=True
    )
    assert (state, reason) == ('SUCCEEDED', 'verified')
    assert seen.get('distance_remaining_m') == (1.25 if DISTRIBUTIONS[distribution][1] else None)
    told = evidence['result']
    assert ('error_code' in told, 'error_msg' in told) == (
        'error_code' in DISTRIBUTIONS[distribution][0],
        'error_msg' in DISTRIBUTIONS[distribution][0],
    )
    if distribution == 'lyrical and later':  # kept as it is, though nothing here knows it
        assert told['retries'] == 2
        assert evidence['last_feedback']['progress'] == 0.5


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_a_claim_of_success_elsewhere_is_disproved_whatever_the_result_has(
    distribution: str, tmp_path: Path
) -> None:
    state, reason, *_ = _driven(tmp_path / 'j.db', distribution, GoalStatus.SUCCEEDED, there=False)
    assert (state, reason) == ('FAILED', 'verification_disproved')


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_an_abort_is_told_with_the_code_and_the_text_that_there_are(
    distribution: str, tmp_path: Path
) -> None:
    state, reason, evidence, _ = _driven(
        tmp_path / 'j.db',
        distribution,
        GoalStatus.ABORTED,
        there=False,
        error_code=9002,
        error_msg='no transform',
    )
    assert (state, reason) == ('FAILED', 'aborted')
    has = DISTRIBUTIONS[distribution][0]
    assert ('9002' in evidence['why']) == ('error_code' in has)
    assert ('no transform' in evidence['why']) == ('error_msg' in has)


def test_a_goal_with_more_fields_than_are_filled_keeps_their_defaults() -> None:
    later = {
        'target_yaw': ('float', 0.0),
        'time_allowance': ('builtin_interfaces/Duration', Duration()),
        'disable_collision_checks': ('boolean', False),
        'a_later_field': ('string', 'as it was'),
    }
    goal = fill(Message(later), {'target_yaw': 1.5, 'time_allowance': 10.0}, now_ns=0)
    assert (goal.target_yaw, goal.time_allowance.sec) == (1.5, 10)
    assert (goal.disable_collision_checks, goal.a_later_field) == (False, 'as it was')


def test_a_goal_that_lacks_a_field_is_not_sent_and_says_which() -> None:
    earlier = {'target_yaw': ('float', 0.0)}
    with pytest.raises(ValueError, match="has no field 'time_allowance'; it has target_yaw"):
        fill(Message(earlier), {'target_yaw': 1.5, 'time_allowance': 10.0}, now_ns=0)
