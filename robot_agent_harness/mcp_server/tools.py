# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills as MCP tools, and their results as MCP results.

Schemas are made once: a call costs no schema work. `structuredContent` is the recorded result; the
text beside it is for clients and models that read only text.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations

from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.result import ToolResult
from robot_agent_harness.skills.skill import Skill

NEVER_OFFERED = frozenset({'finish_mission'})
"""Tools of the harness's own model loop (CONTRACT, "MCP")."""


def list_tools(registry: SkillRegistry) -> list[Tool]:
    """Return all tools in the registry's order, also those that are not offered now."""
    return [_tool(skill) for skill in registry.all if skill.name not in NEVER_OFFERED]


def _tool(skill: Skill) -> Tool:
    return Tool(
        name=skill.name,
        title=skill.title,
        description=skill.description,
        input_schema=skill.input_schema,
        output_schema=skill.output_schema,
        annotations=ToolAnnotations(
            title=skill.title,
            read_only_hint=skill.read_only,
            # Whatever is not read-only starts or ends the motion of a machine.
            destructive_hint=not skill.read_only,
            idempotent_hint=skill.managed is None and (skill.read_only or skill.idempotent),
            open_world_hint=False,
        ),
    )


def call_result(result: ToolResult, *, max_text_bytes: int) -> CallToolResult:
    """Return a call's one result as MCP sends it."""
    structured = jsonable(result.structured)
    return CallToolResult(
        content=_content(structured, max_text_bytes),
        structured_content=structured,
        is_error=result.is_error,
    )


def _content(structured: dict[str, Any], max_bytes: int) -> list[ContentBlock]:
    """Return the message, and beside it the facts as compact JSON, within the bound."""
    facts = {
        key: value
        for key, value in structured.items()
        if key != 'message' and value is not None and value != {}
    }
    message = _cut(structured['message'], max_bytes // 2)
    left = max_bytes - len(message.encode())
    content: list[ContentBlock] = [TextContent(text=message)]
    if len(facts) > 1:  # a status alone says no more than the message
        content.append(TextContent(text=_compact(facts, left)))
    return content


def _compact(facts: dict[str, Any], max_bytes: int) -> str:
    """Return the facts as JSON; where they are too many, the largest are left out and named."""
    text = _json(facts)
    omitted: list[str] = []
    while len(text.encode()) > max_bytes and len(facts) > 1:
        largest = max(facts.keys() - {'status'}, key=lambda key: len(_json(facts[key])))
        del facts[largest]
        omitted.append(largest)
        text = _json({**facts, 'omitted': omitted})
    return text


def _json(value: Any) -> str:
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


def _cut(text: str, max_bytes: int) -> str:
    raw = text.encode('utf-8', 'backslashreplace')
    if len(raw) <= max_bytes:
        return raw.decode()
    return raw[: max_bytes - 3].decode('utf-8', 'ignore') + '...'
