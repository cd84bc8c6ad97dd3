# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Make a journal as long as years of work: `python bench/million.py FILE [RECORDS]`.

It holds what missions of a real harness hold, in their proportions: a turn with its prompt, one
navigation with its checks, feedback once a second, its verification and outcome; now and then an
action that fails, a refusal, a human message. Records go through the journal's own writer, so that
the file has its chain, its indexes and its schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
import sys
from typing import Any

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

RECORDS = 1_000_000
BATCH = 5000
TURNS, FEEDBACKS = 10, 30
"""Turns of a mission, and seconds that each of its actions takes."""
FAILS_EVERY = 50
"""One action in so many does not arrive."""
PROMPT = 'You drive a robot. ' * 20
NS_PER_S = 1_000_000_000

_POSE = {'x': 1.234, 'y': 5.678, 'yaw': 0.5, 'frame_id': 'map'}
_SNAPSHOT = {
    'map_pose': {'availability': 'available', 'age_s': 0.05, 'value': _POSE},
    'odometry': {'availability': 'available', 'age_s': 0.02, 'value': {'linear_m_s': 0.0}},
    'battery': {'availability': 'available', 'age_s': 0.4, 'value': {'fraction': 0.8}},
}
_CHECKS = [
    {'name': name, 'ok': True, 'measured': 0.05, 'limit': 1.0}
    for name in ('pose_age', 'odometry_age', 'pose_drift', 'position_variance', 'battery')
]


def make(path: Path, records: int = RECORDS) -> None:
    """Make the file; about half a minute for a million records."""
    clock = FakeClock()
    database = JournalDatabase(path, synchronous='normal', busy_timeout_ms=0)
    try:
        entries = islice(_entries(clock), records)
        while batch := [prepare(event, ids, clock) for event, ids in islice(entries, BATCH)]:
            database.begin()
            database.insert(batch)
            database.commit()
    finally:
        database.close()


def _entries(clock: FakeClock) -> Iterator[tuple[Event, Correlation]]:
    for number in count():
        mission = f'mission-{number:06d}'
        ids: dict[str, Any] = {'mission_id': mission}
        yield (
            MissionStarted(
                instruction=f'Make round {number}', robot_id='r', provider='scripted', max_steps=50
            ),
            Correlation(**ids),
        )
        for step in range(1, TURNS + 1):
            yield from _turn(clock, mission, number, step)
        yield SalientEvent(kind='human_message', message='hello'), Correlation(**ids)
        arrived = _succeeds(number, TURNS)
        yield (
            MissionEnded(
                outcome='achieved' if arrived else 'not_achieved',
                reason='finished',
                summary='the round is made',
                claim='achieved',
                claim_supported=arrived,
                steps=TURNS,
            ),
            Correlation(**ids),
        )


def _turn(
    clock: FakeClock, mission: str, number: int, step: int
) -> Iterator[tuple[Event, Correlation]]:
    name = f'{number:06d}-{step:02d}'
    turn = {'mission_id': mission, 'turn_id': f'turn-{name}'}
    call = {**turn, 'tool_call_id': f'call-{name}'}
    action = {**call, 'action_id': f'{number * 100 + step:032x}'}
    seen = {**turn, 'snapshot_id': f'snapshot-{name}'}
    checked = {**call, 'snapshot_id': f'snapshot-{name}-checked'}
    verified = {**action, 'snapshot_id': f'snapshot-{name}-verified'}
    succeeds = _succeeds(number, step)
    state, reason = ('SUCCEEDED', 'verified') if succeeds else ('FAILED', 'aborted')
    yield WorldSnapshotCaptured(reason='model_turn', snapshot=_SNAPSHOT), Correlation(**seen)
    yield (
        ModelTurnStarted(
            step=step, trigger='action_outcome', system_prompt=PROMPT, user_prompt=PROMPT
        ),
        Correlation(**seen),
    )
    clock.advance(2.0)
    yield (
        ModelResponseRecorded(
            rationale='The next stop is free.',
            thinking=None,
            tool_calls=[{'id': '1', 'name': 'navigate_to_pose', 'arguments': _POSE}],
            usage={'input_tokens': 1000, 'output_tokens': 50},
            stop_reason='tool_use',
            provider='scripted',
            model=None,
        ),
        Correlation(**turn),
    )
    yield (
        ToolCallRecorded(
            name='navigate_to_pose',
            arguments=_POSE,
            decision_snapshot_id=seen['snapshot_id'],
            purpose='the next stop of the round',
            expected_outcome='the robot stands there',
        ),
        Correlation(**call),
    )
    yield WorldSnapshotCaptured(reason='pre_dispatch', snapshot=_SNAPSHOT), Correlation(**checked)
    yield (
        ActionPreconditionChecked(
            ok=True,
            decision_snapshot_id=seen['snapshot_id'],
            fresh_snapshot_id=checked['snapshot_id'],
            checks=_CHECKS,
        ),
        Correlation(**call),
    )
    yield RobotActionStarted(skill='navigate_to_pose', goal=_POSE), Correlation(**action)
    yield RobotActionProgress(state='ACCEPTED'), Correlation(**action)
    yield (
        ToolResultRecorded(
            status='accepted',
            is_error=False,
            structured={'status': 'accepted', 'message': 'ok', 'action_id': action['action_id']},
        ),
        Correlation(**call),
    )
    for second in range(FEEDBACKS):
        clock.advance(1.0)
        feedback = {'distance_remaining': float(FEEDBACKS - second), 'current_pose': _POSE}
        yield RobotActionProgress(state='RUNNING', feedback=feedback), Correlation(**action)
    if succeeds:
        yield RobotActionProgress(state='VERIFYING'), Correlation(**action)
    yield (
        WorldSnapshotCaptured(reason='verification', snapshot=_SNAPSHOT),
        Correlation(**verified),
    )
    yield (
        RobotActionOutcome(
            state=state,
            reason=reason,
            evidence={'position_error_m': 0.12, 'position_tolerance_m': 0.35, 'why': 'seen there'},
            verification_snapshot_id=verified['snapshot_id'],
        ),
        Correlation(**action),
    )


def _succeeds(number: int, step: int) -> bool:
    return (number * TURNS + step) % FAILS_EVERY != 0


if __name__ == '__main__':
    make(Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else RECORDS)
