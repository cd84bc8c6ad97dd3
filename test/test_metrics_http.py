# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`/metrics` over HTTP: under the address of MCP, and by the same rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from mcp_rig import BOUND_S, connected, Rig, rig
import pytest

from robot_agent_harness.assembly import Core
from robot_agent_harness.clock import Clock
from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.mcp_server.pages import METRICS, MetricsPage
from robot_agent_harness.metrics import Metrics

pytestmark = pytest.mark.anyio
TOKEN = 'a-token-that-nobody-guesses'
CALLS = 'robot_agent_harness_tool_calls_total{status="completed",tool="list_places"}'


def metrics(core: Core, clock: Clock) -> Mapping[str, Any]:
    tools = [skill.name for skill in core.registry.skills]
    return {METRICS: MetricsPage(Metrics(core.journal, clock=clock, tools=tools).render)}


async def get(made: Rig, method: str = 'GET', **headers: str) -> httpx2.Response:
    url = made.server.url.removesuffix('/mcp') + METRICS
    async with httpx2.AsyncClient(timeout=BOUND_S) as http:
        return await http.request(method, url, headers=headers)


def values(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    return {name: float(value) for name, _, value in (line.rpartition(' ') for line in lines)}


async def test_what_clients_call_is_counted_under_the_same_address(tmp_path: Path) -> None:
    async with rig(tmp_path, pages=metrics) as made:
        async with connected(made, 'legacy') as client:
            for _ in range(3):
                await client.call_tool('list_places', {})
        answer = await get(made)
        assert answer.status_code == 200
        assert answer.headers['content-type'].startswith('text/plain; version=')
        told = values(answer.text)
        assert told[CALLS] == 3.0
        assert told['robot_agent_harness_journal_healthy'] == 1.0
        assert told['robot_agent_harness_journal_last_seq'] == made.core.journal.last_seq


async def test_without_metrics_there_is_no_such_page(tmp_path: Path) -> None:
    async with rig(tmp_path) as made:
        assert (await get(made)).status_code == 404


@pytest.mark.parametrize(
    ('headers', 'status'),
    [
        ({'host': 'robot.example:80'}, 421),
        ({'origin': 'http://evil.example'}, 403),
        ({'host': '127.0.0.1'}, 421),
    ],
)
async def test_host_and_origin_are_checked_as_for_mcp(
    headers: dict[str, str], status: int, tmp_path: Path
) -> None:
    async with rig(tmp_path, pages=metrics) as made:
        assert (await get(made, **headers)).status_code == status
        own = f'http://127.0.0.1:{made.server.port}'
        assert (await get(made, origin=own)).status_code == 200


async def test_where_mcp_asks_for_a_token_so_do_the_metrics(tmp_path: Path) -> None:
    file = tmp_path / 'tokens'
    file.write_text(f'{TOKEN}\n')
    file.chmod(0o600)
    settings = McpSettings(port=0, token_file=file)
    async with rig(tmp_path, settings=settings, pages=metrics) as made:
        for headers in ({}, {'authorization': 'Bearer wrong'}, {'authorization': TOKEN}):
            answer = await get(made, **headers)
            assert answer.status_code == 401
            assert 'robot_agent_harness_' not in answer.text
        assert (await get(made, authorization=f'Bearer {TOKEN}')).status_code == 200


@pytest.mark.parametrize('method', ['POST', 'PUT', 'DELETE', 'OPTIONS'])
async def test_metrics_can_only_be_read(method: str, tmp_path: Path) -> None:
    async with rig(tmp_path, pages=metrics) as made:
        answer = await get(made, method)
        assert (answer.status_code, answer.headers['allow']) == (405, 'GET, HEAD')


async def test_who_reads_too_often_is_held_back_as_for_mcp(tmp_path: Path) -> None:
    settings = McpSettings(port=0, max_requests_per_s=1.0)
    async with rig(tmp_path, settings=settings, pages=metrics) as made:
        codes = [(await get(made)).status_code for _ in range(4)]
    assert codes[0] == 200
    assert codes[-1] == 429


async def test_openmetrics_is_served_to_who_asks_for_it_whatever_else_they_send(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path, pages=metrics) as made:
        answer = await get(made, accept='application/openmetrics-text; version=1.0.0')
        assert answer.headers['content-type'].startswith('application/openmetrics-text')
        assert answer.text.endswith('# EOF\n')
        assert (await get(made, accept='x/\x7f,;q=,,"')).status_code == 200
