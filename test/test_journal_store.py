# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The journal's writing side, on real files."""

from __future__ import annotations

from pathlib import Path
import sqlite3

import pytest

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import Correlation, RobotActionProgress
from robot_agent_harness.journal import MissionJournal


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


def progress(state: str = 'RUNNING') -> RobotActionProgress:
    return RobotActionProgress(state=state)


@pytest.mark.anyio
@pytest.mark.parametrize('inline', [False, True])
async def test_append_returns_gapless_numbers_of_records_that_are_in_the_file(
    tmp_path: Path, inline: bool
) -> None:
    path = tmp_path / 'deep' / 'journal.db'
    journal = MissionJournal.open(path, clock=SystemClock(), inline=inline)
    ids = Correlation(action_id='a')
    assert await journal.append((progress(), ids), (progress(), ids)) == [1, 2]
    future = journal.defer((progress(), ids))
    assert await journal.append((progress(), ids)) == [4]
    assert await future == [3]
    await journal.close()
    rows = sqlite3.connect(path).execute('SELECT seq, action_id FROM events').fetchall()
    assert rows == [(1, 'a'), (2, 'a'), (3, 'a'), (4, 'a')]
