# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Holds the journal's claims against what the demo saw on the wire, one check a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.demo.observation import Observation, Sighting, SUCCEEDED
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.report.story import Action, Call, Story, tell
from robot_agent_harness.skills.places import Place
from robot_agent_harness.testing.journal_assertions import check_journal

MISSION_ID = 'demo'
TRIPS = ('kitchen', 'office', 'storage', 'storage', 'dock')
"""Where the robot was sent, in the story's order; the third trip is the false success."""
FALSE_TRIP = 2
REST_M = 0.05
"""Less than this is no motion of the robot's own."""
MEASURE_M = 0.1
"""How far the harness's measure of a distance may be from the demo's: a robot that has just been
pushed is seen 10 times a second."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One claim, and whether the demo's own observation agrees."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Trip:
    """One action as three see it."""

    action: Action
    wire_status: int | None
    away_m: float | None
    """From the place that it was sent to, by the demo's own measurement."""


class Evidence:
    """The journal's story and the demo's observation, side by side."""

    def __init__(
        self,
        journal: Path,
        observation: Observation,
        places: Mapping[str, Place],
        action_outcome: str | None,
    ) -> None:
        self.journal = journal
        self.action_outcome = action_outcome
        """What the mission's own ROS action returned."""
        self.observation = observation
        self.places = places
        with JournalReader(journal) as reader:
            self.story: Story = tell(MISSION_ID, reader.events(mission_id=MISSION_ID))
        self.tolerance_m = float(check_parameters({})['navigation.xy_tolerance_m'])

    @property
    def trips(self) -> list[Trip]:
        """Every action of the mission."""
        return [self._trip(action) for action in self.story.actions]

    def sighting(self, at_s: float | None) -> Sighting | None:
        """Return where the robot was at a time of the story."""
        return None if at_s is None else self.observation.at(self.wall_ns(at_s))

    def wall_ns(self, at_s: float) -> int:
        """Return a time of the story as wall time."""
        return self.story.started_ns + round(at_s * NS_PER_S)

    def _trip(self, action: Action) -> Trip:
        seen = self.sighting(action.ended_s)
        place = self.places.get(action.title.rpartition(' ')[2])
        away_m = None if seen is None or place is None else seen.distance_to(place.x, place.y)
        return Trip(action, self.observation.last_status.get(action.action_id), away_m)


def run_checks(evidence: Evidence) -> list[CheckResult]:
    """Check every claim; a check yields what speaks against it."""
    results = []
    for name, check in _CHECKS:
        against = '; '.join(check(evidence))
        results.append(CheckResult(name, not against, against))
    return results


def _journal_sound(evidence: Evidence) -> Iterator[str]:
    yield from check_journal(evidence.journal)


def _goals_match(evidence: Evidence) -> Iterator[str]:
    recorded = {action.action_id for action in evidence.story.actions}
    seen = set(evidence.observation.first_seen_ns)
    for goal in sorted(seen - recorded):
        yield f'goal {goal} was sent and is not in the journal'
    for goal in sorted(recorded - seen):
        yield f'goal {goal} is in the journal and was not seen on the wire'


def _story_told(evidence: Evidence) -> Iterator[str]:
    told = [(a.title.rpartition(' ')[2], a.state) for a in evidence.story.actions]
    wanted = [
        (place, 'FAILED' if index == FALSE_TRIP else 'SUCCEEDED')
        for index, place in enumerate(TRIPS)
    ]
    if told != wanted:
        yield f'it was {told or "no trip at all"}'
    for action in evidence.story.actions:
        place = evidence.places.get(action.title.rpartition(' ')[2])
        if place is None or action.target != (place.x, place.y):
            yield f'the goal {action.target} is not where places.yaml has {action.title}'


def _nothing_sent(evidence: Evidence) -> Iterator[str]:
    refused = _refused(evidence)
    if refused is None or refused.checked_at_s is None:
        yield 'no decision was refused over a check'
        return
    if refused.action is not None or refused.status != 'precondition_changed':
        yield f'the call was answered {refused.status}'
    later = [call.at_s for call in evidence.story.calls if call.at_s > refused.at_s]
    until_s = later[0] if later else evidence.story.duration_s
    since_ns, until_ns = evidence.wall_ns(refused.at_s), evidence.wall_ns(until_s)
    for goal in evidence.observation.goals_between(since_ns, until_ns):
        yield f'goal {goal} appeared on the wire after the refusal'
    then, later_on = evidence.sighting(refused.checked_at_s), evidence.sighting(until_s)
    if then is None or later_on is None:
        yield 'the robot was not seen then'
    elif then.distance_to(later_on.x, later_on.y) > REST_M:
        yield f'the robot moved {then.distance_to(later_on.x, later_on.y):.2f} m after it'


def _really_pushed(evidence: Evidence) -> Iterator[str]:
    refused = _refused(evidence)
    if refused is None or refused.checked_at_s is None:
        yield 'no decision was refused over a check'
        return
    drift = next((c.measured for c in refused.failed_checks if c.name == 'pose_drift'), None)
    decided_s = next(
        (turn.at_s for turn in evidence.story.turns if refused in turn.calls), refused.at_s
    )
    then, now = evidence.sighting(decided_s), evidence.sighting(refused.checked_at_s)
    if not isinstance(drift, (int, float)) or then is None or now is None:
        yield f'measured {drift!r}; the demo saw {then} and {now}'
    elif abs(then.distance_to(now.x, now.y) - drift) > MEASURE_M:
        yield f'the check measured {drift:.2f} m, the demo {then.distance_to(now.x, now.y):.2f} m'


def _really_there(evidence: Evidence) -> Iterator[str]:
    for trip in evidence.trips:
        if trip.action.state != 'SUCCEEDED':
            continue
        where = f'{trip.action.title}: '
        if trip.wire_status != SUCCEEDED:
            yield f'{where}the last status on the wire is {trip.wire_status}'
        if trip.away_m is None:
            yield f'{where}the robot was not seen then'
        elif trip.away_m > evidence.tolerance_m:
            yield f'{where}the robot was {trip.away_m:.2f} m away'


def _really_false(evidence: Evidence) -> Iterator[str]:
    caught = [t for t in evidence.trips if t.action in evidence.story.false_claims]
    if not caught:
        yield 'no false success was caught'
    for trip in caught:
        if trip.wire_status != SUCCEEDED:
            yield f'the last status on the wire is {trip.wire_status}, no success'
        if trip.away_m is None or trip.away_m <= evidence.tolerance_m:
            yield f'the robot was {trip.away_m} m away'


def _mission_ended(evidence: Evidence) -> Iterator[str]:
    if evidence.story.outcome != 'achieved' or evidence.story.claim_supported is not True:
        yield f'the journal says {evidence.story.outcome} ({evidence.story.summary})'
    if evidence.action_outcome != evidence.story.outcome:
        yield f'the ROS action returned {evidence.action_outcome}'


def _refused(evidence: Evidence) -> Call | None:
    return next(iter(evidence.story.stopped), None)


_CHECKS: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
    ('the journal is whole and keeps every invariant', _journal_sound),
    ('the goals seen on the wire are those in the journal, and no others', _goals_match),
    ('every trip ended as the story has it', _story_told),
    ('the refused decision sent no goal and moved nothing', _nothing_sent),
    ('the robot really had been moved as far as that check says', _really_pushed),
    ('the robot really was wherever SUCCEEDED says', _really_there),
    ('the false success really was reported, and really was false', _really_false),
    ('the mission is achieved, by the journal and by its ROS action', _mission_ended),
)
