# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What libraries log is bounded, and says what was left out."""

from __future__ import annotations

from collections.abc import Iterator
import logging

import pytest

from robot_agent_harness.ros.log_flood import (
    CHARACTERS_MAX,
    LibraryFlood,
    LINES_MAX,
    PERIOD_S,
)


class Log:
    """A log whose time the test makes pass."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.lines: list[str] = []
        self.handler = logging.Handler()
        self.handler.emit = lambda record: self.lines.append(record.getMessage())  # type: ignore
        self.handler.addFilter(LibraryFlood(lambda: self.now_s))

    def say(self, who: str, *words: object) -> None:
        logging.getLogger(who).warning(*words)


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    logging.getLogger().addHandler(made.handler)
    yield made
    logging.getLogger().removeHandler(made.handler)


def test_a_flood_of_a_librarys_lines_is_cut_off_and_counted(log: Log) -> None:
    for number in range(LINES_MAX + 1000):
        log.say('uvicorn.error', 'Invalid HTTP request %s', number)
    assert len(log.lines) == LINES_MAX
    log.now_s += PERIOD_S
    log.say('mcp.server', 'again')
    log.say('mcp.server', 'and again')
    assert log.lines[LINES_MAX:] == [
        'again (1000 lines of libraries were left out before)',
        'and again',
    ]


def test_a_librarys_long_line_is_shortened(log: Log) -> None:
    log.say('mcp.server', 'Invalid Host header: %s', 'x' * 15_000)
    (line,) = log.lines
    assert line.startswith('Invalid Host header: xxx')
    assert line.endswith('... (15021 characters)')
    assert len(line) < CHARACTERS_MAX + 40


def test_what_the_package_says_always_gets_through(log: Log) -> None:
    for _ in range(LINES_MAX + 5):
        log.say('uvicorn.error', 'no')
        log.say('robot_agent_harness.journal', 'the journal cannot be written')
    assert log.lines.count('the journal cannot be written') == LINES_MAX + 5
