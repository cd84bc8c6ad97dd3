# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the Messages API demands of a request, checked on its JSON.

These are the rules that a loop around tool calls breaks in practice; the API answers 400 to them.
Content that the stub itself sent must come back as it was, and on an unchanged prefix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import re
from typing import Any

from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.testing.stub_server import Sent

_TOOL_NAME = re.compile(r'[a-zA-Z0-9_-]{1,128}')
_VERSION = re.compile(r'\d{4}-\d{2}-\d{2}')
_SMALLEST_BUDGET = 1024
_KEYS = frozenset(
    (
        *('model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'thinking'),
        *('output_config', 'cache_control', 'metadata', 'stop_sequences', 'stream'),
        *('container', 'diagnostics', 'inference_geo', 'service_tier', 'speed'),
    )
)


def broken_rules(
    body: Any, headers: Mapping[str, str] | None = None, sent: Sequence[Sent] = ()
) -> list[str]:
    """Return every rule that a request breaks, as text; empty when it is sound.

    :param headers: lower-case names; None leaves them unchecked.
    :param sent: what went out before.
    """
    problems: list[str] = []
    if headers is not None and not _VERSION.fullmatch(headers.get('anthropic-version', '')):
        problems.append('header anthropic-version: required, a date')
    if not isinstance(body, dict):
        return [*problems, 'body: must be a JSON object']
    problems += [f'{key}: unknown' for key in body if key not in _KEYS]
    if not isinstance(body.get('model'), str) or not body['model']:
        problems.append('model: required')
    if not isinstance(body.get('max_tokens'), int) or body['max_tokens'] < 1:
        problems.append('max_tokens: must be an integer of at least 1')
    if isinstance(body.get('system'), list):
        problems += _blank_texts('system', body['system'])
    problems += _tools(body.get('tools', []))
    problems += _thinking(body)
    messages = body.get('messages')
    if not isinstance(messages, list) or not messages:
        return [*problems, 'messages: at least one is required']
    problems += _roles_and_content(messages)
    if not problems:  # the rest relies on the shape
        problems += _tool_results(messages)
        problems += _replayed(body, sent)
        problems += _begun_with_thinking(body)
    return problems


def _tools(tools: Any) -> list[str]:
    problems = []
    names = [tool.get('name') for tool in tools]
    for index, tool in enumerate(tools):
        where, schema = f'tools.{index}', tool.get('input_schema')
        if not isinstance(tool.get('name'), str) or not _TOOL_NAME.fullmatch(tool['name']):
            problems.append(f'{where}.name: must match {_TOOL_NAME.pattern}')
        elif names.count(tool['name']) > 1:
            problems.append(f'{where}.name: must be unique')
        if not isinstance(tool.get('description', ''), str):
            problems.append(f'{where}.description: must be text')
        if not isinstance(schema, dict) or schema.get('type') != 'object':
            problems.append(f"{where}.input_schema.type: must be 'object'")
        elif not isinstance(schema.get('properties', {}), dict):
            problems.append(f'{where}.input_schema.properties: must be an object')
        elif not set(schema.get('required', [])) <= set(schema.get('properties', {})):
            problems.append(f'{where}.input_schema.required: names a property that is not there')
    return problems


def _thinking(body: Mapping[str, Any]) -> list[str]:
    thinking, choice = body.get('thinking') or {}, body.get('tool_choice') or {}
    problems = []
    if choice and not body.get('tools'):
        problems.append('tool_choice: needs tools')
    on = thinking.get('type') in ('enabled', 'adaptive')
    if on and choice.get('type') in ('any', 'tool'):
        problems.append('thinking: cannot be on when tool_choice forces tool use')
    if thinking.get('type') == 'enabled':
        budget = thinking.get('budget_tokens', 0)
        if not _SMALLEST_BUDGET <= budget < body.get('max_tokens', 0):
            problems.append(
                f'thinking.budget_tokens: must be at least {_SMALLEST_BUDGET} and below max_tokens'
            )
    return problems


def _roles_and_content(messages: Sequence[Any]) -> list[str]:
    problems = []
    for index, message in enumerate(messages):
        where = f'messages.{index}'
        role = message.get('role')
        expected = 'user' if index % 2 == 0 else 'assistant'
        if role != expected:
            problems.append(f'{where}.role: roles must alternate, expected {expected}, is {role}')
        content = message.get('content')
        if isinstance(content, str):
            content = [{'type': 'text', 'text': content}]
        if not content or not all(isinstance(block, dict) for block in content):
            problems.append(f'{where}.content: must not be empty')
            continue
        problems += _blank_texts(where, content)
        if role == 'assistant' and content[-1].get('type') in ('thinking', 'redacted_thinking'):
            problems.append(f'{where}.content: the last block cannot be thinking')
        for block in content:
            if block.get('type') == 'tool_result' and isinstance(block.get('content'), list):
                problems += _blank_texts(f'{where}.tool_result', block['content'])
            if block.get('type') == 'tool_use' and not isinstance(block.get('input'), dict):
                problems.append(f'{where}.tool_use.input: must be an object')
    return problems


def _blank_texts(where: str, blocks: Sequence[Any]) -> list[str]:
    return [
        f'{where}: text blocks must not be empty'
        for block in blocks
        if block.get('type') == 'text' and not _says_something(block)
    ]


def _blocks(message: Mapping[str, Any], kind: str) -> list[Any]:
    content = message['content']
    return [] if isinstance(content, str) else [b for b in content if b.get('type') == kind]


def _tool_results(messages: Sequence[Any]) -> list[str]:
    """Check that each tool use has its one result, at the start of the next message."""
    problems = []
    calls: list[Any] = []
    for index, message in enumerate(messages):
        where = f'messages.{index}'
        results = [block.get('tool_use_id') for block in _blocks(message, 'tool_result')]
        if sorted(results, key=str) != sorted(calls, key=str):
            problems.append(
                f'{where}: each tool_use needs one tool_result in the next message: '
                f'tool_use {calls}, tool_result {results}'
            )
        kinds = [] if isinstance(message['content'], str) else message['content']
        first = [block.get('type') for block in kinds[: len(results)]]
        if any(kind != 'tool_result' for kind in first):
            problems.append(f'{where}: tool_result blocks must come first')
        calls = [block.get('id') for block in _blocks(message, 'tool_use')]
        if len(set(calls)) != len(calls):
            problems.append(f'{where}: tool_use ids must be unique')
    if calls:
        problems.append(f'messages: tool_use without tool_result: {calls}')
    return problems


def _replayed(body: Mapping[str, Any], sent: Sequence[Sent]) -> list[str]:
    """Check that content which went out comes back unmodified, on the prefix that it answered."""
    problems = []
    for index, message in enumerate(body['messages']):
        origins = [answer for answer in sent if _keys(answer.content) & _keys(message['content'])]
        if message['role'] != 'assistant' or not origins:
            continue
        where = f'messages.{index}'
        same = [origin for origin in origins if _same(message['content'], origin.content)]
        if not same:
            problems.append(
                f'{where}: the blocks of an answer must come back as they were: '
                f'expected {_not_blank(origins[-1].content)}, got {message["content"]}'
            )
            continue
        before = {**body, 'messages': body['messages'][:index]}
        problems += [
            f'{where}: {part} before it changed since the answer'
            for part in ('system', 'tools', 'messages')
            if before.get(part) != same[-1].request.get(part)
        ]
    return problems


def _same(got: list[Any], sent: list[Any]) -> bool:
    """Return whether blocks came back as they went out; an unsound call must be mended."""
    expected = _not_blank(sent)
    ids = [block.get('id') for block in expected]
    return len(got) == len(expected) and all(
        back == block
        or (
            {back.get('type'), block.get('type')} == {'tool_use'}
            and not (
                isinstance(block.get('input'), dict)
                and jsonable(block['input']) == block['input']
                and isinstance(block.get('name'), str)
                and _TOOL_NAME.fullmatch(block['name'])
                and isinstance(block.get('id'), str)
                and ids.count(block['id']) == 1
            )
        )
        for back, block in zip(got, expected, strict=True)
    )


def _begun_with_thinking(body: Mapping[str, Any]) -> list[str]:
    """Check that a tool loop that goes on with a thinking budget began with thinking."""
    first: list[Any] = []
    for message in body['messages']:
        blocks = message['content']
        if message['role'] == 'assistant' and not first and not isinstance(blocks, str):
            first = blocks
        elif message['role'] == 'user' and not _blocks(message, 'tool_result'):
            first = []
    thinks = (body.get('thinking') or {}).get('type') == 'enabled'
    if thinks and first and first[0].get('type') not in ('thinking', 'redacted_thinking'):
        return ['messages: with thinking enabled, the assistant turn must start with thinking']
    return []


def _keys(content: Any) -> set[Any]:
    """Return what identifies the blocks that the API signs or numbers."""
    blocks = [block for block in content if isinstance(block, dict)]
    keys = [block.get('id') or block.get('signature') or block.get('data') for block in blocks]
    return {key for key in keys if isinstance(key, str)}


def _not_blank(content: list[Any]) -> list[Any]:
    return [block for block in content if block.get('type') != 'text' or _says_something(block)]


def _says_something(block: Mapping[str, Any]) -> bool:
    return isinstance(block.get('text'), str) and bool(block['text'].strip())
