# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where an export is written to: a file that appears whole or not at all, or standard output."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import sys
import tempfile
from typing import BinaryIO

from robot_agent_harness.errors import ConfigurationError

STDOUT = '-'
_BESIDE = ('', '-wal', '-shm', '.lock')
"""The files of a journal."""


@contextlib.contextmanager
def output_file(target: Path | str, journal: Path) -> Iterator[BinaryIO]:
    """Yield a stream; at the end of the body what was written becomes the file, with mode 0600.

    A journal is private, and so is what is taken out of it. If the body raises, an older file of
    that name stays as it was.

    :param target: the file; `-` = standard output.
    :param journal: must not be overwritten.
    :raises ConfigurationError: the file cannot be written.
    """
    if str(target) == STDOUT:
        stream = sys.stdout.buffer
        yield stream
        stream.flush()
        return
    path = Path(target).expanduser()
    if path.resolve() in [journal.with_name(journal.name + suffix) for suffix in _BESIDE]:
        raise ConfigurationError(f'output {path}: that is the journal itself')
    if path.is_dir():
        raise ConfigurationError(f'output {path}: that is a folder')
    try:
        with _direct(path) if path.exists() and not path.is_file() else _whole(path) as file:
            yield file
    except OSError as error:
        raise ConfigurationError(f'output {path}: {error.strerror}') from error


@contextlib.contextmanager
def _direct(path: Path) -> Iterator[BinaryIO]:
    """Yield a device or a pipe: replacing it would take /dev/null from the whole machine."""
    with path.open('wb') as file:
        yield file


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Yield a file beside the wanted one, and put it in its place at the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with os.fdopen(handle, 'wb') as file:
            yield file
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
