# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What Chat Completions demand of a request, checked on its JSON.

The strictest of the servers counts in each rule: OpenAI for parameters and results, DeepSeek for
reasoning, vLLM and Ollama for arguments, and the templates of open models for the order of roles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
import re
from typing import Any

from robot_agent_harness.testing.stub_server import Sent

_TOOL_NAME = re.compile(r'[a-zA-Z0-9_-]{1,64}')
_KEYS = frozenset(
    (
        *('model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'stream'),
        *('max_tokens', 'max_completion_tokens', 'reasoning_effort', 'thinking', 'stop', 'seed'),
        *('metadata', 'response_format', 'service_tier', 'store', 'temperature', 'top_p'),
    )
)
_EFFORTS = ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
_REASONING = ('reasoning_content', 'reasoning', 'reasoning_details')
_NEW_LIMIT_ONLY = re.compile(r'(o\d|gpt-[5-9])')
_NO_PARALLEL = re.compile(r'o\d')
_NO_REASONING_WITH_TOOLS = re.compile(r'gpt-(5\.[4-9]|[6-9])')


def broken_rules(
    body: Any, headers: Mapping[str, str] | None = None, sent: Sequence[Sent] = ()
) -> list[str]:
    """Return every rule that a request breaks, as text; empty when it is sound.

    :param headers: lower-case names; None leaves them unchecked.
    :param sent: what went out before.
    """
    problems: list[str] = []
    if headers is not None and not headers.get('authorization', '').startswith('Bearer '):
        problems.append('header authorization: required, Bearer and a key')
    if not isinstance(body, dict):
        return [*problems, 'body: must be a JSON object']
    problems += [f'{key}: unknown' for key in body if key not in _KEYS]
    if not isinstance(body.get('model'), str) or not body['model']:
        problems.append('model: required')
    problems += _limits(body)
    problems += _tools(body.get('tools', []))
    problems += _choices(body)
    messages = body.get('messages')
    if not isinstance(messages, list) or not messages:
        return [*problems, 'messages: at least one is required']
    for index, message in enumerate(messages):
        problems += _message(f'messages.{index}', message)
    if not problems:  # the rest relies on the shape
        problems += _order(messages)
        problems += _replayed(body, sent)
    return problems


def _limits(body: Mapping[str, Any]) -> list[str]:
    limits = {key: body[key] for key in ('max_tokens', 'max_completion_tokens') if key in body}
    problems = [
        f'{key}: must be an integer of at least 1'
        for key, value in limits.items()
        if type(value) is not int or value < 1
    ]
    if len(limits) > 1:
        problems.append('max_tokens: not together with max_completion_tokens')
    if 'max_tokens' in limits and _NEW_LIMIT_ONLY.match(str(body.get('model'))):
        problems.append('max_tokens: use max_completion_tokens with this model')
    return problems


def _tools(tools: Any) -> list[str]:
    problems = []
    functions = [tool.get('function') or {} for tool in tools]
    names = [function.get('name') for function in functions]
    for index, (tool, function) in enumerate(zip(tools, functions, strict=True)):
        where, schema = f'tools.{index}.function', function.get('parameters')
        if tool.get('type') != 'function':
            problems.append(f"tools.{index}.type: must be 'function'")
        if not _is_name(function.get('name')):
            problems.append(f'{where}.name: must match {_TOOL_NAME.pattern}')
        elif names.count(function['name']) > 1:
            problems.append(f'{where}.name: must be unique')
        if not isinstance(function.get('description', ''), str):
            problems.append(f'{where}.description: must be text')
        if not isinstance(schema, dict) or schema.get('type') != 'object':
            problems.append(f"{where}.parameters.type: must be 'object'")
        elif not isinstance(schema.get('properties', {}), dict):
            problems.append(f'{where}.parameters.properties: must be an object')
        elif not set(schema.get('required', [])) <= set(schema.get('properties', {})):
            problems.append(f'{where}.parameters.required: names a property that is not there')
    return problems


def _choices(body: Mapping[str, Any]) -> list[str]:
    model, choice = str(body.get('model')), body.get('tool_choice', 'auto')
    problems = []
    if not body.get('tools'):
        problems += [
            f'{key}: needs tools' for key in ('tool_choice', 'parallel_tool_calls') if key in body
        ]
    if not isinstance(choice, dict) and choice not in ('auto', 'none', 'required'):
        problems.append('tool_choice: must be auto, none, required or a function')
    if 'parallel_tool_calls' in body and _NO_PARALLEL.match(model):
        problems.append('parallel_tool_calls: not supported with this model')
    effort = body.get('reasoning_effort')
    if effort is not None and effort not in _EFFORTS:
        problems.append(f'reasoning_effort: must be one of {", ".join(_EFFORTS)}')
    if body.get('tools') and effort != 'none' and _NO_REASONING_WITH_TOOLS.match(model):
        problems.append("reasoning_effort: must be 'none' beside tools with this model")
    thinks = model.startswith('deepseek') and body.get('thinking') != {'type': 'disabled'}
    if thinks and choice not in ('auto', 'none'):
        problems.append('tool_choice: thinking mode does not support a forced one')
    return problems


def _message(where: str, message: Any) -> list[str]:
    role = message.get('role')
    if role not in ('system', 'developer', 'user', 'assistant', 'tool'):
        return [f'{where}.role: unknown: {role}']
    content, calls = message.get('content'), message.get('tool_calls')
    problems = []
    if role == 'assistant' and 'tool_calls' in message:
        problems += _calls(f'{where}.tool_calls', calls)
    if content is None and calls:
        return problems
    if not isinstance(content, (str, list)) or not content or not _has_content(content):
        problems.append(f'{where}.content: must not be empty')
    return problems


def _has_content(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return all(part.get('type') != 'text' or part.get('text', '').strip() for part in content)


def _calls(where: str, calls: Any) -> list[str]:
    if not isinstance(calls, list) or not calls:
        return [f'{where}: must not be empty']
    problems = []
    if not all(isinstance(call, dict) for call in calls):
        return [f'{where}: must be objects']
    ids = [call.get('id') for call in calls]
    if not all(isinstance(id, str) and id for id in ids) or len(set(ids)) != len(ids):
        problems.append(f'{where}: each needs an id of its own, got {ids}')
    for index, call in enumerate(calls):
        function = call.get('function')
        if call.get('type') != 'function' or not isinstance(function, dict):
            problems.append(f'{where}.{index}: must be a function')
            continue
        if not _is_name(function.get('name')):
            problems.append(f'{where}.{index}.function.name: must match {_TOOL_NAME.pattern}')
        if not isinstance(_read(function.get('arguments')), dict):
            problems.append(f'{where}.{index}.function.arguments: must be an object as JSON text')
    return problems


def _order(messages: Sequence[Any]) -> list[str]:
    """Check that results follow their calls, each once and in order, and that roles alternate."""
    problems = []
    calls: list[str] = []
    before = None
    for index, message in enumerate(messages):
        role, where = message['role'], f'messages.{index}'
        if role in ('system', 'developer') and index:
            problems.append(f'{where}.role: {role} must come first')
        if role == 'tool':
            if not calls or message.get('tool_call_id') != calls.pop(0):
                problems.append(f'{where}.tool_call_id: answers no call, or not in its order')
        elif calls:
            problems.append(f'{where}: tool_calls without a tool message: {calls}')
            calls = []
        if role == before and role in ('user', 'assistant'):
            problems.append(f'{where}.role: roles must alternate, twice {role}')
        if role == 'assistant':
            if before not in ('user', 'tool'):
                problems.append(f"{where}.role: the first message must be the user's")
            calls = [call['id'] for call in message.get('tool_calls', [])]
        before = role
    if calls:
        problems.append(f'messages: tool_calls without a tool message: {calls}')
    if before == 'assistant':
        problems.append("messages: the last one must not be the assistant's")
    return problems


def _replayed(body: Mapping[str, Any], sent: Sequence[Sent]) -> list[str]:
    """Check that a message which went out comes back unmodified, on the prefix it answered."""
    problems = []
    for index, message in enumerate(body['messages']):
        origins = [origin for origin in sent if _ids(origin.content) & _ids(message)]
        if message['role'] != 'assistant' or not origins:
            continue
        origin, where = origins[-1], f'messages.{index}'
        said = origin.content
        problems += [
            f'{where}.{key}: must come back as it was, {said[key]!r}'
            for key in ('content', *_REASONING)
            if said.get(key) and (key != 'content' or _has_content(said[key]))
            if message.get(key) != _in_utf8(said[key])
        ]
        problems += [
            f'{where}.tool_calls: must come back as it was, {call}'
            for call in said['tool_calls']
            if not _calls('', [call]) and call not in message['tool_calls']
        ]
        if any(key in said and key not in message for key in _REASONING):
            problems.append(f'{where}: the reasoning must be passed back, also where it is empty')
        before = {**body, 'messages': body['messages'][:index]}
        problems += [
            f'{where}: {part} before it changed since the answer'
            for part in ('tools', 'messages')
            if before.get(part) != origin.request.get(part)
        ]
    return problems


def _ids(message: Mapping[str, Any]) -> set[str]:
    """Return the ids of a message's calls, which are how one that went out is recognized."""
    calls = message.get('tool_calls')
    ids = [call.get('id') for call in calls or () if isinstance(call, dict)]
    return {id for id in ids if isinstance(id, str) and ids.count(id) == 1}


def _in_utf8(value: Any) -> Any:
    """Return what was sent as it can come back: a lone surrogate has no form in UTF-8."""
    return value.encode('utf-8', 'replace').decode() if isinstance(value, str) else value


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(_TOOL_NAME.fullmatch(name))


def _read(text: Any) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (TypeError, ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f'{name} is not JSON')
