# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of the package in new processes that have their modules already.

A test of a robot is no test of Python's imports, which take longer than all that follows them.

They use DDS over UDP. Where a process was killed that shared Fast DDS's memory, its successor may
see everybody and never hear them (eProsima/Fast-DDS#5053, the mending of #4728 is not merged).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import multiprocessing
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any, IO

_FAST_DDS = 'FASTRTPS' if os.environ.get('ROS_DISTRO') in ('humble', 'jazzy') else 'FASTDDS'
UDP_ALONE = {
    f'{_FAST_DDS}_DEFAULT_PROFILES_FILE': str(Path(__file__).parent / 'loopback_udp.xml'),
    # Else rmw_fastrtps sets up transports of its own, shared memory among them.
    'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SYSTEM_DEFAULT',
    'ROS_LOCALHOST_ONLY': '0',
}
"""Stays on this machine by the interface that the profile names."""

_servers = multiprocessing.get_context('forkserver')
_servers.set_forkserver_preload(
    [
        'robot_agent_harness.mcp_server',
        'robot_agent_harness.ros.process',
        'robot_agent_harness.ros.sim_robot_node',
    ]
)


def run_harness(arguments: list[str]) -> int:
    """Do what `robot-agent-harness run` does."""
    from robot_agent_harness.cli import main

    return main(['run', *arguments])


def run_sim_robot(arguments: list[str]) -> int:
    """Do what `robot-agent-harness sim-robot` does."""
    from robot_agent_harness.ros.sim_robot_node import main

    return main(arguments)


class Forked:
    """One such process, with what the rigs use of `subprocess.Popen`.

    :param program: is given the arguments, and returns the exit code.
    :param first: is called before, in the new process.
    """

    def __init__(
        self,
        program: Callable[[list[str]], int],
        arguments: Sequence[str],
        *,
        domain: int,
        first: tuple[Callable[..., None], str] | None = None,
    ) -> None:
        environment = {
            **os.environ,
            **UDP_ALONE,
            'ROS_DOMAIN_ID': str(domain),
            'RCUTILS_COLORIZED_OUTPUT': '0',
        }
        ours, theirs = _servers.Pipe(duplex=False)
        self._process = _servers.Process(
            target=_run,
            args=(theirs, program, list(arguments), environment, os.getcwd(), first),
            daemon=True,
        )
        self._process.start()
        theirs.close()
        self.stderr: IO[str] = os.fdopen(os.dup(ours.fileno()), 'r', errors='replace')
        """What it says on standard error and standard output."""
        ours.close()
        self.returncode: int | None = None

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs; negative: the signal that killed it."""
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for its end and return the exit code.

        :raises subprocess.TimeoutExpired: it goes on.
        """
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(
    output: Any,
    program: Callable[[list[str]], int],
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    first: tuple[Callable[..., None], str] | None,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # What Python makes of it at its start: a test may have installed a package for this one.
    theirs = filter(None, environment.get('PYTHONPATH', '').split(os.pathsep))
    sys.path[:0] = [entry for entry in theirs if entry not in sys.path]
    for descriptor in (1, 2):
        os.dup2(output.fileno(), descriptor)
    output.close()
    sys.stdout = os.fdopen(1, 'w', buffering=1)
    sys.stderr = os.fdopen(2, 'w', buffering=1)
    if first is not None:
        arm, what = first
        arm(what)
    sys.exit(program(arguments))
