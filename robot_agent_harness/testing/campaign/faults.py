# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in one mission, drawn from its seed: faults with a beginning, an end and a size.

The names below are the vocabulary; `docs/campaign.md` tells what each does. Robot, controller and
machine ask for the faults that are theirs, at the virtual time at which they act.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math
import random

FOREVER = math.inf

POSE_FAULTS = {
    'pose_silent': (0.0,),
    'pose_frozen': (0.0,),
    'pose_jump': (0.3, 0.8, 1.5, 3.0),
    'pose_lag': (0.2, 0.6, 1.5),
    'pose_lag_hidden': (0.3, 1.0, 2.0),
    'pose_zero_stamp': (0.0,),
    'pose_future': (0.5, 5.0),
    'pose_nan': (0.0,),
    'pose_frame': (0.0,),
    'pose_variance': (0.3, 2.0, math.nan),
    'pose_noise': (0.05, 0.15, 0.4),
    'pose_onto_goal': (0.0,),
}
ODOMETRY_FAULTS = {
    'odom_silent': (0.0,),
    'odom_frozen': (0.0,),
    'odom_zero_twist': (0.0,),
    'odom_lag': (0.3, 1.5),
    'odom_zero_stamp': (0.0,),
    'odom_future': (0.5, 5.0),
    'odom_nan': (0.0,),
    'odom_reset': (0.0,),
}
BODY_FAULTS = {
    'slip': (0.0, 1.0),
    'kidnap_seen': (0.3, 1.0, 3.0),
    'kidnap_unseen': (0.3, 1.0, 3.0),
    'push': (0.2, 0.6),
    'emergency_stop': (0.0,),
    'battery': (0.1, 85.0, math.nan),
}
WIRE_FAULTS = {
    f'{endpoint}_{what}': values
    for endpoint in ('response', 'feedback', 'status', 'result', 'cancel')
    for what, values in (('lost', (0.0,)), ('late', (0.3, 2.0, 7.0)), ('twice', (0.0, 0.5, 3.0)))
}
CONTROLLER_FAULTS = {
    'reject': (0.0,),
    'reject_but_run': (0.0,),
    'send_failed': (0.0,),
    'feedback_early': (0.0,),
    'feedback_zero': (0.0,),
    'feedback_jump': (0.0,),
    'feedback_flood': (0.0,),
    'feedback_nan': (0.0,),
    'result_status': (0.0, 7.0, 1.0, -1.0, 3.0),
    'result_error_code': (103.0,),
    'result_empty': (0.0,),
    'result_of_other': (0.0,),
    'status_false_success': (0.0,),
    'false_success': (0.0,),
    'success_driving': (1.0, 4.0, 12.0),
    'run_on': (0.5, 2.0, 12.0),
    'abort': (-1.0, 0.0, 105.0),
    'abort_there': (-1.0, 0.0),
    'never_ends': (0.0,),
    'cancel_by_other': (0.0,),
    'cancel_refused': (0.0,),
    'preempt': (0.0, 1.0),
    'foreign_goal': (0.0,),
    'server_death': (0.5, 5.0, FOREVER),
    'server_blink': (0.5, 2.0),
    'server_zombie': (2.0, 10.0),
}
MACHINE_FAULTS = {
    'blackout': (0.0,),
    'journal_lock': (0.1, 0.6, 3.0, 10.0),
    'ros_clock': (-3600.0, -5.0, -0.5, 0.5, 5.0, 3600.0),
    'wall_clock': (-3600.0, 3600.0),
}
GROUPS = (
    POSE_FAULTS,
    ODOMETRY_FAULTS,
    BODY_FAULTS,
    WIRE_FAULTS,
    CONTROLLER_FAULTS,
    CONTROLLER_FAULTS,
    MACHINE_FAULTS,
)
"""A fault's group is drawn first; the controller's counts twice, being the longest."""
KINDS = tuple(sorted({kind for group in GROUPS for kind in group}))
DURATIONS_S = (0.3, 1.0, 3.0, 10.0, FOREVER)
LATEST_START_S = 14.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    kind: str
    start_s: float
    """Virtual seconds since the mission began."""
    end_s: float
    value: float
    """Its size; the unit depends on the kind: metres, seconds, a status, a share."""

    def __str__(self) -> str:
        """Return the fault as a reader of a failing seed wants it."""
        end = '' if math.isinf(self.end_s) else f'-{self.end_s:.1f}'
        size = f'({self.value:g})' if self.value else ''
        return f'{self.kind}{size}@{self.start_s:.1f}{end}s'


class Faults:
    """The faults of a mission, by kind."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._by_kind: dict[str, list[Fault]] = {}
        self._used: set[Fault] = set()
        for fault in faults:
            self._by_kind.setdefault(fault.kind, []).append(fault)

    def at(self, kind: str, now: float) -> Fault | None:
        """Return the fault of this kind that is on now."""
        for fault in self._by_kind.get(kind, ()):
            if fault.start_s <= now < fault.end_s:
                return fault
        return None

    def once(self, kind: str, now: float) -> Fault | None:
        """Return a fault that is on now and has not been returned before."""
        for fault in self._by_kind.get(kind, ()):
            if fault not in self._used and fault.start_s <= now < fault.end_s:
                self._used.add(fault)
                return fault
        return None


def draw_faults(rng: random.Random) -> tuple[Fault, ...]:
    """Draw none to four faults."""
    number = rng.choices((0, 1, 2, 3, 4), weights=(15, 35, 25, 15, 10))[0]
    return tuple(_draw(rng) for _ in range(number))


def _draw(rng: random.Random) -> Fault:
    group = rng.choice(GROUPS)
    kind = rng.choice(sorted(group))
    start = rng.choice((0.0, rng.uniform(0.0, LATEST_START_S), rng.uniform(2.0, 8.0)))
    return Fault(kind, start, start + rng.choice(DURATIONS_S), rng.choice(group[kind]))
