# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The socket that the MCP server listens on, or why there can be none."""

from __future__ import annotations

import asyncio
import errno
import socket

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server.access import bracketed

BACKLOG = 128


async def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    :raises ConfigurationError: names the parameter at fault.
    """
    unknown = f'mcp.host: {host!r} is no address of this machine'
    if not 0 <= port <= 65535:
        raise ConfigurationError(f'mcp.port: {port} is not a port (0 to 65535)')
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(unknown) from error
    # A name with both gets the one that clients try when they write 127.0.0.1.
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # With SO_REUSEADDR two may bind the same port; only one of them can listen.
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigurationError(unknown) from error
        used = error.errno == errno.EADDRINUSE
        why = 'is in use' if used else f'cannot be used ({error.strerror})'
        raise ConfigurationError(
            f'mcp.port: {bracketed(host)}:{port} {why}; choose another, or 0 for any free one'
        ) from error
    return listener
