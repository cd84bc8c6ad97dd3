# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What really happened in a mission, and what was told to the harness of it, message by message.

The ledger reads messages for itself, by rules of its own and with wider limits: it shares no code
with the world model and the verifier that it is there to judge.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
import math
from typing import Any

from robot_agent_harness.actions.controller import (
    ACTIVE_STATUSES,
    CancelResponse,
    ControllerEvent,
    ENDED_STATUSES,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.world.geometry import compose, inverse, Transform2D, wrap_angle
from robot_agent_harness.world.samples import Sample

FUTURE_S = 0.1
"""Stamps further ahead are not to be believed."""
RECOVERY_S = 0.3
"""A start may take this long to hear of the robot."""
DISCOVERY_S = 1.0
"""What is latched has reached a run this long after its start, unless it was lost."""
NEAR_S = 0.6
"""Odometry from so long before a pose still tells where the robot was at the pose."""
RESET_M, RESET_M_S = 0.3, 2.0
"""Odometry that moves further than this between two messages has started anew."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One tick of the true robot."""

    at_s: float
    pose: Transform2D
    speed_m_s: float
    turn_rad_s: float
    running: str | None
    """The goal that the controller drives to."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a pose source or of odometry, as it was delivered."""

    at_s: float
    measured_s: float
    """Steady time of the measurement, as far as its stamp says."""
    valid: bool
    """Finite, in the right frame, with a stamp to be believed."""
    pose: Transform2D
    speed: tuple[float, float] = (0.0, 0.0)
    variance_m2: float | None = None
    source: str = 'odom'

    @property
    def told_variance_m2(self) -> float | None:
        """The variance that a localiser beside tf tells of; NaN if what it tells is no number."""
        numbers = (self.pose.x, self.pose.y, self.pose.yaw, self.variance_m2 or 0.0)
        if not all(map(math.isfinite, numbers)):
            return math.nan
        return self.variance_m2 if self.valid else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where delivered messages put the robot."""

    pose: Transform2D
    measured_s: float
    """The newest measurement in it."""
    fixed_s: float
    """When the localiser measured last."""
    fix_heard_s: float
    carried_m: float
    """How far odometry has carried it since the localiser was heard."""
    turned_rad: float
    variance_m2: float | None


@dataclass(slots=True)
class Track:
    """Messages in the order of their delivery."""

    messages: list[Message] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def add(self, message: Message) -> None:
        """Append a message."""
        self.messages.append(message)
        self.times.append(message.at_s)

    def newest(self, at_s: float) -> Message | None:
        """Return the last message that was delivered by then."""
        index = bisect_right(self.times, at_s)
        return self.messages[index - 1] if index else None

    def since(self, from_s: float, to_s: float) -> list[Message]:
        """Return the messages delivered after the one and by the other moment."""
        return self.messages[bisect_right(self.times, from_s) : bisect_right(self.times, to_s)]


@dataclass(frozen=True, slots=True)
class Sent:
    """A goal that the harness sent."""

    at_s: float
    goal_id: str
    goal: dict[str, Any]
    durable: bool
    """Whether its start was committed in the journal when it was sent."""
    running: tuple[str, ...]
    """Other own goals that the controller was truly running."""


class Ledger:
    """The record that the oracle judges from."""

    def __init__(self) -> None:
        self.truth: list[Truth] = []
        self.odometry = Track()
        self.poses = {'amcl_pose': Track(), 'tf': Track()}
        self.battery: list[tuple[float, float]] = []
        self.stops: list[tuple[float, bool]] = []
        self.wire: list[tuple[float, ControllerEvent]] = []
        self.sent: list[Sent] = []
        self.outcomes: dict[str, tuple[float, str, str, dict[str, Any]]] = {}
        """Action id: when it was announced, state, reason, evidence."""
        self.clock_jumps: list[float] = []
        self.locks: list[tuple[float, float]] = []
        self.lives: list[list[float]] = []
        """Beginning and end of each run of the harness."""
        self.found: list[tuple[float, bool]] = []
        """Whether each run found the controller when it began."""

    def begin_life(self, at_s: float, *, reachable: bool) -> None:
        """Note that a run of the harness begins, and whether it finds the controller there."""
        self.lives.append([at_s, math.inf])
        self.found.append((at_s, reachable))

    def deliver(self, at_s: float, topic: str, sample: Sample[Any]) -> None:
        """Note a message as it reaches the harness."""
        value = sample.value
        if topic == 'battery':
            self.battery.append((at_s, value.percentage))
            return
        if topic == 'emergency_stop':
            self.stops.append((at_s, value))
            return
        stamp = sample.stamp_ns or 0
        late_s = (sample.received_ros_ns - stamp) / NS_PER_S
        numbers = [value.x, value.y, value.yaw]
        if topic == 'odom':
            numbers += [value.linear_m_s, value.angular_rad_s]
        else:
            numbers += [value.position_variance_m2 or 0.0]
        valid = all(map(math.isfinite, numbers)) and stamp != 0 and late_s >= -FUTURE_S
        pose = Transform2D(value.x, value.y, value.yaw)
        if topic == 'odom':
            speed = (value.linear_m_s, value.angular_rad_s)
            self.odometry.add(Message(at_s, at_s - max(0.0, late_s), valid, pose, speed))
            return
        valid = valid and value.frame_id == 'map'
        self.poses[topic].add(
            Message(
                at_s,
                at_s - max(0.0, late_s),
                valid,
                pose,
                variance_m2=value.position_variance_m2,
                source=topic,
            )
        )

    # -- the truth -------------------------------------------------------------------------------

    def truth_at(self, at_s: float) -> Truth:
        """Return the true robot at a moment."""
        index = bisect_right(self.truth, at_s, key=lambda tick: tick.at_s)
        return self.truth[max(0, index - 1)]

    # -- what could be known ---------------------------------------------------------------------

    def told_since(self, at_s: float) -> float:
        """Return since when what was told counts against a decision at this moment.

        A run knows nothing of what only an earlier one heard. While what is latched may be on its
        way to it, the earlier word counts all the same: it must not take silence for an answer.
        """
        begun = max((life[0] for life in self.lives if life[0] <= at_s), default=0.0)
        return begun if at_s - begun >= DISCOVERY_S else 0.0

    def jumped_before(self, at_s: float) -> float:
        """Return when the ROS clock last jumped; nothing received before counts."""
        return max((jump for jump in self.clock_jumps if jump <= at_s), default=-1.0)

    def localizer(self, at_s: float) -> Track:
        """Return the source of the map pose: tf once it has spoken."""
        return self.poses['tf'] if self.poses['tf'].newest(at_s) else self.poses['amcl_pose']

    def fixes(self, at_s: float) -> int:
        """Return how many poses could be believed since the clock last jumped."""
        poses = self.localizer(at_s).since(self.jumped_before(at_s), at_s)
        return sum(message.valid for message in poses)

    def odometry_now(self, at_s: float) -> Message | None:
        """Return the newest odometry if it can be believed."""
        message = self.odometry.newest(at_s)
        usable = message is not None and message.valid and message.at_s > self.jumped_before(at_s)
        return message if usable else None

    def estimate(self, at_s: float) -> Estimate | None:
        """Return where the delivered messages put the robot; None if they do not."""
        track = self.localizer(at_s)
        fix = track.newest(at_s)
        if fix is None or not fix.valid or fix.at_s <= self.jumped_before(at_s):
            return None
        variance = fix.variance_m2
        if fix.source == 'tf':
            other = self.poses['amcl_pose'].newest(at_s)
            if other is not None and other.at_s < self.told_since(at_s):
                other = None
            variance = None if other is None else other.told_variance_m2
            return Estimate(fix.pose, fix.measured_s, fix.measured_s, fix.at_s, 0.0, 0.0, variance)
        now = self.odometry_now(at_s)
        then = self._odometry_near(fix.measured_s, at_s)
        if now is None or then is None or self.reset_between(then.at_s, at_s):
            return Estimate(fix.pose, fix.measured_s, fix.measured_s, fix.at_s, 0.0, 0.0, variance)
        pose = compose(compose(fix.pose, inverse(then.pose)), now.pose)
        heard = self.odometry.newest(fix.at_s)
        if heard is None or fix.at_s - heard.at_s > NEAR_S:
            heard = then  # odometry was silent then; what it missed is no silence of the localiser
        carried = math.hypot(now.pose.x - heard.pose.x, now.pose.y - heard.pose.y)
        turned = abs(wrap_angle(now.pose.yaw - heard.pose.yaw))
        measured = max(fix.measured_s, now.measured_s)
        return Estimate(pose, measured, fix.measured_s, fix.at_s, carried, turned, variance)

    def reset_between(self, from_s: float, to_s: float) -> bool:
        """Return whether odometry started anew."""
        messages = [m for m in self.odometry.since(from_s - 1e-6, to_s) if m.valid]
        return any(
            math.hypot(b.pose.x - a.pose.x, b.pose.y - a.pose.y)
            > RESET_M + RESET_M_S * (b.at_s - a.at_s)
            for a, b in pairwise(messages)
        )

    def _odometry_near(self, measured_s: float, at_s: float) -> Message | None:
        near = [
            m
            for m in self.odometry.since(measured_s - NEAR_S, min(at_s, measured_s + 2.5))
            if m.valid
        ]
        if near:
            return min(near, key=lambda m: abs(m.measured_s - measured_s))
        # A pose from before odometry was heard: had the robot moved, it had been followed by more.
        after = self.odometry.since(measured_s, at_s)
        return next((m for m in after if m.valid), None)

    def largest_jump_m(self, from_s: float, to_s: float) -> float:
        """Return by how much, at most, the localisation moved where odometry did not."""
        track = self.localizer(to_s)
        before = track.newest(from_s)  # the pose that the trip is measured from
        fixes = [m for m in (before, *track.since(from_s, to_s)) if m is not None and m.valid]
        largest = 0.0
        for a, b in pairwise(fixes):
            then, now = self.odometry.newest(a.at_s), self.odometry.newest(b.at_s)
            if then is None or now is None or not (then.valid and now.valid):
                continue
            moved = math.hypot(now.pose.x - then.pose.x, now.pose.y - then.pose.y)
            if moved > RESET_M + RESET_M_S * (b.at_s - a.at_s):
                continue
            mapped = math.hypot(b.pose.x - a.pose.x, b.pose.y - a.pose.y)
            largest = max(largest, mapped - moved)
        return largest

    def followed_since(self, from_s: float, at_s: float) -> float:
        """Return since when the harness that was running then had followed what began before."""
        begun = max((life[0] for life in self.lives if life[0] <= at_s), default=from_s)
        return max(from_s, begun + RECOVERY_S)

    # -- what was heard of goals -----------------------------------------------------------------

    def ended_statuses(self, goal_id: str, to_s: float) -> list[tuple[float, int]]:
        """Return each word of an end of this goal that was delivered by then."""
        found = []
        for at_s, event in self.wire:
            if at_s > to_s:
                break
            if isinstance(event, GoalResult) and event.goal_id == goal_id:
                found.append((at_s, event.status))
            elif isinstance(event, StatusReport):
                found += [(at_s, s) for g, s in event.goals if g == goal_id]
        return [(at_s, status) for at_s, status in found if status in ENDED_STATUSES]

    def error_code(self, goal_id: str, to_s: float) -> int:
        """Return the error code of the goal's result, as far as it was delivered."""
        for at_s, event in self.wire:
            if at_s <= to_s and isinstance(event, GoalResult) and event.goal_id == goal_id:
                return int(event.payload.get('error_code', 0))
        return 0

    def listed(self, to_s: float) -> tuple[tuple[str, int], ...]:
        """Return the controller's goals as it last listed them; none once it was gone."""
        listed: tuple[tuple[str, int], ...] = ()
        since = self.told_since(to_s)
        for at_s, event in self.wire:
            if at_s > to_s:
                break
            if at_s < since:
                continue
            if isinstance(event, StatusReport):
                listed = event.goals
            elif isinstance(event, ServerPresence) and not event.reachable:
                listed = ()
        return tuple((g, s) for g, s in listed if s in ACTIVE_STATUSES)

    def reachable(self, to_s: float) -> bool:
        """Return whether the controller was there, as far as was told."""
        heard = [(at_s, e.reachable) for at_s, e in self.wire if isinstance(e, ServerPresence)]
        # A run looks for itself when it begins, and hears of what changes from then on.
        told = sorted((*self.found, *heard), key=lambda word: word[0])
        return [there for at_s, there in told if at_s <= to_s][-1]

    def refused(self, goal_id: str, to_s: float) -> bool:
        """Return whether all that was told of a goal is that the controller refused it."""
        refused = False
        for at_s, event in self.wire:
            if at_s > to_s:
                break
            if isinstance(event, GoalResponse) and event.goal_id == goal_id:
                refused = refused or not event.accepted
            runs = isinstance(event, GoalFeedback) and event.goal_id == goal_id
            if isinstance(event, StatusReport):
                runs = any(g == goal_id and s in ACTIVE_STATUSES for g, s in event.goals)
            if runs:
                return False
        return refused

    def seen_ended(self, goal_id: str, to_s: float) -> bool:
        """Return whether there was a sign that the controller runs this goal no more."""
        if self.ended_statuses(goal_id, to_s):
            return True
        listed_once = False
        for at_s, event in self.wire:
            if at_s > to_s:
                break
            if isinstance(event, ServerPresence) and not event.reachable:
                return True
            if isinstance(event, CancelResponse) and event.goal_id == goal_id:
                if event.return_code in (2, 3):
                    return True
            elif isinstance(event, StatusReport):
                here = any(g == goal_id for g, _ in event.goals)
                if listed_once and not here:
                    return True
                listed_once = listed_once or here
        return False

    def locked(self, from_s: float, to_s: float) -> bool:
        """Return whether the journal was locked at some time between."""
        return any(begin <= to_s and end >= from_s for begin, end in self.locks)


def off_goal(pose: Transform2D, goal: dict[str, Any]) -> tuple[float, float]:
    """Return the distance from a goal in metres and the turn that is missing in radians."""
    return (
        math.hypot(goal['x'] - pose.x, goal['y'] - pose.y),
        abs(wrap_angle(goal['yaw'] - pose.yaw)),
    )
