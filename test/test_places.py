# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of named places: what is wrong with it is told, and an edit never stops a robot."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills.places import EDITIONS_KEPT, PlaceBook, read_places
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.testing import Bench, run_virtual
from robot_agent_harness.testing.fake_clock import FakeClock

GOOD = 'places: {shelf: {x: 1.0, y: 0.0}}'


def shelf_at(x: float) -> str:
    return f'places: {{shelf: {{x: {x}, y: 0.0}}}}'


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        (b'places: {caf\xe9: {x: 1, y: 2}}', 'not UTF-8'),
        (b'places: {shelf: {x: 2020-13-45, y: 0}}', 'month must be in 1..12'),
        (b'[' * 5000, 'recursion'),
        (b'places: {shelf: {x: !!timestamp x, y: 0}}', 'not YAML'),
        (b'places: &a {shelf: *a}', r'places\.shelf'),
        (b'places:\n  a: {x: 1, y: 2}\n  a: {x: 3, y: 4}', "key 'a' is given twice.*line 3"),
        (b'false', 'value: '),
        (b'places: {shelf: {x: 0x' + b'f' * 5000 + b', y: 0}}', r'places\.shelf\.x'),
        (b'places: {0x' + b'f' * 5000 + b': {x: 0, y: 0}}', 'places'),
        (b'places: {shelf: {x: 10000.1, y: 0}}', r'places\.shelf\.x: .*10000'),
        (b'places: {shelf: {x: 0, y: -1.0e+9}}', r'places\.shelf\.y: .*10000'),
        (b'places: {shelf: {x: 0, y: 0, yaw: 6.3}}', r'places\.shelf\.yaw: '),
        (None, 'directory'),
    ],
    ids=str,
)
def test_a_wrong_file_is_refused_by_name_with_its_reason(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    path = tmp_path / 'places.yaml'
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=rf'(?s)places\.yaml: .*{reason}'):
        read_places(path)


def test_coordinates_at_the_limit_are_taken(tmp_path: Path) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text(f'places: {{far: {{x: -10000, y: 10000.0, yaw: {-2 * math.pi}}}}}')
    assert read_places(path)['far'].x == -10000


def test_each_edit_that_cannot_be_read_is_logged_and_a_later_good_one_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text(GOOD)
    book = PlaceBook(clock=FakeClock(), path=path)
    for number, bad in enumerate((b'\xff', b'x: 2020-13-45', b'[' * 5000), start=1):
        path.write_bytes(bad)
        for _ in range(3):
            assert book.current()['shelf'].x == 1.0
        assert caplog.text.count('keeping the last good places') == number
    path.unlink()
    path.mkdir()
    assert book.current()['shelf'].x == 1.0
    assert caplog.text.count('keeping the last good places') == 4
    path.rmdir()
    path.write_text(shelf_at(3.0))
    assert book.current()['shelf'].x == 3.0


def test_what_the_book_has_forgotten_is_unknown_and_stops_the_call(tmp_path: Path) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text(shelf_at(2.0))

    async def scenario() -> ToolResult:
        parameters = {'places_file': str(path)}
        async with Bench(tmp_path / 'j.db', parameters=parameters) as bench:
            decision = await bench.call('get_world_snapshot', {})
            for number in range(EDITIONS_KEPT + 1):
                # The oldest edition that is kept has what the newest has: it proves nothing.
                await asyncio.sleep(0.01)
                path.write_text(shelf_at(4.0) + ' ' * number)
                bench.core.places.current()
            return await bench.call(
                'navigate_to_place',
                {'name': 'shelf'},
                decision_snapshot_id=decision.data['snapshot_id'],
            )

    result = run_virtual(scenario())
    assert result.status.value == 'precondition_changed'
    (check,) = result.data['failed_checks']
    assert (check['name'], check['limit']) == ('target_unchanged', None)
    assert 'is forgotten; look again' in check['detail']


def test_a_place_that_was_only_named_after_the_decision_stops_the_call_and_says_so(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text('places: {}')

    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db', parameters={'places_file': str(path)}) as bench:
            decision = await bench.call('get_world_snapshot', {})
            await asyncio.sleep(1.0)
            path.write_text(shelf_at(2.0))
            return await bench.call(
                'navigate_to_place',
                {'name': 'shelf'},
                decision_snapshot_id=decision.data['snapshot_id'],
            )

    (check,) = run_virtual(scenario()).data['failed_checks']
    assert check['name'] == 'target_unchanged'
    assert check['detail'].startswith("at the decision: navigate_to_place: name: no place 'shelf'")


def test_a_global_frame_with_a_leading_slash_is_the_frame_without_it(tmp_path: Path) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text(shelf_at(2.0))
    parameters = {'places_file': str(path), 'global_frame': '/map'}

    async def scenario() -> ToolResult:
        async with Bench(tmp_path / 'j.db', parameters=parameters) as bench:
            return await bench.call('navigate_to_place', {'name': 'shelf'})

    assert run_virtual(scenario()).status.value == 'accepted'
