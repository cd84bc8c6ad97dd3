# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened when, as bars whose places are percentages of the mission's time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
import math

from robot_agent_harness.report.map_chart import nice_step
from robot_agent_harness.report.story import Action, Fact, Look, Story
from robot_agent_harness.report.values import brief, seconds, worded

LEAST_PERCENT = 0.5
"""A bar or mark that is shorter could not be seen."""
TIME_LINES = 6
_UNDER_WAY = ('REQUESTED', 'ACCEPTED', 'RUNNING', 'VERIFYING')
_ENDS = ('SUCCEEDED', 'FAILED')


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in one state."""

    kind: str
    left: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment."""

    kind: str
    left: float
    label: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One row: an action, or the model."""

    title: str
    state: str
    bars: list[Bar]
    marks: list[Mark]


@dataclass(frozen=True, slots=True)
class Stay:
    """One state of one action, as a row of a table."""

    title: str
    state: str
    at_s: float
    lasted_s: float | None
    """None for the last one, which lasts."""


@dataclass(frozen=True, slots=True)
class TimeChart:
    """Every row, the scale under them, and the same as a table."""

    lanes: list[Lane]
    ticks: list[Mark]
    stays: list[Stay]


def draw_time(story: Story) -> TimeChart | None:
    """Lay the mission out in time; None where it took none."""
    total = story.duration_s
    if total <= 0.0 or not math.isfinite(total):
        return None
    lanes = [lane for lane in (_model(story, total),) if lane.bars or lane.marks]
    lanes += [_action(action, story, total) for action in story.shown_actions]
    if story.looks:
        marks = [Mark('look', _percent(look.at_s, total), _known(look)) for look in story.looks]
        lanes.append(Lane('Snapshots', '', [], marks))
    if story.salient:
        marks = [
            Mark(
                'salient',
                _percent(s.at_s, total),
                f'{worded(s.kind)} at {seconds(s.at_s)}: {s.message}',
            )
            for s in story.shown_salient
        ]
        lanes.append(Lane('Salient events', '', [], marks))
    step = nice_step(total, TIME_LINES)
    ticks = [
        Mark('tick', _percent(index * step, total), _at(index * step, step))
        for index in range(math.floor(total / step) + 1)
    ]
    return TimeChart(lanes, ticks, list(_rows(story)))


def _at(time_s: float, step_s: float) -> str:
    """Return the label of a time line, as fine as they are apart."""
    if not time_s:
        return '0 s'
    return seconds(time_s) if step_s >= 0.01 else f'{time_s * 1000:.4g} ms'


def _known(look: Look) -> str:
    """Say how well things were known, in one line."""
    told = (f'{fact.name.replace("_", " ")} {known(fact)}' for fact in look.facts)
    return f'{look.reason.replace("_", " ")} at {seconds(look.at_s)}: {", ".join(told)}'


def known(fact: Fact) -> str:
    """Say how old a fact was, or why there was none."""
    if fact.age_s is None:
        return brief(fact.availability)
    age = seconds(max(0.0, fact.age_s))
    return age if fact.availability == 'available' else f'{brief(fact.availability)}, {age}'


def _model(story: Story, total: float) -> Lane:
    bars = [
        _bar('THINKING', turn.at_s, turn.answered_s, total, f'step {turn.step}: the model decides')
        for turn in story.turns
        if turn.answered_s is not None
    ]
    marks = [
        Mark(
            'refused',
            _percent(call.checked_at_s or call.at_s, total),
            f'{brief(call.name)} refused before it moved the robot:'
            f' {", ".join(brief(check.name) for check in call.failed_checks)}',
        )
        for call in story.stopped
    ]
    return Lane('Model' if story.mission_id is not None else 'Calls', '', bars, marks)


def _action(action: Action, story: Story, total: float) -> Lane:
    return Lane(
        title=f'{action.number}. {action.title}',
        state=action.state,
        bars=list(_states(action, story, total)),
        marks=[Mark(_kind(action.state, _ENDS), _percent(action.ended_s, total), _ended(action))]
        if action.ended_s is not None
        else [],
    )


def _kind(state: str, known_: tuple[str, ...]) -> str:
    """Return how a state looks; a record may have any."""
    return state if state in known_ else 'UNKNOWN'


def _ended(action: Action) -> str:
    return f'{brief(action.state)}: {worded(action.reason or "no reason is recorded")}'


def _states(action: Action, story: Story, total: float) -> Iterator[Bar]:
    for index, (state, since) in enumerate(action.states):
        if action.ended_s is not None and index == len(action.states) - 1:
            return
        until = action.states[index + 1][1] if index + 1 < len(action.states) else story.duration_s
        lasted = seconds(max(0.0, until - since))
        yield _bar(_kind(state, _UNDER_WAY), since, until, total, f'{brief(state)} for {lasted}')


def _rows(story: Story) -> Iterator[Stay]:
    for action in story.shown_actions:
        ends = [since for _, since in action.states[1:]]
        for (state, since), end in zip_longest(action.states, ends):
            lasted = None if end is None else max(0.0, end - since)
            yield Stay(f'{action.number}. {action.title}', state, since, lasted)


def _bar(kind: str, since: float, until: float, total: float, label: str) -> Bar:
    left = _percent(since, total)
    return Bar(kind, left, max(LEAST_PERCENT, _percent(until, total) - left), label)


def _percent(at: float, total: float) -> float:
    return min(100.0, max(0.0, 100.0 * at / total))
