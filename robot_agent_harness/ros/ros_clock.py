# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The core's clock on a robot: ROS time is the node's, simulated where `use_sim_time` says so."""

from __future__ import annotations

import time

from rclpy.clock import Clock


class RosClock:
    """Steady and wall time of this machine, ROS time of a node; usable from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def monotonic_ns(self) -> int:
        """Return `time.monotonic_ns()`: simulated time may stand still, a wait may not."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Return `time.time_ns()`."""
        return time.time_ns()

    def ros_ns(self) -> int:
        """Return the node's ROS time in nanoseconds; 0 before the first /clock."""
        return int(self._clock.now().nanoseconds)
