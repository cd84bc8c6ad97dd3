# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The MCP server: every skill as a tool, the world and the journal as resources.

It serves the handshake revisions (up to 2025-11-25) and 2026-07-28 at once. It decides nothing:
every call, also one of a tool that does not exist or with arguments that are none, goes through
the dispatcher, which records it and gives its one result. A client that goes away, or cancels,
ends its own waiting and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
import math
import sys
from typing import Any, cast

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)

from robot_agent_harness import __version__
from robot_agent_harness.actions.board import ActionBoard
from robot_agent_harness.actions.observer import WorldObserver
from robot_agent_harness.mcp_server.clients import GivenSnapshots, identify
from robot_agent_harness.mcp_server.http import HttpEndpoint
from robot_agent_harness.mcp_server.resources import JSON_TYPE, LATEST, Resources
from robot_agent_harness.mcp_server.scopes import may_act, require_act
from robot_agent_harness.mcp_server.settings import EventsReader, McpSettings
from robot_agent_harness.mcp_server.stdio import StdinLines
from robot_agent_harness.mcp_server.tools import call_result, list_tools, NEVER_OFFERED
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.dispatcher import RecordedToolDispatcher
from robot_agent_harness.skills.registry import SkillRegistry

Context = ServerRequestContext[Any, Any]

DECISION_KEY = 'robot-agent-harness/decision_snapshot_id'
"""`_meta` key that names the snapshot a decision was made from (CONTRACT, "MCP")."""
ID_MAX = 128
"""Longest tool name (MCP 2026-07-28, server/tools) and snapshot id, in characters."""
DEPTH_MAX = 32
"""Deepest nesting of arguments; no tool needs more, and code that walks them would overflow."""
PROGRESS_S = 1.0
"""How long a report of progress may wait for a client that does not read."""
INSTRUCTIONS = """\
You drive a real robot. accepted means that the controller took the goal, not that the robot \
arrived: follow with wait_for_action, whose SUCCEEDED is verified on the robot's own state. \
UNKNOWN means that nobody can say; look before you go on. A call whose world has changed since \
you looked is refused with precondition_changed and the fresh snapshot: decide again from that."""

_unusable_arguments: ContextVar[Any] = ContextVar('_unusable_arguments', default=None)


class McpServer:
    """Serves MCP clients over HTTP (`start`, `stop`) and over stdio (`serve_stdio`)."""

    def __init__(
        self,
        *,
        registry: SkillRegistry,
        dispatcher: RecordedToolDispatcher,
        observer: WorldObserver,
        board: ActionBoard,
        settings: McpSettings,
        mission_id: Callable[[], str | None],
        redactor: Redactor,
        events_reader: EventsReader | None = None,
    ) -> None:
        """Take the collaborators; nothing is opened yet.

        :param mission_id: the mission that calls belong to, if one is under way.
        :param redactor: takes secrets out of resources, and learns the access token.
        :param events_reader: reads the journal for `robot://missions/{mission_id}/events`.
        """
        self._dispatcher = dispatcher
        self._mission_id = mission_id
        self._settings = settings
        self._given = GivenSnapshots(observer.store)
        self._resources = Resources(
            observer=observer,
            board=board,
            events_reader=events_reader,
            mission_id=mission_id,
            redactor=redactor,
            max_bytes=settings.max_resource_bytes,
        )
        tools = list_tools(registry)
        self._tools = ListToolsResult(tools=tools)
        self._acting = {skill.name for skill in registry.skills if not skill.read_only}
        schemas = {tool.name: tool.input_schema for tool in tools}
        self._server: Server[Any] = Server(
            'robot_agent_harness',
            title='Robot agent harness',
            version=__version__,
            instructions=INSTRUCTIONS,
            # Without this the SDK lists all tools anew for each call of the 2026 revision.
            get_tool_input_schema=schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        self._server.middleware.append(_admit_unusable_arguments)
        self._http = HttpEndpoint(self._server, settings, redactor=redactor)

    @property
    def port(self) -> int:
        """The TCP port; the one that was found free where the settings say 0."""
        return self._http.port

    @property
    def url(self) -> str:
        """The address for clients on this machine."""
        return self._http.url

    async def start(self) -> None:
        """Serve HTTP; returns once requests are taken.

        :raises ConfigurationError: names the `mcp.*` parameter at fault.
        """
        await self._http.start()

    async def stop(self) -> None:
        """Stop serving HTTP, within 2 s whatever is open."""
        await self._http.stop()

    async def serve_stdio(self) -> None:
        """Serve the one client on standard input and output until it closes them, or cancelled.

        Meanwhile what the rest of the process writes to standard output goes to standard error.
        """
        lines = StdinLines(max_line_bytes=self._settings.max_body_bytes)
        lines.start()
        # The SDK wants an anyio file and only iterates over it.
        stdin = cast('anyio.AsyncFile[str]', lines)
        async with stdio_server(stdin=stdin) as (read, write):
            try:
                await self._server.run(read, write, self._server.create_initialization_options())
            finally:
                # What is still buffered must not reach the client when its descriptor is restored.
                sys.stdout.flush()

    async def _list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        if may_act(context):
            return self._tools
        return ListToolsResult(tools=[t for t in self._tools.tools if t.name not in self._acting])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name in self._acting:
            require_act(context, params.name)
        caller = identify(context)
        decision_id, malformed = _decision(context.meta or {})
        arguments, problem = _arguments(params)
        call = CallContext(
            client=caller.record,
            mission_id=self._mission_id(),
            decision_snapshot_id=decision_id or self._given.newest(caller.key),
            malformed=malformed or problem,
            progress=_Progress.of(context),
        )
        result = await self._dispatcher.call(params.name[:ID_MAX], arguments, call)
        snapshot_id = result.data.get('snapshot_id')
        if isinstance(snapshot_id, str) and result.data.get('snapshot'):
            self._given.note(caller.key, snapshot_id)
        return call_result(result, max_text_bytes=self._settings.max_text_bytes)

    async def _list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[LATEST])

    async def _list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=self._resources.templates)

    async def _read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        read = await self._resources.read(uri)
        if read.snapshot_id is not None:
            self._given.note(identify(context).key, read.snapshot_id)
        content = TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=read.text)
        return ReadResourceResult(contents=[content])


class _Progress:
    """Progress of one call, to the client that asked for it; it only increases (MCP, progress)."""

    def __init__(self, context: Context) -> None:
        self._context: Context | None = context
        self._last = -math.inf

    @classmethod
    def of(cls, context: Context) -> _Progress | None:
        """Return None where the client gave no progress token."""
        asked = (context.meta or {}).get('progress_token') is not None
        return cls(context) if asked else None

    async def __call__(self, progress: float, total: float | None, message: str) -> None:
        if self._context is None or not progress > self._last:
            return
        self._last = progress
        with anyio.move_on_after(PROGRESS_S) as scope:
            await self._context.session.report_progress(progress, total, message)
        if scope.cancelled_caught:
            # It does not read: the call must not wait for it again.
            self._context = None


async def _admit_unusable_arguments(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let a call through whose arguments are no object, so that it is recorded and answered.

    The SDK would refuse it with a protocol error that no model sees and no journal knows.
    """
    params = ctx.params
    if ctx.method != 'tools/call' or not isinstance(params, Mapping):
        return await call_next(ctx)
    arguments = params.get('arguments')
    if arguments is None or isinstance(arguments, dict):
        return await call_next(ctx)
    token = _unusable_arguments.set(arguments)
    try:
        usable = {key: value for key, value in params.items() if key != 'arguments'}
        return await call_next(replace(ctx, params=usable))
    finally:
        _unusable_arguments.reset(token)


def _arguments(params: CallToolRequestParams) -> tuple[Any, str | None]:
    """Return the arguments as received, and why they cannot be used, if so."""
    unusable = _unusable_arguments.get()
    arguments = params.arguments if unusable is None else unusable
    if not _shallow(arguments):
        return f'[nested deeper than {DEPTH_MAX} levels]', 'the arguments are nested too deeply'
    if params.name in NEVER_OFFERED:
        return arguments, "this tool is for the harness's own model only"
    if unusable is not None:
        kind = 'a text' if isinstance(unusable, str) else f'a {type(unusable).__name__}'
        return arguments, f'the arguments must be an object with the declared keys, not {kind}'
    return arguments, None


def _shallow(value: Any) -> bool:
    """Whether the value nests no deeper than DEPTH_MAX; walks without recursion."""
    level = [value]
    for _ in range(DEPTH_MAX):
        nested = [item for item in level if isinstance(item, (dict, list))]
        if not nested:
            return True
        level = [
            item
            for inner in nested
            for item in (inner.values() if isinstance(inner, dict) else inner)
        ]
    return False


def _decision(meta: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the snapshot id that the request names, and what is wrong with it, if so."""
    named = meta.get(DECISION_KEY)
    if named is None or (isinstance(named, str) and 0 < len(named) <= ID_MAX):
        return named, None
    return (
        None,
        f'_meta {DECISION_KEY} must be a snapshot id (text of 1 to {ID_MAX} characters)',
    )
