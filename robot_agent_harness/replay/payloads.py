# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Refuses records whose payloads are not what the package writes, before anything reads them.

The chain vouches that a record is what was written, not by whom. Behind this check a replay reads
payloads without looking: what fails then is a fault of the code, and is told as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.payload_shape import fault_of_payload, told
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.parameters import check_parameters, PARAMETERS
from robot_agent_harness.replay.errors import ReplayError
from robot_agent_harness.world.recorded import SNAPSHOT

_E = EventType
_PARAMETERS = frozenset(parameter.name for parameter in PARAMETERS)


class _Configuration(BaseModel):
    version: str
    parameters: dict[str, Any]
    skills: dict[str, Any]
    places: dict[str, Any]
    reachable: dict[str, bool]
    use_sim_time: bool


class _Changes(BaseModel):
    parameters: dict[str, Any] = {}
    places: dict[str, Any] = {}


class _Presence(BaseModel):
    reachable: bool


class _OfGoal(BaseModel):
    goal_id: str


class _Response(_OfGoal):
    accepted: bool


class _Feedback(_OfGoal):
    feedback: dict[str, Any]


class _Listed(_OfGoal):
    status: int


class _Status(BaseModel):
    goals: list[_Listed]


class _Result(_Listed):
    payload: dict[str, Any]


class _CancelResponse(_OfGoal):
    return_code: int


class _SendFailed(_OfGoal):
    message: str


class _Answer(BaseModel):
    response: dict[str, Any] = {}
    size_bytes: int = 0


class _Failure(BaseModel):
    code: str
    message: str


class _Check(BaseModel):
    name: str
    ok: bool
    measured: Any
    limit: Any


_Shape = TypeAdapter[Any]
_CHECKS: _Shape = TypeAdapter(list[_Check])
_CONFIGURATIONS: dict[str, _Shape] = {
    'configured': TypeAdapter(_Configuration),
    'reconfigured': TypeAdapter(_Changes),
}
_SAID: dict[str, dict[str, _Shape]] = {
    _E.CONTROLLER_EVENT_RECEIVED.value: {
        'goal_response': TypeAdapter(_Response),
        'feedback': TypeAdapter(_Feedback),
        'status': TypeAdapter(_Status),
        'result': TypeAdapter(_Result),
        'cancel_response': TypeAdapter(_CancelResponse),
        'presence': TypeAdapter(_Presence),
        'send_failed': TypeAdapter(_SendFailed),
    },
    _E.SERVICE_EVENT_RECEIVED.value: {
        'presence': TypeAdapter(_Presence),
        'response': TypeAdapter(_Answer),
        'failed': TypeAdapter(_Failure),
    },
}


def check_payload(record: RecordedEvent, configured: RecordedEvent) -> None:
    """Check that a payload is what the package writes, as deep as a replay reads it.

    :param configured: the record with which its run began, checked.
    :raises ReplayError: it is not; names the record and the key.
    """
    # A word of a later release is a difference, which is told with both sides.
    fault = fault_of_payload(record, unknown_words=False) or _fault_below(record, configured)
    if fault is not None:
        raise ReplayError(f'record {record.seq} ({record.type}): {fault}')


def _fault_below(record: RecordedEvent, configured: RecordedEvent) -> str | None:
    payload = record.payload
    if record.type == _E.WORLD_SNAPSHOT_CAPTURED:
        return _unfit(SNAPSHOT, payload['snapshot'], 'snapshot')
    if record.type == _E.ACTION_PRECONDITION_CHECKED:
        return _unfit(_CHECKS, payload['checks'], 'checks')
    if record.type == _E.HARNESS_STATE_CHANGED and payload['state'] in _CONFIGURATIONS:
        return _unfit_configuration(payload['state'], payload.get('configuration', {}))
    if record.type not in _SAID:
        return None
    event = payload['event']
    shape = _SAID[record.type].get(event)
    if shape is None:
        return f'payload event: this release knows no {event!r}'
    if record.type == _E.CONTROLLER_EVENT_RECEIVED:
        known = configured.payload['configuration']['reachable']
        if payload['controller'] not in known:
            return f'payload controller: the run had no controller {payload["controller"]!r}'
    return _unfit(shape, payload['said'], 'said')


def _unfit_configuration(state: str, configuration: Mapping[str, Any]) -> str | None:
    fault = _unfit(_CONFIGURATIONS[state], configuration, 'configuration')
    if fault is not None:
        return fault
    given = configuration.get('parameters', {})
    try:
        check_parameters({name: value for name, value in given.items() if name in _PARAMETERS})
    except ConfigurationError as error:
        return f'payload configuration: {error}'
    return None


def _unfit(shape: _Shape, value: Any, where: str) -> str | None:
    """Return what keeps a value from being of a shape; None for nothing."""
    try:
        shape.validate_json(canonical_json(value), strict=True)
    except ValidationError as error:
        return told(error, where)
    return None
