# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands that take their time: each with a log of its own, and one set-up at a time."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import fcntl
import subprocess
import time

from set_up import tree
from set_up.telling import say

PROGRESS_EVERY_S = 10.0

_lock_held: list[int] = []


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Let one set-up at a time work in this tree."""
    with (tree.ROOT / '.set_up.lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say('another set-up is running in this folder; waiting for it ...')
            fcntl.flock(lock, fcntl.LOCK_EX)
        _lock_held[:] = [lock.fileno()]
        yield


class Job:
    """A command that runs with its output in a log, telling now and then that it still goes on."""

    def __init__(self, title: str, command: list[str], log: str, env: dict[str, str]) -> None:
        tree.LOG.mkdir(parents=True, exist_ok=True)
        self.title = title
        self.log = tree.LOG / log
        self.started = time.monotonic()
        say(f'{title} ...')
        with self.log.open('w') as out:
            self.process = subprocess.Popen(
                command,
                cwd=tree.ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                # If we are killed, the next set-up waits until this command has ended as well.
                pass_fds=_lock_held,
            )

    def wait(self) -> None:
        """Wait for the end; raise `CalledProcessError` with the log as its output on failure."""
        while True:
            try:
                code = self.process.wait(PROGRESS_EVERY_S)
            except subprocess.TimeoutExpired:
                say(f'{self.title} ... {time.monotonic() - self.started:.0f} s')
                continue
            if code:
                text = self.log.read_text(errors='replace')
                raise subprocess.CalledProcessError(code, self.title, text)
            return

    def stop(self) -> None:
        """End it if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def run(title: str, command: list[str], log: str, env: dict[str, str]) -> None:
    """Run a job to its end, or end it with us."""
    job = Job(title, command, log, env)
    try:
        job.wait()
    finally:
        job.stop()
