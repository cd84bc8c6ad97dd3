# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The skills, snapshots and journal as MCP tools and resources, over HTTP and stdio."""

from robot_agent_harness.mcp_server.server import McpServer
from robot_agent_harness.mcp_server.settings import McpSettings

__all__ = ['McpServer', 'McpSettings']
