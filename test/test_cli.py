# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line: what it offers, what it refuses, and how it says so."""

from __future__ import annotations

from dataclasses import replace
import subprocess
import sys

import pytest

import robot_agent_harness
from robot_agent_harness import cli
from robot_agent_harness.cli import COMMANDS, main, split_ros_arguments

NODES = [name for name, command in COMMANDS.items() if command.ros]


def outcome(capsys, *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_it_tells_its_version(capsys):
    version = robot_agent_harness.__version__
    assert outcome(capsys, '--version') == (0, f'robot-agent-harness {version}\n', '')


def test_help_names_every_command(capsys):
    code, out, _ = outcome(capsys, '--help')
    assert code == 0
    for name, command in COMMANDS.items():
        assert name in out
        assert command.summary in ' '.join(out.split())


@pytest.mark.parametrize('name', COMMANDS)
def test_every_command_has_help(capsys, name):
    code, out, _ = outcome(capsys, name, '--help')
    assert code == 0
    assert out.startswith(f'usage: robot-agent-harness {name} [-h]')
    assert (cli.ROS_ARGS in out.splitlines()[0]) == COMMANDS[name].ros


@pytest.mark.parametrize('arguments', [(), ('fly',), ('run', '--fast'), ('run', 'now')])
def test_wrong_usage_is_code_2_with_a_line_that_names_it(capsys, arguments):
    code, out, err = outcome(capsys, *arguments)
    assert (code, out) == (2, '')
    command = ' '.join(['robot-agent-harness', *(arguments[:1] if len(arguments) > 1 else ())])
    assert f'{command}: error:' in err
    assert not arguments or arguments[-1] in err


@pytest.mark.parametrize('name', [name for name in COMMANDS if name not in NODES])
def test_only_nodes_take_ros_arguments(capsys, name):
    required = {'report': ['j.db'], 'replay': ['j.db'], 'journal': ['events']}.get(name, [])
    code, _, err = outcome(capsys, name, *required, '--ros-args', '-p', 'x:=1')
    assert code == 2
    assert f'{name} is no node' in err


@pytest.mark.parametrize('name', NODES)
@pytest.mark.parametrize(
    'given', ['-p journal.path:=x', '-r odom:=/o', '--params-file my.yaml', 'journal.path:=x']
)
def test_ros_arguments_in_the_wrong_place_are_told_where_they_belong(capsys, name, given):
    code, out, err = outcome(capsys, name, *given.split())
    assert (code, out) == (2, '')
    assert f'unrecognized arguments: {given}; arguments of ROS come after --ros-args:' in err
    assert f'robot-agent-harness {name} --ros-args {given}\n' in err


def test_what_is_ours_stays_in_front_and_what_is_nobodys_gets_no_hint(capsys):
    _, _, err = outcome(capsys, 'run', '-p', 'a:=1', '--mcp-stdio')
    assert 'robot-agent-harness run --mcp-stdio --ros-args -p a:=1\n' in err
    assert '--ros-args' not in outcome(capsys, 'run', 'fast')[2].splitlines()[-1]
    assert '--ros-args' not in outcome(capsys, 'report', 'j.db', '-p', 'a:=1')[2]


@pytest.mark.parametrize(
    ('given', 'own', 'ros'),
    [
        (['run'], ['run'], []),
        (['run', '--ros-args', '-p', 'a:=1'], ['run'], ['--ros-args', '-p', 'a:=1']),
        (['run', '--ros-args', '--', '--mcp-stdio'], ['run', '--mcp-stdio'], ['--ros-args', '--']),
        (['--ros-args', '--help', '--', 'run'], ['run'], ['--ros-args', '--help', '--']),
    ],
)
def test_ros_arguments_are_told_from_ours(given, own, ros):
    assert split_ros_arguments(given) == (own, ros)


@pytest.mark.parametrize(
    ('module', 'command'), [('pydantic', 'run'), ('pydantic', 'journal'), ('rich', 'doctor')]
)
@pytest.mark.parametrize('held', ['None', 'types.ModuleType({!r})'], ids=['missing', 'too old'])
def test_without_a_library_it_says_which_and_where_to_install_it(module, command, held):
    code = f'import sys, types; sys.modules[{module!r}] = {held.format(module)}; '
    given = {'journal': [command, 'missions', 'none.db']}.get(command, [command])
    code += f'from robot_agent_harness.cli import main; sys.exit(main({given!r}))'
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, '')
    (line,) = done.stderr.splitlines()
    assert f'robot-agent-harness {command}: the Python package {module} is needed' in line
    assert 'requirements.in' in line


@pytest.mark.parametrize('name', NODES)
def test_without_ros_a_node_says_what_to_source(capsys, monkeypatch, name):
    for module in list(sys.modules):
        if module.startswith('robot_agent_harness.ros.'):
            monkeypatch.delitem(sys.modules, module)
    for module in ('rclpy', 'action_msgs', 'action_msgs.msg', 'builtin_interfaces.msg'):
        monkeypatch.setitem(sys.modules, module, None)
    code, out, err = outcome(capsys, name)
    assert (code, out) == (2, '')
    (line,) = err.splitlines()
    assert f'robot-agent-harness {name} needs ROS 2' in line
    assert '. ./env.sh' in line


def test_a_fault_of_ours_is_not_taken_for_missing_ros(monkeypatch):
    def broken(_arguments, _ros):
        raise ModuleNotFoundError("No module named 'oops'", name='robot_agent_harness.oops')

    monkeypatch.setitem(COMMANDS, 'run', cli.Command('', '', cli._no_arguments, broken, ros=True))
    with pytest.raises(ModuleNotFoundError):
        main(['run'])


@pytest.mark.parametrize(
    ('name', 'code'), [('run', 0), ('sim-robot', 0), ('doctor', 130), ('report', 130)]
)
def test_ctrl_c_during_the_start_leaves_no_traceback(monkeypatch, name, code):
    def interrupted(_arguments, _ros):
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, name, replace(COMMANDS[name], run=interrupted))
    arguments = ['journal.db'] if name == 'report' else []
    assert main([name, *arguments]) == code


def test_help_needs_neither_ros_nor_anything_heavy():
    script = (
        'import sys; from robot_agent_harness.cli import make_parser; make_parser();'
        ' print([m for m in ("rclpy", "mcp", "pydantic", "sqlite_utils") if m in sys.modules])'
    )
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == '[]\n'
