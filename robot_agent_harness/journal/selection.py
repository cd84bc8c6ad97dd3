# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which records of a journal are wanted, as SQL that its indexes answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_agent_harness.events import EventType

_E = EventType

ENDS: dict[str, tuple[str, str]] = {
    _E.TOOL_CALL_RECORDED.value: (_E.TOOL_RESULT_RECORDED.value, 'tool_call_id'),
    _E.ROBOT_ACTION_STARTED.value: (_E.ROBOT_ACTION_OUTCOME.value, 'action_id'),
    _E.MISSION_STARTED.value: (_E.MISSION_ENDED.value, 'mission_id'),
}
"""What begins: the type of its end, and the id that the two share."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Records that match everything given; a field that is None matches all."""

    mission_id: str | None = None
    turn_id: str | None = None
    tool_call_id: str | None = None
    action_id: str | None = None
    types: tuple[str, ...] = ()
    """Any of these; none: every type."""
    outside_missions: bool = False
    """Only records that belong to no mission."""
    before_seq: int | None = None
    """Only records with a lower number."""
    since_ns: int | None = None
    """Recorded at this wall time or later, nanoseconds since the epoch."""
    until_ns: int | None = None
    """Recorded at this wall time or before."""
    payload: Mapping[str, str] = field(default_factory=dict)
    """Keys of the payload and the texts that they must have."""
    end: Mapping[str, str] = field(default_factory=dict)
    """The same of the record that ends what this one begins; of begins alone, see `ENDS`."""
    open: bool = False
    """Only begins without their end."""

    def where(self, span: tuple[int, int] | None = None) -> tuple[str, dict[str, Any]]:
        """Return a condition on `events` and its values.

        :param span: the lowest and highest `seq` within the wall times, where they are known.
        """
        terms: list[str] = []
        values: dict[str, Any] = {}
        # The first one names the index; the plus keeps SQLite from choosing one that finds more.
        for column in ('tool_call_id', 'action_id', 'turn_id', 'mission_id'):
            value = getattr(self, column)
            if value is not None:
                terms.append(f'{"+" if terms else ""}{column} = :{column}')
                values[column] = value
        if self.types:
            names = [f':type{number}' for number in range(len(self.types))]
            values.update({name[1:]: kind for name, kind in zip(names, self.types, strict=True)})
            several = f'IN ({", ".join(names)})' if len(names) > 1 else f'= {names[0]}'
            terms.append(f'{"+" if terms else ""}type {several}')
        if self.outside_missions:
            terms.append('mission_id IS NULL')
        for name, sign in (('since_ns', '>='), ('until_ns', '<=')):
            value = getattr(self, name)
            if value is not None:
                terms.append(f'+wall_time_ns {sign} :{name}')
                values[name] = value
        if self.before_seq is not None:
            terms.append('seq < :before_seq')
            values['before_seq'] = self.before_seq
        if span is not None:
            terms.append('seq BETWEEN :first AND :last')
            values.update(first=span[0], last=span[1])
        for key, text in self.payload.items():
            terms.append(f"json_extract(payload, '$.{key}') = :payload_{key}")
            values[f'payload_{key}'] = text
        for key, text in self.end.items():
            terms.append(f"json_extract(({self._end()}), '$.{key}') = :end_{key}")
            values[f'end_{key}'] = text
        if self.open:
            terms.append(f'({self._end()}) IS NULL')
        return ' AND '.join(terms) or '1', values

    def _end(self) -> str:
        (begin,) = self.types
        kind, column = ENDS[begin]
        return end_of(kind, column, 'payload')


def end_of(kind: str, column: str, wanted: str) -> str:
    """Return the query for the first record of a type after a row of `events`, with its id.

    By type, not by id: the next end is nearly always the right one, while an id may have thousands
    of records.
    """
    return (
        f"SELECT ended.{wanted} FROM events AS ended WHERE ended.type = '{kind}'"
        f' AND ended.seq > events.seq AND +ended.{column} = events.{column}'
        ' ORDER BY ended.seq LIMIT 1'
    )
