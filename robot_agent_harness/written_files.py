# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The files that users write and parameters name, read in one way: what cannot be read, or is no
file, is refused by name.
"""

from __future__ import annotations

from pathlib import Path
import stat

from robot_agent_harness.errors import ConfigurationError, UnreadableFileError


def read_text(path: Path, named: str) -> str:
    """Return what a file holds.

    :param named: what errors call it, for instance `places_file /home/ann/places.yaml`.
    :raises UnreadableFileError: it is missing, no regular file, or may not be read.
    :raises ConfigurationError: it is not UTF-8; the error's text quotes nothing of the file.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR):
            # To read a pipe would wait for whoever writes it, and a device may have no end.
            raise UnreadableFileError(f'{named}: it is a pipe or a device, not a file')
        return path.read_text(encoding='utf-8')
    except OSError as error:
        raise UnreadableFileError(f'{named}: {error.strerror}') from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f'{named}: not text: not UTF-8 from byte {error.start} on'
        ) from error
