# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The Nav2 controller against an action server that a test takes apart, over DDS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import time
from types import SimpleNamespace
from typing import Any
import uuid

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from action_msgs.msg import GoalStatusArray
from node_rig import CANCELED, EXECUTING, FakeNav2, Probe, SUCCEEDED, WAIT_S
from rclpy.qos import qos_profile_action_status_default

from robot_agent_harness.actions.controller import (
    CancelResponse,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE
from robot_agent_harness.clock import Clock, NS_PER_S, SystemClock
from robot_agent_harness.ros import action_client
from robot_agent_harness.ros.action_client import ActionClients, POLL_PERIOD_S

pytestmark = pytest.mark.anyio

GOAL = {'pose': {'x': 2.0, 'y': -1.0, 'yaw': 1.5, 'frame_id': 'map'}}


class Heard:
    """A controller on a node of its own, and all events that it delivered."""

    def __init__(self, probe: Probe, clock: Clock | None = None) -> None:
        self.probe = probe
        self.events: list[Any] = []
        self._news = asyncio.Event()
        self.controller = ActionClients(
            probe.node,
            {NAVIGATE_TO_POSE.name: NAVIGATE_TO_POSE},
            clock=clock or SystemClock(),
            loop=asyncio.get_running_loop(),
        ).controllers[NAVIGATE_TO_POSE.name]
        self.controller.set_listener(self._take)

    async def until(self, holds: Callable[[], Any]) -> Any:
        async def wait() -> Any:
            while not (found := holds()):
                self._news.clear()
                await self._news.wait()
            return found

        return await asyncio.wait_for(wait(), WAIT_S)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def event(self, event: Any) -> None:
        await self.until(lambda: event in self.events)

    async def there(self, nav2: FakeNav2) -> None:
        """Wait until both have heard of each other."""
        await self.event(ServerPresence(True))
        await asyncio.to_thread(nav2.until_seen)

    def _take(self, event: Any) -> None:
        self.events.append(event)
        self._news.set()


@pytest.fixture
def robot():
    probe = Probe('robot')
    yield probe
    probe.close()


@pytest.fixture
def client():
    probe = Probe('client')
    yield probe
    probe.close()


def _new_id() -> str:
    return uuid.uuid4().hex


async def test_a_goal_goes_out_under_our_id_and_everything_about_it_comes_back(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    goal_id = _new_id()
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    assert nav2.goal() == goal_id
    pose = nav2.goals[0][1].pose
    assert (pose.header.frame_id, pose.pose.position.x, pose.pose.position.y) == ('map', 2.0, -1.0)
    assert pose.header.stamp.sec > 0
    heard.controller.request_result(goal_id)
    nav2.report(goal_id, SUCCEEDED)
    await heard.event(GoalResult(goal_id, SUCCEEDED, {'error_code': 0, 'error_msg': ''}))
    assert StatusReport(((goal_id, SUCCEEDED),)) in heard.events


async def test_the_first_word_of_a_goal_gives_others_time_and_nothing_else_does(
    robot, client, monkeypatch
):
    pauses = []
    monkeypatch.setattr(action_client, 'time', SimpleNamespace(sleep=pauses.append))
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    goal_id, foreign = _new_id(), _new_id()
    nav2.report(foreign, EXECUTING)
    await heard.until(lambda: any(foreign in str(e.goals) for e in heard.of(StatusReport)))
    assert pauses == []
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    nav2.report(goal_id, EXECUTING)
    nav2.report(goal_id, SUCCEEDED)
    await heard.until(lambda: any((goal_id, SUCCEEDED) in e.goals for e in heard.of(StatusReport)))
    assert pauses == [action_client.STEP_BACK_S]


async def test_feedback_that_overtakes_the_goal_response_is_not_lost(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    nav2.on_goal = lambda goal_id: nav2.feed(goal_id, 1.5)  # before the response is written
    await heard.there(nav2)
    goal_id = _new_id()
    heard.controller.send_goal(goal_id, GOAL)
    await heard.until(lambda: heard.of(GoalFeedback))
    told = heard.of(GoalFeedback)[0]
    assert (told.goal_id, told.feedback['distance_remaining']) == (goal_id, 1.5)


async def test_feedback_is_coalesced_and_ends_with_the_newest(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    goal_id = _new_id()
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    begun = time.monotonic()
    for number in range(200):
        nav2.feed(goal_id, float(number))
    await heard.until(
        lambda: any(e.feedback['distance_remaining'] == 199.0 for e in heard.of(GoalFeedback))
    )
    periods = (time.monotonic() - begun) / POLL_PERIOD_S
    assert len(heard.of(GoalFeedback)) <= periods + 2


async def test_feedback_of_other_clients_goals_reaches_nobody(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    goal_id = _new_id()
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    for _ in range(20):
        nav2.feed(_new_id(), 9.0)
    nav2.feed(goal_id, 1.0)
    await heard.until(lambda: heard.of(GoalFeedback))
    assert {event.goal_id for event in heard.of(GoalFeedback)} == {goal_id}


async def test_goals_that_ran_before_we_came_are_seen(robot, client):
    nav2, foreign = FakeNav2(robot), _new_id()
    nav2.report(foreign, EXECUTING)
    heard = Heard(client)
    await heard.event(StatusReport(((foreign, EXECUTING),)))


async def test_the_result_of_a_goal_that_another_process_sent_can_be_asked_for(robot, client):
    nav2, heard, goal_id = FakeNav2(robot), Heard(client), _new_id()
    nav2.report(goal_id, CANCELED)
    await heard.there(nav2)
    heard.controller.request_result(goal_id)
    await heard.until(lambda: heard.of(GoalResult))
    assert (heard.of(GoalResult)[0].goal_id, heard.of(GoalResult)[0].status) == (goal_id, CANCELED)


async def test_the_result_of_an_unknown_goal_is_status_0(robot, client):
    nav2, heard, goal_id = FakeNav2(robot), Heard(client), _new_id()
    await heard.there(nav2)
    heard.controller.request_result(goal_id)
    await heard.until(lambda: heard.of(GoalResult))
    assert heard.of(GoalResult)[0].status == 0
    assert nav2.goals == []


class RosTime(SystemClock):
    """A clock whose ROS time stands still, unless a test moves it."""

    seconds = 100.0
    waited_s = 0.0
    """How far steady time is ahead of what it would be."""

    def ros_ns(self) -> int:
        return int(self.seconds * NS_PER_S)

    def monotonic_ns(self) -> int:
        return super().monotonic_ns() + int(self.waited_s * NS_PER_S)


@pytest.mark.parametrize(
    ('passes_s', 'as_prepared'), [(0.0, True), (0.009, True), (0.011, False), (-1.0, False)]
)
async def test_a_goal_that_was_made_ready_is_sent_as_it_is_while_its_stamp_holds(
    robot: Probe, client: Probe, passes_s: float, as_prepared: bool
) -> None:
    clock = RosTime()
    nav2, heard, goal_id = FakeNav2(robot), Heard(client, clock), _new_id()
    await heard.there(nav2)
    heard.controller.prepare(goal_id, GOAL)
    clock.seconds += passes_s
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    ((sent_id, goal),) = nav2.goals
    stamp = goal.pose.header.stamp
    assert (sent_id, goal.pose.pose.position.x) == (goal_id, 2.0)
    stamped_s = 100.0 if as_prepared else clock.seconds
    assert stamp.sec + stamp.nanosec / NS_PER_S == pytest.approx(stamped_s, abs=1e-6)


async def test_a_goal_that_was_made_ready_is_not_sent_to_a_server_that_has_gone(
    robot: Probe, client: Probe
) -> None:
    nav2, heard, goal_id = FakeNav2(robot), Heard(client, RosTime()), _new_id()
    await heard.there(nav2)
    heard.controller.prepare(goal_id, GOAL)
    nav2.withdraw()
    await heard.event(ServerPresence(False))
    heard.controller.send_goal(goal_id, GOAL)
    await heard.until(lambda: heard.of(SendFailed))
    assert heard.of(SendFailed)[0].goal_id == goal_id


async def test_a_goal_that_was_made_ready_grows_old_though_simulated_time_stands_still(
    robot: Probe, client: Probe
) -> None:
    clock = RosTime()
    nav2, heard, goal_id = FakeNav2(robot), Heard(client, clock), _new_id()
    await heard.there(nav2)
    heard.controller.prepare(goal_id, {'pose': {**GOAL['pose'], 'x': 3.0}})
    clock.waited_s = 0.011
    heard.controller.send_goal(goal_id, GOAL)
    await heard.event(GoalResponse(goal_id, True))
    ((_, goal),) = nav2.goals
    assert goal.pose.pose.position.x == 2.0


async def test_a_goal_that_was_made_ready_goes_out_in_no_other_s_place(
    robot: Probe, client: Probe
) -> None:
    nav2, heard, first, second = FakeNav2(robot), Heard(client, RosTime()), _new_id(), _new_id()
    await heard.there(nav2)
    heard.controller.prepare(first, GOAL)
    assert nav2.goals == []
    heard.controller.send_goal(second, {'pose': {**GOAL['pose'], 'x': 3.0}})
    await heard.event(GoalResponse(second, True))
    heard.controller.send_goal(first, {'pose': {**GOAL['pose'], 'x': 4.0}})
    await heard.event(GoalResponse(first, True))
    sent = [(goal_id, goal.pose.pose.position.x) for goal_id, goal in nav2.goals]
    assert sent == [(second, 3.0), (first, 4.0)]


async def test_a_goal_that_cannot_be_made_ready_is_told_of_when_it_is_sent(
    robot: Probe, client: Probe
) -> None:
    nav2, heard, goal_id = FakeNav2(robot), Heard(client), _new_id()
    await heard.there(nav2)
    heard.controller.prepare(goal_id, {'no_field': 1.0})
    heard.controller.send_goal(goal_id, {'no_field': 1.0})
    await heard.until(lambda: heard.of(SendFailed))
    assert "no field 'no_field'" in heard.of(SendFailed)[0].message
    assert nav2.goals == []


async def test_cancel_names_one_goal_and_no_time(robot, client):
    nav2, heard, goal_id = FakeNav2(robot), Heard(client), _new_id()
    other = _new_id()
    nav2.report(goal_id, EXECUTING)
    nav2.report(other, EXECUTING)
    await heard.there(nav2)
    heard.controller.cancel(goal_id)
    await heard.controller.drain(WAIT_S)
    assert CancelResponse(goal_id, 0) in heard.events
    (request,) = nav2.cancel_requests
    assert bytes(request.goal_info.goal_id.uuid).hex() == goal_id
    assert (request.goal_info.stamp.sec, request.goal_info.stamp.nanosec) == (0, 0)
    assert nav2.statuses[other] == EXECUTING


async def test_without_a_server_a_goal_certainly_did_not_leave(client):
    heard, goal_id = Heard(client), _new_id()
    assert heard.controller.reachable is False
    heard.controller.send_goal(goal_id, GOAL)
    await heard.until(lambda: heard.of(SendFailed))
    assert heard.of(SendFailed)[0].goal_id == goal_id
    await heard.controller.drain(0.0)


async def test_a_server_that_loses_a_part_is_gone(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    nav2.withdraw()
    await heard.event(ServerPresence(False))
    assert heard.controller.reachable is False


async def test_one_server_of_two_that_goes_is_told_since_the_other_answers_from_now_on(
    robot, client
):
    """A server that was killed stays in sight, beside its successor, until its lease ran out."""
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    topic = 'navigate_to_pose/_action/status'
    killed = robot.node.create_publisher(GoalStatusArray, topic, qos_profile_action_status_default)
    with anyio.fail_after(WAIT_S):
        while client.node.count_publishers(topic) < 2:
            await asyncio.sleep(0.02)
    await asyncio.sleep(3 * POLL_PERIOD_S)  # the client has looked meanwhile
    before = len(heard.events)
    robot.node.destroy_publisher(killed)
    await heard.until(lambda: len(heard.events) >= before + 2)
    assert heard.events[before:] == [ServerPresence(False), ServerPresence(True)]
    assert heard.controller.reachable


async def test_nothing_is_delivered_after_closing(robot, client):
    nav2, heard = FakeNav2(robot), Heard(client)
    await heard.there(nav2)
    heard.controller.close()
    before = len(heard.events)
    heard.controller.request_result(_new_id())
    heard.controller.cancel(_new_id())
    nav2.report(_new_id(), EXECUTING)
    await heard.controller.drain(0.1)
    assert len(heard.events) == before
