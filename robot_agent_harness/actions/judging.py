# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Has a verifier judge an action whose goal has ended, whatever the verifier does.

It may be a user's own: one that raises or hangs has shown nothing. And a controller that
contradicts itself is believed in nothing, so that no verifier can confirm what it says.
"""

from __future__ import annotations

from functools import partial
import logging

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.heard import Heard
from robot_agent_harness.actions.lifecycle import ActionState, OutcomeReason, RobotAction
from robot_agent_harness.actions.verification import (
    Judgement,
    SHIPPED,
    Terminal,
    Verdict,
    Verifier,
)
from robot_agent_harness.guarded import in_own_thread, TookTooLongError, USER_CODE_S
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

OUTCOMES = {
    Verdict.CONFIRMED: (ActionState.SUCCEEDED, OutcomeReason.VERIFIED),
    Verdict.DISPROVED: (ActionState.FAILED, OutcomeReason.VERIFICATION_DISPROVED),
    Verdict.INCONCLUSIVE: (ActionState.UNKNOWN, OutcomeReason.VERIFICATION_INCONCLUSIVE),
}
"""How an action ends that was judged so."""


async def judged(
    verifier: Verifier,
    action: RobotAction,
    heard: Heard,
    *,
    before: WorldSnapshot,
    terminal: Terminal,
    now: WorldSnapshot,
) -> Judgement:
    """Return what the world shows of the end that the controller claims.

    :param heard: all that was heard of the goal.
    :param before: the world right before the goal was sent.
    """
    judge = partial(
        verifier.judge,
        goal=action.goal,
        before=before,
        terminal=terminal,
        now=now,
    )
    try:
        if type(verifier) in SHIPPED:
            judgement = judge()
        else:
            judgement = await in_own_thread(judge, within_s=USER_CODE_S)
    except TookTooLongError as error:
        logger.error('the verifier of action %s does not answer', action.action_id)
        return Judgement(
            Verdict.INCONCLUSIVE, True, {'why': f'the verifier has not judged: {error}'}
        )
    except Exception as error:
        # A verifier may be a user's own; one that raises has shown nothing.
        logger.exception('the verifier of action %s raised', action.action_id)
        return Judgement(Verdict.INCONCLUSIVE, True, {'why': f'the verifier raised {error!r}'})
    if heard.contradicts and judgement.verdict is Verdict.CONFIRMED:
        told = ', '.join(sorted(GoalStatus.name_of(end) for end in heard.ends))
        told += ', and it refused the goal' if heard.response is False else ''
        why = f'the controller contradicts itself: {told}'
        return Judgement(Verdict.INCONCLUSIVE, True, {**judgement.evidence, 'why': why})
    return judgement
