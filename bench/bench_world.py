# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the world model costs: taking odometry in, taking a snapshot, rendering it for the model.

Times are CPU time of the thread, which other work on the machine hardly touches. The references
are the package's own limits: a snapshot with its projection in 300 us at the 99th percentile and
in 2048 bytes, odometry at 200 Hz in 15 us (0.3 % of a core).
"""

from __future__ import annotations

from statistics import median
import time
from typing import Any

from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.world import (
    ActionSummary,
    ActiveGoal,
    ArtifactRef,
    Availability,
    BatteryReading,
    MapPose,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Sample,
    SnapshotConfig,
    WorldSnapshotBuilder,
)
from robot_agent_harness.world.projection import project

LIMIT_ODOMETRY_US = 15.0
LIMIT_SNAPSHOT_US = 300.0
LIMIT_BYTES = 2048
ODOMETRY_MESSAGES = 20_000
ODOMETRY_HZ = 200
SNAPSHOTS = 5_000

GOAL = {'x': 1.0, 'y': 2.0, 'yaw': 0.5, 'frame_id': 'map'}
NAVIGATION = Observed(
    value=Navigation(
        True,
        (ActiveGoal('a' * 32, 'own', 'EXECUTING'), ActiveGoal('b' * 32, 'foreign', 'EXECUTING')),
        3.21,
        1,
    ),
    source='navigate_to_pose',
    source_stamp_ns=None,
    age_s=0.012,
    availability=Availability.AVAILABLE,
)
PARTS: dict[str, Any] = {
    'navigation': NAVIGATION,
    'active_action': ActionSummary('a' * 32, 'navigate_to_pose', 'RUNNING', GOAL, 3.21),
    'recent_outcome': OutcomeSummary(
        'c' * 32, 'navigate_to_place', 'SUCCEEDED', 'verified', {'name': 'kitchen', **GOAL}
    ),
    'artifacts': (
        ArtifactRef(f'file:///home/robot/.ros/artifacts/{"d" * 64}', 'image/jpeg', 9, 'd' * 64),
    ),
}


def run() -> list[dict[str, Any]]:
    """Return one row a figure: the value, its limit and their ratio (below 1 is within)."""
    clock = FakeClock()
    builder = WorldSnapshotBuilder(
        clock=clock, ids=SequentialIds(), robot_id='robot1', config=SnapshotConfig()
    )
    odometry_us = _time_odometry(builder, clock)
    builder.observe_battery(Sample.now(BatteryReading(0.8, 12.3, False), clock.ros_ns(), clock))
    builder.observe_emergency_stop(Sample.now(False, None, clock))
    capture_us, both_us, size = _time_snapshots(builder)
    return [
        _row('odometry, p50 us', median(odometry_us), LIMIT_ODOMETRY_US),
        _row('odometry, p99 us', _p99(odometry_us), LIMIT_ODOMETRY_US),
        _row('capture, p50 us', median(capture_us), LIMIT_SNAPSHOT_US),
        _row('capture + projection, p50 us', median(both_us), LIMIT_SNAPSHOT_US),
        _row('capture + projection, p99 us', _p99(both_us), LIMIT_SNAPSHOT_US),
        _row('full snapshot, bytes', size, LIMIT_BYTES),
    ]


def _time_odometry(builder: WorldSnapshotBuilder, clock: FakeClock) -> list[float]:
    """Drive along a line with a pose from the localiser every 0.25 m."""
    times = []
    for step in range(ODOMETRY_MESSAGES):
        clock.advance(1 / ODOMETRY_HZ)
        x = 0.5 * step / ODOMETRY_HZ
        odometry = Odometry(x, 0.0, 0.0, 'odom', 0.5, 0.0)
        sample = Sample.now(odometry, clock.ros_ns() - 2_000_000, clock)
        if step % 100 == 0:
            pose = MapPose(x, 0.0, 0.0, 'map', 0.01, 0.01)
            late = Sample.now(pose, clock.ros_ns() - 100_000_000, clock)
            builder.observe_map_pose(late, source='amcl_pose')
        begun = time.thread_time_ns()
        builder.observe_odometry(sample)
        times.append((time.thread_time_ns() - begun) / 1e3)
    return times


def _time_snapshots(builder: WorldSnapshotBuilder) -> tuple[list[float], list[float], int]:
    capture_us, both_us, size = [], [], 0
    for _ in range(SNAPSHOTS):
        begun = time.thread_time_ns()
        snapshot = builder.capture(**PARTS)
        captured = time.thread_time_ns()
        projection = project(snapshot, max_bytes=LIMIT_BYTES)
        both_us.append((time.thread_time_ns() - begun) / 1e3)
        capture_us.append((captured - begun) / 1e3)
        size = len(projection.text.encode())
        if projection.omitted:
            raise AssertionError(f'a full snapshot does not fit: {projection.omitted}')
    return capture_us, both_us, size


def _p99(values: list[float]) -> float:
    return sorted(values)[len(values) * 99 // 100]


def _row(figure: str, value: float, reference: float) -> dict[str, Any]:
    return {
        'figure': f'world: {figure}',
        'value': round(value, 2),
        'reference': reference,
        'ratio': round(value / reference, 3),
    }


if __name__ == '__main__':
    for row in run():
        print(f'{row["figure"]:40} {row["value"]:10} {row["reference"]:10} {row["ratio"]:8}')
