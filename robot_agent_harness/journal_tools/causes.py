# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What led to what: a mission's turns, each with its decisions, their calls and what came of it.

Nodes are JSON-ready, so that a tree for people and lines for programs tell the same. They are made
one turn at a time: a mission may have a million records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.records import as_json

Node: TypeAlias = 'dict[str, Any]'

OUTSIDE = tuple(
    Selection(types=(kind.value,), outside_missions=True)
    for kind in (
        EventType.TOOL_CALL_RECORDED,
        EventType.SALIENT_EVENT,
        EventType.RECOVERY_PERFORMED,
        EventType.JOURNAL_CONTINUED,
    )
)
"""What stands beside missions, and begins something or stands alone."""


def mission_nodes(reader: JournalReader, mission_id: str) -> Iterator[Node]:
    """Yield the nodes of a mission in the order of their beginnings: `mission`, then `turn`,
    `call` and `event`, then `end`.
    """
    told: set[str] = set()
    for event in reader.select(Selection(mission_id=mission_id)):
        group = event.turn_id or event.tool_call_id
        if event.type == EventType.MISSION_STARTED:
            yield {'kind': 'mission', **_head(event), **event.payload, 'mission_id': mission_id}
        elif event.type == EventType.MISSION_ENDED:
            yield {'kind': 'end', **_head(event), **event.payload, 'mission_id': mission_id}
        elif group is None:
            yield {'kind': 'event', **as_json(event)}
        elif group not in told:
            told.add(group)
            if event.turn_id is not None:
                yield _turn(reader.select(Selection(turn_id=event.turn_id)))
            else:
                yield from call_nodes(reader, group)


def call_nodes(reader: JournalReader, tool_call_id: str) -> Iterator[Node]:
    """Yield the node of a call that belongs to no turn."""
    turn = _turn(reader.select(Selection(tool_call_id=tool_call_id)))
    for decision in turn['decisions']:
        for call in decision['calls']:
            yield {'kind': 'call', **call}


def outside_node(reader: JournalReader, event: RecordedEvent) -> Iterator[Node]:
    """Yield the node of something outside missions."""
    if event.type == EventType.TOOL_CALL_RECORDED and event.tool_call_id is not None:
        yield from call_nodes(reader, event.tool_call_id)
    else:
        yield {'kind': 'event', **as_json(event)}


def _turn(events: Iterable[RecordedEvent]) -> Node:
    """Return the node of a turn from its records."""
    node: Node = {
        'kind': 'turn',
        'seq': None,
        'at_ns': None,
        'turn_id': None,
        'step': None,
        'trigger': None,
        'omitted': [],
        'snapshot_id': None,
        'decisions': [],
    }
    calls: dict[str | None, Node] = {}
    for event in events:
        payload = event.payload
        if node['seq'] is None:
            node.update(**_head(event), turn_id=event.turn_id)
        if event.type == EventType.MODEL_TURN_STARTED:
            for key in ('step', 'trigger', 'omitted'):
                node[key] = payload.get(key)
        elif event.type == EventType.WORLD_SNAPSHOT_CAPTURED:
            if payload.get('reason') == 'model_turn' and node['snapshot_id'] is None:
                node['snapshot_id'] = event.snapshot_id
        elif event.type == EventType.MODEL_RESPONSE_RECORDED:
            node['decisions'].append(_decision(event))
        elif event.type == EventType.TOOL_CALL_RECORDED:
            if not node['decisions']:
                node['decisions'].append(_decision(None))
            calls[event.tool_call_id] = call = _call(event)
            node['decisions'][-1]['calls'].append(call)
        elif (known := calls.get(event.tool_call_id)) is not None:
            _take(known, event)
    return node


def _head(event: RecordedEvent) -> Node:
    return {'seq': event.seq, 'at_ns': event.wall_time_ns}


def _decision(event: RecordedEvent | None) -> Node:
    keys = ('rationale', 'thinking', 'error', 'stop_reason', 'duration_s', 'usage')
    payload = event.payload if event else {}
    return {
        'seq': event.seq if event else None,
        'at_ns': event.wall_time_ns if event else None,
        **{key: payload.get(key) for key in keys},
        'calls': [],
    }


def _call(event: RecordedEvent) -> Node:
    return {
        **_head(event),
        'tool_call_id': event.tool_call_id,
        'mission_id': event.mission_id,
        **event.payload,
        'check': None,
        'result': None,
        'action': None,
    }


def _take(call: Node, event: RecordedEvent) -> None:
    """Add a record of a call to its node."""
    payload = event.payload
    if event.type == EventType.ACTION_PRECONDITION_CHECKED:
        call['check'] = {**_head(event), **payload}
    elif event.type == EventType.TOOL_RESULT_RECORDED:
        call['result'] = {**_head(event), **payload}
    elif event.type == EventType.ROBOT_ACTION_STARTED:
        call['action'] = {
            **_head(event),
            'action_id': event.action_id,
            'skill': payload.get('skill'),
            'goal': payload.get('goal'),
            'states': [{'state': payload.get('state'), **_head(event)}],
            'progress_records': 0,
            'late': [],
            'outcome': None,
        }
    elif call['action'] is not None:
        _follow(call['action'], event)


def _follow(action: Node, event: RecordedEvent) -> None:
    payload = event.payload
    if event.type == EventType.ROBOT_ACTION_PROGRESS:
        if payload.get('late') is True:
            action['late'].append({**_head(event), 'note': payload.get('note')})
            return
        action['progress_records'] += 1
        if payload.get('state') != action['states'][-1]['state']:
            action['states'].append({'state': payload.get('state'), **_head(event)})
    elif event.type == EventType.ROBOT_ACTION_OUTCOME and action['outcome'] is None:
        action['states'].append({'state': payload.get('state'), **_head(event)})
        action['outcome'] = {**_head(event), **payload}
