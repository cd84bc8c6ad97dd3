# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A NavigateToPose server over DDS that says exactly what a test tells it to.

Every message can be withheld, delayed, reordered, repeated or falsified.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
import math
import threading
import time
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.msg import GoalStatus as GoalStatusMsg
from nav2_msgs.action import NavigateToPose
from rclpy.node import Node

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    GoalStatus,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.ros.conversions import stamp_ns, yaw_of
from robot_agent_harness.ros.scripted_endpoints import (
    Asked,
    Endpoints,
    goal_id_of,
    hex_of,
    uuid_of,
)
from robot_agent_harness.ros.scripted_state import put_pose

Impl = NavigateToPose.Impl

WAIT_S = 20.0
"""The longest of all waits by default, in seconds."""


@dataclass(slots=True)
class Flood:
    """A stream of one message, published as fast as it is told."""

    published: int = 0
    """Messages so far."""
    started_s: float = field(default_factory=time.monotonic)

    @property
    def rate_hz(self) -> float:
        """The rate that was really reached so far, in messages a second."""
        return self.published / max(time.monotonic() - self.started_s, 1e-9)


class ScriptedNav2:
    """A NavigateToPose server that records what it is asked and answers as it is told.

    Left alone it accepts each goal after :attr:`accept_after_s` and then stays silent, as a server
    does whose result never comes.

    :param node: spun by somebody else, in another thread than the test's.
    :param action_name: relative to the node's namespace, or absolute.
    """

    def __init__(
        self,
        node: Node,
        action_name: str = 'navigate_to_pose',
        *,
        accept_after_s: float | None = 0.05,
    ) -> None:
        self.accept_after_s = accept_after_s
        """Seconds until a goal is accepted by itself; None: the test answers."""
        self.sent: list[tuple[str, dict[str, Any]]] = []
        """Every goal that came in, by any client: its id and its x, y (m), yaw (rad), frame_id."""
        self.stamps_ns: list[int] = []
        """The stamp of each of them, in ns of ROS time."""
        self.result_requests: list[str] = []
        self.cancel_requests: list[str] = []
        self.cancel_code: int | None = None
        """Return code for cancel requests (CancelGoal.srv); None: they are not answered."""
        self.on_goal: Callable[[str], None] = lambda goal_id: None
        """Called with each goal's id before anything is answered, on the executor's thread."""
        self.on_cancel: Callable[[str], None] = lambda goal_id: None
        """Called with the id that each cancel request names, before it is answered."""
        self.news = threading.Condition()
        """Notified after everything that comes in."""
        self._node = node
        self._goals: dict[str, Asked] = {}
        self._results: dict[str, tuple[int, dict[str, Any]]] = {}
        self._askers: defaultdict[str, list[Asked]] = defaultdict(list)
        self._cancels: dict[str, Asked] = {}
        self._endpoints = Endpoints(
            node,
            action_name,
            Impl,
            {
                'send_goal': self._on_goal,
                'get_result': self._on_result,
                'cancel_goal': self._on_cancel,
            },
        )
        self._endpoints.open()

    @property
    def reachable(self) -> bool:
        """Whether the server is there."""
        return self._endpoints.are_open

    @property
    def own_goal(self) -> str:
        """The id of the newest goal that came in."""
        return self.sent[-1][0]

    def wait_for(
        self, holds: Callable[[], Any], what: str = '', *, within_s: float = WAIT_S
    ) -> Any:
        """Wait until something that requests bring about holds, and return it.

        :raises TimeoutError: it does not hold in time.
        """
        with self.news:
            found = self.news.wait_for(holds, within_s)
        if not found:
            raise TimeoutError(f'not within {within_s} s: {what or holds}')
        return found

    def say(self, event: ControllerEvent) -> None:
        """Put any event on the wire, as the in-process server does.

        :raises TypeError: it is one that no server can send.
        """
        if isinstance(event, GoalResponse):
            self.respond(event.accepted, event.goal_id)
        elif isinstance(event, GoalFeedback):
            self.feedback(event.goal_id, **event.feedback)
        elif isinstance(event, StatusReport):
            self.status(*event.goals)
        elif isinstance(event, GoalResult):
            self.result(event.status, event.payload, event.goal_id)
        elif isinstance(event, CancelResponse):
            self.respond_cancel(event.return_code, event.goal_id)
        elif isinstance(event, ServerPresence):
            self.set_reachable(event.reachable)
        else:
            raise TypeError(f'no server sends {event!r}')

    def respond(self, accepted: bool, goal_id: str | None = None) -> None:
        """Answer a goal request (the newest one by default); again, if it is said again."""
        asked = self._goals[goal_id or self.own_goal]
        stamp = self._node.get_clock().now().to_msg()
        self._endpoints.answer('send_goal', asked, accepted=accepted, stamp=stamp)

    def feedback(self, goal_id: str | None = None, **numbers: Any) -> None:
        """Send feedback about a goal; numbers are the message's fields, `current_pose` a mapping
        of x, y, yaw, frame_id.
        """
        self._endpoints.publish(
            'feedback', self.feedback_message(goal_id or self.own_goal, **numbers)
        )

    def feedback_message(self, goal_id: str, **numbers: Any) -> Any:
        """Return a feedback message."""
        message = Impl.FeedbackMessage(goal_id=uuid_of(goal_id))
        message.feedback.current_pose.pose.orientation.w = 1.0
        for name, value in numbers.items():
            if name == 'current_pose':
                stamped = message.feedback.current_pose
                stamped.header.frame_id = value.get('frame_id', 'map')
                put_pose(stamped.pose, value['x'], value['y'], value.get('yaw', 0.0))
            else:
                setattr(message.feedback, name, value)
        return message

    @contextmanager
    def feedback_flood(self, rate_hz: float, goal_id: str, **numbers: Any) -> Iterator[Flood]:
        """Send feedback at this rate while the context lasts; yields what really went out."""
        message, stop, flood = (
            self.feedback_message(goal_id, **numbers),
            threading.Event(),
            Flood(),
        )

        def run() -> None:
            while not stop.is_set():
                # As many as are due, since a pause of less than a millisecond lasts longer.
                due = math.ceil((time.monotonic() - flood.started_s) * rate_hz)
                for _ in range(due - flood.published):
                    self._endpoints.publish('feedback', message)
                    flood.published += 1
                stop.wait(1.0 / rate_hz)

        thread = threading.Thread(target=run, name='feedback flood', daemon=True)
        thread.start()
        try:
            yield flood
        finally:
            stop.set()
            thread.join(WAIT_S)

    def status(self, *goals: tuple[str, GoalStatus | int]) -> None:
        """Publish the list of goals, as it is given."""
        message = GoalStatusArray()
        for goal_id, status in goals:
            info = GoalInfo(goal_id=uuid_of(goal_id))
            message.status_list.append(GoalStatusMsg(goal_info=info, status=int(status)))
        self._endpoints.publish('status', message)

    def result(
        self, status: GoalStatus | int, payload: dict[str, Any], goal_id: str | None = None
    ) -> None:
        """Answer every request for a goal's result: those that came in, also if they have been
        answered already, and those that will.
        """
        goal_id = goal_id or self.own_goal
        self._results[goal_id] = int(status), payload
        for asked in tuple(self._askers[goal_id]):
            self._answer_result(asked, goal_id)

    def respond_cancel(self, return_code: int, goal_id: str | None = None) -> None:
        """Answer a cancel request (the newest one by default)."""
        goal_id = goal_id or self.cancel_requests[-1]
        asked, canceling = self._cancels[goal_id], []
        if return_code == 0:
            canceling = [GoalInfo(goal_id=uuid_of(goal_id))]
        self._endpoints.answer(
            'cancel_goal', asked, return_code=return_code, goals_canceling=canceling
        )

    def set_reachable(self, reachable: bool) -> None:
        """Take all endpoints away, or bring them back with nothing known of earlier requests."""
        if reachable == self.reachable:
            return
        if reachable:
            self._endpoints.open()
            return
        self._endpoints.close()
        for known in (self._goals, self._results, self._askers, self._cancels):
            known.clear()

    def goals_named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return goal ids: `own` stands for the newest goal that came in, and a name that is none
        for a goal of somebody else, always the same one.
        """
        return tuple(self.own_goal if name == 'own' else goal_id_of(name) for name in names)

    # -- the executor's side ---------------------------------------------------------------------

    def _on_goal(self, asked: Asked) -> None:
        goal_id, pose = hex_of(asked.request.goal_id), asked.request.goal.pose
        goal = {
            'x': pose.pose.position.x,
            'y': pose.pose.position.y,
            'yaw': yaw_of(pose.pose.orientation),
            'frame_id': pose.header.frame_id,
        }
        self._goals[goal_id] = asked
        self.stamps_ns.append(stamp_ns(pose.header.stamp))
        self._note(self.sent, (goal_id, goal))
        self.on_goal(goal_id)
        if self.accept_after_s is not None:
            timer = threading.Timer(self.accept_after_s, self._accept, (goal_id,))
            timer.daemon = True
            timer.start()

    def _accept(self, goal_id: str) -> None:
        if goal_id in self._goals:  # the server may have been restarted meanwhile
            self.respond(True, goal_id)

    def _on_result(self, asked: Asked) -> None:
        goal_id = hex_of(asked.request.goal_id)
        self._askers[goal_id].append(asked)
        self._note(self.result_requests, goal_id)
        if goal_id in self._results:
            self._answer_result(asked, goal_id)

    def _on_cancel(self, asked: Asked) -> None:
        goal_id = hex_of(asked.request.goal_info.goal_id)
        self._cancels[goal_id] = asked
        self._note(self.cancel_requests, goal_id)
        self.on_cancel(goal_id)
        if self.cancel_code is not None:
            self.respond_cancel(self.cancel_code, goal_id)

    def _answer_result(self, asked: Asked, goal_id: str) -> None:
        status, payload = self._results[goal_id]
        result = NavigateToPose.Result()
        for name, value in payload.items():
            setattr(result, name, value)
        self._endpoints.answer('get_result', asked, status=status, result=result)

    def _note(self, heard: list[Any], what: Any) -> None:
        with self.news:
            heard.append(what)
            self.news.notify_all()
