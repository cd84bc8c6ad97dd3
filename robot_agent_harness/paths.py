# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths as users write them; one that leads nowhere is an OSError like any other."""

from __future__ import annotations

import errno
from pathlib import Path


def expanded(path: Path | str) -> Path:
    """Return a path with its `~` replaced.

    :raises OSError: nobody knows that home.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise OSError(errno.ENOENT, str(error)) from error


def resolved(path: Path | str) -> Path:
    """Return a path with its `~` replaced, absolute and without links.

    :raises OSError: nobody knows that home, links lead in a circle, or no file can be named so.
    """
    try:
        return expanded(path).resolve()
    except (RuntimeError, ValueError) as error:
        raise OSError(errno.ELOOP, str(error)) from error
