# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A disk whose sync fails: what was reported lost does not rise again, not even after a kill."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys

from journal_rig import BOUND_S, numbers
import pytest

from robot_agent_harness.testing.journal_assertions import assert_journal

FAILING_SYNC = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int call(const char *name, int fd) {
  if (access(getenv("SYNC_FAILS"), F_OK) == 0) { errno = EIO; return -1; }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }
"""

PROGRAM = """
import asyncio, os, pathlib, signal, sys
sys.path[:] = sys.argv[3:]
from journal_rig import fact
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.journal import MissionJournal

async def main():
    switch = pathlib.Path(os.environ['SYNC_FAILS'])
    journal = MissionJournal.open(sys.argv[1], clock=SystemClock(), write_timeout_s=0.3)
    await journal.append(fact(1))
    switch.touch()
    try:
        await journal.append(fact(2))
    except JournalUnavailableError as error:
        print(error, flush=True)
    if sys.argv[2] == 'kill':
        os.kill(os.getpid(), signal.SIGKILL)
    kept = journal.defer(fact(3))
    switch.unlink()
    await kept
    await journal.append(fact(4))
    await journal.close()

asyncio.run(main())
"""


@pytest.mark.skipif(shutil.which('cc') is None, reason='needs a C compiler')
@pytest.mark.parametrize(('end', 'kept'), [('recover', [1, 3, 4]), ('kill', [1])])
def test_a_record_whose_sync_failed_never_appears(
    tmp_path: Path, end: str, kept: list[int]
) -> None:
    source, library = tmp_path / 'sync.c', tmp_path / 'sync.so'
    source.write_text(FAILING_SYNC)
    subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source, '-ldl'], check=True)
    path, switch = tmp_path / 'journal.db', tmp_path / 'sync_fails'
    told = subprocess.run(
        [sys.executable, '-c', PROGRAM, path, end, Path(__file__).parent, *sys.path],
        env={**os.environ, 'LD_PRELOAD': str(library), 'SYNC_FAILS': str(switch)},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert 'disk I/O error' in told.stdout, told.stderr
    assert numbers(path) == kept
    assert_journal(path)
