# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who stands around the core in a replay: all that they do is to repeat themselves."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
import math
from typing import Any

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.errors import ModelError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.llm.client import Decision, ModelRequest
from robot_agent_harness.llm.replay import recorded_decision, recorded_failure
from robot_agent_harness.replay.recording import Recording
from robot_agent_harness.skills.services import (
    RosService,
    ServiceTimeoutError,
    ServiceUnavailableError,
)

_NON_FINITE = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}


class RecordedController:
    """An `ActionController` to which nothing can be sent: what came of it then comes again.

    :param answer: told of the goal whenever something is asked: the answer may have come within
        the call.
    """

    def __init__(self, reachable: bool, answer: Callable[[str], None]) -> None:
        self._reachable = reachable
        self._answer = answer
        self._listener: Callable[[ControllerEvent], None] = lambda event: None

    def set_listener(self, listener: Callable[[ControllerEvent], None]) -> None:
        """Deliver every event to `listener`."""
        self._listener = listener

    @property
    def reachable(self) -> bool:
        """Whether the server was there."""
        return self._reachable

    def prepare(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Do nothing."""

    def send_goal(self, goal_id: str, goal: dict[str, Any]) -> None:
        """Send nothing."""
        self._answer(goal_id)

    def request_result(self, goal_id: str) -> None:
        """Send nothing."""
        self._answer(goal_id)

    def cancel(self, goal_id: str) -> None:
        """Send nothing."""
        self._answer(goal_id)

    def say(self, event: ControllerEvent) -> None:
        """Deliver an event."""
        if isinstance(event, ServerPresence):
            self._reachable = event.reachable
        self._listener(event)


def controller_event(payload: dict[str, Any]) -> ControllerEvent:
    """Return the event that a CONTROLLER_EVENT_RECEIVED tells of."""
    said = payload['said']
    kind = payload['event']
    if kind == 'status':
        return StatusReport(tuple((goal['goal_id'], goal['status']) for goal in said['goals']))
    if kind == 'presence':
        return ServerPresence(said['reachable'])
    goal_id = said['goal_id']
    if kind == 'goal_response':
        return GoalResponse(goal_id, said['accepted'])
    if kind == 'feedback':
        # Numbers by contract; those that JSON lacks are on record as text.
        numbers = {
            k: _NON_FINITE.get(v, v) if isinstance(v, str) else v
            for k, v in said['feedback'].items()
        }
        return GoalFeedback(goal_id, numbers)
    if kind == 'result':
        return GoalResult(goal_id, said['status'], said['payload'])
    if kind == 'cancel_response':
        return CancelResponse(goal_id, said['return_code'])
    return SendFailed(goal_id, said['message'])


class RecordedServices:
    """A `ServiceCaller` whose answers come when they came then.

    :param call_id: returns the id of the call under way.
    """

    def __init__(self, recording: Recording, call_id: Callable[[], str | None]) -> None:
        self._answers: dict[str, list[dict[str, Any]]] = {}
        for record in recording.of(EventType.SERVICE_EVENT_RECEIVED):
            if record.payload['event'] != 'presence':
                self._answers.setdefault(str(record.tool_call_id), []).append(record.payload)
        self._call_id = call_id
        self._is_whole = recording.is_whole
        self._asked: Counter[str] = Counter()
        self._come: Counter[str] = Counter()
        self._waiting: dict[tuple[str, int], asyncio.Future[None]] = {}
        self._listener: Callable[[str, bool], None] = lambda name, there: None

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Tell `listener` of each service that came (True) or went."""
        self._listener = listener

    def presence(self, name: str, there: bool) -> None:
        """Have a service come or go."""
        self._listener(name, there)

    def answer_comes(self, call_id: str) -> None:
        """Let the next recorded answer to a call arrive."""
        self._come[call_id] += 1
        waiting = self._waiting.pop((call_id, self._come[call_id]), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        """Return the answer that was given to this call then, at its time.

        One that is not on record never comes: its run, or its call, was ended before.
        """
        call_id = str(self._call_id())
        self._asked[call_id] += 1
        number = self._asked[call_id]
        if number > self._come[call_id]:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting[call_id, number] = waiting
            await waiting
        payload = self._answers[call_id][number - 1]
        said = payload['said']
        if payload['event'] == 'failed':
            raise _ERRORS.get(said['code'], RuntimeError)(said['message'])
        if 'response' not in said:
            raise RuntimeError(f'the response of {said["size_bytes"]} bytes is not on record')
        return dict(said['response'])


_ERRORS: dict[str, type[Exception]] = {
    error.code: error for error in (ServiceUnavailableError, ServiceTimeoutError)
}


class RecordedModel:
    """A `ModelClient` whose answers come when they came then."""

    def __init__(self, recording: Recording, started: RecordedEvent | None) -> None:
        answers = tuple(recording.of(EventType.MODEL_RESPONSE_RECORDED))
        self._answers = answers
        self._provider = str(started.payload['provider']) if started else 'none'
        self._model = started.payload.get('model') if started else None
        self._is_whole = recording.is_whole
        self._asked = 0
        self._come = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    @property
    def provider(self) -> str:
        """Return the provider that was recorded."""
        return self._provider

    @property
    def model(self) -> str | None:
        """Return the name of the model that was recorded."""
        return self._model

    def answer_comes(self) -> None:
        """Let the next recorded answer arrive."""
        self._come += 1
        waiting = self._waiting.pop(self._come, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def decide(self, request: ModelRequest) -> Decision:
        """Return the answer that was given then, at its time.

        Where the recording ends in the middle of its run, an answer that is not on it never comes.

        :raises ModelError: the attempt failed then, or was never made.
        """
        self._asked += 1
        number = self._asked
        if number > len(self._answers) and self._is_whole:
            raise ModelError('the recording does not answer this: it was not asked')
        if number > self._come:
            self._waiting[number] = asyncio.get_running_loop().create_future()
            await self._waiting[number]
        payload = self._answers[number - 1].payload
        if payload.get('error') is not None:
            raise recorded_failure(payload)
        return replace(recorded_decision(payload), provider=str(payload['provider']))

    async def close(self) -> None:
        """Do nothing."""
