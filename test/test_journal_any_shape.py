# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Journals that were altered: every command says what it can, or names the record at fault.

An attacker, a broken disk or a later release may have written anything. No command ends with a
traceback, and what is said to be JSON is JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import gzip
import json
from pathlib import Path
import random
import sqlite3
from typing import Any

import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.errors import JournalCorruptError
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.testing import FakeClock

REPLAYS = Path(__file__).parent / 'replays'
RUNS = ('demo_over_dds', 'recovered_after_a_crash', 'services_that_answer_and_fail', 'preempted')
ALTERED = 30
"""The record of the demo that a test alters: one of those about an action."""
ODD: tuple[Any, ...] = (None, True, -1, 5.5, 'x', [], {}, [1, 'a', None, {}], {'a': [{}]}, 2**70)
COMMANDS = (
    ('journal', 'missions'),
    ('journal', 'missions', '--json'),
    ('journal', 'show', '--limit', '0'),
    ('journal', 'show', '--limit', '0', '--json'),
    ('journal', 'events', '--limit', '0'),
    ('journal', 'events', '--limit', '0', '--json'),
    ('journal', 'decisions'),
    ('journal', 'decisions', '--json'),
    ('journal', 'actions'),
    ('journal', 'actions', '--json'),
    ('journal', 'verify'),
    ('journal', 'verify', '--json'),
    ('journal', 'export', '--format', 'jsonl', '-o'),
    ('journal', 'export', '--format', 'mcap', '-o'),
    ('journal', 'export', '--format', 'otlp', '-o'),
    ('replay',),
    ('replay', '--json'),
    ('report', '-o'),
)


def unpacked(folder: Path, name: str) -> Path:
    """Return a recorded run as a file of its own."""
    path = folder / 'journal.db'
    path.write_bytes(gzip.decompress((REPLAYS / f'{name}.db.gz').read_bytes()))
    return path


@contextlib.contextmanager
def altering(path: Path) -> Iterator[sqlite3.Connection]:
    """Give what refuses nothing."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = connection.execute(query).fetchall()
        for name, _ in guards:
            connection.execute(f'DROP TRIGGER "{name}"')
        yield connection
        for _, guard in guards:
            connection.execute(guard)


def no_json(name: str) -> None:
    pytest.fail(f'{name} is no JSON')


def check_all(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Have every command look at a journal."""
    for words in COMMANDS:
        made = path.with_name('made')
        made.unlink(missing_ok=True)
        given = [*words, str(made)] if words[-1] == '-o' else [*words]
        capsys.readouterr()
        try:
            code = main([*given, str(path)])
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        assert code in (0, 1, 2), words
        assert code != 2 or err.strip(), words
        if '--json' in words:
            whole = words[0] == 'replay'
            for text in [out] if whole else out.splitlines():
                if text:
                    json.loads(text, parse_constant=no_json)


@pytest.mark.parametrize(
    ('column', 'value'),
    [
        ('schema_version', 'one'),
        ('type', b'\xff'),
        ('type', ''),
        ('wall_time_ns', 'soon'),
        ('wall_time_ns', 1.5),
        ('wall_time_ns', 2**63 - 1),
        ('wall_time_ns', -(2**63)),
        ('ros_time_ns', b'x'),
        ('mission_id', b'\xff\x00'),
        ('turn_id', b'x'),
        ('tool_call_id', ''),
        ('action_id', b'x'),
        ('snapshot_id', b'x'),
        ('payload', b'{"a": 1}'),
        ('payload', '[]'),
        ('payload', '{"state": NaN}'),
        ('payload', '{"state": 1e999, "snapshot": {"x": -1e999}}'),
        ('payload', f'{{"step": {"9" * 5000}}}'),
        ('payload', '{"state": {"a": []}, "reason": [], "evidence": 1}'),
        ('chain', b'\x00'),
    ],
)
def test_a_column_that_holds_anything_ends_no_command_with_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, value: Any
) -> None:
    path = unpacked(tmp_path, 'demo_over_dds')
    with altering(path) as connection:
        connection.execute(f'UPDATE events SET {column} = ? WHERE seq = ?', (value, ALTERED))
    check_all(path, capsys)


@pytest.mark.parametrize(
    ('column', 'value'),
    [('schema_version', b'x'), ('chain', b'x'), ('wall_time_ns', 'x'), ('payload', b'\xff')],
)
def test_the_newest_record_may_be_the_one_that_was_altered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, value: Any
) -> None:
    path = unpacked(tmp_path, 'demo_over_dds')
    with altering(path) as connection:
        newest = '(SELECT max(seq) FROM events)'
        connection.execute(f'UPDATE events SET {column} = ? WHERE seq = {newest}', (value,))
    check_all(path, capsys)
    path.chmod(0o600)
    with pytest.raises(JournalCorruptError, match='record'):
        MissionJournal.open(path, clock=FakeClock(), inline=True)


@pytest.mark.parametrize('seed', range(6))
def test_payloads_of_any_shape_end_no_command_with_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)
    path = unpacked(tmp_path, chance.choice(RUNS))
    with altering(path) as connection:
        rows = connection.execute('SELECT seq, payload FROM events').fetchall()
        for seq, payload in chance.sample(rows, 12):
            told = json.dumps(altered(json.loads(payload), chance))
            connection.execute('UPDATE events SET payload = ? WHERE seq = ?', (told, seq))
    check_all(path, capsys)


@pytest.mark.parametrize(
    ('run', 'type_', 'payload'),
    [
        ('recovered_after_a_crash', 'RECOVERY_PERFORMED', {'settled_actions': [1, {'state': {}}]}),
        ('demo_over_dds', 'TOOL_RESULT_RECORDED', {'status': [], 'structured': {'state': {}}}),
        ('demo_over_dds', 'TOOL_CALL_RECORDED', {'name': 'x', 'client': 'x', 'repeat_of': [1]}),
        ('demo_over_dds', 'ROBOT_ACTION_OUTCOME', {'state': {}, 'reason': []}),
        ('demo_over_dds', 'WORLD_SNAPSHOT_CAPTURED', {'snapshot': [], 'reason': {}}),
        ('demo_over_dds', 'WORLD_SNAPSHOT_CAPTURED', {}),
        ('repeated_under_a_key', 'TOOL_CALL_RECORDED', {'name': 'x', 'idempotency': 'x'}),
    ],
)
def test_all_records_of_a_type_without_their_shape_end_no_command_with_a_traceback(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    run: str,
    type_: str,
    payload: dict[str, Any],
) -> None:
    path = unpacked(tmp_path, run)
    with altering(path) as connection:
        values = (json.dumps(payload), type_)
        changed = connection.execute('UPDATE events SET payload = ? WHERE type = ?', values)
        assert changed.rowcount
    check_all(path, capsys)


def altered(value: Any, chance: random.Random) -> Any:
    """Return a copy in which something, at any depth, is of another kind."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        inner = altered(value[key], chance) if chance.random() < 0.7 else chance.choice(ODD)
        return {**value, key: inner}
    if isinstance(value, list) and value and chance.random() < 0.7:
        return [altered(value[0], chance), *value[1:]]
    return chance.choice(ODD)
