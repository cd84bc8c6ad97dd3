# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What would have been decided otherwise, and where the recording can say so no longer.

The inputs of then are given again. They answer what was asked and sent then: from the first thing
on that would have been sent, refused or told to the model otherwise, the robot and the model
might have gone on otherwise too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
import json
from typing import Any

from robot_agent_harness.events import EventType
from robot_agent_harness.replay.replaying import RunReplay

_E = EventType
NOT_REACHED = 'not reached'


@dataclass(frozen=True, slots=True)
class Change:
    """One check, result or outcome that would be another."""

    what: str
    """`check`, `result`, `outcome` or `mission`."""
    about: str
    """The id of the call, the action or the mission."""
    name: str
    """The tool or skill, or what the mission was to do."""
    recorded: str
    now: str
    why: str
    """What was measured and what the limit is now, or in words."""
    at_s: float
    """Seconds since the beginning of the run."""
    answered: bool
    """Whether the recording vouches for it; else it holds if all had gone on as it did."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What changes in one run."""

    changes: tuple[Change, ...]
    known_until_s: float | None
    """Seconds since the beginning of the run; None: the recording answers all of it."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    told: str
    why: str
    at_ns: int
    place: int
    """How many records came before it."""
    name: str = ''


_Key = tuple[str, str]


def compare(replay: RunReplay) -> WhatIf:
    """Say what would change; `replay` was made with other parameters."""
    origin_ns = replay.recording.origin_ns
    then = dict(_verdicts(_recorded(replay)))
    now = dict(_verdicts(_made(replay)))
    changes = []
    for key in [*then, *(key for key in now if key not in then)]:
        before, after = then.get(key), now.get(key)
        if before is not None and after is not None and before.told == after.told:
            continue
        times = [verdict.at_ns for verdict in (before, after) if verdict is not None]
        seen = after or before
        assert seen is not None
        changes.append((min(times), key, before, after, seen))
    changes.sort(key=lambda change: (change[0], change[4].place))
    until_ns = changes[0][0] if changes else None
    answered = _answered(replay, changes[0][3]) if changes else 0
    return WhatIf(
        tuple(
            Change(
                what,
                about,
                (before or seen).name,
                NOT_REACHED if before is None else before.told,
                NOT_REACHED if after is None else after.told,
                seen.why,
                round((at_ns - origin_ns) / 1e9, 3),
                number == 0 or (after is not None and after.place < answered),
            )
            for number, (at_ns, (what, about), before, after, seen) in enumerate(changes)
        ),
        None if until_ns is None else round((until_ns - origin_ns) / 1e9, 3),
    )


def _answered(replay: RunReplay, first: _Verdict | None) -> int:
    """Return the place of the first record after the first change that came from outside."""
    if first is None:
        return 0
    for place, (_, row) in enumerate(replay.made):
        if place > first.place and row.type in _FROM_OUTSIDE:
            return place
    return len(replay.made)


_FROM_OUTSIDE = frozenset(
    kind.value
    for kind in (
        _E.CONTROLLER_EVENT_RECEIVED,
        _E.MODEL_RESPONSE_RECORDED,
        _E.SALIENT_EVENT,
        _E.TOOL_CALL_RECORDED,
    )
)


_Record = tuple[int, str, dict[str, str], dict[str, Any]]


def _recorded(replay: RunReplay) -> Iterator[_Record]:
    for record, at_ns in zip(replay.recording.records, replay.recording.steady_ns, strict=True):
        yield at_ns, record.type, _ids(record), record.payload


def _made(replay: RunReplay) -> Iterator[_Record]:
    for at_ns, row in replay.made:
        yield at_ns, row.type, _ids(row), json.loads(row.payload)


def _ids(row: Any) -> dict[str, str]:
    return {
        'call': row.tool_call_id or '',
        'action': row.action_id or '',
        'mission': row.mission_id or '',
    }


def _verdicts(records: Iterator[_Record]) -> Iterator[tuple[_Key, _Verdict]]:
    names: dict[str, str] = {}
    for place, (at_ns, kind, ids, payload) in enumerate(records):
        if kind == _E.TOOL_CALL_RECORDED:
            names[ids['call']] = payload['name']
        elif kind == _E.ROBOT_ACTION_STARTED:
            names[ids['action']] = payload['skill']
        elif kind == _E.MISSION_STARTED:
            names[ids['mission']] = payload['instruction']
        tell = _TELLERS.get(kind)
        if tell is not None:
            what, about, told, why = tell(ids, payload)
            yield (what, about), _Verdict(told, why, at_ns, place, names.get(about, ''))


def _check(ids: dict[str, str], payload: dict[str, Any]) -> tuple[str, str, str, str]:
    failed = [check for check in payload['checks'] if not check['ok']]
    told = ', '.join(check['name'] for check in failed) or 'ok'
    why = '; '.join(f'{c["name"]} {c["measured"]} (limit {c["limit"]})' for c in failed)
    return 'check', ids['call'], told, why


def _result(ids: dict[str, str], payload: dict[str, Any]) -> tuple[str, str, str, str]:
    return 'result', ids['call'], payload['status'], payload['structured'].get('message', '')


def _outcome(ids: dict[str, str], payload: dict[str, Any]) -> tuple[str, str, str, str]:
    evidence = payload['evidence']
    measured = [
        f'{name} {evidence[name]} (tolerance {evidence.get(limit)})'
        for name, limit in (
            ('position_error_m', 'position_tolerance_m'),
            ('yaw_error_rad', 'yaw_tolerance_rad'),
        )
        if evidence.get(name) is not None
    ]
    why = '; '.join([str(evidence.get('why', '')), *measured])
    return 'outcome', ids['action'], f'{payload["state"]} {payload["reason"]}', why


def _mission(ids: dict[str, str], payload: dict[str, Any]) -> tuple[str, str, str, str]:
    told = f'{payload["outcome"]} {payload["reason"]}'
    return 'mission', ids['mission'], told, payload['summary']


_Teller = Callable[[dict[str, str], dict[str, Any]], tuple[str, str, str, str]]
_TELLERS: dict[str, _Teller] = {
    _E.ACTION_PRECONDITION_CHECKED.value: _check,
    _E.TOOL_RESULT_RECORDED.value: _result,
    _E.ROBOT_ACTION_OUTCOME.value: _outcome,
    _E.MISSION_ENDED.value: _mission,
}
