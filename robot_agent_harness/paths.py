# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths as users write them; one that leads nowhere is an OSError like any other."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def expanded(path: Path | str) -> Path:
    """Return a path with its `~` replaced.

    :raises OSError: nobody knows that home.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise OSError(errno.ENOENT, str(error)) from error


def file_in_the_way(folder: Path) -> Path | None:
    """Return the file that stands where a folder or one above it would have to be; None where
    there is none.
    """
    above = (path for path in (folder, *folder.parents) if os.path.lexists(path))
    return next((path for path in above if not path.is_dir()), None)


def resolved(path: Path | str) -> Path:
    """Return a path with its `~` replaced, absolute and without links.

    :raises OSError: nobody knows that home, links lead in a circle, or no file can be named so.
    """
    try:
        return expanded(path).resolve()
    except (RuntimeError, ValueError) as error:
        raise OSError(errno.ELOOP, str(error)) from error
