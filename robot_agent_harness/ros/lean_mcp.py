# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Import the MCP server without the cryptography library, which nothing here uses.

The SDK seals `requestState` with it, which only servers with multi-round-trip tools send; ours has
none. The library is 9 MB of the 150 that the node may have. For the time of the import the four
modules that the SDK takes from it are stand-ins that refuse to work; afterwards the library can be
imported as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import sys
from types import ModuleType
from typing import Any

LIBRARY = 'cryptography'
_PRIMITIVES = f'{LIBRARY}.hazmat.primitives'


class _InvalidTag(Exception):
    """Stands for cryptography.exceptions.InvalidTag."""


class _Absent:
    """Stands for a class that was left out."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError(f'{LIBRARY} was left out: this server seals no requestState')


_STAND_INS: dict[str, tuple[str, type]] = {
    f'{LIBRARY}.exceptions': ('InvalidTag', _InvalidTag),
    f'{_PRIMITIVES}.ciphers.aead': ('AESGCM', _Absent),
    f'{_PRIMITIVES}.hashes': ('SHA256', _Absent),
    f'{_PRIMITIVES}.kdf.hkdf': ('HKDF', _Absent),
}


@contextmanager
def without_cryptography() -> Iterator[None]:
    """Leave the library out of what is imported in the context, unless it is there already."""
    if LIBRARY in sys.modules:
        yield
        return
    for module, (name, stand_in) in _STAND_INS.items():
        made = ModuleType(module)
        setattr(made, name, stand_in)
        sys.modules[module] = made
    try:
        yield
    finally:
        for module in _STAND_INS:
            del sys.modules[module]
