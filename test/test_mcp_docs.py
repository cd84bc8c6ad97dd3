# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The MCP page names everything that there is, and its program runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
import sys

import anyio
from mcp_rig import rig
import pytest

from robot_agent_harness.mcp_server.prompts import PROMPTS
from robot_agent_harness.mcp_server.requests import DECISION_KEY, IDEMPOTENCY_KEY
from robot_agent_harness.mcp_server.resources import LATEST, TEMPLATES
from robot_agent_harness.mcp_server.tools import list_tools
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.skills.result import ResultStatus

PAGE = (Path(__file__).parents[1] / 'docs' / 'mcp.md').read_text(encoding='utf-8')


def test_every_tool_and_argument_is_documented() -> None:
    for tool in list_tools(load_registry(config_path('skills.yaml'))):
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f'| `{tool.name}`')]
        for argument in tool.input_schema['properties']:
            assert f'`{argument}`' in row


@pytest.mark.parametrize('status', ResultStatus)
def test_every_status_is_documented(status: ResultStatus) -> None:
    assert f'`{status.value}`' in PAGE


def test_every_resource_and_meta_key_is_documented() -> None:
    for uri in (LATEST.uri, *(template.uri_template for template in TEMPLATES)):
        assert f'| `{uri}`' in PAGE
    for key in (DECISION_KEY, IDEMPOTENCY_KEY):
        assert f'`{key}`' in PAGE


def test_every_prompt_is_documented() -> None:
    for prompt in PROMPTS:
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f'| `{prompt.name}`')]
        for argument in prompt.arguments or ():
            assert f'`{argument.name}`' in row


def test_every_method_of_a_task_is_documented() -> None:
    for method in ('tasks/get', 'tasks/update', 'tasks/cancel'):
        assert f'| `{method}`' in PAGE


@pytest.mark.anyio
async def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    program = PAGE.split('```python\n')[1].split('```')[0]
    async with rig(tmp_path) as made:
        here = program.replace('http://127.0.0.1:8642/mcp', made.server.url)
        process = await asyncio.create_subprocess_exec(
            sys.executable, '-c', here, stdout=asyncio.subprocess.PIPE
        )
        with anyio.fail_after(60.0):
            while not made.nav2.sent:
                await asyncio.sleep(0.01)
            _, goal = made.nav2.sent[0]
            made.arrive(goal['x'], goal['y'])
            output, _ = await process.communicate()
    first, second = output.decode().splitlines()
    assert first.startswith('accepted ')
    assert second == 'SUCCEEDED verified'
