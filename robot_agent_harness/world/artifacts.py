# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where images, point clouds and maps go: a directory; a snapshot holds the reference alone."""

from __future__ import annotations

from hashlib import sha256
import os
from pathlib import Path
import tempfile

from robot_agent_harness.world.snapshot import ArtifactRef


class ArtifactStore:
    """Stores bytes under their digest, so that the same bytes are stored once and never change.

    :param directory: where to store; made with mode 0700 if it is not there.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory.expanduser().absolute()

    def put(self, data: bytes, *, media_type: str) -> ArtifactRef:
        """Store the bytes and return a reference to them. Blocks on the disk.

        :raises OSError: the directory cannot be written.
        """
        digest = sha256(data).hexdigest()
        path = self._directory / digest
        if not path.exists():
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(path, data)
        return ArtifactRef(path.as_uri(), media_type, len(data), digest)

    def _write(self, path: Path, data: bytes) -> None:
        """Write beside the place and move there, so that no reader ever sees half a file."""
        descriptor, name = tempfile.mkstemp(dir=self._directory, prefix='.')  # mode 0600
        try:
            with os.fdopen(descriptor, 'wb') as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
