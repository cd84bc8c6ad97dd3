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
from robot_agent_harness.llm.client import (
    AssistantMessage,
    Decision,
    Message,
    ModelRequest,
    ToolCall,
    ToolResultBlock,
    ToolResults,
    UserMessage,
)
from robot_agent_harness.llm.profiles import CUT_STOP_REASONS

_COMPLETE_STOP_REASONS = frozenset({'tool_use', 'end_turn', 'stop_sequence'})
_THINKING = frozenset({'thinking', 'redacted_thinking'})


def conversation_body(request: ModelRequest) -> dict[str, Any]:
    """Return system prompt, tools and messages as the API takes them.

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
        body['tool_choice'] = {'type': 'auto', 'disable_parallel_tool_use': True}
    return body


def decision_from(data: Mapping[str, Any], *, provider: str, model: str) -> Decision:
    """Return what a response says; its calls are usable only if the response is complete.

    :raises ModelError: it is no message.
    """
    content = data.get('content')
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ModelError('the answer is not a message of the Messages API')
    stop_reason = data.get('stop_reason')
    return Decision(
        tool_calls=tuple(
            _tool_call(block, stop_reason) for block in content if block.get('type') == 'tool_use'
        ),
        rationale=_joined(content, 'text'),
        thinking=_joined(content, 'thinking'),
        stop_reason=stop_reason,
        usage=_usage(data.get('usage')),
        provider=provider,
        model=data.get('model') or model,
        response_id=data.get('id'),
        raw_content=tuple(content),
    )


def _messages(conversation: Sequence[Message]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for message in conversation:
        results = message.results if isinstance(message, ToolResults) else ()
        if sorted(result.tool_call_id for result in results) != sorted(open_calls):
            raise ModelError(
                f'each tool call needs one result: calls {open_calls}, '
                f'results {[result.tool_call_id for result in results]}'
            )
        open_calls = []
        role = 'user'
        blocks: list[dict[str, Any]]
        if isinstance(message, AssistantMessage):
            role = 'assistant'
            blocks = _replayed(message.decision)
            open_calls = [call.id for call in message.decision.tool_calls]
        elif isinstance(message, UserMessage):
            blocks = _text_blocks(message.text)
        else:
            blocks = [_result_block(result) for result in results]
            blocks += _text_blocks(message.text or '')
        if blocks and messages and messages[-1]['role'] == role:
            messages[-1]['content'].extend(blocks)
        elif blocks:
            messages.append({'role': role, 'content': blocks})
    if open_calls:
        raise ModelError(f'tool calls without a result: {open_calls}')
    return messages


def _text_blocks(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    # A lone surrogate, as a tool may return it, has no UTF-8 form and would fail every attempt.
    return [{'type': 'text', 'text': text.encode('utf-8', 'replace').decode()}]


def _result_block(result: ToolResultBlock) -> dict[str, Any]:
    block: dict[str, Any] = {
        'type': 'tool_result',
        'tool_use_id': result.tool_call_id,
        'is_error': result.is_error,
    }
    content = _text_blocks(result.text)
    return {**block, 'content': content} if content else block


def _replayed(decision: Decision) -> list[dict[str, Any]]:
    """Return the blocks as received, without those that the API gives but does not take back."""
    blocks = [block for block in decision.raw_content if not _is_blank(block)]
    while blocks and blocks[-1].get('type') in _THINKING:
        blocks.pop()  # an answer cut while thinking; no call depends on it
    return blocks


def _is_blank(block: Mapping[str, Any]) -> bool:
    return block.get('type') == 'text' and not str(block.get('text', '')).strip()


def _tool_call(block: Mapping[str, Any], stop_reason: Any) -> ToolCall:
    name, call_id, arguments = block.get('name'), block.get('id'), block.get('input')
    malformed = None
    if stop_reason in CUT_STOP_REASONS:
        malformed = f'truncated: the response was cut ({stop_reason})'
    elif stop_reason not in _COMPLETE_STOP_REASONS:
        malformed = f'not a complete response (stop reason {stop_reason})'
    elif not isinstance(arguments, dict):
        malformed = 'the arguments are not a JSON object'
    elif not isinstance(name, str) or not isinstance(call_id, str):
        malformed = 'the call has no name or no id'
    return ToolCall(str(call_id), str(name), arguments, malformed)


def _joined(content: Sequence[Mapping[str, Any]], kind: str) -> str | None:
    texts = [block.get(kind) for block in content if block.get('type') == kind]
    return '\n'.join(text for text in texts if isinstance(text, str) and text.strip()) or None


def _usage(usage: Any) -> dict[str, int]:
    """Return every count, with the names of nested ones joined by a dot."""
    counts = {'input_tokens': 0, 'output_tokens': 0}
    for name, value in usage.items() if isinstance(usage, dict) else ():
        nested = value.items() if isinstance(value, dict) else ()
        for key, count in [(name, value), *((f'{name}.{part}', item) for part, item in nested)]:
            if isinstance(count, int) and not isinstance(count, bool):
                counts[key] = count
    return counts
