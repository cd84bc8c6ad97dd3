# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/journal.md says what is so: its programs run, its names and numbers are the code's."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
import re
import sqlite3

import pytest

from robot_agent_harness import __version__
from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalLockedError,
    JournalTooNewError,
    JournalUnavailableError,
)
from robot_agent_harness.events import EventType
from robot_agent_harness.journal import JournalReader, records, soundness, store, writer
from robot_agent_harness.journal.schema import COLUMNS, SCHEMA_USER_VERSION

DOCS = Path(__file__).parents[1] / 'docs'
TEXT = (DOCS / 'journal.md').read_text(encoding='utf-8')
READ, CHAIN, WRITE = re.findall(r'```python\n(.*?)```', TEXT, re.DOTALL)


def run(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, 'docs/journal.md', 'exec'), {})
    return out.getvalue()


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(WRITE) == 'record 1\n'
    assert '2 records, none lost' in run(READ)
    with JournalReader('journal.db') as reader:
        assert run(CHAIN).strip() == list(reader.events())[-1].chain


def test_every_schema_is_told_and_no_page_calls_the_release_at_hand_an_old_one() -> None:
    (table,) = re.findall(r'\| schema \| has \|\n.*?\n\n', TEXT, re.DOTALL)
    schemas = [int(number) for number in re.findall(r'^\| (\d+) \|', table, re.MULTILINE)]
    assert schemas == list(range(1, SCHEMA_USER_VERSION + 1))
    for page in DOCS.glob('*.md'):
        told = page.read_text(encoding='utf-8')
        assert not re.search(rf'(release|journals?) (of )?{re.escape(__version__)}', told), page


def test_the_view_has_the_columns_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(WRITE)
    (paragraph,) = re.findall(r'The view `decision_log`.*?no tool\.', TEXT, re.DOTALL)
    with contextlib.closing(sqlite3.connect('journal.db')) as connection:
        columns = [
            column for column, *_ in connection.execute('SELECT * FROM decision_log').description
        ]
    assert re.findall(r'`(\w+)`', paragraph)[1:] == columns


@pytest.mark.parametrize(
    'name',
    [
        *COLUMNS,
        *(kind.value for kind in EventType),
        store.DROPPED,
        *(
            error.code
            for error in (
                JournalCorruptError,
                JournalLockedError,
                JournalTooNewError,
                JournalUnavailableError,
            )
        ),
    ],
)
def test_every_name_is_documented(name: str) -> None:
    assert f'`{name}`' in TEXT


@pytest.mark.parametrize(
    'told',
    [
        f'{store.MAX_DEFERRED:,} records wait'.replace(',', ' '),
        f'every {writer.FIRST_RETRY_S} to {writer.LAST_RETRY_S} s',
        f'newest {soundness.TAIL_ROWS}',
        f'{records.MAX_PAYLOAD_CHARS // 2**20} MiB',
        f'first {records.MAX_TEXT_CHARS // 2**10} KiB',
        f'{records.MAX_DEPTH} levels',
        f'{records.MAX_INT_BITS} bits',
        f'lost after {store.CLOSE_TIMEOUT_S:g} s',
    ],
)
def test_the_numbers_are_those_of_the_code(told: str) -> None:
    assert told in re.sub(r'\s+', ' ', TEXT)
