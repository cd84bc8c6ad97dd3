# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 wheels, which know the machine that they were built on and not this one."""

from __future__ import annotations

from pathlib import Path
import re
import sys
import sysconfig

from set_up import tree

# Where the wheels' exported CMake targets point: into the machine that they were built on.
FOREIGN_PYTHON_INCLUDE = re.compile(r'/opt/python/cp3\d+-cp3\d+/include/python3\.\d+')
FOREIGN_NUMPY_INCLUDE = re.compile(
    r'/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_?core/include'
)


def mend_wheels() -> None:
    """
    Point the wheels' exported CMake targets at this environment.

    They name the Python and numpy headers of the machine that they were built on, and CMake
    refuses a target whose include folder does not exist.
    """
    python_include = sysconfig.get_paths()['include']
    numpy_include = site_packages(tree.VENV) / 'numpy' / '_core' / 'include'
    for path in sorted((tree.VENV / 'share').glob('*/cmake/*.cmake')):
        text = path.read_text()
        mended = FOREIGN_NUMPY_INCLUDE.sub(str(numpy_include), text)
        mended = FOREIGN_PYTHON_INCLUDE.sub(python_include, mended)
        if mended != text:
            tree.write(path, mended)


def site_packages(prefix: Path) -> Path:
    """Return the folder of Python modules under a prefix."""
    return prefix / f'lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages'


def wheel_libraries() -> list[str]:
    """Return the folders of shared libraries that the ROS wheels brought."""
    return [str(tree.VENV / 'lib'), *map(str, sorted(site_packages(tree.VENV).glob('ros_*.libs')))]
