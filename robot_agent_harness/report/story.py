# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened in a mission, told from its journal records: turns, calls, checks, actions.

Times are seconds since the mission's first record, by the wall clock that the journal carries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import MissionUsage
from robot_agent_harness.report.values import (
    brief,
    COORDINATE_MAX_M,
    items,
    mapping,
    number,
    point,
    text,
)

Point = tuple[float, float]

POINTS_MAX = 50_000
"""Positions kept of one mission; a run of days keeps its first ones."""
LOOKS_MAX = 200
"""Snapshots kept of one mission, the newest."""
FACTS = ('map_pose', 'odometry', 'motion', 'navigation', 'battery', 'safety')
"""The facts of a snapshot, in its order."""
ACTIONS_MAX = 100
"""Actions that are drawn and listed of one mission, the newest."""
SALIENT_MAX = 200
"""The same of salient events."""
TOLERANCE = 'navigation.xy_tolerance_m'
"""The parameter that says how far counts as there."""
NAVIGATION = 'navigation'
"""The verifier that goes by it."""
NAVIGATION_SKILLS = ('navigate_to_pose', 'navigate_to_place')
"""Those that it judges where the record of an action names no verifier."""
NO_USAGE = MissionUsage(0, 0, 0, 0, None, None, None)


@dataclass(slots=True)
class Check:
    """One precondition as it was found."""

    name: str
    ok: bool
    measured: Any
    limit: Any
    detail: str | None


@dataclass(slots=True)
class Action:
    """One physical action."""

    number: int
    """Counted in the mission from 1; the page names it by this."""
    action_id: str
    skill: str
    goal: Mapping[str, Any]
    title: str
    """The call in short, for instance `navigate_to_place kitchen`."""
    states: list[tuple[str, float]]
    """Each state that it entered, and when."""
    state: str
    reason: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    ended_s: float | None = None
    late: list[str] = field(default_factory=list)
    """What was heard of it after its end."""
    allowed_m: float | None = None
    """How far from the goal the configuration allowed it to end; None where it does not say."""

    @property
    def target(self) -> Point | None:
        """Where it was to go."""
        return point(self.goal)

    @property
    def observed(self) -> Point | None:
        """Where the robot was seen at the end."""
        return point(mapping(self.evidence, 'observed_pose'))

    @property
    def claimed(self) -> bool:
        """Whether the controller said that it had succeeded."""
        return self.evidence.get('controller_status') == 'SUCCEEDED'

    @property
    def error_m(self) -> float | None:
        """How far from the goal the robot was seen."""
        return number(self.evidence, 'position_error_m')

    @property
    def tolerance_m(self) -> float | None:
        """How far counts as there: as it was judged, or as it will be."""
        tolerance = number(self.evidence, 'position_tolerance_m')
        if tolerance is None:
            tolerance = self.allowed_m
        return tolerance if tolerance is not None and 0 < tolerance < COORDINATE_MAX_M else None


@dataclass(slots=True)
class Call:
    """One tool call with its one result."""

    tool_call_id: str
    at_s: float
    name: str
    arguments: Any
    purpose: str | None
    expected_outcome: str | None
    caller: str
    checks: list[Check] = field(default_factory=list)
    checked_at_s: float | None = None
    moved: tuple[Point, Point] | None = None
    """From where to where the robot was moved under the decision, if that stopped the call."""
    status: str | None = None
    is_error: bool = False
    message: str | None = None
    action: Action | None = None

    @property
    def failed_checks(self) -> list[Check]:
        """The checks that did not hold."""
        return [check for check in self.checks if not check.ok]


@dataclass(slots=True)
class Turn:
    """One time that the model was asked, or calls of somebody else."""

    turn_id: str | None
    at_s: float
    step: int | None = None
    trigger: str | None = None
    prompt: str | None = None
    omitted: list[str] = field(default_factory=list)
    answered_s: float | None = None
    rationale: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    usage: MissionUsage = NO_USAGE
    """What this turn has cost, failed attempts included."""


@dataclass(slots=True)
class Fact:
    """How well one thing was known when a snapshot was taken."""

    name: str
    availability: str
    age_s: float | None


@dataclass(slots=True)
class Look:
    """One snapshot: when, what for, and how old what it says was by then."""

    at_s: float
    reason: str
    facts: list[Fact]


@dataclass(slots=True)
class Salient:
    """Something that happened by itself."""

    at_s: float
    kind: str
    message: str


@dataclass(slots=True)
class Story:
    """One mission, or the calls that belong to none."""

    mission_id: str | None
    started_ns: int = 0
    last_ns: int = 0
    instruction: str | None = None
    robot_id: str | None = None
    model: str | None = None
    outcome: str | None = None
    """`achieved`, `not_achieved`, `unknown`; None while no end is recorded."""
    reason: str | None = None
    summary: str | None = None
    claim: str | None = None
    claim_supported: bool | None = None
    usage: MissionUsage = NO_USAGE
    turns: list[Turn] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    salient: list[Salient] = field(default_factory=list)
    looks: deque[Look] = field(default_factory=lambda: deque(maxlen=LOOKS_MAX))
    """The newest snapshots."""
    paths: list[list[Point]] = field(default_factory=list)
    """Where the robot drove; a new one begins where something else had moved it to."""

    @property
    def duration_s(self) -> float:
        """From the first to the last record."""
        return (self.last_ns - self.started_ns) / NS_PER_S

    @property
    def shown_actions(self) -> list[Action]:
        """The newest actions, as many as a page has room for."""
        return self.actions[-ACTIONS_MAX:]

    @property
    def shown_salient(self) -> list[Salient]:
        """The newest salient events, as many as a page has room for."""
        return self.salient[-SALIENT_MAX:]

    @property
    def calls(self) -> list[Call]:
        """Every call, in order."""
        return [call for turn in self.turns for call in turn.calls]

    @property
    def stopped(self) -> list[Call]:
        """Calls that were refused over a check, before anything moved."""
        return [call for call in self.calls if call.failed_checks]

    @property
    def false_claims(self) -> list[Action]:
        """Actions that the controller called a success and the world did not."""
        return [a for a in self.actions if a.claimed and a.reason == 'verification_disproved']

    @property
    def thinking_s(self) -> float:
        """How long the model was waited for: as it was measured, or from record to record."""
        if self.usage.model_s is not None:
            return self.usage.model_s
        return sum(t.answered_s - t.at_s for t in self.turns if t.answered_s is not None)

    @property
    def acting_s(self) -> float:
        """How long an action was under way, its verification included."""
        ends = (self.duration_s if a.ended_s is None else a.ended_s for a in self.actions)
        begins = (action.states[0][1] for action in self.actions)
        return sum(max(0.0, end - begin) for begin, end in zip(begins, ends, strict=True))

    def ended(self, state: str) -> list[Action]:
        """Return the actions that ended in this state."""
        return [action for action in self.actions if action.state == state]


def tell(mission_id: str | None, events: Iterable[RecordedEvent]) -> Story:
    """Tell what the records of one mission say; records of unknown types say nothing here."""
    teller = Teller(mission_id)
    for event in events:
        teller.take(event)
    return teller.story


class Teller:
    """Tells a story as its records come in, in their order."""

    def __init__(self, mission_id: str | None) -> None:
        self.story = Story(mission_id)
        self._turns: dict[str | None, Turn] = {}
        self._calls: dict[str, Call] = {}
        self._actions: dict[str, Action] = {}
        self._poses: dict[str, Point] = {}
        self._now = 0.0
        self._points = 0
        self._tolerance_m: float | None = None
        self._takers = {
            EventType.MISSION_STARTED: self._mission_started,
            EventType.MODEL_TURN_STARTED: self._turn_started,
            EventType.MODEL_RESPONSE_RECORDED: self._model_answered,
            EventType.WORLD_SNAPSHOT_CAPTURED: self._snapshot,
            EventType.TOOL_CALL_RECORDED: self._called,
            EventType.ACTION_PRECONDITION_CHECKED: self._checked,
            EventType.TOOL_RESULT_RECORDED: self._answered,
            EventType.ROBOT_ACTION_STARTED: self._action_started,
            EventType.ROBOT_ACTION_PROGRESS: self._progressed,
            EventType.ROBOT_ACTION_OUTCOME: self._ended,
            EventType.SALIENT_EVENT: self._salient,
            EventType.MISSION_ENDED: self._mission_ended,
        }

    def take(self, event: RecordedEvent) -> None:
        """Go on with the next record."""
        if event.type == EventType.HARNESS_STATE_CHANGED:
            self._configured(event.payload)
            return
        story = self.story
        story.started_ns = story.started_ns or event.wall_time_ns
        story.last_ns = max(story.last_ns, event.wall_time_ns)
        self._now = max(0.0, (event.wall_time_ns - story.started_ns) / NS_PER_S)
        if event.type in EventType._value2member_map_:
            self._takers.get(EventType(event.type), _nothing)(event, event.payload)

    def _configured(self, payload: Mapping[str, Any]) -> None:
        parameters = mapping(mapping(payload, 'configuration'), 'parameters')
        tolerance_m = number(parameters, TOLERANCE)
        if tolerance_m is not None:
            self._tolerance_m = tolerance_m

    def _mission_started(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        self.story.instruction = text(payload, 'instruction')
        self.story.robot_id = text(payload, 'robot_id')
        told = [text(payload, 'provider'), text(payload, 'model')]
        self.story.model = ' / '.join(part for part in told if part) or None

    def _turn_started(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        turn = self._turn(event.turn_id)
        turn.at_s = self._now
        step = number(payload, 'step')
        turn.step = None if step is None else int(step)
        turn.trigger = text(payload, 'trigger')
        turn.prompt = text(payload, 'user_prompt')
        turn.omitted = [str(name) for name in items(payload, 'omitted')]

    def _model_answered(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        turn = self._turn(event.turn_id)
        turn.answered_s = self._now
        for key, said in (
            ('rationale', turn.rationale),
            ('thinking', turn.thinking),
            ('error', turn.errors),
        ):
            if (value := text(payload, key)) is not None:
                said.append(value)
        turn.usage = _with(turn.usage, payload)
        self.story.usage = _with(self.story.usage, payload)

    def _snapshot(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        snapshot = mapping(payload, 'snapshot')
        self.story.looks.append(
            Look(
                self._now,
                text(payload, 'reason') or 'for no reason given',
                [_fact(name, mapping(snapshot, name)) for name in FACTS],
            )
        )
        pose = mapping(snapshot, 'map_pose')
        where = point(mapping(pose, 'value'))
        if where is None or pose.get('availability') != 'available':
            return
        self._been(where)
        if event.snapshot_id is not None and len(self._poses) < POINTS_MAX:
            self._poses[event.snapshot_id] = where

    def _called(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        client = mapping(payload, 'client')
        call = Call(
            tool_call_id=event.tool_call_id or '',
            at_s=self._now,
            name=text(payload, 'name') or 'a tool without a name',
            arguments=payload.get('arguments'),
            purpose=text(payload, 'purpose'),
            expected_outcome=text(payload, 'expected_outcome'),
            caller=text(client, 'kind') or 'unknown caller',
        )
        self._calls[call.tool_call_id] = call
        self._turn(event.turn_id).calls.append(call)

    def _checked(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        call = self._calls.get(event.tool_call_id or '')
        if call is None:
            return
        call.checked_at_s = self._now
        call.checks = [
            Check(
                name=text(check, 'name') or 'a check without a name',
                ok=check.get('ok') is True,
                measured=check.get('measured'),
                limit=check.get('limit'),
                detail=text(check, 'detail'),
            )
            for check in items(payload, 'checks')
            if isinstance(check, dict)
        ]
        if any(check.name == 'pose_drift' for check in call.failed_checks):
            then = self._poses.get(str(payload.get('decision_snapshot_id')))
            now = self._poses.get(str(payload.get('fresh_snapshot_id')))
            if then and now:
                call.moved = (then, now)
                self._moved_to(now)

    def _answered(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        call = self._calls.get(event.tool_call_id or '')
        if call is None:
            return
        call.status = text(payload, 'status')
        call.is_error = payload.get('is_error') is True
        call.message = text(mapping(payload, 'structured'), 'message')

    def _action_started(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        call = self._calls.get(event.tool_call_id or '')
        skill = text(payload, 'skill') or 'an action'
        action = Action(
            number=len(self.story.actions) + 1,
            action_id=event.action_id or '',
            skill=skill,
            goal=mapping(payload, 'goal'),
            title=_title(skill, call.arguments if call else None),
            states=[('REQUESTED', self._now)],
            state='REQUESTED',
            allowed_m=self._tolerance_m if _navigates(skill, payload) else None,
        )
        self.story.actions.append(action)
        self._actions[action.action_id] = action
        if call is not None:
            call.action = action

    def _progressed(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        where = point(mapping(mapping(payload, 'feedback'), 'current_pose'))
        if where is not None:
            self._been(where)
        action = self._actions.get(event.action_id or '')
        if action is None:
            return
        if payload.get('late') is True:
            action.late.append(text(payload, 'note') or 'something was heard')
            return
        state = text(payload, 'state')
        if state is not None and state != action.state and action.ended_s is None:
            action.state = state
            action.states.append((state, self._now))

    def _ended(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        action = self._actions.get(event.action_id or '')
        if action is None or action.ended_s is not None:
            return
        action.state = text(payload, 'state') or 'UNKNOWN'
        action.reason = text(payload, 'reason')
        action.evidence = mapping(payload, 'evidence')
        action.ended_s = self._now
        action.states.append((action.state, self._now))

    def _salient(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        kind, message = text(payload, 'kind') or 'event', text(payload, 'message') or ''
        self.story.salient.append(Salient(self._now, kind, message))

    def _mission_ended(self, event: RecordedEvent, payload: Mapping[str, Any]) -> None:
        story = self.story
        story.outcome = text(payload, 'outcome')
        story.reason = text(payload, 'reason')
        story.summary = text(payload, 'summary')
        story.claim = text(payload, 'claim')
        supported = payload.get('claim_supported')
        story.claim_supported = supported if isinstance(supported, bool) else None

    def _turn(self, turn_id: str | None) -> Turn:
        if turn_id not in self._turns:
            self._turns[turn_id] = Turn(turn_id, self._now)
            self.story.turns.append(self._turns[turn_id])
        return self._turns[turn_id]

    def _been(self, where: Point) -> None:
        if not self.story.paths:
            self.story.paths.append([])
        path = self.story.paths[-1]
        if self._points < POINTS_MAX and (not path or path[-1] != where):
            self._points += 1
            path.append(where)

    def _moved_to(self, where: Point) -> None:
        """Begin a new path: the robot did not drive to where it was found."""
        path = self.story.paths[-1]
        if path[-1:] == [where]:
            path.pop()
        self.story.paths.append([where])


def _nothing(event: RecordedEvent, payload: Mapping[str, Any]) -> None:
    """Recoveries are told by the outcomes that they wrote."""


def _navigates(skill: str, payload: Mapping[str, Any]) -> bool:
    """Return whether an action is judged by where the robot is, from the record of its start."""
    verifier = text(mapping(payload, 'driven'), 'verifier')
    return verifier == NAVIGATION or (verifier is None and skill in NAVIGATION_SKILLS)


def _fact(name: str, observed: Mapping[str, Any]) -> Fact:
    return Fact(name, text(observed, 'availability') or 'unknown', number(observed, 'age_s'))


def _with(usage: MissionUsage, payload: Mapping[str, Any]) -> MissionUsage:
    """Return what was used so far with one more attempt at an answer."""
    told = mapping(payload, 'usage')

    def more(before: float | None, value: float | None) -> float | None:
        return before if value is None else (before or 0) + value

    def tokens(name: str) -> int | None:
        count = more(getattr(usage, name), number(told, name))
        return None if count is None else int(count)

    return MissionUsage(
        model_calls=usage.model_calls + 1,
        failed_calls=usage.failed_calls + (text(payload, 'error') is not None),
        input_tokens=tokens('input_tokens') or 0,
        output_tokens=tokens('output_tokens') or 0,
        cache_read_input_tokens=tokens('cache_read_input_tokens'),
        cache_creation_input_tokens=tokens('cache_creation_input_tokens'),
        model_s=more(usage.model_s, number(payload, 'duration_s')),
    )


def _title(skill: str, arguments: Any) -> str:
    """Name a call by what tells it from others: its place, or its coordinates."""
    if not isinstance(arguments, dict):
        return brief(skill)
    name = text(arguments, 'name')
    where = point(arguments)
    if name:
        return brief(f'{skill} {name}')
    return f'{brief(skill)} ({where[0]:.2f}, {where[1]:.2f})' if where else brief(skill)
