# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Who decides: the seam to a language model and the clients behind it."""

from robot_agent_harness.llm.client import (
    AssistantMessage,
    Decision,
    Message,
    ModelClient,
    ModelRequest,
    ToolCall,
    ToolResultBlock,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from robot_agent_harness.llm.factory import make_client, ModelSettings
from robot_agent_harness.llm.planner import Planner, Prompt, Situation
from robot_agent_harness.llm.prompting import MissionPlanner
from robot_agent_harness.llm.replay import ReplayClient
from robot_agent_harness.llm.scripted import ScriptedClient

__all__ = [
    'AssistantMessage',
    'Decision',
    'Message',
    'MissionPlanner',
    'ModelClient',
    'ModelRequest',
    'ModelSettings',
    'Planner',
    'Prompt',
    'ReplayClient',
    'ScriptedClient',
    'Situation',
    'ToolCall',
    'ToolResultBlock',
    'ToolResults',
    'ToolSpec',
    'UserMessage',
    'make_client',
]
