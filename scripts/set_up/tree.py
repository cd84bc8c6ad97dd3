# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The working tree: what lies where in it, and under which names."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USUAL = 'kilted'
DISTRIBUTIONS = (USUAL, 'jazzy')
DISTRIBUTION = os.environ.get('ROS_WHEELS') or USUAL
BESIDE = '' if DISTRIBUTION == USUAL else f'-{DISTRIBUTION}'
VENV = ROOT / f'.venv{BESIDE}'
ROS = ROOT / f'.ros{BESIDE}'
LOG = ROS / 'log'
STAMP = 'set_up_stamp.json'
MARKER = 'robot_agent_harness_tree'

PIP_LOCK = 'requirements-pip.lock'
BUILD_LOCK = 'requirements-build.lock'
ROS_LOCK = f'requirements-ros{BESIDE}.lock'
LOCK = 'requirements.lock'
PACKAGE_SOURCES = ('CMakeLists.txt', 'package.xml', 'msg', 'action')
UNDERLAY = 'underlay'
INTERFACE_SOURCES = (*PACKAGE_SOURCES, UNDERLAY)


def named(path: Path) -> str:
    """Return a path as it is named from the root of the tree."""
    return str(path.relative_to(ROOT))


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_name(f'{path.name}.part')
    part.write_text(text)
    part.chmod(mode)
    part.replace(path)
