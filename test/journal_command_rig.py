# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal with a bit of everything, for the tests of `robot-agent-harness journal`."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
import json
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    MissionEnded,
    MissionStarted,
    ModelResponseRecorded,
    ModelTurnStarted,
    RobotActionOutcome,
    RobotActionProgress,
    RobotActionStarted,
    SalientEvent,
    ToolCallRecorded,
    ToolResultRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.database import JournalDatabase
from robot_agent_harness.journal.records import prepare
from robot_agent_harness.testing import FakeClock

HOSTILE = '\x1b[31mred\x1b]0;title\x07 [bold]markup[/bold] \u202eover \r\n└── call forged'
"""Text that would colour, rename, reverse or forge, were it obeyed."""
Made = tuple[Event, Correlation, float]
"""With the seconds that pass before it."""


def write(path: Path, *stories: Iterator[Made], clock: FakeClock | None = None) -> Path:
    """Make a journal of what is told, one after the other."""
    clock = clock or FakeClock()
    database = JournalDatabase(path, synchronous='normal', busy_timeout_ms=0)
    for story in stories:
        for event, ids, after_s in story:
            clock.advance(after_s)
            database.begin()
            database.insert([prepare(event, ids, clock)])
            database.commit()
    database.close()
    return path


def mission(
    name: str, *ends: tuple[str, str], instruction: str = 'bring it', say: str = 'The way is free.'
) -> Iterator[Made]:
    """Tell a mission with an action for each end (state, reason), and its own end."""
    ids: dict[str, Any] = {'mission_id': name}
    begun = MissionStarted(
        instruction=instruction, robot_id='r', provider='scripted', model='m', max_steps=9
    )
    yield begun, Correlation(**ids), 1.0
    for step, (state, reason) in enumerate(ends, 1):
        yield from _turn(name, step, state, reason, say)
    happened = SalientEvent(kind='human_message', message=say)
    yield happened, Correlation(**ids), 1.0
    good = all(state == 'SUCCEEDED' for state, _ in ends)
    ended = MissionEnded(
        outcome='achieved' if good else 'not_achieved',
        reason='finished',
        summary=say,
        claim='achieved',
        claim_supported=good,
        steps=len(ends),
    )
    yield ended, Correlation(**ids), 1.0


def _turn(name: str, step: int, state: str, reason: str, say: str) -> Iterator[Made]:
    turn: dict[str, Any] = {'mission_id': name, 'turn_id': f'{name}-turn-{step}'}
    seen = WorldSnapshotCaptured(reason='model_turn', snapshot={})
    yield seen, Correlation(**turn, snapshot_id=f'{name}-seen-{step}'), 0.0
    asked = ModelTurnStarted(
        step=step, trigger='mission_started', system_prompt='s', user_prompt='u'
    )
    yield asked, Correlation(**turn, snapshot_id=f'{name}-seen-{step}'), 0.0
    answer = ModelResponseRecorded(
        rationale=say,
        thinking=None,
        tool_calls=[{'id': '1', 'name': 'navigate_to_pose', 'arguments': {'x': 1.0}}],
        usage={},
        stop_reason=None,
        provider='scripted',
        model='m',
    )
    yield answer, Correlation(**turn), 2.0
    yield from call(f'{name}-call-{step}', state, reason, say, f'{name}-seen-{step}', **turn)


def action_of(call_id: str) -> str:
    """Return the id of the action that a call starts."""
    return sha256(call_id.encode()).hexdigest()[:32]


def call(
    call_id: str,
    state: str = '',
    reason: str = '',
    say: str = 'look',
    decision: str | None = None,
    **ids: Any,
) -> Iterator[Made]:
    """Tell a call: refused where there is no state, else one whose action ends in it.

    :param decision: the snapshot that it was decided on; None: one is taken for it.
    """
    ids['tool_call_id'] = call_id
    if decision is None:
        decision = f'{call_id}-seen'
        looked = WorldSnapshotCaptured(reason='requested', snapshot={})
        yield looked, Correlation(**ids, snapshot_id=decision), 0.0
    asked = ToolCallRecorded(
        name='navigate_to_pose',
        arguments={'x': 1.0, 'y': 2.0},
        decision_snapshot_id=decision,
        purpose=say,
        expected_outcome='it stands there',
        client={'kind': 'mcp'},
    )
    yield asked, Correlation(**ids), 0.0
    drift, fresh = 0.1 if state else 0.8, f'{call_id}-fresh'
    looked = WorldSnapshotCaptured(reason='pre_dispatch', snapshot={})
    yield looked, Correlation(**ids, snapshot_id=fresh), 0.1
    checked = ActionPreconditionChecked(
        ok=bool(state),
        decision_snapshot_id=decision,
        fresh_snapshot_id=fresh,
        checks=[
            {'name': 'pose_age', 'ok': True, 'measured': 0.25, 'limit': 1.0},
            {'name': 'pose_drift', 'ok': bool(state), 'measured': drift, 'limit': 0.5},
        ],
    )
    yield checked, Correlation(**ids), 0.0
    status = 'accepted' if state else 'precondition_changed'
    told = {'status': status, 'message': say}
    if state:
        told['action_id'] = action_of(call_id)
    result = ToolResultRecorded(status=status, is_error=not state, structured=told)
    if not state:
        yield result, Correlation(**ids), 0.0
        return
    ids['action_id'] = action_of(call_id)
    begun = RobotActionStarted(skill='navigate_to_pose', goal={'x': 1.0, 'y': 2.0})
    yield begun, Correlation(**ids), 0.0
    yield RobotActionProgress(state='ACCEPTED'), Correlation(**ids), 0.5
    yield result, Correlation(**ids), 0.0
    yield RobotActionProgress(state='RUNNING'), Correlation(**ids), 0.5
    if state == 'SUCCEEDED':
        yield RobotActionProgress(state='VERIFYING'), Correlation(**ids), 3.0
    seen = WorldSnapshotCaptured(reason='verification', snapshot={})
    verified = f'{call_id}-verified'
    yield seen, Correlation(**ids, snapshot_id=verified), 0.0
    outcome = RobotActionOutcome(
        state=state,
        reason=reason,
        evidence={
            'why': say,
            'controller_status': 'SUCCEEDED',
            'position_error_m': 0.12,
            'position_tolerance_m': 0.35,
        },
        verification_snapshot_id=verified,
    )
    yield outcome, Correlation(**ids), 0.0


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run a subcommand and return its exit code, standard output and standard error."""
    capsys.readouterr()
    try:
        code = main(['journal', *map(str, arguments)])
    except SystemExit as ended:
        code = int(ended.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def lines(out: str) -> list[dict[str, Any]]:
    """Return the objects of JSON lines."""
    return [json.loads(line) for line in out.splitlines()]
