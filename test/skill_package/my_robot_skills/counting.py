# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A skill that only looks."""

from typing import Annotated

from pydantic import Field

from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext, SkillError

PEOPLE = {'kitchen': 2, 'office': 0}


class Counted(CallOutput):
    """How many people there are."""

    people: int | None = Field(default=None, description='How many.')


@skill(output=Counted, title='Count people', read_only=True)
async def count_people(
    context: SkillContext,
    room: Annotated[str, Field(description='The name of a room.')],
) -> ToolResult:
    """Say how many people the cameras of a room see now."""
    if room not in PEOPLE:
        raise SkillError(f'count_people: no camera in {room!r}')
    return ToolResult(ResultStatus.COMPLETED, f'{PEOPLE[room]} people', {'people': PEOPLE[room]})
