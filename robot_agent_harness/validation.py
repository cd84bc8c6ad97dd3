# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Pydantic's findings in one line that names the key and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from robot_agent_harness.jsonable import jsonable

FINDINGS_MAX = 5
VALUE_MAX = 60
VALUE_DEPTH = 3
_MAPPINGS = ('dict_type', 'model_type', 'model_attributes_type')
_NO_MAPPING = 'must be names with their values'
"""What pydantic says names our classes."""


def explain(
    error: ValidationError, where: Callable[[tuple[int | str, ...]], str] = lambda keys: ''
) -> str:
    """Return the first findings as `key: what is wrong (got value)`, separated by semicolons.

    :param where: what is said in front of a finding's keys.
    """
    findings = error.errors(include_url=False, include_context=False)
    told = []
    for finding in findings[:FINDINGS_MAX]:
        key = '.'.join(str(part) or "''" for part in finding['loc']) or 'value'
        at = f'{where(finding["loc"])}{key}'
        if finding['type'] == 'extra_forbidden':
            told.append(f'{at}: unknown key')
        elif finding['type'] == 'missing':
            told.append(f'{at}: missing')
        else:
            wrong = _NO_MAPPING if finding['type'] in _MAPPINGS else finding['msg']
            value = repr(jsonable(finding['input'], depth=VALUE_DEPTH))
            value = value if len(value) <= VALUE_MAX else value[:VALUE_MAX] + '...'
            told.append(f'{at}: {wrong} (got {value})')
    if len(findings) > FINDINGS_MAX:
        told.append(f'and {len(findings) - FINDINGS_MAX} more')
    return '; '.join(told)
