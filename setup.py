# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain `pip install .`: everything that works without ROS; the metadata stands in setup.cfg."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'robot_agent_harness'
SHIPPED = {f'{PACKAGE}._{folder}': folder for folder in ('config', 'msg')}
ROOT = Path(__file__).parent


def data_files(folder):
    """Return every file in a folder that is not Python, relative to it."""
    base = ROOT / folder
    files = (path for path in base.rglob('*') if path.is_file())
    return [str(path.relative_to(base)) for path in files if path.suffix not in ('.py', '.pyc')]


setup(
    packages=[*find_packages(str(ROOT), include=[PACKAGE, f'{PACKAGE}.*']), *SHIPPED],
    # Top-level folders of every ROS package; robot_agent_harness.resources finds them here too.
    package_dir=SHIPPED,
    package_data={
        PACKAGE: data_files(PACKAGE),
        **{package: data_files(folder) for package, folder in SHIPPED.items()},
    },
    include_package_data=False,
)
