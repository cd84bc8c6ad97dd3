# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Builds what the model reads: the same inputs give the same text, and its size is bounded.

Every turn's prompt is built anew from the mission, what happened since the last decision, a
compact history and the world; the conversation of earlier turns is never carried over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
import json
from typing import Any

from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.llm.client import ToolSpec

TEXT_MAX = 400
"""Longest free text of one history entry, in characters."""
EVIDENCE_MAX = 1000
"""Longest line of what has happened, in characters: an outcome comes with what was measured."""
INSTRUCTION_MAX = 4000
"""Longest mission instruction that is shown, in characters."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One earlier decision and what came of it."""

    action: str
    """Tool and arguments in short."""
    purpose: str | None
    expected_outcome: str | None
    rationale: str | None
    outcome: str
    """The action's state, or the status of a call that started none."""
    reason: str | None


@cache
def prompt(name: str) -> str:
    """Return a prompt file's text."""
    path = files('robot_agent_harness.llm') / 'prompts' / f'{name}.md'
    return path.read_text(encoding='utf-8').strip()


def user_prompt(
    *,
    instruction: str,
    trigger: str,
    evidence: Sequence[str],
    history: Sequence[HistoryEntry],
    world: str,
    step: int,
    max_steps: int,
) -> str:
    """Return the user prompt of one turn."""
    happened = [f'- {cut(line, EVIDENCE_MAX)}' for line in evidence] or ['- nothing yet']
    past = [f'- {_line(entry)}' for entry in history] or ['- none']
    return '\n'.join(
        [
            '# Mission',
            cut(instruction, INSTRUCTION_MAX),
            '',
            f'# Since your last decision (step {step} of at most {max_steps},'
            f' asked because: {trigger})',
            *happened,
            '',
            '# Earlier decisions, oldest first',
            *past,
            '',
            '# World',
            world,
        ]
    )


def with_intent(spec: ToolSpec) -> ToolSpec:
    """Return a managed tool as the model sees it: purpose and expected outcome are required of
    it.
    """
    schema = dict(spec.input_schema)
    intent = {
        'purpose': {'type': 'string', 'minLength': 1, 'description': 'Why you do this now.'},
        'expected_outcome': {
            'type': 'string',
            'minLength': 1,
            'description': 'What will be observable if it works.',
        },
    }
    schema['properties'] = {**schema.get('properties', {}), **intent}
    schema['required'] = [*schema.get('required', []), *intent]
    return ToolSpec(spec.name, spec.description, schema)


def cut(text: str, limit: int = TEXT_MAX) -> str:
    """Return the text on one line, no longer than the limit."""
    flat = ' '.join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + '…'


def compact(value: Any) -> str:
    """Return a value as short JSON text."""
    return json.dumps(jsonable(value), ensure_ascii=False, separators=(',', ':'))


def _line(entry: HistoryEntry) -> str:
    known = {k: cut(v) for k, v in asdict(entry).items() if isinstance(v, str) and v}
    return compact(known)
