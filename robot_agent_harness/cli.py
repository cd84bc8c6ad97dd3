# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `robot-agent-harness`: one small function for each subcommand.

Everything a subcommand needs is imported by it: a laptop without ROS reads journals, and `--help`
answers at once. Exit codes (CONTRACT): 0 done, 1 it ran and the answer is no, 2 wrong usage or
configuration, or the answer could not be written; 130 and 141 as a shell reports SIGINT and
SIGPIPE.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
import math
import os
import shlex
import sys

from robot_agent_harness import __version__
from robot_agent_harness.extras import missing_library
from robot_agent_harness.standard_output import checked_output, OutputError

PROGRAM = 'robot-agent-harness'
MODULE = 'robot_agent_harness.cli'
MISUSE = 2
INTERRUPTED = 130
"""As a shell reports a program that SIGINT ended."""
READER_LEFT = 141
"""As a shell reports a program that SIGPIPE ended: never 0 or 1, which are answers."""
ROS_ARGS, ROS_ARGS_END = '--ros-args', '--'
_ROS_OPTIONS = frozenset(
    {'-p', '--param', '-r', '--remap', '--params-file', '-e', '--enclave', '--log-level'}
)
"""What ROS takes without a `:=`, or with one that was forgotten."""

_NO_ROS = (
    "{program} {command} needs ROS 2, and Python finds no module '{module}': in the source tree"
    ' run `make setup` and `. ./env.sh`; with a ROS 2 installation source its setup file and that'
    ' of the workspace'
)


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    summary: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, list[str]], int]
    """Takes the parsed arguments and those for ROS; returns the exit code."""
    ros: bool = False
    """Whether it is a node, which takes `--ros-args` and needs ROS."""
    answers: bool = True
    """Whether it prints an answer and ends; False: it runs until it is stopped."""


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--mcp-stdio',
        action='store_true',
        help='serve one MCP client on standard input and output instead of HTTP; it ends with it',
    )


def _run(arguments: argparse.Namespace, ros_arguments: list[str]) -> int:
    from robot_agent_harness.ros.process import run

    return run(ros_arguments, mcp_stdio=arguments.mcp_stdio)


def _run_sim_robot(_arguments: argparse.Namespace, ros_arguments: list[str]) -> int:
    from robot_agent_harness.ros.sim_robot_node import main as sim_robot

    return sim_robot(ros_arguments)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--output', metavar='FOLDER', default='demo_output', help='default: demo_output'
    )
    parser.add_argument(
        '--time-scale',
        metavar='N',
        type=_time_scale,
        default=4.0,
        help='how many times faster than a real robot the simulated one is, 0.2 to 10; default: 4',
    )
    parser.add_argument('--no-color', action='store_true', help='plain text on a terminal, too')


def _time_scale(value: str) -> float:
    try:
        scale = float(value)
    except ValueError:
        scale = math.nan
    if not 0.2 <= scale <= 10.0:
        raise argparse.ArgumentTypeError(f'{value} is no number from 0.2 to 10')
    return scale


def _demo(arguments: argparse.Namespace, _ros_arguments: list[str]) -> int:
    from pathlib import Path

    from robot_agent_harness.demo import DemoSettings, run_demo

    return run_demo(
        DemoSettings(Path(arguments.output), arguments.time_scale, not arguments.no_color)
    )


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--timeout',
        metavar='S',
        type=_timeout_s,
        default=2.5,
        help='how many seconds to listen to the robot, 0.5 to 60; default: 2.5',
    )
    parser.add_argument('--json', action='store_true', help='one JSON document, for programs')


def _timeout_s(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0.5 <= seconds <= 60.0:
        raise argparse.ArgumentTypeError(f'{value} is no number from 0.5 to 60')
    return seconds


def _doctor(arguments: argparse.Namespace, ros_arguments: list[str]) -> int:
    from robot_agent_harness.doctor.command import run_doctor

    return run_doctor(PROGRAM, ros_arguments, seconds=arguments.timeout, as_json=arguments.json)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('journal', metavar='JOURNAL', help='the journal file, as journal.path')
    parser.add_argument(
        '-o', '--output', metavar='FILE', default='report.html', help='default: report.html'
    )
    parser.add_argument('--mission', metavar='ID', help='this mission only')


def _report(arguments: argparse.Namespace, _ros_arguments: list[str]) -> int:
    from robot_agent_harness.errors import HarnessError
    from robot_agent_harness.journal_tools.progress import Progress
    from robot_agent_harness.report import write_report

    try:
        told = Progress('checked')
        print(write_report(arguments.journal, arguments.output, arguments.mission, told=told))
    except HarnessError as error:
        print(f'{PROGRAM} report: {" ".join(str(error).split())}', file=sys.stderr)
        return MISUSE
    return 0


def _add_journal(parser: argparse.ArgumentParser) -> None:
    from robot_agent_harness.journal_tools import SUBCOMMANDS
    from robot_agent_harness.journal_tools.subcommand import add_subcommands

    add_subcommands(parser, SUBCOMMANDS)


def _journal(arguments: argparse.Namespace, _ros_arguments: list[str]) -> int:
    from robot_agent_harness.journal_tools.subcommand import run_subcommand

    return run_subcommand(arguments, PROGRAM)


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'journal', metavar='JOURNAL', help='the journal file, or an archive of one'
    )
    parser.add_argument('--mission', metavar='ID', help='only the run in which this mission was')
    parser.add_argument(
        '--what-if',
        metavar='NAME=VALUE',
        action='append',
        default=[],
        help='replay with this parameter changed, and tell which checks, results and outcomes'
        ' would be others; may be repeated',
    )
    parser.add_argument('--json', action='store_true', help='for programs')


def _replay(arguments: argparse.Namespace, _ros_arguments: list[str]) -> int:
    from robot_agent_harness.replay.command import run

    return run(arguments, PROGRAM)


def _add_mcp_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--client',
        choices=('claude-code', 'claude-desktop', 'cursor', 'http', 'stdio', 'vscode'),
        help='this client only; default: all of them',
    )
    parser.add_argument(
        '--url',
        metavar='URL',
        default='http://127.0.0.1:8642/mcp',
        help='where the harness serves HTTP; default: http://127.0.0.1:8642/mcp',
    )
    parser.add_argument(
        '--token',
        action='store_true',
        help='the harness asks for a token: name the variable that holds it (never the token)',
    )
    parser.add_argument('--json', action='store_true', help='for programs')


def _mcp_config(arguments: argparse.Namespace, _ros_arguments: list[str]) -> int:
    import json
    import shutil

    from robot_agent_harness.errors import ConfigurationError
    from robot_agent_harness.mcp_server.client_config import chosen, snippets

    installed = shutil.which(PROGRAM)
    program = [os.path.abspath(installed)] if installed else [sys.executable, '-m', MODULE]
    try:
        found = snippets(
            url=arguments.url, token=arguments.token, program=program, environ=os.environ
        )
        shown = (chosen(found, arguments.client),) if arguments.client else found
    except ConfigurationError as error:
        print(f'{PROGRAM} mcp-config: {error}', file=sys.stderr)
        return MISUSE
    if arguments.json:
        print(json.dumps({s.client: s.told for s in shown}, indent=2))
    else:
        print('\n\n'.join(f'# {s.title}: {s.where}\n{s.text}' for s in shown))
    return 0


def _no_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add none."""


COMMANDS: dict[str, Command] = {
    'run': Command(
        'run the harness node',
        'Run the harness node until Ctrl-C. Its parameters are those of config/harness.yaml:'
        ' --ros-args -p NAME:=VALUE, or --ros-args --params-file FILE.',
        _add_run,
        _run,
        ros=True,
        answers=False,
    ),
    'sim-robot': Command(
        'run a simulated robot with a Nav2-like controller',
        'Run a simulated robot in a small world of named rooms until Ctrl-C: state topics and'
        ' navigate_to_pose as Nav2 serves it. Faults are parameters that can be set while it'
        ' runs: --ros-args -p fault.NAME:=VALUE.',
        _no_arguments,
        _run_sim_robot,
        ros=True,
        answers=False,
    ),
    'demo': Command(
        'show what the harness is for, on the simulated robot',
        'Run a mission on the simulated robot, with accidents, and check every claim. Needs no'
        ' key, no robot and no network. The journal and the report of the run are kept.',
        _add_demo,
        _demo,
    ),
    'doctor': Command(
        'find out what stands in the way of a mission',
        'Look at the robot, the journal, the model and the MCP port as a harness with the same'
        ' parameters would use them, and say what to do about what is wrong. Nothing is started,'
        ' written or sent. Exit code 1 where there is a problem.',
        _add_doctor,
        _doctor,
        ros=True,
    ),
    'mcp-config': Command(
        'print the configuration of MCP clients for this harness',
        'Print what to paste into the configuration of common MCP clients, over HTTP or, with ROS'
        ' sourced here, over stdio. Holds no token.',
        _add_mcp_config,
        _mcp_config,
    ),
    'journal': Command(
        'look into a journal, check it, close it',
        'Look into a journal: one that a harness writes, one that a killed one left, an archive.'
        ' Nothing but rotate writes.',
        _add_journal,
        _journal,
    ),
    'replay': Command(
        'run the harness again on what a journal recorded, and compare',
        'Run the real harness code on the recorded inputs of a journal, without robot and model,'
        ' and compare each record with the recorded one. Exit code 0: identical, 1: the first'
        ' difference is shown with both sides (with --what-if: something would be decided'
        ' otherwise), 2: the journal cannot be replayed.',
        _add_replay,
        _replay,
    ),
    'report': Command(
        'write a mission report from a journal',
        'Write what a journal tells of its missions as one HTML file, which needs no network.',
        _add_report,
        _report,
    ),
}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description='Close the loop between a language model and a robot.',
        epilog=f'{PROGRAM} COMMAND --help tells more about a command.',
    )
    parser.add_argument('--version', action='version', version=f'{PROGRAM} {__version__}')
    commands = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(name, help=command.summary, description=command.description)
        command.add_arguments(own)
        if command.ros:
            own.usage = f'{own.format_usage()[7:].strip()} [{ROS_ARGS} ...]'
        own.set_defaults(chosen=command, parser=own)
    return parser


def split_ros_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments outside and inside of `--ros-args ... [--]`."""
    own: list[str] = []
    ros: list[str] = []
    inside = False
    for argument in arguments:
        if argument == ROS_ARGS:
            inside = True
        (ros if inside else own).append(argument)
        if inside and argument == ROS_ARGS_END:
            inside = False
    return own, ros


def _ros_hint(command: str, own: Sequence[str], unknown: Sequence[str]) -> str:
    """Return how to give arguments that ROS would know; empty if it would not."""
    if not any(':=' in argument or argument in _ROS_OPTIONS for argument in unknown):
        return ''
    known = [argument for argument in own if argument not in (command, *unknown)]
    line = shlex.join([PROGRAM, command, *known, ROS_ARGS, *unknown])
    return f'; arguments of ROS come after {ROS_ARGS}: {line}'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    :param arguments: the command line after the program's name; None = that of this process.
    :return: the exit code.
    """
    own, ros = split_ros_arguments(sys.argv[1:] if arguments is None else arguments)
    parsed, unknown = make_parser().parse_known_args(own)
    command: Command = parsed.chosen
    if unknown:
        hint = _ros_hint(parsed.command, own, unknown) if command.ros else ''
        parsed.parser.error(f'unrecognized arguments: {" ".join(unknown)}{hint}')
    if ros and not command.ros:
        parsed.parser.error(f'{parsed.command} is no node and takes no {ROS_ARGS}')
    try:
        with checked_output() if command.answers else nullcontext():
            return command.run(parsed, ros)
    except OutputError as error:
        if error.reader_left:
            # `| head` has seen enough, and needs no line. What it did not see is no answer.
            return READER_LEFT
        print(f'{PROGRAM} {parsed.command}: standard output: {error}', file=sys.stderr)
        return MISUSE
    except KeyboardInterrupt:
        # Early, while things are being imported; later each command has its own way to end.
        return INTERRUPTED if command.answers else 0
    except ImportError as error:
        missing = missing_library(error)
        if missing is not None:
            print(f'{PROGRAM} {parsed.command}: {missing}', file=sys.stderr)
        elif isinstance(error, ModuleNotFoundError) and _of_ros(error.name):
            hint = _NO_ROS.format(program=PROGRAM, command=parsed.command, module=error.name)
            print(hint, file=sys.stderr)
        else:
            raise
        return MISUSE


def _of_ros(module: str | None) -> bool:
    """Whether a module that is missing comes with ROS or with the package's ROS build."""
    root = (module or '').partition('.')[0]
    ours = module in ('robot_agent_harness.msg', 'robot_agent_harness.action')
    return ours or root == 'rclpy' or root.endswith(('_msgs', '_interfaces'))


if __name__ == '__main__':
    sys.exit(main())
