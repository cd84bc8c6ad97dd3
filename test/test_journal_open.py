# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Opening a journal: made well, held by one harness, refused and left alone when not sound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import contextlib
import gzip
import os
from pathlib import Path
import sqlite3
import stat
import subprocess
import sys

from journal_rig import alter, BOUND_S, content, fact, Helper, numbers, opened, WRITER
import pytest

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import (
    HarnessError,
    JournalCorruptError,
    JournalError,
    JournalLockedError,
    JournalTooNewError,
    JournalUnavailableError,
    NotAJournalError,
)
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.journal.schema import chain_of

TRIGGERS = ('events_refuse_update', 'events_refuse_delete', 'events_no_gap')


def open_journal(path: Path | str) -> MissionJournal:
    return MissionJournal.open(path, clock=SystemClock())


def make(path: Path, records: int = 300) -> Path:
    """Make a closed journal of several pages."""

    async def main() -> None:
        async with opened(path) as journal:
            await journal.append(*(fact(number, 'x' * 200) for number in range(records)))

    asyncio.run(main())
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.anyio
async def test_only_the_owner_can_read_any_of_it(tmp_path: Path) -> None:
    folder = tmp_path / 'a' / 'b'
    before = os.umask(0)
    try:
        async with opened(folder / 'journal.db') as journal:
            await journal.append(fact(1))
            names = {entry.name: mode(entry) for entry in folder.iterdir()}
    finally:
        os.umask(before)
    assert names == dict.fromkeys(
        ('journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.db.lock'), 0o600
    )
    assert mode(folder) == mode(folder.parent) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = make(tmp_path / 'journal.db', 1)
    path.chmod(0o644)
    make(path, 1)
    assert mode(path) == 0o600


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    journal = open_journal('~/logs/journal.db')
    assert journal.path == tmp_path / 'logs' / 'journal.db'
    asyncio.run(journal.close())


@pytest.mark.anyio
async def test_a_second_harness_in_the_same_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    (tmp_path / 'link.db').symlink_to(path)
    async with opened(path) as journal:
        for name in ('journal.db', 'link.db'):
            with pytest.raises(JournalLockedError, match=f'{path}.*process {os.getpid()}'):
                open_journal(tmp_path / name)
        assert await journal.append(fact(1)) == [1]
    async with opened(path):
        pass


def test_a_second_harness_in_another_process_is_refused_until_the_first_one_dies(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    with Helper(WRITER, path, Path(__file__).parent, *sys.path) as first:
        assert first.hear() == '1'
        with pytest.raises(JournalLockedError, match=f'process {first.process.pid}') as caught:
            open_journal(path)
        assert caught.value.code == 'journal_locked'
        assert int(first.hear()) > 1
        first.process.kill()
        first.process.wait(BOUND_S)
        asyncio.run(open_journal(path).close())


@pytest.mark.anyio
async def test_removing_the_lock_file_lets_no_second_harness_in_for_long(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        await journal.append(fact(1))
        path.with_name('journal.db.lock').unlink()
        await journal.append(fact(2))
        with pytest.raises(JournalLockedError):
            open_journal(path)


def garbage_page(path: Path) -> None:
    with path.open('r+b') as file:
        file.seek(4096)
        file.write(os.urandom(512))


def garbage_root(path: Path) -> None:
    with path.open('r+b') as file:
        file.seek(100)
        file.write(b'\xff' * 512)


def garbage_header(path: Path) -> None:
    with path.open('r+b') as file:
        file.write(b'garbage!' * 4)


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def cut_in_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1000)


def cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def text_file(path: Path) -> None:
    path.write_text('this is no database\n' * 500)


def _sql(*statements: str) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for trigger in TRIGGERS:
                connection.execute(f'DROP TRIGGER IF EXISTS {trigger}')
            restored = [
                connection.execute(statement).fetchall()
                for statement in (*statements, 'PRAGMA wal_checkpoint(TRUNCATE)')
            ]
            assert restored

    return harm


def keeping_triggers(*statements: str) -> Callable[[Path], None]:
    """Alter rows behind the triggers' back, and put the triggers back."""

    return lambda path: alter(path, *statements)


def foreign_database(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE events (seq INTEGER PRIMARY KEY, note TEXT)')


def orphaned_log(path: Path) -> None:
    path.with_name(path.name + '-wal').write_bytes(b'records' * 1000)
    path.unlink()


CORRUPTIONS: dict[str, Callable[[Path], None]] = {
    'garbage page': garbage_page,
    'garbage root': garbage_root,
    'garbage header': garbage_header,
    'half': cut_in_half,
    'cut in a page': cut_in_a_page,
    'nothing': cut_to_nothing,
    'text': text_file,
    'foreign': foreign_database,
    'no triggers': _sql(),
    'no view': keeping_triggers('DROP VIEW decision_log'),
    'altered payload': keeping_triggers("UPDATE events SET payload = '{}' WHERE seq = 290"),
    'altered id': keeping_triggers("UPDATE events SET mission_id = 'x' WHERE seq = 3"),
    'altered to a blob': keeping_triggers("UPDATE events SET payload = x'00' WHERE seq = 3"),
    'lost in the middle': keeping_triggers('DELETE FROM events WHERE seq = 100'),
    'lost at the start': keeping_triggers('DELETE FROM events WHERE seq = 1'),
    'renumbered': keeping_triggers(
        'DELETE FROM events WHERE seq = 100', 'UPDATE events SET seq = seq - 1 WHERE seq > 100'
    ),
    'orphaned log': orphaned_log,
}


@pytest.mark.parametrize('name', CORRUPTIONS)
def test_what_is_no_sound_journal_is_refused_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    path = make(tmp_path / 'journal.db')
    CORRUPTIONS[name](path)
    before = content(path)
    with pytest.raises(JournalCorruptError, match=str(path)) as caught:
        open_journal(path)
    assert 'away' in str(caught.value)
    assert content(path) == before
    with pytest.raises(JournalCorruptError):
        open_journal(path)


@pytest.mark.parametrize(
    ('name', 'content_', 'kind'),
    [
        ('n.txt', b'These are my notes.', 'a text file'),
        ('long.txt', 'Notizen über das Fahrtenbuch. '.encode() * 1000, 'a text file'),
        ('report.html', b'<!doctype html>\n<html>', 'an HTML page'),
        ('j.jsonl', b'{"seq": 1}\n{"seq": 2}\n', 'a JSON file'),
        ('j.mcap', b'\x89MCAP0\r\n' + b'\0' * 50, 'an MCAP recording'),
        ('j.gz', gzip.compress(b'text', mtime=0), 'a compressed'),
        ('j.db-shm', b'\x18\xe2' + b'\0' * 50, 'the index of the log of j.db'),
        ('j.db.lock', b'4711\n', 'the lock of j.db'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_what_never_was_a_journal_is_called_by_its_name_and_gets_no_lock(
    tmp_path: Path, name: str, content_: bytes, kind: str
) -> None:
    make(tmp_path / 'j.db')
    path = tmp_path / name
    path.write_bytes(content_)
    before = content(tmp_path / 'j.db')
    for use in (open_journal, JournalReader):
        with pytest.raises(NotAJournalError) as caught:
            use(path)
        told = str(caught.value)
        assert told.startswith(f'{path} is no journal but {kind}')
        assert 'damaged' not in told
        assert 'keep' not in told
    assert path.read_bytes() == content_
    assert not path.with_name(f'{name}.lock').exists()
    assert content(tmp_path / 'j.db').keys() == before.keys()


def test_a_damaged_journal_with_records_in_its_log_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    with Helper(WRITER, path, Path(__file__).parent, *sys.path) as writer:
        while int(writer.hear()) < 50:
            pass
        writer.process.kill()
        writer.process.wait(BOUND_S)
    with path.open('r+b') as file:
        file.seek(20)
        file.write(b'\xff' * 300)
    log = path.with_name('journal.db-wal')
    with log.open('r+b') as file:
        file.seek(32 + 24 + 100)
        file.write(b'\xff' * 100)
    before = content(path)
    assert len(before['-wal']) > 0
    with pytest.raises(JournalError):
        open_journal(path)
    assert content(path) == before


def newer_schema(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('PRAGMA user_version = 99')


def newer_record(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        seq, chain = connection.execute(
            'SELECT seq, chain FROM events ORDER BY seq DESC'
        ).fetchone()
        row = (seq + 1, 99, 'NEW_TYPE', 0, None, None, None, None, None, None, '{}')
        connection.execute(
            f'INSERT INTO events VALUES ({", ".join("?" * 12)})', (*row, chain_of(chain, row))
        )


@pytest.mark.parametrize('grow', [newer_schema, newer_record])
def test_a_journal_of_a_newer_release_is_refused_and_left_as_it_is(
    tmp_path: Path, grow: Callable[[Path], None]
) -> None:
    path = make(tmp_path / 'journal.db', 3)
    grow(path)
    before = content(path)
    for attempt in (open_journal, JournalReader):
        with pytest.raises(JournalTooNewError, match=r'99.*upgrade') as caught:
            attempt(path)
        assert caught.value.code == 'journal_too_new'
    assert content(path) == before


def test_a_crash_while_the_file_is_made_leaves_nothing_that_counts(tmp_path: Path) -> None:
    (tmp_path / '.journal.db.new').write_bytes(b'half a journal')
    path = make(tmp_path / 'journal.db', 1)
    assert numbers(path) == [0]
    assert not (tmp_path / '.journal.db.new').exists()


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('file/journal.db', 'Not a directory'),
        ('file/deep/journal.db', 'Not a directory'),
        ('x' * 300, 'too long'),
        ('folder', 'is a folder'),
        ('nul\0name', 'null'),
    ],
)
def test_a_path_that_cannot_be_is_named_with_a_remedy(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / 'file').touch()
    (tmp_path / 'folder').mkdir()
    with pytest.raises(JournalUnavailableError) as caught:
        open_journal(tmp_path / name)
    assert reason in str(caught.value)
    assert name.split('\0')[0] in str(caught.value)
    assert 'choose another path' in str(caught.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ['file', 'folder']


UNPRIVILEGED = """
import os, sys, urllib.parse  # pathlib imports it late, when we can read nothing any more
sys.path[:] = sys.argv[2:]
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import HarnessError
from robot_agent_harness.journal import MissionJournal
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    MissionJournal.open(sys.argv[1], clock=SystemClock())
except HarnessError as error:
    print(error.code, error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason='root is needed to become somebody else')
@pytest.mark.parametrize('case', ['folder', 'parent', 'file'])
def test_a_path_without_permission_is_named_with_a_remedy(tmp_path: Path, case: str) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    path = {
        'folder': tmp_path / 'journal.db',
        'parent': tmp_path / 'missing' / 'journal.db',
        'file': tmp_path / 'open' / 'journal.db',
    }[case]
    if case == 'file':
        make(path, 1)
        path.parent.chmod(0o777)
        path.with_name('journal.db.lock').chmod(0o666)
    told = subprocess.run(
        [sys.executable, '-c', UNPRIVILEGED, str(path), *sys.path],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert told.stdout.startswith('journal_unavailable'), told.stderr
    assert str(path) in told.stdout
    assert 'access' in told.stdout


def test_every_refusal_is_a_harness_error_with_its_own_code() -> None:
    errors = (JournalLockedError, JournalCorruptError, JournalTooNewError, JournalUnavailableError)
    assert all(issubclass(error, HarnessError) for error in errors)
    assert len({error.code for error in errors}) == 4
