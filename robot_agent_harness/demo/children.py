# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's child processes: started with a log each, watched, and never left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import contextlib
import ctypes
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

TAIL_LINES = 15
TAIL_BYTES = 16_384
GENTLE_S, FIRM_S = 3.5, 0.5
"""How long a child gets after SIGINT, and then after SIGTERM; Ctrl-C must end all within 5 s."""
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Child:
    """One process with its log."""

    def __init__(
        self, name: str, arguments: Sequence[str], *, log: Path, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = log
        with log.open('wb') as output:
            # A session of its own: Ctrl-C is for the demo, which ends its children in order.
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'robot_agent_harness.cli', *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - no thread runs yet
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def how_ended(self) -> str:
        """How it ended, in words."""
        code = self.exit_code
        if code is None:
            return 'is still running'
        if code < 0:
            return f'was ended by {signal.Signals(-code).name}'
        return f'ended with exit code {code}'

    def tail(self) -> list[str]:
        """Return the last lines of its log."""
        try:
            with self.log.open('rb') as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
                return file.read().decode(errors='replace').splitlines()[-TAIL_LINES:]
        except OSError as error:
            return [f'(the log cannot be read: {error.strerror})']

    def send(self, number: signal.Signals) -> None:
        """Send a signal, to its whole session where it is to be killed."""
        if self.exit_code is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number is signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)


def end_all(children: Sequence[Child]) -> None:
    """End children, all at once, politely first; return when none is left."""
    for number, patience_s in ((signal.SIGINT, GENTLE_S), (signal.SIGTERM, FIRM_S)):
        for child in children:
            child.send(number)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if all(child.exit_code is not None for child in children):
                return
            time.sleep(0.02)
    for child in children:
        child.send(signal.SIGKILL)
    for child in children:
        child._process.wait()


def _end_with_parent() -> None:
    """Have Linux end this process when the demo dies without a chance to do so."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
