# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain `pip install .`: everything that works without ROS; the metadata stands in setup.cfg."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'robot_agent_harness'
CONFIG = f'{PACKAGE}._config'
ROOT = Path(__file__).parent


def data_files(folder):
    """Return every file in a folder that is not Python, relative to it."""
    base = ROOT / folder
    files = (path for path in base.rglob('*') if path.is_file())
    return [str(path.relative_to(base)) for path in files if path.suffix not in ('.py', '.pyc')]


setup(
    packages=[*find_packages(str(ROOT), include=[PACKAGE, f'{PACKAGE}.*']), CONFIG],
    # The top-level folder that ROS users edit; robot_agent_harness.resources finds it here too.
    package_dir={CONFIG: 'config'},
    package_data={PACKAGE: data_files(PACKAGE), CONFIG: data_files('config')},
    include_package_data=False,
)
