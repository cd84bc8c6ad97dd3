# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What one mission remembers: where the robot is, what it does, what was noted and decided.

Derived by rules alone from what is on record anyway: snapshots, the results of calls and the
outcomes of actions, in their order. The same ones give the same state. It is advice for whoever
decides next and never a reason to act: it asks nobody, sends nothing, and never raises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import update_wrapper
import logging
import math
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol

from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.texts import compact, cut, one_line
from robot_agent_harness.world.snapshot import WorldSnapshot

logger = logging.getLogger(__name__)

PLACE_ENTER_M = 1.0
"""A robot that comes this near to a named place, in metres, is there."""
PLACE_LEAVE_M = 1.5
"""It is still there until it is farther away than this: noise must not make it come and go."""
PLACE_SWITCH_M = 0.3
"""How much nearer than the present one another place must be to take over, in metres."""
VARIABLES_MAX = 16
"""Variables kept; what was set longest ago goes first."""
VARIABLE_NAME_BYTES = 48
VALUE_BYTES = 160
"""Longest value of a variable, as JSON; a longer one keeps its beginning, as text."""
HISTORY_SIZE = 10
"""Decisions kept where nothing else is configured."""
ACTION_BYTES = 160
"""Longest tool name with arguments in the history, and longest activity."""
TEXT_BYTES = 300
"""Longest text of what was thought of a decision."""
OUTCOME_BYTES = 40

NO_ACTIVITY = 'no action under way'

_ABSENT = object()
"""What a result says nothing of."""

Scalar = None | bool | int | float | str
_P = ParamSpec('_P')


class Spot(Protocol):
    """Where a name points to, in metres in a fixed frame."""

    @property
    def x(self) -> float:
        """Metres."""
        ...

    @property
    def y(self) -> float:
        """Metres."""
        ...

    @property
    def frame_id(self) -> str:
        """The frame's name."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One earlier decision and what came of it; every text is short."""

    place: str | None
    """Where the robot was when it was taken."""
    action: str
    """Tool and arguments in short."""
    purpose: str | None
    expected_outcome: str | None
    rationale: str | None
    outcome: str
    """The action's state once it has ended, before that the status of the call."""
    reason: str | None


@dataclass(frozen=True, slots=True)
class WorldState:
    """What is remembered at one moment; immutable."""

    current_place: str | None = None
    """The named place where the robot is; None: at none, or not known yet."""
    place_confirmed: bool = False
    """Whether the newest snapshot shows it; else it is the last known value."""
    current_activity: str = NO_ACTIVITY
    variables: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    """What calls were declared to remember, the one set longest ago first."""
    history: tuple[HistoryEntry, ...] = ()
    """The newest decisions, the oldest first."""


def _advisory(
    take_in: Callable[Concatenate[WorldModel, _P], None],
) -> Callable[Concatenate[WorldModel, _P], None]:
    def guarded(self: WorldModel, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            take_in(self, *args, **kwargs)
        except Exception:
            # Memory is advice: what cannot be taken in changes nothing, and the mission goes on.
            logger.exception('the world model could not take something in')

    return update_wrapper(guarded, take_in)


class WorldModel:
    """The memory of one mission; made when it begins and thrown away when it ends."""

    def __init__(self, *, history_size: int = HISTORY_SIZE) -> None:
        self._state = WorldState()
        self._decided: deque[tuple[str | None, HistoryEntry]] = deque(maxlen=history_size)

    @property
    def state(self) -> WorldState:
        """What is remembered now."""
        return self._state

    @_advisory
    def observe(self, snapshot: WorldSnapshot, places: Mapping[str, Spot]) -> None:
        """Take in what the robot knows now, and which names stand for which places now."""
        place, confirmed = _place(self._state.current_place, snapshot, places)
        self._state = replace(
            self._state,
            current_place=place,
            place_confirmed=confirmed,
            current_activity=_activity(snapshot),
        )

    @_advisory
    def remember(self, fields: Mapping[str, str], result: Mapping[str, Any]) -> None:
        """Set the variables that a skill declares to remember of its result.

        :param fields: variable by field of the result; a dot leads into a nested object.
        :param result: a structured result; what it lacks leaves its variable as it is.
        """
        variables = dict(self._state.variables)
        for path, name in fields.items():
            value = _at(result, path)
            if value is not _ABSENT:
                name = cut(name, VARIABLE_NAME_BYTES)
                variables.pop(name, None)
                variables[name] = _kept(value)
        while len(variables) > VARIABLES_MAX:
            del variables[next(iter(variables))]
        self._state = replace(self._state, variables=MappingProxyType(variables))

    @_advisory
    def decided(
        self,
        *,
        action: str,
        purpose: str | None,
        expected_outcome: str | None,
        rationale: str | None,
        outcome: str,
        reason: str | None,
        action_id: str | None,
    ) -> None:
        """Take in a decision with its call's result.

        :param action_id: of the action that it started; None: it started none.
        """
        entry = HistoryEntry(
            place=_text(self._state.current_place),
            action=one_line(action, ACTION_BYTES),
            purpose=_text(purpose),
            expected_outcome=_text(expected_outcome),
            rationale=_text(rationale),
            outcome=one_line(outcome, OUTCOME_BYTES),
            reason=_text(reason),
        )
        self._decided.append((action_id, entry))
        self._show_history()

    @_advisory
    def ended(self, action_id: str, *, outcome: str, reason: str) -> None:
        """Set how a decision's action ended; of others' actions nothing is kept."""
        for index, (known, entry) in enumerate(self._decided):
            if known == action_id:
                outcome, told = one_line(outcome, OUTCOME_BYTES), _text(reason)
                self._decided[index] = (known, replace(entry, outcome=outcome, reason=told))
        self._show_history()

    def _show_history(self) -> None:
        history = tuple(entry for _, entry in self._decided)
        self._state = replace(self._state, history=history)


def _place(
    here: str | None, snapshot: WorldSnapshot, places: Mapping[str, Spot]
) -> tuple[str | None, bool]:
    """Return where the robot is, and whether this snapshot shows it; else where it was last."""
    pose = snapshot.map_pose.usable
    if pose is None:
        return here, False
    away_m = {
        name: math.hypot(spot.x - pose.x, spot.y - pose.y)
        for name, spot in places.items()
        if spot.frame_id == pose.frame_id
    }
    if not away_m:
        return here, False
    nearest = min(away_m, key=lambda name: (away_m[name], name))
    entered = away_m[nearest] <= PLACE_ENTER_M
    if here is not None and away_m.get(here, math.inf) <= PLACE_LEAVE_M:
        overtaken = entered and away_m[here] - away_m[nearest] > PLACE_SWITCH_M
        return (nearest if overtaken else here), True
    return (nearest if entered else None), True


def _activity(snapshot: WorldSnapshot) -> str:
    action = snapshot.active_action
    if action is not None:
        return one_line(f'{action.skill} {action.state} {compact(action.goal)}', ACTION_BYTES)
    navigation, motion = snapshot.navigation.usable, snapshot.motion.usable
    if navigation is not None and any(g.owner == 'foreign' for g in navigation.active_goals):
        return "somebody else's goal under way"
    if motion is not None and not motion.at_rest:
        return 'moving, by no action of ours'
    return NO_ACTIVITY


def _at(result: Any, path: str) -> Any:
    for key in path.split('.'):
        if not isinstance(result, Mapping) or key not in result:
            return _ABSENT
        result = result[key]
    return result


def _kept(value: Any) -> Scalar:
    """Return a value that cannot change any more: a scalar, or its JSON as text."""
    plain = jsonable(value)
    if isinstance(plain, str):
        return cut(plain, VALUE_BYTES)
    text = compact(plain)
    if plain is None or (isinstance(plain, (bool, int, float)) and len(text) <= VALUE_BYTES):
        return plain
    return cut(text, VALUE_BYTES)


def _text(value: Any) -> str | None:
    return one_line(value, TEXT_BYTES) or None if isinstance(value, str) else None
