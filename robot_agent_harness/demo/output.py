# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's folder: the newest run has fixed file names, earlier runs are kept beside it."""

from __future__ import annotations

from datetime import datetime
import fcntl
from pathlib import Path
from typing import IO

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.paths import file_in_the_way

JOURNAL = 'journal.db'
REPORT = 'report.html'
SIM_LOG = 'sim_robot.log'
HARNESS_LOG = 'harness.log'
EARLIER = 'earlier'
_FILES = (
    JOURNAL,
    f'{JOURNAL}-wal',
    f'{JOURNAL}-shm',
    f'{JOURNAL}.lock',
    REPORT,
    SIM_LOG,
    HARNESS_LOG,
)
_LOCK = '.lock'


class OutputFolder:
    """The folder, held by one run at a time; what an earlier run left is moved to `earlier/`.

    :raises ConfigurationError: the folder cannot be used, or another demo is using it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self.kept: Path | None = None
        """Where the earlier run was moved to."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _held(self.path / _LOCK)
            self.kept = self._move_earlier_run()
        except (FileExistsError, NotADirectoryError) as error:
            file = file_in_the_way(Path(error.filename))
            raise ConfigurationError(
                f'--output {path}: {file} is a file, and the demo writes a folder of files; name'
                ' another one'
            ) from error
        except OSError as error:
            raise ConfigurationError(f'--output {path}: {error.strerror}') from error

    @property
    def journal(self) -> Path:
        """The journal of this run."""
        return self.path / JOURNAL

    @property
    def report(self) -> Path:
        """The report of this run."""
        return self.path / REPORT

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    def _move_earlier_run(self) -> Path | None:
        found = [self.path / name for name in _FILES if (self.path / name).exists()]
        if not found:
            return None
        when = datetime.fromtimestamp(max(file.stat().st_mtime for file in found))
        name = f'{when:%Y-%m-%d_%H-%M-%S}'
        target, again = self.path / EARLIER / name, 1
        while target.exists():
            again += 1
            target = self.path / EARLIER / f'{name}_{again}'
        target.mkdir(parents=True)
        for file in found:
            file.rename(target / file.name)
        return target


def _held(path: Path) -> IO[str]:
    lock = path.open('w')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise ConfigurationError(
            f'--output {path.parent}: another demo is using this folder'
        ) from error
    return lock
