# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a harness could write its journal: the folder, the file, its lock, its end, the disk.

Nothing is written, made or locked: a harness that starts meanwhile is not disturbed.
"""

from __future__ import annotations

import os
from pathlib import Path
import stat

from robot_agent_harness.disk import free_bytes, FULL_BYTES, LOW_BYTES
from robot_agent_harness.doctor.finding import Finding, ok, problem, warning
from robot_agent_harness.errors import (
    JournalCorruptError,
    JournalError,
    JournalTooNewError,
    NotAJournalError,
)
from robot_agent_harness.journal.lock import holder_of
from robot_agent_harness.journal.soundness import check_log, inspect_end
from robot_agent_harness.paths import resolved

AREA = 'journal'
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MB = 1_000_000


def check_journal(named: str, *, running: bool, synced: bool = True) -> list[Finding]:
    """Look at the journal that `journal.path` names.

    :param running: whether a harness is at work that may be the one that holds it.
    :param synced: whether each commit waits for the disk.
    """
    try:
        path = resolved(named)
        there = path.exists()
        folder = next(parent for parent in path.parents if parent.exists())
    except OSError as error:
        return [problem(AREA, f'{named}: {error.strerror}', 'correct journal.path')]
    if not there:
        found: list[Finding | None] = [_to_be_made(path, folder)]
    else:
        holder = holder_of(path)
        found = [_file(path, holder, synced), _lock(path, holder, running)]
        if path.with_name(f'{path.name}-wal').exists() and not os.access(path.parent, os.W_OK):
            found.append(_not_writable(path.parent))
    return [finding for finding in (*found, _disk(folder)) if finding is not None]


def is_written(named: str) -> bool:
    """Whether a process holds the journal that `journal.path` names."""
    try:
        return holder_of(resolved(named)) is not None
    except OSError:
        return False  # `check_journal` says what is wrong with the name


def _to_be_made(path: Path, folder: Path) -> Finding:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return _not_writable(folder)
    return ok(AREA, f'{path} will be made at the first start', path=str(path))


def _not_writable(folder: Path) -> Finding:
    return problem(
        AREA,
        f'{folder} is no folder that this user can write to',
        'give this user access to it, or set journal.path to another one',
    )


def _file(path: Path, holder: str | None, synced: bool) -> Finding:
    details = {'path': str(path), 'bytes': path.stat().st_size}
    try:
        if synced:
            check_log(path)
        end = inspect_end(path, live=holder is not None)
    except JournalError as error:
        return problem(AREA, str(error), _advice(error), **details)
    details['last_seq'] = end.seq
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
        return problem(
            AREA,
            f'{path} cannot be written by this user',
            f'chown it and {path.parent}',
            **details,
        )
    if mode & OTHERS:
        return warning(
            AREA,
            f'{path} has mode {mode:04o}: others on this machine may read what people said',
            f'chmod 600 {path}',
            **details,
        )
    return ok(AREA, f'{path}: {end.seq} records, the newest follow from one another', **details)


def _advice(error: JournalError) -> str:
    if isinstance(error, NotAJournalError):
        return 'set journal.path to a journal, or to a file that does not exist yet'
    if isinstance(error, JournalCorruptError):
        return (
            'keep the file for the record, and set journal.path to a new one; `robot-agent-harness'
            ' journal verify` says more'
        )
    if isinstance(error, JournalTooNewError):
        return 'upgrade robot_agent_harness, or set journal.path to another file'
    return 'put that right, or set journal.path to another file'


def _lock(path: Path, holder: str | None, running: bool) -> Finding | None:
    if holder is None:
        return None
    told = f'process {holder} writes {path.name}'
    if running:
        return ok('journal lock', f'{told}: the harness that runs', process=holder)
    return problem(
        'journal lock',
        f'{told}, and no harness of this name is in sight: another one would be refused',
        'stop that process, or set another journal.path',
        process=holder,
    )


def _disk(folder: Path) -> Finding:
    free = free_bytes(folder)
    details = {'free_mb': free // MB}
    advice = 'make room there, or set journal.path to another disk'
    if free < FULL_BYTES:
        return problem('disk', f'{free // MB} MB are free under {folder}', advice, **details)
    if free < LOW_BYTES:
        return warning('disk', f'{free // MB} MB are free under {folder}', advice, **details)
    return ok('disk', f'{free // MB} MB are free under {folder}', **details)
