# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Prompts that a person picks in a client: a briefing on the robot, and a review of a mission."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import json
from typing import Any
from urllib.parse import quote

from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Prompt,
    PromptArgument,
)

from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.errors import JournalError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.mcp_server.history import History
from robot_agent_harness.mcp_server.tools import NEVER_OFFERED
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills.places import Place, PlaceBook
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.skill import Skill
from robot_agent_harness.world.projection import project
from robot_agent_harness.world.snapshot import WorldSnapshot

PLACES_MAX = 100
"""Places that a briefing names; `list_places` has them all."""
LINE_MAX = 400
"""What a review shows of one event, in characters."""
HEAD_LINES, TAIL_LINES = 40, 120
"""Events at a mission's beginning and end that a review shows: how it came about, and how it
ended."""
WORLD_MAX_BYTES = 2048
MISSION_ID_MAX = 512

BRIEFING = Prompt(
    name='mission_briefing',
    title='Brief me on this robot',
    description='What this robot can do, the places it knows, the rules for driving it, and how'
    ' it stands now.',
)
REVIEW = Prompt(
    name='incident_review',
    title='Review a mission',
    description="A mission's events, condensed, to find out what happened and why.",
    arguments=[
        PromptArgument(
            name='mission_id',
            description='The mission, as snapshots and the journal name it.',
            required=True,
        )
    ],
)
PROMPTS = [BRIEFING, REVIEW]

RULES = """\
- Look first (get_world_snapshot), then decide, then call. Calls are held against what you saw.
- `accepted` means that the controller took the goal. Wait for the outcome with wait_for_action.
- SUCCEEDED was verified on the robot's own state. FAILED was disproved, refused or given up.
- UNKNOWN means that nobody can say, and the robot may still move. Look before you go on.
- `precondition_changed` means that nothing was sent: decide again from the snapshot it gives.
- One action at a time, whoever started it. Never claim what no outcome says.
- cancel_action is no emergency stop. Safety is not in your hands."""

ASSIGNMENT = """\
Review what happened in mission {mission_id} of a robot. Below is what its journal holds: one event
a line, with its number and the seconds since the first, condensed. Say what was asked, what was
decided and why, what was sent to the robot, what was observed, and what went wrong, if anything
did. Cite events by number. Say UNKNOWN where the journal does not tell. Every detail is in the
resource robot://missions/{resource_id}/events."""


@dataclass(frozen=True, slots=True)
class PromptText:
    """What a prompt holds."""

    text: str
    snapshot_id: str | None = None
    """The snapshot that it shows, if it shows one."""


class Prompts:
    """Makes prompts."""

    def __init__(
        self,
        *,
        registry: SkillRegistry,
        places: PlaceBook,
        observer: WorldObserver,
        mission_id: Callable[[], str | None],
        history: History,
        redactor: Redactor,
    ) -> None:
        self._mission_id = mission_id
        self._registry = registry
        self._places = places
        self._observer = observer
        self._history = history
        self._redactor = redactor

    async def get(self, name: str, arguments: Mapping[str, str]) -> PromptText:
        """Return a prompt.

        :raises MCPError: there is none of that name, or the arguments do not fit.
        """
        if name == BRIEFING.name:
            _refuse_other(name, arguments, ())
            world = self._observer.capture(self._mission_id())
            return PromptText(self._redactor.text(self._briefing(world)), world.snapshot_id)
        if name == REVIEW.name:
            _refuse_other(name, arguments, ('mission_id',))
            return PromptText(await self._review(arguments.get('mission_id', '')))
        raise MCPError(INVALID_PARAMS, f'Unknown prompt: {name[:128]}')

    def _briefing(self, world: WorldSnapshot) -> str:
        skills = [skill for skill in self._registry.skills if skill.name not in NEVER_OFFERED]
        checks = [
            f'- {skill.name}: {"; ".join(_limits(skill.managed.preconditions))}'
            for skill in skills
            if skill.managed is not None
        ]
        return '\n'.join(
            [
                f'You drive the robot {world.robot_id}, through these tools:',
                *(f'- {_in_short(skill)}' for skill in skills),
                '',
                'Places it knows (metres and radians in their frame):',
                *_places(self._places.current()),
                '',
                'Rules:',
                RULES,
                '',
                'Checked right before anything is sent:',
                *checks,
                '',
                'The world now, which your first call is held against:',
                project(world, max_bytes=WORLD_MAX_BYTES).text,
            ]
        )

    async def _review(self, mission_id: str) -> str:
        if not 0 < len(mission_id) <= MISSION_ID_MAX:
            raise MCPError(INVALID_PARAMS, f'{REVIEW.name} needs a mission_id')
        try:
            told = await self._history.of_mission(mission_id, self._condensed)
        except JournalError as error:
            raise MCPError(INTERNAL_ERROR, f'the journal cannot be read: {error}') from error
        if not told:
            raise MCPError(INVALID_PARAMS, f'the journal knows no mission {mission_id[:128]}')
        head = ASSIGNMENT.format(mission_id=mission_id, resource_id=quote(mission_id, safe=''))
        return '\n'.join([head, '', *told])

    def _condensed(self, events: Iterator[RecordedEvent]) -> list[str]:
        """Return a mission's events as lines: all of a short one, both ends of a long one."""
        head: list[str] = []
        tail: deque[str] = deque(maxlen=TAIL_LINES)
        dropped, start_ns = 0, None
        for event in events:
            start_ns = event.wall_time_ns if start_ns is None else start_ns
            told = _told(event)
            if told is None:
                continue
            at_s = (event.wall_time_ns - start_ns) / NS_PER_S
            text = self._redactor.text(f'#{event.seq} +{at_s:.2f}s {event.type} {told}')
            shown = text if len(text) <= LINE_MAX else f'{text[:LINE_MAX]}...'
            if len(head) < HEAD_LINES:
                head.append(shown)
                continue
            dropped += len(tail) == TAIL_LINES
            tail.append(shown)
        left_out = [f'({dropped} events in between are left out)'] if dropped else []
        return [*head, *left_out, *tail]


def _refuse_other(name: str, arguments: Mapping[str, str], known: tuple[str, ...]) -> None:
    other = ', '.join(sorted(arguments.keys() - set(known)))
    if other:
        raise MCPError(INVALID_PARAMS, f'{name} takes no argument {other[:128]}')


def _in_short(skill: Skill) -> str:
    names = ', '.join(skill.input_schema['properties'])
    sentence = ' '.join(skill.description.split()).partition('. ')[0].rstrip('.')
    return f'{skill.name}({names}): {sentence}.'


def _limits(policy: PreconditionPolicy) -> Iterator[str]:
    for limit, told in (
        (policy.pose_max_age_s, 'map pose at most {} s old'),
        (policy.odometry_max_age_s, 'odometry at most {} s old'),
        (policy.max_drift_m, 'robot within {} m of where you saw it'),
        (policy.max_turn_rad, 'robot turned at most {} rad from where you saw it face'),
        (policy.max_position_variance_m2, 'position variance at most {} m²'),
        (policy.min_battery_fraction, 'battery, where reported, at least {}'),
    ):
        if limit is not None:
            yield told.format(f'{limit:g}')
    if policy.emergency_stop_clear:
        yield 'emergency stop, where reported, clear'
    if policy.controller_idle:
        yield 'controller idle'


def _places(places: Mapping[str, Place]) -> Iterator[str]:
    for name, place in sorted(places.items())[:PLACES_MAX]:
        about = f': {place.description[:LINE_MAX]}' if place.description else ''
        where = f'{place.x:g}, {place.y:g}, yaw {place.yaw:g} in {place.frame_id}'
        yield f'- {name} ({where}){about}'
    if len(places) > PLACES_MAX:
        yield f'- and {len(places) - PLACES_MAX} more: list_places'
    if not places:
        yield '- none'


_KEYS: Mapping[str, tuple[str, ...]] = {
    EventType.MISSION_STARTED: ('instruction', 'model'),
    EventType.MODEL_TURN_STARTED: ('step', 'trigger'),
    EventType.MODEL_RESPONSE_RECORDED: ('rationale', 'error', 'stop_reason'),
    EventType.TOOL_CALL_RECORDED: (
        'name',
        'arguments',
        'purpose',
        'expected_outcome',
        'repeat_of',
    ),
    EventType.ROBOT_ACTION_STARTED: ('skill', 'goal'),
    EventType.ROBOT_ACTION_PROGRESS: ('state', 'late', 'note'),
    EventType.ROBOT_ACTION_OUTCOME: ('state', 'reason', 'evidence'),
    EventType.SALIENT_EVENT: ('kind', 'message'),
    EventType.MISSION_CANCEL_REQUESTED: ('reason',),
    EventType.MISSION_ENDED: ('outcome', 'reason', 'summary', 'claim', 'claim_supported'),
    EventType.RECOVERY_PERFORMED: ('interrupted_calls', 'settled_actions'),
}
"""What a review tells of an event of each type; of others it tells nothing."""


def _told(event: RecordedEvent) -> str | None:
    payload = event.payload
    if event.type == EventType.TOOL_RESULT_RECORDED:
        message = payload.get('structured', {}).get('message')
        told: dict[str, Any] = {'status': payload.get('status'), 'message': message}
    elif event.type == EventType.ACTION_PRECONDITION_CHECKED:
        failed = [check for check in payload.get('checks', ()) if not check.get('ok')]
        told = {'ok': payload.get('ok'), 'failed': failed}
    elif event.type == EventType.ROBOT_ACTION_PROGRESS and not (
        payload.get('note') or payload.get('late')
    ):
        return None  # feedback: how far it had come says nothing about where it ended
    elif event.type in _KEYS:
        told = {key: payload.get(key) for key in _KEYS[event.type]}
    else:
        return None
    ids = {'call': event.tool_call_id, 'action': event.action_id}
    known = {key: value for key, value in {**ids, **told}.items() if value not in (None, [], '')}
    # In the order above: what matters most must not be cut off.
    return json.dumps(jsonable(known), separators=(',', ':'), ensure_ascii=False)
