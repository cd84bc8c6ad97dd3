# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the set-up says, and how it gives up."""

from __future__ import annotations

import re
from typing import NoReturn

TAIL_LINES = 15
# Noise of a machine's own pip configuration, not of this set-up.
PIP_NOISE = re.compile(r'^WARNING: Location .* is ignored|^\[notice\]|^\s*$')


class SetUpError(Exception):
    """Something is missing; the text says what, and what to install."""


def say(text: str) -> None:
    """Print one progress line."""
    print(f'set-up: {text}', flush=True)


def fail(text: str) -> NoReturn:
    """Give up with one message that says what is missing and what to do."""
    raise SetUpError(text)


def last_line(text: str) -> str:
    """Return the last line that says anything."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else 'no output'


def tail(text: str) -> str:
    """Return the end of a log, without noise."""
    lines = [line for line in text.splitlines() if not PIP_NOISE.match(line)]
    return '\n'.join(f'    {line}' for line in lines[-TAIL_LINES:])
