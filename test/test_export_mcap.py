# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal as an MCAP recording, read back with the reference library, and with rclpy."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
import json
import math
from pathlib import Path
import re
from typing import Any

from export_rig import as_entry, events_of, HOSTILE, lengthen, make_journal, MISSION, record
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
import pytest

from robot_agent_harness.events import (
    Correlation,
    EVENT_MODELS,
    EventType,
    RecordedEvent,
    RobotActionOutcome,
    RobotActionStarted,
    SalientEvent,
    WorldSnapshotCaptured,
)
from robot_agent_harness.export import export_mcap, Source
from robot_agent_harness.export.definitions import definition, STANDARD
from robot_agent_harness.export.mcap import ACTIONS, EVENTS, GOAL, OBSERVED_POSE, SNAPSHOTS, TYPES
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.journal.selection import Selection

NS_PER_S = 1_000_000_000
IDS = ('mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id')


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_journal(tmp_path_factory.mktemp('mcap') / 'journal.db')


def export(journal: Path, target: Path, **selection: str) -> Path:
    with JournalReader(journal) as reader:
        count = export_mcap(Source(reader, Selection(**selection)), target)
    with target.open('rb') as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == count
    return target


@pytest.fixture(scope='module')
def recording(journal: Path) -> Path:
    return export(journal, journal.with_name('out.mcap'))


def decoded(recording: Path, *topics: str) -> list[Any]:
    """Return raw and decoded message of each, in the order of their times."""
    with recording.open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [
            (message, ros_message)
            for _, _, message, ros_message in reader.iter_decoded_messages(topics or None)
        ]


def of(recording: Path, topic: str) -> list[Any]:
    return [ros_message for _, ros_message in decoded(recording, topic)]


def recorded(journal: Path, *types: str) -> list[RecordedEvent]:
    return [event for event in events_of(journal) if event.type in types]


def ns(stamp: Any) -> int:
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def tame(text: str | None) -> str:
    return (text or '').replace('\0', '\\x00')


def test_every_record_is_a_mission_event_with_its_ids_time_and_payload(
    journal: Path, recording: Path
) -> None:
    messages = of(recording, EVENTS)
    for message, event in zip(messages, events_of(journal), strict=True):
        assert (message.seq, message.type) == (event.seq, event.type)
        assert [getattr(message, name) for name in IDS] == [
            tame(getattr(event, name)) for name in IDS
        ]
        assert json.loads(message.payload_json) == event.payload
        assert ns(message.stamp) == event.ros_time_ns


def test_messages_are_logged_at_the_wall_time_of_their_records(
    journal: Path, recording: Path
) -> None:
    with recording.open('rb') as file:
        logged = [
            (message.sequence, message.log_time, message.publish_time)
            for _, channel, message in make_reader(file).iter_messages(log_time_order=False)
            if channel.topic == EVENTS
        ]
    events = events_of(journal)
    assert logged == [(event.seq, event.wall_time_ns, event.wall_time_ns) for event in events]


def test_snapshots_say_what_the_journal_says(journal: Path, recording: Path) -> None:
    captured = recorded(journal, 'WORLD_SNAPSHOT_CAPTURED')
    assert captured
    for message, event in zip(of(recording, SNAPSHOTS), captured, strict=True):
        snapshot = event.payload['snapshot']
        pose, odometry = snapshot['map_pose'], snapshot['odometry']
        assert json.loads(message.payload_json) == snapshot
        assert (message.snapshot_id, message.mission_id) == (
            event.snapshot_id,
            event.mission_id or '',
        )
        assert message.reason == event.payload['reason']
        assert ns(message.header.stamp) == snapshot['captured_ros_ns']
        assert message.header.frame_id == pose['value']['frame_id'] == 'map'
        assert (message.x, message.y, message.yaw) == (
            pose['value']['x'],
            pose['value']['y'],
            pose['value']['yaw'],
        )
        assert (message.pose_availability, message.pose_age_s) == (
            pose['availability'],
            pose['age_s'],
        )
        assert message.linear_velocity == odometry['value']['linear_m_s']
        assert message.battery_fraction == snapshot['battery']['value']['fraction']
        assert message.emergency_stop_availability == 'missing'
        assert message.controller_reachable is True
        goals = snapshot['navigation']['value']['active_goals']
        assert message.active_goal_ids == [goal['goal_id'] for goal in goals]


def test_each_action_is_followed_from_request_to_outcome_with_goal_and_evidence(
    journal: Path, recording: Path
) -> None:
    told: dict[str, list[Any]] = {}
    for message in of(recording, ACTIONS):
        told.setdefault(message.action_id, []).append(message)
    outcomes = {event.action_id: event for event in recorded(journal, 'ROBOT_ACTION_OUTCOME')}
    assert len(told) == 3
    assert told.keys() == outcomes.keys()
    for begun in recorded(journal, 'ROBOT_ACTION_STARTED'):
        messages = told[str(begun.action_id)]
        outcome = outcomes[begun.action_id]
        assert [message.state for message in messages[:2]] == ['REQUESTED', 'ACCEPTED']
        assert messages[-1].state == outcome.payload['state']
        assert messages[-1].reason == outcome.payload['reason']
        assert {message.reason for message in messages[:-1]} == {''}
        for message in messages:
            assert [getattr(message, name) for name in IDS[:-1]] == [
                getattr(begun, name) or '' for name in IDS[:-1]
            ]
            assert message.skill == begun.payload['skill']
            assert json.loads(message.payload_json)['goal'] == begun.payload['goal']
        assert json.loads(messages[-1].payload_json)['evidence'] == outcome.payload['evidence']


def test_observed_poses_and_goals_can_be_drawn(journal: Path, recording: Path) -> None:
    poses = of(recording, OBSERVED_POSE)
    snapshots = [
        event.payload['snapshot']['map_pose']
        for event in recorded(journal, 'WORLD_SNAPSHOT_CAPTURED')
    ]
    for message, observed in zip(poses, snapshots, strict=True):
        assert ns(message.header.stamp) == observed['source_stamp_ns']
        assert (message.pose.position.x, message.pose.position.y) == (
            observed['value']['x'],
            observed['value']['y'],
        )
        q = message.pose.orientation
        assert math.atan2(2 * q.w * q.z, 1 - 2 * q.z * q.z) == pytest.approx(
            observed['value']['yaw']
        )
    goals = [(goal.pose.position.x, goal.pose.position.y) for goal in of(recording, GOAL)]
    assert goals == [(3.0, 4.0), (6.0, 1.0), (5.0, 1.0)]


def test_a_pose_that_is_not_to_be_believed_is_not_drawn(tmp_path: Path) -> None:
    pose = {'x': 1.0, 'y': 2.0, 'yaw': 0.0, 'frame_id': 'map'}
    snapshots = [
        {'map_pose': {'availability': 'invalid', 'value': pose}},
        {'map_pose': {'availability': 'missing', 'value': None}},
        {'map_pose': {'availability': 'stale', 'value': pose}, 'captured_ros_ns': 5},
    ]
    entries = [
        as_entry(WorldSnapshotCaptured(reason='requested', snapshot=snapshot))
        for snapshot in snapshots
    ]
    recording = export(record(tmp_path / 'j.db', *entries), tmp_path / 'out.mcap')
    invalid, missing, stale = of(recording, SNAPSHOTS)
    assert math.isnan(invalid.x)
    assert math.isnan(missing.x)
    assert stale.x == 1.0
    (drawn,) = of(recording, OBSERVED_POSE)
    assert ns(drawn.header.stamp) == 5


@pytest.mark.parametrize(
    'payload',
    [
        {'snapshot': {}},
        {'snapshot': {'map_pose': 3, 'navigation': {'value': {'active_goals': 'x'}}}},
        {'snapshot': {'map_pose': {'age_s': 'x', 'value': {'x': 'NaN', 'y': 1, 'yaw': 2}}}},
        {'snapshot': {'captured_ros_ns': 10**30, 'map_pose': {'value': {'x': 10**400}}}},
        {'snapshot': {'captured_ros_ns': -1, 'snapshot_id': 7}},
    ],
)
def test_a_snapshot_of_any_shape_is_told_as_far_as_it_goes(
    payload: dict[str, Any], tmp_path: Path
) -> None:
    entry = as_entry(WorldSnapshotCaptured(reason='requested', **payload))
    recording = export(record(tmp_path / 'j.db', entry), tmp_path / 'out.mcap')
    (message,) = of(recording, SNAPSHOTS)
    assert math.isnan(message.x)
    assert message.battery_availability == 'missing'
    assert ns(message.header.stamp) == 0
    assert len(of(recording, EVENTS)) == 1


def test_an_action_that_ended_is_forgotten_and_later_news_of_it_change_nothing(
    tmp_path: Path,
) -> None:
    ids = {'action_id': 'a' * 32, 'tool_call_id': 'call-1'}
    outcome = RobotActionOutcome(
        state='FAILED', reason='aborted', evidence={}, verification_snapshot_id=None
    )
    journal = record(
        tmp_path / 'j.db',
        as_entry(RobotActionStarted(skill='navigate_to_pose', goal={'x': 'far'}), **ids),
        as_entry(outcome, **ids),
        as_entry(outcome, **ids),
    )
    recording = export(journal, tmp_path / 'out.mcap')
    assert [message.state for message in of(recording, ACTIONS)] == ['REQUESTED', 'FAILED']
    assert of(recording, GOAL) == []


def test_hostile_texts_arrive_as_text(journal: Path, recording: Path, tmp_path: Path) -> None:
    names = [
        json.loads(message.payload_json)['name']
        for message in of(recording, EVENTS)
        if message.type == 'TOOL_CALL_RECORDED'
    ]
    assert HOSTILE in names
    entry = as_entry(SalientEvent(kind='k', message='m'), mission_id=HOSTILE, turn_id='\0')
    (message,) = of(export(record(tmp_path / 'j.db', entry), tmp_path / 'o.mcap'), EVENTS)
    assert (message.mission_id, message.turn_id) == (tame(HOSTILE), '\\x00')


def test_one_mission_is_recorded_alone(journal: Path, tmp_path: Path) -> None:
    recording = export(journal, tmp_path / 'out.mcap', mission_id=MISSION)
    for topic in (EVENTS, SNAPSHOTS, ACTIONS):
        assert {message.mission_id for message in of(recording, topic)} == {MISSION}


def test_the_file_is_of_the_ros2_profile_and_carries_the_definitions(
    journal: Path, recording: Path
) -> None:
    with recording.open('rb') as file:
        reader = make_reader(file)
        assert reader.get_header().profile == 'ros2'
        summary = reader.get_summary()
        (metadata,) = list(reader.iter_metadata())
    assert summary is not None
    for channel in summary.channels.values():
        schema = summary.schemas[channel.schema_id]
        assert (channel.message_encoding, schema.encoding) == ('cdr', 'ros2msg')
        assert schema.name == TYPES[channel.topic].replace('/', '/msg/')
        assert schema.data.decode() == definition(TYPES[channel.topic])
    assert {channel.topic for channel in summary.channels.values()} == TYPES.keys()
    last = events_of(journal)[-1]
    assert metadata.metadata['last_seq'] == str(last.seq)
    assert metadata.metadata['last_chain'] == last.chain


def test_a_definition_names_everything_that_it_is_made_of_once() -> None:
    text = definition('robot_agent_harness/WorldSnapshot')
    assert re.findall(r'^MSG: (\S+)$', text, re.MULTILINE) == [
        'std_msgs/Header',
        'builtin_interfaces/Time',
    ]
    assert 'float64 position_variance' in text


def test_a_long_recording_is_chunked_and_in_order(journal: Path, tmp_path: Path) -> None:
    long = tmp_path / 'long.db'
    long.write_bytes(journal.read_bytes())
    lengthen(long, 1_500)
    recording = export(long, tmp_path / 'out.mcap')
    with recording.open('rb') as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    assert len(summary.chunk_indexes) > 1
    sequence = [message.seq for message in of(recording, EVENTS)]
    assert sequence == list(range(1, 1_501))
    times = [message.log_time for message, _ in decoded(recording)]
    assert all(earlier <= later for earlier, later in pairwise(times))


# -- with ROS 2 -----------------------------------------------------------------------------------


def test_rclpy_reads_the_same_values_from_the_bytes(recording: Path) -> None:
    serialization = pytest.importorskip('rclpy.serialization', reason='needs ROS 2: . ./env.sh')
    from geometry_msgs.msg import PoseStamped

    from robot_agent_harness.msg import MissionEvent, RobotActionState, WorldSnapshot

    types = {
        EVENTS: MissionEvent,
        SNAPSHOTS: WorldSnapshot,
        ACTIONS: RobotActionState,
        OBSERVED_POSE: PoseStamped,
        GOAL: PoseStamped,
    }
    seen: Counter[str] = Counter()
    with recording.open('rb') as file:
        raw = [
            (channel.topic, message.data)
            for _, channel, message in make_reader(file).iter_messages()
        ]
    for (topic, data), (_, read) in zip(raw, decoded(recording), strict=True):
        message = serialization.deserialize_message(data, types[topic])
        assert _plain(message, read), topic
        # What ROS itself would have written, but for how the CDR header is filled.
        assert len(serialization.serialize_message(message)) == len(data), topic
        seen[topic] += 1
    assert seen.keys() == types.keys()


def test_a_record_is_told_on_the_topic_and_in_the_recording_alike(
    journal: Path, recording: Path
) -> None:
    serialization = pytest.importorskip('rclpy.serialization', reason='needs ROS 2: . ./env.sh')
    from robot_agent_harness.msg import MissionEvent
    from robot_agent_harness.ros.conversions import event_msg

    recorded_as = [message.data for message, _ in decoded(recording, EVENTS)]
    for data, event in zip(recorded_as, events_of(journal), strict=True):
        model = EVENT_MODELS[EventType(event.type)]
        ids = Correlation(*(getattr(event, name) for name in IDS))
        published = event_msg(event.seq, model(**event.payload), ids, event.ros_time_ns or 0)
        assert serialization.deserialize_message(data, MissionEvent) == published


def _plain(ours: Any, theirs: Any) -> bool:
    """Return whether a message of rclpy and one of the reference reader are equal."""
    if hasattr(ours, 'get_fields_and_field_types'):
        names = ours.get_fields_and_field_types()
        return all(_plain(getattr(ours, name), getattr(theirs, name)) for name in names)
    if isinstance(ours, float) and math.isnan(ours):
        return math.isnan(theirs)
    return bool(ours == theirs)


@pytest.mark.parametrize('name', sorted(STANDARD))
def test_the_standard_definitions_are_those_of_ros(name: str) -> None:
    index = pytest.importorskip('ament_index_python', reason='needs ROS 2: . ./env.sh')
    package, _, type_name = name.partition('/')
    path = Path(index.get_package_share_directory(package)) / 'msg' / f'{type_name}.msg'
    fields = [
        re.sub(r'\s*#.*', '', line).split()
        for line in path.read_text(encoding='utf-8').splitlines()
    ]
    theirs = [
        [f'{package}/{kind}' if kind[0].isupper() else kind, *rest]
        for kind, *rest in filter(None, fields)
    ]
    assert [line.split() for line in STANDARD[name].splitlines()] == theirs
