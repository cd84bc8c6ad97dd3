# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The dashboard of the node, with a simulated robot over real DDS."""

from __future__ import annotations

import asyncio
from pathlib import Path
import urllib.error
import urllib.request

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from browser_rig import browser, DESK, needs_chromium, watched
from live_robot import live_robot
from mcp import Client
from node_rig import harness
from playwright.async_api import expect

pytestmark = pytest.mark.anyio


@needs_chromium
async def test_a_browser_follows_a_robot_that_a_client_drives(tmp_path: Path) -> None:
    async with (
        live_robot(tmp_path / 'journal.db') as live,
        browser() as chromium,
        watched(chromium, DESK) as shown,
    ):
        page = shown.page
        await page.goto(live.url.removesuffix('mcp'))
        await expect(page.locator('#link')).to_have_text('Live')
        await expect(page.get_by_role('row', name='map pose')).to_contain_text('available')
        robot = page.locator('#map figure > svg > path.robot')
        await robot.wait_for()
        async with Client(live.url) as client:
            answer = await client.call_tool('navigate_to_pose', {'x': 3.0, 'y': 1.0})
            told = answer.structured_content
            assert told is not None
            assert told['status'] == 'accepted', told
            await expect(page.locator('#doing')).to_contain_text('navigate_to_pose')
            await expect(page.locator('#map path.goal').first).to_be_visible()
            await client.call_tool('wait_for_action', {'action_id': told['action_id']})
        ended = page.locator('#timeline > .good').filter(has_text='SUCCEEDED (verified)')
        await expect(ended).to_have_count(1)
        await expect(page.locator('#map g.seen.good')).to_be_visible()
        await page.goto(f'{live.url.removesuffix("mcp")}#/outside')
        await expect(page.locator('#story')).to_contain_text('1 action verified')
        assert shown.complaints == []
        assert len(shown.hosts) == 1


@pytest.mark.parametrize(('enabled', 'status'), [(True, 200), (False, 404)])
async def test_a_parameter_leaves_the_dashboard_out(
    tmp_path: Path, enabled: bool, status: int
) -> None:
    parameters = {'dashboard.enabled': enabled, 'mcp.port': 0}
    with harness(tmp_path / 'j.db', **parameters) as node:
        url = node.says(r'ready: MCP at (\S+)mcp,')[1]
        for path in ('', 'dashboard/app.js', 'dashboard/missions'):
            assert await asyncio.to_thread(_status, url + path) == status, path
        assert node.end() == 0


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20.0) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
