# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""How much room a journal has left to grow."""

from __future__ import annotations

from pathlib import Path
import shutil

LOW_BYTES = 500_000_000
"""Below this somebody should make room: a busy robot writes some tens of megabytes a day, and
shares its disk with logs and bags that grow faster."""
FULL_BYTES = 20_000_000
"""Below this the journal is about to fail, and with it everything that moves the robot."""


def free_bytes(folder: Path) -> int:
    """Return how much an ordinary user may still write there.

    :raises OSError: the folder is not there.
    """
    return shutil.disk_usage(folder).free
