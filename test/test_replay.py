# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A replay runs the real harness on what a journal recorded, and finds whatever is different.

The recorded runs in test/replays are the net under every change: `scripts/make_replays.py` makes
them, `demo_over_dds` was written by the real node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
import contextlib
from dataclasses import replace
import itertools
import json
import logging
from pathlib import Path
import sqlite3
import subprocess
import sys
from typing import Any, ClassVar

from journal_rig import alter, of_first_release
import pytest

from robot_agent_harness import cli
from robot_agent_harness.actions import followed
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.lifecycle import OutcomeReason
from robot_agent_harness.assembly import retune
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal import MissionJournal, Selection
from robot_agent_harness.journal.archive import unpack
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.schema import chain_of, COLUMNS
from robot_agent_harness.journal.writer import Entry
from robot_agent_harness.journal_tools import progress
from robot_agent_harness.key_order import in_order, key_order
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.parameters import PARAMETERS as NODE_PARAMETERS
from robot_agent_harness.replay import (
    JournalReplay,
    replay_journal,
    ReplayError,
    ReplayFailedError,
)
from robot_agent_harness.replay.comparison import OF_THE_MACHINE
from robot_agent_harness.replay.parameters import TRIED_OUT
from robot_agent_harness.replay.recording import Recording, runs_of
from robot_agent_harness.replay.replaying import replay_run
from robot_agent_harness.replay.what_if import compare
from robot_agent_harness.skills import starter
from robot_agent_harness.skills.call import IdempotencyKey
from robot_agent_harness.skills.observation import PROGRESS_PERIOD_S
from robot_agent_harness.skills.service_log import RESPONSE_MAX_BYTES
from robot_agent_harness.skills.services import (
    RosService,
    ServiceTimeoutError,
    ServiceUnavailableError,
)
from robot_agent_harness.testing import bench as bench_module
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.campaign.mission import CampaignMission, PARAMETERS
from robot_agent_harness.testing.campaign.plan import draw_plan
from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.scripted_model import call, scripted
from robot_agent_harness.testing.virtual_time import run_virtual

REPLAYS = Path(__file__).parent / 'replays'
NAMES = sorted(path.name.removesuffix('.db.gz') for path in REPLAYS.glob('*.db.gz'))
SHORT, LONG = 20, 300
TRIED = ', '.join(TRIED_OUT)


def recorded(name: str) -> Path:
    return REPLAYS / f'{name}.db.gz'


def plain(name: str, folder: Path) -> Path:
    """Return a recorded run as a file that can be changed."""
    path = folder / f'{name}.db'
    unpack(recorded(name), path)
    return path


def changed(path: Path, kind: str, edit: Any) -> int:
    """Edit the payload of the first record of a type, mend the chain, and return its number."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        (guard,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'events_refuse_update'"
        ).fetchone()
        connection.execute('DROP TRIGGER events_refuse_update')
        rows = connection.execute(f'SELECT {", ".join(COLUMNS)} FROM events ORDER BY seq')
        previous, found = '', 0
        for row in rows.fetchall():
            columns = dict(zip(COLUMNS, row, strict=True))
            if columns['type'] == kind and not found:
                found = columns['seq']
                payload = json.loads(columns['payload'])
                edit(payload)
                text = json.dumps(payload, sort_keys=True, separators=(',', ':'))
                columns['payload'] = text
            previous = chain_of(previous, [columns[name] for name in COLUMNS[:-1]])
            connection.execute(
                'UPDATE events SET payload = ?, chain = ? WHERE seq = ?',
                (columns['payload'], previous, columns['seq']),
            )
        connection.execute(guard)
    return found


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(['replay', *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


# -- the net -------------------------------------------------------------------------------------


@pytest.mark.parametrize('name', NAMES)
def test_every_recorded_run_replays_identically(name: str) -> None:
    replay = replay_journal(recorded(name))
    assert [run.differences for run in replay.runs] == [()] * len(replay.runs)
    with JournalReader(recorded(name)) as reader:
        of_the_machine = reader.count(Selection(types=(OF_THE_MACHINE,)))
        assert sum(run.same for run in replay.runs) + of_the_machine == reader.last_seq


def test_the_recorded_runs_show_every_reason_but_that_of_a_journal_that_cannot_be_written() -> (
    None
):
    reasons: set[str] = set()
    for name in NAMES:
        with JournalReader(recorded(name)) as reader:
            outcomes = reader.events(type=EventType.ROBOT_ACTION_OUTCOME)
            reasons |= {event.payload['reason'] for event in outcomes}
    assert reasons == {reason.value for reason in OutcomeReason} - {'journal_unavailable'}


@pytest.mark.parametrize('name', NAMES)
def test_every_recorded_run_keeps_the_promises_of_a_journal(name: str, tmp_path: Path) -> None:
    finished = name != 'recovered_after_a_crash'
    assert check_journal(plain(name, tmp_path), finished=finished) == []


# -- runs that end in their middle ----------------------------------------------------------------


def cut(source: Path, path: Path, seq: int) -> Path:
    """Copy a journal as it was when this record was its last."""
    path.write_bytes(source.read_bytes())
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        (guard,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'events_refuse_delete'"
        ).fetchone()
        connection.execute('DROP TRIGGER events_refuse_delete')
        connection.execute('DELETE FROM events WHERE seq > ?', (seq,))
        connection.execute(guard)
    return path


@pytest.mark.parametrize(
    ('name', 'step'),
    [
        ('demo_over_dds', 4),
        ('interrupted_by_a_shutdown', 1),
        ('message_and_low_battery', 1),
        ('preempted', 1),
        ('recovered_after_a_crash', 1),
        ('repeated_under_a_key', 1),
        ('withdrawn_in_time', 1),
    ],
)
def test_a_journal_read_in_the_middle_of_a_run_replays_identically_up_to_there(
    name: str, step: int, tmp_path: Path
) -> None:
    path = plain(name, tmp_path)
    with JournalReader(path) as reader:
        last_seq = reader.last_seq
    for seq in range(last_seq, 0, -step):
        replay = replay_journal(cut(path, tmp_path / 'cut.db', seq))
        assert seq == sum(
            run.same + run.of_the_machine + run.left_at_the_end for run in replay.runs
        )
        assert replay.identical, f'{seq}: {[run.differences[:1] for run in replay.runs]}'
        assert replay.runs[-1].last_seq == seq


def test_a_killed_run_is_told_to_end_in_its_middle_and_the_next_start_is_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = outcome(capsys, str(recorded('recovered_after_a_crash')))
    assert code == 0
    killed, _, restarted = out.partition('run 2 of 2')
    assert 'the recording ends here' in killed
    assert 'the recording ends here' not in restarted
    code, out, _ = outcome(capsys, str(recorded('recovered_after_a_crash')), '--json')
    assert [run['whole'] for run in json.loads(out)['runs']] == [False, True]


def test_what_is_made_before_the_end_of_a_killed_run_is_still_a_difference(tmp_path: Path) -> None:
    path = plain('verified', tmp_path)
    with JournalReader(path) as reader:
        (ended,) = reader.events(type=EventType.ROBOT_ACTION_OUTCOME)
    killed = cut(path, tmp_path / 'killed.db', ended.seq - 2)
    assert replay_journal(killed).identical
    changed(killed, 'CONTROLLER_EVENT_RECEIVED', lambda p: p['said'].update(accepted=False))
    (run,) = replay_journal(killed).runs
    assert not run.whole
    surplus = [d.replayed for d in run.differences if d.kind == 'unexpected']
    assert 'ROBOT_ACTION_OUTCOME' in [one['type'] for one in surplus if one]


def test_a_changed_record_of_a_killed_run_is_found(tmp_path: Path) -> None:
    path = plain('recovered_after_a_crash', tmp_path)
    seq = changed(path, 'ROBOT_ACTION_STARTED', lambda p: p.update({'skill': 'dock'}))
    killed, restarted = replay_journal(path).runs
    assert (killed.whole, restarted.whole) == (False, True)
    assert [(d.kind, d.seq, d.keys) for d in killed.differences] == [('payload', seq, ('skill',))]


# -- random missions under faults ----------------------------------------------------------------


def campaign_is_identical(seed: int, folder: Path) -> int:
    """Run a campaign's mission, replay it, and return how many records were the same."""
    plan = draw_plan(seed)
    mission = CampaignMission(plan, folder, check_parameters(PARAMETERS))
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        run_virtual(mission.run())
    finally:
        logging.disable(level)
    replay = replay_journal(mission.journal)
    assert replay.identical, f'seed {seed}: {[run.differences[:1] for run in replay.runs]}'
    return sum(run.same for run in replay.runs)


def without_locks(first: int, count: int) -> list[int]:
    """Return seeds whose journal is never locked by others: that is no input on record."""
    seeds = range(first, first + count)
    return [s for s in seeds if all(f.kind != 'journal_lock' for f in draw_plan(s).faults)]


@pytest.mark.parametrize(
    ('command', 'done'),
    [(['replay'], 'replayed'), (['report'], 'checked'), (['journal', 'verify'], 'checked')],
)
def test_who_waits_for_a_long_journal_is_told_how_far_it_is(
    command: list[str],
    done: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = plain('verified', tmp_path)
    with JournalReader(path) as reader:
        last = reader.last_seq
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, 'PROGRESS_RECORDS', 10)
    monkeypatch.setattr(progress, 'PROGRESS_S', 0.0)  # as if all of it took long
    assert cli.main([*command, str(path)]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f'{seq} of {last} records are {done}' for seq in range(10, last + 1, 10)
    ]


def test_random_missions_under_faults_replay_identically(tmp_path: Path) -> None:
    same = 0
    for seed in without_locks(0, SHORT):
        (tmp_path / str(seed)).mkdir()
        same += campaign_is_identical(seed, tmp_path / str(seed))
    assert same > 500


def test_a_call_that_waited_while_the_wall_clock_was_set_back_replays_identically(
    tmp_path: Path,
) -> None:
    seed = 430  # its first call waits for a controller while the clock steps by an hour
    assert 'wall_clock' in {fault.kind for fault in draw_plan(seed).faults}
    assert campaign_is_identical(seed, tmp_path) > 20


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_hundreds_of_random_missions_under_faults_replay_identically(tmp_path: Path) -> None:
    same = 0
    for seed in without_locks(1000, LONG):
        (tmp_path / str(seed)).mkdir()
        same += campaign_is_identical(seed, tmp_path / str(seed))
    assert same > 10_000


# -- what is different is found ------------------------------------------------------------------


@pytest.mark.parametrize(
    ('kind', 'key', 'value'),
    [
        ('ROBOT_ACTION_OUTCOME', 'reason', 'aborted'),
        ('ACTION_PRECONDITION_CHECKED', 'ok', False),
        ('TOOL_RESULT_RECORDED', 'status', 'rejected'),
        ('MODEL_TURN_STARTED', 'user_prompt', 'drive on'),
        ('MISSION_ENDED', 'outcome', 'not_achieved'),
    ],
)
def test_a_changed_record_is_found_where_it_was_changed(
    kind: str, key: str, value: Any, tmp_path: Path
) -> None:
    path = plain('verified_in_a_mission', tmp_path)
    seq = changed(path, kind, lambda payload: payload.update({key: value}))
    with JournalReader(path) as reader:
        reader.verify_chain()
    (run,) = replay_journal(path).runs
    assert [(d.kind, d.seq, d.keys) for d in run.differences] == [('payload', seq, (key,))]
    assert run.differences[0].recorded is not None
    assert run.differences[0].recorded['payload'][key] == value
    assert run.differences[0].before


def test_a_changed_input_shows_in_what_follows_from_it(tmp_path: Path) -> None:
    path = plain('verified', tmp_path)

    def refuse(payload: dict[str, Any]) -> None:
        if payload['event'] == 'result':
            payload['said']['status'] = 6
        elif payload['event'] == 'goal_response':
            payload['said']['accepted'] = False

    with JournalReader(path) as reader:
        events = list(reader.events(type=EventType.CONTROLLER_EVENT_RECEIVED))
    assert events[0].payload['event'] == 'goal_response'
    changed(path, 'CONTROLLER_EVENT_RECEIVED', refuse)
    (run,) = replay_journal(path).runs
    assert not run.identical


def test_a_harness_with_another_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, 'FEEDBACK_PERIOD_S', 2.0)
    assert not replay_journal(recorded('execution_timeout')).identical


def test_a_harness_that_checks_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def slack(policy: Any, *args: Any, **kwargs: Any) -> Any:
        return validate(replace(policy, max_drift_m=50.0), *args, **kwargs)

    validate = starter.validate
    monkeypatch.setattr(starter, 'validate', slack)
    (run,) = replay_journal(recorded('precondition_changed')).runs
    assert run.differences[0].recorded is not None
    assert run.differences[0].recorded['type'] == 'ACTION_PRECONDITION_CHECKED'


# -- what cannot be replayed ---------------------------------------------------------------------


def test_a_journal_of_the_first_release_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / 'old.db'
    of_first_release(path).close()
    with pytest.raises(ReplayError, match='does not say what the harness ran on'):
        replay_journal(path)


def test_an_unknown_mission_is_named() -> None:
    with pytest.raises(ReplayError, match="holds no mission 'mission-9'"):
        replay_journal(recorded('verified'), mission_id='mission-9')


def gone(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda payload: payload.pop(key)


def put(value: Any, *path: Any) -> Callable[[dict[str, Any]], None]:
    def edit(payload: Any) -> None:
        for key in path[:-1]:
            payload = payload[key]
        payload[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ('kind', 'edit', 'told'),
    [
        ('WORLD_SNAPSHOT_CAPTURED', gone('snapshot'), 'payload snapshot'),
        ('WORLD_SNAPSHOT_CAPTURED', put('x', 'snapshot'), 'payload snapshot'),
        ('WORLD_SNAPSHOT_CAPTURED', put('far', 'snapshot', 'map_pose', 'age_s'), 'map_pose.age_s'),
        ('MISSION_STARTED', gone('instruction'), 'payload instruction'),
        ('MISSION_ENDED', gone('summary'), 'payload summary'),
        ('MODEL_RESPONSE_RECORDED', put([7], 'tool_calls'), 'payload tool_calls.0'),
        ('TOOL_CALL_RECORDED', gone('name'), 'payload name'),
        ('TOOL_RESULT_RECORDED', put([], 'structured'), 'payload structured'),
        ('ACTION_PRECONDITION_CHECKED', put([{}], 'checks'), 'payload checks.0.name'),
        ('ROBOT_ACTION_STARTED', gone('skill'), 'payload skill'),
        ('ROBOT_ACTION_OUTCOME', put(None, 'evidence'), 'payload evidence'),
        ('HARNESS_STATE_CHANGED', put('7', 'monotonic_ns'), 'payload monotonic_ns'),
        ('HARNESS_STATE_CHANGED', put([], 'configuration', 'reachable'), 'reachable'),
        ('HARNESS_STATE_CHANGED', put({}, 'configuration'), 'payload configuration.version'),
        (
            'HARNESS_STATE_CHANGED',
            put('x', 'configuration', 'parameters', 'navigation.xy_tolerance_m'),
            'parameter navigation.xy_tolerance_m: must be a number',
        ),
        ('HARNESS_STATE_CHANGED', put({'a': 1}, 'configuration', 'skills'), 'ran on is refused'),
        ('CONTROLLER_EVENT_RECEIVED', put({}, 'said'), 'payload said.goal_id'),
        ('CONTROLLER_EVENT_RECEIVED', put('sang', 'event'), "knows no 'sang'"),
        ('CONTROLLER_EVENT_RECEIVED', put('dock', 'controller'), "no controller 'dock'"),
    ],
)
@pytest.mark.parametrize('options', [(), ('--what-if', 'navigation.xy_tolerance_m=0.01')])
def test_a_record_that_is_not_what_the_package_writes_is_named(
    kind: str,
    edit: Any,
    told: str,
    options: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = plain('verified_in_a_mission', tmp_path)
    seq = changed(path, kind, edit)
    code, out, err = outcome(capsys, str(path), *options)
    assert (code, out) == (2, '')
    assert err.startswith(f'robot-agent-harness replay: journal {path} cannot be replayed: ')
    assert f'record {seq}' in err
    assert told in err
    assert err.count('\n') == 1


def test_a_word_that_no_release_writes_is_a_difference_and_so_is_a_state_of_another_tools(
    tmp_path: Path,
) -> None:
    for kind, edit in (
        ('MISSION_ENDED', put('perhaps', 'outcome')),
        ('TOOL_RESULT_RECORDED', put('open', 'structured', 'state')),
    ):
        path = plain('verified_in_a_mission', tmp_path)
        seq = changed(path, kind, edit)
        (run,) = replay_journal(path).runs
        assert [(d.kind, d.seq) for d in run.differences] == [('payload', seq)]
        path.unlink()


def test_a_fault_of_the_replay_itself_says_so_and_its_traceback_is_logged_at_debug(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(self: Any) -> None:
        raise KeyError('oops')

    monkeypatch.setattr('robot_agent_harness.replay.inputs.Inputs.script', broken)
    caplog.set_level(logging.DEBUG, 'robot_agent_harness')
    code, out, err = outcome(capsys, str(recorded('verified')))
    assert (code, out) == (2, '')
    assert f'journal {recorded("verified")} cannot be replayed: the replay itself failed' in err
    assert "before record 2: KeyError('oops')" in err
    assert 'a fault of robot_agent_harness' in err
    assert err.count('\n') == 1
    (logged,) = [record for record in caplog.records if record.levelno == logging.DEBUG]
    assert logged.exc_text is not None
    assert 'in broken' in logged.exc_text
    with pytest.raises(ReplayFailedError):
        replay_journal(recorded('verified'))


# -- the command ---------------------------------------------------------------------------------


def test_the_command_says_identical_and_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, str(recorded('verified_in_a_mission')))
    assert (code, err) == (0, '')
    assert 'identical: ' in out
    assert 'missions mission-1' in out


def test_the_command_shows_both_sides_of_the_first_difference_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plain('verified', tmp_path)
    seq = changed(path, 'ROBOT_ACTION_OUTCOME', lambda p: p.update({'reason': 'aborted'}))
    code, out, _ = outcome(capsys, str(path))
    assert code == 1
    assert f'record {seq} is another' in out
    assert 'recorded "aborted"' in out
    assert 'replayed "verified"' in out
    code, out, _ = outcome(capsys, str(path), '--json')
    assert code == 1
    (run,) = json.loads(out)['runs']
    assert run['differences'][0]['seq'] == seq


def test_the_command_tells_which_records_it_did_not_compare(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = outcome(capsys, str(recorded('demo_over_dds')))
    about, same, left_out, _ = out.splitlines()
    assert about.startswith('run 1 of 1: records 1 to 148')
    assert same == '  identical: 146 records'
    assert left_out == '  not compared: 2 COMMIT_WAS_SLOW (how long the disk took)'
    _, out, _ = outcome(capsys, str(recorded('demo_over_dds')), '--json')
    (run,) = json.loads(out)['runs']
    assert (run['same'], run['of_the_machine'], run['left_at_the_end']) == (146, 2, 0)
    assert 'not compared' not in outcome(capsys, str(recorded('verified')))[1]


@pytest.mark.parametrize('more', [(), ('--json',), ('--what-if', 'navigation.xy_tolerance_m=1.0')])
def test_a_journal_of_which_a_record_was_altered_is_replayed_and_called_damaged(
    more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plain('verified', tmp_path)
    alter(path, 'UPDATE events SET wall_time_ns = wall_time_ns + 1 WHERE seq = 9')
    why = 'record 9 was altered, or the one before it'

    code, out, err = outcome(capsys, str(path), *more)

    assert code == 2  # though nothing that is compared differs
    assert err.startswith(f'robot-agent-harness replay: journal {path} is damaged: {why};')
    assert (out + err).count(why) == (2 if more == ('--json',) else 1)
    if more == ('--json',):
        told = json.loads(out)
        assert (told['damage'], told['identical']) == (why, True)


def test_a_journal_that_lost_a_record_is_called_damaged_and_not_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plain('verified', tmp_path)
    alter(path, 'DELETE FROM events WHERE seq = 9')
    code, out, err = outcome(capsys, str(path))
    assert (code, out) == (2, '')
    assert f'journal {path} is damaged (record 9 is missing' in err
    assert err.count('\n') == 1


@pytest.mark.parametrize(
    ('arguments', 'told'),
    [
        (['nowhere.db'], 'there is no journal'),
        ([str(recorded('verified')), '--mission', 'x'], 'holds no mission'),
        ([str(recorded('verified')), '--what-if', 'navigation.xy_tolerance=1'], 'no such param'),
        ([str(recorded('verified')), '--what-if', 'navigation.xy_tolerance_m=far'], 'a number'),
        ([str(recorded('verified')), '--what-if', 'navigation.xy_tolerance_m'], 'NAME=VALUE'),
        (
            [str(recorded('verified')), '--what-if', 'mcp.port=1'],
            'mcp.port: plays no part',
        ),
        (
            [
                str(recorded('verified')),
                *('--what-if', 'mcp.port=1'),
                *('--what-if', 'navigation.xy_tolerance_m=1'),
                *('--what-if', 'battery.low_fraction=0.5'),
            ],
            f'mcp.port, battery.low_fraction: play no part in a replay; these do: {TRIED}',
        ),
    ],
)
def test_what_cannot_be_replayed_is_named_with_exit_code_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = outcome(capsys, *arguments)
    assert (code, out) == (2, '')
    assert told in err
    assert err.count('\n') == 1


def test_a_replay_needs_no_ros_and_writes_nothing_beside_the_journal(tmp_path: Path) -> None:
    path = plain('verified', tmp_path)
    before = path.read_bytes()
    script = (
        'import sys; sys.modules["rclpy"] = None;'
        'from robot_agent_harness.cli import main; sys.exit(main(["replay", sys.argv[1]]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', script, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} <= {
        path.name,
        f'{path.name}-shm',
        f'{path.name}-wal',
    }


def test_a_change_of_parameters_counts_in_a_replay_from_the_moment_at_which_it_was_made(
    tmp_path: Path,
) -> None:
    async def scenario() -> list[str]:
        states = []
        async with Bench(tmp_path / 'j.db') as bench:
            for x, tolerance_m in ((1.0, 0.35), (2.0, 0.05)):
                changed = {'navigation.xy_tolerance_m': tolerance_m}
                retune(bench.core, check_parameters(changed), changed)
                started = await bench.call('navigate_to_pose', {'x': x, 'y': 0.0})
                await asyncio.sleep(1.0)
                bench.robot.place(x - 0.2, 0.0)
                await asyncio.sleep(1.0)
                bench.nav2.result(GoalStatus.SUCCEEDED, {})
                states.append((await bench.outcome(started.data['action_id'])).state.value)
                await asyncio.sleep(2.0)
        return states

    assert run_virtual(scenario()) == ['SUCCEEDED', 'FAILED']
    replay = replay_journal(tmp_path / 'j.db')
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    pinned = replay_journal(tmp_path / 'j.db', what_if={'navigation.xy_tolerance_m': 0.35})
    assert not pinned.identical


# -- what if -------------------------------------------------------------------------------------


def test_a_tighter_tolerance_says_which_outcome_would_be_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = outcome(
        capsys,
        str(recorded('verified_in_a_mission')),
        '--what-if',
        'navigation.xy_tolerance_m=0.01',
        '--json',
    )
    assert code == 1
    (run,) = json.loads(out)['runs']
    first = run['changes'][0]
    assert (first['what'], first['recorded'], first['answered']) == (
        'outcome',
        'SUCCEEDED verified',
        True,
    )
    assert first['now'] == 'FAILED verification_disproved'
    assert '(tolerance 0.01)' in first['why']
    mission = run['changes'][-1]
    assert (mission['what'], mission['answered']) == ('mission', False)


def test_a_wider_tolerance_turns_a_disproof_into_a_success(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ['--what-if', 'navigation.xy_tolerance_m=5.0']
    arguments += ['--what-if', 'navigation.yaw_tolerance_rad=3.1']
    code, out, _ = outcome(capsys, str(recorded('verification_disproved')), *arguments)
    assert code == 1
    assert 'FAILED verification_disproved -> SUCCEEDED verified' in out


def test_a_shorter_timeout_ends_the_action_earlier(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(
        capsys, str(recorded('verified')), '--what-if', 'navigation.execution_timeout_s=1'
    )
    assert code == 1
    assert 'SUCCEEDED verified -> UNKNOWN execution_timeout' in out
    assert 'no end within 1.0 s' in out


def test_parameters_that_change_nothing_exit_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(
        capsys, str(recorded('verified')), '--what-if', 'navigation.execution_timeout_s=600'
    )
    assert code == 0
    assert 'no check, result or outcome would be another' in out


def runs(name: str) -> list[tuple[Recording, list[RecordedEvent]]]:
    """Return each run of a recorded one, with the records before it."""
    with JournalReader(recorded(name)) as reader:
        records = list(reader.events())
    return [(run, records[: run.first_seq - 1]) for run in runs_of(records)]


IDLE = {
    'robot_id': 'another',
    'base_frame': 'base_footprint',
    'snapshot.max_bytes': 8192,
    'snapshot.stale_after_s.map_pose': 0.1,
    'snapshot.stale_after_s.odometry': 0.1,
    'snapshot.stale_after_s.battery': 0.1,
    'snapshot.accept_unstamped': 'odometry',
    'battery.low_fraction': 0.9,
    'battery.percentage_scale': 100.0,
    'world_model.enabled': False,
    'world_model.history_size': 1,
}
"""What the core is made of and plays no part: each with another value than it has."""


@pytest.mark.parametrize('name', ['message_and_low_battery', 'precondition_changed'])
def test_what_cannot_be_tried_out_would_change_nothing(name: str) -> None:
    for run, before in runs(name):
        assert not compare(replay_run(run, before, what_if=IDLE)).changes


def test_every_parameter_can_be_tried_out_or_is_known_to_play_no_part() -> None:
    outside = ('autostart', 'dashboard', 'journal', 'mcp', 'metrics', 'model')
    for parameter in NODE_PARAMETERS:
        of_the_core = parameter.name.partition('.')[0] not in outside
        assert of_the_core is (parameter.name in {*IDLE, *TRIED_OUT}), parameter.name


# -- services ------------------------------------------------------------------------------------

SKILLS = """\
skills:
  toll:
    description: Toll the bell.
    arguments:
      times: {type: integer, description: How often}
    service:
      name: bell
      type: std_srvs/srv/SetBool
      request: {data: true}
      response: {note: message, count: a.b}
      success: success
  peek:
    description: Look at the bell.
    read_only: true
    service: {name: ear, type: std_srvs/srv/Trigger, response: {note: message}}
"""


class Bell:
    """Services that answer the longer the shorter they were asked to toll, or fail."""

    def __init__(self) -> None:
        self.delays_s = [0.5, 0.2, 0.0]
        self.fails: list[Exception] = []
        self.note = 'ding'
        self.told: Callable[[str, bool], None] = lambda name, there: None

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        self.told = listener

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        delay_s = self.delays_s.pop(0) if self.delays_s else 0.0
        await asyncio.sleep(delay_s)
        if self.fails:
            raise self.fails.pop(0)
        return {'success': True, 'message': f'{self.note} {delay_s}', 'a': {'b': 4}}


def with_services(
    folder: Path,
    scenario: Callable[[Bench, Bell], Awaitable[Any]],
    *answers: dict[str, Any],
    skills: str = SKILLS,
) -> JournalReplay:
    """Run a scenario on a bench that has services, and replay it."""
    (folder / 'skills.yaml').write_text(skills)

    async def run() -> None:
        bell = Bell()
        parameters = {'skills_file': str(folder / 'skills.yaml')}
        model = scripted(*answers) if answers else None
        async with Bench(
            folder / 'j.db', parameters=parameters, services=bell, model=model
        ) as bench:
            await scenario(bench, bell)

    run_virtual(run())
    assert check_journal(folder / 'j.db') == []
    return replay_journal(folder / 'j.db')


def statuses(path: Path) -> list[str]:
    with JournalReader(path) as reader:
        return [e.payload['status'] for e in reader.events(type=EventType.TOOL_RESULT_RECORDED)]


def test_calls_of_services_replay_whatever_they_answer_and_in_whatever_order(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench, bell: Bell) -> None:
        calls = [bench.call('toll', {'times': n}) for n in (1, 2)]
        results = await asyncio.gather(*calls, bench.call('peek', {}))
        assert sorted(r.data['note'] for r in results) == ['ding 0.0', 'ding 0.2', 'ding 0.5']
        bell.delays_s = [0.3, 2.0, 0.1]
        bell.fails = [
            ServiceUnavailableError('no server'),
            ServiceTimeoutError('no answer within 2 s'),
            ZeroDivisionError('a fault'),
        ]
        for name in ('toll', 'peek', 'toll'):
            await bench.call(name, {'times': 3} if name == 'toll' else {})

    replay = with_services(tmp_path, scenario)
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    wanted = ['completed'] * 3 + ['controller_unavailable', 'tool_error', 'tool_error']
    assert statuses(tmp_path / 'j.db') == wanted


def test_a_mission_with_tools_that_come_and_go_replays_with_their_names_in_order(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench, bell: Bell) -> None:
        bell.told('ear', True)
        bell.told('bell', True)
        mission = asyncio.create_task(bench.core.harness.run_mission('toll the bell'))
        await asyncio.sleep(0.3)
        bell.told('ear', False)
        await mission
        await bench.call('nothing of that name', {})

    replay = with_services(
        tmp_path,
        scenario,
        call('toll', times=1, say='I toll it.'),
        {**call('peek', say='I look.'), 'delay_s': 4.0},
        call('finish_mission', outcome='unknown', reason='nobody can say'),
    )
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    with JournalReader(tmp_path / 'j.db') as reader:
        turn = reader.newest(EventType.MODEL_TURN_STARTED)
    assert turn is not None
    ours = [name for name in turn.payload['tools'] if name in ('toll', 'peek')]
    assert ours[0] == 'toll'  # as in the file, which is not the order of the alphabet


def test_a_service_that_had_not_answered_when_the_harness_was_closed_replays(
    tmp_path: Path,
) -> None:
    async def scenario(bench: Bench, bell: Bell) -> None:
        bell.delays_s = [60.0]
        calling = asyncio.create_task(bench.call('toll', {'times': 1}))
        await asyncio.sleep(1.0)
        await bench.core.close(cancel_running=True)
        assert (await calling).status.value == 'interrupted'

    replay = with_services(tmp_path, scenario)
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_response_too_large_to_record_is_the_first_difference(tmp_path: Path) -> None:
    async def scenario(bench: Bench, bell: Bell) -> None:
        bell.note = 'd' * RESPONSE_MAX_BYTES
        await bench.call('peek', {})

    (run,) = with_services(tmp_path, scenario).runs
    first = run.differences[0]
    assert first.recorded is not None
    assert first.replayed is not None
    assert first.recorded['type'] == 'SERVICE_EVENT_RECEIVED'
    assert 'is not on record' in first.replayed['payload']['said']['message']
    with JournalReader(tmp_path / 'j.db') as reader:
        (heard,) = reader.events(type=EventType.SERVICE_EVENT_RECEIVED)
    assert heard.payload['said'].keys() == {'size_bytes'}


def test_a_comment_in_the_skills_file_is_not_on_record(tmp_path: Path) -> None:
    async def scenario(bench: Bench, bell: Bell) -> None:
        await bench.call('peek', {})

    replay = with_services(tmp_path, scenario, skills=f'{SKILLS}# the code is hunter-22\n')
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    assert b'hunter-22' not in (tmp_path / 'j.db').read_bytes()


@pytest.mark.parametrize(
    'value',
    [
        {'b': 1, 'a': {'d': [{'z': 1, 'y': 2}, 3], 'c': None}},
        [{'b': 1, 'a': 2}, []],
        {},
        'text',
    ],
)
def test_the_order_of_keys_survives_being_sorted(value: Any) -> None:
    stored = json.loads(json.dumps([value, key_order(value)], sort_keys=True))
    assert json.dumps(in_order(*stored)) == json.dumps(value)
    assert in_order({'a': 1, 'n': 2}, [['m', None], ['n', None]]) == {'n': 2, 'a': 1}
    assert in_order(value, None) == value


# -- a slow disk ---------------------------------------------------------------------------------


class SlowDisk(MissionJournal):
    """Commits in their order, each after a while."""

    delays_s: ClassVar[Iterator[float]] = itertools.repeat(0.3)

    def append(self, *entries: Entry, **more: Any) -> asyncio.Future[list[int]]:
        return self._committed(super().append(*entries, **more).result())

    def defer(self, *entries: Entry) -> asyncio.Future[list[int]]:
        return self._committed(super().defer(*entries).result())

    def _committed(self, numbers: list[int]) -> asyncio.Future[list[int]]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[int]] = loop.create_future()
        free_s = max(getattr(self, '_free_s', 0.0), loop.time())
        self._free_s = free_s + next(self.delays_s) if free_s == loop.time() else free_s
        loop.call_at(self._free_s, lambda: done.done() or done.set_result(numbers))
        return done


def on_a_slow_disk(
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    scenario: Callable[[Bench], Awaitable[Any]],
    delays_s: Iterable[float],
    *answers: dict[str, Any],
) -> JournalReplay:
    """Run a scenario on a bench whose disk is slow, and replay it."""
    monkeypatch.setattr(bench_module, 'MissionJournal', SlowDisk)
    monkeypatch.setattr(SlowDisk, 'delays_s', iter(delays_s))

    async def run() -> None:
        async with Bench(path, model=scripted(*answers) if answers else None) as bench:
            await scenario(bench)

    run_virtual(run())
    assert check_journal(path) == []
    return replay_journal(path)


GOAL = {'x': 2.0, 'y': 0.0}


@pytest.mark.parametrize('withdrawn_s', [0.05, 0.2, 0.45, 0.8])
@pytest.mark.parametrize('disk_s', [0.1, 0.3, 0.6])
def test_a_call_that_was_withdrawn_while_the_disk_was_slow_replays_identically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk_s: float, withdrawn_s: float
) -> None:
    async def scenario(bench: Bench) -> None:
        calling = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
        await asyncio.sleep(withdrawn_s)
        calling.cancel()
        await asyncio.sleep(4.0)
        if bench.nav2.sent:
            bench.robot.place(2.0, 0.0)
            bench.nav2.result(GoalStatus.SUCCEEDED, {})
        await asyncio.sleep(8.0)

    replay = on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(disk_s))
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_calls_that_look_and_are_withdrawn_while_the_disk_is_slow_replay_identically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(bench: Bench) -> None:
        started = await bench.call('navigate_to_pose', GOAL)
        about = {'action_id': started.data['action_id']}
        for name, arguments in (
            ('wait_for_action', about),
            ('get_world_snapshot', {}),
            ('cancel_action', about),
        ):
            calling = asyncio.create_task(bench.call(name, arguments))
            await asyncio.sleep(0.1)
            calling.cancel()
            await asyncio.sleep(3.0)
        bench.nav2.result(GoalStatus.CANCELED, {})
        await asyncio.sleep(3.0)

    replay = on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(0.4))
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_two_calls_of_which_one_waits_for_the_start_of_the_other_replay_identically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(bench: Bench) -> None:
        first = asyncio.create_task(bench.call('navigate_to_pose', GOAL))
        await asyncio.sleep(0.1)
        second = asyncio.create_task(bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0}))
        await asyncio.sleep(0.1)
        second.cancel()
        await asyncio.sleep(0.1)
        first.cancel()
        await asyncio.sleep(8.0)

    replay = on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(0.7))
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_mission_on_a_disk_that_is_slow_now_and_then_replays_identically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(bench: Bench) -> None:
        mission = asyncio.create_task(bench.core.harness.run_mission('go there'))
        await asyncio.sleep(6.0)
        bench.nav2.feedback(distance_remaining=0.4)
        bench.robot.place(1.0, 0.0)
        bench.nav2.status((bench.nav2.sent[-1][0], GoalStatus.SUCCEEDED))
        bench.nav2.result(GoalStatus.SUCCEEDED, {})
        await mission

    replay = on_a_slow_disk(
        monkeypatch,
        tmp_path / 'j.db',
        scenario,
        itertools.cycle([0.0, 0.3, 0.02, 0.9, 0.0]),
        call('get_world_snapshot', say='I look.'),
        call('navigate_to_pose', x=1.0, y=0.0, purpose='go', expected_outcome='there'),
        call('finish_mission', outcome='achieved', reason='seen to be there'),
    )
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    with JournalReader(tmp_path / 'j.db') as reader:
        slow = list(reader.events(type=EventType.COMMIT_WAS_SLOW))
    assert slow
    for note in slow:
        assert note.payload['first_seq'] <= note.payload['last_seq'] < note.seq
        assert 0.04 <= note.payload['waited_s'] <= 1.0


async def asked_while(bench: Bench, happens: Callable[[Bench], None]) -> None:
    """Ask for the action, and let something happen while the call waits for the disk."""
    action_id = bench.nav2.sent[-1][0]
    asked = asyncio.create_task(bench.call('get_action', {'action_id': action_id}))
    await asyncio.sleep(0.01)
    happens(bench)
    await asked


def _arrives(bench: Bench) -> None:
    bench.robot.place(2.0, 0.0)
    bench.nav2.result(GoalStatus.SUCCEEDED, {})


async def driving(bench: Bench) -> None:
    """Have the robot on its way, with feedback of it on record."""
    await bench.call('navigate_to_pose', GOAL)
    await asyncio.sleep(0.5)
    bench.nav2.feedback(distance_remaining=1.5)
    await asyncio.sleep(0.5)


@pytest.mark.parametrize(
    'happens',
    [
        lambda bench: bench.nav2.feedback(distance_remaining=1.25),
        lambda bench: bench.nav2.result(GoalStatus.ABORTED, {}),
        _arrives,
    ],
    ids=['feedback', 'abort', 'arrival'],
)
def test_an_answer_that_shows_what_came_while_the_call_went_to_a_quick_disk_replays_identically(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Bench], None]
) -> None:
    async def scenario(bench: Bench) -> None:
        await driving(bench)
        await asked_while(bench, happens)
        await asyncio.sleep(0.3)
        await asked_while(bench, lambda bench: bench.nav2.feedback(distance_remaining=1.0))
        await asyncio.sleep(8.0)

    replay = on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(0.03))
    assert replay.identical, [run.differences[:2] for run in replay.runs]
    with JournalReader(tmp_path / 'j.db') as reader:
        assert not list(reader.events(type=EventType.COMMIT_WAS_SLOW))


async def _asked_by_many(bench: Bench, action_id: str) -> None:
    """Look and call from many sides at once: each waits for the disk behind the others."""
    calls = [
        asyncio.create_task(bench.call(name, arguments))
        for name, arguments in (
            ('navigate_to_pose', {'x': 1.0, 'y': 0.0}),
            ('list_places', {}),
            ('navigate_to_pose', {'x': 3.0, 'y': 0.0}),
            ('wait_for_action', {'action_id': 'f' * 32}),
            ('navigate_to_pose', {'x': 4.0, 'y': 0.0}),
            ('get_action', {'action_id': action_id}),
        )
    ]
    for left in (1.4, 1.3, 1.2, 1.1):
        await asyncio.sleep(0.025)
        bench.nav2.feedback(distance_remaining=left)
        await bench.call('get_world_snapshot', {})
    await asyncio.gather(*calls)


async def _cancelled_while_it_drives(bench: Bench, action_id: str) -> None:
    """Have feedback come while the call for the cancelling goes to the disk."""
    cancelling = asyncio.create_task(bench.call('cancel_action', {'action_id': action_id}))
    await asyncio.sleep(0.02)
    bench.nav2.feedback(distance_remaining=1.4)
    await cancelling
    bench.nav2.result(GoalStatus.CANCELED, {})


async def _called_before_the_outcome_is_told(bench: Bench, action_id: str) -> None:
    """Call and look while the record of the outcome goes to the disk."""
    bench.nav2.result(GoalStatus.CANCELED, {})
    await asyncio.sleep(0.005)
    await asyncio.gather(
        bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0}),
        bench.call('get_action', {'action_id': action_id}),
    )


async def _withdrawn_before_its_turn(bench: Bench, action_id: str) -> None:
    """Withdraw a call that waits behind others."""
    goals = ({'x': x, 'y': 0.0} for x in (1.0, 3.0, 4.0))
    first, second, third = (
        asyncio.create_task(bench.call('navigate_to_pose', goal)) for goal in goals
    )
    await asyncio.sleep(0.04)
    third.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)


@pytest.mark.parametrize(
    'happens',
    [
        _asked_by_many,
        _cancelled_while_it_drives,
        _called_before_the_outcome_is_told,
        _withdrawn_before_its_turn,
    ],
)
def test_calls_that_wait_for_a_quick_disk_and_for_each_other_replay_identically(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Bench, str], Awaitable[None]],
) -> None:
    async def scenario(bench: Bench) -> None:
        await driving(bench)
        await happens(bench, bench.nav2.sent[-1][0])
        await asyncio.sleep(8.0)

    replay = on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(0.035))
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_quick_disk_is_not_spoken_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(bench: Bench) -> None:
        await bench.call('get_world_snapshot', {})

    on_a_slow_disk(monkeypatch, tmp_path / 'j.db', scenario, itertools.repeat(0.02))
    with JournalReader(tmp_path / 'j.db') as reader:
        assert not list(reader.events(type=EventType.COMMIT_WAS_SLOW))


@pytest.mark.parametrize('begin_s', [0.1, 0.7, 3.3, 7.116, 1234.567, 2.6e6])
def test_waiting_for_the_rest_of_a_time_comes_to_an_end_on_virtual_time(begin_s: float) -> None:
    async def wait(timeout_s: float) -> int:
        now = asyncio.get_running_loop().time
        began, rounds = now(), 0
        # Of times that floats cannot hold, a rest may remain that added to now is now.
        while (left_s := timeout_s - (now() - began)) > 0 and rounds < 10:
            rounds += 1
            await asyncio.sleep(min(1.0, left_s))
        return rounds

    async def waits() -> list[int]:
        await asyncio.sleep(begin_s)
        return [await wait(number / 100) for number in range(1, 400)]

    assert max(run_virtual(waits())) < 10


# -- what is recorded for it ---------------------------------------------------------------------


def test_feedback_is_recorded_once_a_second_however_fast_it_comes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            result = await bench.call('navigate_to_pose', {'x': 5.0, 'y': 0.0})
            for number in range(1000):
                bench.nav2.feedback(result.data['action_id'], distance_remaining=float(number))
                await asyncio.sleep(0.01)

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        events = list(reader.events(type=EventType.CONTROLLER_EVENT_RECEIVED))
    fed = [event for event in events if event.payload['event'] == 'feedback']
    assert 10 <= len(fed) <= 13
    assert replay_journal(tmp_path / 'j.db').identical


@pytest.mark.parametrize('held', [[True, False], [True, True]])
@pytest.mark.parametrize('later_s', [0.005, 0.02, 0.04, 0.06])
def test_a_look_of_somebody_who_waits_comes_before_the_feedback_that_followed_it(
    tmp_path: Path, later_s: float, held: list[bool]
) -> None:
    """What a look shows has not been replaced by what came after, held back as well or not."""
    first_s = 2.0 if held[-1] is False else 2.5

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            action_id = (await bench.call('navigate_to_pose', GOAL)).data['action_id']
            await asyncio.sleep(1.0)
            waiting = asyncio.create_task(bench.call('wait_for_action', {'action_id': action_id}))
            told_s = 1.0
            for at_s in (first_s + later_s, 2.8 + later_s, 1.0 + PROGRESS_PERIOD_S + later_s):
                await asyncio.sleep(at_s - told_s)
                told_s = at_s
                bench.nav2.feedback(action_id, distance_remaining=4.0 - at_s)
            await asyncio.sleep(0.15)
            bench.nav2.result(GoalStatus.ABORTED, {})
            await waiting

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        events = list(reader.events(type=EventType.CONTROLLER_EVENT_RECEIVED))
    fed = [event.payload['held'] for event in events if event.payload['event'] == 'feedback']
    assert fed[-2:] == held
    replay = replay_journal(tmp_path / 'j.db')
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_repeat_that_is_on_record_before_the_call_that_it_repeats_replays_identically(
    tmp_path: Path,
) -> None:
    """The first waits for what has never been heard of, and is bound to a snapshot after that."""

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            bench.nav2.set_reachable(False)
            key = IdempotencyKey('me', 'k')
            calls = []
            for _ in range(3):
                made = bench.call('navigate_to_pose', GOAL, idempotency=key)
                calls.append(asyncio.create_task(made))
                await asyncio.sleep(0.2)
            bench.nav2.set_reachable(True)
            first, *repeats = await asyncio.gather(*calls)
            assert [again.data for again in repeats] == [first.data] * 2

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        calls = list(reader.events(type=EventType.TOOL_CALL_RECORDED))
    assert [call.payload['repeat_of'] is None for call in calls] == [False, False, True]
    replay = replay_journal(tmp_path / 'j.db')
    assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_list_of_goals_that_says_nothing_new_is_not_recorded_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db') as bench:
            for _ in range(100):
                bench.nav2.status(('f' * 32, 2), ('e' * 32, 4))

    run_virtual(scenario())
    with JournalReader(tmp_path / 'j.db') as reader:
        (listed,) = reader.events(type=EventType.CONTROLLER_EVENT_RECEIVED)
    assert listed.payload['said'] == {'goals': [{'goal_id': 'f' * 32, 'status': 2}]}


def test_the_configuration_on_record_holds_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ANTHROPIC_API_KEY', 'sk-ant-secret-of-the-test-0123456789')
    parameters = {'model.base_url': 'https://x.example/sk-ant-secret-of-the-test-0123456789'}

    async def scenario() -> None:
        async with Bench(tmp_path / 'j.db', parameters=parameters):
            pass

    run_virtual(scenario())
    text = (tmp_path / 'j.db').read_bytes()
    assert b'secret-of-the-test' not in text
    with JournalReader(tmp_path / 'j.db') as reader:
        first = next(reader.events())
    assert first.payload['configuration']['parameters']['robot_id'] == 'robot'


def test_a_run_that_has_lost_a_record_is_not_replayed() -> None:
    with JournalReader(recorded('verified')) as reader:
        records = list(reader.events())
    with pytest.raises(ReplayError, match='record 3 is missing'):
        list(runs_of([*records[:2], *records[3:]]))
