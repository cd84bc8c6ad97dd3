# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot whose messages a test writes, and the builder that hears them."""

from __future__ import annotations

from typing import Any

from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.world import (
    Availability,
    BatteryReading,
    MapPose,
    Navigation,
    Observed,
    Odometry,
    Sample,
    SnapshotConfig,
    WorldSnapshot,
    WorldSnapshotBuilder,
)

NAVIGATION = Observed(
    value=Navigation(True, (), None, None),
    source='navigate_to_pose',
    source_stamp_ns=None,
    age_s=0.0,
    availability=Availability.AVAILABLE,
)
STAMP_NOW = -1


class WorldRig:
    """Feeds a `WorldSnapshotBuilder` and takes snapshots, on a clock that the test moves."""

    def __init__(self, **config: Any) -> None:
        self.clock = FakeClock()
        self.builder = WorldSnapshotBuilder(
            clock=self.clock,
            ids=SequentialIds(),
            robot_id='robot1',
            config=SnapshotConfig(**config),
        )

    def sample(self, value: Any, *, late_s: float = 0.0, stamp: int | None = STAMP_NOW) -> Any:
        """Return a sample received now, measured `late_s` ago unless a stamp is given."""
        if stamp == STAMP_NOW:
            stamp = self.clock.ros_ns() - round(late_s * 1e9)
        return Sample.now(value, stamp, self.clock)

    def odom(
        self,
        x: float = 0.0,
        y: float = 0.0,
        yaw: float = 0.0,
        *,
        v: float = 0.0,
        w: float = 0.0,
        frame: str = 'odom',
        **times: Any,
    ) -> None:
        """Publish odometry."""
        value = Odometry(x, y, yaw, frame, v, w)
        self.builder.observe_odometry(self.sample(value, **times))

    def pose(
        self,
        x: float = 0.0,
        y: float = 0.0,
        yaw: float = 0.0,
        *,
        source: str = 'amcl_pose',
        frame: str = 'map',
        variance: float | None = 0.01,
        **times: Any,
    ) -> None:
        """Publish a map pose."""
        value = MapPose(x, y, yaw, frame, variance, variance)
        self.builder.observe_map_pose(self.sample(value, **times), source=source)

    def battery(self, percentage: float, **times: Any) -> None:
        """Publish a battery reading."""
        self.builder.observe_battery(self.sample(BatteryReading(percentage), **times))

    def emergency_stop(self, stopped: bool) -> None:
        """Publish the emergency stop's state."""
        self.builder.observe_emergency_stop(self.sample(stopped, stamp=None))

    def run(
        self, seconds: float, *, step_s: float = 0.05, odom: Any = None, pose: Any = None
    ) -> None:
        """Let time pass; `odom` and `pose` publish at each step, given the seconds so far."""
        for step in range(1, round(seconds / step_s) + 1):
            self.clock.advance(step_s)
            if odom is not None:
                odom(step * step_s)
            if pose is not None:
                pose(step * step_s)

    def stand(self, seconds: float = 1.0, *, periodic_pose: bool = False) -> None:
        """Stand still where odometry and map agree on (0, 0)."""
        self.run(
            seconds,
            odom=lambda _: self.odom(),
            pose=(lambda _: self.pose()) if periodic_pose else None,
        )

    def drive(self, metres: float, *, start_m: float = 0.0, speed: float = 0.5) -> None:
        """Drive along x at constant speed, with odometry alone."""
        self.run(metres / speed, odom=lambda t: self.odom(start_m + speed * t, v=speed))

    def capture(self, **parts: Any) -> WorldSnapshot:
        """Take a snapshot."""
        return self.builder.capture(**{'navigation': NAVIGATION, **parts})

    def anomalies(self) -> list[str]:
        """Return the kinds of the anomalies since the last call."""
        return [anomaly.kind for anomaly in self.builder.take_anomalies()]
