# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with the simulated robot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _fault(default: bool | float, low: float, high: float, description: str) -> Any:
    return field(default=default, metadata={'description': description, 'low': low, 'high': high})


@dataclass(slots=True)
class Faults:
    """What goes wrong: one field for each parameter `fault.<field>`, all off by default.

    A field's metadata holds its description and range; seconds are node time, lengths are in m.
    """

    reject_goals: bool = _fault(False, 0, 0, 'Reject every new goal')
    abort_after_s: float = _fault(
        0.0, 0, 3600, 'Abort a goal so many seconds after its acceptance; 0 = off'
    )
    false_success: bool = _fault(
        False,
        0,
        0,
        'Stop about half way, at least 0.8 m short where the trip allows, and report success',
    )
    skip_waypoints: bool = _fault(
        False, 0, 0, 'Drive straight to the last pose of a tour, and report all as passed'
    )
    no_charge: bool = _fault(False, 0, 0, 'The dock gives no current')
    battery_mute: bool = _fault(
        False, 0, 0, 'Leave open in the battery state whether the battery charges'
    )
    drop_result: bool = _fault(
        False,
        0,
        0,
        'When a goal is over, stop and send neither status nor result; a cancel still ends it',
    )
    accept_delay_s: float = _fault(0.0, 0, 60, 'Answer goal requests so many seconds late')
    freeze_odom: bool = _fault(False, 0, 0, 'Publish no odometry')
    freeze_localization: bool = _fault(False, 0, 0, 'Publish no map pose')
    localization_jump_m: float = _fault(
        0.0, -10, 10, 'Shift the published map pose along the map x axis by so many metres'
    )
    drop_feedback: bool = _fault(False, 0, 0, 'Publish no feedback')
    battery_fraction: float = _fault(
        -1.0, -1, 1, 'Report this charge, 0 to 1; negative = the true one'
    )
    crash_after_s: float = _fault(
        0.0, 0, 3600, 'Die so many seconds after this was set, without a word; 0 = off'
    )
    emergency_stop: bool = _fault(
        False, 0, 0, 'Hold the robot still; a running goal makes no progress'
    )
    push_x_m: float = _fault(
        0.0, -5, 5, 'Shove the robot along the map x axis, once each time this is set'
    )
