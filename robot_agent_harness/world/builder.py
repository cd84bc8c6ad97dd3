# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""WorldSnapshotBuilder: keeps the newest sample of each source and makes snapshots of them.

Thread rule: one foreign thread (rclpy's) may call `observe_*` while the loop calls the rest.
Nothing is locked: that thread only replaces immutable values, and appends to a bounded deque.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
import math
from typing import Any

from robot_agent_harness.clock import Clock, IdSource
from robot_agent_harness.jsonable import finite_number
from robot_agent_harness.world.battery_scale import BatteryScale
from robot_agent_harness.world.clock_watch import ClockJump, ClockWatch
from robot_agent_harness.world.journey import JourneyTrack, Way
from robot_agent_harness.world.localization import Localizer
from robot_agent_harness.world.motion import judge_motion, Pace, PoseWindow
from robot_agent_harness.world.samples import FieldRules, Sample
from robot_agent_harness.world.snapshot import (
    ActionSummary,
    ArtifactRef,
    Battery,
    MapPose,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Safety,
    WorldSnapshot,
)
from robot_agent_harness.world.snapshot_config import SnapshotConfig

MAX_PENDING_ANOMALIES = 32
"""Anomalies that nobody takes are dropped, oldest first."""


@dataclass(frozen=True, slots=True)
class BatteryReading:
    """A battery message as it came."""

    percentage: float
    """As published: of the configured scale, NaN where unmeasured."""
    voltage: float | None = None
    """Volts; NaN where unmeasured."""
    charging: bool | None = None


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something that the model, or an operator, should hear of at once."""

    kind: str
    """`localization_jump` or `clock_jump`."""
    message: str
    details: dict[str, Any]
    """JSON-ready numbers that the message rests on."""


class WorldSnapshotBuilder:
    """Turns the newest samples into immutable snapshots."""

    def __init__(
        self, *, clock: Clock, ids: IdSource, robot_id: str, config: SnapshotConfig
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._robot_id = robot_id
        self._scale = config.battery_percentage_scale
        self._odometry_rules = _rules(config, 'odometry', 'odom')
        self._battery_rules = _rules(config, 'battery', 'battery_state')
        self._safety_rules = _rules(config, 'safety', 'emergency_stop')
        self._localizer = Localizer(
            amcl_rules=_rules(config, 'map_pose', 'amcl_pose'),
            tf_rules=_rules(config, 'map_pose', 'tf'),
            odometry_rules=self._odometry_rules,
            global_frame=config.global_frame.lstrip('/'),
            report=self._report,
        )
        self._window = PoseWindow()
        self._pace = Pace()
        self._watch = ClockWatch(use_sim_time=config.use_sim_time)
        self._forgotten: ClockJump | None = None
        self._odometry: Sample[Odometry] | None = None
        self._battery: Sample[BatteryReading] | None = None
        self._battery_scale = BatteryScale(self._scale)
        self._safety: Sample[bool] | None = None
        self._journey: JourneyTrack | None = None
        self._anomalies: deque[Anomaly] = deque(maxlen=MAX_PENDING_ANOMALIES)
        self._messages = 0
        """How many have been taken in; counted last, so that whoever knows the number has seen
        them."""

    def observe_odometry(self, sample: Sample[Odometry]) -> None:
        """Take the newest odometry in."""
        self._receive(sample)
        self._odometry = sample
        self._pace.add(sample)
        self._localizer.observe_odometry(sample)
        if (journey := self._journey) is not None:
            journey.odometry(sample)
        self._messages += 1

    def observe_map_pose(self, sample: Sample[MapPose], *, source: str) -> None:
        """Take a map pose in.

        :param source: `tf` (used as it is) or `amcl_pose` (carried forward by odometry).
        """
        self._receive(sample)
        localizer = self._localizer
        observe = localizer.observe_transform if source == 'tf' else localizer.observe_pose
        if observe(sample) and localizer.source_rules.source == source:
            self._window.add(sample)
            if (journey := self._journey) is not None:
                journey.pose(sample.value)
        self._messages += 1

    def observe_battery(self, sample: Sample[BatteryReading]) -> None:
        """Take the newest battery reading in."""
        self._receive(sample)
        self._battery = sample
        self._battery_scale.take(sample.value.percentage, sample.received_monotonic_ns)
        self._messages += 1

    def observe_emergency_stop(self, sample: Sample[bool]) -> None:
        """Take the newest state of the emergency stop in; True means stopped."""
        self._receive(sample)
        self._safety = sample
        self._messages += 1

    def begin_journey(self, way: Way) -> None:
        """Measure from now on what the robot does on its way."""
        self._journey = JourneyTrack(way, start=self._odometry)

    def end_journey(self) -> None:
        """Measure no more."""
        self._journey = None

    def capture(
        self,
        *,
        navigation: Observed[Navigation],
        active_action: ActionSummary | None = None,
        recent_outcome: OutcomeSummary | None = None,
        artifacts: tuple[ArtifactRef, ...] = (),
    ) -> WorldSnapshot:
        """Return what is known now. Never raises."""
        now_ns, ros_ns = self._clock.monotonic_ns(), self._clock.ros_ns()
        self._check_clock(now_ns, ros_ns)
        jump = self._watch.jump
        odometry = self._odometry_rules.observed(self._odometry, now_ns=now_ns, jump=jump)
        return WorldSnapshot(
            snapshot_id=self._ids.new_id('snapshot'),
            robot_id=self._robot_id,
            captured_monotonic_ns=now_ns,
            captured_wall_ns=self._clock.wall_ns(),
            captured_ros_ns=ros_ns,
            map_pose=self._localizer.observed(now_ns=now_ns, jump=jump),
            odometry=odometry,
            motion=judge_motion(
                odometry,
                self._pace,
                self._window,
                self._localizer.source_rules,
                now_ns=now_ns,
                jump=jump,
            ),
            navigation=_numbers_only(navigation),
            battery=self._judge_battery(now_ns, jump),
            safety=self._judge_safety(now_ns, jump),
            active_action=active_action,
            recent_outcome=recent_outcome,
            artifacts=artifacts,
            journey=None if (journey := self._journey) is None else journey.value,
        )

    def news(self) -> tuple[int, ClockJump | None]:
        """Return what is the same as long as snapshots differ in ages alone: how many messages
        came, and the newest jump of the ROS clock, which is looked at for that.
        """
        self._check_clock(self._clock.monotonic_ns(), self._clock.ros_ns())
        return self._messages, self._watch.jump

    def never_heard(self) -> frozenset[str]:
        """Return what no message has told of yet, by the names of `WorldSnapshot`;
        `position_variance` is that of the map pose.
        """
        heard = {
            'map_pose': self._localizer.has_pose,
            'position_variance': self._localizer.has_variance,
            'odometry': self._odometry is not None,
            'battery': self._battery is not None,
            'safety': self._safety is not None,
        }
        return frozenset(name for name, told in heard.items() if not told)

    def take_anomalies(self) -> tuple[Anomaly, ...]:
        """Return the anomalies since the last call, oldest first."""
        taken = []
        while self._anomalies:
            taken.append(self._anomalies.popleft())
        return tuple(taken)

    def _receive(self, sample: Sample[Any]) -> None:
        self._check_clock(sample.received_monotonic_ns, sample.received_ros_ns)
        if self._watch.jump is not self._forgotten:  # also one that a capture noticed
            self._forgotten = self._watch.jump
            self._localizer.forget()
            self._window.clear()

    def _check_clock(self, monotonic_ns: int, ros_ns: int) -> None:
        jump = self._watch.check(monotonic_ns, ros_ns)
        if jump is not None:
            self._report(
                'clock_jump',
                f'the ROS clock stepped by {jump.step_s:+.1f} s; '
                'what was received before is not believed any more',
                {
                    'step_s': jump.step_s,
                    'from_ros_ns': jump.from_ros_ns,
                    'to_ros_ns': jump.to_ros_ns,
                },
            )

    def _report(self, kind: str, message: str, details: dict[str, Any]) -> None:
        self._anomalies.append(Anomaly(kind, message, details))

    def _judge_battery(self, now_ns: int, jump: ClockJump | None) -> Observed[Battery]:
        """Scale the reading as configured, in no other way: 85 may come from a broken driver."""
        sample = self._battery
        if sample is None:
            return self._battery_rules.observed(None, now_ns=now_ns, jump=jump)
        reading = sample.value
        voltage = reading.voltage
        if voltage is not None and not math.isfinite(voltage):
            voltage = None
        fraction = reading.percentage / self._scale
        defect = None
        if math.isnan(fraction):
            defect = 'the driver measures no percentage (NaN)'
        elif not 0.0 <= fraction <= 1.0:
            defect = (
                f'percentage {reading.percentage:g} is outside 0 to {self._scale:g}; '
                'see parameter battery.percentage_scale'
            )
        elif self._battery_scale.is_other:
            defect = (
                f'percentages far beyond {self._scale:g} came before, so {reading.percentage:g} '
                'is of another scale; see parameter battery.percentage_scale'
            )
        battery = Battery(fraction, reading.charging, voltage)
        seen = self._battery_rules.observed(
            sample.with_value(battery), now_ns=now_ns, jump=jump, defect=defect
        )
        return replace(seen, value=None) if defect else seen

    def _judge_safety(self, now_ns: int, jump: ClockJump | None) -> Observed[Safety]:
        sample = self._safety
        stopped = None if sample is None else sample.with_value(Safety(sample.value))
        return self._safety_rules.observed(stopped, now_ns=now_ns, jump=jump)


def _rules(config: SnapshotConfig, name: str, source: str) -> FieldRules:
    return FieldRules(
        field=name,
        source=source,
        stale_after_s=getattr(config.stale_after_s, name),
        accept_unstamped=name in config.accept_unstamped,
    )


def _numbers_only(navigation: Observed[Navigation]) -> Observed[Navigation]:
    """Return the field without what feedback says in place of numbers: an action of a user's own
    may mean something else by the same names.
    """
    value = navigation.value
    if value is None:
        return navigation
    left, recoveries = finite_number(value.distance_remaining_m), finite_number(value.recoveries)
    if (left, recoveries) == (value.distance_remaining_m, value.recoveries):
        return navigation
    count = None if recoveries is None else int(recoveries)
    return replace(navigation, value=replace(value, distance_remaining_m=left, recoveries=count))
