# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages and actions, built with colcon."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import re
import shutil
import subprocess

from set_up import tree
from set_up.jobs import run
from set_up.machine import has_package
from set_up.telling import fail, tail
from set_up.wheels import wheel_libraries


def build_interfaces(ros: list[str]) -> None:
    """Build the messages and actions, and nav2_msgs where it is absent."""
    with contextlib.suppress(FileNotFoundError):
        (tree.ROS / tree.STAMP).unlink()
    # A copy: CMake refuses include folders (numpy's, in .venv) that lie inside the source folder.
    source = tree.ROS / 'src'
    shutil.rmtree(source, ignore_errors=True)
    package = source / 'robot_agent_harness'
    package.mkdir(parents=True)
    for name in tree.PACKAGE_SOURCES:
        copy(tree.ROOT / name, package / name)
    if not has_package(ros, 'nav2_msgs'):
        copy(tree.ROOT / tree.UNDERLAY / 'nav2_msgs', source / 'nav2_msgs')
    python = str(tree.VENV / 'bin' / 'python')
    command = [
        *(python, '-m', 'colcon', '--log-base', str(tree.LOG / 'colcon')),
        *('build', '--merge-install', '--executor', 'sequential', '--base-paths', str(source)),
        *('--build-base', str(tree.ROS / 'build'), '--install-base', str(tree.ROS / 'install')),
        *('--cmake-args', '-G', 'Ninja', '-DINTERFACES_ONLY=ON', '-DBUILD_TESTING=OFF'),
        # Optimised, they take half as long again to build and carry a few messages a second.
        *('-DCMAKE_BUILD_TYPE=None', f'-DPython3_EXECUTABLE={python}'),
        '-Wno-unused-cli',
    ]
    # What the last build installed may no longer be declared; its objects save time.
    shutil.rmtree(tree.ROS / 'install', ignore_errors=True)
    incremental = (tree.ROS / 'build').exists()
    try:
        try:
            run('building the ROS interfaces', command, 'build.log', clean_environment(ros))
        except subprocess.CalledProcessError:
            if not incremental:
                raise
            shutil.rmtree(tree.ROS / 'build')
            shutil.rmtree(tree.ROS / 'install', ignore_errors=True)
            title = 'building the ROS interfaces from the beginning'
            run(title, command, 'build.log', clean_environment(ros))
    except subprocess.CalledProcessError as error:
        errors = [line for line in error.output.splitlines() if re.search(r'[Ee]rror', line)]
        fail(
            'the ROS interfaces could not be built: '
            f'{errors[0].strip() if errors else "no reason given"}\n'
            f'The whole log is {tree.named(tree.LOG / "build.log")}, its last words:\n'
            f'{tail(error.output)}'
        )
    mark = 'Interfaces of a robot_agent_harness working tree.\n'
    tree.write(tree.ROS / 'install' / tree.MARKER, mark)


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder with its times, so that only what changed is built again."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def clean_environment(ros: list[str]) -> dict[str, str]:
    """Return the environment for building: this tree's own, free of what was sourced before."""
    env = dict(os.environ)
    for name in ('PYTHONHOME', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'COLCON_DEFAULTS_FILE'):
        env.pop(name, None)
    variables = ['AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'PYTHONPATH']
    variables += ['LD_LIBRARY_PATH', 'PKG_CONFIG_PATH']
    for name in variables:
        kept = [
            entry
            for entry in env.get(name, '').split(os.pathsep)
            if entry and ros and not f'{entry}{os.sep}'.startswith(f'{tree.ROOT}{os.sep}')
        ]
        env.pop(name, None)
        if kept:
            env[name] = os.pathsep.join(kept)
    env['VIRTUAL_ENV'] = str(tree.VENV)
    env['PATH'] = os.pathsep.join([str(tree.VENV / 'bin'), env.get('PATH', os.defpath)])
    if not ros:
        env['AMENT_PREFIX_PATH'] = env['CMAKE_PREFIX_PATH'] = str(tree.VENV)
        env['LD_LIBRARY_PATH'] = os.pathsep.join(wheel_libraries())
        env['_ROS_WHEELS_BOOTSTRAP_COMPLETE'] = '1'
    return env
