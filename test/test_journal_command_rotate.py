# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Closing a journal and beginning the next: what holds across the two files, and over a kill."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import json
import os
from pathlib import Path
import stat
import subprocess
import sys
import threading
from typing import Any

from journal_rig import BOUND_S, fact, opened, rows
import pytest

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.cli import main
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import (
    Correlation,
    EventType,
    HarnessStateChanged,
    MissionEnded,
    MissionStarted,
    SalientEvent,
)
from robot_agent_harness.journal import JournalReader, MissionJournal
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.recovery import adopt, recover
from robot_agent_harness.skills.call import IdempotencyKey
from robot_agent_harness.testing import Bench, check_journal, FakeClock, run_virtual

STEPS = (
    'emptied the log',
    'drafted',
    'named',
    'parted',
    'switched',
    'compressed',
    'archived',
    'cleared',
)
"""Every step of a rotation, in order."""

KILLED_AFTER = """
import os, sys
from pathlib import Path
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.journal.rotation import rotate

def step(name):
    print(name, flush=True)
    if name == sys.argv[2]:
        os._exit(9)

rotate(Path(sys.argv[1]), clock=SystemClock(), step=step)
"""


async def _write(path: Path, *numbers: int) -> None:
    async with opened(path, inline=True) as journal:
        for number in numbers:
            await journal.append(fact(number))


def _all_numbers(folder: Path) -> list[int]:
    """Return the numbers of the facts in all files of a folder that hold records."""
    found: list[int] = []
    for path in _files(folder):
        with JournalReader(path) as reader:
            for event in reader.events(type=EventType.SALIENT_EVENT):
                found.append(event.payload['details']['number'])
    return sorted(found)


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(
        p for p in folder.iterdir() if p.suffix in ('.db', '.gz') and p.name[0] != '.'
    )


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(['journal', *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_rotation_begins_a_file_that_names_the_one_before_it_and_its_last_chain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, 1, 2))
    last_chain = rows(path, 'chain')[-1][0]

    code, out, _ = command(capsys, 'rotate', path, '--json')
    told = json.loads(out)
    archive = Path(told['archive'])
    assert (code, told['records'], archive.suffixes) == (0, 2, ['.db', '.gz'])
    assert stat.S_IMODE(archive.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600

    with JournalReader(path) as reader:
        [first] = reader.events()
    assert (first.seq, first.type) == (1, 'JOURNAL_CONTINUED')
    assert first.payload == {
        'predecessor': archive.name,
        'predecessor_last_seq': 2,
        'predecessor_last_chain': last_chain,
        'carried_over': 0,
    }
    asyncio.run(_write(path, 3))
    assert _all_numbers(tmp_path) == [1, 2, 3]
    assert check_journal(path) == check_journal(archive) == []


def test_an_archive_is_read_as_a_live_file_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, *range(5)))
    before = {name: command(capsys, name, path, '--json')[1] for name in ('events', 'show')}
    archive = json.loads(command(capsys, 'rotate', path, '--json')[1])['archive']
    for name, out in before.items():
        assert command(capsys, name, archive, '--json') == (0, out, '')
    told = f'robot-agent-harness journal rotate: {archive} is an archive, closed already\n'
    assert command(capsys, 'rotate', archive) == (2, '', told)


def test_verify_follows_the_chain_into_the_files_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    archives = []
    for number in range(3):
        asyncio.run(_write(path, number))
        archives.append(Path(json.loads(command(capsys, 'rotate', path, '--json')[1])['archive']))
    code, out, _ = command(capsys, 'verify', path, '--json')
    told = json.loads(out)
    assert (code, told['sound']) == (0, True)
    assert [file['path'] for file in told['files']] == [str(f) for f in (path, *archives[::-1])]

    # Another file in the place of the one before it is sound in itself, and still found out.
    archives[1].write_bytes(archives[0].read_bytes())
    code, out, _ = command(capsys, 'verify', path)
    assert code == 1
    assert 'the file after it goes on from record' in out

    archives[1].unlink()
    code, out, _ = command(capsys, 'verify', path)
    assert code == 0
    assert f'goes on from {archives[1].name}, which is not beside it' in out


@pytest.mark.parametrize('step', STEPS)
def test_killed_after_any_step_a_rotation_loses_nothing_and_doubles_nothing(
    tmp_path: Path, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, 1, 2, 3))
    killed = subprocess.run(
        [sys.executable, '-c', KILLED_AFTER, str(path), step],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert killed.returncode == 9, killed.stderr
    assert killed.stdout.split('\n')[:-1] == list(STEPS[: STEPS.index(step) + 1])

    # Who reads at this moment, before anybody has tidied up, finds a whole journal by its name.
    with JournalReader(path) as reader:
        assert reader.verify_chain() in (1, 3)

    asyncio.run(_write(path, 4))
    assert command(capsys, 'rotate', path)[0] == 0
    asyncio.run(_write(path, 5))
    assert _all_numbers(tmp_path) == [1, 2, 3, 4, 5]
    assert command(capsys, 'verify', path)[0] == 0
    # What stands beside a journal that was read belongs to it; nothing of the rotation is left.
    left = {entry.name for entry in tmp_path.iterdir() if not entry.name.startswith('journal.db')}
    assert all(name.endswith('.db.gz') and name[0] != '.' for name in left), left


def test_a_step_that_fails_leaves_the_journal_in_use(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, 1))

    def full(name: str) -> None:
        if name == 'named':
            raise OSError(28, 'No space left on device')

    with pytest.raises(Exception, match='cannot be rotated .No space left on device'):
        rotate(path, clock=SystemClock(), step=full)
    asyncio.run(_write(path, 2))
    assert _all_numbers(tmp_path) == [1, 2]
    assert check_journal(path) == []


def test_there_is_nothing_to_close_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, 1))
    assert command(capsys, 'rotate', path)[0] == 0
    before = sorted(tmp_path.iterdir())
    code, out, _ = command(capsys, 'rotate', path)
    assert (code, out) == (0, 'there are no records since the last rotation: nothing to close\n')
    assert sorted(tmp_path.iterdir()) == before


def test_a_journal_in_use_or_with_open_work_is_not_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> tuple[int, str, str]:
        async with opened(path) as journal:
            begun = MissionStarted(instruction='go', robot_id='r', provider='none', max_steps=1)
            await journal.append((begun, Correlation(mission_id='m')))
            return command(capsys, 'rotate', path)

    code, _, err = asyncio.run(scenario())
    assert code == 2
    assert 'is in use by another harness (process ' in err
    assert 'journal.rotate_mib' in err
    code, _, err = command(capsys, 'rotate', path)
    assert code == 2
    assert '1 missions open' in err
    assert len(list(_files(tmp_path))) == 1


def test_a_reader_that_was_there_before_goes_on_with_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    asyncio.run(_write(path, 1))
    with JournalReader(path) as reader:
        assert reader.last_seq == 1
        assert rotate(path, clock=SystemClock()) is not None
        asyncio.run(_write(path, 2, 3, 4))
        assert not reader.in_place
        assert [e.payload['details']['number'] for e in reader.events()] == [1]
        assert reader.verify_chain() == 1


def test_an_action_that_ended_unknown_stands_in_the_way_after_rotations_too(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> list[str]:
        async with Bench(path) as bench:
            await bench.call('navigate_to_pose', {'x': 4, 'y': 0})
            own = bench.nav2.own_goal
        for _ in range(2):
            assert rotate(path, clock=SystemClock()) is not None
            await _write(path, 1)
        async with Bench(path) as bench:
            bench.robot.place(0.5, 0.0, v=(0.4, 0.0))
            await recover(bench.core, adopt(bench.core))
            assert own in bench.nav2.cancel_requests
            moving = await bench.call('navigate_to_pose', {'x': -4, 'y': 0})
            bench.robot.place(0.6, 0.0)
            await asyncio.sleep(1.0)
            bench.nav2.result(GoalStatus.UNKNOWN, {}, own)
            settled = await bench.call('navigate_to_pose', {'x': -4, 'y': 0})
            return [moving.status.value, settled.status.value]

    assert run_virtual(scenario()) == ['precondition_changed', 'accepted']
    assert check_journal(path) == []


def test_an_action_that_ended_well_is_not_carried_over(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> None:
        async with Bench(path) as bench:
            await bench.call('navigate_to_pose', {'x': 4, 'y': 0})
            own = bench.nav2.own_goal
            bench.robot.place(4.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {}, own)
            await bench.outcome(own)

    run_virtual(scenario())
    rotated = rotate(path, clock=SystemClock())
    assert rotated is not None
    assert rotated.carried_over == 0


def test_how_a_running_harness_was_configured_is_known_in_every_file(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    clock = FakeClock()

    def state(name: str) -> tuple[HarnessStateChanged, Correlation]:
        event = HarnessStateChanged(
            state=name,  # type: ignore[arg-type]
            monotonic_ns=clock.monotonic_ns(),
            configuration={'version': '1'} if name == 'configured' else {},
        )
        return event, Correlation()

    async def scenario() -> None:
        journal = MissionJournal.open(path, clock=clock, inline=True, rotate_days=1.0)
        await journal.append(state('configured'), state('active'))
        for number in range(3):
            clock.advance(2 * 86_400.0)
            await journal.append(fact(number))
            with JournalReader(path) as reader:
                quoted = [event.payload['state'] for event in reader.carried_over()]
                assert quoted == ['configured', 'active']
                assert reader.carried_over()[0].payload['configuration'] == {'version': '1'}
        await journal.append(state('closing'))
        await journal.close()

    run_virtual(scenario())
    rotated = rotate(path, clock=clock)
    assert rotated is not None
    assert rotated.carried_over == 0
    assert main(['journal', 'verify', str(path)]) == 0


def test_an_idempotency_key_stays_in_force_over_rotations(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    key = IdempotencyKey('me', 'k')

    async def scenario() -> list[Any]:
        results = []
        for goal in ({'x': 2, 'y': 0}, {'x': 2, 'y': 0}, {'x': 3, 'y': 0}):
            async with Bench(path) as bench:
                results.append(await bench.call('navigate_to_pose', goal, idempotency=key))
                sent.append(len(bench.nav2.sent))
            for _ in range(2):
                assert rotate(path, clock=SystemClock()) is not None
                await _write(path, 1)
        return results

    sent: list[int] = []
    first, again, other = run_virtual(scenario())
    assert sent == [1, 0, 0]
    assert (again.status, again.data) == (first.status, first.data)
    assert other.status.value == 'invalid_arguments'
    assert check_journal(path) == []


def _ended(mission_id: str) -> tuple[MissionEnded, Correlation]:
    event = MissionEnded(outcome='unknown', reason='finished', summary='', steps=1)
    return event, Correlation(mission_id=mission_id)


def _begun(mission_id: str) -> tuple[MissionStarted, Correlation]:
    event = MissionStarted(instruction='go', robot_id='r', provider='none', max_steps=1)
    return event, Correlation(mission_id=mission_id)


@pytest.mark.parametrize(
    'limits', [{'rotate_mib': 1}, {'rotate_days': 1.0}], ids=['by size', 'by age']
)
def test_a_running_harness_rotates_between_missions_and_never_within_one(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    path = tmp_path / 'journal.db'
    clock = FakeClock()
    told: list[int] = []

    async def scenario() -> None:
        journal = MissionJournal.open(path, clock=clock, inline=True, **limits)
        journal.add_event_listener(lambda seq, event, ids: told.append(seq))
        await journal.append(_begun('m1'))
        for number in range(4):
            large = SalientEvent(kind='human_message', message='x' * 400_000)
            await journal.append((large, Correlation(mission_id='m1')))
            clock.advance(86_400.0)
            assert journal.last_seq == number + 2, 'rotated within a mission'
        await journal.append(_ended('m1'))
        assert journal.last_seq == 1
        await journal.append(_begun('m2'), _ended('m2'))
        assert journal.healthy
        await asyncio.sleep(0)
        await journal.close()

    run_virtual(scenario())
    assert told == [1, 2, 3, 4, 5, 6, 2, 3]
    files = list(_files(tmp_path))
    assert len(files) == 2
    for file in files:
        assert check_journal(file) == []
    assert main(['journal', 'verify', str(path)]) == 0
    with JournalReader(path) as reader:
        assert [mission.mission_id for mission in reader.missions()] == ['m2']


def test_a_harness_that_may_not_rotate_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / 'journal.db'
    clock = FakeClock()

    def refused(*_: object) -> None:
        raise OSError(1, 'Operation not permitted')

    async def scenario() -> None:
        journal = MissionJournal.open(path, clock=clock, inline=True, rotate_days=1.0)
        await journal.append(_begun('m1'), _ended('m1'))
        clock.advance(2 * 86_400.0)
        monkeypatch.setattr(os, 'link', refused)
        await journal.append(_begun('m2'), _ended('m2'))
        assert (journal.last_seq, journal.healthy) == (4, True)
        await journal.append(_begun('m3'), _ended('m3'))
        monkeypatch.undo()
        clock.advance(60.0)
        await journal.append(_begun('m4'), _ended('m4'))
        assert journal.last_seq == 1
        await journal.close()

    run_virtual(scenario())
    assert 'cannot be rotated (Operation not permitted); it goes on as it is' in caplog.text
    assert main(['journal', 'verify', str(path)]) == 0


def test_records_that_wait_for_a_thread_are_each_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> None:
        # Due at once: every time that the file is looked at and holds something.
        async with opened(path, rotate_days=1e-9) as journal:
            for number in range(50):
                journal.defer(fact(number))
            await journal.append(fact(50))

    asyncio.run(scenario())
    for thread in threading.enumerate():
        if thread.name == 'journal-pack':  # it puts archives in the place of what was closed
            thread.join(BOUND_S)
    assert len(list(_files(tmp_path))) > 1
    assert _all_numbers(tmp_path) == list(range(51))
    assert main(['journal', 'verify', str(path)]) == 0
