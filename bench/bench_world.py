# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the world model costs: taking odometry in, taking a snapshot, rendering it for the model,
and checking a decision's assumptions on it.

Times are CPU time of the thread, which other work on the machine hardly touches. There is nothing
bare to compare with: the limits are the package's own.
"""

from __future__ import annotations

from collections.abc import Callable
import gc
from statistics import median
import time
from typing import Any

from rows import Limit, quantile, Row, row, Say

from robot_agent_harness.actions.preconditions import ActionGate, PreconditionPolicy, validate
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
    WorldSnapshot,
    WorldSnapshotBuilder,
)
from robot_agent_harness.world.projection import project

ODOMETRY_US = Limit('value', 15.0)
"""At 200 Hz, 0.3 % of a core."""
SNAPSHOT_US = Limit('value', 300.0)
SNAPSHOT_BYTES = Limit('value', 2048.0)
CHECKS_US = Limit('value', 200.0)
"""The checks alone, of a snapshot that was taken."""
REPEATS, QUICK_REPEATS = 7, 3
ODOMETRY_MESSAGES, SNAPSHOTS = 4000, 1000
"""In each repeat."""
ODOMETRY_HZ = 200

GOAL = {'x': 1.0, 'y': 2.0, 'yaw': 0.5, 'frame_id': 'map'}
IDLE = Observed(
    value=Navigation(True, (), None, None),
    source='navigate_to_pose',
    source_stamp_ns=None,
    age_s=0.012,
    availability=Availability.AVAILABLE,
)
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


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    clock = FakeClock()
    builder = WorldSnapshotBuilder(
        clock=clock, ids=SequentialIds(), robot_id='robot1', config=SnapshotConfig()
    )
    repeats = QUICK_REPEATS if quick else REPEATS
    odometry = [_odometry_us(builder, clock) for _ in range(repeats)]
    builder.observe_battery(Sample.now(BatteryReading(0.8, 12.3, False), clock.ros_ns(), clock))
    builder.observe_emergency_stop(Sample.now(False, None, clock))
    gc.collect()
    gc.freeze()  # as the node does once it has started
    capture = [_times_us(lambda: builder.capture(**PARTS)) for _ in range(repeats)]
    both = [_times_us(lambda: _projected(builder.capture(**PARTS))) for _ in range(repeats)]
    decision, fresh = (builder.capture(navigation=IDLE) for _ in range(2))
    checks = [_times_us(lambda: _checked(decision, fresh)) for _ in range(repeats)]
    size = len(_projected(builder.capture(**PARTS)).encode())
    say(f'snapshot and projection: {median(_p99(both)):.0f} us, {size} bytes')
    return [
        row('world: odometry, p50', 'us', _p50(odometry), limit=ODOMETRY_US),
        row('world: odometry, p99', 'us', _p99(odometry)),
        row('world: snapshot capture, p50', 'us', _p50(capture)),
        row('world: snapshot capture + projection, p50', 'us', _p50(both)),
        row(
            'world: snapshot capture + projection, processor time, p99',
            'us',
            _p99(both),
            limit=SNAPSHOT_US,
        ),
        row('world: full snapshot as projected', 'bytes', [float(size)], limit=SNAPSHOT_BYTES),
        row('world: all preconditions, p50', 'us', _p50(checks)),
        row('world: all preconditions, processor time, p99', 'us', _p99(checks), limit=CHECKS_US),
    ]


def _odometry_us(builder: WorldSnapshotBuilder, clock: FakeClock) -> list[float]:
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


def _times_us(act: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(SNAPSHOTS):
        begun = time.thread_time_ns()
        act()
        times.append((time.thread_time_ns() - begun) / 1e3)
    return times


def _projected(snapshot: WorldSnapshot) -> str:
    projection = project(snapshot, max_bytes=int(SNAPSHOT_BYTES.at_most))
    if projection.omitted:
        raise AssertionError(f'a full snapshot does not fit: {projection.omitted}')
    return projection.text


def _checked(decision: WorldSnapshot, fresh: WorldSnapshot) -> None:
    report = validate(
        PreconditionPolicy(),
        decision=decision,
        fresh=fresh,
        gate=ActionGate(),
        target_at_decision=GOAL,
        target_now=GOAL,
    )
    if not report.ok:
        raise AssertionError(f'not all hold: {report.failed}')


def _p50(repeats: list[list[float]]) -> list[float]:
    return [median(times) for times in repeats]


def _p99(repeats: list[list[float]]) -> list[float]:
    return [quantile(times, 0.99) for times in repeats]


if __name__ == '__main__':
    for made in run():
        print(made)
