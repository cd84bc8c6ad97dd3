# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness journal export`, as it is typed."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
import re
import subprocess
import sys

from export_rig import events_of, make_journal, MISSION
from journal_rig import alter
from mcap.reader import make_reader
import pytest

from robot_agent_harness.cli import main

ROS = ('rclpy', 'std_msgs', 'geometry_msgs', 'builtin_interfaces', 'robot_agent_harness.msg')


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_journal(tmp_path_factory.mktemp('command') / 'journal.db')


def export(*arguments: object) -> int:
    return main(['journal', 'export', *map(str, arguments)])


def test_records_come_out_on_standard_output_and_nothing_else(
    journal: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert export(journal) == 0
    out, err = capfdbinary.readouterr()
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line['seq'] for line in lines] == [event.seq for event in events_of(journal)]
    assert err.decode() == f'{len(lines)} records exported\n'


def test_an_archive_is_exported_like_the_journal_that_it_was(
    journal: Path, tmp_path: Path
) -> None:
    archive = tmp_path / 'journal.db.gz'
    archive.write_bytes(gzip.compress(journal.read_bytes()))
    assert export(journal, '-o', tmp_path / 'a') == export(archive, '-o', tmp_path / 'b') == 0
    assert (tmp_path / 'a').read_bytes() == (tmp_path / 'b').read_bytes()


def test_a_broken_chain_is_told_beside_what_was_exported(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'journal.db'
    path.write_bytes(journal.read_bytes())
    alter(path, 'UPDATE events SET wall_time_ns = 7 WHERE seq = 5')
    assert export(path, '-o', tmp_path / 'out') == 0
    exported, remark = capsys.readouterr().err.splitlines()
    assert exported == f'{len(events_of(journal))} records exported'
    assert remark.startswith('the chain is broken: record 5 was altered, or the one before it.')


def test_a_mission_and_a_time_can_be_chosen(journal: Path, tmp_path: Path) -> None:
    assert export(journal, '--mission', MISSION, '-o', tmp_path / 'a') == 0
    missions = {json.loads(line)['mission_id'] for line in (tmp_path / 'a').open()}
    assert missions == {MISSION}
    assert export(journal, '--since', '2100-01-01T00:00:00Z', '-o', tmp_path / 'b') == 0
    assert (tmp_path / 'b').read_text() == ''


def test_spans_can_go_into_a_file(journal: Path, tmp_path: Path) -> None:
    assert export(journal, '--format', 'otlp', '-o', tmp_path / 'spans.jsonl') == 0
    (line,) = (tmp_path / 'spans.jsonl').read_text().splitlines()
    assert 'gen_ai.tool.call.arguments' not in line
    options = ('--format', 'otlp', '--with-content', '-o', tmp_path / 'content.jsonl')
    assert export(journal, *options) == 0
    assert 'gen_ai.tool.call.arguments' in (tmp_path / 'content.jsonl').read_text()


def test_a_laptop_without_ros_can_make_a_recording(journal: Path, tmp_path: Path) -> None:
    target = tmp_path / 'out.mcap'
    code = (
        f'import sys; sys.modules.update(dict.fromkeys({ROS!r}))\n'
        'from robot_agent_harness.cli import main\n'
        f'sys.exit(main(["journal", "export", {str(journal)!r}, "--format", "mcap",'
        f' "-o", {str(target)!r}]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, ''), done.stderr
    with target.open('rb') as file:
        assert sum(1 for _ in make_reader(file).iter_messages()) > 100


def test_a_recording_can_go_into_a_pipe(journal: Path, tmp_path: Path) -> None:
    code = 'import sys; from robot_agent_harness.cli import main; sys.exit(main(sys.argv[1:]))'
    options = ('journal', 'export', str(journal), '--format', 'mcap', '-o')
    done = subprocess.run(
        [sys.executable, '-c', code, *options, '-'], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert export(journal, '--format', 'mcap', '-o', tmp_path / 'out.mcap') == 0
    assert done.stdout == (tmp_path / 'out.mcap').read_bytes()
    assert sum(1 for _ in make_reader(io.BytesIO(done.stdout)).iter_messages()) > 100


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        (('--format', 'mcap'), '--format mcap needs -o FILE'),
        (('--with-content',), '--with-content and --otlp-endpoint go with --format otlp only'),
        (
            ('--format', 'otlp', '--otlp-endpoint', 'http://h', '-o', 'f'),
            '--otlp-endpoint and -o are two places; name one',
        ),
        (('--mission', 'none'), 'mission none: not in'),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(
    options: tuple[str, ...], told: str, journal: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(journal, *options) == 2
    out, err = capfd.readouterr()
    assert out == ''
    assert told in err
    assert err.count('\n') == 1


@pytest.mark.parametrize(
    ('options', 'module', 'installs'),
    [
        (('--format', 'mcap', '-o', 'out'), 'mcap_ros2.writer', 'mcap-ros2-support>='),
        (('--format', 'otlp', '-o', 'out'), 'opentelemetry.exporter.otlp', 'opentelemetry-sdk>='),
        (('--format', 'otlp'), 'opentelemetry.sdk.trace.export', 'opentelemetry-sdk>='),
    ],
)
def test_an_extra_that_is_not_installed_is_named_with_the_command_that_installs_it(
    options: tuple[str, ...],
    module: str,
    installs: str,
    journal: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in sys.modules if name == module or name.startswith(f'{module}.')]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.chdir(tmp_path)
    assert export(journal, *options) == 2
    err = capfd.readouterr().err
    assert re.search(f"pip install .*'{installs}", err)
    assert err.count('\n') == 1
    assert list(tmp_path.iterdir()) == []


def test_a_collector_that_is_not_there_is_exit_code_1_and_one_line(
    journal: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(journal, '--format', 'otlp', '--otlp-endpoint', 'http://127.0.0.1:9') == 1
    err = capfd.readouterr().err
    assert 'journal export: no collector listens at http://127.0.0.1:9/v1/traces' in err
    assert err.count('\n') == 1
