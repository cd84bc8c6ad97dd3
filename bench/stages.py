# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a managed call's time goes, read from the journal's own time stamps.

A record is stamped when it is handed to the journal, so a stage ends where the next record begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal import JournalReader

STAGES = (
    'client to recorded: request, HTTP, SDK',
    'recorded to checked: the preconditions',
    'checked to accepted: the start on disk, the goal',
    'accepted to client: the result on disk, SDK, HTTP',
)
NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Call:
    """One accepted call as its client saw it."""

    action_id: str
    sent_ns: int
    """Wall time of the call and, below, of its answer."""
    answered_ns: int


def stages_ms(journal: Path, calls: Sequence[Call]) -> list[tuple[float, ...]]:
    """Return for each call the milliseconds of each stage."""
    with JournalReader(journal) as reader:
        return [_stages(reader, call) for call in calls]


def _stages(reader: JournalReader, call: Call) -> tuple[float, ...]:
    followed = list(reader.events(action_id=call.action_id))
    started = next(one for one in followed if one.type == EventType.ROBOT_ACTION_STARTED)
    of_call = list(reader.events(tool_call_id=started.tool_call_id))
    marks = (
        call.sent_ns,
        _first(of_call, EventType.TOOL_CALL_RECORDED),
        _first(of_call, EventType.ACTION_PRECONDITION_CHECKED),
        # Made as soon as the acceptance is known; the action's own record follows the answer.
        _first(of_call, EventType.TOOL_RESULT_RECORDED),
        call.answered_ns,
    )
    return tuple((end - begin) / NS_PER_MS for begin, end in pairwise(marks))


def _first(events: Sequence[RecordedEvent], kind: EventType) -> int:
    return next(one.wall_time_ns for one in events if one.type == kind)
