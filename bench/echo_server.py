# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference for MCP: one tool on the SDK's own server over streamable HTTP, no more.

`python bench/echo_server.py [PORT]`.
"""

from __future__ import annotations

import asyncio
import socket
import sys

from mcp.server import MCPServer
import uvicorn

server = MCPServer('echo', log_level='ERROR')


@server.tool()
def echo(text: str) -> str:
    """Return the text."""
    return text


def main() -> None:
    listener = socket.create_server(('127.0.0.1', int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    print(f'ready: MCP at http://127.0.0.1:{listener.getsockname()[1]}/mcp')
    config = uvicorn.Config(server.streamable_http_app(), log_level='error')
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == '__main__':
    main()
