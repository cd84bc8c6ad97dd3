# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The manifest and the tests agree: every clause has its tests, and every test its place."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
import re

import pytest
from requirements import NOT_A_CLAUSE, NotAClause, Requirement, REQUIREMENTS

FOLDER = Path(__file__).parent
ID = re.compile(r'(INV|PIECE|LAY|DEC|FACT|TRAP|CON-(CMD|ROS|PAR|MCP|JNL|SIM))-\d+|K\d\d')
NODE_ID = re.compile(r'test_\w+\.py::test_\w+')

Tests = Mapping[str, list[str]]
"""The names of the test functions in each file, as often as they are defined."""


def find_tests(folder: Path) -> Tests:
    """Return what pytest would collect, without importing it: some of it needs ROS."""
    return {
        path.name: list(_functions(ast.parse(path.read_text(encoding='utf-8')).body))
        for path in sorted(folder.glob('test_*.py'))
    }


def _functions(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name.startswith('test'):
                yield node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith('Test'):
            yield from _functions(node.body)


def problems(
    requirements: Iterable[Requirement], others: Mapping[str, NotAClause], tests: Tests
) -> list[str]:
    """Return everything in which manifest and tests do not agree."""
    requirements = tuple(requirements)
    named = [node_id for entry in requirements for node_id in entry.tests]
    about = {node_id.partition('::')[0] for node_id in named} | others.keys()
    found = list(_of_entries(requirements))
    for node_id in sorted(set(named)):
        file, _, name = node_id.partition('::')
        if name not in tests.get(file, ()):
            found.append(f'{node_id}: there is no such test')
    for file, other in others.items():
        found += [f'{file}: no reason is given'] * (not other.reason.strip())
        for name, count in Counter(other.tests).items():
            found += [f'{file}::{name}: listed {count} times'] * (count > 1)
            found += [f'{file}::{name}: there is no such test'] * (name not in tests.get(file, ()))
            found += [f'{file}::{name}: named by a clause as well'] * (f'{file}::{name}' in named)
    for file in sorted(about & tests.keys()):
        listed = others[file].tests if file in others else ()
        for name, count in Counter(tests[file]).items():
            found += [f'{file}::{name}: defined {count} times, so that one hides'] * (count > 1)
            if f'{file}::{name}' not in named and name not in listed:
                found.append(
                    f'{file}::{name}: named by no clause; name it, or list it in NOT_A_CLAUSE'
                )
    return found


def _of_entries(requirements: tuple[Requirement, ...]) -> Iterator[str]:
    for id_, count in Counter(entry.id for entry in requirements).items():
        if count > 1:
            yield f'{id_}: {count} entries'
    for entry in requirements:
        if not ID.fullmatch(entry.id):
            yield f'{entry.id}: not an id of the manifest'
        if not entry.says.strip() or '\n' in entry.says:
            yield f'{entry.id}: says nothing, or more than one line'
        if not entry.source.strip() or re.search(r'(^|\s)[/~]', entry.source):
            yield f'{entry.id}: the source is missing, or a path of one machine'
        if bool(entry.tests) == bool(entry.later and entry.later.strip()):
            yield f'{entry.id}: needs either tests or a reason why they come later'
        if len(set(entry.tests)) < len(entry.tests):
            yield f'{entry.id}: names a test twice'
        for node_id in entry.tests:
            if not NODE_ID.fullmatch(node_id):
                yield f'{entry.id}: {node_id!r} is no node id without parameters'


def test_manifest_and_tests_agree(capsys: pytest.CaptureFixture[str]) -> None:
    tests = find_tests(FOLDER)
    found = problems(REQUIREMENTS, NOT_A_CLAUSE, tests)
    later = [entry.id for entry in REQUIREMENTS if entry.later]
    known = {node_id.partition('::')[0] for entry in REQUIREMENTS for node_id in entry.tests}
    outside = sorted(tests.keys() - known - NOT_A_CLAUSE.keys() - {Path(__file__).name})
    with capsys.disabled():
        print(f'\n{len(REQUIREMENTS) - len(later)} clauses are shown, {len(later)} come later')
        if outside:
            print(f'outside of the manifest: {", ".join(outside)}')
    assert not found, '\n'.join(found)


def test_no_clause_of_the_documents_is_missing() -> None:
    ids = {entry.id for entry in REQUIREMENTS}
    assert {f'INV-{number}' for number in range(1, 6)} <= ids
    assert {f'TRAP-{number:02}' for number in range(1, 15)} <= ids
    assert {f'K{number:02}' for number in range(1, 39)} <= ids
    for group, numbers in _numbers(ids).items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), group


def _numbers(ids: Iterable[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for id_ in ids:
        group, number = re.fullmatch(r'(.*?)(\d+)', id_).groups()  # type: ignore[union-attr]
        groups.setdefault(group, []).append(int(number))
    return groups


# -- the check itself -----------------------------------------------------------------------------

SOUND = Requirement('INV-1', 'it holds', ('test_a.py::test_one',), source='DESIGN, section 2')
LATER = Requirement('K01', 'it will hold', later='belongs to the work to come', source='cases')
TESTS = {'test_a.py': ['test_one', 'test_two'], 'test_b.py': ['test_three']}
OTHERS = {'test_a.py': NotAClause('a closer look at INV-1', ('test_two',))}


def changed(**changes: object) -> Requirement:
    fields = {name: getattr(SOUND, name) for name in ('id', 'says', 'tests', 'later', 'source')}
    return Requirement(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_manifest_that_agrees_has_no_problems() -> None:
    assert problems((SOUND, LATER), OTHERS, TESTS) == []


@pytest.mark.parametrize(
    ('entry', 'told'),
    [
        (changed(tests=('test_a.py::test_none',)), 'test_a.py::test_none: there is no such test'),
        (changed(tests=('test_no.py::test_one',)), 'test_no.py::test_one: there is no such test'),
        (changed(tests=()), 'INV-1: needs either tests or a reason'),
        (changed(tests=(), later='  '), 'INV-1: needs either tests or a reason'),
        (changed(later='one day'), 'INV-1: needs either tests or a reason'),
        (changed(tests=('test_a.py::test_one',) * 2), 'INV-1: names a test twice'),
        (changed(tests=('test_a.py::test_one[x]',)), 'is no node id without parameters'),
        (changed(id='INV1'), 'INV1: not an id'),
        (changed(id='K01'), 'K01: 2 entries'),
        (changed(says=''), 'INV-1: says nothing'),
        (changed(source=''), 'INV-1: the source is missing'),
        (changed(source='see /work/DESIGN.md'), 'INV-1: the source is missing, or a path'),
    ],
)
def test_a_wrong_entry_is_found(entry: Requirement, told: str) -> None:
    assert any(told in problem for problem in problems((entry, LATER), OTHERS, TESTS))


@pytest.mark.parametrize(
    ('others', 'told'),
    [
        ({}, 'test_a.py::test_two: named by no clause'),
        ({'test_a.py': NotAClause('', ('test_two',))}, 'test_a.py: no reason is given'),
        (
            {**OTHERS, 'test_b.py': NotAClause('why', ('test_four',))},
            'test_b.py::test_four: there is no such test',
        ),
        (
            {'test_a.py': NotAClause('why', ('test_one', 'test_two'))},
            'test_a.py::test_one: named by a clause as well',
        ),
        (
            {'test_a.py': NotAClause('why', ('test_two', 'test_two'))},
            'test_a.py::test_two: listed 2 times',
        ),
    ],
)
def test_a_test_without_its_place_is_found(others: dict[str, NotAClause], told: str) -> None:
    assert any(told in problem for problem in problems((SOUND, LATER), others, TESTS))


def test_a_test_that_hides_another_is_found() -> None:
    tests = {**TESTS, 'test_a.py': ['test_one', 'test_two', 'test_one']}
    (problem,) = problems((SOUND, LATER), OTHERS, tests)
    assert problem == 'test_a.py::test_one: defined 2 times, so that one hides'


def test_files_outside_of_the_manifest_are_left_alone() -> None:
    assert problems((SOUND,), OTHERS, {**TESTS, 'test_c.py': ['test_x', 'test_x']}) == []


def test_tests_are_found_without_importing_them(tmp_path: Path) -> None:
    (tmp_path / 'test_x.py').write_text(
        'import no_such_module\n\ndef test_a():\n    def test_inner(): ...\n\n'
        'async def test_b(): ...\n\ndef helper(): ...\n\n'
        'class TestC:\n    def test_d(self): ...\n'
    )
    (tmp_path / 'rig.py').write_text('def test_not_collected(): ...\n')
    assert find_tests(tmp_path) == {'test_x.py': ['test_a', 'test_b', 'test_d']}
