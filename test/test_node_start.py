# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node does with bad input: one line that names it, exit code 2, nothing half-started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import socket
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from node_rig import DOMAIN, NAMESPACE

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.ros import process
from robot_agent_harness.ros.start_checks import check_start


@pytest.fixture(autouse=True)
def domain(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN))


def refused(capfd, *arguments: str) -> str:
    """Start a node in this process, and return the one line that it ends with."""
    # Apart from the nodes of other tests: what these leave behind for a moment looks alive.
    code = process.run(['--ros-args', '-r', f'__ns:={NAMESPACE}/start', *arguments])
    out, err = capfd.readouterr()
    assert (code, out) == (2, ''), err
    (line,) = err.splitlines()
    return line


def parameters(**given: object) -> list[str]:
    named = {'mcp.port': 0, **{name.replace('__', '.'): value for name, value in given.items()}}
    return [part for name, value in named.items() for part in ('-p', f'{name}:={value}')]


@pytest.mark.parametrize(
    ('override', 'named'),
    [
        (
            'mcp.prot:=1',
            'parameter mcp.prot: there is no such parameter; did you mean mcp.port?',
        ),
        ('nav2.timout:=1', 'no such parameter; did you mean model.timeout_s or navigation.'),
        ('mcp.port:=70000', 'parameter mcp.port: must be from 0 to 65535, got 70000'),
        ('mcp.port:=8642.5', 'parameter mcp.port: must be an integer'),
        ('mcp.enabled:=1', 'parameter mcp.enabled: must be true or false'),
        ('robot_id:=7', 'parameter robot_id: must be text'),
        (
            'navigation.accept_timeout_s:=0.0',
            'parameter navigation.accept_timeout_s: must be from',
        ),
        ('battery.low_fraction:=.nan', 'parameter battery.low_fraction: must be from 0 to 1'),
        ("global_frame:=''", 'parameter global_frame: must not be empty'),
        ("journal.path:=''", 'parameter journal.path: must not be empty'),
        ('model.provider:=gpt', 'parameter model.provider: must be one of none, scripted'),
        ('battery.low_fraction:=[0.1, 0.2]', 'parameter battery.low_fraction: must be a number'),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused_by_name(capfd, tmp_path, override, named):
    line = refused(capfd, '-p', f'journal.path:={tmp_path}/j.db', '-p', override)
    assert named in line
    assert not (tmp_path / 'j.db').exists()


@pytest.mark.parametrize('value', ['"maybe"', '1', '[true]'])
def test_what_every_node_has_is_refused_by_name_as_well(capfd, value):
    given = ['--ros-args', '-r', f'__ns:={NAMESPACE}/start', '-p', f'use_sim_time:={value}']
    assert process.run(given) == 2
    # rclpy has its own line before ours.
    assert 'parameter use_sim_time: must be true or false' in capfd.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        (['-p', 'nonsense'], 'nonsense'),
        (['--params-file', '/nowhere.yaml'], '/nowhere.yaml'),
        (['--nonsense'], '--nonsense'),
        (['-r', '__node:=not-a-name'], 'not-a-name'),
    ],
)
def test_ros_arguments_that_cannot_be_read_are_named(capfd, arguments, named):
    assert named in refused(capfd, *arguments)


def test_arguments_outside_of_ros_args_are_refused(capfd):
    assert process.run(['speed']) == 2
    assert "unknown argument 'speed'" in capfd.readouterr().err


def test_a_whole_number_is_taken_for_a_number(capfd, tmp_path):
    # It gets as far as the journal, so the value itself was fine.
    given = parameters(navigation__accept_timeout_s=5, journal__path=tmp_path)
    assert 'journal.path' in refused(capfd, *given)


def test_a_journal_that_cannot_be_written_is_named(capfd, tmp_path):
    blocked = tmp_path / 'file'
    blocked.touch()
    line = refused(capfd, *parameters(journal__path=blocked / 'journal.db'))
    assert 'parameter journal.path' in line
    assert str(blocked) in line


def test_a_file_that_is_no_journal_is_left_as_it_is(capfd, tmp_path):
    other = tmp_path / 'letter.txt'
    other.write_text('Dear operator, ' * 100)
    before = other.read_bytes()
    assert 'parameter journal.path' in refused(capfd, *parameters(journal__path=other))
    assert other.read_bytes() == before


@contextmanager
def held(path: Path) -> Iterator[None]:
    async def hold(enter: bool) -> None:
        nonlocal journal
        if enter:
            journal = MissionJournal.open(path, clock=SystemClock())
        else:
            await journal.close()

    journal: MissionJournal
    asyncio.run(hold(True))
    yield
    asyncio.run(hold(False))


def test_a_second_harness_on_one_journal_is_refused(capfd, tmp_path):
    path = tmp_path / 'j.db'
    with held(path):
        line = refused(capfd, *parameters(journal__path=path))
    assert 'parameter journal.path' in line
    assert str(path) in line


@pytest.mark.parametrize('name', ['places_file', 'skills_file'])
def test_a_file_that_is_missing_is_named_and_the_journal_let_go(capfd, tmp_path, name):
    path = tmp_path / 'j.db'
    given = {'journal__path': path, name: '/nowhere/x.yaml'}
    line = refused(capfd, *parameters(**given))
    assert name in line
    assert '/nowhere/x.yaml' in line
    with held(path):
        pass


def test_a_script_that_is_missing_is_named(capfd, tmp_path):
    given = {'journal__path': tmp_path / 'j.db', 'model__provider': 'scripted'}
    assert 'model.script_file' in refused(capfd, *parameters(**given))
    line = refused(capfd, *parameters(**given, model__script_file='/nowhere.yaml'))
    assert '/nowhere.yaml' in line


def test_a_missing_key_is_named(capfd, tmp_path, monkeypatch):
    monkeypatch.delenv('ANTHROPIC_API_KEY', raising=False)
    given = {'journal__path': tmp_path / 'j.db', 'model__provider': 'anthropic'}
    assert 'ANTHROPIC_API_KEY' in refused(capfd, *parameters(**given))


def test_a_port_in_use_is_named_and_everything_closed_again(capfd, tmp_path):
    path = tmp_path / 'j.db'
    with held(path):
        pass  # where there is a journal the server itself finds the port taken
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        line = refused(capfd, *parameters(journal__path=path, mcp__port=port))
    assert f'mcp.port: 127.0.0.1:{port} is in use' in line
    with held(path):
        pass


@pytest.mark.parametrize(
    ('given', 'named'),
    [
        ({'mcp__prot': 1}, 'mcp.prot'),
        ({'places_file': '/nowhere/x.yaml'}, 'places_file'),
        ({'skills_file': '/nowhere/x.yaml'}, 'skills_file'),
        ({'model__provider': 'scripted'}, 'model.script_file'),
        ({'mcp__token_file': '/nowhere/tokens'}, 'mcp.token_file'),
        ({'mcp__host': '0.0.0.0'}, 'mcp.token_file'),
        ({'mcp__port': 'taken'}, 'mcp.port'),
        ({'mcp__port': 'taken', 'mcp__host': 'localhost'}, 'mcp.port'),
        ({'mcp__host': 'nowhere.invalid', 'mcp__token_file': 'there'}, 'mcp.host'),
    ],
)
def test_a_start_that_is_refused_makes_no_file_and_no_folder(capfd, tmp_path, given, named):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        token = tmp_path.parent / f'{tmp_path.name}-token'
        token.write_text('a-token-of-the-test-1234567890\n')
        token.chmod(0o600)
        here = {'taken': port, 'there': token}
        given = {name: here.get(value, value) for name, value in given.items()}
        path = tmp_path / 'new' / 'j.db'
        assert named in refused(capfd, *parameters(journal__path=path, **given))
    assert list(tmp_path.iterdir()) == []


def test_a_second_harness_on_the_same_journal_and_port_hears_of_the_journal(capfd, tmp_path):
    path = tmp_path / 'j.db'
    with held(path), socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        line = refused(capfd, *parameters(journal__path=path, mcp__port=port))
    assert 'is in use by another harness' in line


def test_what_can_be_put_right_before_the_activation_is_no_reason_against_configuring(tmp_path):
    http = McpSettings(token_file=tmp_path / 'later')
    values = check_parameters({'autostart': False, 'journal.path': str(tmp_path / 'j.db')})
    check_start(values, http)
    with pytest.raises(ConfigurationError, match='mcp.token_file'):
        check_start({**values, 'autostart': True}, http)


@pytest.mark.parametrize('module', ['nav2_msgs.action', 'mcp.server'])
def test_what_is_not_installed_is_named(capfd, tmp_path, monkeypatch, module):
    for name in list(sys.modules):
        if name.startswith('robot_agent_harness.mcp_server'):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    line = refused(capfd, *parameters(journal__path=tmp_path / 'j.db'))
    assert module.partition('.')[0] in line


def test_a_fault_of_ours_at_the_start_is_the_last_line_too(capfd, tmp_path, monkeypatch):
    def broken(_paths):
        raise RuntimeError('out of order')

    monkeypatch.setattr('robot_agent_harness.ros.session.find', broken)
    arguments = ['--ros-args', '-r', f'__ns:={NAMESPACE}/start']
    code = process.run([*arguments, *parameters(journal__path=tmp_path / 'j.db')])
    assert code == 2
    assert 'out of order' in capfd.readouterr().err.splitlines()[-1]


def test_serving_others_needs_a_token(capfd, tmp_path):
    given = {'journal__path': tmp_path / 'j.db', 'mcp__host': '0.0.0.0'}
    assert 'mcp.token_file' in refused(capfd, *parameters(**given))


def test_the_command_ends_with_the_same_line_and_code():
    done = subprocess.run(
        [sys.executable, '-m', 'robot_agent_harness.cli', 'run', '--ros-args', '-p', 'nope:=1'],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    line = 'robot-agent-harness: parameter nope: there is no such parameter\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, '', line)
