# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a reader should know first, each in one sentence, the checks and evidence in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from robot_agent_harness.report.story import Action, Call, Check, Story
from robot_agent_harness.report.values import (
    brief,
    counted,
    mapping,
    metres,
    number,
    plain,
    point,
    seconds,
    text,
    worded,
)

EACH_MAX = 10
"""Findings of one kind that are told one by one; the tables have the others."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence; `kind` is good, bad, unsure, stopped or note."""

    kind: str
    told: str


@dataclass(frozen=True, slots=True)
class Measured:
    """A check in words."""

    label: str
    ok: bool
    value: str
    limit: str
    detail: str | None


_CHECKS: dict[str, tuple[str, str, str]] = {
    # name: what it is, its unit, how its limit is meant
    'decision_snapshot_known': ('Decision’s snapshot known', '', 'must be'),
    'pose_age': ('Age of the map pose', 's', 'at most'),
    'odometry_age': ('Age of the odometry', 's', 'at most'),
    'pose_drift': ('Moved since the decision', 'm', 'at most'),
    'heading_drift': ('Turned since the decision', 'rad', 'at most'),
    'position_variance': ('Position variance', 'm²', 'at most'),
    'emergency_stop_clear': ('Emergency stop clear', '', 'must be'),
    'battery': ('Battery', '', 'at least'),
    'controller_reachable': ('Controller reachable', '', 'must be'),
    'no_foreign_goal': ('Goals of somebody else', '', 'must be'),
    'no_unfinished_action': ('Unfinished action of ours', '', 'must be'),
    'controller_idle': ('Goals the controller still runs', '', 'must be'),
    'last_action_settled': ('Last action settled', '', 'must be'),
    'target_unchanged': ('Target unchanged since the decision', '', 'must be'),
}


def measured(check: Check) -> Measured:
    """Return a check in words; one of a name unknown here keeps that name."""
    label, unit, meant = _CHECKS.get(check.name, (check.name, '', 'limit'))
    if check.name == 'target_unchanged' and check.ok:
        return Measured(label, True, _place(check.measured), '', None)
    space = f' {unit}' if unit else ''
    return Measured(
        label=label,
        ok=check.ok,
        value=plain(check.measured) + (space if isinstance(check.measured, (int, float)) else ''),
        limit=f'{meant} {plain(check.limit)}{space}',
        detail=check.detail,
    )


def _place(value: Any) -> str:
    where = point(value) if isinstance(value, dict) else None
    return f'({where[0]:.2f}, {where[1]:.2f})' if where else plain(value)


def evidence_lines(action: Action) -> Iterator[tuple[str, str]]:
    """Yield what was said and what was seen, each with its name."""
    evidence = action.evidence
    status = text(evidence, 'controller_status')
    if status:
        source = text(evidence, 'controller_status_source') or 'unknown source'
        yield 'Controller said', f'{status} ({source.replace("_", " ")})'
    result = mapping(evidence, 'result')
    if result.get('error_code') or text(result, 'error_msg'):
        yield 'Error', f'{result.get("error_code")} {text(result, "error_msg") or ""}'.strip()
    seen = mapping(evidence, 'observed_pose')
    if (where := point(seen)) is not None:
        yield 'Robot seen at', f'({where[0]:.2f}, {where[1]:.2f})'
    if action.error_m is not None:
        limit = '' if action.tolerance_m is None else f', tolerance {metres(action.tolerance_m)}'
        yield 'From the goal', f'{metres(action.error_m)}{limit}'
    yaw, yaw_limit = number(evidence, 'yaw_error_rad'), number(evidence, 'yaw_tolerance_rad')
    if yaw is not None:
        limit = '' if yaw_limit is None else f', tolerance {yaw_limit:.2f} rad'
        yield 'Turned off by', f'{yaw:.2f} rad{limit}'
    if isinstance(evidence.get('at_rest'), bool):
        source = (text(evidence, 'rest_evidence') or 'unknown').replace('_', ' ')
        yield 'At rest', f'{plain(evidence["at_rest"])} (by {source})'
    age = number(evidence, 'pose_age_s')
    if age is not None:
        yield 'Age of that pose', seconds(age)


def findings(story: Story) -> Iterator[Finding]:
    """Yield what matters, the mission's outcome first."""
    yield from _about_claim(story)
    verified = story.ended('SUCCEEDED')
    if verified:
        errors = [a.error_m for a in verified if a.error_m is not None]
        most = 'at most ' if len(errors) > 1 else ''
        worst = f', {most}{metres(max(errors))} from the goal' if errors else ''
        yield Finding(
            'good',
            f'{counted(len(verified), "action")} verified: the controller reported success, and'
            f' the robot was then seen there{worst}.',
        )
    false_claims = story.false_claims
    yield from _few([_false_claim(action) for action in false_claims])
    yield from _few([_stopped(call) for call in story.stopped])
    caught = {action.number for action in false_claims}
    ended = (_ended(action) for action in story.actions if action.number not in caught)
    yield from _few([finding for finding in ended if finding is not None])
    if not story.actions and not story.stopped:
        yield Finding('note', 'No goal was sent to the robot.')


def _few(found: list[Finding]) -> Iterator[Finding]:
    """Yield the newest of one kind, after how many there were before."""
    before = len(found) - EACH_MAX
    if before > 0:
        yield Finding('note', f'{counted(before, "more finding")} like the next one, earlier on.')
    yield from found[-EACH_MAX:]


def _false_claim(action: Action) -> Finding:
    away = '' if action.error_m is None else f' {metres(action.error_m)} away from the goal'
    return Finding(
        'bad',
        f'False success caught: the controller reported that action {action.number}'
        f' ({action.title}) had succeeded; the robot was seen{away}.',
    )


def _stopped(call: Call) -> Finding:
    told = '; '.join(
        f'{brief(m.label).lower()} {brief(m.value)} ({brief(m.limit)})'
        for m in map(measured, call.failed_checks)
    )
    return Finding(
        'stopped',
        f'{brief(call.name)} was stopped before anything was sent to the robot: {told}.',
    )


def _ended(action: Action) -> Finding | None:
    """Return how it ended where that was no success."""
    named = f'action {action.number} ({action.title})'
    if action.state == 'FAILED':
        return Finding('bad', f'A{named[1:]} failed: {_why(action)}.')
    if action.state == 'UNKNOWN':
        return Finding('unsure', f'How {named} ended is not known: {_why(action)}.')
    if action.ended_s is None:
        state = brief(action.state)
        return Finding('unsure', f'No end of {named} is recorded; it was {state}.')
    return None


def _why(action: Action) -> str:
    return worded(action.reason) if action.reason else 'no reason is recorded'


def _about_claim(story: Story) -> Iterator[Finding]:
    if story.claim is None:
        return
    claim = worded(story.claim)
    if story.claim_supported is True:
        yield Finding('good', f'The model claims “{claim}”, and verified outcomes support it.')
    elif story.claim_supported is False:
        yield Finding('bad', f'The model claims “{claim}”; verified outcomes do not support it.')
    else:
        yield Finding('unsure', f'The model claims “{claim}”; nothing verified speaks for it.')
