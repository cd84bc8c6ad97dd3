# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""No content breaks the journal: what it cannot hold is recorded as near as can be."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from journal_rig import call, fact, opened, rows
import pytest

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, ToolCallRecorded
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.records import (
    MAX_DEPTH,
    MAX_PAYLOAD_CHARS,
    MAX_TEXT_CHARS,
    payload_text,
    prepare,
)
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.testing.fake_clock import FakeClock
from robot_agent_harness.testing.journal_assertions import assert_journal

NAN, INFINITY = float('nan'), float('inf')


def recorded(arguments: Any) -> Any:
    event = call(arguments=arguments)[0]
    text = payload_text(event)
    assert text.isascii()
    payload = json.loads(text, parse_constant=pytest.fail)
    ToolCallRecorded.model_validate(payload)
    return payload['arguments']


def nested(levels: int) -> Any:
    value: Any = 'bottom'
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ('value', 'kept'),
    [
        ({'x': NAN, 'y': [INFINITY, -INFINITY]}, {'x': None, 'y': [None, None]}),
        (['\ud800', NAN, -INFINITY], ['\\ud800', 'NaN', '-Infinity']),
        ('\ud800x', '\\ud800x'),
        ({'\udfff': '\udc00'}, {'\\udfff': '\\udc00'}),
        ('😀 and \ud800', '😀 and \\ud800'),
        ('😀', '😀'),
        ('\\ud800', '\\ud800'),
        ('a\x00b', 'a\x00b'),
        ({1: 'one', None: 2}, {'1': 'one', 'None': 2}),
        pytest.param(2**20000, '[an integer of 20001 bits]', id='huge integer'),
        (2**100, 2**100),
        ((1, {2}), [1, [2]]),
        (b'bytes', None),
        (object, "<class 'object'>"),
        (True, True),
        (-0.0, -0.0),
    ],
)
def test_what_json_lacks_becomes_text(value: Any, kept: Any) -> None:
    found = recorded(value)
    if kept is not None:
        assert found == kept
    assert type(found) in (str, int, float, bool, list, dict)


def test_endless_nesting_is_cut_where_it_must_be() -> None:
    assert recorded(nested(50)) == nested(50)
    found = recorded(nested(100_000))
    for _ in range(MAX_DEPTH - 1):
        [found] = found
    assert 'nested deeper' in str(found)


def test_a_cycle_is_cut() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert 'nested deeper' in str(recorded(cycle))


def test_huge_text_is_shortened_with_the_digest_of_the_whole() -> None:
    huge = 'é' * (MAX_PAYLOAD_CHARS + 1)
    found = recorded({'image': huge, 'x': 1.5})
    digest = hashlib.sha256(huge.encode()).hexdigest()
    assert found['x'] == 1.5
    assert found['image'].startswith(huge[:MAX_TEXT_CHARS])
    assert found['image'].endswith(f'[shortened: {len(huge)} characters, sha256 {digest}]')


def test_long_text_within_the_limit_is_kept_whole() -> None:
    text = 'x' * (MAX_PAYLOAD_CHARS // 2)
    assert recorded(text) == text


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.text(st.characters(categories=['Cs']), max_size=3)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(), max_size=4), inner, max_size=4)
        | st.dictionaries(st.integers(), inner, max_size=2)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(ANYTHING)
def test_any_value_gives_canonical_json_that_sqlite_can_read(value: Any) -> None:
    text = payload_text(call(arguments=value)[0])
    parsed = json.loads(text)
    assert canonical_json(parsed) == text
    str(parsed).encode('utf-8')


def test_ids_with_anything_in_them_are_kept_readable() -> None:
    row = prepare(fact(1)[0], Correlation(mission_id='m\ud800', action_id='ü'), SystemClock())
    assert (row.mission_id, row.action_id, row.turn_id) == ('m\\ud800', 'ü', None)


class WildClock(SystemClock):
    def ros_ns(self) -> int:
        return 2**70


def test_a_ros_time_beyond_reason_is_recorded_as_unknown() -> None:
    assert prepare(*fact(1), WildClock()).ros_time_ns is None


@pytest.mark.anyio
@pytest.mark.parametrize('step_s', [3e11, -3e11])
async def test_a_wall_time_beyond_reason_stops_no_record(tmp_path: Path, step_s: float) -> None:
    path, clock = tmp_path / 'journal.db', FakeClock()
    journal = MissionJournal.open(path, clock=clock, inline=True)
    clock.step_wall(step_s)
    assert await journal.append(fact(1), fact(2)) == [1, 2]
    await journal.close()
    assert len(rows(path)) == 2
    assert_journal(path)


@pytest.mark.anyio
async def test_wild_arguments_do_not_stop_the_records_around_them(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        wild = ['\ud800', NAN, nested(5000), 'x' * (MAX_PAYLOAD_CHARS * 2), 2**20000]
        for number, value in enumerate(wild):
            assert await journal.append(call(arguments=value), fact(number)) == [
                2 * number + 1,
                2 * number + 2,
            ]
    names = rows(path, "json_extract(payload, '$.name'), json_extract(payload, '$.arguments')")
    assert [name for name, _ in names[::2]] == ['navigate_to_pose'] * len(wild)
    with pytest.raises(AssertionError, match='recorded 5 times'):
        assert_journal(path)


def json_values(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.text(st.characters(), max_size=8) | numbers,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(st.characters(), max_size=4), inner, max_size=4)
        ),
        max_leaves=12,
    )


@given(json_values(st.integers()))
def test_canonical_json_is_what_the_standard_library_writes_with_sorted_keys(value: Any) -> None:
    assert canonical_json(value) == json.dumps(value, sort_keys=True, separators=(',', ':'))


@given(json_values(st.floats(allow_nan=False, allow_infinity=False)))
def test_each_number_in_canonical_json_reads_back_as_it_was(value: Any) -> None:
    assert repr(json.loads(canonical_json(value))) == repr(_sorted(value))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
