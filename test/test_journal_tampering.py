# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal verify` names what somebody made a recorded run say, though the chain was mended.

Each case breaks one promise of a sound recording, and must find that one and no other.
"""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
from typing import Any

from journal_rig import unguarded
import pytest

from robot_agent_harness.journal.archive import unpack
from robot_agent_harness.journal.schema import chain_of, COLUMNS
from robot_agent_harness.testing import check_journal

REPLAYS = Path(__file__).parent / 'replays'
Row = dict[str, Any]
"""A record by its columns, its payload as an object."""
Edit = Callable[[list[Row]], list[Row]]


def recorded(name: str, folder: Path) -> Path:
    path = folder / f'{name}.db'
    unpack(REPLAYS / f'{name}.db.gz', path)
    return path


def tamper(path: Path, edit: Edit) -> None:
    """Rewrite the records as `edit` returns them, with numbers and a chain that are right."""
    with unguarded(path) as connection:
        found = connection.execute(f'SELECT {", ".join(COLUMNS)} FROM events ORDER BY seq')
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in found]
        for row in rows:
            row['payload'] = json.loads(row['payload'])
        connection.execute('DELETE FROM events')
        previous = ''
        for seq, row in enumerate(edit(rows), 1):
            text = json.dumps(row['payload'], sort_keys=True, separators=(',', ':'))
            values = [seq, *(row[name] for name in COLUMNS[1:-2]), text]
            previous = chain_of(previous, values)
            marks = ', '.join('?' * len(COLUMNS))
            connection.execute(f'INSERT INTO events VALUES ({marks})', (*values, previous))


def payload(kind: str, place: int = 0, **changes: Any) -> Edit:
    """Change keys of the payload of one record of a type."""

    def edit(rows: list[Row]) -> list[Row]:
        [row for row in rows if row['type'] == kind][place]['payload'].update(changes)
        return rows

    return edit


def inside(kind: str, key: str, place: int = 0, **changes: Any) -> Edit:
    """Change what is under a key of that payload; None takes a key away."""

    def edit(rows: list[Row]) -> list[Row]:
        held = [row for row in rows if row['type'] == kind][place]['payload'][key]
        held.update(changes)
        for name in [name for name, value in changes.items() if value is None]:
            del held[name]
        return rows

    return edit


def columns(kind: str, place: int = 0, **changes: Any) -> Edit:
    def edit(rows: list[Row]) -> list[Row]:
        [row for row in rows if row['type'] == kind][place].update(changes)
        return rows

    return edit


def moved(kind: str, before: str, place: int = 0) -> Edit:
    """Put one record of a type in front of the first of another."""

    def edit(rows: list[Row]) -> list[Row]:
        row = [row for row in rows if row['type'] == kind][place]
        rows.remove(row)
        rows.insert(next(i for i, other in enumerate(rows) if other['type'] == before), row)
        return rows

    return edit


def without(unwanted: Callable[[Row], bool]) -> Edit:
    return lambda rows: [row for row in rows if not unwanted(row)]


def of(kind: str, **keys: Any) -> Callable[[Row], bool]:
    return lambda row: (
        row['type'] == kind and all(row['payload'].get(key) == v for key, v in keys.items())
    )


def both(*edits: Edit) -> Edit:
    def edit(rows: list[Row]) -> list[Row]:
        for one in edits:
            rows = one(rows)
        return rows

    return edit


def tells_of_success(row: Row) -> bool:
    said = row['payload'].get('said', {})
    listed = [said, *said.get('goals', [])]
    return row['type'] == 'CONTROLLER_EVENT_RECEIVED' and any(g.get('status') == 4 for g in listed)


CALL, CHECK, RESULT = 'TOOL_CALL_RECORDED', 'ACTION_PRECONDITION_CHECKED', 'TOOL_RESULT_RECORDED'
START, PROGRESS, OUTCOME = (f'ROBOT_ACTION_{name}' for name in ('STARTED', 'PROGRESS', 'OUTCOME'))
SNAPSHOT, HEARD = 'WORLD_SNAPSHOT_CAPTURED', 'CONTROLLER_EVENT_RECEIVED'
TURN, ANSWER, ENDED = 'MODEL_TURN_STARTED', 'MODEL_RESPONSE_RECORDED', 'MISSION_ENDED'


def goal_of(rows: list[Row]) -> str:
    return next(str(row['action_id']) for row in rows if row['type'] == START)


def first(rows: list[Row], kind: str) -> Any:
    """Return the payload of the first record of a type."""
    return next(row['payload'] for row in rows if row['type'] == kind)


def assume(ok: bool) -> Edit:
    """Have the assumptions of the first check hold, or the first of them not."""

    def edit(rows: list[Row]) -> list[Row]:
        checks = first(rows, CHECK)['checks']
        for check in checks if ok else checks[:1]:
            check['ok'] = ok
        return rows

    return edit


def check_on_the_decision(rows: list[Row]) -> list[Row]:
    check = first(rows, CHECK)
    check['fresh_snapshot_id'] = check['decision_snapshot_id']
    return rows


def verify_on_an_old_snapshot(rows: list[Row]) -> list[Row]:
    (seen,) = [row for row in rows if row['payload'].get('reason') == 'verification']
    seen['payload']['snapshot']['captured_monotonic_ns'] = 1
    return rows


def answered(status: str, **changes: Any) -> Edit:
    """Give the first result another status, inside and out."""
    return both(
        payload(RESULT, status=status, **changes), inside(RESULT, 'structured', status=status)
    )


def reported(*, early: bool = False, **told: str) -> Edit:
    """Add a call that tells of the action, with its result: behind all, or in front of its end."""

    def edit(rows: list[Row]) -> list[Row]:
        like = next(row for row in rows if row['type'] == CALL)
        call = {**like, 'tool_call_id': 'call-99', 'action_id': None}
        call['payload'] = {**like['payload'], 'name': 'get_action'}
        data = {'status': 'completed', 'message': 'so it is', 'action_id': goal_of(rows), **told}
        result = {**call, 'type': RESULT, 'action_id': data['action_id']}
        result['payload'] = {'status': 'completed', 'is_error': False, 'structured': data}
        ends = [place for place, row in enumerate(rows) if row['type'] == OUTCOME]
        place = ends[0] if early else len(rows)
        return [*rows[:place], call, result, *rows[place:]]

    return edit


FAILED = both(
    payload(OUTCOME, state='FAILED', reason='aborted'),
    inside(OUTCOME, 'evidence', controller_status='ABORTED'),
)


CASES: dict[str, tuple[str, Edit, str]] = {
    # -- acceptance is not completion ------------------------------------------------------------
    'completed in place of accepted': (
        'verified',
        answered('completed'),
        'is completed, though all that was done is that action',
    ),
    'accepted, and rejected after all': (
        'rejected',
        answered('accepted', is_error=False),
        'got the result accepted, but its action',
    ),
    'rejected, and verified after all': (
        'verified',
        answered('rejected', is_error=True),
        'got the result rejected, but its action',
    ),
    'accepted without an action': (
        'precondition_changed',
        both(
            payload(RESULT, status='accepted', is_error=False),
            inside(RESULT, 'structured', status='accepted', action_id='f' * 32),
            payload(CHECK, ok=True),
            assume(True),
        ),
        f'is accepted, and names action {"f" * 32}, which is not its own',
    ),
    'accepted, naming no action': (
        'verified',
        inside(RESULT, 'structured', action_id=None),
        'is accepted, and names action None',
    ),
    'an error that is none': ('rejected', payload(RESULT, is_error=False), 'is_error says other'),
    'a status that is another one inside': (
        'verified',
        inside(RESULT, 'structured', status='completed'),
        "its structured status is 'completed'",
    ),
    'no message': (
        'verified',
        inside(RESULT, 'structured', message=None),
        'its structured message is None',
    ),
    'a report of success where it failed': (
        'canceled_by_a_call',
        reported(state='SUCCEEDED', reason='verified'),
        'says that the state of action',
    ),
    'a report of another reason': (
        'canceled_by_a_call',
        reported(state='FAILED', reason='preempted'),
        'says that the reason of action',
    ),
    'a report before the end': (
        'canceled_by_a_call',
        reported(state='FAILED', reason='canceled', early=True),
        'before its outcome was recorded',
    ),
    # -- no success without evidence --------------------------------------------------------------
    'success without evidence': (
        'verified', payload(OUTCOME, evidence={}), 'SUCCEEDED without evidence'
    ),
    'success away from the goal': (
        'verified',
        inside(OUTCOME, 'evidence', position_error_m=2.0),
        'position_error_m 2.0 over position_tolerance_m 0.35',
    ),
    'success turned away': (
        'verified', inside(OUTCOME, 'evidence', yaw_error_rad=1.0), 'yaw_error_rad 1.0 over'
    ),
    'success while moving': (
        'verified', inside(OUTCOME, 'evidence', at_rest=False), 'against it: at_rest false'
    ),
    'success of an aborted goal': (
        'verified',
        inside(OUTCOME, 'evidence', controller_status='ABORTED'),
        'against it: controller_status ABORTED',
    ),
    'success that no controller told': (
        'verified', without(tells_of_success), 'no record has the controller say so'
    ),
    'success on a snapshot of before the end': (
        'verified',
        verify_on_an_old_snapshot,
        'which is older than its end',
    ),
    'success on a snapshot of before the verification': (
        'verified',
        moved(SNAPSHOT, HEARD, place=-1),
        'was recorded between the beginning of its verification and its outcome',
    ),
    'success of another reason': (
        'verified', payload(OUTCOME, reason='aborted'), 'is SUCCEEDED for reason aborted'
    ),
    'an end for no reason': (
        'aborted', payload(OUTCOME, reason='tired'), 'ends for no known reason: tired'
    ),
    # -- write ahead ------------------------------------------------------------------------------
    'a goal that was sent before its start was on disk': (
        'verified',
        both(columns(HEARD, action_id=None), moved(HEARD, START)),
        'starts after the controller told of its goal',
    ),
    'a goal id that is none': (
        'verified',
        lambda rows: json.loads(json.dumps(rows).replace(goal_of(rows), 'goal-1')),
        'is no goal id of 32 hex digits',
    ),
    # -- stale decisions do not move the robot ----------------------------------------------------
    'a good check of bad assumptions': (
        'verified',
        assume(False),
        'is good, and 1 of its',
    ),
    'a bad check of good assumptions': (
        'verified',
        both(payload(CHECK, ok=False), without(lambda row: row['action_id'] is not None
             and row['type'] not in (RESULT,)), without(of(HEARD)),
             payload(RESULT, status='precondition_changed', is_error=True),
             inside(RESULT, 'structured', status='precondition_changed')),
        'is bad, and 0 of its',
    ),
    'a refusal without a failed check': (
        'nonsense',
        answered('precondition_changed'),
        'is precondition_changed, and no check is on record that failed',
    ),
    'a failed check that was ignored': (
        'precondition_changed',
        answered('unknown_tool'),
        'is unknown_tool, though its preconditions did not hold',
    ),
    'a check on a snapshot that nobody took': (
        'verified', payload(CHECK, fresh_snapshot_id='snapshot-99'), 'was checked on snapshot'
    ),
    'a check on a snapshot of before the call': (
        'verified',
        check_on_the_decision,
        'was not recorded between the call and the check',
    ),
    'a decision on a snapshot that nobody took': (
        'verified',
        payload(CHECK, decision_snapshot_id='snapshot-99'),
        'was decided on snapshot snapshot-99',
    ),
    # -- missions ---------------------------------------------------------------------------------
    'an achievement that nothing supports': (
        'verified_in_a_mission', payload(ENDED, claim_supported=False), 'that no outcome supports'
    ),
    'an achievement after a failure': (
        'verified_in_a_mission',
        FAILED,
        'is achieved, and the last of its actions to end is FAILED',
    ),
    'a model that was asked on nothing': (
        'verified_in_a_mission',
        columns(TURN, snapshot_id='snapshot-99'),
        'is asked on snapshot snapshot-99',
    ),
    'a model that was asked after the end': (
        'verified_in_a_mission',
        lambda rows: [*rows, next(row for row in rows if row['type'] == TURN)],
        'is asked for mission mission-1, which is not under way',
    ),
    'an answer to nobody': (
        'verified_in_a_mission',
        columns(ANSWER, turn_id='turn-9'),
        'answers in turn turn-9',
    ),
    # -- recovery ---------------------------------------------------------------------------------
    'a call that recovery did not interrupt': (
        'recovered_after_a_crash',
        payload('RECOVERY_PERFORMED', interrupted_calls=['call-99']),
        'recovery says that call call-99 was interrupted',
    ),
    'an action that recovery did not settle': (
        'recovered_after_a_crash',
        payload(
            'RECOVERY_PERFORMED',
            settled_actions=[{'action_id': 'f' * 32, 'state': 'FAILED', 'reason': 'aborted'}],
        ),
        'ended FAILED (aborted), which is not on record',
    ),
    'a mission that recovery did not end': (
        'recovered_after_a_crash',
        payload('RECOVERY_PERFORMED', ended_missions=['mission-9']),
        'recovery says that mission mission-9 was ended',
    ),
}  # fmt: skip


@pytest.mark.parametrize('name', CASES)
def test_each_promise_that_was_broken_with_a_mended_chain_is_named(
    name: str, tmp_path: Path
) -> None:
    run, edit, told = CASES[name]
    path = recorded(run, tmp_path)
    tamper(path, lambda rows: rows)
    assert check_journal(path, finished=False) == []
    tamper(path, edit)
    violations = check_journal(path, finished=False)
    assert [told in violation for violation in violations] == [True], violations
