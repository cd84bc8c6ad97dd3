# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Random missions with random failures: never a false success, never a broken invariant.

And the oracle itself: it must notice a verifier, and a check of preconditions, that does not work.
"""

from __future__ import annotations

from dataclasses import replace
import math
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.actions import followed, records, tracker, verification
from robot_agent_harness.actions.lifecycle import ActionState
from robot_agent_harness.actions.preconditions import PreconditionReport
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills import starter
from robot_agent_harness.testing.campaign import run_campaign, run_one
from robot_agent_harness.testing.campaign.__main__ import main
from robot_agent_harness.testing.campaign.faults import Fault, FOREVER, KINDS
from robot_agent_harness.testing.campaign.plan import draw_plan, Plan, Step
from robot_agent_harness.testing.campaign.robot import Habits

SHORT, LONG = 300, 10_000
MISSED_SHARE = 0.01
HABITS = Habits(
    localizer='periodic',
    speed_m_s=0.8,
    pose_noise_m=0.0,
    pose_bias=(0.0, 0.0),
    odometry_scale=1.0,
    variance_m2=0.01,
    battery=True,
    emergency_stop=True,
)
DOCS = Path(__file__).parents[1] / 'docs' / 'campaign.md'


def _plan(*faults: Fault, calls: tuple[float, ...] = (2.0,)) -> Plan:
    steps = tuple(Step(at, 'call', (2.0, 1.0, 0.5)) for at in calls)
    return Plan(1, HABITS, faults, steps)


def _has(seed: int, kind: str) -> bool:
    return any(fault.kind == kind for fault in draw_plan(seed).faults)


@pytest.mark.timeout(600)
def test_300_random_missions_have_no_false_success_and_no_broken_invariant() -> None:
    report = run_campaign(0, SHORT)
    print(report.table())
    assert report.ok, report.table()
    assert report.missed <= MISSED_SHARE * report.actions, report.table()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_10000_random_missions_have_no_false_success_and_no_broken_invariant() -> None:
    report = run_campaign(1_000_000, LONG)
    print(report.table())
    assert report.ok, report.table()
    assert report.missed <= MISSED_SHARE * report.actions, report.table()


def test_a_seed_gives_the_same_mission_each_time() -> None:
    assert [run_one(seed) for seed in range(5)] == [run_one(seed) for seed in range(5)]


def test_a_mission_without_faults_succeeds() -> None:
    verdict = run_one(1, plan=_plan())
    assert [action.state for action in verdict.actions] == ['SUCCEEDED']
    assert verdict.findings == ()


@pytest.mark.parametrize(
    ('fault', 'state', 'reason'),
    [
        ('false_success', 'FAILED', 'verification_disproved'),
        ('success_driving', 'FAILED', 'verification_disproved'),
        ('abort', 'FAILED', 'aborted'),
        ('preempt', 'FAILED', 'preempted'),
        ('cancel_by_other', 'FAILED', 'canceled'),
        ('reject', 'FAILED', 'rejected'),
        ('send_failed', 'FAILED', 'controller_lost'),
        ('never_ends', 'UNKNOWN', 'execution_timeout'),
        ('server_death', 'UNKNOWN', 'controller_lost'),
        ('blackout', 'UNKNOWN', 'execution_timeout'),
        ('pose_silent', 'UNKNOWN', 'verification_inconclusive'),
        ('result_of_other', 'SUCCEEDED', 'verified'),
        ('feedback_zero', 'SUCCEEDED', 'verified'),
        ('wall_clock', 'SUCCEEDED', 'verified'),
    ],
)
def test_one_fault_has_the_outcome_that_it_must_have(fault: str, state: str, reason: str) -> None:
    at_s = 1.0 if fault in ('reject', 'send_failed') else 3.0
    value = 3600.0 if fault == 'wall_clock' else 4.0 if fault == 'success_driving' else 0.0
    if fault == 'server_death':
        value = FOREVER
    verdict = run_one(1, plan=_plan(Fault(fault, at_s, FOREVER, value)))
    assert [(action.state, action.reason) for action in verdict.actions] == [(state, reason)]
    assert {finding.kind for finding in verdict.findings} <= {'undecidable'}, verdict.describe()


@pytest.mark.parametrize(
    'metres',
    [1.5, 3.0],
)
def test_a_localisation_that_jumped_on_the_way_is_no_success(metres: float) -> None:
    for seed in range(8):  # each in another direction
        plan = replace(_plan(Fault('pose_jump', 4.0, FOREVER, metres)), seed=seed)
        verdict = run_one(seed, plan=plan)
        assert verdict.ok, verdict.describe()


def test_a_robot_that_was_carried_away_unnoticed_counts_as_deception_not_as_false() -> None:
    plan = _plan(Fault('kidnap_unseen', 3.0, FOREVER, 3.0))
    verdict = run_one(1, plan=plan)
    assert [action.truly_there for action in verdict.actions] == [False]
    assert [finding.kind for finding in verdict.findings] == ['deceived']


def test_the_oracle_notices_a_verifier_that_ignores_its_tolerance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = verification.NavigationVerifier.judge

    def lenient(self: Any, *, now: Any, goal: Any, **rest: Any) -> verification.Judgement:
        pose = now.map_pose.value
        where = {**goal, 'x': pose.x, 'y': pose.y, 'yaw': pose.yaw}
        return judge(self, goal=where, now=now, **rest)

    monkeypatch.setattr(verification.NavigationVerifier, 'judge', lenient)
    verdict = run_one(1, plan=_plan(Fault('false_success', 3.0, FOREVER, 0.0)))
    assert [finding.kind for finding in verdict.findings] == ['false_success']
    lying = [seed for seed in range(1500) if _has(seed, 'false_success')]
    assert any(not run_one(seed).ok for seed in lying[:20])


def test_the_oracle_notices_a_verifier_that_looks_before_the_robot_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def blind(self: Any, **_: Any) -> verification.Judgement:
        return verification.Judgement(verification.Verdict.CONFIRMED, True, {'why': 'blind'})

    monkeypatch.setattr(verification.NavigationVerifier, 'judge', blind)
    verdict = run_one(1, plan=_plan(Fault('success_driving', 3.0, FOREVER, 4.0)))
    assert [finding.kind for finding in verdict.findings] == ['false_success']


@pytest.mark.parametrize(
    ('faults', 'calls', 'problem'),
    [
        ((Fault('emergency_stop', 0.0, FOREVER, 0.0),), (2.0,), 'the emergency stop was engaged'),
        ((Fault('odom_silent', 0.5, FOREVER, 0.0),), (2.0,), 'the odometry was'),
        ((Fault('pose_silent', 0.9, FOREVER, 0.0),), (4.0,), 'the localiser had evidently'),
        ((Fault('pose_nan', 0.5, FOREVER, 0.0),), (2.0,), 'no map pose could be believed'),
        ((Fault('battery', 0.0, FOREVER, 0.1),), (2.0,), 'the battery said 0.1'),
        ((Fault('foreign_goal', 1.0, FOREVER, 0.0),), (2.0,), 'foreign goal'),
        ((Fault('server_death', 1.0, FOREVER, FOREVER),), (2.0,), 'the controller was away'),
        ((), (2.0, 2.5), 'had no outcome yet'),
        ((), (2.0, 2.5), 'was running'),
    ],
)
def test_the_oracle_notices_a_precondition_check_that_checks_nothing(
    faults: tuple[Fault, ...],
    calls: tuple[float, ...],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    verdict = run_one(1, plan=_plan(*faults, calls=calls))
    assert any(problem in what for what in verdict.found('broken')), verdict.describe()


def test_the_oracle_notices_a_localiser_that_is_silent_while_the_robot_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = (Step(2.0, 'call', (0.0, 0.0, 2.5)), Step(12.0, 'call', (2.0, 1.0, 0.5)))
    silent = Fault('pose_silent', 2.2, FOREVER, 0.0)
    plan = Plan(1, replace(HABITS, localizer='amcl'), (silent,), steps)
    verdict = run_one(1, plan=plan)
    assert [finding.kind for finding in verdict.findings] == ['undecidable'], verdict.describe()
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    verdict = run_one(1, plan=plan)
    assert any('evidently stopped' in what for what in verdict.found('broken'))


def test_the_oracle_notices_a_start_on_a_variance_that_is_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = _plan(Fault('pose_variance', 0.0, FOREVER, math.nan))
    plan = replace(plan, habits=replace(HABITS, localizer='tf'))
    assert run_one(1, plan=plan).ok
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    verdict = run_one(1, plan=plan)
    assert any('the variance was nan' in what for what in verdict.found('broken'))


def test_the_oracle_takes_no_motion_that_odometry_missed_for_a_silent_localiser() -> None:
    plan = _plan(Fault('odom_silent', 3.0, 8.0, 0.0), calls=(2.0, 14.0))
    verdict = run_one(1, plan=replace(plan, habits=replace(HABITS, localizer='amcl')))
    assert len(verdict.actions) == 2
    assert verdict.ok, verdict.describe()


def test_the_oracle_notices_an_outcome_that_is_recorded_otherwise_than_it_was_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Locked until the harness was stopped and the controller had forgotten the goal: lost.
    lost = run_one(1, plan=_plan(Fault('journal_lock', 5.0, FOREVER, 14.0)))
    assert [(action.state, action.reason) for action in lost.actions] == [
        ('UNKNOWN', 'interrupted')
    ]
    assert lost.findings == (), lost.describe()

    def otherwise(action: Any, outcome: Any) -> Any:
        return records.outcome_record(action, replace(outcome, state=ActionState.UNKNOWN))

    monkeypatch.setattr(followed, 'outcome_record', otherwise)
    verdict = run_one(1, plan=_plan())
    assert any('announced as SUCCEEDED' in what for what in verdict.found('broken'))


def test_the_oracle_notices_a_verifier_that_never_confirms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def doubtful(self: Any, **_: Any) -> verification.Judgement:
        return verification.Judgement(verification.Verdict.INCONCLUSIVE, False, {'why': 'doubt'})

    monkeypatch.setattr(verification.NavigationVerifier, 'judge', doubtful)
    verdict = run_one(1, plan=_plan())
    assert [finding.kind for finding in verdict.findings] == ['missed']


@pytest.mark.parametrize(
    ('fault', 'why'),
    [
        (Fault('pose_silent', 3.0, FOREVER, 0.0), 'the localiser had evidently stopped'),
        (Fault('pose_jump', 2.05, FOREVER, 0.3), 'the localisation jumped'),
        (Fault('odom_silent', 3.0, FOREVER, 0.0), 'scatter too much'),
    ],
)
def test_an_arrival_of_which_too_little_was_told_is_undecidable_and_not_missed(
    fault: Fault, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubtful(self: Any, **_: Any) -> verification.Judgement:
        return verification.Judgement(verification.Verdict.INCONCLUSIVE, False, {'why': 'doubt'})

    monkeypatch.setattr(verification.NavigationVerifier, 'judge', doubtful)
    noise_m = 0.02 if fault.kind == 'odom_silent' else 0.0
    habits = replace(HABITS, pose_noise_m=noise_m)
    plan = replace(_plan(fault), habits=habits)
    verdict = run_one(1, plan=plan)
    assert [finding.kind for finding in verdict.findings] == ['undecidable'], verdict.describe()
    assert why in verdict.found('undecidable')[0]


def _restarted(*faults: Fault, at_s: float) -> Plan:
    """Return a plan whose harness is stopped for two seconds, and called after that."""
    call = Step(at_s, 'call', (2.0, 1.0, 0.5))
    return Plan(1, HABITS, faults, (Step(2.0, 'shutdown'), call))


@pytest.mark.parametrize(('seconds', 'found'), [(1.0, False), (FOREVER, True)])
def test_the_oracle_judges_a_run_by_the_controller_that_it_found_when_it_began(
    seconds: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    verdict = run_one(1, plan=_restarted(Fault('server_death', 1.7, FOREVER, seconds), at_s=5.5))
    away = any('the controller was away' in what for what in verdict.found('broken'))
    assert away is found, verdict.describe()


@pytest.mark.parametrize(
    ('faults', 'problem'),
    [
        ((Fault('foreign_goal', 1.9, 2.5, 0.0),), 'foreign goal'),
        ((Fault('battery', 0.0, 3.0, 0.1),), 'the battery said'),
    ],
)
def test_the_oracle_notices_a_run_that_takes_silence_for_an_answer_when_it_begins(
    faults: tuple[Fault, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What only the stopped run was told: the new one must wait for what is latched, ...
    unheard = Fault('status_lost', 2.5, FOREVER, 0.0)
    plan = _restarted(*faults, unheard, at_s=4.05)
    assert not run_one(1, plan=plan).found('broken')  # ... but cannot know what was lost.

    async def hasty(*_: Any) -> None:
        pass

    monkeypatch.setattr(starter.ActionStarter, 'first_heard', hasty)
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    verdict = run_one(1, plan=plan)
    assert any(problem in what for what in verdict.found('broken')), verdict.describe()


def test_the_oracle_notices_a_tracker_that_is_deaf_to_a_goal_that_was_refused_and_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = (Fault('reject_but_run', 0.0, FOREVER, 0.0), Fault('status_lost', 0.0, FOREVER, 0.0))
    unheard = Fault('feedback_lost', 0.0, FOREVER, 0.0)
    calls = (2.0, 3.0)
    assert not run_one(1, plan=_plan(*faults, calls=calls)).found('broken')
    monkeypatch.setattr(tracker.RobotActionTracker, '_on_late', lambda *_: None)
    deaf = run_one(1, plan=_plan(*faults, calls=calls))
    assert any('was running' in what for what in deaf.found('broken')), deaf.describe()
    # With feedback lost as well there was nothing to hear.
    assert not run_one(1, plan=_plan(*faults, unheard, calls=calls)).found('broken')


def test_parameters_of_a_users_configuration_are_tried() -> None:
    verdict = run_one(1, plan=_plan(), parameters={'navigation.execution_timeout_s': 1.0})
    assert [action.reason for action in verdict.actions] == ['execution_timeout']
    with pytest.raises(ConfigurationError, match='no.such'):
        run_one(1, parameters={'no.such': 1})


def test_the_command_prints_a_table_and_tells_of_one_seed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(['--seed', '0', '--missions', '2']) == 0
    assert 'FALSE SUCCESSES' in capsys.readouterr().out
    assert main(['--only', '1']) == 0
    assert capsys.readouterr().out.startswith('seed 1: faults: ')
    monkeypatch.setattr(
        'robot_agent_harness.testing.campaign.running.draw_plan',
        lambda seed: replace(_plan(Fault('emergency_stop', 0.0, FOREVER, 0.0)), seed=seed),
    )
    monkeypatch.setattr(starter, 'validate', lambda *_, **__: PreconditionReport(()))
    assert main(['--seed', '7', '--missions', '1']) == 1
    assert 'FAILED seed 7: broken: ' in capsys.readouterr().out


def test_a_campaign_that_is_interrupted_says_what_came_of_the_missions_so_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seed: int) -> Plan:
        if seed == 2:
            raise KeyboardInterrupt
        return draw_plan(seed)

    monkeypatch.setattr('robot_agent_harness.testing.campaign.running.draw_plan', interrupted)
    monkeypatch.setattr('robot_agent_harness.testing.campaign.__main__.PROGRESS_S', 0.0)
    assert main(['--missions', '300']) == 130
    told = capsys.readouterr()
    assert told.out.split('\n')[0].split() == ['missions', '2', '(seeds', '0', 'to', '1)']
    assert told.err == '1 of 300 missions, 0 failed\n2 of 300 missions, 0 failed\n'


def test_every_kind_of_fault_is_documented_and_drawn() -> None:
    text = DOCS.read_text()
    assert [kind for kind in KINDS if f'`{kind}`' not in text] == []
    drawn = {fault.kind for seed in range(3000) for fault in draw_plan(seed).faults}
    assert drawn == set(KINDS)
