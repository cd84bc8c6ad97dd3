# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""From a received message to an `Observed`: how old it is, and whether it may be believed.

A sample's age is what it was at reception (ROS time received minus stamp) plus the steady time
since then. The ROS clock is not asked again, so that its jumps cannot make an old sample young.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
import math
from operator import attrgetter
from typing import Any, Generic, TypeVar

from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.world.clock_watch import ClockJump
from robot_agent_harness.world.snapshot import Availability, Observed

T = TypeVar('T')
U = TypeVar('U')

FUTURE_TOLERANCE_NS = 100_000_000
"""A stamp may lie this far ahead of the receiver's ROS time: two machines never quite agree."""


@dataclass(frozen=True, slots=True)
class Sample(Generic[T]):
    """One received message, converted, with the times that its age is computed from."""

    value: T
    stamp_ns: int | None
    """ROS time of the measurement; 0: the source wrote none; None: the type has no stamp."""
    received_monotonic_ns: int
    """Steady time of reception."""
    received_ros_ns: int
    """ROS time of reception."""

    @classmethod
    def now(cls, value: T, stamp_ns: int | None, clock: Clock) -> Sample[T]:
        """Return a sample that is received at this moment."""
        return cls(value, stamp_ns, clock.monotonic_ns(), clock.ros_ns())

    def with_value(self, value: U) -> Sample[U]:
        """Return another value that was measured and received together with this one."""
        return Sample(value, self.stamp_ns, self.received_monotonic_ns, self.received_ros_ns)

    @property
    def time_ns(self) -> int:
        """ROS time of the measurement as well as it is known: the stamp, else the reception."""
        return self.stamp_ns or self.received_ros_ns

    @property
    def is_in_future(self) -> bool:
        """Whether the stamp lies so far ahead of the reception that it cannot be believed."""
        return self.time_ns - self.received_ros_ns > FUTURE_TOLERANCE_NS

    def age_ns(self, now_ns: int) -> int:
        """Return nanoseconds since the measurement at the steady time `now_ns`, not negative."""
        before_reception = self.received_ros_ns - self.time_ns
        # Each part on its own: a stamp slightly ahead must not make a later moment look fresh.
        return max(0, before_reception) + max(0, now_ns - self.received_monotonic_ns)


def all_finite(value: Any) -> bool:
    """Return whether neither the value nor a field of it, if a dataclass, is NaN or infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    for item in _fields_of(value.__class__)(value):
        if isinstance(item, float) and not math.isfinite(item):
            return False
    return True


@cache
def _fields_of(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the fields out of a dataclass; of anything else it takes none."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


@dataclass(frozen=True, slots=True)
class FieldRules:
    """What makes a sample of one snapshot field available, stale, missing or invalid."""

    field: str
    """Name of the field in `WorldSnapshot`."""
    source: str
    """The topic or transform that it comes from, as people know it."""
    stale_after_s: float
    """Seconds; an older sample is stale; infinite for a latched source."""
    accept_unstamped: bool = False
    """Whether reception stands in for a stamp of zero."""

    def observed(
        self,
        sample: Sample[T] | None,
        *,
        now_ns: int,
        jump: ClockJump | None,
        defect: str | None = None,
    ) -> Observed[T]:
        """Judge the newest sample.

        :param now_ns: steady time of the capture.
        :param jump: the newest jump of the ROS clock, if any.
        :param defect: what the caller found wrong with the value itself, if anything.
        """
        if sample is None:
            return Observed(
                value=None,
                source=self.source,
                source_stamp_ns=None,
                age_s=None,
                availability=Availability.MISSING,
                reason=f'never received on {self.source}',
            )
        age_s = sample.age_ns(now_ns) / NS_PER_S
        value: T | None = sample.value
        reason = self._disbelief(sample, jump)
        availability = Availability.INVALID
        if not all_finite(value):
            value, reason = None, defect or 'it holds a number that is not finite'
        elif defect is not None:
            reason = defect
        elif reason is None and age_s > self.stale_after_s:
            availability, reason = Availability.STALE, self._staleness(sample, age_s)
        elif reason is None:
            availability = Availability.AVAILABLE
        return Observed(
            value=value,
            source=self.source,
            source_stamp_ns=sample.stamp_ns or None,
            age_s=age_s,
            availability=availability,
            reason=reason,
        )

    def _disbelief(self, sample: Sample[T], jump: ClockJump | None) -> str | None:
        """Return why the sample's time cannot be believed, or None."""
        if sample.stamp_ns is None:
            return None  # its age never rested on the ROS clock, so a jump does not touch it
        if jump and jump.follows(sample.received_monotonic_ns, sample.received_ros_ns):
            return f'clock jump: ROS time stepped by {jump.step_s:+.1f} s after it was received'
        if sample.stamp_ns == 0 and self.accept_unstamped:
            return None
        if sample.received_ros_ns == 0:
            # The stamp is not to blame: everything looks unstamped, or from the future.
            return 'ROS time stood at 0 when it was received: use_sim_time is set, and no /clock'
        if sample.stamp_ns == 0:
            return (
                'the source does not stamp its messages (stamp is 0), so their age is unknown; '
                f'mend the driver, or name {self.field} in snapshot.accept_unstamped'
            )
        if sample.is_in_future:
            ahead_s = (sample.stamp_ns - sample.received_ros_ns) / NS_PER_S
            return (
                f'stamped {ahead_s:.1f} s in the future: '
                'compare the clocks of the machines, and use_sim_time'
            )
        return None

    def _staleness(self, sample: Sample[T], age_s: float) -> str:
        text = f'{age_s:.1f} s old, limit {self.stale_after_s:g} s'
        at_reception_s = sample.age_ns(sample.received_monotonic_ns) / NS_PER_S
        if at_reception_s > self.stale_after_s:
            text += f'; it was {at_reception_s:.1f} s old on arrival'
        return text
