# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""MCP clients see the tools whose servers are there, and are told when that changes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.subscriptions import ToolsListChanged
from mcp.types import ToolListChangedNotification
from mcp_rig import BOUND_S, connected, ERAS, rig
import pytest

from robot_agent_harness.skills import docking, motion, navigation
from robot_agent_harness.testing import ScriptableNav2

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings('ignore::mcp.MCPDeprecationWarning'),
]
SHIPPED = (
    navigation.navigate_through_poses,
    motion.spin,
    motion.back_up,
    motion.drive_on_heading,
    docking.dock,
    docking.undock,
)


def _away() -> dict[str, ScriptableNav2]:
    """Return servers of all actions that are not there yet."""
    servers = {str(entry.needs): ScriptableNav2() for entry in SHIPPED}
    for server in servers.values():
        server.set_reachable(False)
    return servers


async def _names(client: Any) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_stream_hears_that_a_tool_came(tmp_path: Path) -> None:
    others = _away()
    async with rig(tmp_path, others=others) as made, connected(made, ERAS[1]) as client:
        assert 'spin' not in await _names(client)
        with anyio.fail_after(BOUND_S):
            async with client.listen(tools_list_changed=True) as stream:
                others['spin'].set_reachable(True)
                async for event in stream:
                    assert isinstance(event, ToolsListChanged)
                    break
        assert 'spin' in await _names(client)


async def test_a_session_that_has_listed_the_tools_hears_that_one_went(tmp_path: Path) -> None:
    told = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    others = _away()
    others['spin'].set_reachable(True)
    async with (
        rig(tmp_path, others=others) as made,
        connected(made, 'legacy', message_handler=hear) as client,
    ):
        assert client.server_capabilities.tools.list_changed is True
        assert 'spin' in await _names(client)
        others['spin'].set_reachable(False)
        await asyncio.wait_for(told.wait(), BOUND_S)
        assert 'spin' not in await _names(client)


@pytest.mark.parametrize('entry', SHIPPED, ids=lambda entry: entry.name)
async def test_each_shipped_skill_is_a_destructive_tool_with_bounded_arguments(
    tmp_path: Path, entry: Any
) -> None:
    others = _away()
    async with rig(tmp_path, others=others) as made, connected(made, ERAS[1]) as client:
        others[str(entry.needs)].set_reachable(True)
        (tool,) = [t for t in (await client.list_tools()).tools if t.name == entry.name]
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (
            False,
            True,
        )
        assert 'accepted is not' in (tool.description or '')
        assert tool.output_schema is not None
        assert tool.input_schema['additionalProperties'] is False
        refused = await client.call_tool(entry.name, {'height': 1.0})
        assert refused.structured_content is not None
        assert refused.structured_content['status'] == 'invalid_arguments'
