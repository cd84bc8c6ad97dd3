# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where what is told of a journal is written to: a file that appears whole or not at all, or
standard output.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import sys
import tempfile
from typing import BinaryIO

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.paths import expanded, file_in_the_way, resolved

STDOUT = '-'
_BESIDE = ('', '-wal', '-shm', '.lock')
"""The files of a journal."""


PRIVATE = 0o600
"""A journal is private, and so is what is taken out of it."""


@contextlib.contextmanager
def output_file(target: Path | str, journal: Path, *, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """Yield a stream; at the end of the body what was written becomes the file.

    If the body raises, an older file of that name stays as it was.

    :param target: the file; `-` = standard output.
    :param journal: must not be overwritten.
    :param mode: of the file.
    :raises ConfigurationError: the file cannot be written.
    """
    if str(target) == STDOUT:
        stream = sys.stdout.buffer
        yield stream
        stream.flush()
        return
    try:
        path = expanded(target)
        absolute = resolved(target)
    except OSError as error:
        raise ConfigurationError(f'output {target}: {error.strerror}') from error
    if absolute in [journal.with_name(journal.name + suffix) for suffix in _BESIDE]:
        raise ConfigurationError(f'output {path}: that is the journal itself; name another file')
    if path.is_dir():
        raise ConfigurationError(f'output {path}: that is a folder; name a file in it')
    try:
        device = path.exists() and not path.is_file()
        with _direct(path) if device else _whole(path, mode) as file:
            yield file
    except FileNotFoundError as error:
        missing = (
            '' if path.parent.is_dir() else f': there is no folder {absolute.parent}; make it'
        )
        raise ConfigurationError(f'output {path}: {error.strerror}{missing}') from error
    except NotADirectoryError as error:
        raise ConfigurationError(
            f'output {path}: {file_in_the_way(absolute.parent)} is a file, not a folder; name'
            ' another folder'
        ) from error
    except OSError as error:
        raise ConfigurationError(f'output {path}: {error.strerror}') from error


@contextlib.contextmanager
def _direct(path: Path) -> Iterator[BinaryIO]:
    """Yield a device or a pipe: replacing it would take /dev/null from the whole machine."""
    with path.open('wb') as file:
        yield file


@contextlib.contextmanager
def _whole(path: Path, mode: int) -> Iterator[BinaryIO]:
    """Yield a file beside the wanted one, and put it in its place at the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with os.fdopen(handle, 'wb') as file:
            yield file
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
