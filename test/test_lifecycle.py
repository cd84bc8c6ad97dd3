# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of an action's life: what no sequence of steps can do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
import pytest

from robot_agent_harness.actions.lifecycle import (
    ActionState,
    Outcome,
    OutcomeReason,
    RobotAction,
    TRANSITIONS,
)
from robot_agent_harness.errors import IllegalTransitionError

STATES = st.sampled_from(list(ActionState))


def _action() -> RobotAction:
    return RobotAction('ab' * 16, 'navigate_to_pose', {'x': 1.0}, None, None, 'call-1', 0)


def _step(action: RobotAction, state: ActionState) -> RobotAction:
    reason = OutcomeReason.VERIFIED
    outcome = Outcome(state, reason, {}) if state.terminal else None
    return action.advance(state, outcome)


@given(st.lists(STATES, max_size=12))
def test_only_the_tables_steps_are_taken_and_a_refused_one_changes_nothing(
    wanted: list[ActionState],
) -> None:
    action = _action()
    for state in wanted:
        before = action
        if state in TRANSITIONS[action.state]:
            action = _step(action, state)
            assert action.state is state
        else:
            with pytest.raises(IllegalTransitionError):
                _step(action, state)
            assert action is before


@given(st.lists(STATES, max_size=12))
def test_success_is_reached_from_verification_only(wanted: list[ActionState]) -> None:
    action, path = _action(), [ActionState.REQUESTED]
    for state in wanted:
        if state in TRANSITIONS[action.state]:
            action = _step(action, state)
            path.append(state)
    if ActionState.SUCCEEDED in path:
        assert path[path.index(ActionState.SUCCEEDED) - 1] is ActionState.VERIFYING


@given(STATES, STATES)
def test_nothing_follows_an_outcome(end: ActionState, after: ActionState) -> None:
    if end.terminal:
        assert after not in TRANSITIONS[end]


@given(STATES)
def test_an_outcome_comes_with_a_terminal_state_and_only_there(state: ActionState) -> None:
    wrong = None if state.terminal else Outcome(state, OutcomeReason.VERIFIED, {})
    with pytest.raises(IllegalTransitionError):
        _action().advance(state, wrong)


def test_every_state_can_be_left_or_is_final_and_every_one_can_be_reached() -> None:
    reached = {ActionState.REQUESTED}.union(*TRANSITIONS.values())
    assert reached == set(ActionState) == set(TRANSITIONS)
