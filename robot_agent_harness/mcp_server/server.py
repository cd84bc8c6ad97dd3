# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The MCP server: every skill as a tool, the world and the journal as resources, two prompts.

It serves the handshake revisions (up to 2025-11-25) and 2026-07-28 at once. It decides nothing:
every call, also one of a tool that does not exist or with arguments that are none, goes through
the dispatcher, which records it and gives its one result. A client that cancels, or closes the
stream of its request in 2026-07-28, withdraws its call: what has left for the robot goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import json
import sys
from types import MappingProxyType
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp.server import InitializationOptions, NotificationOptions, Server, ServerRequestContext
from mcp.server.extension import compose_tool_call_handler
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.message import SessionMessage
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    INVALID_PARAMS,
    JSONRPCError,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp

from robot_agent_harness import __version__
from robot_agent_harness.actions.lifecycle import RobotAction
from robot_agent_harness.assembly import Core
from robot_agent_harness.mcp_server.clients import GivenSnapshots, identify
from robot_agent_harness.mcp_server.history import History
from robot_agent_harness.mcp_server.http import HttpEndpoint
from robot_agent_harness.mcp_server.progress import Progress
from robot_agent_harness.mcp_server.prompts import PROMPTS, Prompts
from robot_agent_harness.mcp_server.requests import (
    admit_unusable_arguments,
    arguments_of,
    DECISION_KEY,
    IDEMPOTENCY_KEY,
    named_in_meta,
    tool_name,
)
from robot_agent_harness.mcp_server.resources import JSON_TYPE, LATEST, Resources, TEMPLATES
from robot_agent_harness.mcp_server.scopes import may_act, require_act
from robot_agent_harness.mcp_server.settings import McpSettings
from robot_agent_harness.mcp_server.stdio import AnsweredLines, StdinLines
from robot_agent_harness.mcp_server.tasks import MARK, outcome_of, Tasks
from robot_agent_harness.mcp_server.tools import call_result, list_tools
from robot_agent_harness.mcp_server.updates import TOOLS, Updates, URIS_MAX
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.world.projection import project

Context = ServerRequestContext[Any, Any]

FLUSH_S = 0.2
"""How long the end of stdio waits for the client to take what is buffered."""
EVENTS_WAITING_MAX = 64
"""Changes that wait for a client that does not read; then its stream ends, and it listens
again."""
SNAPSHOT_MAX_BYTES = 2048
INSTRUCTIONS = """\
You drive a real robot. accepted means that the controller took the goal, not that the robot \
arrived: follow with wait_for_action, whose SUCCEEDED is verified on the robot's own state. \
UNKNOWN means that nobody can say; look before you go on. A call whose world has changed since \
you looked is refused with precondition_changed and the fresh snapshot: decide again from that. \
The prompt mission_briefing says what this robot can do."""


class _ChangingServer(Server[Any]):
    """Says in its capabilities that its list of tools may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        """Return what a session of the handshake revisions is told."""
        changing = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changing, *args, **kwargs)


class McpServer:
    """Serves MCP clients over HTTP (`start`, `stop`) and over stdio (`serve_stdio`)."""

    def __init__(
        self,
        *,
        core: Core,
        settings: McpSettings,
        mission_id: Callable[[], str | None],
        redactor: Redactor,
        pages: Mapping[str, ASGIApp] = MappingProxyType({}),
        shell: Mapping[str, ASGIApp] = MappingProxyType({}),
    ) -> None:
        """Take the collaborators; nothing is opened yet.

        :param mission_id: the mission that calls belong to, if one is under way.
        :param redactor: takes secrets out of resources, and learns the access tokens.
        :param pages: what is served over HTTP beside MCP, by path, to who may use MCP.
        :param shell: the same for everybody: files that hold nothing of the robot.
        """
        registry = core.registry
        self._core = core
        self._dispatcher = core.dispatcher
        self._mission_id = mission_id
        self._settings = settings
        self._redactor = redactor
        self._given = GivenSnapshots(core.observer.store)
        history = History(core.journal.path)
        self._resources = Resources(
            observer=core.observer,
            board=core.board,
            history=history,
            mission_id=mission_id,
            redactor=redactor,
            max_bytes=settings.max_resource_bytes,
        )
        self._prompts = Prompts(
            registry=registry,
            places=core.places,
            observer=core.observer,
            mission_id=mission_id,
            history=history,
            redactor=redactor,
        )
        self._updates = Updates()
        core.tracker.on_change(self._updates.action_changed)
        core.harness.on_salient(self._updates.world_changed)
        self._listening = ListenHandler(
            self._updates,
            max_subscriptions=settings.max_connections,  # each has one for itself
            max_buffered_events=EVENTS_WAITING_MAX,
        )
        self._tasks = Tasks(
            managed={skill.name for skill in registry.all if skill.managed is not None},
            history=history,
            harness=self,
            max_text_bytes=settings.max_text_bytes,
        )
        tools = list_tools(registry)
        self._acting = {skill.name for skill in registry.all if not skill.read_only}
        self._tools = ListToolsResult(tools=[])
        schemas = {tool.name: tool.input_schema for tool in tools}

        def choose_tools() -> None:
            offered = set(registry.names)
            self._tools = ListToolsResult(tools=[t for t in tools if t.name in offered])

        choose_tools()
        registry.on_change(choose_tools)
        registry.on_change(self._updates.tools_changed)
        self._server: Server[Any] = _ChangingServer(
            'robot_agent_harness',
            title='Robot agent harness',
            version=__version__,
            instructions=INSTRUCTIONS,
            # Without this the SDK lists all tools anew for each call of the 2026 revision.
            get_tool_input_schema=schemas.get,
            on_list_tools=self._list_tools,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        calls = compose_tool_call_handler([self._tasks], self._call_tool)
        self._server.add_request_handler('tools/call', CallToolRequestParams, calls)
        for method in self._tasks.methods():
            self._server.add_request_handler(method.method, method.params_type, method.handler)
        self._server.extensions[self._tasks.identifier] = self._tasks.settings()
        self._server.middleware.append(admit_unusable_arguments)
        self._http = HttpEndpoint(
            self._server, settings, redactor=redactor, pages=pages, shell=shell
        )

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

    def renew_tokens(self) -> None:
        """Read the access tokens again while HTTP is served.

        :raises ConfigurationError: they cannot be read; those that were read before stay good.
        """
        self._http.renew_tokens()

    async def stop(self) -> None:
        """Stop serving HTTP, within 2 s whatever is open."""
        await self._updates.close()
        await self._http.stop()

    async def serve_stdio(self) -> None:
        """Serve the one client on standard input and output until it closes them, or cancelled.

        Meanwhile what the rest of the process writes to standard output goes to standard error.
        """
        lines = AnsweredLines(StdinLines(max_line_bytes=self._settings.max_body_bytes))
        # The SDK wants an anyio file and only iterates over it.
        stdin = cast('anyio.AsyncFile[str]', lines)
        async with stdio_server(stdin=stdin) as (read, write):

            async def answer(error: JSONRPCError) -> None:
                await write.send(SessionMessage(error))

            lines.start(answer)
            try:
                await self._server.run(read, write, self._server.create_initialization_options())
            finally:
                # What is still buffered must not reach the client when its descriptor is restored.
                # One that does not read is not waited for.
                with anyio.move_on_after(FLUSH_S, shield=True):
                    await anyio.to_thread.run_sync(sys.stdout.flush, abandon_on_cancel=True)

    async def _list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            key = identify(context).key
            if key is not None:
                self._updates.add(key, context.session, TOOLS)
        if may_act(context):
            return self._tools
        return ListToolsResult(tools=[t for t in self._tools.tools if t.name not in self._acting])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        name = tool_name(params.name)
        if name in self._acting:
            require_act(context, name)
        caller = identify(context)
        meta = context.meta or {}
        decision_id, bad_decision = named_in_meta(meta, DECISION_KEY)
        key, bad_key = named_in_meta(meta, IDEMPOTENCY_KEY)
        arguments, problem = arguments_of(params)
        mark = {MARK: True} if self._tasks.wanted(context, name) else {}
        call = CallContext(
            client={**caller.record, **mark},
            mission_id=self._mission_id(),
            decision_snapshot_id=decision_id or self._given.newest(caller.key),
            malformed=bad_decision or bad_key or problem,
            idempotency=caller.idempotency(key) if key is not None else None,
            progress=Progress.of(context),
        )
        result = await self._dispatcher.call(name, arguments, call)
        self._note(context, result)
        return call_result(result, max_text_bytes=self._settings.max_text_bytes)

    def _note(self, context: Context, result: ToolResult) -> None:
        """Remember that this client was given the snapshot that a result shows."""
        snapshot_id = result.data.get('snapshot_id')
        if isinstance(snapshot_id, str) and result.data.get('snapshot'):
            self._given.note(identify(context).key, snapshot_id)

    # -- what the tasks need ---------------------------------------------------------------------

    def live(self, action_id: str) -> RobotAction | None:
        """Return an action that is in memory."""
        return self._core.board.get(action_id)

    def shown(self, context: Context, action: RobotAction) -> ToolResult:
        """Return what may be told of an action, with the world that its outcome rests on."""
        result = outcome_of(action)
        data = self._redactor.value(result.data, scope=action.tool_call_id)
        seen_id = action.outcome.verification_snapshot_id if action.outcome else None
        seen = self._core.observer.store.get(seen_id) if seen_id else None
        if seen is not None:
            text = self._redactor.text(project(seen, max_bytes=SNAPSHOT_MAX_BYTES).text)
            data |= {'snapshot_id': seen.snapshot_id, 'snapshot': json.loads(text)}
        told = ToolResult(result.status, self._redactor.text(result.message), data)
        self._note(context, told)
        return told

    async def cancel(self, context: Context, action_id: str) -> None:
        """Ask the controller to cancel, as a recorded call of this client."""
        call = CallContext(client=identify(context).record, mission_id=self._mission_id())
        await self._dispatcher.call('cancel_action', {'action_id': action_id}, call)

    # -- resources and prompts -------------------------------------------------------------------

    async def _list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[LATEST])

    async def _list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def _read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        read = await self._resources.read(uri)
        if read.snapshot_id is not None:
            self._given.note(identify(context).key, read.snapshot_id)
        content = TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=read.text)
        return ReadResourceResult(contents=[content])

    async def _subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        uri = self._resources.changing(str(params.uri))
        self._updates.add(identify(context).key, context.session, uri)
        return EmptyResult()

    async def _unsubscribe(
        self, context: Context, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._updates.remove(identify(context).key, str(params.uri))
        return EmptyResult()

    async def _listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = params.notifications.resource_subscriptions or ()
        if len(uris) > URIS_MAX:
            raise MCPError(INVALID_PARAMS, f'a stream tells of {URIS_MAX} resources at most')
        for uri in uris:
            self._resources.changing(uri)
        # What is acknowledged is what will be told: the other two lists never change.
        never = {'prompts_list_changed': None, 'resources_list_changed': None}
        told = params.notifications.model_copy(update=never)
        return await self._listening(context, params.model_copy(update={'notifications': told}))

    async def _list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=PROMPTS)

    async def _get_prompt(
        self, context: Context, params: GetPromptRequestParams
    ) -> GetPromptResult:
        made = await self._prompts.get(params.name, params.arguments or {})
        if made.snapshot_id is not None:
            self._given.note(identify(context).key, made.snapshot_id)
        message = PromptMessage(role='user', content=TextContent(text=made.text))
        return GetPromptResult(messages=[message])
