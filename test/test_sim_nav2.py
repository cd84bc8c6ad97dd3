# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How the simulated robot treats goals, on a virtual clock, against recordings of a real Nav2."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from robot_agent_harness.ros.sim_nav2 import (
    Ending,
    Faults,
    Frames,
    NavGoal,
    Outcome,
    Progress,
    SimNav2,
    YAW_TOLERANCE_RAD,
)
from robot_agent_harness.ros.sim_world import default_world, Pose2D, Robot, wrap_angle

TICK_S = 0.01
RECORDINGS = Path(__file__).parents[2] / 'shared' / 'recordings'
HALL = Pose2D(1.5, 4.0, 0.0)
FAR = Pose2D(8.0, 4.0, 0.0)
NEAR = Pose2D(2.5, 4.0, 0.0)


class Bench:
    """A robot in the hall whose time passes in ticks, with everything that it said."""

    def __init__(self, *, time_scale: float = 1.0, start: Pose2D = HALL, **faults: float) -> None:
        self.faults = Faults(**faults)
        self.robot = Robot(world=default_world(), pose=start)
        self.nav = SimNav2(
            world=default_world(), robot=self.robot, faults=self.faults, time_scale=time_scale
        )
        self.now = 100.0
        self.ended: dict[str, tuple[float, Outcome]] = {}
        self.order: list[str] = []
        self.feedback: list[tuple[float, Progress]] = []

    def send(
        self, goal_id: str, target: Pose2D | None, *, frame: str = 'map', tree: str = ''
    ) -> float:
        self.nav.accept(goal_id, NavGoal(target, frame, tree), self.now)
        return self.now

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.now += TICK_S
            for outcome in self.nav.advance(self.now, TICK_S):
                assert outcome.goal_id not in self.ended, 'a goal ended twice'
                self.ended[outcome.goal_id] = (self.now, outcome)
                self.order.append(outcome.goal_id)
            if (progress := self.nav.progress(self.now)) is not None:
                self.feedback.append((self.now, progress))

    def outcome(self, goal_id: str, within_s: float = 60.0) -> Outcome:
        waited = 0.0
        while goal_id not in self.ended:
            self.run(TICK_S)
            waited += TICK_S
            assert waited < within_s, f'{goal_id} did not end within {within_s} s'
        return self.ended[goal_id][1]

    def took(self, goal_id: str, since: float) -> float:
        return self.ended[goal_id][0] - since

    def off(self, target: Pose2D) -> float:
        return self.robot.pose.distance_to(target.x, target.y)


def recorded(scenario: str) -> list[dict[str, object]]:
    if not (RECORDINGS / f'{scenario}.jsonl').is_file():
        pytest.skip('the recordings are not beside this checkout')
    return [json.loads(line) for line in (RECORDINGS / f'{scenario}.jsonl').open()]


def recorded_end(scenario: str, which: int = -1) -> tuple[dict[str, object], float]:
    """Return a recorded result, and how long after its goal's acceptance it came."""
    rows = recorded(scenario)
    result = [r for r in rows if r['kind'] == 'result_response' and r.get('tag') == 'first'][which]
    accepted = next(
        r for r in rows if r['kind'] == 'send_goal_response' and r['goal_id'] == result['goal_id']
    )
    return result, result['t_mono'] - accepted['t_mono']  # type: ignore[operator]


def test_a_goal_is_reached_at_the_edge_of_the_tolerance_and_turned_to() -> None:
    bench = Bench()
    target = Pose2D(4.0, 4.2, 2.0)
    bench.send('a', target)
    assert bench.outcome('a') == Outcome('a', Ending.SUCCEEDED)
    assert 0.2 <= bench.off(target) <= 0.25
    assert abs(wrap_angle(bench.robot.pose.yaw - 2.0)) <= YAW_TOLERANCE_RAD
    bench.run(0.5)
    assert not bench.robot.moving
    assert not bench.nav.busy


def test_a_heading_of_half_a_turn_is_met_from_either_side() -> None:
    bench = Bench()
    bench.send('a', Pose2D(3.0, 4.0, math.pi))
    bench.outcome('a')
    bench.send('b', Pose2D(2.0, 4.0, -math.pi))
    assert bench.outcome('b').ending is Ending.SUCCEEDED


def test_feedback_starts_at_once_with_no_distance_and_ends_with_the_goal() -> None:
    bench = Bench()
    at = bench.send('a', NEAR)
    first = bench.nav.progress(at)
    assert first is not None
    assert (first.distance_remaining, first.estimated_time_remaining) == (0.0, 0.0)
    bench.outcome('a')
    bench.run(0.5)
    end = bench.ended['a'][0]
    assert all(at < moment < end for moment, _ in bench.feedback)
    distances = [progress.distance_remaining for _, progress in bench.feedback]
    assert distances[0] == 0.0
    assert max(distances) == pytest.approx(1.0, abs=0.02)
    assert distances[-1] == pytest.approx(0.25, abs=0.02)


def test_a_goal_where_the_robot_stands_succeeds_as_soon_as_recorded() -> None:
    _, seconds = recorded_end('already_there')
    bench = Bench()
    at = bench.send('a', Pose2D(1.5, 4.1, 0.1))
    bench.outcome('a')
    assert bench.took('a', at) == pytest.approx(seconds, abs=0.015)


@pytest.mark.parametrize(
    ('scenario', 'target', 'frame', 'tree'),
    [
        ('abort_outside_map', Pose2D(20.0, 20.0, 0.0), 'map', ''),
        ('abort_bad_frame', None, 'nosuch', ''),
        ('abort_bad_bt', Pose2D(2.0, 4.0, 0.0), 'map', '/nosuch/tree.xml'),
    ],
)
def test_a_bad_goal_is_aborted_with_the_recorded_code_and_as_soon(
    scenario: str, target: Pose2D | None, frame: str, tree: str
) -> None:
    result, seconds = recorded_end(scenario)
    bench = Bench()
    at = bench.send('a', target, frame=frame, tree=tree)
    outcome = bench.outcome('a')
    assert outcome.ending is Ending.ABORTED
    assert outcome.error_code == result['error_code']
    assert str(result['error_msg'])[:15] == outcome.error_msg[:15]
    assert bench.took('a', at) == pytest.approx(seconds, abs=0.015)


@pytest.mark.parametrize('target', [Pose2D(3.5, 6.5, 0.0), Pose2D(9.2, 1.5, 0.0)])
def test_a_goal_without_a_path_is_aborted_after_recoveries(target: Pose2D) -> None:
    result, _ = recorded_end('abort_occupied')
    bench = Bench(time_scale=2.0)
    at = bench.send('a', target)
    outcome = bench.outcome('a')
    assert (outcome.ending, outcome.error_code) == (Ending.ABORTED, result['error_code'])
    assert bench.took('a', at) == pytest.approx(1.5, abs=0.1)
    counts = [progress.recoveries for _, progress in bench.feedback]
    assert counts == sorted(counts)
    assert counts[-1] == 6


def test_a_newer_goal_preempts_and_the_old_one_is_aborted_without_a_code() -> None:
    result, _ = recorded_end('preempt', 0)
    bench = Bench()
    bench.send('a', FAR)
    bench.run(2.0)
    left = bench.feedback[-1][1].distance_remaining
    at = bench.send('b', NEAR)
    bench.run(0.03)
    assert bench.ended['a'][1] == Outcome('a', Ending.ABORTED, 0, '')
    assert bench.ended['a'][1].error_code == result['error_code']
    assert 0.005 <= bench.took('a', at) <= 0.02
    first = next(progress for _, progress in bench.feedback if progress.goal_id == 'b')
    assert first.distance_remaining == pytest.approx(left, abs=0.05), 'on the old path at first'
    assert bench.outcome('b').ending is Ending.SUCCEEDED
    assert bench.off(NEAR) <= 0.25


def test_goals_in_quick_succession_leave_the_last_one() -> None:
    bench = Bench()
    for goal_id in 'abcd':
        bench.send(goal_id, NEAR)
    assert bench.outcome('d').ending is Ending.SUCCEEDED
    assert bench.order == ['a', 'b', 'c', 'd']
    assert all(bench.ended[g][1].ending is Ending.ABORTED for g in 'abc')


def test_an_impossible_goal_preempts_all_the_same() -> None:
    result, seconds = recorded_end('preempt_with_bad')
    bench = Bench()
    bench.send('a', FAR)
    bench.run(2.0)
    at = bench.send('b', Pose2D(20.0, 20.0, 0.0))
    outcome = bench.outcome('b')
    assert bench.order == ['a', 'b']
    assert bench.ended['a'][1].error_code == 0
    assert (outcome.ending, outcome.error_code) == (Ending.ABORTED, result['error_code'])
    assert bench.took('b', at) == pytest.approx(seconds, abs=0.02)


def test_a_preempting_goal_in_an_unknown_frame_drives_on_to_the_old_goal_as_recorded() -> None:
    result, _ = recorded_end('false_success_preempt_bad_frame')
    bench = Bench()
    bench.send('a', NEAR)
    bench.run(0.5)
    bench.send('b', None, frame='nosuch')
    outcome = bench.outcome('b')
    assert bench.order == ['a', 'b']
    assert outcome.ending is Ending(result['status'])
    assert outcome.error_code == result['error_code']
    assert bench.off(NEAR) <= 0.25


def test_a_cancelled_goal_ends_a_moment_after_the_request() -> None:
    bench = Bench()
    bench.send('a', FAR)
    bench.run(2.0)
    assert bench.robot.moving
    at = bench.now
    bench.nav.cancel('a', at)
    assert bench.outcome('a') == Outcome('a', Ending.CANCELED)
    assert 0.01 <= bench.took('a', at) <= 0.02
    bench.run(0.3)
    assert not bench.robot.moving


def test_a_goal_is_cancelled_in_the_moment_of_its_acceptance() -> None:
    bench = Bench()
    bench.nav.cancel('a', bench.send('a', FAR))
    assert bench.outcome('a').ending is Ending.CANCELED
    bench.run(1.0)
    assert bench.robot.pose == HALL


def test_cancelling_what_is_unknown_or_over_does_nothing() -> None:
    bench = Bench()
    bench.send('a', NEAR)
    bench.nav.cancel('z', bench.now)
    assert bench.outcome('a').ending is Ending.SUCCEEDED
    bench.nav.cancel('a', bench.now)
    bench.run(1.0)
    assert bench.order == ['a']


def test_the_robot_is_time_scale_times_faster() -> None:
    times = []
    for time_scale in (1.0, 4.0):
        bench = Bench(time_scale=time_scale)
        at = bench.send('a', FAR)
        assert bench.outcome('a').ending is Ending.SUCCEEDED
        assert 0.2 <= bench.off(FAR) <= 0.25
        times.append(bench.took('a', at))
    assert times[0] / times[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize('time_scale', [1.0, 5.0, 20.0])
@pytest.mark.parametrize('trip_m', [1.2, 2.5, 6.0])
def test_false_success_reports_success_away_from_the_goal(
    time_scale: float, trip_m: float
) -> None:
    bench = Bench(time_scale=time_scale, false_success=True)
    target = Pose2D(1.5 + trip_m, 4.0, 0.0)
    bench.send('a', target)
    assert bench.outcome('a') == Outcome('a', Ending.SUCCEEDED)
    assert bench.off(target) >= 0.8
    assert bench.off(target) == pytest.approx(max(trip_m / 2, 0.9), abs=0.12)
    assert not bench.robot.moving, 'it stops before it lies'
    at_the_end = bench.robot.pose
    bench.run(1.0)
    assert bench.robot.pose == at_the_end


def test_false_success_works_on_a_goal_that_already_runs() -> None:
    bench = Bench()
    bench.send('a', FAR)
    bench.run(10.0)
    bench.faults.false_success = True
    assert bench.outcome('a', within_s=1.0).ending is Ending.SUCCEEDED
    assert bench.off(FAR) > 0.8


def test_drop_result_drives_there_and_falls_silent_until_cancelled() -> None:
    bench = Bench(drop_result=True)
    bench.send('a', NEAR)
    bench.run(20.0)
    assert bench.ended == {}
    assert bench.off(NEAR) <= 0.25
    assert not bench.robot.moving
    assert bench.feedback[-1][0] < 110.0, 'feedback stops'
    bench.faults.drop_result = False
    bench.run(1.0)
    assert bench.ended == {}, 'a lost result stays lost'
    bench.nav.cancel('a', bench.now)
    assert bench.outcome('a').ending is Ending.CANCELED


def test_a_goal_with_a_dropped_result_is_preempted_like_any_other() -> None:
    bench = Bench(drop_result=True)
    bench.send('a', NEAR)
    bench.run(10.0)
    bench.faults.drop_result = False
    bench.send('b', Pose2D(3.5, 4.0, 0.0))
    assert bench.outcome('b').ending is Ending.SUCCEEDED
    assert bench.order == ['a', 'b']


def test_abort_after_counts_from_the_acceptance() -> None:
    bench = Bench(abort_after_s=1.0)
    at = bench.send('a', FAR)
    outcome = bench.outcome('a')
    assert (outcome.ending, outcome.error_code) == (Ending.ABORTED, 9000)
    assert bench.took('a', at) == pytest.approx(1.0, abs=0.02)


def test_an_emergency_stop_holds_the_robot_and_the_goal_fails_for_want_of_progress() -> None:
    bench = Bench(emergency_stop=True)
    at = bench.send('a', FAR)
    outcome = bench.outcome('a')
    assert (outcome.ending, outcome.error_code) == (Ending.ABORTED, 105)
    assert bench.took('a', at) == pytest.approx(10.0, abs=0.1)
    assert bench.robot.pose == HALL


def test_a_goal_goes_on_when_the_emergency_stop_is_released_in_time() -> None:
    bench = Bench()
    bench.send('a', FAR)
    bench.run(2.0)
    bench.faults.emergency_stop = True
    bench.run(0.5)
    held = bench.robot.pose
    bench.run(5.0)
    assert bench.robot.pose == held
    assert 'a' not in bench.ended
    bench.faults.emergency_stop = False
    assert bench.outcome('a').ending is Ending.SUCCEEDED


def test_a_robot_that_was_pushed_finds_its_way_again() -> None:
    bench = Bench(start=Pose2D(5.0, 4.0, 1.57))
    target = Pose2D(5.0, 6.3, 1.57)
    bench.send('a', target)
    bench.run(0.5)
    bench.robot.push(3.0)
    assert bench.outcome('a').ending is Ending.SUCCEEDED
    assert bench.off(target) <= 0.25


def test_no_time_or_a_lot_at_once_does_no_harm() -> None:
    bench = Bench()
    bench.send('a', NEAR)
    assert bench.nav.advance(bench.now + 0.02, 0.0) == []
    outcomes = [*bench.nav.advance(bench.now + 0.04, 20.0), *bench.nav.advance(bench.now + 1, 20)]
    assert [outcome.ending for outcome in outcomes] == [Ending.SUCCEEDED]
    assert bench.off(NEAR) <= 0.25


@pytest.mark.parametrize(
    ('frame', 'expected'),
    [
        ('map', Pose2D(1.0, 2.0, 0.5)),
        ('odom', Pose2D(-1.0, 2.2, 2.0708)),
        ('base_link', Pose2D(3.0, 2.0, -2.6416)),
        ('/map', None),
        ('', None),
    ],
)
def test_goals_are_taken_in_the_frames_that_the_robot_has(
    frame: str, expected: Pose2D | None
) -> None:
    frames = Frames('map', 'odom', 'base_link', odom_origin=Pose2D(1.0, 1.2, math.pi / 2))
    robot = Pose2D(4.0, 4.0, math.pi)
    pose = frames.to_map(frame, Pose2D(1.0, 2.0, 0.5), robot)
    if expected is None:
        assert pose is None
    else:
        assert pose is not None
        assert (pose.x, pose.y, pose.yaw) == pytest.approx(
            (expected.x, expected.y, expected.yaw), abs=1e-3
        )


def test_a_goal_that_is_no_number_is_in_no_frame() -> None:
    frames = Frames('map', 'odom', 'base_link', odom_origin=Pose2D(0.0, 0.0, 0.0))
    assert frames.to_map('map', Pose2D(math.nan, 0.0, 0.0), Pose2D(0.0, 0.0, 0.0)) is None
    assert frames.to_map('odom', Pose2D(0.0, 0.0, math.inf), Pose2D(0.0, 0.0, 0.0)) is None
