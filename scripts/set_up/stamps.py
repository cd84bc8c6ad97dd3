# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a folder was made from: noted last, so that an interrupted run is done again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from set_up import tree


def digest(paths: list[Path]) -> str:
    """Return a digest of the names and contents of files and folders."""
    found = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob('*') if p.is_file()) if path.is_dir() else [path]
        for file in files:
            found.update(f'{file.relative_to(tree.ROOT)}\0'.encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def fresh(folder: Path, key: dict[str, Any]) -> bool:
    """Tell whether a folder was made from exactly this."""
    try:
        return bool(json.loads((folder / tree.STAMP).read_text()) == key)
    except (OSError, ValueError):
        return False


def stamp(folder: Path, key: dict[str, Any]) -> None:
    """Note what a folder was made from."""
    tree.write(folder / tree.STAMP, json.dumps(key, indent=1))


def why(folder: Path, key: dict[str, Any]) -> str:
    """Say what has changed since a folder was made."""
    try:
        old = json.loads((folder / tree.STAMP).read_text())
    except (OSError, ValueError):
        return 'an earlier set-up did not finish'
    names = [name for name in key if old.get(name) != key[name]]
    return 'changed: ' + ', '.join(f'{name}' for name in names)
