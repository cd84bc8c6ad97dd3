# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the semantic conventions for GenAI and MCP call what the journal records.

(https://github.com/open-telemetry/semantic-conventions-genai.) Payloads may be of any release and
shape: what is absent, or is not what it should be, is None or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_agent_harness.jsonable import canonical_json

OWN = 'robot_agent_harness.'
"""In front of the attributes that the conventions do not have."""
TRANSPORTS = {
    'http': {'network.transport': 'tcp', 'network.protocol.name': 'http'},
    'stdio': {'network.transport': 'pipe'},
}
"""The transport of an MCP client, by its name in the journal."""

Payload = Mapping[str, Any]
Attributes = dict[str, Any]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def of_answer(payload: Payload) -> Attributes:
    """Return the attributes of a model call, without content."""
    model, stop, usage = payload.get('model'), payload.get('stop_reason'), payload.get('usage')
    counts = mapping(usage)
    return {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': payload.get('provider'),
        'gen_ai.request.model': model,
        'gen_ai.response.model': None if payload.get('error') else model,
        'gen_ai.response.id': payload.get('response_id'),
        'gen_ai.response.finish_reasons': [stop] if isinstance(stop, str) else None,
        'gen_ai.usage.input_tokens': _input_tokens(counts),
        'gen_ai.usage.output_tokens': counts.get('output_tokens'),
        'gen_ai.usage.cache_read.input_tokens': counts.get('cache_read_input_tokens'),
        'gen_ai.usage.cache_creation.input_tokens': counts.get('cache_creation_input_tokens'),
    }


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return all tokens of the input: the conventions count those of the cache in."""
    counts = [
        usage.get(name)
        for name in ('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens')
    ]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if isinstance(counts[0], int) else None


def answered(payload: Payload) -> Attributes:
    """Return what the model said and called: content."""
    parts: list[Mapping[str, Any]] = []
    for kind, name in (('reasoning', 'thinking'), ('text', 'rationale')):
        if payload.get(name):
            parts.append({'type': kind, 'content': payload[name]})
    for call in items(payload.get('tool_calls')):
        named = {key: call.get(key) for key in ('id', 'name', 'arguments')}
        parts.append({'type': 'tool_call', **named})
    stop = payload.get('stop_reason')
    message = {'role': 'assistant', 'parts': parts, 'finish_reason': stop}
    return {'gen_ai.output.messages': canonical_json([message])}


def asked(turn: Payload) -> Attributes:
    """Return what the model was asked at the beginning of a turn: content."""
    system, user = (
        {'type': 'text', 'content': str(turn.get(name))}
        for name in ('system_prompt', 'user_prompt')
    )
    return {
        'gen_ai.system_instructions': canonical_json([system]),
        'gen_ai.input.messages': canonical_json([{'role': 'user', 'parts': [user]}]),
    }


def is_mcp(payload: Payload) -> bool:
    """Return whether a call came from an MCP client."""
    return mapping(payload.get('client')).get('kind') == 'mcp'


def method(payload: Payload) -> str:
    """Return the first word of a call's span."""
    return 'tools/call' if is_mcp(payload) else 'execute_tool'


def of_call(payload: Payload) -> Attributes:
    """Return the attributes of a tool call, without content."""
    client = mapping(payload.get('client'))
    told = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': payload.get('name'),
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': client.get('tool_use_id'),
        f'{OWN}client_kind': client.get('kind'),
        f'{OWN}decision_snapshot_id': payload.get('decision_snapshot_id'),
    }
    if is_mcp(payload):
        request_id = client.get('request_id')
        told |= {
            'mcp.method.name': 'tools/call',
            'mcp.session.id': client.get('session'),
            'mcp.protocol.version': client.get('protocol_version'),
            'jsonrpc.request.id': None if request_id is None else str(request_id),
            **TRANSPORTS.get(str(client.get('transport')), {}),
        }
    return told
