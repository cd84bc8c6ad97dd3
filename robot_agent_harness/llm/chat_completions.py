# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Between the seam and the JSON of Chat Completions, both ways; no SDK, no network.

Within a turn the assistant's message goes back as it came, the reasoning with it: DeepSeek refuses
a tool loop without `reasoning_content`, vLLM and OpenRouter read what they sent under their own
names (`reasoning`, `reasoning_details`), and a server that sends none gets none. Only what would
make the request unsound is mended: nulls and empty lists, and calls that nobody could carry out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
from typing import Any

from robot_agent_harness.errors import ModelError
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
    ToolCall,
    UserMessage,
)
from robot_agent_harness.llm.endpoint import refuse_constant

REFUSAL = 'refusal'
"""The stop reason of an answer with a refusal in it; the API itself says `stop`."""

_COMPLETE_STOP_REASONS = frozenset({'tool_calls', 'stop', 'function_call'})
_CALLS = ('tool_calls', 'function_call')
_REASONING = ('reasoning_content', 'reasoning')
_NO_OUTPUT = '(no output)'  # several servers refuse a message without text
_SEAM_NAMES = {'prompt_tokens': 'input_tokens', 'completion_tokens': 'output_tokens'}


def conversation_body(
    request: ModelRequest, *, force_tool: bool = False, parallel_switch: bool = True
) -> dict[str, Any]:
    """Return messages and tools as the API takes them.

    :param force_tool: whether the model must call a tool.
    :param parallel_switch: whether the model takes the parameter that allows one call at most.
    :raises ModelError: a tool call of an earlier decision has not got exactly one result.
    """
    check_results(request.messages)
    messages: list[dict[str, Any]] = []
    if request.system.strip():
        messages.append({'role': 'system', 'content': sendable(request.system)})
    for message in request.messages:
        for entry in _entries(message):
            if entry['role'] == 'user' and messages and messages[-1]['role'] == 'user':
                # The templates of many open models insist on alternating roles.
                messages[-1]['content'] += '\n\n' + entry['content']
            else:
                messages.append(entry)
    body: dict[str, Any] = {'messages': messages}
    if request.tools:
        body['tools'] = [
            {
                'type': 'function',
                'function': {
                    'name': tool.name,
                    'description': tool.description,
                    'parameters': tool.input_schema,
                },
            }
            for tool in request.tools
        ]
        body['tool_choice'] = 'required' if force_tool else 'auto'
        if parallel_switch:
            body['parallel_tool_calls'] = False
    return body


def decision_from(data: Mapping[str, Any], *, provider: str, model: str) -> Decision:
    """Return what a response says; its calls are usable only if the response is complete.

    :raises ModelError: it is no completion, or one that could not be sent back.
    """
    choices = data.get('choices')
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get('message') if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelError('the answer is not a message of the Chat Completions API')
    raw_calls = _raw_calls(message)
    rest = {key: value for key, value in message.items() if key not in _CALLS}
    # What is wrong with a call's arguments is told with the call.
    check_plain([rest, *(_without_arguments(raw) for raw in raw_calls)])
    found = [_found(call) for call in raw_calls]
    stop_reason = text_or_none(choice.get('finish_reason'))
    refusal = text_or_none(message.get('refusal'))
    if refusal:
        stop_reason = REFUSAL
    return Decision(
        tool_calls=checked_calls(found, stop_reason, _COMPLETE_STOP_REASONS),
        rationale=joined([*_texts(message.get('content')), refusal]),
        thinking=next(filter(None, (text_or_none(message.get(key)) for key in _REASONING)), None),
        stop_reason=stop_reason,
        usage=_usage(data.get('usage')),
        provider=provider,
        model=text_or_none(data.get('model')) or model,
        response_id=text_or_none(data.get('id')),
        raw_content=(message,),
    )


def _entries(message: Message) -> list[dict[str, Any]]:
    """Return the messages of the API that one of the seam becomes."""
    if isinstance(message, AssistantMessage):
        return _replayed(message.decision)
    if isinstance(message, UserMessage):
        return _user(message.text)
    results = [
        {
            'role': 'tool',
            'tool_call_id': result.tool_call_id,
            'content': sendable(result.text) if result.text.strip() else _NO_OUTPUT,
        }
        for result in message.results
    ]
    return results + _user(message.text or '')


def _user(text: str) -> list[dict[str, Any]]:
    return [{'role': 'user', 'content': sendable(text)}] if text.strip() else []


def _replayed(decision: Decision) -> list[dict[str, Any]]:
    """Return the message as received, without what the API gives but does not take back."""
    [message] = decision.raw_content
    replayed = {
        key: value
        for key, value in message.items()
        if key not in (*_CALLS, 'refusal') and (value is not None or key in _REASONING)
    }
    calls = [
        _replayed_call(raw, call)
        for raw, call in zip(_raw_calls(message), decision.tool_calls, strict=True)
    ]
    content = message.get('content')
    if not joined(_texts(content)):
        refusal = text_or_none(message.get('refusal'))
        if not calls and not refusal:
            return []  # nothing was said, or the answer was cut while the model was thinking
        content = refusal or _parts_besides_text(content) or None
    replayed |= {'role': 'assistant', 'content': content}
    if calls:
        replayed['tool_calls'] = calls
    return [sendable(replayed)]


def _replayed_call(raw: Any, call: ToolCall) -> dict[str, Any]:
    """Return a call as received; one that nobody could carry out gets what it lacks.

    Servers read the arguments again for the model's template, and fail on what is not an object.
    """
    function = _function(raw)
    arguments = function.get('arguments')
    if not isinstance(call.arguments, dict):
        arguments = '{}'
    elif not isinstance(arguments, str) or not arguments.strip():
        arguments = json.dumps(call.arguments)
    return {
        **(raw if isinstance(raw, dict) else {}),
        'id': call.id,
        'type': 'function',
        'function': {**function, 'name': callable_name(call.name), 'arguments': arguments},
    }


def _raw_calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get('tool_calls')
    legacy = message.get('function_call')
    return [
        *(calls if isinstance(calls, list) else [None] if calls else []),
        # Long out of use, and without an id: not carried out, but answered and on record.
        *([{'function': legacy}] if legacy else []),
    ]


def _function(raw: Any) -> dict[str, Any]:
    function = raw.get('function') if isinstance(raw, dict) else None
    return function if isinstance(function, dict) else {}


def _without_arguments(raw: Any) -> dict[str, Any]:
    """Return what goes back of a call beside its arguments."""
    other = raw if isinstance(raw, dict) else {}
    return {**other, 'function': {**_function(raw), 'arguments': None}}


def _found(raw: Any) -> FoundCall:
    function = _function(raw)
    arguments = function.get('arguments')
    if isinstance(arguments, str):
        try:
            # Several servers send nothing at all for a tool without parameters.
            read = json.loads(arguments.strip() or '{}', parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            read = None
        arguments = read if isinstance(read, dict) else arguments
    call_id = raw.get('id') if isinstance(raw, dict) else None
    return FoundCall(call_id, function.get('name'), arguments)


def _texts(content: Any) -> Sequence[Any]:
    """Return the texts of a message's content, which some servers send in parts."""
    if not isinstance(content, list):
        return [content]
    parts = [part for part in content if isinstance(part, dict)]
    return [part.get('text') for part in parts if part.get('type') == 'text']


def _parts_besides_text(content: Any) -> list[Any]:
    """Return what a message holds though it says nothing, for instance a part with reasoning."""
    parts = content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, dict) and part.get('type') != 'text']


def _usage(usage: Any) -> dict[str, int]:
    found = {_SEAM_NAMES.get(name, name): count for name, count in counts(usage).items()}
    return {'input_tokens': 0, 'output_tokens': 0, **found}
