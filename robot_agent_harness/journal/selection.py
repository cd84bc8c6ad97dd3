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
    turn_has: tuple[tuple[str, str, str], ...] = ()
    """Only of turns that have a record of a type whose payload has this text under a key."""
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
            kind, column = self._ends()
            terms.append(
                f"{column} NOT IN (SELECT {column} FROM events WHERE type = '{kind}'"
                f' AND {column} IS NOT NULL)'
            )
        for number, (kind, key, text) in enumerate(self.turn_has):
            terms.append(
                f"+turn_id IN (SELECT turn_id FROM events WHERE type = '{kind}'"
                f" AND json_extract(payload, '$.{key}') = :has_{number})"
            )
            values[f'has_{number}'] = text
        return ' AND '.join(terms) or '1', values

    def _ends(self) -> tuple[str, str]:
        (begin,) = self.types
        return ENDS[begin]

    def _end(self) -> str:
        """Return the query for the payload of what ends a row of `events`.

        By type, not by id: the next end is nearly always the right one, while an id may have
        thousands of records.
        """
        kind, column = self._ends()
        return (
            f"SELECT ended.payload FROM events AS ended WHERE ended.type = '{kind}'"
            f' AND ended.seq > events.seq AND +ended.{column} = events.{column}'
            ' ORDER BY ended.seq LIMIT 1'
        )
