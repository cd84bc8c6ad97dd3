# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Builds what the model reads: the same inputs give the same text, and its size is bounded.

Every turn's prompt is built anew from the mission, what happened since the last decision, what is
remembered and the world; the conversation of earlier turns is never carried over. All limits are
UTF-8 bytes of the text as JSON, which is never shorter than the text itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from string import Template

from robot_agent_harness.llm.client import ToolSpec
from robot_agent_harness.llm.planner import Prompt, Situation
from robot_agent_harness.texts import compact, cut, one_line
from robot_agent_harness.world.world_model import HistoryEntry, WorldState

INSTRUCTION_BYTES = 4000
"""Longest mission instruction that is shown."""
TRIGGER_BYTES = 80
EVENT_BYTES = 4000
"""Longest line of what has happened: an outcome with what was measured, or a person's message."""
EVIDENCE_BYTES = 8000
"""All of what has happened: the outcome, and of the rest the newest."""
PLACE_BYTES = 80
OLDER_DETAILS_BYTES = 700
"""What was thought of the decisions before the newest, all together: so little that it is used up
early in a mission, and the prompt grows no more. Their actions and outcomes are always shown."""
DETAILS = ('purpose', 'expected_outcome', 'reason', 'rationale', 'place')
"""The details of a decision, the most telling first."""


@cache
def read_prompt(name: str) -> str:
    """Return a prompt file's text."""
    path = files('robot_agent_harness.llm') / 'prompts' / f'{name}.md'
    return path.read_text(encoding='utf-8').strip()


class MissionPlanner:
    """Tells the model everything: the planner that is used where no other is given."""

    def prompt(self, situation: Situation, *, world: WorldState | None) -> Prompt:
        """Return the prompt of one turn."""
        user = Template(read_prompt('turn')).substitute(
            instruction=one_line(situation.instruction, INSTRUCTION_BYTES),
            step=situation.step,
            max_steps=situation.max_steps,
            trigger=one_line(situation.trigger, TRIGGER_BYTES),
            evidence=_evidence(situation.evidence),
            remembered='- nothing is kept' if world is None else _remembered(world),
            decisions='- none are kept' if world is None else _decisions(world.history),
            world=situation.projection,
        )
        return Prompt(read_prompt('system'), user)


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


def _evidence(lines: Sequence[str]) -> str:
    """Return the first line, which is the outcome if there was one, and of the rest the newest
    that fit, in their order.
    """
    told = [one_line(line, EVENT_BYTES) for line in lines]
    kept = told[:1]
    left = EVIDENCE_BYTES - sum(len(line.encode()) for line in kept)
    for position in range(len(told) - 1, 0, -1):
        left -= len(told[position].encode())
        if left < 0:
            kept.insert(1, f'({position} more are left out here; they are in the journal)')
            break
        kept.insert(1, told[position])
    return '\n'.join(f'- {line}' for line in kept) or '- nothing yet'


def _remembered(world: WorldState) -> str:
    place = world.current_place and cut(world.current_place, PLACE_BYTES)
    return compact(
        {
            'place': place,
            'place_is': 'observed' if world.place_confirmed else 'the last known',
            'activity': world.current_activity,
            'variables': dict(world.variables),
        }
    )


def _decisions(history: Sequence[HistoryEntry]) -> str:
    """Return one record a line: the newest in full, of the others action and outcome, and details
    as far as they fit, the newer ones first.
    """
    left = OLDER_DETAILS_BYTES
    lines: list[str] = []
    for entry in reversed(history):
        record = {'action': entry.action, 'outcome': entry.outcome}
        known = asdict(entry)
        for name in DETAILS:
            if not known[name]:
                continue
            text = cut(known[name], PLACE_BYTES) if name == 'place' else known[name]
            if lines:
                left -= len(compact({name: text}).encode())
            if left < 0:
                break
            record[name] = text
        lines.append(f'- {compact(record)}')
    return '\n'.join(reversed(lines)) or '- none'
