# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the machine brings: a ROS 2 installation, a Python with its headers, compilers."""

from __future__ import annotations

import os
from pathlib import Path
import platform
import shutil
import subprocess
import sys
import sysconfig

from set_up import tree
from set_up.telling import fail, last_line


def ros_installation() -> list[str]:
    """Return the prefixes of the sourced ROS 2 installation; empty without one."""
    prefixes = []
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        # Ours, or another working tree's: a virtual environment with wheels, or its interfaces.
        if (Path(prefix) / 'pyvenv.cfg').exists() or (Path(prefix) / tree.MARKER).exists():
            continue
        prefixes.append(prefix)
    return prefixes if has_package(prefixes, 'rclpy') else []


def has_package(prefixes: list[str], name: str) -> bool:
    """Tell whether one of the ament prefixes holds the package."""
    index = Path('share/ament_index/resource_index/packages')
    return any((Path(prefix) / index / name).exists() for prefix in prefixes)


def check_machine(ros: list[str]) -> None:
    """Refuse a machine that lacks something that only its owner can install."""
    if tree.BESIDE and ros:
        fail(
            f'ROS_WHEELS={tree.DISTRIBUTION} installs ROS 2 from the package index, but a ROS 2 '
            f'installation is sourced ({ros[-1]}): use a shell without it'
        )
    version = f'{sys.version_info.major}.{sys.version_info.minor}'
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail(
            f'Python {version} ({sys.executable}) has no venv module. Debian and Ubuntu: '
            f'apt install python{version}-venv'
        )
    header = Path(sysconfig.get_paths()['include']) / 'Python.h'
    if not header.exists():
        fail(
            f'the headers of Python {version} are missing ({header}). Debian and Ubuntu: '
            f'apt install python{version}-dev; Fedora: dnf install python3-devel'
        )
    for variable, names in (('CC', ('cc', 'gcc', 'clang')), ('CXX', ('c++', 'g++', 'clang++'))):
        chosen = os.environ.get(variable)
        if not any(shutil.which(name) for name in ([chosen.split()[0]] if chosen else names)):
            fail(
                f'no {"C" if variable == "CC" else "C++"} compiler'
                f'{f" ({variable}={chosen})" if chosen else ""}. '
                'Debian and Ubuntu: apt install build-essential; Fedora: dnf install gcc gcc-c++'
            )
    if ros:
        probe = subprocess.run(
            [sys.executable, '-c', 'import rclpy'], capture_output=True, text=True, check=False
        )
        if probe.returncode:
            fail(
                f'a ROS 2 installation is sourced ({ros[-1]}), but {sys.executable} cannot import '
                f"its rclpy: {last_line(probe.stderr)}. Name that installation's Python "
                '(PYTHON=/usr/bin/python3 make setup), or use a shell without ROS 2'
            )
    elif sys.platform != 'linux' or platform.machine() != 'x86_64':
        fail(
            f'no ROS 2 wheels exist for {sys.platform} on {platform.machine()}: the package index '
            'has them for Linux on x86-64. Install ROS 2 (Jazzy or newer), source its setup.bash, '
            'and run make setup again'
        )
