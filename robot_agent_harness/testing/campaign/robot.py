# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot with a true pose, and topics that tell of it more or less truly.

The truth moves by physics: commanded velocities within limits of acceleration, wheels that slip,
people who carry it away. What is published is a measurement of it: odometry that integrates what
the wheels did, and a map pose that is the truth plus an error that nobody on the robot knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
import math
import random
from typing import Any, Literal, TypeVar

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.testing.campaign.faults import Faults
from robot_agent_harness.testing.fake_clock import FakeClock
from robot_agent_harness.world.builder import BatteryReading
from robot_agent_harness.world.geometry import compose, inverse, Transform2D, wrap_angle
from robot_agent_harness.world.samples import Sample
from robot_agent_harness.world.snapshot import MapPose, Odometry

T = TypeVar('T', MapPose, Odometry)

TICK_S = 0.05
"""Physics and odometry run at 20 Hz."""
ACCELERATION_M_S2, TURNING_RAD_S2 = 1.0, 3.0
STOPPING_M_S2 = 4.0
"""With the emergency stop engaged."""
UPDATE_M, UPDATE_RAD = 0.25, 0.2
"""AMCL speaks after this much motion (update_min_d, update_min_a)."""
AMCL_DELAY_S = 0.05
ORDER_S = 1e-6
"""Between two messages of one topic that would arrive at once."""

Deliver = Callable[[str, Sample[Any]], None]
"""Takes a message: `odom`, `amcl_pose`, `tf`, `battery` or `emergency_stop`, and its sample."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How this robot is built; drawn once."""

    localizer: Literal['periodic', 'amcl', 'tf']
    """`periodic` speaks at 10 Hz, `amcl` only after motion, `tf` is looked up at 10 Hz."""
    speed_m_s: float
    pose_noise_m: float
    """Standard deviation of each published pose."""
    pose_bias: tuple[float, float]
    """Constant error of the localisation, metres: within what its variance admits."""
    odometry_scale: float
    variance_m2: float
    battery: bool
    emergency_stop: bool

    @classmethod
    def draw(cls, rng: random.Random) -> Habits:
        """Draw a healthy robot."""
        return cls(
            localizer=rng.choice(('periodic', 'amcl', 'tf')),
            speed_m_s=rng.uniform(0.3, 1.0),
            pose_noise_m=rng.choice((0.0, 0.005, 0.02)),
            pose_bias=(rng.gauss(0.0, 0.02), rng.gauss(0.0, 0.02)),
            odometry_scale=rng.choice((1.0, 0.98, 1.03)),
            variance_m2=rng.choice((0.0, 0.01, 0.1)),
            battery=rng.random() < 0.7,
            emergency_stop=rng.random() < 0.5,
        )


class TrueRobot:
    """The robot as it is, which only the oracle may know."""

    def __init__(
        self,
        habits: Habits,
        faults: Faults,
        *,
        clock: FakeClock,
        rng: random.Random,
        deliver: Deliver,
    ) -> None:
        self.habits = habits
        self.pose = Transform2D(0.0, 0.0, 0.0)
        self.velocity = (0.0, 0.0)
        """m/s and rad/s, true."""
        self.command = (0.0, 0.0)
        self.error = Transform2D(*habits.pose_bias, 0.0)
        """Map coordinates of the localisation's map: what it believes is this times the truth."""
        self.goal: tuple[float, float, float] | None = None
        """The goal that the controller has, for a localisation that jumps onto it."""
        self.odometry = Transform2D(0.0, 0.0, 0.0)
        self._faults = faults
        self._clock = clock
        self._rng = rng
        self._deliver = deliver
        self._ticks = 0
        self._due: dict[str, float] = {}
        self._motor = (0.0, 0.0)
        self._wheels = (0.0, 0.0)
        self._frozen_pose: MapPose | None = None
        self._frozen_odometry: Odometry | None = None
        self._spoken: Transform2D | None = None
        self._stopped: bool | None = None

    @property
    def believed(self) -> Transform2D:
        """Where the localisation has the robot, without noise; what the controller steers by."""
        return compose(self.error, self.pose)

    def step(self, now: float) -> None:
        """Let one tick pass and publish what is due."""
        self._disturb(now)
        self._move(now)
        self._publish(now)
        self._ticks += 1

    def speak_to_newcomer(self) -> None:
        """Say again what is latched: the emergency stop's state and the localiser's last pose."""
        self._stopped = self._spoken = None

    def _disturb(self, now: float) -> None:
        for kind in ('kidnap_seen', 'kidnap_unseen', 'pose_jump'):
            fault = self._faults.once(kind, now)
            if fault is None:
                continue
            direction = self._rng.uniform(-math.pi, math.pi)
            dx, dy = fault.value * math.cos(direction), fault.value * math.sin(direction)
            before = self.believed
            if kind == 'pose_jump':
                self._believe(replace(before, x=before.x + dx, y=before.y + dy))
                continue
            self.pose = replace(self.pose, x=self.pose.x + dx, y=self.pose.y + dy)
            if kind == 'kidnap_unseen':
                self._believe(before)
        if self.goal is not None and self._faults.once('pose_onto_goal', now):
            self._believe(Transform2D(*self.goal))
        if self._faults.once('odom_reset', now):
            self.odometry = Transform2D(0.0, 0.0, 0.0)

    def _believe(self, where: Transform2D) -> None:
        """Make the localisation have the robot there, and go on consistently with its motion."""
        self.error = compose(where, inverse(self.pose))

    def _move(self, now: float) -> None:
        stopped = self._faults.at('emergency_stop', now) is not None
        v, w = (0.0, 0.0) if stopped else self.command
        v = _toward(self._motor[0], v, (STOPPING_M_S2 if stopped else ACCELERATION_M_S2) * TICK_S)
        w = _toward(self._motor[1], w, TURNING_RAD_S2 * TICK_S)
        self._motor = (v, w)
        push = self._faults.at('push', now)
        rolled = v if push is None else v + push.value
        self._wheels = (rolled, w)
        self.odometry = _advanced(self.odometry, rolled * self.habits.odometry_scale, w)
        slip = self._faults.at('slip', now)
        if slip is None:
            self.pose = _advanced(self.pose, rolled, w)
            self.velocity = (rolled, w)
            return
        self.velocity = (0.0, 0.0)
        if slip.value:  # the localisation is fooled as well
            self._believe(_advanced(self.believed, rolled, w))

    def _publish(self, now: float) -> None:
        self._publish_odometry(now)
        if self._ticks % 2 == 0:
            self._publish_pose(now)
        if self._ticks % 20 == 0 and self.habits.battery:
            fault = self._faults.at('battery', now)
            reading = BatteryReading(fault.value if fault else 0.8, math.nan, False)
            self._send('battery', reading, None, 0.0)
        stopped = self._faults.at('emergency_stop', now) is not None
        if self.habits.emergency_stop and stopped is not self._stopped:
            self._stopped = stopped
            self._send('emergency_stop', stopped, None, 0.0)

    def _publish_odometry(self, now: float) -> None:
        at = self._faults.at
        pose, (v, w) = self.odometry, self._wheels
        odometry = Odometry(pose.x, pose.y, pose.yaw, 'odom', abs(v), w)
        if at('odom_frozen', now):
            odometry = self._frozen_odometry = self._frozen_odometry or odometry
        else:
            self._frozen_odometry = None
        if at('odom_zero_twist', now):
            odometry = replace(odometry, linear_m_s=0.0, angular_rad_s=0.0)
        if at('odom_nan', now):
            odometry = _spoilt(odometry, self._rng.choice(('x', 'linear_m_s')))
        if at('odom_silent', now):
            return
        offset, lag = self._stamping('odom', now)
        self._send('odom', odometry, offset, lag)

    def _publish_pose(self, now: float) -> None:
        at = self._faults.at
        habits, believed = self.habits, self.believed
        noise = at('pose_noise', now)
        sigma = noise.value if noise else habits.pose_noise_m
        wide = at('pose_variance', now)
        variance = wide.value if wide else habits.variance_m2
        pose = MapPose(
            believed.x + (self._rng.gauss(0.0, sigma) if sigma else 0.0),
            believed.y + (self._rng.gauss(0.0, sigma) if sigma else 0.0),
            believed.yaw,
            'map',
            variance,
            variance,
        )
        if at('pose_frozen', now):
            pose = self._frozen_pose = self._frozen_pose or pose
        else:
            self._frozen_pose = None
        if at('pose_nan', now):
            pose = _spoilt(pose, self._rng.choice(('x', 'yaw')))
        if at('pose_frame', now):
            pose = replace(pose, frame_id='odom')
        if at('pose_silent', now):
            return
        offset, lag = self._stamping('pose', now)
        if habits.localizer == 'tf':
            bare = replace(pose, position_variance_m2=None, yaw_variance_rad2=None)
            self._send('tf', bare, offset, lag)
        if habits.localizer == 'periodic' or self._speaks_up():
            self._send('amcl_pose', pose, offset, max(lag, AMCL_DELAY_S))

    def _speaks_up(self) -> bool:
        """Whether an AMCL would speak now: it has moved since it last did."""
        last, here = self._spoken, self.odometry
        moved = last is None or (
            math.hypot(here.x - last.x, here.y - last.y) >= UPDATE_M
            or abs(wrap_angle(here.yaw - last.yaw)) >= UPDATE_RAD
        )
        if moved:
            self._spoken = here
        return moved

    def _stamping(self, topic: str, now: float) -> tuple[float | None, float]:
        """Return what is added to a correct stamp (None: the stamp is zero), and the delay."""
        at = self._faults.at
        if at(f'{topic}_zero_stamp', now):
            return None, 0.0
        future = at(f'{topic}_future', now)
        if future is not None:
            return future.value, 0.0
        hidden = at('pose_lag_hidden', now) if topic == 'pose' else None
        if hidden is not None:
            return hidden.value, hidden.value
        lag = at(f'{topic}_lag', now)
        return 0.0, lag.value if lag else 0.0

    def _send(self, topic: str, value: Any, offset_s: float | None, lag_s: float) -> None:
        stamp: int | None = None
        if topic == 'battery':
            stamp = self._clock.ros_ns()
        elif topic != 'emergency_stop':
            stamp = 0 if offset_s is None else self._clock.ros_ns() + round(offset_s * NS_PER_S)
        # A topic keeps its order, also when its delay goes down again.
        loop = asyncio.get_running_loop()
        due = max(loop.time() + lag_s, self._due.get(topic, 0.0) + ORDER_S)
        if due <= loop.time() + 2 * ORDER_S:
            self._receive(topic, value, stamp)
            return
        self._due[topic] = due
        loop.call_at(due, self._receive, topic, value, stamp)

    def _receive(self, topic: str, value: Any, stamp: int | None) -> None:
        self._deliver(topic, Sample.now(value, stamp, self._clock))


def _spoilt(message: T, name: str) -> T:
    """Return the message with a number that is none."""
    changes: dict[str, Any] = {name: math.nan}
    return replace(message, **changes)


def _toward(value: float, target: float, step: float) -> float:
    return target if abs(target - value) <= step else value + math.copysign(step, target - value)


def _advanced(pose: Transform2D, v: float, w: float) -> Transform2D:
    return Transform2D(
        pose.x + v * math.cos(pose.yaw) * TICK_S,
        pose.y + v * math.sin(pose.yaw) * TICK_S,
        wrap_angle(pose.yaw + w * TICK_S),
    )
