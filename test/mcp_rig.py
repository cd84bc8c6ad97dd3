# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The real core with a controller that answers at once, served to MCP clients; time stands still.

Run as a program it serves stdio, for tests of a client that starts its server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
import contextlib
from dataclasses import dataclass
import json
from pathlib import Path
import signal
import sys
from types import MappingProxyType
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.assembly import assemble, CONTROLLER, Core
from robot_agent_harness.clock import IdSource
from robot_agent_harness.events import EventType
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.mcp_server import McpServer, McpSettings
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.redaction import shared_redactor
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import Skill, skill, SkillContext
from robot_agent_harness.skills.starter import LISTENING_S
from robot_agent_harness.testing.bench import BenchRobot
from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2

ERAS = ('legacy', '2026-07-28')
"""The two ways in which the SDK's client talks: with a handshake and sessions, and without."""
BOUND_S = 10.0
"""How long any wait in these tests may take."""


@dataclass(slots=True)
class Gate:
    """A tool that starts, waits for the test, and reports progress as the test says."""

    started: asyncio.Event
    go_on: asyncio.Event
    progress: Iterable[float] = ()


@dataclass(slots=True)
class Rig:
    """What a test may touch."""

    core: Core
    clock: FakeClock
    nav2: ScriptableNav2
    robot: BenchRobot
    server: McpServer
    gate: Gate
    journal: Path
    mission_id: str | None = None

    def observe(self, seconds: float = 0.1) -> None:
        """Let time pass and every topic speak."""
        self.clock.advance(seconds)
        for topic in ('odom', 'pose', 'battery'):
            self.robot.publish(topic, self.clock, self.core.builder)

    def arrive(self, x: float, y: float) -> None:
        """Let the controller report success, and then the robot's topics confirm it."""
        self.nav2.result(GoalStatus.SUCCEEDED, {})
        self.robot.place(x, y)
        self.observe()

    def records(self, *types: EventType) -> list[Any]:
        """Return what the journal holds of these types (all of them by default)."""
        with JournalReader(self.journal) as reader:
            return [event for event in reader.events() if not types or event.type in types]

    def calls(self) -> list[dict[str, Any]]:
        """Return the recorded calls' payloads."""
        return [event.payload for event in self.records(EventType.TOOL_CALL_RECORDED)]

    def results(self) -> list[dict[str, Any]]:
        """Return the recorded results' payloads."""
        return [event.payload for event in self.records(EventType.TOOL_RESULT_RECORDED)]

    async def until(self, true: Callable[[], Any]) -> None:
        """Wait until something is so, which no event tells of."""
        with anyio.fail_after(BOUND_S):
            while not true():
                await asyncio.sleep(0.005)

    async def recorded_results(self, count: int) -> list[dict[str, Any]]:
        """Wait until that many results are recorded."""
        with anyio.fail_after(BOUND_S):
            while len(results := self.results()) < count:
                await asyncio.sleep(0.005)
        return results


def gate_skill(gate: Gate) -> Skill:
    """Return the gate as a tool."""

    async def hold(context: SkillContext) -> ToolResult:
        """Hold until the test goes on."""
        gate.started.set()
        await asyncio.wait_for(gate.go_on.wait(), BOUND_S)
        for number in gate.progress:
            if context.progress is not None:
                await context.progress(number, 10.0, f'at {number}')
        return ToolResult(ResultStatus.COMPLETED, 'held')

    return skill(output=CallOutput)(hold)


async def _crash(context: SkillContext) -> ToolResult:
    """Crash."""
    print('a stray line on standard output')
    raise RuntimeError('a secret of the implementation')


@contextlib.asynccontextmanager
async def rig(
    folder: Path,
    *,
    settings: McpSettings | None = None,
    parameters: dict[str, Any] | None = None,
    start: bool = True,
    ids: IdSource | None = None,
    wrap: Callable[[Core], None] = lambda core: None,
    others: Mapping[str, ScriptableNav2] = MappingProxyType({}),
    pages: Callable[[Core, FakeClock], Mapping[str, Any]] = lambda core, clock: {},
) -> AsyncIterator[Rig]:
    """Assemble and serve; everything is closed in the end."""
    journal = folder / 'journal.db'
    clock, nav2 = FakeClock(), ScriptableNav2(accept_after_s=0.0)
    core = assemble(
        check_parameters(parameters or {}),
        clock=clock,
        ids=ids or SequentialIds(),
        journal=MissionJournal.open(journal, clock=clock, inline=True),
        controllers={CONTROLLER: nav2, **others},
        model=None,
    )
    core.dispatcher.active = True
    gate = Gate(asyncio.Event(), asyncio.Event())
    extra = (gate_skill(gate), skill(output=CallOutput)(_crash))
    core.registry._skills.update({entry.name: entry for entry in extra})
    wrap(core)
    made: Rig

    server = McpServer(
        core=core,
        settings=settings or McpSettings(port=0),
        mission_id=lambda: made.mission_id,
        redactor=shared_redactor(),
        pages=pages(core, clock),
    )
    made = Rig(core, clock, nav2, BenchRobot(), server, gate, journal)
    # Long enough up: no call waits for what this robot does not have, such as an emergency stop.
    clock.advance(LISTENING_S)
    made.observe()
    made.observe()
    if start:
        await server.start()
    try:
        yield made
    finally:
        gate.go_on.set()
        await server.stop()
        await core.close(cancel_running=False)


@contextlib.asynccontextmanager
async def connected(
    made: Rig, era: str, *, token: str | None = None, name: str = 'tester', **options: Any
) -> AsyncIterator[Client]:
    """Connect the SDK's own client over HTTP; the rest goes to the client as it is."""
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http:
        transport = streamable_http_client(made.server.url, http_client=http)
        info = Implementation(name=name, version='1.2.3')
        async with Client(
            transport, mode=era, read_timeout_seconds=BOUND_S, client_info=info, **options
        ) as client:
            yield client


class RawClient:
    """JSON-RPC over HTTP by hand, for what the SDK's client would never send."""

    def __init__(self, url: str, era: str, http: httpx2.AsyncClient, name: str) -> None:
        self.url, self.era, self.http = url, era, http
        self.info = {'name': name, 'version': '1'}
        self.headers = {'accept': 'application/json, text/event-stream'}

    @classmethod
    @contextlib.asynccontextmanager
    async def connected(
        cls,
        made: Rig,
        era: str,
        *,
        name: str = 'raw',
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[RawClient]:
        """Open a session where the era has one."""
        async with httpx2.AsyncClient(timeout=BOUND_S) as http:
            raw = cls(made.server.url, era, http, name)
            raw.headers.update(headers)
            if era == 'legacy':
                version = '2025-11-25'
                params = {'protocolVersion': version, 'capabilities': {}, 'clientInfo': raw.info}
                answer = await raw.post(raw.request('initialize', params, 0))
                raw.headers['mcp-session-id'] = answer.headers['mcp-session-id']
                raw.headers['mcp-protocol-version'] = version
                await raw.post({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
            yield raw

    def request(self, method: str, params: dict[str, Any], request_id: Any) -> dict[str, Any]:
        """Return a request of the era."""
        if self.era != 'legacy':
            meta = {
                'io.modelcontextprotocol/protocolVersion': self.era,
                'io.modelcontextprotocol/clientInfo': self.info,
                'io.modelcontextprotocol/clientCapabilities': {},
            }
            params = {**params, '_meta': {**meta, **params.get('_meta', {})}}
        return {'jsonrpc': '2.0', 'id': request_id, 'method': method, 'params': params}

    def headers_for(self, message: dict[str, Any]) -> dict[str, str]:
        """Return the headers that the era asks for."""
        if self.era == 'legacy':
            return self.headers
        routing = {'mcp-protocol-version': self.era, 'mcp-method': message['method']}
        params = message.get('params', {})
        name = params.get('name') or params.get('uri') or params.get('taskId')
        return {**self.headers, **routing, **({'mcp-name': name} if name else {})}

    async def post(self, message: dict[str, Any]) -> httpx2.Response:
        """Send a message and return the whole response."""
        return await self.http.post(self.url, json=message, headers=self.headers_for(message))

    async def call(self, name: str, arguments: Any, request_id: Any = 1, **meta: Any) -> Any:
        """Call a tool and return the JSON-RPC answer."""
        params = {'name': name, 'arguments': arguments, **({'_meta': meta} if meta else {})}
        return answer_of(await self.post(self.request('tools/call', params, request_id)))


def answer_of(response: httpx2.Response) -> Any:
    """Return the JSON-RPC message of a response, which may be an event stream."""
    if response.headers.get('content-type', '').startswith('application/json'):
        return response.json()
    lines = [line for line in response.text.splitlines() if line.startswith('data: ')]
    return json.loads(lines[-1].removeprefix('data: '))


async def _serve_stdio(journal: Path) -> None:
    async with rig(journal, start=False) as made:
        task = asyncio.ensure_future(made.server.serve_stdio())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task


if __name__ == '__main__':
    asyncio.run(_serve_stdio(Path(sys.argv[1])))
