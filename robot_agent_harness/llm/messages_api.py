# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Between the seam and the JSON of the Messages API, both ways; no SDK, no network.

A turn's conversation is append-only, and the assistant's blocks go back as they came: signed
thinking that was rebuilt, filtered or moved makes the API refuse the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_agent_harness.errors import ModelError
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.answers import (
    callable_name,
    check_plain,
    check_results,
    checked_calls,
    counts,
    FoundCall,
    joined,
    sendable,
    text_or_none,
)
from robot_agent_harness.llm.client import (
    AssistantMessage,
    Decision,
    Message,
    ModelRequest,
    ToolResultBlock,
    UserMessage,
)

_COMPLETE_STOP_REASONS = frozenset({'tool_use', 'end_turn', 'stop_sequence'})
_THINKING = ('thinking', 'redacted_thinking')


def conversation_body(request: ModelRequest, *, force_tool: bool = False) -> dict[str, Any]:
    """Return system prompt, tools and messages as the API takes them.

    :param force_tool: whether the model must call a tool; never together with thinking.
    :raises ModelError: a tool call of an earlier decision has not got exactly one result.
    """
    body: dict[str, Any] = {'messages': _messages(request.messages)}
    if request.system.strip():
        # The marker covers the tools as well, which come first; what follows changes every turn.
        body['system'] = [
            {
                'type': 'text',
                'text': request.system,
                'cache_control': {'type': 'ephemeral'},
            }
        ]
    if request.tools:
        body['tools'] = [
            {'name': tool.name, 'description': tool.description, 'input_schema': tool.input_schema}
            for tool in request.tools
        ]
        choice = 'any' if force_tool else 'auto'
        body['tool_choice'] = {'type': choice, 'disable_parallel_tool_use': True}
    return body


def decision_from(data: Mapping[str, Any], *, provider: str, model: str) -> Decision:
    """Return what a response says; its calls are usable only if the response is complete.

    :raises ModelError: it is no message, or one that could not be sent back.
    """
    content = data.get('content')
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ModelError('the answer is not a message of the Messages API')
    # What is wrong with a call's arguments is told with the call.
    check_plain({**block, 'input': None} if _is_call(block) else block for block in content)
    stop_reason = text_or_none(data.get('stop_reason'))
    found = [
        FoundCall(block.get('id'), block.get('name'), block.get('input'))
        for block in content
        if _is_call(block)
    ]
    usage = {'input_tokens': 0, 'output_tokens': 0, **counts(data.get('usage'))}
    return Decision(
        tool_calls=checked_calls(found, stop_reason, _COMPLETE_STOP_REASONS),
        rationale=_joined(content, 'text'),
        thinking=_joined(content, 'thinking'),
        stop_reason=stop_reason,
        usage=usage,
        provider=provider,
        model=text_or_none(data.get('model')) or model,
        response_id=text_or_none(data.get('id')),
        raw_content=tuple(content),
    )


def began_without_thinking(conversation: Sequence[Message]) -> bool:
    """Return whether the tool loop that goes on began with an answer that holds no thinking.

    The API takes one thinking configuration in a loop: after a call that was forced, and made
    without thinking, a budget for it is refused.
    """
    first: list[dict[str, Any]] = []
    for message in conversation:
        if isinstance(message, UserMessage):
            first = []
        elif isinstance(message, AssistantMessage) and not first:
            first = _replayed(message.decision)
    return bool(first) and first[0].get('type') not in _THINKING


def _messages(conversation: Sequence[Message]) -> list[dict[str, Any]]:
    check_results(conversation)
    messages: list[dict[str, Any]] = []
    for message in conversation:
        role = 'user'
        blocks: list[dict[str, Any]]
        if isinstance(message, AssistantMessage):
            role = 'assistant'
            blocks = _replayed(message.decision)
        elif isinstance(message, UserMessage):
            blocks = _text_blocks(message.text)
        else:
            blocks = [_result_block(result) for result in message.results]
            blocks += _text_blocks(message.text or '')
        if blocks and messages and messages[-1]['role'] == role:
            messages[-1]['content'].extend(blocks)
        elif blocks:
            messages.append({'role': role, 'content': blocks})
    return messages


def _text_blocks(text: str) -> list[dict[str, Any]]:
    return [{'type': 'text', 'text': sendable(text)}] if text.strip() else []


def _result_block(result: ToolResultBlock) -> dict[str, Any]:
    block: dict[str, Any] = {
        'type': 'tool_result',
        'tool_use_id': result.tool_call_id,
        'is_error': result.is_error,
    }
    content = _text_blocks(result.text)
    return {**block, 'content': content} if content else block


def _replayed(decision: Decision) -> list[dict[str, Any]]:
    """Return the blocks as received, without those that the API gives but does not take back.

    A call that nobody could carry out gets what it lacks: an id, a name, an object of arguments.
    """
    calls = iter(decision.tool_calls)
    blocks = []
    for block in decision.raw_content:
        if _is_call(block):
            call = next(calls)
            arguments = jsonable(call.arguments) if isinstance(call.arguments, dict) else {}
            name = callable_name(call.name)
            block = {**block, 'id': call.id, 'name': name, 'input': arguments}
        if not _is_blank(block):
            blocks.append(sendable(block))
    while blocks and blocks[-1].get('type') in _THINKING:
        blocks.pop()  # an answer cut while thinking; no call depends on it
    return blocks


def _is_call(block: Mapping[str, Any]) -> bool:
    return block.get('type') == 'tool_use'


def _is_blank(block: Mapping[str, Any]) -> bool:
    return block.get('type') == 'text' and text_or_none(block.get('text')) is None


def _joined(content: Sequence[Mapping[str, Any]], kind: str) -> str | None:
    return joined([block.get(kind) for block in content if block.get('type') == kind])
