# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Values that cannot be printed or counted stop neither a record nor a prompt nor a mission."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
import pytest

from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.mission import LoopSettings
from robot_agent_harness.texts import compact
from robot_agent_harness.validation import explain

HUGE = 10**5000
NOTE = '(an integer of 16610 bits)'


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError('no text')


@pytest.mark.parametrize(
    ('value', 'kept'),
    [
        (HUGE, NOTE),
        (-HUGE, NOTE),
        ({HUGE: [HUGE]}, {NOTE: [NOTE]}),
        (2**1000 - 1, 2**1000 - 1),
        (True, True),
        (Broken(), '(Broken without a text: RuntimeError)'),
        ({(HUGE,): 1}, {'(tuple without a text: ValueError)': 1}),
    ],
    ids=['huge', 'negative', 'nested', 'large', 'bool', 'broken', 'key'],
)
def test_what_cannot_be_printed_becomes_a_note(value: Any, kept: Any) -> None:
    assert jsonable(value) == kept
    assert json.loads(compact(value)) == kept


def test_a_finding_about_a_huge_integer_is_told() -> None:
    class Model(BaseModel):
        model_config = ConfigDict(strict=True)
        text: str

    with pytest.raises(ValidationError) as caught:
        Model.model_validate({'text': HUGE})
    assert NOTE in explain(caught.value)


class _Held(BaseModel):
    model_config = ConfigDict(extra='forbid')
    inner: dict[str, int] = {}


@pytest.mark.parametrize(
    ('value', 'told'),
    [
        ([1], 'value: must be names with their values (got [1])'),
        ('{}', "value: must be names with their values (got '{}')"),
        ({'inner': 5}, 'inner: must be names with their values (got 5)'),
        ({'': 5}, "'': unknown key"),
    ],
)
def test_a_finding_names_the_key_and_no_class_of_ours(value: Any, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Held.model_validate(value)
    assert explain(caught.value) == told


def test_usage_that_is_no_count_is_not_counted() -> None:
    mission = LoopSettings('robot', world_model=False).begin('mission-1', 'go')
    mission.spend({'input_tokens': 3, 'output_tokens': None, 'cache': 'many', 'cached': True})
    mission.spend({'input_tokens': 4, 'output_tokens': 5})
    assert mission.usage == {'input_tokens': 7, 'output_tokens': 5}
    assert mission.tokens == 12
