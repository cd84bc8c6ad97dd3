# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole core in real time, with a robot that drives, and its dashboard over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driving_robot import DrivingRobot

from robot_agent_harness.dashboard import Dashboard
from robot_agent_harness.events import Event
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.mcp_server import McpServer, McpSettings
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.testing.bench import Bench


@dataclass(slots=True)
class Served:
    """What a test may touch."""

    bench: Bench
    robot: DrivingRobot
    dashboard: Dashboard
    settings: McpSettings
    server: McpServer

    @property
    def url(self) -> str:
        """Where a browser finds the dashboard."""
        return self.server.url.removesuffix('mcp')

    @property
    def host(self) -> str:
        """The only host that its pages may ask."""
        return f'127.0.0.1:{self.server.port}'

    async def record(self, event: Event, *ids: Any) -> int:
        """Put something on record and return its number."""
        (seq,) = await self.bench.core.journal.append((event, *ids))
        return seq

    async def go(self, x: float, y: float) -> str:
        """Send the robot to a place, and return the action's id once it is accepted."""
        result = await self.bench.call('navigate_to_pose', {'x': x, 'y': y})
        return str(result.data['action_id'])

    async def restart(self, *, meanwhile: Any = None) -> None:
        """Stop serving, await something, and serve again at the same address."""
        port = self.server.port
        await self.server.stop()
        if meanwhile is not None:
            await meanwhile
        settings = McpSettings(port=port, token_file=self.settings.token_file)
        self.server = _server(self.bench, self.dashboard, settings)
        await self.server.start()


def _server(bench: Bench, dashboard: Dashboard, settings: McpSettings) -> McpServer:
    return McpServer(
        core=bench.core,
        settings=settings,
        mission_id=lambda: bench.core.harness.mission_id,
        redactor=shared_redactor(),
        pages=dashboard.pages,
        shell=dashboard.shell,
    )


@contextlib.asynccontextmanager
async def served(
    folder: Path,
    *,
    model: ModelClient | None = None,
    tokens: str | None = None,
    settings: McpSettings | None = None,
) -> AsyncIterator[Served]:
    """Assemble, drive and serve; everything is closed in the end.

    :param tokens: the text of the token file, if there is to be one.
    """
    token_file = None
    if tokens is not None:
        token_file = folder / 'tokens'
        token_file.write_text(tokens)
        token_file.chmod(0o600)
    settings = settings or McpSettings(port=0, token_file=token_file)
    async with Bench(folder / 'journal.db', model=model) as bench:
        dashboard = Dashboard(bench.core, clock=bench.clock, redactor=shared_redactor())
        made = Served(
            bench,
            DrivingRobot(bench),
            dashboard,
            settings,
            _server(bench, dashboard, settings),
        )
        await made.server.start()
        driving = asyncio.create_task(made.robot.run())
        try:
            yield made
        finally:
            driving.cancel()
            await made.server.stop()
