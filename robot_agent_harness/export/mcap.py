# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal as an MCAP recording of ROS 2 messages, as a rosbag2 of our topics would hold them.

The topics are those of the node, with the records' own ids; two more show where the robot was seen
and where it was sent. A message is logged at the wall time of its record, which is what rosbag2
logs as well, so that both play side by side; stamps inside are ROS time. Foxglove opens the file,
and `ros2 bag play` plays it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import io
from pathlib import Path
from typing import Any, BinaryIO, cast, NamedTuple, TYPE_CHECKING

from robot_agent_harness import __version__
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.export.definitions import definition
from robot_agent_harness.export.source import naming, Source
from robot_agent_harness.extras import missing_extra
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.messages import (
    action_fields,
    event_fields,
    Fields,
    pose_fields,
    snapshot_fields,
)
from robot_agent_harness.output_file import output_file

if TYPE_CHECKING:
    from mcap_ros2.writer import Writer

NODE = '/robot_agent_harness'
EVENTS, SNAPSHOTS, ACTIONS = (
    f'{NODE}/mission_event',
    f'{NODE}/world_snapshot',
    f'{NODE}/action_state',
)
"""The node's topics, in no namespace."""
OBSERVED_POSE, GOAL = f'{NODE}/observed_pose', f'{NODE}/goal'
"""Topics of the recording alone, for viewers that draw poses."""
TYPES = {
    EVENTS: 'robot_agent_harness/MissionEvent',
    SNAPSHOTS: 'robot_agent_harness/WorldSnapshot',
    ACTIONS: 'robot_agent_harness/RobotActionState',
    OBSERVED_POSE: 'geometry_msgs/PoseStamped',
    GOAL: 'geometry_msgs/PoseStamped',
}
_UINT32, _UINT64 = 2**32, 2**64


class Message(NamedTuple):
    """One message of the recording."""

    topic: str
    fields: Fields


def export_mcap(source: Source, target: Path | str) -> int:
    """Write the recording and return how many messages it has.

    :param target: the file; `-` = standard output.
    :raises ConfigurationError: the extra `mcap` is not installed, there is no such mission, or the
        file cannot be written.
    :raises JournalError: a record cannot be read.
    """
    count, last = 0, None
    with output_file(target, source.reader.path) as file:
        writer = _writer(file)
        schemas = {
            topic: writer.register_msgdef(_full(name), definition(name))
            for topic, name in TYPES.items()
        }
        messages = _Messages()
        for event in source.events():
            log_ns = min(max(event.wall_time_ns, 0), _UINT64 - 1)
            with naming(event):
                for message in messages.of(event):
                    writer.write_message(
                        message.topic,
                        schemas[message.topic],
                        message.fields,
                        log_time=log_ns,
                        publish_time=log_ns,
                        sequence=event.seq % _UINT32,
                    )
                    count += 1
            last = event
        writer.add_metadata(
            'robot_agent_harness',
            {
                'version': __version__,
                'journal': str(source.reader.path),
                'last_seq': str(last.seq if last else 0),
                'last_chain': last.chain if last else '',
            },
        )
        writer.finish()  # type: ignore[no-untyped-call]  # the library's
    return count


class _Counting(io.BufferedIOBase):
    """A stream that knows how far it is, which a pipe cannot be asked; the index needs it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._written = file, 0

    def write(self, data: Any, /) -> int:
        self._written += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._written


def _writer(file: BinaryIO) -> Writer:
    try:
        from mcap_ros2.writer import Writer
    except ImportError as error:
        raise missing_extra('an MCAP export', 'mcap') from error
    return Writer(cast('BinaryIO', _Counting(file)))


def _full(type_name: str) -> str:
    package, _, name = type_name.partition('/')
    return f'{package}/msg/{name}'


@dataclass(slots=True)
class _Action:
    """What RobotActionState says of an action in every state."""

    skill: str
    ids: Mapping[str, str | None]
    payload: dict[str, Any]


@dataclass(slots=True)
class _Messages:
    """Turns records into messages, in order; holds the actions that have no outcome yet."""

    open: dict[str, _Action] = field(default_factory=dict)

    def of(self, event: RecordedEvent) -> Iterator[Message]:
        """Yield the messages of a record."""
        payload = event.payload
        yield Message(
            EVENTS,
            event_fields(
                _ids(event),
                seq=event.seq,
                type=event.type,
                stamp_ns=event.ros_time_ns,
                payload_json=canonical_json(payload),
            ),
        )
        if event.type == EventType.WORLD_SNAPSHOT_CAPTURED:
            yield from _snapshot(event)
        elif event.type == EventType.ROBOT_ACTION_STARTED:
            yield from self._started(event)
        elif event.type == EventType.ROBOT_ACTION_PROGRESS and not payload.get('late'):
            yield from self._changed(event, {'feedback': payload.get('feedback')})
        elif event.type == EventType.ROBOT_ACTION_OUTCOME:
            yield from self._changed(event, {'evidence': payload.get('evidence')})
            self.open.pop(event.action_id or '', None)

    def _started(self, event: RecordedEvent) -> Iterator[Message]:
        goal = event.payload.get('goal')
        self.open[event.action_id or ''] = _Action(
            str(event.payload.get('skill', '')), _ids(event), {'goal': goal}
        )
        yield from self._changed(event, {'feedback': {}})
        pose = pose_fields(goal, event.ros_time_ns) if isinstance(goal, dict) else None
        if pose is not None:
            yield Message(GOAL, pose)

    def _changed(self, event: RecordedEvent, news: dict[str, Any]) -> Iterator[Message]:
        action = self.open.get(event.action_id or '')
        if action is None:
            return
        action.payload.update(news)
        yield Message(
            ACTIONS,
            action_fields(
                action.ids,
                skill=action.skill,
                state=str(event.payload.get('state', '')),
                reason=str(event.payload.get('reason', '')),
                stamp_ns=event.ros_time_ns,
                payload_json=canonical_json(action.payload),
            ),
        )


def _snapshot(event: RecordedEvent) -> Iterator[Message]:
    snapshot = event.payload.get('snapshot')
    if not isinstance(snapshot, dict):
        return
    yield Message(
        SNAPSHOTS,
        snapshot_fields(
            snapshot,
            event.mission_id,
            str(event.payload.get('reason', '')),
            canonical_json(snapshot),
        ),
    )
    observed = snapshot.get('map_pose')
    if not isinstance(observed, dict) or observed.get('availability') == 'invalid':
        return
    stamp_ns = observed.get('source_stamp_ns') or snapshot.get('captured_ros_ns')
    value = observed.get('value')
    pose = pose_fields(value, stamp_ns) if isinstance(value, dict) else None
    if pose is not None:
        yield Message(OBSERVED_POSE, pose)


def _ids(event: RecordedEvent) -> Mapping[str, str | None]:
    return {
        'mission_id': event.mission_id,
        'turn_id': event.turn_id,
        'tool_call_id': event.tool_call_id,
        'action_id': event.action_id,
        'snapshot_id': event.snapshot_id,
    }
