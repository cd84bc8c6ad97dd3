# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Failures that real users met, each as a sequence of what server, world and machine did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from case_runner import CASES, expected_statuses, play
import pytest

from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.virtual_time import run_virtual

NOT_HERE = {'follow_waypoints': 'the package has no follow_waypoints skill'}


def _variants() -> list[Any]:
    return [
        pytest.param(variant, case['kind'], id=f'{case["id"]}-{variant["name"]}')
        for case in CASES
        for variant in case['variants']
    ]


@pytest.mark.parametrize(('variant', 'kind'), _variants())
def test_a_known_failure_is_told_truthfully(
    variant: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    for _, _, what in variant['steps']:
        if what.get('call') in NOT_HERE:
            pytest.skip(NOT_HERE[what['call']])
    expect = variant['expect']

    played = run_virtual(play(variant, tmp_path / 'journal.db', kind))

    statuses = [result.status.value for result in played.results]
    assert len(statuses) == len(expect['results'])
    for status, label in zip(statuses, expect['results'], strict=True):
        assert status in expected_statuses(label), played.results
    sent = expect['goals_sent']
    assert played.goals_sent in (sent if isinstance(sent, list) else [sent])
    if 'outcome' in expect:
        allowed = expect['outcome'] or [None]
        states = [outcome['state'] for outcome in played.outcomes] or [None]
        assert all(state in allowed for state in states), played.outcomes
    if 'decided_between_s' in expect:
        low, high = expect['decided_between_s']
        assert all(low <= decided <= high for decided in played.decided_s)
    paths = expect.get('state_path_allowed') or [expect.get('state_path')]
    assert paths == [None] or played.state_paths[0] in paths
    assert check_journal(played.journal) == []
