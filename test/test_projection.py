# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
import copy
from dataclasses import replace
import json

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.world import (
    ActionSummary,
    ActiveGoal,
    ArtifactRef,
    Availability,
    Battery,
    MapPose,
    Motion,
    Navigation,
    Observed,
    Odometry,
    OutcomeSummary,
    Safety,
    WorldSnapshot,
)
from robot_agent_harness.world.projection import DROP_ORDER, LONG_TEXTS, MIN_BYTES, project

GOAL_ID = '7cbbaee3f4c44de0971b5067bb7cc793'
FIELDS = [
    'snapshot_id',
    'robot_id',
    'map_pose',
    'motion',
    'safety',
    'battery',
    'navigation',
    'active_action',
    'recent_outcome',
    'odometry',
    'artifacts',
    'omitted',
]


def seen(value, source='topic', age_s=0.0123):
    return Observed(value, source, 1, age_s, Availability.AVAILABLE)


def full_snapshot():
    """Return a snapshot in which every field is present."""
    goal = {'x': 1.0, 'y': 2.0, 'yaw': 0.5, 'frame_id': 'map'}
    return WorldSnapshot(
        snapshot_id='snapshot-0123456789abcdef',
        robot_id='robot1',
        captured_monotonic_ns=1,
        captured_wall_ns=2,
        captured_ros_ns=3,
        map_pose=seen(
            MapPose(1.23456, -2.34567, 3.04, 'map', 0.0123, 0.0042), 'amcl_pose carried by odom'
        ),
        odometry=seen(Odometry(1.2, -0.3, 0.4, 'odom', 0.22, 0.1)),
        motion=seen(Motion(False, 0.22, 0.1, 'odometry')),
        navigation=seen(
            Navigation(
                True,
                (
                    ActiveGoal(GOAL_ID, 'own', 'EXECUTING'),
                    ActiveGoal('f' * 32, 'foreign', 'EXECUTING'),
                ),
                3.21,
                1,
            )
        ),
        battery=seen(Battery(0.85, False, 12.31)),
        safety=seen(Safety(False)),
        active_action=ActionSummary(GOAL_ID, 'navigate_to_pose', 'RUNNING', goal, 3.21),
        recent_outcome=OutcomeSummary(
            'e' * 32, 'navigate_to_place', 'SUCCEEDED', 'verified', {'name': 'kitchen', **goal}
        ),
        artifacts=(
            ArtifactRef(
                'file:///home/robot/.ros/artifacts/' + 'a' * 64, 'image/jpeg', 9, 'a' * 64
            ),
        ),
    )


def test_a_full_snapshot_fits_the_default_budget_with_nothing_left_out():
    projection = project(full_snapshot(), max_bytes=2048)
    assert projection.omitted == ()
    tree = json.loads(projection.text)
    assert list(tree) == FIELDS
    assert tree['map_pose'] == {
        'x_m': 1.235,
        'y_m': -2.346,
        'yaw_rad': 3.04,
        'frame': 'map',
        'position_variance_m2': 0.012,
        'yaw_variance_rad2': 0.004,
        'source': 'amcl_pose carried by odom',
        'age_s': 0.012,
        'availability': 'available',
    }
    assert tree['active_action']['goal'] == {'frame_id': 'map', 'x': 1.0, 'y': 2.0, 'yaw': 0.5}


def test_what_is_not_available_says_why():
    missing = Observed(None, 'odom', None, None, Availability.MISSING, 'never received on odom')
    tree = json.loads(project(replace(full_snapshot(), odometry=missing), max_bytes=2048).text)
    assert tree['odometry'] == {'availability': 'missing', 'reason': 'never received on odom'}


def test_what_does_not_exist_is_null_and_not_an_omission():
    bare = replace(full_snapshot(), active_action=None, recent_outcome=None, artifacts=())
    projection = project(bare, max_bytes=2048)
    tree = json.loads(projection.text)
    assert (tree['active_action'], tree['recent_outcome'], tree['artifacts']) == (None, None, [])
    assert projection.omitted == ()


@pytest.mark.parametrize('max_bytes', range(MIN_BYTES, 1700, 25))
def test_a_short_budget_leaves_out_a_prefix_of_the_drop_order_and_says_so(max_bytes):
    projection = project(full_snapshot(), max_bytes=max_bytes)
    assert len(projection.text.encode()) <= max_bytes
    tree = json.loads(projection.text)
    assert tree['omitted'] == list(projection.omitted)
    whole = json.loads(project(full_snapshot(), max_bytes=4096).text)
    for name, field in whole.items():
        if name in ('omitted', *projection.omitted):
            continue
        if isinstance(field, dict):
            lost = set(field) - set(tree[name])
            assert bool(lost) == any(o.startswith(f'{name}.') for o in projection.omitted)
        else:
            assert tree[name] == field or LONG_TEXTS in projection.omitted
    dropped = [DROP_ORDER.index(name) for name in projection.omitted if name != LONG_TEXTS]
    kept = [i for i, n in enumerate(DROP_ORDER) if n.partition('.')[0] in tree and '.' not in n]
    assert max(dropped, default=-1) < min((i for i in kept if i not in dropped), default=99)
    assert tree['active_action']['state'] == 'RUNNING'
    assert tree['active_action']['action_id'] == GOAL_ID
    assert tree['safety']['emergency_stop'] is False
    assert tree['map_pose']['x_m'] == 1.235


def test_many_goals_of_others_are_counted_and_the_first_are_listed():
    goals = tuple(ActiveGoal(f'{n:032x}', 'foreign', 'EXECUTING') for n in range(500))
    snapshot = replace(full_snapshot(), navigation=seen(Navigation(True, goals, None, None)))
    projection = project(snapshot, max_bytes=2048)
    navigation = json.loads(projection.text)['navigation']
    assert navigation['active_goal_count'] == 500
    assert 'navigation.active_goals' in projection.omitted


def test_a_long_text_is_cut_visibly_and_listed():
    reason = 'because ' * 1000
    stale = replace(seen(Safety(True)), availability=Availability.STALE, reason=reason)
    projection = project(replace(full_snapshot(), safety=stale), max_bytes=2048)
    shown = json.loads(projection.text)['safety']['reason']
    assert reason.startswith(shown[:-1])
    assert shown.endswith('…')
    assert projection.omitted == (LONG_TEXTS,)


def test_a_goal_that_is_no_plain_json_is_shown_all_the_same():
    wild = {'b': float('nan'), 'a': object, 3: ['\ud800', -0.0001]}
    action = ActionSummary(GOAL_ID, 'skill', 'RUNNING', wild, 0.0)
    projection = project(replace(full_snapshot(), active_action=action), max_bytes=2048)
    goal = json.loads(projection.text)['active_action']['goal']
    assert 'NaN' in str(goal)


@pytest.mark.parametrize(
    'text', ['\x00' * 300, '🤖' * 300, '"\\' * 300, 'a' * 300, '\ud800' * 300]
)
@pytest.mark.parametrize('number', [-1.2345678901234567e300, -1234567.1234])
@pytest.mark.parametrize('rest', ['present', 'absent'])
def test_the_smallest_budget_holds_what_must_stay_of_the_largest_snapshot(text, number, rest):
    invalid = {
        'age_s': -number,
        'availability': Availability.INVALID,
        'reason': text,
        'source': text,
    }
    full = full_snapshot()
    snapshot = replace(
        full,
        snapshot_id=text,
        robot_id=text,
        map_pose=replace(
            full.map_pose, value=MapPose(number, number, number, text, 1.0, 1.0), **invalid
        ),
        safety=replace(full.safety, **invalid),
        active_action=ActionSummary(text, text, 'VERIFYING', {text: text}, number),
        recent_outcome=OutcomeSummary(text, text, text, text, {text: text}),
    )
    if rest == 'absent':
        snapshot = replace(snapshot, robot_id='', recent_outcome=None, artifacts=())
    projection = project(snapshot, max_bytes=MIN_BYTES)
    assert len(projection.text.encode()) <= MIN_BYTES
    tree = json.loads(projection.text)
    assert tree['active_action']['state'] == 'VERIFYING'
    assert tree['map_pose']['availability'] == 'invalid'
    assert tree['safety']['emergency_stop'] is False


def test_utm_coordinates_keep_their_millimetres():
    pose = MapPose(448_262.1234, 5_411_932.6789, 0.0, 'map', None, None)
    tree = json.loads(project(replace(full_snapshot(), map_pose=seen(pose)), max_bytes=2048).text)
    assert (tree['map_pose']['x_m'], tree['map_pose']['y_m']) == (448_262.123, 5_411_932.679)


def test_a_budget_below_the_smallest_is_refused_by_name():
    with pytest.raises(ConfigurationError, match=r'snapshot\.max_bytes'):
        project(full_snapshot(), max_bytes=MIN_BYTES - 1)


finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=300) | st.sampled_from(['"' * 300, '\x00' * 300, '🤖' * 300, GOAL_ID])
optional = st.none() | finite


def observed(values):
    return st.builds(
        Observed,
        value=st.none() | values,
        source=texts,
        source_stamp_ns=st.none() | st.integers(),
        age_s=st.none() | st.floats(0, allow_infinity=False),
        availability=st.sampled_from(Availability),
        reason=st.none() | texts,
    )


goals = st.dictionaries(
    texts, st.none() | st.booleans() | st.integers() | st.floats() | texts, max_size=5
)
ids = st.characters(categories=['Cs']).map(lambda c: c * 3) | texts
snapshots = st.builds(
    WorldSnapshot,
    snapshot_id=ids,
    robot_id=texts,
    captured_monotonic_ns=st.integers(),
    captured_wall_ns=st.integers(),
    captured_ros_ns=st.integers(),
    map_pose=observed(st.builds(MapPose, finite, finite, finite, texts, optional, optional)),
    odometry=observed(st.builds(Odometry, finite, finite, finite, texts, finite, finite)),
    motion=observed(st.builds(Motion, st.booleans(), finite, finite, texts)),
    navigation=observed(
        st.builds(
            Navigation,
            st.booleans(),
            st.lists(st.builds(ActiveGoal, ids, texts, texts), max_size=9).map(tuple),
            optional,
            st.none() | st.integers(0),
        )
    ),
    battery=observed(st.builds(Battery, finite, st.none() | st.booleans(), optional)),
    safety=observed(st.builds(Safety, st.booleans())),
    active_action=st.none() | st.builds(ActionSummary, ids, texts, texts, goals, finite),
    recent_outcome=st.none() | st.builds(OutcomeSummary, ids, texts, texts, texts, goals),
    artifacts=st.lists(
        st.builds(ArtifactRef, texts, texts, st.integers(0, 2**63), texts), max_size=6
    ).map(tuple),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(snapshots, st.integers(MIN_BYTES, 5000) | st.just(MIN_BYTES))
def test_any_snapshot_in_any_budget_is_bounded_valid_deterministic_and_honest(snapshot, budget):
    projection = project(snapshot, max_bytes=budget)
    assert len(projection.text.encode('utf-8')) <= budget
    assert project(copy.deepcopy(snapshot), max_bytes=budget) == projection
    tree = json.loads(projection.text, parse_constant=pytest.fail)
    assert tree['omitted'] == list(projection.omitted)
    assert {'map_pose', 'safety', 'active_action'} <= set(tree)
    for name in FIELDS:
        assert (name in tree) != (name in projection.omitted) or name in (
            'artifacts',
            'omitted',
        )
    if snapshot.active_action is not None:
        state = tree['active_action']['state']
        assert snapshot.active_action.state.startswith(state.rstrip('…')) or '?' in state
    if snapshot.safety.value is not None:
        assert tree['safety']['emergency_stop'] is snapshot.safety.value.emergency_stop
    for name in ('map_pose', 'safety'):
        assert tree[name]['availability'] == getattr(snapshot, name).availability.value
    if '…"' in projection.text:
        assert LONG_TEXTS in projection.omitted
