# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot knows at one moment, with how well it knows it.

A `WorldSnapshot` is immutable. Each of its facts is an `Observed`: a value together with where it
came from, how old it is and whether it may be believed. A fact that is absent is an `Observed`
whose availability says so; there are no default values to mistake for measurements (DESIGN section
3). Units are SI, angles are radians, frames follow REP 105.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

T = TypeVar('T')


class Availability(str, Enum):
    """How far a fact may be relied on."""

    AVAILABLE = 'available'
    STALE = 'stale'
    MISSING = 'missing'
    INVALID = 'invalid'


@dataclass(frozen=True, slots=True)
class Observed(Generic[T]):
    """A value, and what is known about its origin."""

    value: T | None
    """The newest value, also when it is stale or invalid; None if there never was a readable
    one."""
    source: str
    """The topic, transform or component it comes from."""
    source_stamp_ns: int | None
    """ROS time that the source wrote on it; None if the message type or the source has no
    stamp."""
    age_s: float | None
    """Seconds since it was measured, on the steady clock; None if it was never received."""
    availability: Availability
    reason: str | None = None
    """Why it is not available; None when it is."""

    @property
    def usable(self) -> T | None:
        """The value if it may be relied on, else None."""
        return self.value if self.availability is Availability.AVAILABLE else None


@dataclass(frozen=True, slots=True)
class Driven:
    """What the wheels have done so far, each step in the direction that the map gave it: what a
    heading that drifts does to odometry over a long way is not in it.
    """

    x: float = 0.0
    """Metres along the global frame's axes; only differences mean something."""
    y: float = 0.0
    length_m: float = 0.0
    """Of the way."""
    gaps: int = 0
    """How often steps could not be followed: odometry started anew, or the map was unknown."""


@dataclass(frozen=True, slots=True)
class MapPose:
    """Where the base frame is in the global frame."""

    x: float
    y: float
    yaw: float
    """Radians, counter-clockwise, in (-pi, pi]."""
    frame_id: str
    position_variance_m2: float | None
    """The larger of the two position variances; None where the source gives no covariance
    (tf2)."""
    yaw_variance_rad2: float | None
    jumps: int = 0
    """How often the localisation has jumped so far, against what odometry showed."""
    driven: Driven | None = None
    """None where odometry was never heard."""


@dataclass(frozen=True, slots=True)
class Odometry:
    """Where dead reckoning puts the base, and how fast it moves."""

    x: float
    y: float
    yaw: float
    frame_id: str
    linear_m_s: float
    """Speed over ground in the base frame, not negative."""
    angular_rad_s: float
    """Yaw rate, counter-clockwise."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Whether the robot stands still, and what says so."""

    at_rest: bool
    linear_m_s: float
    angular_rad_s: float
    evidence: str
    """`odometry` (a fresh twist) or `pose_window` (the pose over a window, where odometry is
    silent)."""


@dataclass(frozen=True, slots=True)
class ActiveGoal:
    """A goal that the controller has not finished."""

    goal_id: str
    owner: str
    """`own` (this harness sent it) or `foreign`."""
    status: str
    """The action_msgs/GoalStatus name: ACCEPTED, EXECUTING or CANCELING."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """What the navigation controller is doing, read from its action interface."""

    controller_reachable: bool
    active_goals: tuple[ActiveGoal, ...]
    distance_remaining_m: float | None
    """From the newest feedback of an own running goal; no evidence of arrival (DESIGN section
    6)."""
    recoveries: int | None


@dataclass(frozen=True, slots=True)
class Battery:
    """State of charge."""

    fraction: float
    """0 to 1."""
    charging: bool | None
    voltage_v: float | None


@dataclass(frozen=True, slots=True)
class Safety:
    """What the robot's own safety layer reports; the harness only reads it."""

    emergency_stop: bool


@dataclass(frozen=True, slots=True)
class Journey:
    """What the robot has done since the action under way began, measured all the way."""

    turned_rad: float | None
    """How far odometry turned, counter-clockwise, full turns included; None where it was not
    heard all the time."""
    passed: int
    """How many of the places to come by it has come by, in their order."""
    closest_m: float | None
    """How near it came to the next of them; None without one."""
    gap_m: float
    """The longest way between two poses, in metres."""


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """The physical action that is under way."""

    action_id: str
    skill: str
    state: str
    goal: dict[str, Any]
    age_s: float
    """Seconds since it was requested."""


@dataclass(frozen=True, slots=True)
class OutcomeSummary:
    """How the newest action of the same mission ended."""

    action_id: str
    skill: str
    state: str
    reason: str
    goal: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An image, point cloud or map that is kept elsewhere; never inline."""

    uri: str
    media_type: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class WorldSnapshot:
    """Everything that is known at one moment; immutable, identified, bounded."""

    snapshot_id: str
    robot_id: str
    captured_monotonic_ns: int
    captured_wall_ns: int
    captured_ros_ns: int
    map_pose: Observed[MapPose]
    odometry: Observed[Odometry]
    motion: Observed[Motion]
    navigation: Observed[Navigation]
    battery: Observed[Battery]
    safety: Observed[Safety]
    active_action: ActionSummary | None = None
    recent_outcome: OutcomeSummary | None = None
    artifacts: tuple[ArtifactRef, ...] = ()
    journey: Journey | None = None
    """Only while an action is under way whose verifier needs it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the snapshot as JSON-ready values; numbers are finite by construction."""
        return dict(_PLAIN.dump_python(self, mode='json', fallback=repr, warnings=False))


_PLAIN = TypeAdapter(WorldSnapshot)
"""A snapshot has a hundred values, and each action records several: made once, the serialiser
takes a sixth of the time that walking them takes."""
