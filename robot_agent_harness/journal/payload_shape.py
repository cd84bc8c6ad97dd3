# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a record's payload has the keys of its type, and of their types."""

from __future__ import annotations

from pydantic import ValidationError

from robot_agent_harness.events import EVENT_MODELS, RecordedEvent

_MODELS = {
    kind.value: (model, frozenset(model.model_fields)) for kind, model in EVENT_MODELS.items()
}


def fault_of_payload(event: RecordedEvent, *, unknown_words: bool = True) -> str | None:
    """Return what is wrong with a payload, with the key; None if it is as it is written.

    Types and keys that this release does not know are no fault: a later one wrote them.

    :param unknown_words: whether a word is a fault that is none of those that a key may have.
    """
    known = _MODELS.get(event.type)
    if known is None:
        return None
    model, names = known
    payload = event.payload
    if not payload.keys() <= names:
        payload = {key: payload[key] for key in payload.keys() & names}
    try:
        model.model_validate(payload, strict=True)
    except ValidationError as error:
        return told(error, unknown_words=unknown_words)
    return None


def told(error: ValidationError, where: str = '', *, unknown_words: bool = True) -> str | None:
    """Return the first fault of those that were found, with the path of its key.

    :param where: the key under which it was found.
    """
    for fault in error.errors(include_url=False):
        if unknown_words or fault['type'] != 'literal_error' or type(fault['input']) is not str:
            path = '.'.join(filter(None, (where, *map(str, fault['loc']))))
            return f'payload {path}: {fault["msg"]}'
    return None
