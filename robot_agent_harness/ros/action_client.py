# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The actions of a robot, each as the tracker wants to see it.

It speaks the action protocol on its own three service clients and two subscriptions, not through
rclpy's ActionClient, which registers a goal's feedback only after the request has left, loses the
rest when the goal response is lost, and shows no goals of others (DESIGN section 6). A goal is
known by the id that the harness chose, whatever was heard of it before.

Methods are called on the asyncio loop; rclpy allows to write a request from any thread. What is
heard arrives on the rclpy thread and is posted to the loop in the order in which the executor took
it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
import contextlib
from dataclasses import dataclass
from functools import partial
import logging
import time
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatusArray
from rclpy.clock import Clock as RclClock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    ENDED_STATUSES,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.asking_client import AskingClient
from robot_agent_harness.ros.filling import fill, interface, plain
from robot_agent_harness.ros.quiet import QUIET_SUBSCRIPTION
from robot_agent_harness.ros.sampling import taken, Untended

logger = logging.getLogger(__name__)

POLL_PERIOD_S = 0.2
"""How often the graph is asked for the server, since there is no event for one that dies, and
how often feedback is taken: Nav2 sends a hundred a second for each goal, whoever sent it."""
FEEDBACK = QoSProfile(depth=128)
"""Reliable as Nav2 sends it; deep enough that between two looks the feedback of other clients'
goals, up to 500 a second, does not push out all of our own."""
LOOK_EVERY = 5
"""Servers of actions that have none yet are looked for at every fifth poll: once a second."""
GOALS_MAX = 64
"""Goals whose feedback is listened for, and requests without an answer that are kept."""
STEP_BACK_S = 0.005
"""How long the rclpy thread leaves Python's lock to others once it has brought the first word of a
goal: whoever waits for that needs 3 ms to put it on disk and to answer, and each further message
would take half a millisecond of theirs."""
READY_FOR_S = 0.01
"""How old a goal that was made ready may be when it is sent, on either clock: where the disk took
longer or the ROS clock has jumped, it is made anew."""
_UUID = slice(4, 20)
"""Where a serialised feedback message holds its goal id: after the four bytes that name the
encoding."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The entities of one client."""

    impl: Any
    send: AskingClient
    result: AskingClient
    cancel: AskingClient
    feedback: Subscription
    status: Subscription


@dataclass(frozen=True, slots=True)
class _GoalRequest:
    """A request to take a goal, ready to be sent."""

    goal_id: str
    monotonic_ns: int
    """When it was made, on the steady clock."""
    ros_ns: int
    """The same in ROS time, which its stamps have."""
    to: AskingClient
    message: Any


class ActionClients:
    """The clients of all actions that skills may drive, and the one timer that polls them.

    A client costs entities in the executor's wait set, so that of an action that is not expected
    is only made when its server is seen.

    :param actions: by name.
    :param loop: where the listeners are called and from where methods are called.
    :raises ConfigurationError: this machine does not have the type of one that is expected.
    """

    def __init__(
        self,
        node: Node,
        actions: Mapping[str, RosAction],
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._node = node
        self.controllers = {
            name: ActionClient(node, action, clock=clock, loop=loop)
            for name, action in actions.items()
        }
        """By the action's name."""
        self._polls = 0
        steady = RclClock(clock_type=ClockType.STEADY_TIME)
        self._poll_timer = node.create_timer(POLL_PERIOD_S, self._poll, clock=steady)

    def mute(self) -> None:
        """Deliver nothing any more; requests still go out."""
        for client in self.controllers.values():
            client.mute()

    async def drain(self, timeout_s: float) -> None:
        """Wait until every cancel request is answered, or the time is up."""
        await asyncio.gather(*(client.drain(timeout_s) for client in self.controllers.values()))

    def close(self) -> None:
        """Give everything up; on the rclpy thread, or once it has ended."""
        self._node.destroy_timer(self._poll_timer)
        for client in self.controllers.values():
            client.close()

    def _poll(self) -> None:
        look = self._polls % LOOK_EVERY == 0
        self._polls += 1
        for client in self.controllers.values():
            if client.is_open:
                client.poll()
            elif look:
                client.look()


class ActionClient:
    """One action server, seen from a client that chooses its own goal ids."""

    def __init__(
        self,
        node: Node,
        action: RosAction,
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._node = node
        self._type = action.type
        self._clock = clock
        self._loop = loop
        self._listener: Callable[[ControllerEvent], None] | None = None
        self._reachable = False
        self._servers = 0
        self._unusable = False
        self._own: dict[bytes, None] = {}
        self._prepared: _GoalRequest | None = None
        self._unanswered: str | None = None
        """The newest goal, until anything is heard of it."""
        self._pending: OrderedDict[tuple[str, str], tuple[AskingClient, Future]] = OrderedDict()
        self._cancelling: set[str] = set()
        self._all_cancels_answered = asyncio.Event()
        self._all_cancels_answered.set()
        # Rules name the action; its parts have names of their own, which no rule would match.
        self._name = node.resolve_service_name(action.name)
        self._topics = (f'{self._name}/_action/feedback', f'{self._name}/_action/status')
        self._parts: _Parts | None = None
        if action.expected:
            try:
                self._open()
            except ImportError as error:
                raise ConfigurationError(f'action {self._name}: {error}') from error

    @property
    def is_open(self) -> bool:
        """Whether it has its entities."""
        return self._parts is not None

    def look(self) -> None:
        """Make the entities if a server is there; on the rclpy thread."""
        if self._unusable or not self._node.count_publishers(self._topics[1]):
            return
        try:
            self._open()
        except ImportError as error:
            # Said once: the server goes on, and its skills are not offered.
            self._unusable = True
            logger.error('action %s cannot be used: %s', self._name, error)

    def _open(self) -> None:
        node, part = self._node, f'{self._name}/_action/'
        impl = interface(self._type).Impl
        self._parts = _Parts(
            impl=impl,
            send=AskingClient(node, impl.SendGoalService, part + 'send_goal'),
            result=AskingClient(node, impl.GetResultService, part + 'get_result'),
            cancel=AskingClient(node, impl.CancelGoalService, part + 'cancel_goal'),
            feedback=node.create_subscription(
                # Serialised: what belongs to other clients' goals is told by its first bytes.
                impl.FeedbackMessage,
                self._topics[0],
                _never_called,
                FEEDBACK,
                callback_group=Untended(),
                event_callbacks=QUIET_SUBSCRIPTION,
                raw=True,
            ),
            status=node.create_subscription(
                # Transient local: what the server ran before we came is what we must know first.
                GoalStatusArray,
                self._topics[1],
                self._on_status,
                qos_profile_action_status_default,
                event_callbacks=QUIET_SUBSCRIPTION,
            ),
        )

    # -- the loop's side -------------------------------------------------------------------------

    def set_listener(self, listener: Callable[[ControllerEvent], None]) -> None:
        """Deliver every event to `listener`, on the loop."""
        self._listener = listener

    @property
    def reachable(self) -> bool:
        """Whether the action server was there at the last look, at most `POLL_PERIOD_S` ago."""
        return self._reachable

    def prepare(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Make the message of a goal that is about to be sent."""
        with contextlib.suppress(Exception):  # sending it tells what is wrong with it
            self._prepared = self._request(goal_id, goal)

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Send one goal under this id; answered by GoalResponse or SendFailed, perhaps.

        :param goal: the fields of the action's goal, see :mod:`robot_agent_harness.ros.filling`.
        """
        prepared, self._prepared = self._prepared, None
        try:
            if prepared is None or not self._still_fits(prepared, goal_id):
                prepared = self._request(goal_id, goal)
            self._own_goal(goal_id)
            self._unanswered = goal_id
            self._call('send', prepared.to, goal_id, prepared.message, self._on_goal_response)
        except Exception as error:
            # rclpy and the generated setters raise many types; all mean that nothing was written.
            logger.warning('goal %s was not sent: %s', goal_id, error)
            self._loop.call_soon(self._deliver, SendFailed(goal_id, str(error)))

    def request_result(self, goal_id: str) -> None:
        """Ask for the goal's result, also of a goal that an earlier run sent."""
        self._own_goal(goal_id)
        if self._parts is not None:
            request = self._parts.impl.GetResultService.Request(goal_id=_uuid(goal_id))
            self._try('result', self._parts.result, goal_id, request, self._on_result)

    def cancel(self, goal_id: str) -> None:
        """Ask the server to cancel this goal: with an id, a zero stamp cancels no other
        (action_msgs/srv/CancelGoal).
        """
        parts = self._parts
        if parts is None:
            return
        info = GoalInfo(goal_id=_uuid(goal_id))
        request = parts.impl.CancelGoalService.Request(goal_info=info)
        if self._try('cancel', parts.cancel, goal_id, request, self._on_cancelled):
            self._cancelling.add(goal_id)
            self._all_cancels_answered.clear()

    def mute(self) -> None:
        """Deliver nothing any more; requests still go out."""
        self._listener = None

    async def drain(self, timeout_s: float) -> None:
        """Wait until every cancel request is answered, so that it has left this process, or the
        time is up.
        """
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._all_cancels_answered.wait(), timeout_s)

    def close(self) -> None:
        """Give up the clients and subscriptions; on the rclpy thread, or once it has ended."""
        self.mute()
        parts, self._parts = self._parts, None
        if parts is not None:
            for subscription in (parts.feedback, parts.status):
                self._node.destroy_subscription(subscription)
            for client in (parts.send, parts.result, parts.cancel):
                client.destroy()

    def _request(self, goal_id: str, goal: dict[str, Any]) -> _GoalRequest:
        parts, now_ns = self._parts, self._clock.ros_ns()
        if parts is None or not parts.send.service_is_ready():
            # A request without a reader is dropped by the middleware, not kept for later.
            self._reachable = False
            self._loop.call_soon(self._deliver, ServerPresence(False))
            raise ConnectionError(f'no action server {self._name}')
        message = parts.impl.SendGoalService.Request(goal_id=_uuid(goal_id))
        fill(message.goal, goal, now_ns=now_ns)
        return _GoalRequest(goal_id, self._clock.monotonic_ns(), now_ns, parts.send, message)

    def _still_fits(self, request: _GoalRequest, goal_id: str) -> bool:
        """Whether a request is for this goal, and as good as one that is made now."""
        ages_ns = (
            self._clock.monotonic_ns() - request.monotonic_ns,
            self._clock.ros_ns() - request.ros_ns,
        )
        return (
            request.goal_id == goal_id
            and all(0 <= age_ns <= READY_FOR_S * NS_PER_S for age_ns in ages_ns)
            and request.to.service_is_ready()
        )

    def _own_goal(self, goal_id: str) -> None:
        self._own[bytes.fromhex(goal_id)] = None
        while len(self._own) > GOALS_MAX:
            del self._own[next(iter(self._own))]

    def _try(
        self,
        kind: str,
        client: AskingClient,
        goal_id: str,
        request: Any,
        answered: Callable[..., None],
    ) -> bool:
        try:
            self._call(kind, client, goal_id, request, answered)
        except Exception as error:
            # As for a request that the network loses: the caller's own timers deal with silence.
            logger.warning('%s request for goal %s was not sent: %s', kind, goal_id, error)
            return False
        return True

    def _call(
        self,
        kind: str,
        client: AskingClient,
        goal_id: str,
        request: Any,
        answered: Callable[..., None],
    ) -> None:
        key = (kind, goal_id)
        future = client.ask(request)
        # rclpy would keep a request that a dead server never answers for ever.
        for old in (self._pending.pop(key, None), self._surplus()):
            if old is not None:
                old[0].give_up(old[1])
        self._pending[key] = (client, future)
        future.add_done_callback(partial(answered, goal_id))

    def _surplus(self) -> tuple[AskingClient, Future] | None:
        return self._pending.popitem(last=False)[1] if len(self._pending) >= GOALS_MAX else None

    def _deliver(self, event: ControllerEvent) -> None:
        if isinstance(event, CancelResponse):
            self._cancelling.discard(event.goal_id)
            if not self._cancelling:
                self._all_cancels_answered.set()
        elif isinstance(event, GoalResult) and event.status in ENDED_STATUSES:
            self._own.pop(bytes.fromhex(event.goal_id), None)
        if self._listener is not None:
            self._listener(event)

    # -- the rclpy thread's side -----------------------------------------------------------------

    def _post(self, event: ControllerEvent) -> None:
        # RuntimeError: the loop has been closed, so nobody is left to tell.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._deliver, event)

    def _on_goal_response(self, goal_id: str, future: Future) -> None:
        if (response := _answer(future)) is not None:
            self._post(GoalResponse(goal_id, bool(response.accepted)))
            self._step_back(goal_id)

    def _on_result(self, goal_id: str, future: Future) -> None:
        if (response := _answer(future)) is not None:
            payload = plain(response.result)
            self._post(GoalResult(goal_id, int(response.status), payload))

    def _on_cancelled(self, goal_id: str, future: Future) -> None:
        if (response := _answer(future)) is not None:
            self._post(CancelResponse(goal_id, int(response.return_code)))

    def _on_status(self, message: GoalStatusArray) -> None:
        listed = tuple(
            (bytes(entry.goal_info.goal_id.uuid).hex(), int(entry.status))
            for entry in message.status_list
        )
        self._post(StatusReport(listed))
        self._step_back(*(goal_id for goal_id, _ in listed))

    def _step_back(self, *goal_ids: str) -> None:
        """Let others go first if this was the first word about a goal."""
        if self._unanswered in goal_ids:
            self._unanswered = None
            time.sleep(STEP_BACK_S)

    def poll(self) -> None:
        """Take our goals' feedback, and ask the graph for the server; on the rclpy thread."""
        parts = self._parts
        if parts is None:
            return
        if self._own:
            self._hear_feedback(parts)
        reachable = self._server_is_there(parts)
        before, self._servers = self._servers, self._node.count_publishers(self._topics[1])
        if reachable and self._reachable and self._servers < before:
            # One that was killed is seen until its lease has run out, beside the one started in
            # its place, which knows no goals. This tells that another server answers now.
            self._post(ServerPresence(False))
            self._post(ServerPresence(True))
        if reachable != self._reachable:
            self._reachable = reachable
            self._post(ServerPresence(reachable))

    def _hear_feedback(self, parts: _Parts) -> None:
        """Post the newest feedback of each of our goals; what else waits is dropped."""
        newest = {data[_UUID]: data for data in taken(parts.feedback)}
        for goal in newest.keys() & self._own.keys():
            message = deserialize_message(newest[goal], parts.impl.FeedbackMessage)
            self._post(GoalFeedback(goal.hex(), plain(message.feedback)))

    def _server_is_there(self, parts: _Parts) -> bool:
        # A server is all of its parts (rcl_action_server_is_available).
        clients = (parts.send, parts.result, parts.cancel)
        return all(client.service_is_ready() for client in clients) and all(
            self._node.count_publishers(topic) for topic in self._topics
        )


def _never_called(data: bytes) -> None:
    """Stand in for the callback of a subscription that the executor does not wait for."""
    raise AssertionError('feedback is taken, not awaited')


def _uuid(goal_id: str) -> UUID:
    return UUID(uuid=list(bytes.fromhex(goal_id)))


def _answer(future: Future) -> Any:
    """Return the response; None where the request was given up."""
    return None if future.cancelled() or future.exception() is not None else future.result()
