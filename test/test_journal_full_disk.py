# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A disk without room: journals can be read, none is called damaged, and what to do is said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
import errno
import os
from pathlib import Path
import sqlite3
import subprocess
import sys

from journal_rig import BOUND_S, fact, Helper, opened, WRITER
import pytest

from robot_agent_harness.cli import main
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.journal import database as database_module
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.journal.rotation import rotate

ROOM = 'free some space'


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 8 MiB."""
    if os.geteuid() != 0:
        pytest.skip('only root may mount a small file system')
    folder = tmp_path / 'disk'
    folder.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('this machine lets nobody mount')
    try:
        yield folder
    finally:
        subprocess.run(['umount', '-l', str(folder)], check=False)


def fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / 'filler').open('wb', buffering=0) as file:
        while file.write(b'x' * 4096):
            pass


def closed(path: Path) -> Path:
    async def write() -> None:
        async with opened(path) as journal:
            await journal.append(*(fact(number) for number in range(9)))

    asyncio.run(write())
    return path


def killed(path: Path) -> Path:
    """Make a journal whose records are in its -wal still."""
    with Helper(WRITER, path, Path(__file__).parent, *sys.path) as writer:
        while int(writer.hear()) < 9:
            pass
        writer.process.kill()
        writer.process.wait(BOUND_S)
    path.with_name(f'{path.name}-shm').unlink()
    return path


@pytest.mark.parametrize('make', [closed, killed])
def test_a_journal_on_a_full_disk_can_be_read(
    disk: Path, make: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(make)
    path = make(disk / 'journal.db')
    fill(disk)
    with JournalReader(path) as reader:
        assert reader.verify_chain() >= 9
    assert main(['journal', 'events', str(path)]) == 0
    assert capsys.readouterr().err == ''


@pytest.mark.parametrize('make', [closed, killed])
def test_a_start_on_a_full_disk_says_so_and_calls_nothing_damaged(
    disk: Path, make: object
) -> None:
    assert callable(make)
    path = make(disk / 'journal.db')
    fill(disk)
    with pytest.raises(JournalUnavailableError, match=ROOM):
        MissionJournal.open(path, clock=SystemClock())
    (disk / 'filler').unlink()
    asyncio.run(MissionJournal.open(path, clock=SystemClock()).close())


@pytest.mark.parametrize('left_kib', [0, 8, 40, 80])
def test_a_rotation_without_room_is_told_in_a_line_and_can_be_done_again(
    disk: Path, left_kib: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = closed(disk / 'journal.db')
    fill(disk)
    filler = disk / 'filler'
    os.truncate(filler, filler.stat().st_size - left_kib * 1024)
    assert main(['journal', 'rotate', str(path)]) == 2
    told = capsys.readouterr().err
    assert (told.count('\n'), ROOM in told) == (1, True), told
    filler.unlink()
    assert sorted(entry.name for entry in disk.iterdir() if entry.name.startswith('.')) == []
    rotated = rotate(path, clock=SystemClock())
    assert rotated is not None
    assert rotated.records == 9


def test_whatever_sqlite_says_of_a_rotation_the_journal_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = closed(tmp_path / 'journal.db')

    def broken(connection: sqlite3.Connection) -> None:
        if connection.execute('PRAGMA user_version').fetchone() == (0,):
            raise sqlite3.OperationalError('database or disk is full')

    monkeypatch.setattr(database_module, 'migrate', broken)
    with pytest.raises(JournalUnavailableError, match=f'{ROOM}; it cannot be rotated'):
        rotate(path, clock=SystemClock())
    with JournalReader(path) as reader:
        assert reader.verify_chain() == 9


def test_a_lock_file_that_finds_no_room_is_a_matter_of_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, 'open', no_room)
    with pytest.raises(JournalUnavailableError, match=rf'lock.*{ROOM}'):
        MissionJournal.open(tmp_path / 'journal.db', clock=SystemClock())
