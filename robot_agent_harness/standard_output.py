# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Standard output that says so when it takes no more, and is told from every other file.

A pipe whose reader went away, or a full disk, must not pass for a command's answer. Libraries
that print have their own way with a closed pipe (rich exits with 1, which is an answer of
`verify`); the error here is none that they know.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import errno
import io
import os
import sys
from typing import Any


class OutputError(Exception):
    """Standard output takes no more; the text says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.reader_left = isinstance(error, BrokenPipeError)
        """Whether it is a pipe that nobody reads any more."""


class _Output(io.FileIO):
    """The descriptor of standard output; after its first failure it swallows what still comes."""

    _failed = False

    def write(self, data: Any, /) -> int:
        if self._failed:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            raise OutputError(error) from error


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Within the body, printing raises OutputError where standard output takes no more.

    :raises OutputError: also at the end of the body, for what was held until then.
    """
    given = sys.__stdout__
    if given is None:
        raise OutputError(OSError(errno.EBADF, os.strerror(errno.EBADF)))
    if sys.stdout is not given:
        # Somebody in this process reads what is printed.
        yield
        return
    given.flush()
    with io.TextIOWrapper(
        io.BufferedWriter(_Output(given.fileno(), 'wb', closefd=False)),
        encoding=given.encoding,
        errors=given.errors,
        line_buffering=given.line_buffering,
    ) as checked:
        sys.stdout = checked
        try:
            yield
            checked.flush()
        finally:
            sys.stdout = given
