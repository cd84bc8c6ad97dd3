# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a real Nav2 sent, judged as a person would judge it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from recording_player import LAX_SKILLS, LOOPBACK_SKILLS, RecordingPlayer

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.virtual_time import run_virtual


def _play(
    name: str, journal: Path, *, own: tuple[int, ...] = (0,), skills: str = LOOPBACK_SKILLS
) -> tuple[list[str], list[dict[str, Any]]]:
    player = RecordingPlayer(name, own, journal, skills)
    results = run_virtual(player.play())
    with JournalReader(journal) as reader:
        outcomes = [e.payload for e in reader.events() if e.type == 'ROBOT_ACTION_OUTCOME']
    assert check_journal(journal) == []
    return [result.status.value for result in results], outcomes


@pytest.mark.parametrize(
    ('name', 'state', 'reason'),
    [
        ('success', 'SUCCEEDED', 'verified'),
        ('already_there', 'SUCCEEDED', 'verified'),
        ('abort_outside_map', 'FAILED', 'aborted'),
        ('abort_occupied', 'FAILED', 'aborted'),
        ('abort_bad_frame', 'FAILED', 'aborted'),
        ('abort_bad_bt', 'FAILED', 'aborted'),
        ('cancel', 'FAILED', 'canceled'),
        ('cancel_immediately', 'FAILED', 'canceled'),
        ('preempt', 'FAILED', 'preempted'),
        ('preempt_with_bad', 'FAILED', 'preempted'),
        ('preempt_then_cancel_old', 'FAILED', 'preempted'),
        ('false_success_preempt_bad_frame', 'FAILED', 'preempted'),
        ('deactivate_while_running', 'FAILED', 'aborted'),
    ],
)
def test_a_recorded_goal_ends_as_a_person_would_say(
    name: str, state: str, reason: str, tmp_path: Path
) -> None:
    statuses, outcomes = _play(name, tmp_path / 'journal.db')
    assert statuses[0] == 'accepted'
    assert [(o['state'], o['reason']) for o in outcomes] == [(state, reason)]


def test_an_abort_keeps_the_controllers_code_and_text(tmp_path: Path) -> None:
    _, (outcome,) = _play('abort_outside_map', tmp_path / 'journal.db')
    assert outcome['evidence']['result']['error_code'] == 204


def test_an_inactive_server_rejects_and_takes_the_next_goal_when_it_is_active_again(
    tmp_path: Path,
) -> None:
    statuses, outcomes = _play('inactive', tmp_path / 'journal.db', own=(0, 1))
    assert statuses == ['rejected', 'accepted']
    assert [(o['state'], o['reason']) for o in outcomes] == [
        ('FAILED', 'rejected'),
        ('SUCCEEDED', 'verified'),
    ]


def test_without_a_pose_nothing_is_sent(tmp_path: Path) -> None:
    statuses, outcomes = _play('false_success_tf_dead', tmp_path / 'journal.db')
    assert (statuses[0], outcomes) == ('precondition_changed', [])


def test_success_that_no_pose_confirms_stays_unknown(tmp_path: Path) -> None:
    journal = tmp_path / 'journal.db'
    statuses, (outcome,) = _play('false_success_tf_dead', journal, skills=LAX_SKILLS)
    assert statuses[0] == 'accepted'
    assert (outcome['state'], outcome['reason']) == ('UNKNOWN', 'verification_inconclusive')


def test_success_at_the_goal_of_the_preempted_one_is_disproved(tmp_path: Path) -> None:
    journal = tmp_path / 'journal.db'
    _, (outcome,) = _play('false_success_preempt_bad_frame', journal, own=(1,), skills=LAX_SKILLS)
    assert (outcome['state'], outcome['reason']) == ('FAILED', 'verification_disproved')
    assert outcome['evidence']['result']['error_code'] == 9002


def test_the_states_of_a_success_come_in_the_order_of_the_lifecycle(tmp_path: Path) -> None:
    journal = tmp_path / 'journal.db'
    _play('success', journal)
    with JournalReader(journal) as reader:
        states = [
            e.payload['state']
            for e in reader.events()
            if e.type in ('ROBOT_ACTION_STARTED', 'ROBOT_ACTION_PROGRESS', 'ROBOT_ACTION_OUTCOME')
        ]
    in_order = [s for n, s in enumerate(states) if n == 0 or s != states[n - 1]]
    assert in_order == ['REQUESTED', 'ACCEPTED', 'RUNNING', 'VERIFYING', 'SUCCEEDED']


def test_feedback_at_a_hundred_hertz_is_journalled_once_a_second(tmp_path: Path) -> None:
    journal = tmp_path / 'journal.db'
    _play('success', journal)
    with JournalReader(journal) as reader:
        running = [
            e.wall_time_ns
            for e in reader.events()
            if e.type == 'ROBOT_ACTION_PROGRESS' and e.payload['state'] == 'RUNNING'
        ]
    gaps = [(b - a) / 1e9 for a, b in pairwise(running)]
    assert len(running) > 3
    assert min(gaps) > 0.99
