# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The locked packages, in a virtual environment."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
from typing import Any

from set_up import tree
from set_up.jobs import Job, run
from set_up.stamps import why
from set_up.telling import fail, say, tail
from set_up.wheels import mend_wheels


def make_venv(key: dict[str, Any], ros: list[str]) -> None:
    """Make `.venv` anew, with what building the interfaces takes."""
    if tree.VENV.exists():
        say(f'the environment is renewed ({why(tree.VENV, key)})')
    # The old one may hold packages that nothing names any more: never mended, always made anew.
    for folder in (tree.VENV, tree.ROS):
        shutil.rmtree(folder, ignore_errors=True)
    options = ['--system-site-packages'] if ros else []
    try:
        run(
            f'making {tree.VENV.name} with Python {platform.python_version()}',
            [sys.executable, '-I', '-m', 'venv', *options, str(tree.VENV)],
            'venv.log',
            pip_environment(),
        )
    except subprocess.CalledProcessError as error:
        version = f'{sys.version_info.major}.{sys.version_info.minor}'
        fail(
            f'python -m venv failed. Debian and Ubuntu: apt install python{version}-venv. '
            f'Its last words:\n{tail(error.output)}'
        )
    try:
        # The pip that a Python brings is several times slower.
        run('installing pip', pip_install(tree.PIP_LOCK), 'pip.log', pip_environment())
        locks = [tree.BUILD_LOCK] if ros else [tree.BUILD_LOCK, tree.ROS_LOCK]
        title = 'installing the build tools' if ros else 'installing ROS 2 and the build tools'
        run(title, pip_install(*locks), 'pip.log', pip_environment())
    except subprocess.CalledProcessError as error:
        fail(pip_failure(error.output))
    if not ros:
        mend_wheels()


def pip_install(*locks: str) -> list[str]:
    """Return the command that installs what lock files name, and nothing else."""
    return [
        *(str(tree.VENV / 'bin' / 'python'), '-m', 'pip', 'install'),
        *('--no-deps', '--require-hashes'),
        # Modules are compiled when they are first used: few of them ever are.
        *('--no-compile', '--no-input', '--disable-pip-version-check'),
        # Nothing is compiled here; empy is pure Python that comes without a wheel.
        *('--only-binary=:all:', '--no-binary=empy'),
        *(part for lock in locks for part in ('-r', str(tree.ROOT / lock))),
    ]


def pip_environment() -> dict[str, str]:
    """Return the environment for pip: the machine's configuration, no other modules."""
    env = {**os.environ, 'VIRTUAL_ENV': str(tree.VENV), '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1'}
    for name in ('PYTHONPATH', 'PYTHONHOME', 'PIP_TARGET', 'PIP_PREFIX', 'PIP_USER'):
        env.pop(name, None)
    return env


@contextlib.contextmanager
def others_installed() -> Iterator[None]:
    """Install all other packages while the body runs."""
    command, env = pip_install(tree.LOCK), pip_environment()
    job = Job('installing the other packages', command, 'pip.log', env)
    try:
        yield
        job.wait()
    except subprocess.CalledProcessError as error:
        fail(pip_failure(error.output))
    finally:
        job.stop()


def pip_failure(output: str) -> str:
    """Turn pip's output into what is missing."""
    missing = re.search(r'No matching distribution found for (\S+)', output)
    here = f'Python {platform.python_version()} on {sys.platform} {platform.machine()}'
    if missing and missing[1].startswith('ros-'):
        reason = (
            f'the package index has no wheel of {missing[1]} for {here}; it has them for Python '
            '3.10 to 3.13 on Linux x86-64 with glibc 2.28 or newer'
        )
    elif missing:
        reason = (
            f'{missing[1]} was not found: the package index cannot be reached, or does not have '
            f'it for {here}'
        )
    elif 'THESE PACKAGES DO NOT MATCH THE HASHES' in output:
        reason = 'a package is not the one that was locked (its hash differs)'
    elif 'No space left' in output:
        reason = 'the disk is full'
    else:
        reason = 'pip could not install the packages'
    return (
        f"{reason}. pip uses this machine's own configuration (pip config list); the whole log is "
        f'{tree.named(tree.LOG / "pip.log")}, its last words:\n{tail(output)}'
    )
