# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Notice that the ROS clock jumped: after that, stamps from before it mean nothing.

ROS time restarts with a simulation, and steps with the system time of a robot that has no battery
for its clock. The steady clock does neither, so the two are compared at every reading.
"""

from __future__ import annotations

from dataclasses import dataclass

BACKWARD_TOLERANCE_NS = 100_000_000
"""ROS time may seem to run back this much between two threads' readings."""
STEP_TOLERANCE_NS = 1_000_000_000
"""ROS time may drift this much from steady time between two readings; slewing stays far below."""


@dataclass(frozen=True, slots=True)
class ClockJump:
    """One jump of the ROS clock."""

    detected_monotonic_ns: int
    """Steady time of the reading that showed it; whatever was received before is from before."""
    from_ros_ns: int
    """The last reading before it."""
    to_ros_ns: int
    """The first reading after it."""
    step_s: float
    """Seconds that ROS time gained (negative: lost) against steady time."""

    def follows(self, monotonic_ns: int, ros_ns: int) -> bool:
        """Return whether the clocks were read before the jump.

        Of two readings at the same steady time, ROS time tells which is which.
        """
        if monotonic_ns == self.detected_monotonic_ns:
            return ros_ns != self.to_ros_ns
        return monotonic_ns < self.detected_monotonic_ns


class ClockWatch:
    """Compare each reading of the ROS clock with the one before.

    Two threads may call `check`: each only replaces immutable values. At worst both see the same
    jump, which then is detected twice.

    :param use_sim_time: ROS time is simulated and may run at any speed; only going back is a jump.
    """

    def __init__(self, *, use_sim_time: bool) -> None:
        self._simulated = use_sim_time
        self._last: tuple[int, int] | None = None
        self.jump: ClockJump | None = None
        """The newest jump, if there ever was one."""

    def check(self, monotonic_ns: int, ros_ns: int) -> ClockJump | None:
        """Return the jump that this reading reveals, or None."""
        last = self._last
        jump = None
        if last is not None:
            steady = monotonic_ns - last[0]
            if steady < 0:  # the other thread read the clocks later and was quicker to come here
                return None
            passed = ros_ns - last[1]
            gained = passed - steady
            if passed < -BACKWARD_TOLERANCE_NS or (
                not self._simulated and abs(gained) > STEP_TOLERANCE_NS
            ):
                jump = ClockJump(monotonic_ns, last[1], ros_ns, gained / 1e9)
                self.jump = jump
        self._last = (monotonic_ns, ros_ns)
        return jump
