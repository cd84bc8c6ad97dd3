# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A skill that blocks while it works."""

import time
from typing import Annotated

from pydantic import Field

from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext


@skill(output=CallOutput, title='Measure noise', read_only=True)
def measure_noise(
    context: SkillContext,
    seconds: Annotated[float, Field(ge=0.1, le=60.0, description='Seconds to listen.')] = 1.0,
) -> ToolResult:
    """Listen for a while and say how loud it is."""
    time.sleep(seconds)
    return ToolResult(ResultStatus.COMPLETED, 'quiet')
