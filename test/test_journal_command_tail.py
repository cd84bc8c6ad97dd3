# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal tail`: the newest records, and each new one as it is written, over rotations too."""

from __future__ import annotations

from argparse import Namespace
import asyncio
from collections.abc import Iterator
import json
from pathlib import Path
import signal
import subprocess
import sys

from journal_command_rig import command, lines
from journal_rig import BOUND_S, fact, opened
import pytest

from robot_agent_harness.cli import MODULE
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.journal_tools.tail import records

pytestmark = pytest.mark.anyio


async def _append(path: Path, *numbers: int) -> None:
    async with opened(path) as journal:
        for number in numbers:
            await journal.append(fact(number))


def _number(event: RecordedEvent) -> int | str:
    return int(event.payload['details']['number']) if 'details' in event.payload else event.type


class Idle(Exception):
    """The journal was looked at, and nothing was new."""


class Follower:
    """A tail that follows and is asked, step by step, what it has got."""

    def __init__(self, path: Path, newest: int, mission: str | None = None) -> None:
        asked = Namespace(journal=path, lines=newest, follow=True, mission=mission)
        self._waits = 0
        self._records: Iterator[RecordedEvent] = records(asked, wait=self._wait)

    def _wait(self, seconds: float) -> None:
        assert seconds > 0
        self._waits += 1
        if self._waits > 3:
            raise Idle

    def take(self, count: int) -> list[int | str]:
        """Return the next records."""
        self._waits = 0
        return [_number(next(self._records)) for _ in range(count)]

    def is_idle(self) -> bool:
        """Whether nothing comes any more; it is the last thing to ask."""
        self._waits = 0
        try:
            next(self._records)
        except Idle:
            return True
        return False


async def test_it_begins_with_the_newest_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    await _append(path, *range(20))
    for asked, first in ((('-n', 3), 17), ((), 10), (('-n', 0), 20), (('-n', 99), 0)):
        code, out, _ = command(capsys, 'tail', path, *asked, '--json')
        told = [row['payload']['details']['number'] for row in lines(out)]
        assert (code, told) == (0, list(range(first, 20)))
    assert len(command(capsys, 'tail', path)[1].splitlines()) == 10


async def test_it_follows_a_harness_record_by_record_and_none_twice(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    async with opened(path) as journal:
        for number in range(3):
            await journal.append(fact(number))
        follower = Follower(path, newest=1)
        assert follower.take(1) == [2]
        await journal.append(fact(3))
        assert follower.take(1) == [3]
        for number in range(4, 700):
            journal.defer(fact(number))
        await journal.append(fact(700))
        assert follower.take(697) == list(range(4, 701))
        assert follower.is_idle()


async def test_it_goes_on_in_the_file_that_a_rotation_begins(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    await _append(path, 1, 2)
    follower = Follower(path, newest=1)
    assert follower.take(1) == [2]
    await _append(path, 3)
    assert rotate(path, clock=SystemClock()) is not None
    await _append(path, 4, 5)
    # What was written before the rotation and not yet seen is not left out.
    assert follower.take(4) == [3, 'JOURNAL_CONTINUED', 4, 5]
    assert follower.is_idle()


async def test_it_waits_for_a_file_that_is_away_for_a_moment(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    await _append(path, 1)
    follower = Follower(path, newest=5)
    assert follower.take(1) == [1]
    path.rename(tmp_path / 'away.db')
    await _append(path, 7)
    assert follower.take(1) == [7]


async def test_it_follows_one_mission(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    await _append(path, 1)
    assert Follower(path, newest=5, mission='another').is_idle()
    assert Follower(path, newest=5, mission='mission-1').take(1) == [1]


async def test_ctrl_c_ends_it_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    await _append(path, 1)
    with subprocess.Popen(
        [sys.executable, '-m', MODULE, 'journal', 'tail', str(path), '-f', '--json'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())['seq'] == 1
        await asyncio.to_thread(asyncio.run, _append(path, 2))
        assert json.loads(process.stdout.readline())['seq'] == 2
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(BOUND_S) == 130
        finally:
            process.kill()  # or leaving the context would wait for it without end
        assert process.stderr.read() == ''
