# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known about goals and actions right now: the tracker's state, in one place and without
I/O.

It answers the questions that others ask: what the controller runs and for whom, what of ours is
under way, how the last action of a mission ended, and what would stand in the way of a new one.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from robot_agent_harness.actions.controller import ACTIVE_STATUSES, ENDED_STATUSES, GoalStatus
from robot_agent_harness.actions.lifecycle import ActionState, RobotAction
from robot_agent_harness.actions.preconditions import ActionGate
from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.world.snapshot import (
    ActionSummary,
    ActiveGoal,
    Availability,
    Navigation,
    Observed,
    OutcomeSummary,
)

SERVER_LOSS_GRACE_S = 3.0
"""How long a server may be out of sight: discovery of a living one can blink."""
GOALS_LATCHED_S = 1.0
"""How long after a server was found its list of goals may be on its way: it is latched, and a
server that has had no goal yet sends none."""
FINISHED_KEPT = 256
"""How many ended actions stay answerable from memory; older ones are in the journal."""
FOREIGN_S, FOREIGN_KEPT = 60.0, 64
"""For how long it is remembered when others' goals were active, and of how many a controller."""
MISSIONS_KEPT = 64
"""For how many missions the newest outcome is kept."""


@dataclass(slots=True)
class _Goals:
    """One controller's goals as its status topic last listed them."""

    reachable: bool = False
    active: tuple[tuple[str, int], ...] = ()
    heard_ns: int | None = None
    found_ns: int = 0
    """Since when the server has been there, if it is."""
    since_ns: dict[str, int] = field(default_factory=dict)
    """When each active goal was first listed."""
    lost_ns: int | None = None
    """Since when the server has been out of sight; None while it is there, or never was."""


class _Driver(NamedTuple):
    """Who carries an action out, and since when."""

    controller: str | None = None
    since_ns: int = 0
    alone: bool = True
    """Whether it uses no other controller for that."""


class ActionBoard:
    """Current actions, recent outcomes, and the goals that each controller reports."""

    def __init__(self, *, clock: Clock, controllers: tuple[str, ...]) -> None:
        self._clock = clock
        self._goals = {name: _Goals() for name in controllers}
        self._actions: OrderedDict[str, RobotAction] = OrderedDict()
        self._recent: OrderedDict[str | None, RobotAction] = OrderedDict()
        self._unfinished: dict[str, None] = {}
        self._drivers: dict[str, _Driver] = {}
        """Of each unfinished action."""
        self._unvouched: dict[str, bool] = {}
        """Actions that may move the robot although they have their outcome, oldest first, and of
        each whether its goal has been seen to run no more: then only rest is waited for."""
        self._drove: dict[str, str] = {}
        """Of each ended action that is kept its controller."""
        self._foreign_active_ns: dict[str, dict[str, int]] = {name: {} for name in controllers}
        """By controller and goal of somebody else: when it was last seen active."""
        self.changes = 0
        """How often anything has been noted so far."""

    def get(self, action_id: str) -> RobotAction | None:
        """Return an action that is under way or ended recently."""
        return self._actions.get(action_id)

    def owns(self, goal_id: str) -> bool:
        """Whether this harness sent that goal."""
        return goal_id in self._actions

    @property
    def unfinished(self) -> tuple[RobotAction, ...]:
        """Actions without an outcome, oldest first."""
        return tuple(self._actions[action_id] for action_id in self._unfinished)

    def reachable(self, controller: str) -> bool:
        """Whether a controller's server is there."""
        return self._goals[controller].reachable

    def drives(self, controller: str, action_id: str, *, alone: bool) -> None:
        """Note which controller an action is for that is about to be put here.

        :param alone: whether that controller uses no other for it.
        """
        self.changes += 1
        self._drivers[action_id] = _Driver(controller, self._clock.monotonic_ns(), alone)

    def put(self, action: RobotAction) -> None:
        """Store an action's newest value."""
        self.changes += 1
        before = self._actions.get(action.action_id)
        self._actions[action.action_id] = action
        if not action.state.terminal:
            self._unfinished[action.action_id] = None
            if before is not None and before.state is ActionState.REQUESTED is not action.state:
                self._replaced_by(action)
            return
        self._unfinished.pop(action.action_id, None)
        driver = self._drivers.pop(action.action_id, _Driver()).controller
        self._recent[action.mission_id] = action
        self._recent.move_to_end(action.mission_id)
        while len(self._recent) > MISSIONS_KEPT:
            self._recent.popitem(last=False)
        if action.state is ActionState.UNKNOWN:
            self._nobody_vouches_for(action.action_id)
        elif action.outcome is not None and action.outcome.evidence.get('at_rest') is False:
            # Its goal has ended, and the robot was seen to drive on when its outcome was due.
            self._nobody_vouches_for(action.action_id)
            self.goal_ended(action.action_id)
        if driver is not None:
            self._drove[action.action_id] = driver
        self._forget()

    def _replaced_by(self, action: RobotAction) -> None:
        """Forget actions that nobody vouches for: being taken, the new one has replaced them.

        A controller replaces goals of its own only.
        """
        driver = self._drivers.get(action.action_id, _Driver()).controller
        for action_id in list(self._unvouched):
            if self._drove.get(action_id) == driver:
                del self._unvouched[action_id]

    def _nobody_vouches_for(self, action_id: str) -> None:
        """Have an action stand in the way of the next one, beside those that run on as well."""
        self._unvouched = {other: False for other, ended in self._unvouched.items() if not ended}
        self._unvouched.pop(action_id, None)
        self._unvouched[action_id] = False

    def goal_ended(self, goal_id: str) -> None:
        """Note that the controller has been seen to run this goal no more, whoever sent it.

        A server that came back at once knows nothing of it, and may list nothing either.
        """
        self.changes += 1
        if goal_id in self._unvouched:
            self._unvouched[goal_id] = True
        for goals in self._goals.values():
            if goals.active:
                goals.active = tuple((other, s) for other, s in goals.active if other != goal_id)

    def goal_runs(self, action_id: str) -> None:
        """Note that an action's goal runs although the action has ended, whatever as."""
        self.changes += 1
        self._nobody_vouches_for(action_id)

    def set_reachable(self, controller: str, reachable: bool) -> None:
        """Note that an action server came or went.

        One that was only out of sight goes on with its goals, and does not list them again.
        """
        self.changes += 1
        goals, now = self._goals[controller], self._clock.monotonic_ns()
        if reachable and goals.lost_ns is not None:
            if now - goals.lost_ns >= SERVER_LOSS_GRACE_S * NS_PER_S:
                goals.active, goals.heard_ns = (), None  # a new server; it will say what it runs
            goals.lost_ns = None
        elif not reachable and goals.reachable:
            goals.lost_ns = now
        if reachable and not goals.reachable:
            goals.found_ns = now
        goals.reachable = reachable

    def update_goals(
        self, controller: str, listed: tuple[tuple[str, int], ...]
    ) -> tuple[str, ...]:
        """Take over a status list and return the foreign goals that became active with it."""
        self.changes += 1
        now = self._clock.monotonic_ns()
        goals = self._goals[controller]
        before = {goal_id for goal_id, _ in goals.active}
        goals.active = tuple((g, s) for g, s in listed if s in ACTIVE_STATUSES)
        goals.heard_ns = now
        active = {goal_id for goal_id, _ in goals.active}
        gone = before | {goal_id for goal_id, status in listed if status in ENDED_STATUSES}
        for goal_id in gone - active:
            self.goal_ended(goal_id)
        foreign = {goal_id: now for goal_id, _ in goals.active if not self.owns(goal_id)}
        for goal_id in active - before:
            goals.since_ns[goal_id] = now
        for goal_id in goals.since_ns.keys() - active:
            del goals.since_ns[goal_id]
        known = {
            goal_id: seen
            for goal_id, seen in self._foreign_active_ns[controller].items()
            if now - seen < FOREIGN_S * NS_PER_S and goal_id not in foreign
        }
        newest = list((known | foreign).items())[-FOREIGN_KEPT:]
        self._foreign_active_ns[controller] = dict(newest)
        if self._serves_ours(controller, now):
            return ()
        return tuple(sorted(foreign.keys() - before))

    def foreign_goal_since(self, controller: str, monotonic_ns: int) -> str | None:
        """Return a foreign goal of a controller that is active, or was seen active since this
        steady time.
        """
        for goal_id, _ in self._goals[controller].active:
            if not self.owns(goal_id):
                return goal_id
        for goal_id, seen in self._foreign_active_ns[controller].items():
            if seen >= monotonic_ns:
                return goal_id
        return None

    def foreign_goals(self, controller: str) -> tuple[str, ...]:
        """Return the goals of others that a controller was last heard to run."""
        return tuple(g for g, _ in self._goals[controller].active if not self.owns(g))

    def _serves_ours(self, controller: str, since_ns: int) -> bool:
        """Whether a foreign goal that has been active since then may be part of an action of ours.

        A navigator spins and backs up to get free, and a docking server navigates to its dock, as
        clients of those actions.
        """
        return any(
            driver.controller != controller and driver.since_ns <= since_ns and not driver.alone
            for driver in self._drivers.values()
        )

    @property
    def goals_awaited(self) -> bool:
        """Whether a server was found so lately that its list of goals may be on its way still."""
        since = self._clock.monotonic_ns() - GOALS_LATCHED_S * NS_PER_S
        found = (g for g in self._goals.values() if g.reachable and g.heard_ns is None)
        return any(goals.found_ns > since for goals in found)

    @property
    def unsettled(self) -> tuple[str, ...]:
        """Actions whose goals may run on and have not been seen to end, oldest first."""
        return tuple(action_id for action_id, ended in self._unvouched.items() if not ended)

    def gate(self, controller: str | None = None) -> ActionGate:
        """Say which of our actions stand in the way of a new one.

        :param controller: whose server it would need beside the one of which snapshots tell.
        """
        unsettled = self.unsettled
        unknown = next(reversed(unsettled or tuple(self._unvouched)), None)
        reachable = None if controller is None else self.reachable(controller)
        return ActionGate(next(iter(self._unfinished), None), unknown, not unsettled, reachable)

    def navigation(self, controller: str) -> Observed[Navigation]:
        """Return whether a controller is there and what all of them run, as a snapshot has it.

        Whatever runs on any of them moves the robot.
        """
        goals = self._goals[controller]
        now = self._clock.monotonic_ns()
        own = next((a for a in self.unfinished if a.feedback), None)
        navigation = Navigation(
            controller_reachable=goals.reachable,
            active_goals=tuple(
                ActiveGoal(
                    goal_id,
                    'own' if self.owns(goal_id) else 'foreign',
                    GoalStatus.name_of(status),
                )
                for name, listed in self._goals.items()
                for goal_id, status in listed.active
                if self.owns(goal_id) or not self._serves_ours(name, listed.since_ns[goal_id])
            ),
            distance_remaining_m=own.feedback.get('distance_remaining') if own else None,
            recoveries=own.feedback.get('number_of_recoveries') if own else None,
        )
        age = None if goals.heard_ns is None else (now - goals.heard_ns) / NS_PER_S
        return Observed(
            navigation, f'{controller}/_action/status', None, age, Availability.AVAILABLE
        )

    def active_summary(self) -> ActionSummary | None:
        """Return the action that is under way, as it goes into a snapshot."""
        action = next(iter(self.unfinished), None)
        if action is None:
            return None
        age = (self._clock.monotonic_ns() - action.requested_monotonic_ns) / NS_PER_S
        return ActionSummary(
            action.action_id, action.skill, action.state.value, action.goal, round(age, 3)
        )

    def recent_outcome(self, mission_id: str | None) -> OutcomeSummary | None:
        """Return how the newest action of this mission ended; other missions' outcomes stay
        theirs.
        """
        action = self._recent.get(mission_id)
        if action is None or action.outcome is None:
            return None
        return OutcomeSummary(
            action.action_id,
            action.skill,
            action.outcome.state.value,
            action.outcome.reason.value,
            action.goal,
        )

    def _forget(self) -> None:
        surplus = len(self._actions) - FINISHED_KEPT
        for action_id in list(self._actions)[: max(0, surplus)]:
            if action_id not in self._unfinished:
                del self._actions[action_id]
                self._drove.pop(action_id, None)
