# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the MCP server listens, what it accepts, and who may talk to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import ipaddress
from pathlib import Path
import stat
from typing import Any, Protocol

from robot_agent_harness.errors import ConfigurationError

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class McpSettings:
    """Bounds of the MCP server; host, port and token file are the `mcp.*` parameters."""

    host: str = '127.0.0.1'
    """Address to listen on; one that others can reach needs a token."""
    port: int = 8642
    """TCP port; 0 takes any free one."""
    token_file: Path | None = None
    """File whose first line is the bearer token that requests must carry; None asks for none."""
    max_body_bytes: int = 1 * _MIB
    """Largest request; a longer one gets 413 before it is parsed."""
    max_text_bytes: int = 8192
    """Largest text content of a tool result; what is left out is named in it."""
    max_resource_bytes: int = 256 * 1024
    """Largest resource; a longer event list is cut, and says where to go on."""
    max_connections: int = 128
    """Connections at once; a further one gets 503."""
    max_sessions: int = 128
    """Sessions at once (protocol revisions up to 2025-11-25); a further one gets 503."""
    session_idle_s: float = 1800.0
    """Seconds without a request after which a session is closed."""

    @property
    def loopback_only(self) -> bool:
        """Whether nobody outside this machine can reach the host."""
        if self.host == 'localhost':
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def read_token(self) -> str | None:
        """Return the token that requests must carry, or None where none is asked for.

        :raises ConfigurationError: the file cannot be used, or others can reach us without one.
        """
        if self.token_file is None:
            if self.loopback_only:
                return None
            raise ConfigurationError(
                f'mcp.token_file: mcp.host is {self.host}, which others can reach; name a file'
                ' that holds a token, or listen on 127.0.0.1'
            )
        return _read_token(self.token_file)


def _read_token(path: Path) -> str:
    try:
        path = path.expanduser()
        mode = path.stat().st_mode
        lines = path.read_text(encoding='utf-8').splitlines()
    except (OSError, RuntimeError, UnicodeError) as error:
        why = getattr(error, 'strerror', None) or 'it is not text'
        raise ConfigurationError(f'mcp.token_file {path}: {why}') from error
    if mode & stat.S_IROTH:
        raise ConfigurationError(
            f'mcp.token_file {path}: everybody on this machine can read it; chmod 600 it'
        )
    token = lines[0].strip() if lines else ''
    if not token:
        raise ConfigurationError(f'mcp.token_file {path}: its first line holds no token')
    if not token.isascii() or not token.isprintable() or ' ' in token:
        # RFC 6750 section 2.1; anything else cannot arrive in a header as it was written.
        raise ConfigurationError(
            f'mcp.token_file {path}: a token is ASCII without spaces (its first line is not)'
        )
    return token


class EventsReader(Protocol):
    """Reads a mission's events from the journal; called on a worker thread."""

    def __call__(self, mission_id: str, after_seq: int, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return at most `limit` events with a `seq` above `after_seq`, in order, JSON-ready."""
        ...
