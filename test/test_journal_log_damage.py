# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A -wal that has changed after a kill: SQLite itself would drop records without a word (K36)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import os
from pathlib import Path
import sys

from journal_rig import BOUND_S, content, Helper, numbers, opened, WRITER
import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.doctor.finding import Level
from robot_agent_harness.doctor.journal import check_journal
from robot_agent_harness.errors import JournalCorruptError
from robot_agent_harness.journal import JournalReader, MissionJournal

RECORDS = 40
HEADER, FRAME = 32, 24 + 4096


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Helper]:
    with Helper(WRITER, tmp_path / 'journal.db', Path(__file__).parent, *sys.path) as helper:
        while int(helper.hear()) < RECORDS:
            pass
        yield helper


@pytest.fixture
def path(writer: Helper, tmp_path: Path) -> Path:
    """Return a journal whose writer was killed, with its records in the log still."""
    writer.process.kill()
    writer.process.wait(BOUND_S)
    return tmp_path / 'journal.db'


def log_of(path: Path) -> Path:
    return path.with_name(f'{path.name}-wal')


def flip(path: Path, offset: int) -> None:
    data = bytearray(log_of(path).read_bytes())
    data[offset] ^= 0x10
    log_of(path).write_bytes(data)


@pytest.mark.parametrize(
    'offset',
    [0, 5, 17, 30, HEADER + 1, HEADER + 9, HEADER + 300, HEADER + 20 * FRAME + 2000],
)
def test_a_log_with_lost_records_is_refused_and_left_as_it_is(
    path: Path, offset: int, capsys: pytest.CaptureFixture[str]
) -> None:
    flip(path, offset)
    before = content(path)
    with pytest.raises(JournalCorruptError, match=r'-wal is damaged at byte \d+.*keep them'):
        MissionJournal.open(path, clock=SystemClock())
    assert main(['journal', 'verify', str(path)]) == 1
    assert '-wal is damaged at byte' in capsys.readouterr().out
    found = check_journal(str(path), running=False)[0]
    assert (found.level, 'are lost' in found.message) == (Level.PROBLEM, True)
    assert content(path) == before


def test_a_log_that_is_something_else_is_refused(path: Path) -> None:
    log_of(path).write_bytes(os.urandom(3 * FRAME))
    with pytest.raises(JournalCorruptError, match='-wal is damaged at byte 0'):
        MissionJournal.open(path, clock=SystemClock())


def _cut_within_the_last_commit(path: Path) -> None:
    os.truncate(log_of(path), log_of(path).stat().st_size - 100)


def _last_commit_half_written(path: Path) -> None:
    flip(path, log_of(path).stat().st_size - 100)


def _never_begun(path: Path) -> None:
    log_of(path).write_bytes(b'\0' * FRAME)


@pytest.mark.parametrize(
    ('harm', 'left'),
    [
        (_cut_within_the_last_commit, RECORDS - 1),
        (_last_commit_half_written, RECORDS - 1),
        (_never_begun, 0),
    ],
)
def test_what_a_power_failure_leaves_is_a_journal_that_goes_on(
    path: Path, harm: object, left: int
) -> None:
    assert callable(harm)
    harm(path)
    with JournalReader(path) as reader:
        assert reader.log_damage() is None

    async def go_on() -> None:
        async with opened(path):
            pass

    asyncio.run(go_on())
    assert len(numbers(path)) >= left


def test_where_commits_do_not_wait_for_the_disk_a_start_does_not_ask(path: Path) -> None:
    flip(path, HEADER + 300)
    journal = MissionJournal.open(path, clock=SystemClock(), synchronous='normal')
    asyncio.run(journal.close())


def test_a_log_that_is_being_written_is_no_damage(writer: Helper, tmp_path: Path) -> None:
    with JournalReader(tmp_path / 'journal.db') as reader:
        for _ in range(50):
            assert reader.log_damage() is None
