# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a `tools/call` request carries: arguments, whatever they are, and our keys of `_meta`."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.types import CallToolRequestParams

from robot_agent_harness.mcp_server.argument_bounds import excess
from robot_agent_harness.mcp_server.tools import NEVER_OFFERED

DECISION_KEY = 'robot-agent-harness/decision_snapshot_id'
"""`_meta` key that names the snapshot a decision was made from (CONTRACT, "MCP")."""
IDEMPOTENCY_KEY = 'robot-agent-harness/idempotency_key'
"""`_meta` key under which a repeated request is the same call."""
ID_MAX = 128
"""Longest tool name (MCP 2026-07-28, server/tools), snapshot id and idempotency key, in
characters."""

_unusable_arguments: ContextVar[Any] = ContextVar('_unusable_arguments', default=None)


async def admit_unusable_arguments(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
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


def arguments_of(params: CallToolRequestParams) -> tuple[Any, str | None]:
    """Return the arguments as received, and why they cannot be used, if so."""
    unusable = _unusable_arguments.get()
    arguments = params.arguments if unusable is None else unusable
    if (too_much := excess(arguments)) is not None:
        return f'[not kept: they {too_much}]', f'the arguments {too_much}'
    if params.name in NEVER_OFFERED:
        return arguments, "this tool is for the harness's own model only"
    if unusable is not None:
        kind = 'a text' if isinstance(unusable, str) else f'a {type(unusable).__name__}'
        return arguments, f'the arguments must be an object with the declared keys, not {kind}'
    return arguments, None


def tool_name(asked: str) -> str:
    """Return the name that a call is judged, recorded and carried out under.

    One that is too long is cut so that it is no tool's: never to the name of another tool.
    """
    return asked if len(asked) <= ID_MAX else f'{asked[: ID_MAX - 1]}…'


def named_in_meta(meta: Mapping[str, Any], key: str) -> tuple[str | None, str | None]:
    """Return the text that the request gives under a key, and what is wrong with it, if so."""
    named = meta.get(key)
    if named is None or (isinstance(named, str) and 0 < len(named) <= ID_MAX):
        return named, None
    return None, f'_meta {key} must be a text of 1 to {ID_MAX} characters'
