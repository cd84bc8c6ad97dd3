# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What every test module shares: the asyncio backend, the long mode, and how skips are counted."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption('--long', action='store_true', help='also run what takes minutes')


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption('--long'):
        return
    for item in items:
        if 'long' in item.keywords:
            item.add_marker(pytest.mark.skip(reason='takes minutes: make test-long'))


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'
