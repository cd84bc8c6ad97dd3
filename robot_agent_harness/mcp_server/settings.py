# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the MCP server listens, what it accepts, and who may talk to it."""

from __future__ import annotations

from dataclasses import dataclass
import ipaddress
import os
from pathlib import Path

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server.tokens import ENVIRONMENT_KEY, read_tokens, Token

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class McpSettings:
    """Bounds of the MCP server; host, port and token file are the `mcp.*` parameters."""

    host: str = '127.0.0.1'
    """Address to listen on; one that others can reach needs a token."""
    port: int = 8642
    """TCP port; 0 takes any free one."""
    token_file: Path | None = None
    """File with the bearer tokens of which requests must carry one (`tokens.py`)."""
    max_requests_per_s: float = 200.0
    """Requests a second that one client may go on sending; a further one gets 429. A client is the
    holder of a token or, without one, an address. Twice as many may come at once."""
    receive_s: float = 15.0
    """Seconds in which a request must have come in whole, from the opening of its connection or
    from its first byte on; a slower one gets 408, and its connection is closed."""
    send_s: float = 30.0
    """Seconds for which a client may leave what it was sent unread before its connection is cut;
    a stream on which nothing is sent stays open."""
    keep_alive_s: int = 30
    """Seconds for which a connection stays open between requests: an agent may think longer than
    uvicorn's 5 s."""
    max_body_bytes: int = 1 * _MIB
    """Largest request; a longer one gets 413 before it is parsed."""
    max_text_bytes: int = 8192
    """Largest text content of a tool result; what is left out is named in it."""
    max_resource_bytes: int = 256 * 1024
    """Largest resource; a longer event list is cut, and says where to go on."""
    max_connections: int = 128
    """Connections at once. A further one takes the place of the one that has waited for a request
    for longest, and gets 503 where all are being answered. Streams are connections that are."""
    max_sessions: int = 128
    """Sessions at once (protocol revisions up to 2025-11-25); a further one gets 503. Tokens that
    may only look have half as many, of their own."""
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

    def read_tokens(self) -> tuple[Token, ...]:
        """Return the tokens of which requests must carry one; empty where none is asked for.

        :raises ConfigurationError: they cannot be used, or others can reach us without one.
        """
        tokens = read_tokens(self.token_file, os.environ)
        if not tokens and not self.loopback_only:
            raise ConfigurationError(
                f'mcp.token_file: mcp.host is {self.host}, which others can reach; name a file'
                f' that holds a token (or set {ENVIRONMENT_KEY}), or listen on 127.0.0.1'
            )
        return tokens
