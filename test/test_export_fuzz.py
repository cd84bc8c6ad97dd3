# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Exports of records of any shape: they come out, or the record at fault is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
import json
from pathlib import Path
from typing import Any

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from robot_agent_harness.errors import JournalCorruptError
from robot_agent_harness.events import EVENT_MODELS, EventType, RecordedEvent
from robot_agent_harness.export import export_jsonl, export_mcap, write_spans
from robot_agent_harness.export.mcap import EVENTS

KEYS = sorted(
    {name for model in EVENT_MODELS.values() for name in model.model_fields}
    | {'kind', 'transport', 'request_id', 'map_pose', 'value', 'x', 'y', 'yaw', 'name', 'ok'}
    | {'availability', 'navigation', 'active_goals', 'input_tokens', 'late', 'captured_ros_ns'}
)
TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(
    ['mcp', 'invalid', 'RUNNING', 'unknown_tool', 'action_outcome', 'http', '\ud800', '\0']
)
NUMBERS = st.integers() | st.floats() | st.sampled_from([2**63, -(2**63), 10**40])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | TEXTS, inner)
    ),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=10)
IDS = st.none() | st.sampled_from(['a', 'b', 'a' * 32])
TIMES = st.integers(-(2**63), 2**63 - 1) | st.integers(10**18, 2 * 10**18)
RECORDS = st.builds(
    RecordedEvent,
    seq=st.just(0),
    schema_version=st.just(1),
    type=st.sampled_from([kind.value for kind in EventType] + ['OF_A_LATER_RELEASE']),
    wall_time_ns=TIMES,
    ros_time_ns=st.none() | TIMES,
    mission_id=IDS,
    turn_id=IDS,
    tool_call_id=IDS,
    action_id=IDS,
    snapshot_id=IDS,
    payload=PAYLOADS,
    chain=st.just('c'),
)


@dataclass
class Forged:
    """Records that no harness has written, in place of a journal's."""

    records: list[RecordedEvent]
    path = Path('/nowhere/journal.db')

    @property
    def reader(self) -> Forged:
        return self

    def events(self) -> Iterator[RecordedEvent]:
        yield from self.records


def numbered(records: list[RecordedEvent]) -> Any:
    return Forged([replace(record, seq=seq) for seq, record in enumerate(records, 1)])


def fine(value: Any) -> bool:
    """Return whether JSON and UTF-8 can hold a value."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@EXAMPLES
@given(st.lists(RECORDS, min_size=1, max_size=8))
def test_records_of_any_shape_come_out_or_are_named(
    tmp_path: Path, records: list[RecordedEvent]
) -> None:
    source = numbered(records)
    sound = all(fine(record.payload) for record in records)
    for name, act in (
        ('a.jsonl', lambda target: export_jsonl(source, target)),
        ('a.mcap', lambda target: export_mcap(source, target)),
        ('a.otlp', lambda target: write_spans(source, target)),
        ('b.otlp', lambda target: write_spans(source, target, with_content=True)),
    ):
        target = tmp_path / name
        target.unlink(missing_ok=True)
        why = ''
        try:
            act(target)
        except JournalCorruptError as error:
            why = str(error)
        assert target.exists() is (why == '')
        assert why.startswith('record ') if not sound and why else why == ''
    if not sound:
        return
    lines = [json.loads(line) for line in (tmp_path / 'a.jsonl').read_bytes().splitlines()]
    assert [line['payload'] for line in lines] == [record.payload for record in records]
    with (tmp_path / 'a.mcap').open('rb') as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        told = sorted(
            (message.seq, message.payload_json)
            for _, channel, _, message in reader.iter_decoded_messages()
            if channel.topic == EVENTS
        )
    assert [json.loads(text) for _, text in told] == [record.payload for record in records]
