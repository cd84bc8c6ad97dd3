# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Asking the model: again where that may help, on record each time, and never for longer than the
mission wants to know.
"""

from __future__ import annotations

import asyncio
import logging

from robot_agent_harness.errors import ModelError
from robot_agent_harness.events import Correlation, ModelResponseRecorded
from robot_agent_harness.guarded import contained, guarded
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.answer_bounds import bounded, bounded_error, recorded_raw
from robot_agent_harness.llm.client import Decision, ModelClient, ModelRequest
from robot_agent_harness.mission import Mission
from robot_agent_harness.redaction import RedactedJournal, Redactor
from robot_agent_harness.skills.registry import SkillRegistry

logger = logging.getLogger(__name__)

MODEL_RETRY_AFTER_MAX_S = 30.0
"""Longest pause that a provider may ask for; a robot does not stand about for minutes."""
MODEL_RETRY_PAUSES_S = (1.0, 2.0, 4.0)
"""Pauses before a failed request to the model is repeated, where the failure may pass."""
GIVE_UP_S = 0.5
"""How long a model that is not waited for any more gets to notice."""


class ModelAsker:
    """Asks one model, for missions that may be cancelled meanwhile.

    :param canceled: set when the mission is to end: the model is not waited for any more.
    """

    def __init__(
        self,
        *,
        model: ModelClient,
        journal: RedactedJournal,
        registry: SkillRegistry,
        redactor: Redactor,
        canceled: asyncio.Event,
    ) -> None:
        self._model = model
        self._journal = journal
        self._registry = registry
        self._redactor = redactor
        self._canceled = canceled

    async def decide(
        self, request: ModelRequest, mission: Mission, correlation: Correlation
    ) -> Decision:
        """Ask the model, again where that may help, and record each answer and each failure.

        :raises ModelError: it cannot be asked.
        """
        now = asyncio.get_running_loop().time
        for pause_s in (*MODEL_RETRY_PAUSES_S, None):
            began = now()
            try:
                decision = bounded(await self._ask(request))
            except ModelError as error:
                await self._journal.append(
                    (_failed_response(self._model, error, now() - began), correlation)
                )
                asked_s = error.retry_after_s or 0.0
                hopeless = not error.retryable or asked_s > MODEL_RETRY_AFTER_MAX_S
                if pause_s is None or hopeless:
                    raise
                await self._pause(max(pause_s, asked_s))
                if self._canceled.is_set():
                    raise
            else:
                took_s = now() - began
                mission.spend(decision.usage)
                for call in decision.tool_calls:
                    # Before the answer is recorded: the call itself comes later.
                    known = self._registry.get(call.name)
                    secrets = known.secrets if known else frozenset()
                    self._redactor.learn(correlation.turn_id, call.arguments, secrets)
                await self._journal.append((_response(decision, took_s), correlation))
                return decision
        raise AssertionError('unreachable')

    async def _ask(self, request: ModelRequest) -> Decision:
        """Return the model's answer, unless the mission is cancelled while it thinks.

        :raises ModelError: it cannot be asked, or is not waited for any longer.
        """
        asked = asyncio.ensure_future(contained(self._model.decide(request)))
        canceled = asyncio.ensure_future(self._canceled.wait())
        try:
            await asyncio.wait({asked, canceled}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return _answer(asked)
            raise ModelError('the mission was cancelled while the model was asked')
        finally:
            asked.cancel()
            canceled.cancel()
            # Bounded: a client that resists its cancellation must not hold the mission up.
            await asyncio.wait({asked, canceled}, timeout=GIVE_UP_S)

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the mission is cancelled meanwhile."""
        canceled = asyncio.ensure_future(self._canceled.wait())
        await asyncio.wait({canceled}, timeout=seconds)
        canceled.cancel()


def _answer(asked: asyncio.Future[Decision]) -> Decision:
    try:
        return guarded(asked.result)
    except ModelError as error:
        raise bounded_error(error) from error.__cause__
    except Exception as error:
        # A client may be anybody's code: whatever it raises, it could not be asked.
        logger.exception('the model client failed')
        raise bounded_error(ModelError(f'the model client failed: {error!r}')) from error


def _response(decision: Decision, took_s: float) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=decision.rationale,
        thinking=decision.thinking,
        tool_calls=[
            {
                'id': call.id,
                'name': call.name,
                'arguments': jsonable(call.arguments),
                'malformed': call.malformed,
            }
            for call in decision.tool_calls
        ],
        usage=jsonable(decision.usage),
        stop_reason=decision.stop_reason,
        provider=decision.provider,
        model=decision.model,
        response_id=decision.response_id,
        raw_content=recorded_raw(decision),
        duration_s=round(took_s, 3),
    )


def _failed_response(
    model: ModelClient, error: ModelError, took_s: float
) -> ModelResponseRecorded:
    return ModelResponseRecorded(
        rationale=None,
        thinking=None,
        tool_calls=[],
        usage={},
        stop_reason=None,
        provider=model.provider,
        model=model.model,
        error=str(error),
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        duration_s=round(took_s, 3),
    )
