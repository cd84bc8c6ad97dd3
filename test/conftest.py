# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What every test module shares: the asyncio backend, the long mode, and how skips are counted."""

from __future__ import annotations

from functools import cache
from pathlib import Path
import re

import pytest

ROS = re.compile(r'\b(rclpy|(dds|node|browser|dashboard)_rig|live_robot|sim.robot|run_demo)\b')
"""What a test module says that starts nodes or a browser."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption('--long', action='store_true', help='also run what takes minutes')


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item.path)))
    if config.getoption('--long'):
        return
    for item in items:
        if 'long' in item.keywords:
            item.add_marker(pytest.mark.skip(reason='takes minutes: make test-long'))


@cache
def _group(module: Path) -> str:
    """Return which tests share a process: a module's; and all that start nodes, one at a time."""
    return 'ros' if ROS.search(module.read_text(encoding='utf-8')) else module.name


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'
