# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain `pip install .`: everything that works without ROS; the metadata stands in setup.cfg."""

from setuptools import find_packages, setup

PACKAGE = 'robot_agent_harness'

setup(
    packages=[*find_packages(include=[PACKAGE, f'{PACKAGE}.*']), f'{PACKAGE}._config'],
    # The top-level folder that ROS users edit; robot_agent_harness.resources finds it here too.
    package_dir={f'{PACKAGE}._config': 'config'},
    package_data={
        PACKAGE: ['py.typed'],
        f'{PACKAGE}.report': ['*.html', '*.css', '*.js', '*.j2', 'templates/*'],
        f'{PACKAGE}._config': ['*.yaml', '*/*'],
    },
    include_package_data=False,
)
