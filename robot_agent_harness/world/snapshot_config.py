# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How to read the robot's topics into a snapshot: limits and habits that differ between robots."""

from __future__ import annotations

from dataclasses import dataclass, field
import math

from robot_agent_harness.errors import ConfigurationError

STAMPED_FIELDS = frozenset({'map_pose', 'odometry', 'battery'})


@dataclass(frozen=True, slots=True)
class StaleAfter:
    """Age in seconds beyond which each field is stale."""

    map_pose: float = 1.0
    odometry: float = 1.0
    battery: float = 30.0
    safety: float = math.inf
    """Infinite by default: the topic is latched and speaks only on a change."""


@dataclass(frozen=True, slots=True)
class SnapshotConfig:
    """How to read the robot's topics."""

    global_frame: str = 'map'
    """The frame that map poses must be in; a leading slash is ignored."""
    stale_after_s: StaleAfter = field(default_factory=StaleAfter)
    battery_percentage_scale: float = 1.0
    """What BatteryState.percentage reads when full: 1.0, as the message says, or 100.0."""
    accept_unstamped: frozenset[str] = frozenset()
    """Fields for which reception stands in for a stamp of zero: map_pose, odometry, battery."""
    use_sim_time: bool = False
    """ROS time is simulated: it may run at any speed, and only going back is a clock jump."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant.

        :raises ConfigurationError: names the parameter.
        """
        if self.battery_percentage_scale not in (1.0, 100.0):
            raise ConfigurationError(
                f'battery.percentage_scale is {self.battery_percentage_scale:g}; '
                'it must be 1.0 or 100.0'
            )
        for name in ('map_pose', 'odometry', 'battery', 'safety'):
            limit = getattr(self.stale_after_s, name)
            if not limit > 0.0:
                raise ConfigurationError(f'snapshot.stale_after_s.{name} must be positive')
        unknown = self.accept_unstamped - STAMPED_FIELDS
        if unknown:
            raise ConfigurationError(
                f'snapshot.accept_unstamped names {", ".join(sorted(unknown))}; '
                f'it may name {", ".join(sorted(STAMPED_FIELDS))}'
            )
