# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What was measured, and on what."""

from __future__ import annotations

import os
from pathlib import Path
import platform
import subprocess
from typing import Any

import psutil


def commit() -> dict[str, Any]:
    """Name the measured state of the package; None where it is no git checkout."""
    root = Path(__file__).resolve().parents[1]

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ['git', '-C', str(root), *arguments], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    measured = ('robot_agent_harness', 'bench')
    changed = git('status', '--porcelain', '--untracked-files=no', '--', *measured)
    return {'commit': git('rev-parse', '--short', 'HEAD'), 'changed': bool(changed)}


def machine() -> dict[str, Any]:
    """Name the machine and what ran on it."""
    return {
        'cpu': _cpu(),
        'cores': os.cpu_count(),
        'memory_gb': round(psutil.virtual_memory().total / 1e9, 1),
        'system': platform.platform(),
        'python': platform.python_version(),
        'ros': os.environ.get('ROS_DISTRO'),
        'rmw': os.environ.get('RMW_IMPLEMENTATION'),
    }


def _cpu() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(':')[2].strip() for line in lines if line.startswith('model name'))
    return next(names, platform.processor())
