# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What every test module shares: the asyncio backend, the long mode, and how skips are counted."""

from __future__ import annotations

import faulthandler
import signal

from _pytest.faulthandler import fault_handler_stderr_fd_key
import pytest

MARGIN_S = 30.0
"""How much later than pytest-timeout the watchdog ends a test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption('--long', action='store_true', help='also run what takes minutes')


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption('--long'):
        return
    for item in items:
        if 'long' in item.keywords:
            item.add_marker(pytest.mark.skip(reason='takes minutes: make test-long'))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a test Ctrl-C as on a terminal, and a watchdog."""
    # Who starts the suite in the background has it ignored, and so would each program of a test.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    own = item.get_closest_marker('timeout')
    seconds = float(item.config.getini('timeout')) if own is None else own.args[0]
    _watch(item, seconds + MARGIN_S)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Watch the end, too: a failure has ended pytest-timeout's watch, and the watchdog's."""
    _watch(item, float(item.config.getini('timeout')) + MARGIN_S)


def _watch(item: pytest.Item, seconds: float) -> None:
    told = item.config.stash[fault_handler_stderr_fd_key]
    faulthandler.dump_traceback_later(seconds, file=told, exit=True)


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'
