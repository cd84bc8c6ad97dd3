# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a mission remembers: by rules alone, bounded, the same each time, and whatever comes in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, FrozenInstanceError, replace
import json
from pathlib import Path
import re
from typing import Any

from arriving_nav2 import ArrivingNav2
from hypothesis import given
from hypothesis import strategies as st
import pytest
from world_rig import WorldRig

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.planner import Prompt, Situation
from robot_agent_harness.skills.observation import list_places
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.skills.skill import skill
from robot_agent_harness.testing import Bench, call, run_virtual, scripted
from robot_agent_harness.world import (
    ActionSummary,
    ActiveGoal,
    Availability,
    MapPose,
    Motion,
    Navigation,
    Observed,
    WorldModel,
    WorldSnapshot,
    WorldState,
)
from robot_agent_harness.world.world_model import (
    ACTION_BYTES,
    NO_ACTIVITY,
    PLACE_ENTER_M,
    PLACE_LEAVE_M,
    TEXT_BYTES,
    VALUE_BYTES,
    VARIABLE_NAME_BYTES,
    VARIABLES_MAX,
)

INTENT = {'purpose': 'look there', 'expected_outcome': 'the robot stands there'}
FINISH = call('finish_mission', outcome='achieved', reason='r')


@dataclass(frozen=True)
class Spot:
    x: float
    y: float
    frame_id: str = 'map'


PLACES = {'dock': Spot(0.0, 0.0), 'door': Spot(1.2, 0.0), 'far': Spot(9.0, 9.0)}
BARE = WorldRig().capture()


def at(x: float, y: float = 0.0, *, frame: str = 'map', known: bool = True) -> WorldSnapshot:
    availability = Availability.AVAILABLE if known else Availability.STALE
    pose = MapPose(x, y, 0.0, frame, None, None)
    return replace(BARE, map_pose=Observed(pose, 'tf', 1, 0.0, availability))


def seen(value: Any) -> Observed[Any]:
    return Observed(value, 'topic', 1, 0.0, Availability.AVAILABLE)


def decide(model: WorldModel, action_id: str | None = None, **changes: Any) -> None:
    fields: dict[str, Any] = {
        'action': 'navigate_to_pose{"x":1.0}',
        'purpose': 'look',
        'expected_outcome': 'there',
        'rationale': 'I go.',
        'outcome': 'accepted',
        'reason': None,
    }
    model.decided(action_id=action_id, **{**fields, **changes})


# -- where the robot is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('way_m', 'places'),
    [
        ([0.0], ['dock']),
        ([-0.9, -1.4, -1.6, -1.4, -0.9], ['dock', 'dock', None, None, 'dock']),
        ([5.0, 1.9, 1.2], [None, 'door', 'door']),
        ([0.0, 0.7, 0.8, 0.6, 0.5, 0.3], ['dock', 'dock', 'door', 'door', 'door', 'dock']),
        ([-0.9, 30.0], ['dock', None]),
    ],
    ids=['there', 'noise at the edge', 'coming', 'between two', 'carried away'],
)
def test_the_robot_is_at_a_place_once_it_is_near_and_until_it_is_away(
    way_m: list[float], places: list[str | None]
) -> None:
    assert PLACE_ENTER_M == 1.0
    assert PLACE_LEAVE_M == 1.5
    model, shown = WorldModel(), []
    for x in way_m:
        model.observe(at(x), PLACES)
        shown.append(model.state.current_place)
        assert model.state.place_confirmed
    assert shown == places


@pytest.mark.parametrize(
    ('snapshot', 'places'),
    [
        (at(9.0, 9.0, known=False), PLACES),
        (BARE, PLACES),
        (at(9.0, 9.0, frame='odom'), PLACES),
        (at(9.0, 9.0), {}),
    ],
    ids=['a stale pose', 'no pose', 'another frame', 'no places'],
)
def test_a_place_that_nothing_shows_any_more_is_kept_and_said_to_be_the_last_known(
    snapshot: WorldSnapshot, places: Mapping[str, Spot]
) -> None:
    model = WorldModel()
    model.observe(at(0.0), PLACES)
    model.observe(snapshot, places)
    assert (model.state.current_place, model.state.place_confirmed) == ('dock', False)


# -- what it does ---------------------------------------------------------------------------------

FOREIGN = Navigation(True, (ActiveGoal('f' * 32, 'foreign', 'EXECUTING'),), None, None)


@pytest.mark.parametrize(
    ('parts', 'activity'),
    [
        ({}, NO_ACTIVITY),
        (
            {'active_action': ActionSummary('a' * 32, 'navigate_to_pose', 'RUNNING', {'x': 1}, 3)},
            'navigate_to_pose RUNNING {"x":1}',
        ),
        ({'navigation': seen(FOREIGN)}, "somebody else's goal under way"),
        ({'motion': seen(Motion(False, 0.3, 0.0, 'odometry'))}, 'moving, by no action of ours'),
        ({'motion': seen(Motion(True, 0.0, 0.0, 'odometry'))}, NO_ACTIVITY),
    ],
)
def test_the_activity_is_what_the_snapshot_shows(parts: dict[str, Any], activity: str) -> None:
    model = WorldModel()
    model.observe(replace(BARE, **parts), PLACES)
    assert model.state.current_activity == activity


# -- what it was told to remember -----------------------------------------------------------------


def test_only_what_is_declared_is_remembered_of_a_result() -> None:
    model = WorldModel()
    result = {'status': 'completed', 'cup': {'x': 1.5, 'seen': True}, 'secret': 1}
    model.remember({'cup.x': 'cup_x', 'cup': 'cup', 'no.such': 'never'}, result)
    assert dict(model.state.variables) == {'cup_x': 1.5, 'cup': '{"x":1.5,"seen":true}'}
    model.remember({'cup.x': 'cup_x'}, {'cup': None})
    assert model.state.variables['cup_x'] == 1.5
    model.remember({}, result)
    assert set(model.state.variables) == {'cup_x', 'cup'}


def test_variables_are_few_and_small_and_the_one_set_longest_ago_goes_first() -> None:
    model = WorldModel()
    for number in range(VARIABLES_MAX):
        model.remember({'v': f'v{number}'}, {'v': number})
    model.remember({'v': 'v0'}, {'v': 'again'})
    model.remember({'v': 'ü' * 500}, {'v': 'ß"' * 500})
    assert len(model.state.variables) == VARIABLES_MAX
    assert 'v1' not in model.state.variables
    assert model.state.variables['v0'] == 'again'
    name, value = list(model.state.variables.items())[-1]
    assert len(name.encode()) <= VARIABLE_NAME_BYTES
    assert len(json.dumps(value, ensure_ascii=False).encode()) <= VALUE_BYTES + 2


# -- what was decided -----------------------------------------------------------------------------


def test_a_decision_is_remembered_with_its_place_and_gets_its_verified_outcome() -> None:
    model = WorldModel()
    model.observe(at(0.0), PLACES)
    decide(model, 'a1')
    assert (model.state.history[0].place, model.state.history[0].outcome) == ('dock', 'accepted')
    model.observe(at(9.0, 9.0), PLACES)
    model.ended('a1', outcome='SUCCEEDED', reason='verified: at rest')
    (entry,) = model.state.history
    assert (entry.place, entry.outcome, entry.reason) == ('dock', 'SUCCEEDED', 'verified: at rest')
    model.ended('of a client', outcome='FAILED', reason='aborted')
    assert model.state.history == (entry,)


def test_the_history_is_a_ring_of_short_texts() -> None:
    model = WorldModel(history_size=3)
    for number in range(5):
        decide(model, f'a{number}', action=f'act{number}' + 'ü' * 999, rationale='"\x00\n' * 9999)
    assert [entry.action[:4] for entry in model.state.history] == ['act2', 'act3', 'act4']
    for entry in model.state.history:
        assert len(json.dumps(entry.action, ensure_ascii=False).encode()) <= ACTION_BYTES + 2
        assert len(json.dumps(entry.rationale, ensure_ascii=False).encode()) <= TEXT_BYTES + 2
    model.ended('a0', outcome='FAILED', reason='long gone')
    assert len(model.state.history) == 3


# -- whatever comes in ----------------------------------------------------------------------------


class Hostile(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError('no')

    def __contains__(self, key: object) -> bool:
        raise RuntimeError('no')


def _deep() -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    'play',
    [
        lambda m: m.observe(None, PLACES),
        lambda m: m.observe(at(0.0), Hostile()),
        lambda m: m.observe(at(0.0), {'dock': None}),
        lambda m: m.observe(at(10**400), PLACES),
        lambda m: m.remember(Hostile(), {}),
        lambda m: m.remember({'a': 'a'}, Hostile(a=1)),
        lambda m: m.remember({None: 'a'}, {'a': 1}),
        lambda m: m.remember({'a': None}, {'a': 1}),
        lambda m: decide(m, action=None),
        lambda m: m.ended([], outcome=1, reason=2),
    ],
)
def test_what_cannot_be_taken_in_changes_nothing_and_stops_nobody(
    play: Callable[[Any], None],
) -> None:
    model = WorldModel()
    model.observe(at(9.0, 9.0), PLACES)
    model.remember({'v': 'v'}, {'v': 1})
    decide(model)
    before = model.state
    play(model)
    assert model.state == before


@pytest.mark.parametrize(
    'value',
    [10**5000, float('nan'), _deep(), object(), {1: {2: 3}}, b'x', '\ud800', set(), None],
    ids=['huge', 'nan', 'deep', 'object', 'object in json', 'bytes', 'surrogate', 'set', 'null'],
)
def test_any_value_becomes_a_scalar_that_json_can_hold(value: Any) -> None:
    model = WorldModel()
    model.remember({'v': 'v'}, {'v': value})
    kept = model.state.variables['v']
    assert kept is None or isinstance(kept, (bool, int, float, str))
    assert len(json.dumps(kept, ensure_ascii=False).encode()) <= VALUE_BYTES + 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(['a', 'b', 'c.d', '', '.'])
EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just('observe'),
            st.floats(allow_nan=True, allow_infinity=True),
            st.booleans(),
            st.dictionaries(st.text(max_size=3), st.builds(Spot, st.floats(), st.floats())),
        ),
        st.tuples(st.just('remember'), st.dictionaries(NAMES, st.text()), JSON),
        st.tuples(st.just('decided'), NAMES, st.text()),
        st.tuples(st.just('ended'), NAMES, st.text()),
    ),
    max_size=30,
)


def _after(events: list[Any]) -> WorldState:
    model = WorldModel(history_size=4)
    for kind, *said in events:
        if kind == 'observe':
            model.observe(at(said[0], known=said[1]), {**PLACES, **said[2]})
        elif kind == 'remember':
            model.remember(said[0], {'a': said[1], 'b': [said[1]], 'c': {'d': said[1]}})
        elif kind == 'decided':
            decide(model, said[0], rationale=said[1], action=said[1])
        else:
            model.ended(said[0], outcome=said[1], reason=said[1])
    return model.state


@given(EVENTS)
def test_the_same_events_give_the_same_bounded_state(events: list[Any]) -> None:
    state = _after(events)
    assert state == _after(events)
    assert len(state.variables) <= VARIABLES_MAX
    assert len(state.history) <= 4
    json.dumps(dict(state.variables), allow_nan=False).encode()


def test_a_state_cannot_be_changed_by_who_reads_it() -> None:
    model = WorldModel()
    model.remember({'v': 'v'}, {'v': [1]})
    before = model.state
    with pytest.raises(FrozenInstanceError):
        before.current_place = 'moon'  # type: ignore[misc]
    with pytest.raises(TypeError):
        before.variables['v'] = 2  # type: ignore[index]
    model.remember({'v': 'v'}, {'v': 3})
    assert before.variables['v'] == '[1]'


# -- in a mission ---------------------------------------------------------------------------------


class Listening:
    """A planner that keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, WorldState | None]] = []

    def prompt(self, situation: Situation, *, world: WorldState | None) -> Prompt:
        self.told.append((situation.mission_id, world))
        return Prompt('Decide.', situation.instruction)


def play(
    path: Path, *responses: dict[str, Any], missions: int = 1, **parameters: Any
) -> Listening:
    planner, nav2 = Listening(), ArrivingNav2()

    async def scenario() -> None:
        async with Bench(
            path / 'j.db',
            model=scripted(*responses),
            planner=planner,
            nav2=nav2,
            parameters=parameters,
        ) as bench:
            nav2.bench = bench
            for number in range(missions):
                await asyncio.wait_for(bench.core.harness.run_mission('go', f'm{number}'), 600)

    run_virtual(scenario())
    return planner


SKILLS = """\
skills:
  get_world_snapshot:
    remember: {snapshot.battery.fraction: charge}
"""


def configured(tmp_path: Path) -> dict[str, str]:
    skills, places = tmp_path / 'skills.yaml', tmp_path / 'places.yaml'
    skills.write_text(SKILLS)
    places.write_text('places: {dock: {x: 0.0, y: 0.0}, shelf: {x: 5.0, y: 0.0}}\n')
    return {'skills_file': str(skills), 'places_file': str(places)}


def test_a_mission_remembers_places_decisions_and_what_skills_declare(tmp_path: Path) -> None:
    go = call('navigate_to_place', say='To the shelf.', name='shelf', **INTENT)
    look = call('get_world_snapshot')
    planner = play(tmp_path, look, go, FINISH, **configured(tmp_path))
    (_, first), (_, last) = planner.told
    assert first is not None
    assert last is not None
    assert (first.current_place, first.history, dict(first.variables)) == ('dock', (), {})
    assert (last.current_place, dict(last.variables)) == ('shelf', {'charge': 0.8})
    (entry,) = last.history
    assert (entry.place, entry.action) == ('dock', 'navigate_to_place{"name":"shelf"}')
    assert (entry.purpose, entry.expected_outcome) == tuple(INTENT.values())
    assert (entry.rationale, entry.outcome) == ('To the shelf.', 'SUCCEEDED')
    assert (entry.reason or '').startswith('verified: ')


def test_nothing_of_one_mission_is_remembered_in_the_next(tmp_path: Path) -> None:
    mission = [call('get_world_snapshot'), call('navigate_to_place', name='shelf', **INTENT)]
    planner = play(tmp_path, *mission, FINISH, FINISH, missions=2, **configured(tmp_path))
    mission_id, world = planner.told[-1]
    assert mission_id == 'm1'
    assert world is not None
    assert (world.history, dict(world.variables)) == ((), {})


def test_switched_off_nothing_is_remembered(tmp_path: Path) -> None:
    go = call('navigate_to_place', name='kitchen', **INTENT)
    planner = play(tmp_path, go, FINISH, **{'world_model.enabled': False})
    assert [world for _, world in planner.told] == [None, None]


def test_what_a_skill_remembers_is_declared_by_the_skill_or_the_file_and_changes_no_tool(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'skills.yaml'
    own = skill(output=list_places.output, remember={'places': 'known'})(list_places.function)
    assert own.remember == {'places': 'known'}
    assert load_registry(None, skills=[own]).skills[0].remember == {'places': 'known'}
    for said, remembered in (('{places: p}', {'places': 'p'}), ('{}', {})):
        path.write_text(f'skills: {{list_places: {{remember: {said}}}}}')
        (entry,) = load_registry(path, skills=[own]).skills
        assert entry.remember == remembered
        assert (entry.name, entry.description) == (list_places.name, list_places.description)
        assert entry.input_schema == list_places.input_schema
        assert entry.output_schema == list_places.output_schema
    path.write_text("skills: {list_places: {remember: {'a..b': 'no good'}}}")
    with pytest.raises(ConfigurationError, match=re.escape(f'skills_file {path}')):
        load_registry(path)
