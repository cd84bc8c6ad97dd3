# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What one mission is: the robot, the faults, and what its clients do; all drawn from the seed."""

from __future__ import annotations

from dataclasses import dataclass
import random
from typing import Literal

from robot_agent_harness.testing.campaign.faults import draw_faults, Fault
from robot_agent_harness.testing.campaign.robot import Habits

SETTLE_S = 1.5
"""The robot's topics have been heard for this long before anybody calls."""

StepKind = Literal['call', 'mission', 'cancel', 'look', 'nonsense', 'shutdown', 'crash']


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a client, or the operator of the machine, does."""

    at_s: float
    kind: StepKind
    goal: tuple[float, float, float] = (0.0, 0.0, 0.0)
    decided_before_s: float = 0.0
    """How old the snapshot is that the decision names; 0: it names none."""
    gives_up_s: float | None = None
    """After how long the caller disconnects."""
    twice_s: float | None = None
    """After how long a second client makes the same call."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One mission."""

    seed: int
    habits: Habits
    faults: tuple[Fault, ...]
    steps: tuple[Step, ...]


def draw_plan(seed: int) -> Plan:
    """Draw the mission of a seed; the same seed gives the same mission."""
    rng = random.Random(seed)
    habits = Habits.draw(rng)
    faults = draw_faults(rng)
    steps: list[Step] = []
    at = SETTLE_S + rng.uniform(0.0, 2.0)
    for number in range(rng.choices((1, 2, 3), weights=(50, 35, 15))[0]):
        steps += _action(rng, at, mission=number == 0 and rng.random() < 0.12)
        at += rng.choice((rng.uniform(0.0, 1.0), rng.uniform(2.0, 14.0), rng.uniform(8.0, 20.0)))
    if rng.random() < 0.12:
        kind: StepKind = rng.choice(('shutdown', 'crash'))
        steps.append(Step(rng.uniform(SETTLE_S, at), kind))
    return Plan(seed, habits, faults, tuple(sorted(steps, key=lambda step: step.at_s)))


def _action(rng: random.Random, at: float, *, mission: bool) -> list[Step]:
    goal = (
        round(rng.uniform(-3.0, 3.0), 2),
        round(rng.uniform(-3.0, 3.0), 2),
        round(rng.uniform(-3.14, 3.14), 2),
    )
    if rng.random() < 0.1:
        goal = (round(rng.uniform(-0.2, 0.2), 2), 0.0, 0.0)
    if mission:
        return [Step(at, 'mission', goal)]
    steps = [
        Step(
            at,
            'call',
            goal,
            decided_before_s=rng.choice((0.0, 0.0, rng.uniform(0.1, 1.4))),
            gives_up_s=rng.uniform(0.0, 0.3) if rng.random() < 0.1 else None,
            twice_s=rng.choice((0.0, 0.005, 1.0)) if rng.random() < 0.1 else None,
        )
    ]
    if rng.random() < 0.1:
        steps.append(Step(at + rng.uniform(0.5, 6.0), 'cancel'))
    if rng.random() < 0.1:
        steps.append(Step(at + rng.uniform(0.0, 6.0), rng.choice(('look', 'nonsense'))))
    return steps
