# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A model that answers as one did before: from what a journal recorded of one mission.

The journal is read once, at the start, and only read. What was answered then is given again in its
order, failures included, as long as the questions are those of then: the same step, for the same
reason, with the same tools. Prompts are not compared, since no two runs measure the same floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from typing_extensions import Self

from robot_agent_harness.errors import ConfigurationError, JournalError, ModelError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.client import Decision, ModelRequest, ToolCall

PROVIDER = 'replay'
_COMPARED = ('step', 'trigger', 'tools')
_OF_THE_MODEL = (EventType.MODEL_TURN_STARTED, EventType.MODEL_RESPONSE_RECORDED)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer, or failure to get one, with the question that it belongs to."""

    seq: int
    """The number of its record."""
    answer: dict[str, Any]
    """The payload of MODEL_RESPONSE_RECORDED."""
    question: dict[str, Any]
    """What is compared of its MODEL_TURN_STARTED; empty where there is none."""
    asked_again: bool
    """Whether the model was asked once more in the same turn."""


class ReplayClient:
    """A `ModelClient` that gives recorded answers, each once, in their order.

    :param answers: what was recorded; `from_journal` reads it.
    :param mission_id: the mission that they are of, for error texts.
    :param model: what the journal shows as the model's name: that of the recorded one.
    """

    def __init__(
        self, answers: Iterable[Recorded], *, mission_id: str, model: str | None = None
    ) -> None:
        self._answers = tuple(answers)
        self._mission_id = mission_id
        self._model = model
        self._given = 0

    @classmethod
    def from_journal(cls, path: Path | str, *, mission_id: str | None = None) -> Self:
        """Read a mission's answers; the journal is closed again before this returns.

        :param mission_id: the mission; None = the last one that the journal holds.
        :raises ConfigurationError: the journal cannot be read, holds no such mission, or one whose
            model was never asked; the text names the file.
        """
        try:
            with JournalReader(path) as reader:
                started = _mission(reader, mission_id)
                answers = tuple(_answers(reader, str(started.mission_id)))
        except JournalError as error:
            raise ConfigurationError(f'cannot replay: {error}') from error
        if not answers:
            raise ConfigurationError(
                f'cannot replay mission {started.mission_id} of journal {path}: '
                'its model was never asked'
            )
        model = started.payload.get('model')
        return cls(answers, mission_id=str(started.mission_id), model=model)

    @property
    def provider(self) -> str:
        """Return `replay`."""
        return PROVIDER

    @property
    def model(self) -> str | None:
        """Return the name of the model that was recorded."""
        return self._model

    async def decide(self, request: ModelRequest) -> Decision:
        """Return the next recorded answer.

        :raises ModelError: the recorded attempt failed, the answers are used up, or the question
            is another than the recorded one; only the first may be worth asking again.
        """
        where = f'replay of mission {self._mission_id}'
        if self._given == len(self._answers):
            raise ModelError(f'{where}: all {self._given} recorded answers are used up')
        recorded = self._answers[self._given]
        difference = _difference(recorded.question, request)
        if difference:
            raise ModelError(
                f'{where} diverges before record {recorded.seq}, '
                f'answer {self._given + 1} of {len(self._answers)}: {difference}'
            )
        self._given += 1
        if recorded.answer.get('error') is not None:
            raise recorded_failure(recorded.answer, asked_again=recorded.asked_again)
        return recorded_decision(recorded.answer)

    async def close(self) -> None:
        """Do nothing: the journal is closed already."""


def _mission(reader: JournalReader, mission_id: str | None) -> RecordedEvent:
    """Return the record of a mission's start.

    :raises ConfigurationError: there is none.
    """
    if mission_id is None:
        started = reader.newest(EventType.MISSION_STARTED)
        missing = 'holds no mission'
    else:
        started = next(
            reader.events(mission_id=mission_id, type=EventType.MISSION_STARTED, limit=1), None
        )
        missing = f'holds no mission {mission_id!r}'
    if started is None:
        raise ConfigurationError(f'cannot replay: journal {reader.path} {missing}')
    return started


def _answers(reader: JournalReader, mission_id: str) -> Iterator[Recorded]:
    """Yield what the mission's model answered, in order."""
    kinds = {kind.value for kind in _OF_THE_MODEL}
    events = [event for event in reader.events(mission_id=mission_id) if event.type in kinds]
    question: dict[str, Any] = {}
    for event, following in pairwise([*events, None]):
        assert event is not None
        if event.type == EventType.MODEL_TURN_STARTED:
            question = {key: event.payload[key] for key in _COMPARED if key in event.payload}
            continue
        yield Recorded(
            seq=event.seq,
            answer=event.payload,
            question=question,
            asked_again=following is not None and following.turn_id == event.turn_id,
        )


def _difference(question: dict[str, Any], request: ModelRequest) -> str | None:
    """Say in what a question differs from the recorded one; None: in nothing that counts."""
    asked = {**request.metadata, 'tools': [tool.name for tool in request.tools]}
    # What an older journal lacks cannot be compared.
    for key, then in question.items():
        if then != asked.get(key):
            return f'{key} is {_listed(asked.get(key))}, was {_listed(then)}'
    return None


def _listed(value: Any) -> str:
    return ', '.join(map(str, value)) if isinstance(value, list) else str(value)


def recorded_failure(payload: dict[str, Any], *, asked_again: bool = False) -> ModelError:
    """Return the error of an attempt that failed, as it was raised then.

    :param payload: of its MODEL_RESPONSE_RECORDED.
    :param asked_again: whether the model was asked once more in the same turn.
    """
    retryable = payload.get('retryable')
    if retryable is None:  # of schema 1, which shows it by what it did next
        retryable = asked_again
    return ModelError(
        str(payload['error']),
        retryable=bool(retryable),
        retry_after_s=payload.get('retry_after_s'),
    )


def recorded_decision(payload: dict[str, Any]) -> Decision:
    """Return the answer that a MODEL_RESPONSE_RECORDED holds."""
    stop_reason = payload.get('stop_reason')
    return Decision(
        tool_calls=tuple(_tool_call(call, stop_reason) for call in payload.get('tool_calls', ())),
        rationale=payload.get('rationale'),
        thinking=payload.get('thinking'),
        stop_reason=stop_reason,
        usage=payload.get('usage', {}),
        provider=PROVIDER,
        model=payload.get('model'),
        response_id=payload.get('response_id'),
        raw_content=tuple(payload.get('raw_content', ())),
    )


def _tool_call(call: dict[str, Any], stop_reason: str | None) -> ToolCall:
    malformed = call.get('malformed')
    if 'malformed' not in call and stop_reason != 'tool_use':
        # Schema 1 did not record it; a call that was cut must not move the robot now either.
        malformed = f'not a complete response (stop reason {stop_reason})'
    return ToolCall(str(call.get('id')), str(call.get('name')), call.get('arguments'), malformed)
