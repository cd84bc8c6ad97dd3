# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot knows: snapshots of the world, how they are built, and how a model reads them."""

from robot_agent_harness.world.builder import Anomaly, BatteryReading, WorldSnapshotBuilder
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import (
    ActionSummary,
    ActiveGoal,
    ArtifactRef,
    Availability,
    Battery,
    MapPose,
    Motion,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Safety,
    WorldSnapshot,
)
from robot_agent_harness.world.snapshot_config import SnapshotConfig, StaleAfter
from robot_agent_harness.world.store import SnapshotStore
from robot_agent_harness.world.world_model import HistoryEntry, WorldModel, WorldState

__all__ = [
    'ActionSummary',
    'ActiveGoal',
    'Anomaly',
    'ArtifactRef',
    'Availability',
    'Battery',
    'BatteryReading',
    'HistoryEntry',
    'MapPose',
    'Motion',
    'Navigation',
    'Observed',
    'Odometry',
    'OutcomeSummary',
    'Safety',
    'Sample',
    'SnapshotConfig',
    'SnapshotStore',
    'StaleAfter',
    'WorldModel',
    'WorldSnapshot',
    'WorldSnapshotBuilder',
    'WorldState',
]
